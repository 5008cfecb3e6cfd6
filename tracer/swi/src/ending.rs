//! The end of a recording.

use std::ffi::{c_int, c_void};
use std::ptr;

use portmortem_tracer::format::Outcome;
use portmortem_tracer::{last_moments, locks};

use crate::ffi::{self, FALSE};
use crate::memory_at_exit;
use crate::panics::guarded;
use crate::recording;
use crate::watcher;
use crate::{engines, listening, native, stubs, symbolic};

/// Ends the recording, if there is one. The program goes on.
pub(crate) fn stop() -> bool {
    let Some(recording) = recording::take() else {
        return false;
    };
    // The calling engine's stream ends in order; those of other threads stay as they are,
    // readable to the last event.
    engines::detach_current();
    recording::abandon();
    stubs::end();
    symbolic::finish(&recording.recorder);
    recording::close(&recording, Outcome::Stopped);
    true
}

/// Ends the recording because the process ends, perhaps in the handler of a signal that
/// interrupted a port. Nothing is freed that the port may still use. Other threads come to their
/// next port as if recording went on, and wait there.
///
/// A child of a fork leaves everything as it is: its copies of the locks may be held by threads
/// that it does not have.
fn stop_at_exit(status: i32) {
    let Some(recording) = recording::take_at_exit() else {
        return;
    };
    engines::end_current_in_place();
    symbolic::finish(&recording.recorder);
    recording::close_at_exit(&recording, Outcome::Exited(status));
    std::mem::forget(recording);
}

/// Nothing can be recorded any more: the wrappers are taken off, so that the program is as fast
/// as before. Called by a port of the recording with this number. No reference to the engine's
/// state may be in use.
#[cold]
pub(crate) fn stop_by_itself(epoch: u32) {
    recording::abandon_epoch(epoch);
    // SAFETY: plain calls of the interface on a thread that runs Prolog; the frame is closed
    // again. If the predicate throws, wrappers stay, and each call passes through them
    // unrecorded.
    unsafe {
        let frame = ffi::PL_open_foreign_frame();
        let module = c"portmortem_wrap".as_ptr();
        let predicate = ffi::PL_predicate(c"stop_wrapping".as_ptr(), 0, module);
        let none = ffi::PL_new_term_ref();
        ffi::PL_call_predicate(ptr::null_mut(), ffi::QUIET, predicate, none);
        ffi::PL_discard_foreign_frame(frame);
    }
}

/// Called by the engine when the process is about to end. A signal such as SIGSEGV may have
/// interrupted the recorder itself: then the trace stays as if the process had been killed.
pub(crate) extern "C" fn at_exit(status: c_int, _: *mut c_void) -> c_int {
    listening::end();
    if locks::is_held() {
        return 0;
    }
    memory_at_exit::begin();
    let (status, flags) = (status & 0xffff, status & !0xffff);
    guarded(FALSE, || {
        stop_at_exit(status);
        let written = recording::written();
        watcher::end(status as u8, written, native::inferences::so_far());
        FALSE
    });
    // The engine gives flags of its clean-up only when it halts. What follows then are the hooks
    // of the C library, and those may need what a thread holds. A signal kills the process at once.
    if flags != 0 {
        last_moments::let_go();
    }
    0
}
