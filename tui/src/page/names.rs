//! Numbers for the predicates of a page, so that each name stands there once.

use std::collections::HashMap;

use portmortem_analyzer::Analysis;
use portmortem_analyzer::trace::{BoxKind, PredicateIndex};
use portmortem_tracer::format::{ENGINE_HOME, Role};
use serde::Serialize;

/// A predicate of the page.
#[derive(Debug, Clone, Serialize)]
pub(super) struct PageName {
    /// Its indicator.
    name: String,
    kind: OwnerKind,
}

/// Whose a predicate is, which colours say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum OwnerKind {
    Program,
    Library,
    Engine,
    /// Its boxes are waiting, loading, collections, or the recorder's set-up.
    NoWork,
}

/// The predicates that have a number.
#[derive(Debug)]
pub(super) struct PageNames<'a> {
    analysis: &'a Analysis,
    kinds: Vec<BoxKind>,
    ids: HashMap<PredicateIndex, usize>,
    names: Vec<PageName>,
}

impl<'a> PageNames<'a> {
    pub(super) fn new(analysis: &'a Analysis) -> Self {
        Self {
            analysis,
            kinds: BoxKind::by_predicate(&analysis.trace),
            ids: HashMap::new(),
            names: Vec::new(),
        }
    }

    /// The number of a predicate, which is a new one if it has none: they count from 0.
    pub(super) fn id(&mut self, predicate: PredicateIndex) -> usize {
        let new = self.names.len();
        let id = *self.ids.entry(predicate).or_insert(new);
        if id == new {
            self.names.push(PageName {
                name: self.analysis.predicate(predicate).to_owned(),
                kind: self.kind(predicate),
            });
        }
        id
    }

    /// The number of a predicate that has one.
    pub(super) fn known(&self, predicate: PredicateIndex) -> Option<usize> {
        self.ids.get(&predicate).copied()
    }

    pub(super) fn all(self) -> Vec<PageName> {
        self.names
    }

    fn kind(&self, predicate: PredicateIndex) -> OwnerKind {
        let at = predicate as usize;
        if let Some(kind) = self.kinds.get(at)
            && !matches!(kind, BoxKind::Call { .. })
        {
            return OwnerKind::NoWork;
        }
        let Some(info) = self.analysis.trace.predicates().get(at) else {
            return OwnerKind::Program;
        };
        let source = self.analysis.source(predicate);
        let is_of_engine = source.is_some_and(|(file, _)| file.starts_with(ENGINE_HOME));
        if info.has(Role::BuiltIn) {
            OwnerKind::Engine
        } else if is_of_engine {
            OwnerKind::Library
        } else {
            OwnerKind::Program
        }
    }
}
