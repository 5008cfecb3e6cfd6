//! The rest of a stream: blocks that are full, clocks that jump, recordings that cannot go on.

use std::sync::atomic::Ordering;

use crate::block::Block;
use crate::clock;
use crate::format::{BlockKind, BlockStart, Event, MAX_EVENT_BYTES, Record};
use crate::options::Keep;
use crate::recorder::State;
use crate::stream::Core;

/// A stream that found no room asks again after this many lost events, if room can come back.
const RETRY_AFTER: u64 = 1 << 10;

/// Each block of a stream is this much larger than the one before, up to the largest.
const GROWTH: u32 = 4;

/// What a stream needs now and then. Only its owner touches it.
#[derive(Debug)]
pub(crate) struct Cold {
    /// The block that the stream writes. When there is no room for the next one it stays, closed,
    /// to say how many events were lost after it.
    block: Option<Block>,
    block_closed: bool,
    /// There was no room for the next block.
    denied: bool,
    sequence: u64,
    /// Events before the block, lost ones included.
    before: u64,
    /// Events lost after the last one of the block.
    dropped: u64,
    /// How many cuts the last lost event stands for, 0 if it was none.
    dropped_cuts: u8,
    /// Events of the block whose clock went backwards.
    regressions: u32,
    next_size: u32,
    bytes: Vec<u8>,
}

impl Cold {
    pub(crate) fn new(first_block: u32) -> Self {
        Self {
            block: None,
            block_closed: false,
            denied: false,
            sequence: 0,
            before: 0,
            dropped: 0,
            dropped_cuts: 0,
            regressions: 0,
            next_size: first_block,
            bytes: Vec::with_capacity(MAX_EVENT_BYTES),
        }
    }

    /// Counts a lost event as it would have been recorded: cuts in a row are one.
    fn count_lost(&mut self, event: Event) {
        match (event, self.dropped_cuts) {
            (Event::Cut { count: 1 }, cuts @ 1..=126) => self.dropped_cuts = cuts + 1,
            (Event::Cut { count: 1 }, _) => {
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

impl Core {
    /// Records any event, or counts it as lost.
    #[cold]
    #[inline(never)]
    pub(crate) fn slow(&self, event: Event, now: u64) {
        let cold = &mut *self.cold.borrow_mut();
        let hot = &self.hot;
        let tick = now.max(hot.last_tick.get());
        if hot.cursor.get() >= hot.limit.load(Ordering::Relaxed) && !self.next_block(cold, tick) {
            return self.lose(cold, event);
        }
        cold.regressions += u32::from(tick != now);
        cold.bytes.clear();
        event.encode(tick - hot.last_tick.get(), &mut cold.bytes);
        hot.last_tick.set(tick);
        // SAFETY: there is room for the longest event at the cursor, in a block of ours.
        unsafe {
            cold.bytes
                .as_ptr()
                .copy_to_nonoverlapping(hot.cursor.get(), cold.bytes.len());
            hot.commit(cold.bytes.len());
        }
    }

    /// Opens the next block, whose first event happens at `tick`, if there is room for one.
    fn next_block(&self, cold: &mut Cold, tick: u64) -> bool {
        let recorder = &self.recorder;
        if recorder.state() != State::Recording {
            return false;
        }
        let retry = recorder.keep() == Keep::Last && cold.dropped.is_multiple_of(RETRY_AFTER);
        if cold.denied && !retry {
            return false;
        }
        self.close_block(cold);
        let mut shared = recorder.lock();
        let Some(shared) = shared
            .as_mut()
            .filter(|_| recorder.state() == State::Recording)
        else {
            return false;
        };
        if recorder.keep() == Keep::Last
            && let Some(block) = cold.block.take()
        {
            shared.give_back(&block);
        }
        let slot = shared.room_for_events(cold.next_size);
        cold.denied = slot.is_none();
        let Some(slot) = slot else {
            self.hot.forbid();
            return false;
        };
        cold.before += self.hot.events.get() + cold.dropped;
        let start = BlockStart {
            kind: BlockKind::Events,
            stream: self.id,
            sequence: cold.sequence,
            first_event: cold.before,
            base_tick: tick,
            base_ns: recorder.ns_of(tick),
        };
        let block = Block::open(slot, &start, recorder.file_id());
        cold.sequence += 1;
        cold.next_size = cold
            .next_size
            .saturating_mul(GROWTH)
            .min(recorder.max_block());
        cold.dropped = 0;
        cold.dropped_cuts = 0;
        cold.regressions = 0;
        cold.block_closed = false;
        self.enter(&block, tick);
        cold.block = Some(block);
        true
    }

    /// Lets the fast path write into the block. The caller has the recorder's lock, without which
    /// nobody stops the streams.
    fn enter(&self, block: &Block, tick: u64) {
        let hot = &self.hot;
        let payload = block.payload();
        hot.payload.set(payload);
        hot.cursor.set(payload);
        hot.last_tick.set(tick);
        hot.events.set(0);
        hot.cut_end.set(std::ptr::null_mut());
        // SAFETY: the smallest block has room for many events.
        let limit = unsafe { payload.add(block.room() - MAX_EVENT_BYTES + 1) };
        hot.limit.store(limit, Ordering::Relaxed);
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
        cold.count_lost(event);
        if let Some(block) = &cold.block
            && self.recorder.state().may_write()
        {
            block.set_dropped(cold.dropped);
        }
    }

    /// Ends the stream, if its recording is still there.
    pub(crate) fn finish(&self) {
        if !self.recorder.state().may_write() {
            return;
        }
        let cold = &mut *self.cold.borrow_mut();
        self.close_block(cold);
        self.hot.forbid();
        let end = Record::StreamEnd {
            stream: self.id,
            tick: clock::ticks().max(self.hot.last_tick.get()),
            events: cold.before + self.hot.events.get() + cold.dropped,
        };
        if let Some(shared) = self.recorder.lock().as_mut() {
            // A reader can do without: what is in the blocks says the same.
            shared.append(&end);
            if let Some(block) = cold.block.take() {
                shared.give_back(&block);
            }
        }
    }
}
