//! The listening thread becomes a Prolog thread for a moment, and calls
//! `library(portmortem)`.

use std::ffi::{CStr, c_int};
use std::ptr;

use crate::ffi::{self, Term};
use crate::values::{text, unify_string};

/// Room for Prolog, as the engine's own threads have it.
pub(super) const STACK_BYTES: usize = 8 << 20;

/// Begins to record with these settings, or says why not.
pub(super) fn start(settings: &[String]) -> Result<(), String> {
    let done = as_prolog_thread(|| {
        // SAFETY: references of a frame that `as_prolog_thread` closes.
        let (arguments, list) = unsafe {
            let arguments = ffi::PL_new_term_refs(2);
            (arguments, ffi::PL_copy_term_ref(arguments))
        };
        let made = make_list(list, settings) && call(c"attached", 2, arguments);
        let why = if made {
            text(arguments + 1)
        } else {
            "it cannot begin to record".to_owned()
        };
        if why.is_empty() { Ok(()) } else { Err(why) }
    });
    done.unwrap_or_else(|| Err("it has no room for another thread".to_owned()))
}

/// Ends the recording.
pub(super) fn stop() {
    as_prolog_thread(|| {
        call(c"pm_stop", 0, 0);
    });
}

/// `None` if the engine does not take the thread, as when it halts.
fn as_prolog_thread<T>(work: impl FnOnce() -> T) -> Option<T> {
    // SAFETY: this thread runs no Prolog engine, and what it makes of terms is gone in the end.
    unsafe {
        if ffi::PL_thread_attach_engine(ptr::null_mut()) < 0 {
            return None;
        }
        let frame = ffi::PL_open_foreign_frame();
        let done = work();
        ffi::PL_discard_foreign_frame(frame);
        ffi::PL_thread_destroy_engine();
        Some(done)
    }
}

fn make_list(list: Term, words: &[String]) -> bool {
    // SAFETY: references of the caller's frame.
    unsafe {
        let head = ffi::PL_new_term_ref();
        words.iter().all(|word| {
            ffi::truth(ffi::PL_unify_list(list, head, list)) && unify_string(head, word) != 0
        }) && ffi::truth(ffi::PL_unify_nil(list))
    }
}

fn call(name: &CStr, arity: c_int, arguments: Term) -> bool {
    // SAFETY: a predicate with so many arguments, which follow on the first one.
    unsafe {
        let predicate = ffi::PL_predicate(name.as_ptr(), arity, c"portmortem".as_ptr());
        ffi::truth(ffi::PL_call_predicate(
            ptr::null_mut(),
            ffi::QUIET,
            predicate,
            arguments,
        ))
    }
}
