//! The SWI-Prolog adapter: a shared library that the engine loads, beside `prolog/portmortem.pl`.
//!
//! `portmortem.pl` wraps predicates; the wrappers call the ports defined here, which turn the engine's
//! choicepoint stack into events of the trace. Data flows: *engine → [`ports`] → ([`boxes`], [`frames`]) →
//! the recorder's stream*. One file serves SWI-Prolog 9.0 and later: see [`ffi`].

mod appearing;
mod boxes;
mod calibrate;
mod collections;
mod control;
mod engine;
mod ffi;
mod frames;
mod ports;
mod recording;
mod symbolic;

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// Called by the engine when it has loaded the library.
#[unsafe(no_mangle)]
pub extern "C" fn install() {
    // In the module where the wrappers find them unqualified.
    let port = |name, arity, function, flags| define(c"system", name, arity, function, flags);
    port(
        c"$pm_enter",
        2,
        ports::enter as *const c_void,
        ffi::NONDETERMINISTIC,
    );
    port(c"$pm_exit_det", 1, ports::exit_det as *const c_void, 0);
    port(
        c"$pm_exit_nondet",
        1,
        ports::exit_nondet as *const c_void,
        ffi::NONDETERMINISTIC,
    );
    let count = |name, arity, function| define(c"system", name, arity, function, 0);
    count(c"$pm_called", 3, symbolic::called as *const c_void);
    count(c"$pm_neck", 4, symbolic::neck as *const c_void);
    count(c"$pm_commit", 1, symbolic::commit as *const c_void);
    count(c"$pm_run", 1, symbolic::run as *const c_void);
    count(c"$pm_build", 2, symbolic::build as *const c_void);
    count(c"$pm_arith", 3, symbolic::arith as *const c_void);
    count(c"$pm_unbound", 2, symbolic::unbound_now as *const c_void);
    count(c"$pm_bound", 4, symbolic::bound as *const c_void);
    let control = |name, arity, function| define(c"portmortem", name, arity, function, 0);
    control(c"$open", 2, control::open as *const c_void);
    control(c"$ticks", 1, calibrate::ticks as *const c_void);
    control(c"$calibrated", 1, calibrate::is_calibrated as *const c_void);
    control(c"$open_calibration", 1, calibrate::open as *const c_void);
    control(c"$calibrating", 0, calibrate::is_open as *const c_void);
    control(c"$close_calibration", 2, calibrate::close as *const c_void);
    control(c"$close", 0, control::close as *const c_void);
    control(c"$recording", 0, control::is_recording as *const c_void);
    control(c"$selected", 4, control::selected as *const c_void);
    control(c"$selected_in", 1, control::selected_in as *const c_void);
    control(c"$predicate", 6, control::predicate as *const c_void);
    control(c"$center", 2, control::center as *const c_void);
    control(c"$in_center", 2, control::in_center as *const c_void);
    control(
        c"$wrappers_changed",
        0,
        control::wrappers_changed as *const c_void,
    );
    control(c"$set", 3, symbolic::set as *const c_void);
    control(c"$goal", 4, symbolic::goal as *const c_void);
    control(c"$seen", 2, appearing::seen as *const c_void);
    control(c"$forget_seen", 0, appearing::forget as *const c_void);
    control(c"$note", 1, control::note as *const c_void);
    control(c"$mark", 1, control::mark as *const c_void);
    control(c"$resuming", 0, control::resuming as *const c_void);
    control(c"$pause", 0, control::pause as *const c_void);
    control(c"$own_begin", 0, control::own_begin as *const c_void);
    control(c"$own_end", 0, control::own_end as *const c_void);
    control(c"$resume", 0, control::resume as *const c_void);
    // SAFETY: the hook is a static function.
    unsafe { ffi::PL_exit_hook(control::at_exit, ptr::null_mut()) };
}

fn define(module: &CStr, name: &CStr, arity: c_int, function: *const c_void, flags: c_int) {
    // SAFETY: every function above has the arity and the kind it is registered with.
    unsafe {
        ffi::PL_register_foreign_in_module(module.as_ptr(), name.as_ptr(), arity, function, flags);
    }
}
