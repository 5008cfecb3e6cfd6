//! Machine code for the commonest events: a call, a last call, an exit, a failure, a redo, a cut.
//!
//! It does what the handlers do where nothing is unusual, in the same order, and with a few
//! registers only. Wherever anything is unusual it leaves everything as it was, and goes on to
//! the gate of the handler. On other processors than x86-64 there is none: the handlers do it all.

#[cfg(target_arch = "x86_64")]
mod back;
#[cfg(target_arch = "x86_64")]
mod call;
#[cfg(target_arch = "x86_64")]
mod fields;
#[cfg(not(target_arch = "x86_64"))]
mod none;
#[cfg(target_arch = "x86_64")]
mod parts;

#[cfg(target_arch = "x86_64")]
pub(super) use back::{cut_behind, entered, resumed, returned};
#[cfg(target_arch = "x86_64")]
pub(super) use call::call;
#[cfg(not(target_arch = "x86_64"))]
pub(super) use none::{call, cut_behind, entered, resumed, returned};

use super::emit::CellCounter;
use crate::native::offsets::Offsets;
use crate::native::words::CodeWord;

/// What gates of fast code are made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    /// Where the code is executed.
    pub(super) at: usize,
    pub(super) counter: CellCounter,
    pub(super) offsets: &'static Offsets,
    /// Cells below this have no stub.
    pub(super) first_stub: CodeWord,
    /// The gate of the handler.
    pub(super) slow: usize,
}

/// Where the definition that an instruction calls is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Callee {
    /// The instruction says no other each time.
    Fixed,
    /// The operand of that number is a procedure.
    Operand(u8),
}

/// When a call is a last call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Departs {
    Never,
    /// If the engine finds no choicepoint newer than the frame.
    IfDet,
    Always,
}
