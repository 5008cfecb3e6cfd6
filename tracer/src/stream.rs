//! One stream of events: what runs at every port of the traced program.
//!
//! An event reads the clock, stores a few bytes into the mapped file and publishes their length.
//! No lock, no allocation, no system call; the rest is in [`crate::slow`]. The C header has the
//! same code on the same structure (`include/portmortem.h`), and a test compares what both write.

use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use crate::clock;
use crate::format::{
    ArgumentValue, Arguments, CODE_CLAUSE, CODE_EXCEPTION, CompleteTable, Event, SyncCall,
    TAG_BITS, TAG_CALL, TAG_CUT, TAG_EXIT_DET, TAG_EXIT_NONDET, TAG_EXTENDED, TAG_FAIL, TAG_REDO,
    TAG_TAIL,
};
use crate::registry;
use crate::slow::Core;

/// Deltas below this take two bytes together with the tag.
pub(crate) const SHORT_DELTA: u64 = 1 << 12;

impl Core {
    /// Records an event whose code and argument fit three bytes: `rest`, of which `length` count.
    #[inline(always)]
    fn put(&self, tag: u8, rest: u32, length: usize, event: Event) {
        let now = clock::ticks();
        if !self.put_soon(now, tag, rest, length) {
            self.slow(event, now);
        }
    }

    /// Records such an event if it comes soon after the last one, and there is room.
    #[inline(always)]
    fn put_soon(&self, now: u64, tag: u8, rest: u32, length: usize) -> bool {
        self.put_ready_soon(now, Ready::of(tag, rest, length))
    }

    #[inline(always)]
    fn put_ready_soon(&self, now: u64, ready: Ready) -> bool {
        let hot = &self.hot;
        let delta = now.wrapping_sub(hot.last_tick.get());
        let cursor = hot.cursor.get();
        if delta >= SHORT_DELTA || cursor >= hot.limit.load(Ordering::Relaxed) {
            return false;
        }
        // Below 4096 the head byte and the byte of `delta >> 5` are the tag and the delta side by side.
        let word = ready.word | delta << TAG_BITS;
        // SAFETY: below the limit there is room for the longest event in the open block, which is
        // this thread's to write.
        unsafe {
            cursor.cast::<u64>().write_unaligned(word.to_le());
            hot.commit(ready.length, now);
        }
        true
    }

    #[inline(always)]
    fn put_with_predicate(&self, tag: u8, predicate: u32, event: Event) {
        let now = clock::ticks();
        if !self.put_predicate_soon(now, tag, predicate) {
            self.slow(event, now);
        }
    }

    #[inline(always)]
    fn put_predicate_soon(&self, now: u64, tag: u8, predicate: u32) -> bool {
        short_varint(predicate)
            .is_some_and(|(bytes, length)| self.put_soon(now, tag, bytes, length))
    }

    #[inline(always)]
    fn put_clause_soon(&self, now: u64, clause: u32) -> bool {
        Ready::clause(clause).is_some_and(|ready| self.put_ready_soon(now, ready))
    }

    /// A remark at the tick `now`.
    pub(crate) fn mark(&self, text: &str, now: u64) {
        let text = self.recorder.text(text);
        self.slow(Event::Mark { text }, now);
    }

    #[inline(always)]
    fn cut(&self) {
        if !self.cut_soon() {
            self.slow(Event::Cut { count: 1 }, clock::ticks());
            self.hot.cut_end.set(self.hot.cursor.get());
        }
    }

    #[inline(always)]
    fn cut_soon(&self) -> bool {
        let cursor = self.hot.cursor.get();
        // SAFETY: below the limit the block is open.
        if cursor < self.hot.limit.load(Ordering::Relaxed) && unsafe { self.hot.join_cut() } {
            return true;
        }
        let soon = self.put_soon(clock::ticks(), TAG_CUT, 1, 1);
        if soon {
            self.hot.cut_end.set(self.hot.cursor.get());
        }
        soon
    }
}

/// The LEB128 of a number in one word, and how many bytes it takes, if those are at most three.
#[inline(always)]
fn short_varint(value: u32) -> Option<(u32, usize)> {
    if value < 1 << 7 {
        Some((value, 1))
    } else if value < 1 << 14 {
        Some((value & 0x7f | 0x80 | (value >> 7) << 8, 2))
    } else if value < 1 << 21 {
        let high = (value >> 7 & 0x7f | 0x80) << 8 | (value >> 14) << 16;
        Some((value & 0x7f | 0x80 | high, 3))
    } else {
        None
    }
}

/// A call, a last call or the entry of a clause, but for its time: it is the same every time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The head byte, a byte that belongs to the time alone, and the rest.
    word: u64,
    /// How many bytes of the word count.
    length: usize,
}

impl Ready {
    /// What [`Stream::call`] records. `None` if the id is too large for the fast path.
    #[must_use]
    pub fn call(id: u32) -> Option<Self> {
        short_varint(id).map(|(bytes, length)| Self::of(TAG_CALL, bytes, length))
    }

    /// What [`Stream::tail`] records. `None` as for [`Ready::call`].
    #[must_use]
    pub fn tail(id: u32) -> Option<Self> {
        short_varint(id).map(|(bytes, length)| Self::of(TAG_TAIL, bytes, length))
    }

    /// What [`Stream::clause`] records. `None` as for [`Ready::call`].
    #[must_use]
    pub fn clause(id: u32) -> Option<Self> {
        short_varint(id).map(|(bytes, length)| {
            let rest = u32::from(CODE_CLAUSE) | bytes << 8;
            Self::of(TAG_EXTENDED, rest, 1 + length)
        })
    }

    /// The bytes of the event, lowest first, as if no tick had passed since the last one.
    #[must_use]
    pub fn word(self) -> u64 {
        self.word
    }

    /// How many of them count.
    #[must_use]
    pub fn length(self) -> usize {
        self.length
    }

    #[inline(always)]
    pub(crate) fn of(tag: u8, rest: u32, length: usize) -> Self {
        Self {
            word: u64::from(tag) | u64::from(rest) << 16,
            length: 2 + length,
        }
    }
}

/// One stream of events of a recording: those of a Prolog thread or engine.
///
/// It may move from thread to thread, but only one at a time writes it. Dropping it ends it.
/// When the recording cannot go on (closed, full, in the child of a fork) every method still may
/// be called and does next to nothing.
#[derive(Debug)]
pub struct Stream {
    core: NonNull<Core>,
}

// SAFETY: fields of the core that are not atomic belong to the owner of the stream, and are not bound to a
// thread. The registry reaches atomic fields only.
unsafe impl Send for Stream {}

impl Stream {
    pub(crate) fn new(core: Box<Core>) -> Self {
        registry::add_stream(&core.hot, &core.recorder.life);
        Self {
            core: NonNull::from(Box::leak(core)),
        }
    }

    #[inline(always)]
    fn core(&self) -> &Core {
        // SAFETY: allocated in `new`, freed in `drop`.
        unsafe { self.core.as_ref() }
    }

    /// The stream as a pointer for C. It must come back through [`Stream::from_raw`].
    pub(crate) fn into_raw(self) -> NonNull<Core> {
        let core = self.core;
        std::mem::forget(self);
        core
    }

    /// # Safety
    /// `core` comes from [`Stream::into_raw`] and is used by nothing else any more.
    pub(crate) unsafe fn from_raw(core: NonNull<Core>) -> Self {
        Self { core }
    }

    /// Where the fields of [`crate::machine_code`] are. They stay there until the stream ends.
    #[must_use]
    pub fn fields(&self) -> *const u8 {
        (&raw const self.core().hot).cast()
    }

    /// Its number in the trace, from 1.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.core().id
    }

    /// A new box of `predicate`, called by the active box. The id may be that of a site of the predicate.
    #[inline]
    pub fn call(&self, predicate: u32) {
        self.core()
            .put_with_predicate(TAG_CALL, predicate, Event::Call { predicate });
    }

    /// A last call whose caller's frame is gone: the active box departs into `predicate`. The id may be that
    /// of a site of the predicate.
    #[inline]
    pub fn tail(&self, predicate: u32) {
        self.core()
            .put_with_predicate(TAG_TAIL, predicate, Event::Tail { predicate });
    }

    /// The active box exits and leaves no choicepoint.
    #[inline]
    pub fn exit_det(&self) {
        self.core().put(TAG_EXIT_DET, 0, 0, Event::ExitDet);
    }

    /// The active box exits and can be re-entered.
    #[inline]
    pub fn exit_nondet(&self) {
        self.core().put(TAG_EXIT_NONDET, 0, 0, Event::ExitNondet);
    }

    /// The newest re-enterable box is entered again.
    #[inline]
    pub fn redo(&self) {
        self.core().put(TAG_REDO, 0, 0, Event::Redo);
    }

    /// The active box fails.
    #[inline]
    pub fn fail(&self) {
        self.core().put(TAG_FAIL, 0, 0, Event::Fail);
    }

    /// An exception leaves the active box.
    #[inline]
    pub fn exception(&self) {
        self.core()
            .put(TAG_EXTENDED, CODE_EXCEPTION.into(), 1, Event::Exception);
    }

    /// The newest re-enterable box lost its choicepoints. Cuts in a row become one event, at the
    /// time of the first.
    #[inline]
    pub fn cut(&self) {
        self.core().cut();
    }

    /// [`Stream::call`], if less than 4096 ticks have passed since the last event. False if not, or if it
    /// cannot be written as fast for another reason. Then the caller may look at the engine first.
    #[inline]
    #[must_use = "if false, nothing was recorded"]
    pub fn call_if_soon(&self, predicate: u32) -> bool {
        self.core()
            .put_predicate_soon(clock::ticks(), TAG_CALL, predicate)
    }

    /// [`Stream::tail`], as [`Stream::call_if_soon`].
    #[inline]
    #[must_use = "if false, nothing was recorded"]
    pub fn tail_if_soon(&self, predicate: u32) -> bool {
        self.core()
            .put_predicate_soon(clock::ticks(), TAG_TAIL, predicate)
    }

    /// [`Stream::call`] or [`Stream::tail`], as [`Stream::call_if_soon`].
    #[inline]
    #[must_use = "if false, nothing was recorded"]
    pub fn put_if_soon(&self, ready: Ready) -> bool {
        self.core().put_ready_soon(clock::ticks(), ready)
    }

    /// [`Stream::exit_det`], as [`Stream::call_if_soon`].
    #[inline]
    #[must_use = "if false, nothing was recorded"]
    pub fn exit_det_if_soon(&self) -> bool {
        self.core().put_soon(clock::ticks(), TAG_EXIT_DET, 0, 0)
    }

    /// [`Stream::exit_nondet`], as [`Stream::call_if_soon`].
    #[inline]
    #[must_use = "if false, nothing was recorded"]
    pub fn exit_nondet_if_soon(&self) -> bool {
        self.core().put_soon(clock::ticks(), TAG_EXIT_NONDET, 0, 0)
    }

    /// [`Stream::redo`], as [`Stream::call_if_soon`].
    #[inline]
    #[must_use = "if false, nothing was recorded"]
    pub fn redo_if_soon(&self) -> bool {
        self.core().put_soon(clock::ticks(), TAG_REDO, 0, 0)
    }

    /// [`Stream::fail`], as [`Stream::call_if_soon`].
    #[inline]
    #[must_use = "if false, nothing was recorded"]
    pub fn fail_if_soon(&self) -> bool {
        self.core().put_soon(clock::ticks(), TAG_FAIL, 0, 0)
    }

    /// The innermost logical box of the active one enters a clause ([`crate::Recorder::clause`]).
    pub fn clause(&self, clause: u32) {
        self.core().slow(Event::Clause { clause }, clock::ticks());
    }

    /// [`Stream::clause`], as [`Stream::call_if_soon`].
    #[inline]
    #[must_use = "if false, nothing was recorded"]
    pub fn clause_if_soon(&self, clause: u32) -> bool {
        self.core().put_clause_soon(clock::ticks(), clause)
    }

    /// What the innermost logical box of the active one was called with.
    pub fn arguments(&self, arguments: Arguments) {
        self.core()
            .slow(Event::Arguments(arguments), clock::ticks());
    }

    /// A table is complete.
    pub fn table(&self, table: CompleteTable) {
        self.core().slow(Event::Table(table), clock::ticks());
    }

    /// What an argument of a call is.
    pub fn value(&self, value: ArgumentValue) {
        self.core().slow(Event::Value(value), clock::ticks());
    }

    /// What the call of the active box does with something that threads share.
    pub fn sync(&self, call: SyncCall) {
        self.core().slow(Event::Sync(call), clock::ticks());
    }

    /// [`Stream::cut`], as [`Stream::call_if_soon`]. A cut that becomes part of the event before is always soon.
    #[inline]
    #[must_use = "if false, nothing was recorded"]
    pub fn cut_if_soon(&self) -> bool {
        self.core().cut_soon()
    }

    /// Where the next event will be stored: two moments with the same answer have no event between them.
    #[inline]
    #[must_use]
    pub fn position(&self) -> usize {
        self.core().hot.cursor.get() as usize
    }

    /// The tick of the last event.
    #[inline]
    #[must_use]
    pub fn last_tick(&self) -> u64 {
        self.core().hot.last_tick.get()
    }

    /// Whether nothing can be recorded in this stream any more: the limit was reached, or the
    /// recording has ended. False if it has ended because the process ends: the stream has to
    /// say what is done after that.
    #[must_use]
    pub fn has_stopped(&self) -> bool {
        self.core().has_stopped()
    }

    /// Recording is suspended: the time until [`Stream::resume`] belongs to no box.
    pub fn pause(&self) {
        self.core().slow(Event::Pause, clock::ticks());
    }

    /// Recording goes on.
    pub fn resume(&self) {
        self.core().slow(Event::Resume, clock::ticks());
    }

    /// The engine lost events of this stream, `lost` of them or 0 if that is unknown: what is
    /// active is unknown from here on.
    pub fn gap(&self, lost: u64) {
        self.core().slow(Event::Gap { lost }, clock::ticks());
    }

    /// A remark of the traced program, at this moment.
    pub fn mark(&self, text: &str) {
        self.core().mark(text, clock::ticks());
    }

    /// Records an event as if it happened at `tick`: for tests, and for engines with a clock of
    /// their own. Ticks that go backwards are clamped and counted.
    pub fn record_at(&self, event: Event, tick: u64) {
        self.core().slow(event, tick);
    }

    /// Ends the stream: nothing more will be added to it. The same as dropping it.
    pub fn end(self) {}

    /// Ends the stream where it is, when the process ends: nothing is freed, because a signal may have
    /// interrupted a method of this stream. If it did, the stream is left as it is, readable to the
    /// last event.
    pub fn end_in_place(&self) {
        self.core().finish();
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.core().finish();
        registry::remove_stream(&self.core().hot);
        // SAFETY: from `Box::leak` in `new`, and nothing else can reach it any more.
        drop(unsafe { Box::from_raw(self.core.as_ptr()) });
    }
}
