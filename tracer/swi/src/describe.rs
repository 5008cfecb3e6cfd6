//! What an engine is, and how it is called.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use portmortem_tracer::format::StreamKind;

use crate::ffi;

/// Whether the calling engine is a thread or a coroutining engine, and its alias, or its number.
pub(crate) fn describe() -> (StreamKind, String) {
    // SAFETY: plain calls of the interface on a thread that runs Prolog; the frame is closed again.
    let is_engine = unsafe {
        let frame = ffi::PL_open_foreign_frame();
        let predicate = ffi::PL_predicate(c"engine_self".as_ptr(), 1, c"system".as_ptr());
        let answer = ffi::PL_call_predicate(
            ptr::null_mut(),
            ffi::QUIET,
            predicate,
            ffi::PL_new_term_ref(),
        );
        ffi::PL_discard_foreign_frame(frame);
        ffi::truth(answer)
    };
    let kind = if is_engine {
        StreamKind::Engine
    } else {
        StreamKind::Thread
    };
    (kind, name_of_thread())
}

/// The alias of the calling thread, or its number.
pub(crate) fn name_of_thread() -> String {
    // SAFETY: called on a thread that runs Prolog.
    let number = unsafe { ffi::PL_thread_self() };
    alias(number).unwrap_or_else(|| number.to_string())
}

/// Whether the calling thread is the one in which the engine collects atoms and clauses. It runs
/// nothing of the program's, and gets no stream.
pub(crate) fn is_collector() -> bool {
    // SAFETY: called on a thread that runs Prolog.
    alias(unsafe { ffi::PL_thread_self() }).as_deref() == Some("gc")
}

fn alias(number: c_int) -> Option<String> {
    let mut atom: ffi::Atom = 0;
    let mut length = 0;
    // SAFETY: the atom is valid while we copy its text.
    unsafe {
        if !ffi::truth(ffi::PL_get_thread_alias(number, &raw mut atom)) {
            return None;
        }
        let text: *const c_char = ffi::PL_atom_nchars(atom, &raw mut length);
        if text.is_null() {
            return None;
        }
        Some(CStr::from_ptr(text).to_string_lossy().into_owned())
    }
}
