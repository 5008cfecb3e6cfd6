//! Clauses that keep the cells which they have: the engine compares them with what it reads.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether there are any.
static ANY: AtomicBool = AtomicBool::new(false);

/// Whether some clauses are held, perhaps.
pub(super) fn is_any() -> bool {
    ANY.load(Ordering::Relaxed)
}

/// Where the code of such clauses begins and ends.
#[derive(Debug, Default)]
pub(super) struct HeldClauses {
    codes: BTreeMap<usize, usize>,
}

impl HeldClauses {
    pub(super) fn hold(&mut self, codes: &Range<usize>) {
        self.codes.insert(codes.start, codes.end);
        self.tell();
    }

    pub(super) fn release(&mut self, codes: &Range<usize>) {
        self.codes.remove(&codes.start);
        self.tell();
    }

    fn tell(&self) {
        ANY.store(!self.codes.is_empty(), Ordering::Relaxed);
    }

    /// Whether a cell is one of theirs.
    pub(super) fn has(&self, cell: usize) -> bool {
        let before = self.codes.range(..=cell).next_back();
        before.is_some_and(|(_, &end)| cell < end)
    }
}
