//! Words of the engine's memory.

use std::sync::atomic::{AtomicUsize, Ordering};

/// One word of threaded code: a label, or an operand.
pub(crate) type CodeWord = usize;

/// Bytes of a word, and of a cell of code.
pub(crate) const WORD: usize = size_of::<usize>();

/// A word of the engine's.
///
/// # Safety
/// It can be read there.
#[inline(always)]
pub(crate) unsafe fn word(start: usize, offset: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { ((start + offset) as *const usize).read() }
}

/// # Safety
/// A cell of code, or of the engine's table of labels.
pub(crate) unsafe fn store(cell: usize, value: CodeWord) {
    // SAFETY: cells are aligned words; whatever reads one gets the old instruction or the new
    // one, which are the same.
    unsafe { AtomicUsize::from_ptr(cell as *mut usize) }.store(value, Ordering::Release);
}
