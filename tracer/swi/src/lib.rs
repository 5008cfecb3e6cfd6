//! The SWI-Prolog adapter: a shared library that the engine loads, beside `prolog/portmortem.pl`.
//!
//! `portmortem.pl` wraps predicates; the wrappers call the ports defined here, which turn the engine's
//! choicepoint stack into events of the trace. Data flows: *engine → [`ports`] → ([`boxes`], [`frames`]) →
//! the recorder's stream*. One file serves SWI-Prolog 9.0 and later: see [`ffi`].

mod appearing;
mod boxes;
mod control;
mod engine;
mod ffi;
mod frames;
mod ports;
mod recording;

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// Called by the engine when it has loaded the library.
#[unsafe(no_mangle)]
pub extern "C" fn install() {
    let define = |name: &CStr, arity: c_int, function: *const c_void, flags: c_int| {
        // SAFETY: every function below has the arity and the kind it is registered with.
        unsafe {
            ffi::PL_register_foreign_in_module(
                c"portmortem".as_ptr(),
                name.as_ptr(),
                arity,
                function,
                flags,
            );
        }
    };
    define(
        c"$enter",
        2,
        ports::enter as *const c_void,
        ffi::NONDETERMINISTIC,
    );
    define(c"$exit_det", 1, ports::exit_det as *const c_void, 0);
    define(
        c"$exit_nondet",
        1,
        ports::exit_nondet as *const c_void,
        ffi::NONDETERMINISTIC,
    );
    define(c"$open", 2, control::open as *const c_void, 0);
    define(c"$close", 0, control::close as *const c_void, 0);
    define(c"$recording", 0, control::is_recording as *const c_void, 0);
    define(c"$selected", 4, control::selected as *const c_void, 0);
    define(c"$predicate", 6, control::predicate as *const c_void, 0);
    define(
        c"$wrappers_changed",
        0,
        control::wrappers_changed as *const c_void,
        0,
    );
    define(c"$seen", 2, appearing::seen as *const c_void, 0);
    define(c"$note", 1, control::note as *const c_void, 0);
    define(c"$mark", 1, control::mark as *const c_void, 0);
    define(c"$resuming", 0, control::resuming as *const c_void, 0);
    define(c"$pause", 0, control::pause as *const c_void, 0);
    define(c"$resume", 0, control::resume as *const c_void, 0);
    // SAFETY: the hook is a static function.
    unsafe { ffi::PL_exit_hook(control::at_exit, ptr::null_mut()) };
}
