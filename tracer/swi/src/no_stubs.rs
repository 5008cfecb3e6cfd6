//! In place of [`crate::stubs`] on machines that it makes no code for: it says so, and the
//! recording falls back on ports in copies of clauses.

use crate::ffi::{FALSE, Foreign, TRUE, Term};

pub(crate) fn end() {}

pub(crate) fn learn(_: Term, _: Term, _: Term, _: Term, _: Term) -> Foreign {
    FALSE
}

pub(crate) fn sample(_: Term) -> Foreign {
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

pub(crate) fn observe(_: Term, _: Term, _: Term, _: Term, _: Term) -> Foreign {
    TRUE
}

pub(crate) fn leave_out(_: Term, _: Term, _: Term) -> Foreign {
    TRUE
}

pub(crate) fn in_center(_: Term, _: Term, _: Term, _: Term) -> Foreign {
    TRUE
}

pub(crate) fn stubs_record() -> Foreign {
    FALSE
}

pub(crate) fn reread(_: Term, _: Term) -> Foreign {
    TRUE
}

pub(crate) fn hide_modules(_: Term) -> Foreign {
    TRUE
}

pub(crate) fn read(_: Term) -> Foreign {
    TRUE
}
