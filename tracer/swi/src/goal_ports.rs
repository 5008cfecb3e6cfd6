//! Making a port for a goal: a predicate of its own.

use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use portmortem_tracer::Ready;

use crate::ffi::{self, Control, FALSE, Foreign, Term};
use crate::goal_table::{self, InstrumentedGoal};
use crate::goals;
use crate::recording;
use crate::values;

/// `goal_port(+Kind, +Predicate, +Id, -Name)`: makes a port for a goal that calls the predicate
/// whose id is `Predicate`, and whose events carry `Id`. `Kind` is `call`, `last`,
/// `call_wrapper`, `last_wrapper`, `mark`, `mark_last` or `forward`; the port is the predicate
/// `Name/0` of module `system`.
pub(crate) fn make(kind: Term, predicate: Term, id: Term, name: Term) -> Foreign {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let kind = values::text(kind);
    let function: GoalPort = match kind.as_str() {
        "call" => goals::call_port,
        "last" => goals::last_port,
        "call_wrapper" => goals::call_wrapper_port,
        "last_wrapper" => goals::last_wrapper_port,
        "mark" => goals::mark_port,
        "mark_last" => goals::mark_last_port,
        "forward" => goals::forward_port,
        _ => return FALSE,
    };
    let epoch = recording::epoch().unwrap_or(NO_RECORDING);
    recording::goals_made();
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let Ok(text) = CString::new(format!("$pm_{kind}_{number}")) else {
        return FALSE;
    };
    let module = c"system".as_ptr();
    // SAFETY: the function is of the kind it is registered as; a procedure begins with a pointer
    // to its definition, as was found when the layout was.
    let port = unsafe {
        let registered = ffi::PL_register_foreign_in_module(
            module,
            text.as_ptr(),
            0,
            function as *const c_void,
            ffi::VARARGS,
        );
        let procedure = ffi::PL_predicate(text.as_ptr(), 0, module);
        if !ffi::truth(registered) || procedure.is_null() {
            return FALSE;
        }
        procedure.cast::<usize>().read()
    };
    let id = values::integer(id);
    let goal = InstrumentedGoal {
        epoch,
        id,
        predicate: values::integer(predicate),
        ready: if kind.starts_with("last") {
            Ready::tail(id)
        } else {
            Ready::call(id)
        },
    };
    goal_table::add(port, goal);
    // SAFETY: a term of our own argument list and a terminated text.
    Foreign::from(ffi::truth(unsafe {
        ffi::PL_unify_atom_chars(name, text.as_ptr())
    }))
}

/// The epoch of a goal that is instrumented when nothing is recorded any more.
const NO_RECORDING: u32 = 0;

type GoalPort = extern "C" fn(Term, i32, Control) -> Foreign;
