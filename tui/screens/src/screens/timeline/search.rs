//! The search for names: what was typed, and which predicates it finds.

use std::sync::Arc;

use portmortem_analyzer::condition::{Condition, Field, FieldKind};
use portmortem_analyzer::tables::Cell as TableCell;
use portmortem_analyzer::trace::PredicateIndex;

use crate::analysis::AnalysisView;

const NAME: &[Field] = &[Field {
    name: "predicate",
    kind: FieldKind::Text,
}];

/// A condition of names, as it was typed, and the predicates for which it holds.
#[derive(Debug, Default)]
pub(super) struct NameSearch {
    text: String,
    /// Why that is no condition.
    error: Option<String>,
    /// By predicate: its name is one that is searched for.
    found: Arc<[bool]>,
}

impl NameSearch {
    /// Searches the names of a trace; without figures nothing is found yet.
    pub(super) fn begin(&mut self, text: &str, analysis: Option<&AnalysisView>) {
        let text = text.trim();
        *self = Self {
            text: text.to_owned(),
            ..Self::default()
        };
        let Some(analysis) = analysis.filter(|_| !text.is_empty()) else {
            return;
        };
        match Condition::parse(text, NAME) {
            Ok(condition) => {
                let predicates = 0..=analysis.trace.unknown_predicate();
                let found = predicates
                    .map(|at| condition.holds(|_| TableCell::Text(analysis.predicate(at))));
                self.found = found.collect();
            }
            Err(error) => self.error = Some(error.to_string()),
        }
    }

    /// Searches the same in the names of other figures.
    pub(super) fn follow(&mut self, analysis: &AnalysisView) {
        let text = std::mem::take(&mut self.text);
        self.begin(&text, Some(analysis));
    }

    /// What is searched for.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Why nothing can be searched for.
    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Whether a name is searched for.
    pub(super) fn is_on(&self) -> bool {
        !self.text.is_empty()
    }

    /// Whether any predicate was found.
    pub(super) fn has_found(&self) -> bool {
        self.found.contains(&true)
    }

    /// Whether a predicate was found.
    pub(super) fn finds(&self, predicate: PredicateIndex) -> bool {
        is_found(&self.found, predicate)
    }

    /// Says of predicates, also in another thread, whether they were found.
    pub(super) fn finder(&self) -> impl Fn(PredicateIndex) -> bool + Send + 'static {
        let found = Arc::clone(&self.found);
        move |predicate| is_found(&found, predicate)
    }
}

fn is_found(found: &[bool], predicate: PredicateIndex) -> bool {
    found.get(predicate as usize) == Some(&true)
}
