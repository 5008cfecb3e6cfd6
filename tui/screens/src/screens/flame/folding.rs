//! What is folded: time in which the program cannot go on, and which says nothing of its goals.

use portmortem_analyzer::trace::{BoxKind, PredicateIndex};

use super::FlameScreen;
use crate::analysis::AnalysisView;
use crate::format;

/// Sizes that are in no box, by what took them: ticks or events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct FoldedSizes {
    /// Without a processor.
    pub(super) waiting: u64,
    /// Loading of libraries.
    pub(super) loading: u64,
    /// Garbage collections and stack shifts.
    pub(super) memory: u64,
    /// What the recorder did to the program.
    pub(super) set_up: u64,
}

impl FoldedSizes {
    pub(super) fn add(&mut self, kind: BoxKind, size: u64) {
        let sum = match kind {
            BoxKind::Waiting => &mut self.waiting,
            BoxKind::Autoload => &mut self.loading,
            BoxKind::EngineWork => &mut self.memory,
            BoxKind::SetUp => &mut self.set_up,
            BoxKind::Call { .. } => return,
        };
        *sum = sum.saturating_add(size);
    }

    /// All of them.
    pub(super) fn sum(self) -> u64 {
        let some = self.waiting.saturating_add(self.loading);
        some.saturating_add(self.memory).saturating_add(self.set_up)
    }
}

impl FlameScreen {
    /// What is folded, of how much, and its parts: `12.1 ms of 30.5 ms (39.7%)` and `waiting 9.0 ms, loading 3.1 ms`.
    /// `None` if that is nothing.
    pub(super) fn about_folded(&self) -> Option<(String, String)> {
        let (folded, shown) = (self.tree.folded, self.tree.nodes.first()?.total);
        let (sum, whole) = (folded.sum(), folded.sum().saturating_add(shown));
        let share = format::percent(sum, whole);
        let share = format!("{} of {} ({share}%)", self.size(sum), self.whole(whole));
        let parts = [
            ("waiting", folded.waiting),
            ("loading", folded.loading),
            ("collections", folded.memory),
            ("set-up", folded.set_up),
        ];
        let some = parts.iter().filter(|(_, part)| *part > 0);
        let parts = some.map(|(name, part)| format!("{name} {}", self.size(*part)));
        let parts = parts.collect::<Vec<_>>().join(", ");
        (sum > 0).then_some((share, parts))
    }
}

/// Which contexts are folded: those whose own size is no work.
#[derive(Debug)]
pub(super) struct ContextFolding {
    kinds: Vec<BoxKind>,
}

impl ContextFolding {
    pub(super) fn new(analysis: &AnalysisView) -> Self {
        Self {
            kinds: BoxKind::by_predicate(&analysis.trace),
        }
    }

    /// What a context of a predicate is, if that is folded.
    pub(super) fn of(&self, predicate: PredicateIndex) -> Option<BoxKind> {
        let kind = self.kinds.get(predicate as usize).copied();
        kind.filter(|kind| !matches!(kind, BoxKind::Call { .. }))
    }
}
