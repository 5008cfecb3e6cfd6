//! The part of a stream that every event uses, in one cache line. The C header has the same structure
//! (`include/portmortem.h`).

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering, compiler_fence};

use crate::format::{BLOCK_HEADER_BYTES, block_offset};

/// How far before the payload the committed length lies.
pub(crate) const COMMITTED_BEFORE_PAYLOAD: usize = BLOCK_HEADER_BYTES - block_offset::COMMITTED;

/// The fields that an event needs, in one cache line. The C header knows this layout.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Hot {
    /// Where the next event goes.
    pub(crate) cursor: Cell<*mut u8>,
    /// There is room for any event if the cursor is below this. Null stops the stream, and is the
    /// only thing here that another thread may store.
    pub(crate) limit: AtomicPtr<u8>,
    /// Where the payload of the block begins.
    pub(crate) payload: Cell<*mut u8>,
    /// Tick of the last event.
    pub(crate) last_tick: Cell<u64>,
    /// Events in the block.
    pub(crate) events: Cell<u64>,
    /// Where the last `CUT` ended: if the cursor is still there, another cut can join it.
    pub(crate) cut_end: Cell<*mut u8>,
}

/// So many cuts can be one event of one byte of argument.
pub(crate) const MOST_JOINED_CUTS: u8 = 127;

impl Hot {
    pub(crate) fn new() -> Self {
        Self {
            cursor: Cell::new(ptr::null_mut()),
            limit: AtomicPtr::new(ptr::null_mut()),
            payload: Cell::new(ptr::null_mut()),
            last_tick: Cell::new(0),
            events: Cell::new(0),
            cut_end: Cell::new(ptr::null_mut()),
        }
    }

    /// Sends the next event, and all later ones, to the slow path. Any thread may call it.
    pub(crate) fn forbid(&self) {
        self.limit.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Counts a cut in the `CUT` before the cursor, if there is one that can take it.
    ///
    /// # Safety
    /// The block is open.
    #[inline(always)]
    pub(crate) unsafe fn join_cut(&self) -> bool {
        let cursor = self.cursor.get();
        if cursor != self.cut_end.get() {
            return false;
        }
        // SAFETY: `cut_end` is null or where an event ended that `cut` has written into the open block (a block
        // begins with null). No event came after it, and the only one that ends there is a CUT with one byte of
        // argument. Where the fast path could not write it, the slow path did, or the block is no longer open.
        unsafe {
            let count = cursor.sub(1);
            let room = *count < MOST_JOINED_CUTS;
            *count += u8::from(room);
            room
        }
    }

    /// Moves the cursor behind the event that was stored, and makes it part of the file. From
    /// the first store to the last, [`Hot::is_settled`] is false.
    ///
    /// # Safety
    /// The block is open and `length` bytes behind the cursor belong to it.
    #[inline(always)]
    pub(crate) unsafe fn commit(&self, length: usize, tick: u64) {
        let payload = self.payload.get();
        // SAFETY: still inside the block, as the caller promises.
        let cursor = unsafe { self.cursor.get().add(length) };
        self.cursor.set(cursor);
        compiler_fence(Ordering::Release);
        self.last_tick.set(tick);
        self.events.set(self.events.get() + 1);
        let committed = (cursor as usize - payload as usize) as u32;
        // SAFETY: the block is open.
        unsafe { self.committed() }.store(committed.to_le(), Ordering::Release);
    }

    /// How many bytes of the block's payload are part of the file.
    ///
    /// # Safety
    /// The block is open.
    #[inline(always)]
    unsafe fn committed(&self) -> &AtomicU32 {
        // SAFETY: the header of the block lies before its payload, and has this field there.
        unsafe { AtomicU32::from_ptr(self.payload.get().sub(COMMITTED_BEFORE_PAYLOAD).cast()) }
    }

    /// Whether no event is being stored. False only for code that a signal runs in the middle of that.
    ///
    /// # Safety
    /// The block is open.
    pub(crate) unsafe fn is_settled(&self) -> bool {
        let length = self.cursor.get() as usize - self.payload.get() as usize;
        // SAFETY: the block is open.
        let committed = unsafe { self.committed() }.load(Ordering::Relaxed);
        length == u32::from_le(committed) as usize
    }
}
