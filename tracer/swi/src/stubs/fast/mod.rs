//! Machine code for the commonest events: a call, a last call, an exit, a failure, a redo, a cut.
//!
//! It does what the handlers do where nothing is unusual, in the same order, and with a few
//! registers only. Wherever anything is unusual it leaves everything as it was, and goes on to
//! the gate of the handler.

mod back;
mod call;
mod fields;
mod parts;

pub(super) use back::{cut_behind, entered, resumed, returned};
pub(super) use call::{Callee, Departs, call};
pub(super) use parts::Setting;
