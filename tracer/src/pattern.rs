//! Patterns of predicates, as people write them: `module:name/arity` with `*` and `?`.
//!
//! Parts may be left out: `name/arity` is in any module, `module:name` has any arity, and a bare word is a module
//! or a name. The recorder selects predicates with them and the analyser hides predicates with them.

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredicatePattern {
    module: Option<String>,
    name: String,
    arity: Option<String>,
}

impl PredicatePattern {
    /// Reads a pattern. Every text is one: what it cannot match, it does not match.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let (module, rest) = match text.split_once(':') {
            Some((module, rest)) if !module.is_empty() && !rest.is_empty() => (Some(module), rest),
            _ => (None, text),
        };
        let (name, arity) = match rest.rsplit_once('/') {
            Some((name, arity)) if !name.is_empty() && is_arity(arity) => (name, Some(arity)),
            _ => (rest, None),
        };
        Self {
            module: module.map(str::to_owned),
            name: name.to_owned(),
            arity: arity.map(str::to_owned),
        }
    }

    /// Whether predicates of that module can be meant.
    #[must_use]
    pub fn matches_in(&self, module: &str) -> bool {
        self.module
            .as_ref()
            .is_none_or(|pattern| wildcard(pattern, module))
    }

    /// Whether the predicate `module:name/arity` (names unquoted) is meant.
    #[must_use]
    pub fn matches(&self, module: &str, name: &str, arity: u32) -> bool {
        match (&self.module, &self.arity) {
            (None, None) => wildcard(&self.name, name) || wildcard(&self.name, module),
            (_, pattern_arity) => {
                self.matches_in(module)
                    && wildcard(&self.name, name)
                    && pattern_arity
                        .as_ref()
                        .is_none_or(|pattern| wildcard(pattern, &arity.to_string()))
            }
        }
    }
}

fn is_arity(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || c == '*' || c == '?')
}

/// Whether `text` matches `pattern`; `*` stands for any characters, `?` for one.
#[must_use]
pub fn wildcard(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Where to go on if the characters after the last `*` do not fit: it takes one character more.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((after_star, from)) = retry else {
                    return false;
                };
                retry = Some((after_star, from + 1));
                p = after_star;
                t = from + 1;
            }
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, module: &str, name: &str, arity: u32) -> bool {
        PredicatePattern::new(pattern).matches(module, name, arity)
    }

    #[test]
    fn whole_indicators() {
        assert!(matches("user:foo/2", "user", "foo", 2));
        assert!(!matches("user:foo/2", "user", "foo", 3));
        assert!(!matches("user:foo/2", "lists", "foo", 2));
    }

    #[test]
    fn parts_left_out() {
        assert!(matches("foo/2", "anywhere", "foo", 2));
        assert!(matches("user:foo", "user", "foo", 7));
        assert!(matches("lists", "lists", "append", 3));
        assert!(matches("append", "lists", "append", 3));
        assert!(!matches("append", "lists", "member", 2));
    }

    #[test]
    fn modules() {
        let matches_in = |pattern, module| PredicatePattern::new(pattern).matches_in(module);
        assert!(matches_in("l*:append/3", "lists"));
        assert!(!matches_in("user:append/3", "lists"));
        assert!(matches_in("append/3", "lists"));
        assert!(matches_in("append", "lists"));
    }

    #[test]
    fn wildcards() {
        assert!(matches("*:app*/3", "lists", "append", 3));
        assert!(matches("user:*", "user", "x", 0));
        assert!(matches("foo/?", "user", "foo", 9));
        assert!(!matches("foo/?", "user", "foo", 10));
        assert!(matches("*a*b*c", "user", "xxaybzzbc", 0));
        assert!(!matches("*a*b*c", "user", "xxaybzzb", 0));
    }

    #[test]
    fn operators_as_names() {
        assert!(matches("user:(/)/2", "user", "(/)", 2));
        assert!(matches("//2", "user", "/", 2));
        assert!(matches("a:b:c/1", "a", "b:c", 1));
    }
}
