//! Where the state of each Prolog engine is: by the engine's thread number, and, which is quicker,
//! by the address of its data. Engines move between operating system threads.
//!
//! Both are used again. The number is the next engine's when its engine is gone. The address may
//! be that of any other engine, so a state is found by it only while it is sure that its end will
//! be told.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use portmortem_tracer::format::StreamKind;
use portmortem_tracer::last_moments;

use crate::describe::{describe, is_collector, name_of_thread};
use crate::engine::Engine;
use crate::leaving::{ARRIVED, LEFT};
use crate::native::{self, offsets};
use crate::{ffi, listening, recording};

/// The place of one engine's state, by the engine's thread number. Never freed.
struct EngineSlot {
    /// Used by this engine only, and freed by it.
    state: AtomicPtr<Engine>,
    /// The address of the engine's data while it has a state; only the engine itself stores it.
    data: AtomicPtr<c_void>,
    /// The state is being made: what is called for that is not recorded.
    attaching: AtomicBool,
    /// An engine of `engine_create/3` with this number has been told to end. It may have called
    /// something after that, too.
    left_by_engine: AtomicBool,
}

impl EngineSlot {
    const fn new() -> Self {
        Self {
            state: AtomicPtr::new(ptr::null_mut()),
            data: AtomicPtr::new(ptr::null_mut()),
            attaching: AtomicBool::new(false),
            left_by_engine: AtomicBool::new(false),
        }
    }

    /// The state, if it belongs to the recording in progress.
    ///
    /// # Safety
    /// Called by the slot's engine, and as for [`current`].
    #[inline]
    unsafe fn state(&self, epoch: u32) -> Option<&'static mut Engine> {
        // SAFETY: null or a state that only this engine uses.
        unsafe { self.state.load(Ordering::Relaxed).as_mut() }
            .filter(|state| state.epoch() == epoch)
    }

    /// Whether the Prolog thread that runs here has this slot and has been told to end.
    fn is_left(&self) -> bool {
        ptr::eq(LEFT.get(), ptr::from_ref(self).cast())
    }

    /// [`EngineSlot::state`] of the slot that the caller found by its number: what an earlier
    /// thread of this number has left is ended first.
    ///
    /// # Safety
    /// As for [`EngineSlot::state`].
    #[inline]
    unsafe fn own_state(&self, epoch: u32) -> Option<&'static mut Engine> {
        // SAFETY: null or a state that only this engine uses.
        let state = unsafe { self.state.load(Ordering::Relaxed).as_mut() }?;
        if state.is_left_over(|| self.is_left()) {
            self.end_left_over();
            return None;
        }
        (state.epoch() == epoch).then_some(state)
    }

    /// The thread that made the state is gone, and nothing has told of its end: see [`LEFT`].
    #[cold]
    fn end_left_over(&self) {
        // SAFETY: the calling engine has the slot's number, so no other engine uses the state.
        if let Some(left) = unsafe { self.take() } {
            // SAFETY: the engine that had the stream is gone.
            unsafe { native::retire_shadow_of(left.shadow, left.stream.fields()) };
        }
    }

    /// Takes the state out, if there is one.
    ///
    /// # Safety
    /// No reference to it is in use.
    unsafe fn take(&self) -> Option<Box<Engine>> {
        self.data.store(ptr::null_mut(), Ordering::Relaxed);
        let state = self.state.swap(ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: `attach` made it, and nothing else leads to it now.
        (!state.is_null()).then(|| unsafe { Box::from_raw(state) })
    }

    /// From now on the state is found by the address of its engine's data, where that is safe:
    /// when the engine has been told to end, nothing tells that the address is another's.
    fn find_by(&self, data: *mut c_void) {
        if self.is_left() || self.left_by_engine.load(Ordering::Relaxed) {
            return;
        }
        self.data.store(data, Ordering::Relaxed);
        recent_place(data).store(ptr::from_ref(self).cast_mut(), Ordering::Relaxed);
    }
}

const CHUNK: usize = 1024;
const CHUNKS: usize = 1024;
type EngineChunk = [EngineSlot; CHUNK];

/// By thread number; chunks are made when first needed and stay.
static ENGINES: [AtomicPtr<EngineChunk>; CHUNKS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; CHUNKS];

/// Stands for no engine.
static NO_ENGINE: EngineSlot = EngineSlot::new();

const RECENT: usize = 64;

/// Slots by the address of their engine's data: quicker to find than by number. Any slot may
/// stand here; it is the right one if its `data` is.
static RECENTLY: [AtomicPtr<EngineSlot>; RECENT] =
    [const { AtomicPtr::new(&raw const NO_ENGINE as *mut EngineSlot) }; RECENT];

/// To be called before a state is looked for by the address of its engine's data.
#[inline(always)]
fn arrive(data: *mut c_void) {
    if !ARRIVED.get() {
        arrive_first(data);
    }
}

/// A slot that this address led to may be that of a thread that is gone. Whoever has the number
/// finds the state without it.
#[cold]
fn arrive_first(data: *mut c_void) {
    // SAFETY: slots are never freed.
    let recent = unsafe { &*recent_place(data).load(Ordering::Relaxed) };
    let (relaxed, none) = (Ordering::Relaxed, ptr::null_mut());
    let _ = recent.data.compare_exchange(data, none, relaxed, relaxed);
    ARRIVED.set(true);
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
fn recent_place(data: *mut c_void) -> &'static AtomicPtr<EngineSlot> {
    &RECENTLY[(data as usize >> 12) % RECENT]
}

/// The calling engine's slot.
#[inline]
fn own_slot() -> Option<&'static EngineSlot> {
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
fn add_chunk(place: &AtomicPtr<EngineChunk>) -> *mut EngineChunk {
    let fresh = Box::into_raw(Box::new([const { EngineSlot::new() }; CHUNK]));
    match place.compare_exchange(ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => fresh,
        Err(theirs) => {
            // SAFETY: no other thread has seen `fresh`.
            drop(unsafe { Box::from_raw(fresh) });
            theirs
        }
    }
}

/// The calling engine's state, made if it has none yet. None while nothing is being recorded.
///
/// `data` is the address of the engine's data, as `PL_get_context` gives it.
///
/// # Safety
/// The reference must not outlive the foreign call, and no second one may be made meanwhile.
#[inline]
pub(crate) unsafe fn of_context(data: *mut c_void) -> Option<&'static mut Engine> {
    let epoch = recording::epoch()?;
    arrive(data);
    // SAFETY: the caller's promise.
    if let Some(state) = unsafe { recent(data, epoch) } {
        return Some(state);
    }
    // SAFETY: the caller's promise.
    let state = unsafe { current() };
    if let Some(slot) = own_slot() {
        slot.find_by(data);
    }
    state
}

/// The calling engine's state, made if it has none yet. None while nothing is being recorded.
///
/// # Safety
/// As for [`of_context`].
#[inline]
pub(crate) unsafe fn current() -> Option<&'static mut Engine> {
    let epoch = recording::epoch()?;
    let slot = own_slot()?;
    // SAFETY: our slot; the caller's promise.
    if let Some(state) = unsafe { slot.own_state(epoch) } {
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
    // SAFETY: our slot; the caller's promise.
    unsafe { own_slot()?.own_state(epoch) }
}

/// [`existing`], for the engine whose data `data` is.
///
/// # Safety
/// As for [`of_context`].
#[inline(always)]
pub(crate) unsafe fn of_context_if_any(data: *mut c_void) -> Option<&'static mut Engine> {
    arrive(data);
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

/// The state of the engine that has come to a stub, made if it has none yet. `data` is the
/// address of the engine's data; `kind` says what it is, where Prolog cannot be asked. None while
/// nothing is being recorded.
///
/// # Safety
/// As for [`current`].
#[inline(always)]
pub(crate) unsafe fn of_stub(data: usize, kind: fn() -> StreamKind) -> Option<&'static mut Engine> {
    let epoch = recording::epoch()?;
    let data = data as *mut c_void;
    arrive(data);
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
    let state = match unsafe { slot.own_state(epoch) } {
        Some(state) => state,
        None if is_collector() => return None,
        // SAFETY: null, or a state just made for this engine.
        None => unsafe { attach(slot, epoch, || (kind(), name_of_thread())).as_mut() }?,
    };
    slot.find_by(data);
    Some(state)
}

#[cold]
fn attach(
    slot: &'static EngineSlot,
    epoch: u32,
    describe: impl FnOnce() -> (StreamKind, String),
) -> *mut Engine {
    let is_outside = listening::is_ours() && !recording::is_of_trials();
    if is_outside || slot.attaching.swap(true, Ordering::Relaxed) {
        return ptr::null_mut();
    }
    let left = slot.is_left();
    let (kind, name) = match describe() {
        (_, name) if left => (StreamKind::Thread, name),
        described => described,
    };
    slot.attaching.store(false, Ordering::Relaxed);
    // Where it is not known where the data lies, no stub works.
    let data = offsets::known().map_or(ptr::from_ref(slot).addr(), offsets::running_engine);
    let made = recording::with(|current| Engine::new(current, epoch, kind, &name, left, data));
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
    let slot = unsafe { &*slot.cast::<EngineSlot>() };
    let state = slot.state.load(Ordering::Acquire);
    // SAFETY: null, or a state that is not freed but here and in `attach`.
    let Some(kind) = (unsafe { state.as_ref() }).map(Engine::kind) else {
        return;
    };
    let ours = own_slot().is_some_and(|own| ptr::eq(own, slot));
    match kind {
        StreamKind::Thread if !ours => return,
        StreamKind::Thread => LEFT.set(ptr::from_ref(slot).cast()),
        _ => slot.left_by_engine.store(true, Ordering::Relaxed),
    }
    end(slot, ours);
}

/// Ends a stream. `ours` says whether the calling engine is the stream's.
fn end(slot: &EngineSlot, ours: bool) {
    // SAFETY: only its engine uses the state, and calls this, or is gone.
    let Some(state) = (unsafe { slot.take() }) else {
        return;
    };
    if ours {
        native::inferences::ended(state.inferences);
    }
    // SAFETY: a shadow is never freed, and only its engine uses it.
    unsafe { (*state.shadow).retire() };
}

/// Ends the calling engine's stream, at the end of a recording. It may be recorded again.
pub(crate) fn detach_current() {
    if let Some(slot) = own_slot() {
        end(slot, true);
    }
}

/// Ends the calling engine's stream when the process ends, and leaves everything where it is: see
/// [`portmortem_tracer::Stream::end_in_place`].
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
