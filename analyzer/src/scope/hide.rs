//! Which predicates are hidden: their time goes to their caller, their callees hang below it.
//!
//! The replay does it, exactly: a box of a hidden predicate is transparent. Its ports change what
//! is active and what can be re-entered like those of any box, and nothing is booked for it.

use portmortem_tracer::pattern::PredicatePattern;

use crate::trace::PredicateIndex;
use crate::trace::Trace;

/// Predicates to hide: by patterns, or one by one.
#[derive(Debug, Clone, Default)]
pub struct Hide {
    patterns: Vec<PredicatePattern>,
    predicates: Vec<PredicateIndex>,
}

impl Hide {
    /// Hides every predicate that one of the patterns (`module:name/arity` with `*` and `?`) means.
    pub fn new<T: AsRef<str>>(patterns: impl IntoIterator<Item = T>) -> Self {
        let compile = |text: T| PredicatePattern::new(text.as_ref());
        Self {
            patterns: patterns.into_iter().map(compile).collect(),
            predicates: Vec::new(),
        }
    }

    /// Hides exactly this predicate, too, whatever its name is like.
    #[must_use]
    pub fn and(mut self, predicate: PredicateIndex) -> Self {
        self.predicates.push(predicate);
        self
    }

    /// Whether nothing is hidden.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.predicates.is_empty()
    }

    /// Whether a pattern hides `module:name/arity` (names unquoted).
    #[must_use]
    pub fn hides(&self, module: &str, name: &str, arity: u32) -> bool {
        self.patterns
            .iter()
            .any(|pattern| pattern.matches(module, name, arity))
    }

    /// For every predicate of the trace, and the unknown one after them, whether it is hidden.
    #[must_use]
    pub fn mask(&self, trace: &Trace) -> Vec<bool> {
        let hides = |p: &crate::trace::PredicateInfo| {
            self.hides(&p.declared.module, &p.declared.name, p.declared.arity)
        };
        let mut mask: Vec<bool> = trace.predicates().iter().map(hides).collect();
        for &predicate in &self.predicates {
            if let Some(hidden) = mask.get_mut(predicate as usize) {
                *hidden = true;
            }
        }
        // Boxes that nothing is known of cannot be chosen, and evidence of them is never left out.
        mask.push(false);
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_pattern_hides() {
        let hide = Hide::new(["lists:*", "main/0"]);
        assert!(hide.hides("lists", "append", 3));
        assert!(hide.hides("user", "main", 0));
        assert!(!hide.hides("user", "main", 1));
        assert!(!Hide::default().hides("user", "main", 0));
    }
}
