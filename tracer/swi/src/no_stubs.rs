//! In place of [`crate::stubs`] on machines that it makes no code for: it says so, and the recording falls back on ports in copies of clauses.

use crate::collections::KINDS;
use crate::ffi::{FALSE, Foreign, TRUE, Term};

/// No boxes: those of ports are elsewhere.
#[derive(Debug)]
pub(crate) struct Shadow;

impl Shadow {
    pub(crate) fn leave_to_handlers(&mut self) {}

    pub(crate) fn retire(&mut self) {}

    pub(crate) fn is_active(&self) -> bool {
        false
    }
}

/// Nothing to be remembered.
#[derive(Debug, Default)]
pub(crate) struct Standings;

pub(crate) fn new_shadow() -> *mut Shadow {
    Box::into_raw(Box::new(Shadow))
}

pub(crate) fn thread_has_engine() -> bool {
    false
}

pub(crate) fn end() {}

pub(crate) fn pauses() -> Option<[f64; KINDS]> {
    None
}

pub(crate) fn learn(_: Term, _: Term, _: Term, _: Term, _: Term) -> Foreign {
    FALSE
}

pub(crate) fn sample(_: Term) -> Foreign {
    FALSE
}

pub(crate) fn look_for_pauses() -> Foreign {
    FALSE
}

pub(crate) fn work() -> Foreign {
    FALSE
}

pub(crate) fn rule(_: Term, _: Term, _: Term, _: Term) -> Foreign {
    FALSE
}

pub(crate) fn note(_: Term, _: Term, _: Term, _: Term, _: Term, _: Term) -> Foreign {
    TRUE
}

pub(crate) fn forget(_: Term) -> Foreign {
    TRUE
}

pub(crate) fn begin() -> Foreign {
    FALSE
}

pub(crate) fn recovery(_: Term, _: Term, _: Term) -> Foreign {
    TRUE
}

pub(crate) fn adopt(_: Term, _: Term, _: Term) -> Foreign {
    TRUE
}
