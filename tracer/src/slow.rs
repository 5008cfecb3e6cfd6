//! A stream, and its rare work: blocks that are full, clocks that jump, recordings that cannot go on.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::block::Block;
use crate::clock;
use crate::format::{BlockKind, BlockStart, Event, MAX_EVENT_BYTES, Record};
use crate::hot::Hot;
use crate::last_moments;
use crate::phase::Phase;
use crate::shared::Inner;
use crate::space;

/// A stream that found no room asks again after this many lost events, if room can come back.
const RETRY_AFTER: u64 = 1 << 10;

/// A block is extended to at most this many times what the blocks before it have together.
const MOST_GROWTH: u64 = 3;

const CUT: Event = Event::Cut { count: 1 };

/// The part of a stream that few events need. Only its owner touches it.
#[derive(Debug)]
struct Cold {
    /// The block that the stream writes. When there is no room for the next one it stays, closed,
    /// to say how many events were lost after it.
    block: Option<Block>,
    block_closed: bool,
    /// There was no room for the next block.
    denied: bool,
    /// Nor will there be any.
    has_ended: bool,
    sequence: u64,
    /// Events before the block, lost ones included.
    before: u64,
    /// Events lost after the last one of the block.
    dropped: u64,
    /// How many cuts the last lost event stands for, 0 if it was none.
    dropped_cuts: u8,
    /// How many of the lost events came after the end of the recording.
    after_end: u64,
    /// Events of the block whose clock went backwards.
    regressions: u32,
    /// Size of all blocks so far, in bytes.
    blocks_size: u64,
    bytes: Vec<u8>,
}

impl Cold {
    fn new() -> Self {
        Self {
            block: None,
            block_closed: false,
            denied: false,
            has_ended: false,
            sequence: 0,
            before: 0,
            dropped: 0,
            dropped_cuts: 0,
            after_end: 0,
            regressions: 0,
            blocks_size: 0,
            bytes: Vec::with_capacity(MAX_EVENT_BYTES),
        }
    }

    /// Counts a lost event as it would have been recorded: cuts in a row are one.
    fn count_lost(&mut self, event: Event) {
        match (event, self.dropped_cuts) {
            (CUT, cuts @ 1..=126) => self.dropped_cuts = cuts + 1,
            (CUT, _) => {
                self.dropped_cuts = 1;
                self.dropped += 1;
            }
            _ => {
                self.dropped_cuts = 0;
                self.dropped += 1;
            }
        }
    }
}

/// A stream: first what the fast path uses, then the rest. Threads do not share its cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Core {
    pub(crate) hot: Hot,
    pub(crate) recorder: Arc<Inner>,
    pub(crate) id: u32,
    cold: RefCell<Cold>,
}

impl Core {
    pub(crate) fn new(recorder: Arc<Inner>, id: u32) -> Self {
        Self {
            hot: Hot::new(),
            recorder,
            id,
            cold: RefCell::new(Cold::new()),
        }
    }

    /// Records any event, or counts it as lost.
    #[cold]
    #[inline(never)]
    pub(crate) fn slow(&self, event: Event, now: u64) {
        let cold = &mut *self.cold.borrow_mut();
        let hot = &self.hot;
        let tick = now.max(hot.last_tick.get());
        let limit = hot.limit.load(Ordering::Relaxed);
        // SAFETY: the stream was not stopped, so the block is open, even if it is full.
        if !limit.is_null() && event == CUT && unsafe { hot.join_cut() } {
            return;
        }
        if hot.cursor.get() >= limit && !self.next_block(cold, tick) {
            if cold.denied {
                // The next one does not come long after the last one.
                hot.last_tick.set(tick);
            }
            return self.lose(cold, event);
        }
        cold.regressions += u32::from(tick != now);
        cold.bytes.clear();
        event.encode(tick - hot.last_tick.get(), &mut cold.bytes);
        // SAFETY: there is room for the longest event at the cursor, in a block of ours.
        unsafe {
            cold.bytes
                .as_ptr()
                .copy_to_nonoverlapping(hot.cursor.get(), cold.bytes.len());
            hot.commit(cold.bytes.len(), tick);
        }
    }

    /// Whether no event can be recorded any more.
    pub(crate) fn has_stopped(&self) -> bool {
        let has_ended = || self.cold.try_borrow().is_ok_and(|cold| cold.has_ended);
        match self.recorder.phase() {
            Phase::Recording => has_ended(),
            // The next event waits, or is counted.
            Phase::Ended => false,
            Phase::Full | Phase::Shortened | Phase::Closed | Phase::Forked => true,
        }
    }

    /// Opens the next block, whose first event happens at `tick`, if there is room for one.
    fn next_block(&self, cold: &mut Cold, tick: u64) -> bool {
        let recorder = &self.recorder;
        if recorder.phase() != Phase::Recording {
            return false;
        }
        let retry = !cold.has_ended && cold.dropped.is_multiple_of(RETRY_AFTER);
        if cold.denied && !retry {
            return false;
        }
        if self.extend_block(cold) {
            return true;
        }
        self.close_block(cold);
        let mut shared = recorder.lock();
        let Some(shared) = recorder.still_recording(&mut shared, cold.block.as_ref()) else {
            return false;
        };
        // It may be the only one that can be written over. Otherwise it stays if there is no room,
        // to say what was lost.
        if recorder.keep.expects_to_reuse()
            && let Some(block) = cold.block.take()
        {
            shared.give_back(&block);
        }
        let want = space::portion(cold.blocks_size, recorder.max_block);
        let slot = shared.room_for_events(want);
        cold.denied = slot.is_none();
        cold.has_ended = slot.is_none() && shared.space.is_full_for_good();
        let Some(slot) = slot else {
            self.hot.forbid();
            return false;
        };
        if let Some(block) = cold.block.take() {
            shared.give_back(&block);
        }
        cold.before += self.hot.events.get() + cold.dropped;
        let start = BlockStart {
            kind: BlockKind::Events,
            stream: self.id,
            sequence: cold.sequence,
            first_event: cold.before,
            base_tick: tick,
            base_ns: recorder.ns_of(tick),
        };
        cold.blocks_size += u64::from(slot.size);
        let block = Block::open(slot, &start, recorder.file_id);
        cold.sequence += 1;
        cold.dropped = 0;
        cold.dropped_cuts = 0;
        cold.regressions = 0;
        cold.block_closed = false;
        self.enter(&block, tick);
        cold.block = Some(block);
        true
    }

    /// Makes the open block larger, if there is room behind it. It stays in proportion to the blocks
    /// before it: damage costs a block, and each is a comparison of both clocks.
    fn extend_block(&self, cold: &mut Cold) -> bool {
        let recorder = &self.recorder;
        let Some(block) = cold.block.as_mut().filter(|_| !cold.block_closed) else {
            return false;
        };
        let (_, size) = block.place();
        let max_block = recorder.max_block;
        let before = cold.blocks_size - u64::from(size);
        let most = before.saturating_mul(MOST_GROWTH).min(max_block.into()) as u32;
        let by = space::portion(cold.blocks_size, max_block).min(most.saturating_sub(size));
        if by == 0 {
            return false;
        }
        let mut shared = recorder.lock();
        let extended = recorder
            .still_recording(&mut shared, Some(block))
            .is_some_and(|shared| shared.extend_events(block, by));
        if extended {
            cold.blocks_size += u64::from(block.place().1 - size);
            self.allow(block);
        }
        extended
    }

    /// Lets the fast path write into a new block. The caller has the recorder's lock.
    fn enter(&self, block: &Block, tick: u64) {
        let hot = &self.hot;
        let payload = block.payload();
        hot.payload.set(payload);
        hot.cursor.set(payload);
        hot.last_tick.set(tick);
        hot.events.set(0);
        hot.cut_end.set(std::ptr::null_mut());
        self.allow(block);
    }

    /// Lets the fast path fill the block. The caller has the recorder's lock, without which no thread stops the
    /// streams.
    fn allow(&self, block: &Block) {
        // SAFETY: the smallest block has room for many events.
        let limit = unsafe { block.payload().add(block.room() - MAX_EVENT_BYTES + 1) };
        self.hot.limit.store(limit, Ordering::Relaxed);
    }

    fn close_block(&self, cold: &mut Cold) {
        if let Some(block) = &cold.block
            && !cold.block_closed
        {
            let events = self.hot.events.get() as u32;
            block.close(self.hot.last_tick.get(), events, cold.regressions);
            cold.block_closed = true;
        }
    }

    fn lose(&self, cold: &mut Cold, event: Event) {
        let phase = self.recorder.phase();
        if phase == Phase::Ended {
            last_moments::wait_unless_ending();
        }
        let before = cold.dropped;
        cold.count_lost(event);
        let Some(block) = &cold.block else { return };
        if phase == Phase::Ended {
            cold.after_end += cold.dropped - before;
            block.set_after_end(cold.after_end);
        }
        if phase == Phase::Ended || phase.may_write() {
            block.set_dropped(cold.dropped);
        }
    }

    /// Ends the stream, if its recording is still there and no method of the stream was interrupted.
    pub(crate) fn finish(&self) {
        if !self.recorder.phase().may_write() {
            return;
        }
        let Ok(mut cold) = self.cold.try_borrow_mut() else {
            return;
        };
        let cold = &mut *cold;
        let open = cold.block.is_some() && !cold.block_closed;
        // SAFETY: the block is open.
        if open && !unsafe { self.hot.is_settled() } {
            return;
        }
        self.close_block(cold);
        self.hot.forbid();
        let end = Record::StreamEnd {
            stream: self.id,
            tick: clock::ticks().max(self.hot.last_tick.get()),
            events: cold.before + self.hot.events.get() + cold.dropped,
        };
        if let Some(shared) = self.recorder.lock().as_mut() {
            if let Some(block) = &mut cold.block {
                shared.trim(block);
            }
            // A reader can do without: what is in the blocks says the same.
            shared.append(&end);
            if let Some(block) = cold.block.take() {
                shared.give_back(&block);
            }
        }
    }
}
