//! References to terms that lie in a frame of the engine's, for the foreign language interface.
//! Version 10 ends a program that passes it a reference to what lies in no foreign frame, so cells
//! are copied into one: what they lead to is the same, and a variable is a variable.

use super::offsets::{self, Offsets};
use super::words::{WORD, word};
use crate::ffi::{self, Term};

/// Words that the engine puts before the references of a foreign frame, at most.
const HEAD: usize = 16;

/// Where the cells of terms lie on the local stack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StackCells {
    /// The address of the first one.
    pub(crate) first: usize,
    pub(crate) count: usize,
    /// Nothing of the stack lies behind this address.
    pub(crate) behind: usize,
}

/// Calls `look` with a reference to the first of the terms; the others have the next numbers. It
/// reads them only, and may make so many `more` references. `None` if there is no room: so no stack
/// is shifted.
///
/// # Safety
/// The cells are those of terms, on the local stack of the thread that runs.
pub(crate) unsafe fn with_references<T>(
    offsets: &Offsets,
    cells: StackCells,
    more: usize,
    look: impl FnOnce(Term) -> T,
) -> Option<T> {
    let data = offsets::running_engine(offsets);
    // SAFETY: the engine's data.
    let [base, limit] =
        [offsets.base, offsets.limit].map(|offset| unsafe { word(data, offset as usize) });
    if cells.behind + (HEAD + cells.count + more) * WORD > limit {
        return None;
    }
    let top = (data + offsets.top as usize) as *mut usize;
    // SAFETY: there is room behind the terms, where the engine makes a frame of our own; it finds
    // the top of its stack where it was. References are cells of the local stack.
    unsafe {
        let before = top.read();
        top.write(cells.behind);
        let frame = ffi::PL_open_foreign_frame();
        let references = ffi::PL_new_term_refs(cells.count.max(1));
        let found = (references != 0).then(|| {
            for at in 0..cells.count {
                let reference = base + (references + at) * WORD;
                (reference as *mut usize).write(word(cells.first, at * WORD));
            }
            look(references)
        });
        ffi::PL_close_foreign_frame(frame);
        top.write(before);
        found
    }
}
