//! What is known of single arguments (`--values`).

use portmortem_tracer::format::ValueKind;

use crate::ffi::Term;
use crate::native::terms;
use crate::native::words::{WORD, word};

/// Which terms are newer than a call.
#[derive(Clone, Copy)]
pub(crate) struct Fresh {
    /// The engine's data, and the base of its local stack.
    pub(crate) data: usize,
    pub(crate) base: usize,
    /// Where the global stack ended at the call: see [`terms::global_top`].
    pub(crate) top: usize,
}

impl Fresh {
    pub(crate) fn is_newer(self, at: Term) -> bool {
        // SAFETY: a reference is the number of a word of the local stack.
        let cell = unsafe { word(self.base, at * WORD) };
        terms::place_of(self.data, cell).is_some_and(|place| place >= self.top)
    }
}

/// What is known of one term.
#[derive(Clone, Copy)]
pub(crate) struct KnownTerm {
    pub(crate) kind: ValueKind,
    /// How many cells were looked at.
    pub(crate) size: usize,
    pub(crate) hash: u64,
    /// How many cells of the stack are newer than a call.
    pub(crate) newer: usize,
}

impl KnownTerm {
    pub(crate) const UNKNOWN: Self = Self {
        kind: ValueKind::Unknown,
        size: 0,
        hash: 0,
        newer: 0,
    };
}
