//! Predicates that library chr makes of rules: their clauses have lines that are none of the file,
//! so findings lead to the constraint instead.

use std::collections::BTreeMap;
use std::fs;

use super::chr_text::{self, DeclaredConstraint};
use super::{clause_text, libraries};
use crate::Analysis;
use crate::trace::PredicateIndex;

/// How the names of predicates begin that keep the constraints of a variable, before the name of
/// the constraint.
const KEEPERS: [&str; 2] = ["attach_", "detach_"];

/// A constraint of library chr.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Constraint {
    /// The indicator of the predicate that posts it.
    pub(super) name: String,
    /// Line of its declaration, from 1.
    pub(super) line: u32,
    /// An argument of it is said to be ground, or it has none.
    pub(super) is_indexed: bool,
}

/// The constraints that a file declares; none if it is not there, or the engine is not known to
/// have such a library.
pub(super) fn declared(analysis: &Analysis, file: &str) -> Vec<DeclaredConstraint> {
    let Some(rules) = libraries::of_engine(&analysis.trace.header().engine).rules else {
        return Vec::new();
    };
    let text = fs::read_to_string(analysis.locate(file)).unwrap_or_default();
    chr_text::declared(&clause_text::clauses(&text), rules.declaration)
}

/// The predicate of a file that posts a constraint.
pub(super) fn posted(
    analysis: &Analysis,
    file: &str,
    constraint: &DeclaredConstraint,
) -> Option<PredicateIndex> {
    analysis.predicate_in(file, &constraint.name, constraint.arity)
}

/// By predicate that was made of rules: the constraint that it is of.
pub(super) fn constraints(analysis: &Analysis) -> BTreeMap<PredicateIndex, Constraint> {
    let mut declared_in = BTreeMap::<u32, Vec<DeclaredConstraint>>::new();
    let mut found = BTreeMap::new();
    for (index, info) in (0..).zip(analysis.trace.predicates()) {
        let name = &info.declared.name;
        let Some(number) = info.declared.file.filter(|_| name.contains("___")) else {
            continue;
        };
        let Some(file) = analysis.trace.file(number) else {
            continue;
        };
        let declared = declared_in
            .entry(number)
            .or_insert_with(|| declared(analysis, file));
        let Some(of) = declared.iter().find(|one| is_made_of(name, one)) else {
            continue;
        };
        let name = match posted(analysis, file, of) {
            Some(posting) => analysis.predicate(posting).to_owned(),
            None => format!("{}/{}", of.name, of.arity),
        };
        let constraint = Constraint {
            name,
            line: of.line,
            is_indexed: of.has_ground || of.arity == 0,
        };
        found.insert(index, constraint);
    }
    found
}

/// Whether a predicate of that name is made of the rules of a constraint.
fn is_made_of(name: &str, constraint: &DeclaredConstraint) -> bool {
    let begin = format!("{}___{}", constraint.name, constraint.arity);
    let keeps = KEEPERS.iter().any(|keeper| {
        let kept = name.strip_prefix(keeper);
        kept == Some(begin.as_str())
    });
    let rest = name.strip_prefix(&begin);
    keeps || rest.is_some_and(|rest| rest.starts_with("__"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_of_a_constraint() {
        let constraint = DeclaredConstraint {
            name: "b".to_owned(),
            arity: 2,
            has_ground: false,
            line: 1,
        };
        for name in ["b___2__0", "b___2__1__0__3", "attach_b___2", "detach_b___2"] {
            assert!(is_made_of(name, &constraint), "{name}");
        }
        for name in [
            "b",
            "b___2",
            "b___22__0",
            "bb___2__0",
            "attach_b",
            "a_b___2",
        ] {
            assert!(!is_made_of(name, &constraint), "{name}");
        }
    }
}
