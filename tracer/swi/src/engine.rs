//! The state of one Prolog engine (a thread, or an engine of `engine_create/3`): its stream and
//! its boxes.
//!
//! Engines move between operating system threads, so the state is found by the engine's own
//! thread number. Recording can stop and start; [`recording::epoch`] tells the state of one
//! recording from that of the next.

use std::ffi::c_void;
use std::ptr;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use portmortem_tracer::Stream;
use portmortem_tracer::format::{Dialect, StreamKind};
use portmortem_tracer::last_moments;

use crate::boxes::{BoxId, Boxes, Pruned};
use crate::collections::Collections;
use crate::coming::Coming;
use crate::credit::Credits;
use crate::describe::{describe, is_collector, name_of_thread};
use crate::ffi;
use crate::frames::FrameCache;
use crate::leaving::{self, ARRIVED, LEFT};
use crate::native::held_values::KeptValues;
use crate::native::{self, Shadow, Standings, offsets};
use crate::recording;
use crate::symbolic::CostCounter;

/// What the ports of one engine work on.
pub(crate) struct Engine {
    epoch: u32,
    kind: StreamKind,
    /// Gone when the operating system's thread is in which it was made.
    maker: Weak<()>,
    pub(crate) stream: Stream,
    pub(crate) boxes: Boxes,
    /// The boxes, as stubs see them. Never freed.
    pub(crate) shadow: *mut Shadow,
    /// What calls of predicates are, as stubs need it.
    pub(crate) standings: Standings,
    pub(crate) frames: FrameCache,
    /// What the clause said that is about to call a wrapper.
    pub(crate) coming: Option<Coming>,
    /// A wrapper was entered, and the event of the call is recorded: what its arguments are may
    /// follow.
    pub(crate) entered: bool,
    /// What may be spent on looking at arguments.
    pub(crate) credits: Credits,
    /// Of which predicates values are recorded.
    pub(crate) values: KeptValues,
    /// The program has paused recording.
    paused: bool,
    /// How deep we are in code of our own, which may call predicates that are recorded.
    own: u32,
    /// Either of them: calls get no boxes.
    pub(crate) quiet: bool,
    /// Whether last calls are recorded as such.
    pub(crate) tails: bool,
    /// Whether the clauses that are entered are recorded.
    pub(crate) clauses: bool,
    /// Inferences that were made before the stream began.
    pub(crate) inferences: Option<u64>,
    /// Garbage collections, stack shifts and waiting so far.
    pub(crate) collections: Collections,
    /// What is counted in a symbolic recording.
    pub(crate) symbolic: Option<Box<CostCounter>>,
    /// So many boxes make [`Engine::exception`] look how much stack they take; none once it has
    /// said so.
    suspicious_depth: usize,
    /// If they take so much, it suspects the stack limit.
    suspicious_bytes: usize,
}

/// What an open box costs on the engine's local stack if a wrapper opened it: the wrapper's
/// frame, the guard's and its choicepoint.
const WRAPPER_BYTES: usize = 240;
/// The same if it was opened at a goal: a choicepoint.
const GOAL_BYTES: usize = 80;

/// Which part of the stack limit recording must have taken, to be suspected of an overflow.
const SUSPICIOUS_PART: usize = 4;

impl Engine {
    /// The number of the recording that the state belongs to.
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The program pauses recording, or goes on.
    pub(crate) fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
        self.settle_quiet();
    }

    /// Code of our own calls, or ends, more of it.
    pub(crate) fn is_deep_in_own(&self) -> bool {
        self.own > 1
    }

    /// Code of our own runs.
    pub(crate) fn is_in_own(&self) -> bool {
        self.own > 0
    }

    /// Code of our own begins.
    pub(crate) fn enter_own(&mut self) {
        self.own += 1;
        self.settle_quiet();
    }

    /// Code of our own ends.
    pub(crate) fn leave_own(&mut self) {
        // It may have begun before the recording did.
        self.own = self.own.saturating_sub(1);
        self.settle_quiet();
    }

    /// The active box fails: it was opened at a goal.
    pub(crate) fn fail_active(&mut self) {
        if self.boxes.is_recorded_goal() {
            self.stream.fail();
        }
        self.boxes.leave_goal();
    }

    /// The active box was re-entered.
    pub(crate) fn redo_active(&mut self) {
        self.stream.redo();
    }

    /// The guard of a box's exit was pruned: the box is cut, and with it all that exited later or
    /// inside of it.
    ///
    /// If an exception did that, it has left the boxes first that were opened since.
    pub(crate) fn exit_pruned(&mut self, id: BoxId) {
        let Some(position) = self.boxes.newest_exit(id) else {
            return;
        };
        let before = self.stream.last_tick();
        while self.boxes.is_goal_after(position) {
            self.exception_at_goal();
        }
        let inside = self.boxes.exited_before(id);
        self.cut_light(position + 1);
        let recorded = self.boxes.cut_at(position);
        self.cut(recorded);
        self.boxes.doom(inside);
        while let Some(recorded) = self.boxes.cut_doomed() {
            self.cut(recorded);
        }
        self.boxes.trim();
        self.passed_unasked(before);
    }

    /// The guard of a box was pruned. If the box had not been left, an exception leaves it now,
    /// and those inside of it before.
    pub(crate) fn guard_pruned(&mut self, id: BoxId) {
        let before = self.stream.last_tick();
        while self.boxes.is_goal_inside(id.index()) {
            self.exception_at_goal();
        }
        let silent = self.boxes.is_silent(id);
        if self.boxes.is_active(id) {
            self.cut_light(self.boxes.exited_before(id));
        }
        match self.boxes.prune(id) {
            Pruned::Silent => return,
            _ if silent => return,
            Pruned::Exception => self.exception(),
            Pruned::Cut => self.cut(true),
        }
        self.passed_unasked(before);
    }

    fn exception_at_goal(&mut self) {
        self.cut_light(self.boxes.exited_before(self.boxes.active_id()));
        if self.boxes.is_recorded_goal() {
            self.exception();
        }
        self.boxes.leave_goal();
    }

    /// What exited without a guard and is not among the first `size` is cut.
    fn cut_light(&mut self, size: usize) {
        while let Some(recorded) = self.boxes.cut_light(size) {
            self.cut(recorded);
        }
    }

    fn cut(&mut self, recorded: bool) {
        if recorded && !self.stream.cut_if_soon() {
            self.note_waiting_if_long();
            self.stream.cut();
        }
    }

    fn settle_quiet(&mut self) {
        let quiet = self.paused || self.own > 0;
        if quiet != self.quiet {
            self.quiet = quiet;
            // SAFETY: this engine's own, which no reference leads to while its state changes.
            unsafe { (*self.shadow).leave_to_handlers() };
            if quiet {
                self.stream.pause();
            } else {
                self.stream.resume();
            }
        }
    }

    /// An exception left a box. If it came deep enough, it may be that of a stack which is full
    /// only because of the recording.
    pub(crate) fn exception(&mut self) {
        self.note_waiting_if_long();
        self.stream.exception();
        let depth = self.boxes.depth() + 1;
        if depth >= self.suspicious_depth {
            let at_goals = self.boxes.count_at_goals();
            let bytes = at_goals * GOAL_BYTES + (depth - at_goals) * WRAPPER_BYTES;
            if bytes < self.suspicious_bytes {
                self.suspicious_depth = depth * 2;
                return;
            }
            self.suspicious_depth = usize::MAX;
            let text = format!(
                "an exception came {depth} boxes deep, where recording took {} MB of stack; if the stack limit was hit, record again with --stack-limit 4G",
                bytes / 1_000_000
            );
            recording::with(|current| current.recorder.note(&text));
        }
    }
}

/// The place of one engine's state, by the engine's thread number. Never freed.
struct Slot {
    /// Used by this engine only, and freed by it.
    state: AtomicPtr<Engine>,
    /// The address of the engine's data while it has a state; only the engine itself stores it.
    data: AtomicPtr<c_void>,
    /// The state is being made: what is called for that is not recorded.
    attaching: AtomicBool,
}

impl Slot {
    const fn new() -> Self {
        Self {
            state: AtomicPtr::new(ptr::null_mut()),
            data: AtomicPtr::new(ptr::null_mut()),
            attaching: AtomicBool::new(false),
        }
    }

    /// The state, if it belongs to the recording in progress.
    ///
    /// # Safety
    /// Called by the slot's engine, and as for [`current`].
    #[inline]
    unsafe fn state(&self, epoch: u32) -> Option<&'static mut Engine> {
        // SAFETY: null or a state that only this engine uses.
        unsafe { self.state.load(Ordering::Relaxed).as_mut() }.filter(|state| state.epoch == epoch)
    }

    /// Whether the Prolog thread that runs here has this slot and has been told to end.
    fn is_left(&self) -> bool {
        ptr::eq(LEFT.get(), ptr::from_ref(self).cast())
    }

    /// Ends what an earlier thread of this number has left: see [`LEFT`].
    fn end_left_over(&self) {
        let state = self.state.load(Ordering::Acquire);
        // SAFETY: null, or a state that is not freed but by whoever has the number.
        let Some(left) = (unsafe { state.as_ref() }) else {
            return;
        };
        if left.kind == StreamKind::Thread && left.maker.strong_count() == 0 {
            self.data.store(ptr::null_mut(), Ordering::Relaxed);
            self.state.store(ptr::null_mut(), Ordering::Release);
            // SAFETY: its thread is gone. Another engine may have its shadow by now.
            drop(unsafe { Box::from_raw(state) });
        }
    }
}

/// To be called first: what was left over for the calling engine's number is not taken for its
/// own.
#[inline(always)]
fn arrive() {
    if !ARRIVED.get() {
        arrive_first();
    }
}

#[cold]
fn arrive_first() {
    if let Some(slot) = own_slot() {
        slot.end_left_over();
        ARRIVED.set(true);
    }
}

const CHUNK: usize = 1024;
const CHUNKS: usize = 1024;
type Chunk = [Slot; CHUNK];

/// By thread number; chunks are made when first needed and stay.
static ENGINES: [AtomicPtr<Chunk>; CHUNKS] = [const { AtomicPtr::new(ptr::null_mut()) }; CHUNKS];

static NOBODY: Slot = Slot::new();

const RECENT: usize = 64;

/// Slots by the address of their engine's data: quicker to find than by number. Any slot may
/// stand here; it is the right one if its `data` is.
static RECENTLY: [AtomicPtr<Slot>; RECENT] =
    [const { AtomicPtr::new(&raw const NOBODY as *mut Slot) }; RECENT];

/// The calling engine's state, made if it has none yet. None while nothing is being recorded.
///
/// `data` is the address of the engine's data, as `PL_get_context` gives it.
///
/// # Safety
/// The reference must not outlive the foreign call, and no second one may be made meanwhile.
#[inline]
pub(crate) unsafe fn of_context(data: *mut c_void) -> Option<&'static mut Engine> {
    let epoch = recording::epoch()?;
    arrive();
    // SAFETY: the caller's promise.
    if let Some(state) = unsafe { recent(data, epoch) } {
        return Some(state);
    }
    // SAFETY: the caller's promise.
    let state = unsafe { current() };
    if let Some(slot) = own_slot() {
        slot.data.store(data, Ordering::Relaxed);
        recent_place(data).store(ptr::from_ref(slot).cast_mut(), Ordering::Relaxed);
    }
    state
}

/// The state of the engine whose data `data` is, if its slot is among the recent ones.
///
/// # Safety
/// As for [`of_context`].
#[inline(always)]
unsafe fn recent(data: *mut c_void, epoch: u32) -> Option<&'static mut Engine> {
    // SAFETY: slots are never freed.
    let slot = unsafe { &*recent_place(data).load(Ordering::Relaxed) };
    if slot.data.load(Ordering::Relaxed) != data {
        return None;
    }
    // SAFETY: our data, so our slot; the caller's promise.
    unsafe { slot.state(epoch) }
}

#[inline(always)]
fn recent_place(data: *mut c_void) -> &'static AtomicPtr<Slot> {
    &RECENTLY[(data as usize >> 12) % RECENT]
}

/// The calling engine's state, made if it has none yet. None while nothing is being recorded.
///
/// # Safety
/// As for [`of_context`].
#[inline]
pub(crate) unsafe fn current() -> Option<&'static mut Engine> {
    let epoch = recording::epoch()?;
    arrive();
    let slot = own_slot()?;
    // SAFETY: our slot; the caller's promise.
    if let Some(state) = unsafe { slot.state(epoch) } {
        return Some(state);
    }
    // SAFETY: null, or a state just made for this engine.
    unsafe { attach(slot, epoch, describe).as_mut() }
}

/// The calling engine's state if it has one for the recording in progress.
///
/// # Safety
/// As for [`of_context`].
#[inline]
pub(crate) unsafe fn existing() -> Option<&'static mut Engine> {
    let epoch = recording::epoch()?;
    arrive();
    // SAFETY: our slot; the caller's promise.
    unsafe { own_slot()?.state(epoch) }
}

/// [`existing`], for the engine whose data `data` is.
///
/// # Safety
/// As for [`of_context`].
#[inline(always)]
pub(crate) unsafe fn of_context_if_any(data: *mut c_void) -> Option<&'static mut Engine> {
    arrive();
    // While nothing is recorded this is the number of no recording, and so of no state.
    // SAFETY: the caller's promise.
    match unsafe { recent(data, recording::last_epoch()) } {
        Some(state) => Some(state),
        None => existing_at_another_place(),
    }
}

/// [`existing`], where another engine's slot was among the recent ones, or nothing is being
/// recorded.
#[cold]
fn existing_at_another_place() -> Option<&'static mut Engine> {
    // SAFETY: the promise of the caller's caller.
    unsafe { existing() }
}

/// The calling engine's slot.
#[inline]
fn own_slot() -> Option<&'static Slot> {
    // SAFETY: called on a thread that runs Prolog.
    let number = usize::try_from(unsafe { ffi::PL_thread_self() }).ok()?;
    let chunk = ENGINES.get(number / CHUNK)?;
    let mut pointer = chunk.load(Ordering::Acquire);
    if pointer.is_null() {
        pointer = add_chunk(chunk);
    }
    // SAFETY: chunks are never freed.
    Some(unsafe { &(*pointer)[number % CHUNK] })
}

#[cold]
fn add_chunk(place: &AtomicPtr<Chunk>) -> *mut Chunk {
    let fresh = Box::into_raw(Box::new([const { Slot::new() }; CHUNK]));
    match place.compare_exchange(ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => fresh,
        Err(theirs) => {
            // SAFETY: nobody else has seen `fresh`.
            drop(unsafe { Box::from_raw(fresh) });
            theirs
        }
    }
}

/// The state of the engine that has come to a stub, made if it has none yet. `data` is the
/// address of the engine's data; `kind` says what it is, where Prolog cannot be asked. None while
/// nothing is being recorded.
///
/// # Safety
/// As for [`current`].
#[inline(always)]
pub(crate) unsafe fn of_stub(data: usize, kind: fn() -> StreamKind) -> Option<&'static mut Engine> {
    let epoch = recording::epoch()?;
    arrive();
    let data = data as *mut c_void;
    // SAFETY: the caller's promise.
    match unsafe { recent(data, epoch) } {
        Some(state) => Some(state),
        None => of_stub_elsewhere(data, epoch, kind),
    }
}

/// [`of_stub`], where another engine's slot was among the recent ones.
#[cold]
fn of_stub_elsewhere(
    data: *mut c_void,
    epoch: u32,
    kind: fn() -> StreamKind,
) -> Option<&'static mut Engine> {
    let slot = own_slot()?;
    // SAFETY: the promise of the caller's caller.
    let state = match unsafe { slot.state(epoch) } {
        Some(state) => state,
        None if is_collector() => return None,
        // SAFETY: null, or a state just made for this engine.
        None => unsafe { attach(slot, epoch, || (kind(), name_of_thread())).as_mut() }?,
    };
    slot.data.store(data, Ordering::Relaxed);
    recent_place(data).store(ptr::from_ref(slot).cast_mut(), Ordering::Relaxed);
    Some(state)
}

#[cold]
fn attach(
    slot: &'static Slot,
    epoch: u32,
    describe: impl FnOnce() -> (StreamKind, String),
) -> *mut Engine {
    if slot.attaching.swap(true, Ordering::Relaxed) {
        return ptr::null_mut();
    }
    let (kind, name) = match describe() {
        (_, name) if slot.is_left() => (StreamKind::Thread, name),
        described => described,
    };
    slot.attaching.store(false, Ordering::Relaxed);
    // Where it is not known where the data lies, no stub works.
    let data = offsets::known().map_or(ptr::from_ref(slot).addr(), offsets::running_engine);
    let made = recording::with(|current| Engine {
        epoch,
        kind,
        maker: leaving::life(),
        stream: current.recorder.stream(kind, &name, Dialect::EveryRedo),
        boxes: Boxes::new(u64::from(epoch) << 16),
        shadow: native::shadow_of(data),
        standings: Standings::default(),
        frames: FrameCache::new(),
        coming: None,
        entered: false,
        credits: Credits::new(),
        values: KeptValues::new(!current.selection.values.is_empty()),
        paused: false,
        own: 0,
        quiet: false,
        tails: current.tails,
        clauses: current.clauses,
        inferences: native::inferences::made(),
        collections: Collections::new(native::pauses()),
        symbolic: current.symbolic.then(|| Box::new(CostCounter::new())),
        suspicious_depth: current.stack_limit / WRAPPER_BYTES / SUSPICIOUS_PART,
        suspicious_bytes: current.stack_limit / SUSPICIOUS_PART,
    });
    let Some(made) = made else {
        // A thread that begins at the end of the process gets no stream any more.
        last_moments::wait_unless_ending();
        return ptr::null_mut();
    };
    let state = Box::into_raw(Box::new(made));
    let old = slot.state.swap(state, Ordering::AcqRel);
    if old.is_null() {
        // SAFETY: the hook gets the slot, which is static, and runs on this engine when it ends.
        unsafe {
            ffi::PL_thread_at_exit(detach, ptr::from_ref(slot).cast_mut().cast::<c_void>(), 0);
        }
    } else {
        // SAFETY: the old state belongs to this engine and an earlier recording; nothing refers
        // to it but its shadow, which stays.
        drop(unsafe { Box::from_raw(old) });
    }
    state
}

/// Ends the stream of an engine that is going away.
///
/// When the process ends, one thread may be told of the end of another that still runs: its
/// stream is left as it is, readable to the last event.
extern "C" fn detach(slot: *mut c_void) {
    // SAFETY: the pointer was made from a static slot.
    let slot = unsafe { &*slot.cast::<Slot>() };
    let state = slot.state.load(Ordering::Acquire);
    // SAFETY: null, or a state that is not freed but here and in `attach`.
    let Some(kind) = (unsafe { state.as_ref() }).map(|state| state.kind) else {
        return;
    };
    let ours = own_slot().is_some_and(|own| ptr::eq(own, slot));
    if kind == StreamKind::Thread {
        if !ours {
            return;
        }
        LEFT.set(ptr::from_ref(slot).cast());
    }
    if ours {
        // SAFETY: as above.
        native::inferences::ended(unsafe { (*state).inferences });
    }
    slot.data.store(ptr::null_mut(), Ordering::Relaxed);
    slot.state.store(ptr::null_mut(), Ordering::Release);
    // SAFETY: only this engine used the state, and it has just been taken out. Its shadow stays.
    unsafe {
        (*(*state).shadow).retire();
        drop(Box::from_raw(state));
    }
}

/// Ends the calling engine's stream, at the end of a recording.
pub(crate) fn detach_current() {
    if let Some(slot) = own_slot() {
        detach(ptr::from_ref(slot).cast_mut().cast());
        // It may be recorded again.
        LEFT.set(ptr::null());
    }
}

/// Ends the calling engine's stream when the process ends, and leaves everything where it is: see
/// [`Stream::end_in_place`].
pub(crate) fn end_current_in_place() {
    let state = own_slot().map_or(ptr::null_mut(), |slot| slot.state.load(Ordering::Acquire));
    if !state.is_null() {
        // SAFETY: the state of this engine. A port of it may have been interrupted, so no
        // reference to it is made but to its stream, which allows for that.
        let (stream, inferences) = unsafe { (&(*state).stream, (*state).inferences) };
        stream.end_in_place();
        native::inferences::ended(inferences);
    }
}
