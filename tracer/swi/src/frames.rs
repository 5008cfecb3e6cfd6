//! Telling a last call from any other, by looking at the calling frame.
//!
//! When a clause makes its last call and has no choicepoint left, the engine gives its frame to
//! the callee. The frame above the callee's wrapper is then the *wrapper* of the caller, waiting
//! for what was the caller's clause. So a call is a last call exactly when the place its parent
//! frame waits at lies in a wrapper's clause. Asking the engine whose clause a place lies in is
//! slow; the answer is kept per place.

use std::ffi::{CStr, c_char};

use rustc_hash::FxHashMap;

use crate::ffi;

const CACHE_SIZE: usize = 1024;

#[derive(Clone, Copy)]
struct FrameEntry {
    pc: usize,
    in_wrapper: bool,
}

/// A frame of the local stack, told from every other one that lives at the same time: its
/// distance in bytes from the frame of the query it runs in, because the engine moves the whole
/// stack when it grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameId(isize);

impl FrameId {
    /// No frame at all.
    pub(crate) const NONE: Self = Self(0);

    fn of(context: &ffi::FrameContext) -> Self {
        Self((context.frame as isize).wrapping_sub(context.query as isize))
    }
}

/// Per engine: which places in code lie in a wrapper's clause.
pub(crate) struct FrameCache {
    entries: Box<[FrameEntry; CACHE_SIZE]>,
    /// All places met: two that share an entry must not be asked for again and again.
    known: FxHashMap<usize, bool>,
    /// [`crate::recording::wrapper_generation`] for which the entries hold.
    generation: u32,
    /// The wrapper's frame that [`FrameCache::is_last_call`] has just passed.
    wrapper: FrameId,
}

impl FrameCache {
    pub(crate) fn new() -> Self {
        let entries = Box::new(
            [FrameEntry {
                pc: 0,
                in_wrapper: false,
            }; CACHE_SIZE],
        );
        Self {
            entries,
            known: FxHashMap::default(),
            generation: 0,
            wrapper: FrameId::NONE,
        }
    }

    /// Whether the predicate whose wrapper called us was reached by a last call. `context` is our
    /// own frame's.
    ///
    /// `generation` changes with every wrapper made: code memory may have been used again, so
    /// nothing remembered holds.
    #[inline]
    pub(crate) fn is_last_call(
        &mut self,
        context: &mut ffi::FrameContext,
        generation: u32,
    ) -> bool {
        // From our own frame to the wrapper's, and on to the frame that the wrapper returns to.
        if !context.step() {
            self.wrapper = FrameId::NONE;
            return false;
        }
        self.wrapper = FrameId::of(context);
        if !context.step() || context.pc.is_null() {
            return false;
        }
        if self.generation != generation {
            self.entries.fill(FrameEntry {
                pc: 0,
                in_wrapper: false,
            });
            self.known.clear();
            self.generation = generation;
        }
        let pc = context.pc as usize;
        let slot = (pc >> 3) % CACHE_SIZE;
        if self.entries[slot].pc != pc {
            self.entries[slot] = FrameEntry {
                pc,
                in_wrapper: self.find(pc, context),
            };
        }
        self.entries[slot].in_wrapper
    }

    #[cold]
    fn find(&mut self, pc: usize, context: &mut ffi::FrameContext) -> bool {
        *self
            .known
            .entry(pc)
            .or_insert_with(|| lies_in_wrapper(context))
    }

    /// The wrapper's frame that [`FrameCache::is_last_call`] has just passed.
    #[inline]
    pub(crate) fn wrapper(&self) -> FrameId {
        self.wrapper
    }
}

/// The frame of the clause that called us.
pub(crate) fn calling_frame() -> FrameId {
    let mut context = ffi::FrameContext::EMPTY;
    if context.fill() && context.step() {
        FrameId::of(&context)
    } else {
        FrameId::NONE
    }
}

fn lies_in_wrapper(context: &mut ffi::FrameContext) -> bool {
    let mut text = [0 as c_char; 512];
    // SAFETY: the buffer and its length belong together; the engine writes a terminated string.
    let described = unsafe { ffi::PL_describe_context(context, text.as_mut_ptr(), text.len() - 1) };
    if !ffi::truth(described) && described <= 0 {
        return false;
    }
    // SAFETY: the last byte of the buffer is never written and is 0, so the string ends inside it.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) };
    text.to_bytes()
        .windows(WRAPPER_MARK.len())
        .any(|part| part == WRAPPER_MARK)
}

/// `wrap_predicate/4` names the predicate that holds a wrapper's clause so.
const WRAPPER_MARK: &[u8] = b"$wrap$";
