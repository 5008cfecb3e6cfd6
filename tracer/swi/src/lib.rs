//! The SWI-Prolog adapter: a shared library that the engine loads, beside `prolog/portmortem.pl`.
//!
//! `portmortem.pl` wraps predicates; the wrappers call the ports defined here, which turn the
//! engine's choicepoint stack into events of the trace. Data flows: *engine → `ports` → (`boxes`,
//! `frames`) → the recorder's stream*. One file serves SWI-Prolog 9.0 and later: see `ffi`.

#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "only stubs use it, or only their fast code")
)]

mod appearing;
mod argument_values;
mod arguments;
mod asking;
mod boxes;
mod calibrate;
mod changes;
mod collections;
mod coming;
mod control;
mod credit;
mod describe;
mod ending;
mod engine;
mod engine_work;
mod engines;
mod entered;
mod ffi;
mod frames;
mod goal_ports;
mod goal_table;
mod goals;
mod heads;
mod kept;
mod layout;
mod leaving;
mod lines;
mod listening;
mod memory_at_exit;
mod native;
mod panics;
mod ports;
mod recording;
mod signals;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod stubs;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "no_stubs.rs"]
mod stubs;
mod symbolic;
mod symbolic_ports;
mod values;
mod waiting;
mod watcher;

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use portmortem_tracer::locks;

use crate::ffi::{Control, FALSE, Foreign, REDO, TRUE, Term};

/// What the engine calls for a deterministic foreign predicate with these arguments. A panic ends
/// the recording and answers the last word.
macro_rules! deterministic {
    ($function:path, ($($argument:ident),*), $otherwise:expr) => {{
        extern "C" fn called($($argument: Term),*) -> Foreign {
            panics::guarded($otherwise, || $function($($argument),*))
        }
        called as *const c_void
    }};
}

/// The same for a nondeterministic one. A panic when it is backtracked into answers that there is
/// no other solution.
macro_rules! nondeterministic {
    ($function:path, ($($argument:ident),*)) => {{
        extern "C" fn called($($argument: Term,)* handle: Control) -> Foreign {
            // SAFETY: `handle` is what the engine passed.
            let redo = unsafe { ffi::PL_foreign_control(handle) } == REDO;
            panics::guarded(Foreign::from(!redo), || $function($($argument,)* handle))
        }
        called as *const c_void
    }};
}

/// Called by the engine when it has loaded the library.
#[unsafe(no_mangle)]
pub extern "C" fn install() {
    panics::install_message();
    install_ports();
    install_goal_ports();
    install_counting();
    install_control();
    install_stubs();
    locks::hold_back_only(signals::works_in_handler);
    // SAFETY: the hook is a static function.
    unsafe { ffi::PL_exit_hook(ending::at_exit, ptr::null_mut()) };
}

/// What the wrappers call: in the module where they find it unqualified.
fn install_ports() {
    let port = |name, arity, function, flags| define(c"system", name, arity, function, flags);
    let enter = nondeterministic!(ports::enter, (id, open));
    port(c"$pm_enter", 2, enter, ffi::NONDETERMINISTIC);
    let enter_original = nondeterministic!(ports::enter_original, (id, open));
    let name = c"$pm_enter_original";
    port(name, 2, enter_original, ffi::NONDETERMINISTIC);
    let exit_det = deterministic!(ports::exit_det, (open), TRUE);
    port(c"$pm_exit_det", 1, exit_det, 0);
    let exit_nondet = nondeterministic!(ports::exit_nondet, (open));
    port(c"$pm_exit_nondet", 1, exit_nondet, ffi::NONDETERMINISTIC);
    let before_reset = deterministic!(ports::before_reset, (active), TRUE);
    port(c"$pm_before_reset", 1, before_reset, 0);
    let after_reset = deterministic!(ports::after_reset, (active), TRUE);
    port(c"$pm_after_reset", 1, after_reset, 0);
    let fills = deterministic!(ports::fills, (id), TRUE);
    port(c"$pm_fills", 1, fills, 0);
    let table = deterministic!(ports::table, (id, answers, nodes), TRUE);
    port(c"$pm_table", 3, table, 0);
    let resumed = deterministic!(ports::resumed, (open), FALSE);
    port(c"$pm_resumed", 1, resumed, 0);
    let is_cyclic = deterministic!(ports::is_cyclic, (argument), FALSE);
    port(c"$pm_cyclic", 1, is_cyclic, 0);
}

/// What instrumented clauses call, beside the ports that each goal has for itself.
fn install_goal_ports() {
    use goals as g;
    let port = |name, function: *const c_void, flags| {
        define(c"system", name, 0, function, ffi::VARARGS | flags);
    };
    port(c"$pm_exit", g::exit_port as *const c_void, 0);
    port(c"$pm_exit_light", g::exit_light_port as *const c_void, 0);
    port(c"$pm_redo", g::redo_port as *const c_void, 0);
    port(c"$pm_fail", g::fail_port as *const c_void, 0);
    let exit_nondet = g::exit_nondet_port as *const c_void;
    port(c"$pm_exit_nondet", exit_nondet, ffi::NONDETERMINISTIC);
    let clause = entered::clause_port as *const c_void;
    define(c"system", c"$pm_clause", 1, clause, ffi::VARARGS);
    let many = arguments::many_arguments_port as *const c_void;
    port(c"$pm_many_arguments", many, 0);
    let look = layout::look as *const c_void;
    define(c"portmortem", c"$look", 4, look, ffi::VARARGS);
}

/// What the copies of a symbolic recording call.
fn install_counting() {
    use symbolic_ports as s;
    let count = |name, arity, function| define(c"system", name, arity, function, 0);
    count(c"$pm_called", 3, deterministic!(s::called, (a, b, c), TRUE));
    count(c"$pm_neck", 4, deterministic!(s::neck, (a, b, c, d), TRUE));
    count(c"$pm_commit", 1, deterministic!(s::commit, (a), TRUE));
    count(c"$pm_run", 1, deterministic!(s::run, (a), TRUE));
    count(c"$pm_build", 2, deterministic!(s::build, (a, b), TRUE));
    count(c"$pm_arith", 3, deterministic!(s::arith, (a, b, c), TRUE));
    count(
        c"$pm_unbound",
        2,
        deterministic!(s::unbound_now, (a, b), TRUE),
    );
    count(
        c"$pm_bound",
        4,
        deterministic!(s::bound, (a, b, c, d), TRUE),
    );
}

/// What `library(portmortem)` calls.
fn install_control() {
    use control as c;
    let control = |name, arity, function| define(c"portmortem", name, arity, function, 0);
    control(c"$open", 2, deterministic!(c::open, (a, b), FALSE));
    control(c"$watched", 1, deterministic!(c::watched, (a), TRUE));
    control(
        c"$program_begins",
        0,
        deterministic!(c::program_begins, (), TRUE),
    );
    control(c"$keep_atoms", 1, deterministic!(c::keep_atoms, (a), TRUE));
    control(c"$listen", 1, deterministic!(listening::listen, (a), FALSE));
    control(c"$close", 0, deterministic!(c::close, (), TRUE));
    control(c"$recording", 0, deterministic!(c::is_recording, (), FALSE));
    control(
        c"$selected",
        4,
        deterministic!(c::selected, (a, b, d, e), FALSE),
    );
    control(
        c"$excluded",
        3,
        deterministic!(c::excluded, (a, b, d), FALSE),
    );
    control(
        c"$selected_in",
        1,
        deterministic!(c::selected_in, (a), FALSE),
    );
    let predicate = deterministic!(c::predicate, (a, b, d, e, f, g), FALSE);
    control(c"$predicate", 6, predicate);
    let clause = deterministic!(c::clause, (a, b, d, e, f), FALSE);
    control(c"$clause", 5, clause);
    let keeps_arguments = deterministic!(c::keeps_arguments, (a, b, d, e), FALSE);
    control(c"$keeps_arguments", 4, keeps_arguments);
    let arguments_port = deterministic!(arguments::make_port, (a), FALSE);
    control(c"$arguments_port", 1, arguments_port);
    let site = deterministic!(c::site, (a, b, d, e, f, g, h, i), FALSE);
    control(c"$site", 8, site);
    control(c"$lines", 3, deterministic!(lines::lines, (a, b, d), FALSE));
    control(
        c"$forget_lines",
        1,
        deterministic!(lines::forget, (a), TRUE),
    );
    control(c"$center", 2, deterministic!(c::center, (a, b), FALSE));
    control(c"$in_center", 2, deterministic!(c::in_center, (a, b), TRUE));
    control(
        c"$wrappers_changed",
        0,
        deterministic!(c::wrappers_changed, (), TRUE),
    );
    control(c"$note", 1, deterministic!(c::note, (a), TRUE));
    control(c"$keep_atom", 1, deterministic!(c::keep_atom, (a), TRUE));
    control(c"$mark", 1, deterministic!(c::mark, (a), TRUE));
    control(c"$resuming", 0, deterministic!(c::resuming, (), TRUE));
    control(c"$pause", 0, deterministic!(c::pause, (), TRUE));
    control(c"$resume", 0, deterministic!(c::resume, (), TRUE));
    control(c"$own_begin", 0, deterministic!(c::own_begin, (), TRUE));
    control(c"$own_end", 0, deterministic!(c::own_end, (), TRUE));
    let stretch_begins = deterministic!(calibrate::stretch_begins, (), FALSE);
    control(c"$stretch_begins", 0, stretch_begins);
    let stretch_ends = deterministic!(calibrate::stretch_ends, (a), FALSE);
    control(c"$stretch_ends", 1, stretch_ends);
    control(
        c"$calibrated",
        2,
        deterministic!(calibrate::is_calibrated, (a, b), FALSE),
    );
    let kept_trials = deterministic!(calibrate::kept_trials, (a, b, d), FALSE);
    control(c"$kept_trials", 3, kept_trials);
    let open_calibration = deterministic!(calibrate::open, (a, b), FALSE);
    control(c"$open_calibration", 2, open_calibration);
    control(
        c"$recorded_with",
        2,
        deterministic!(control::recorded_with, (a, b), TRUE),
    );
    control(
        c"$calibrating",
        0,
        deterministic!(calibrate::is_open, (), FALSE),
    );
    control(
        c"$close_calibration",
        2,
        deterministic!(calibrate::close, (a, b), FALSE),
    );
    control(
        c"$set",
        3,
        deterministic!(symbolic_ports::set, (a, b, d), FALSE),
    );
    control(
        c"$goal",
        4,
        deterministic!(symbolic_ports::goal, (a, b, d, e), FALSE),
    );
    let look_pending = deterministic!(layout::look_pending, (), FALSE);
    control(c"$look_pending", 0, look_pending);
    control(
        c"$layout_known",
        0,
        deterministic!(layout::known, (), FALSE),
    );
    control(
        c"$goal_port",
        4,
        deterministic!(goal_ports::make, (a, b, d, e), FALSE),
    );
    control(
        c"$changed",
        2,
        deterministic!(changes::changed, (a, b), TRUE),
    );
    control(
        c"$all_changed",
        0,
        deterministic!(changes::all_changed, (), TRUE),
    );
    control(
        c"$has_changes",
        0,
        deterministic!(changes::has_changes, (), TRUE),
    );
    control(
        c"$take_all_changed",
        0,
        deterministic!(changes::take_all_changed, (), FALSE),
    );
    control(
        c"$next_changed",
        2,
        deterministic!(changes::next_changed, (a, b), FALSE),
    );
    control(c"$look_at", 0, deterministic!(changes::look_at, (), TRUE));
    control(
        c"$looked_at",
        1,
        deterministic!(changes::looked_at, (a), FALSE),
    );
    control(c"$seen", 2, deterministic!(appearing::seen, (a, b), TRUE));
    control(
        c"$forget_seen",
        0,
        deterministic!(appearing::forget, (), TRUE),
    );
}

/// What `portmortem_stubs.pl` calls.
fn install_stubs() {
    let control = |name, arity, function| define(c"portmortem", name, arity, function, 0);
    control(
        c"$stub_learn",
        5,
        deterministic!(stubs::learn, (a, b, d, e, f), FALSE),
    );
    control(
        c"$stub_keep_term",
        1,
        deterministic!(stubs::keep_term, (a), TRUE),
    );
    control(
        c"$stub_kept_term",
        1,
        deterministic!(stubs::kept_term, (a), FALSE),
    );
    control(
        c"$stub_note",
        7,
        deterministic!(stubs::note, (a, b, d, e, f, g, h), TRUE),
    );
    control(
        c"$set_up_begin",
        1,
        deterministic!(control::set_up_begin, (a), FALSE),
    );
    control(
        c"$set_up_end",
        1,
        deterministic!(control::set_up_end, (a), TRUE),
    );
    control(c"$stub_forget", 1, deterministic!(stubs::forget, (a), TRUE));
    control(
        c"$stub_reread",
        2,
        deterministic!(stubs::reread, (a, b), TRUE),
    );
    control(c"$stub_read", 1, deterministic!(stubs::read, (a), TRUE));
    control(
        c"$stub_sample",
        1,
        deterministic!(stubs::sample, (a), FALSE),
    );
    control(
        c"$stub_look_for_pauses",
        0,
        deterministic!(native::pauses::look, (), FALSE),
    );
    control(
        c"$stubs_record",
        0,
        deterministic!(stubs::stubs_record, (), FALSE),
    );
    let hide_modules = deterministic!(stubs::hide_modules, (a), TRUE);
    control(c"$hide_modules", 1, hide_modules);
    let leave_out = deterministic!(stubs::leave_out, (a, b, d), TRUE);
    control(c"$stub_leave_out", 3, leave_out);
    let in_center = deterministic!(stubs::in_center, (a, b, d, e), TRUE);
    control(c"$stub_in_center", 4, in_center);
    let prove_tries = deterministic!(native::tables::prove_tries, (a, b, d), FALSE);
    control(c"$stub_prove_tries", 3, prove_tries);
    control(c"$stubs_work", 0, deterministic!(stubs::work, (), FALSE));
    control(
        c"$stub_rule",
        4,
        deterministic!(stubs::rule, (a, b, d, e), FALSE),
    );
    control(c"$stub_begin", 0, deterministic!(stubs::begin, (), FALSE));
    control(
        c"$stub_recovery",
        3,
        deterministic!(stubs::recovery, (a, b, d), TRUE),
    );
    control(
        c"$stub_adopt",
        3,
        deterministic!(stubs::adopt, (a, b, d), TRUE),
    );
    control(
        c"$stub_observe",
        5,
        deterministic!(stubs::observe, (a, b, d, e, f), TRUE),
    );
}

fn define(module: &CStr, name: &CStr, arity: c_int, function: *const c_void, flags: c_int) {
    // SAFETY: every function above has the arity and the kind it is registered with.
    unsafe {
        ffi::PL_register_foreign_in_module(module.as_ptr(), name.as_ptr(), arity, function, flags);
    }
}
