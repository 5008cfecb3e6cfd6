//! Counting symbolic costs: what `SYMBOLIC.md` defines, while the program runs.
//!
//! In a symbolic recording the copy of a predicate is an instrumented one
//! (`portmortem_symbolic.pl`): it calls the foreign predicates of [`crate::symbolic_ports`] when
//! it is called, when a clause is entered or commits, and around built-ins. `program` has what is
//! known of the clauses beforehand, `unify` says what a head does to a call, `counter` is the
//! state of one engine, and `totals` has the counts of all engines until they are written.
//!
//! None of the predicates fails, leaves a choicepoint, or binds anything but its own output.

mod counter;
pub(crate) mod program;
mod totals;
pub(crate) mod unify;

use crate::ffi::{self, Term};
pub(crate) use counter::CostCounter;
pub(crate) use totals::{begin, finish, mark};

pub(crate) fn unbound(term: Term) -> bool {
    // SAFETY: a valid term reference.
    ffi::truth(unsafe { ffi::PL_is_variable(term) })
}

pub(crate) fn integer(term: Term) -> i64 {
    let mut value = 0;
    // SAFETY: a valid term reference and a place for its value.
    unsafe { ffi::PL_get_int64(term, &raw mut value) };
    value
}
