//! Every live stream of the process, so that all streams of a recording can be stopped at once.
//!
//! A stream looks at nothing but its own limit at each event. The thread that stops a recording holds the
//! recorder's lock, sets its phase and clears those limits. A stream that opens a block, or makes it larger,
//! holds the same lock, looks at the phase and sets its limit.
//!
//! After a fork the child would write into the parent's file through the shared mapping. A handler in the child
//! stops every recording there, before any code of the child runs. It never takes a recorder's lock, which a
//! thread of the parent may have held. It leaks the recordings, whose contents that thread may have been
//! changing.

use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ptr;
use std::sync::{Arc, Mutex, Once};

use crate::hot::Hot;
use crate::last_moments;
use crate::locks::{self, Locked};
use crate::phase::{Life, Phase};
use crate::writer_lock::WriterLock;

/// A recording, as the registry sees it.
pub(crate) trait RegisteredRecording {
    fn life(&self) -> &Life;
    fn writer_lock(&self) -> &WriterLock;
}

/// Pointers stay valid while they are in here: a stream or a recording leaves before it is freed.
struct Registry {
    /// The live streams, each with the life of its recording.
    streams: BTreeMap<*const Hot, *const Life>,
    recordings: Vec<*const dyn RegisteredRecording>,
}

// SAFETY: pointers are followed only with the lock held, when their targets cannot be freed, and only to atomic
// fields. The cells beside that are their owner's.
unsafe impl Send for Registry {}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    streams: BTreeMap::new(),
    recordings: Vec::new(),
});

fn lock() -> Locked<'static, Registry> {
    locks::lock(&REGISTRY)
}

/// Adds a recording, which must call [`remove`] before it is dropped.
pub(crate) fn add<R: RegisteredRecording + 'static>(recording: &Arc<R>) {
    static HANDLERS: Once = Once::new();
    HANDLERS.call_once(|| {
        // SAFETY: the handlers follow the rules for code around a fork; see each of them.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
    });
    let recording: *const R = Arc::as_ptr(recording);
    lock().recordings.push(recording);
}

pub(crate) fn remove<R: RegisteredRecording>(recording: &R) {
    lock()
        .recordings
        .retain(|&other| !ptr::addr_eq(other, recording));
}

/// Adds a stream, which must call [`remove_stream`] before it is dropped or moved.
pub(crate) fn add_stream(stream: &Hot, recording: &Life) {
    lock().streams.insert(stream, recording);
}

pub(crate) fn remove_stream(stream: &Hot) {
    lock().streams.remove(&ptr::from_ref(stream));
}

/// Changes the phase of a recording and makes its streams notice it at their next event. The caller
/// has the recorder's lock.
pub(crate) fn stop_streams(recording: &Life, phase: Phase) {
    let registry = lock();
    recording.enter(phase);
    for (&stream, &life) in &registry.streams {
        if ptr::eq(life, recording) {
            // SAFETY: a live stream, by the invariant of the registry.
            unsafe { (*stream).forbid() };
        }
    }
}

/// The lock of the registry while a fork happens: taken and given back by the same thread.
struct HeldOverFork(UnsafeCell<Option<Locked<'static, Registry>>>);

// SAFETY: only the thread that holds the registry's lock looks inside.
unsafe impl Sync for HeldOverFork {}

static HELD: HeldOverFork = HeldOverFork(UnsafeCell::new(None));

/// The child must find the registry in order, so no thread may be changing it at the fork. Holding its lock
/// also holds back signals, in the child as well, until the child knows that it is one.
extern "C" fn before_fork() {
    let guard = lock();
    // SAFETY: this thread holds the lock.
    unsafe { *HELD.0.get() = Some(guard) };
}

extern "C" fn in_parent() {
    // SAFETY: this thread took the lock in `before_fork`.
    drop(unsafe { (*HELD.0.get()).take() });
}

extern "C" fn in_child() {
    // SAFETY: this thread is the copy of the one that took the lock in `before_fork`.
    let Some(mut registry) = (unsafe { (*HELD.0.get()).take() }) else {
        return;
    };
    // The parent may be about to end, and not this process.
    last_moments::let_go();
    for recording in registry.recordings.drain(..) {
        // SAFETY: a live recording, by the invariant of the registry. The count that is added here
        // is never taken away: nothing of it is dropped in the child.
        unsafe {
            Arc::increment_strong_count(recording);
            (*recording).life().enter(Phase::Forked);
            (*recording).writer_lock().leave_to_parent();
        }
    }
    for &stream in registry.streams.keys() {
        // SAFETY: a live stream, by the invariant of the registry.
        unsafe { (*stream).forbid() };
    }
}
