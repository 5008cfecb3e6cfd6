//! Definitions and labels of the engine's that handlers and machine code compare with.

use std::sync::OnceLock;

use super::instructions::{ForeignKind, Op};
use super::memory::op_of;
use super::words::CodeWord;

/// Definitions and labels that handlers compare with.
pub(crate) struct KnownLabels {
    /// `call/1`, `call/2`, …
    pub(crate) call: Vec<usize>,
    pub(crate) catch: usize,
    pub(crate) reset: usize,
    /// Instructions with which the code of a predicate in C begins.
    pub(crate) foreign: Vec<(Op, ForeignKind)>,
    /// Those with which the code of a dynamic predicate begins that has been called.
    pub(crate) dynamic: Vec<Op>,
    /// Labels of instructions that may come before what a predicate does, and how many cells they
    /// take.
    pub(crate) prefixes: Vec<(CodeWord, usize)>,
    /// The label that calls a wrapper; then come its clause and its closure.
    pub(crate) call_wrapper: CodeWord,
}

pub(crate) static KNOWN: OnceLock<KnownLabels> = OnceLock::new();

pub(crate) fn call_definition(arity: usize) -> Option<usize> {
    KNOWN.get()?.call.get(arity.checked_sub(1)?).copied()
}

pub(crate) fn catch_definition() -> usize {
    KNOWN.get().map_or(0, |known| known.catch)
}

pub(crate) fn reset_definition() -> usize {
    KNOWN.get().map_or(0, |known| known.reset)
}

/// What a predicate in C leaves whose code begins with this cell. `None` if it is not one.
pub(crate) fn begins_foreign(cell: CodeWord) -> Option<ForeignKind> {
    let (known, op) = KNOWN.get().zip(op_of(cell))?;
    let found = known.foreign.iter().find(|&&(first, _)| first == op)?;
    Some(found.1)
}

/// Whether the code of a dynamic predicate that has been called begins with this cell.
pub(crate) fn begins_dynamic(cell: CodeWord) -> bool {
    let found = KNOWN.get().zip(op_of(cell));
    found.is_some_and(|(known, op)| known.dynamic.contains(&op))
}
