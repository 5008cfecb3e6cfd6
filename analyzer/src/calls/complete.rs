//! Tables that were completed, by predicate, as an observer of some streams.
//!
//! A table counts in a window if it was completed in it, and in a focus if the box was in it that
//! was active then: of predicates that fill tables of each other, that of the first one.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};

use crate::machine::{At, Note, Observer, OpenBox};
use crate::scope::Scope;
use crate::trace::PredicateIndex;

/// The tables of a predicate that were completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct CompleteTables {
    /// How many.
    pub tables: u64,
    /// Answers that they had then.
    pub answers: u64,
    /// Nodes of the tries that held them.
    pub nodes: u64,
}

impl CompleteTables {
    fn add(&mut self, other: &Self) {
        self.tables += other.tables;
        self.answers += other.answers;
        self.nodes += other.nodes;
    }
}

/// Those of all predicates that had some.
pub(super) type ByPredicate = BTreeMap<PredicateIndex, CompleteTables>;

/// With those of other streams.
pub(super) fn add(sums: &mut ByPredicate, parts: &ByPredicate) {
    for (predicate, part) in parts {
        sums.entry(*predicate).or_default().add(part);
    }
}

/// Counts tables.
#[derive(Debug)]
pub(crate) struct TableCounter<'s> {
    scope: &'s Scope,
    found: ByPredicate,
}

impl<'s> TableCounter<'s> {
    pub(super) fn new(scope: &'s Scope) -> Self {
        Self {
            scope,
            found: ByPredicate::new(),
        }
    }

    /// One that goes on.
    pub(super) fn going_on(self, found: ByPredicate) -> Self {
        Self { found, ..self }
    }

    pub(super) fn into_found(self) -> ByPredicate {
        self.found
    }
}

impl Observer for TableCounter<'_> {
    type Kept = ();

    fn called(&mut self, _: &At, _: &OpenBox, _: Option<&()>) {}

    fn noted(&mut self, at: &At, note: Note, active: Option<(&OpenBox, &mut ())>) {
        let Note::Table(table) = note else {
            return;
        };
        let in_focus = active.map_or(!self.scope.is_focused(), |(open, ())| {
            self.scope.contains(open.way)
        });
        if at.is_inside && in_focus && !self.scope.hides(table.predicate) {
            let found = self.found.entry(table.predicate).or_default();
            found.add(&CompleteTables {
                tables: 1,
                answers: table.answers.into(),
                nodes: table.nodes.into(),
            });
        }
    }
}
