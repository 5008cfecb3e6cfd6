//! What a stub's handler reads of the engine: the running frame, choicepoints, and the clauses
//! that frames run.

use super::handlers::Visit;
use crate::ffi;
use crate::native::instructions::{ForeignKind, InstructionKind};
use crate::native::known::{KNOWN, KnownLabels, begins_foreign};
use crate::native::offsets::{
    self, CLAUSE_DEFINITION, DEBUGGER, FRAME_CLAUSE, FRAME_DEFINITION, Offsets,
};
use crate::native::open_box::Offset;
use crate::native::shadow::StubMoment;
use crate::native::words::{WORD, word};

impl Visit {
    /// The running frame.
    pub(super) fn frame(&self) -> usize {
        // SAFETY: the engine's data.
        unsafe { word(self.data, self.offsets.environment as usize) }
    }

    /// Where the next frame will be.
    pub(super) fn top(&self) -> usize {
        // SAFETY: the engine's data.
        unsafe { word(self.data, self.offsets.top as usize) }
    }

    /// The newest choicepoint, the debugger's among them.
    pub(super) fn newest_of_all(&self) -> usize {
        // SAFETY: the engine's data.
        unsafe { word(self.data, self.offsets.choice as usize) }
    }

    /// The newest choicepoint at which something can be redone.
    pub(super) fn newest(&self) -> usize {
        let mut choice = self.newest_of_all();
        while kind_of(choice) == DEBUGGER {
            choice = self.older(choice);
        }
        choice
    }

    /// The choicepoint before.
    pub(super) fn older(&self, choice: usize) -> usize {
        // SAFETY: a choicepoint; that of a query is the oldest, and asked for none.
        unsafe { word(choice, self.offsets.choice_parent) }
    }

    pub(super) fn frame_of_choice(&self, choice: usize) -> usize {
        // SAFETY: a choicepoint.
        unsafe { word(choice, self.offsets.choice_frame) }
    }

    pub(super) fn offset(&self, address: usize) -> Offset {
        (address as Offset).wrapping_sub(self.base as Offset)
    }

    pub(super) fn moment(&self) -> StubMoment {
        StubMoment {
            frame: self.offset(self.frame()),
            choice: self.offset(self.newest()),
        }
    }

    pub(super) fn is_on_stack(&self, address: usize) -> bool {
        // SAFETY: the engine's data.
        let limit = unsafe { word(self.data, self.offsets.limit as usize) };
        (self.base..limit).contains(&address)
    }

    /// The cell that a box returns to, if it stays where it is.
    pub(super) fn fixed(&self, cell: usize) -> usize {
        if self.is_on_stack(cell) { 0 } else { cell }
    }

    /// The definition that an instruction calls, if its operand says so.
    pub(super) fn callee(&self, kind: InstructionKind, cell: usize) -> Option<usize> {
        let operand = match kind {
            InstructionKind::Call | InstructionKind::Depart | InstructionKind::LastCall => 1,
            InstructionKind::CallInModule | InstructionKind::DepartInModule => 2,
            InstructionKind::CallAtModule | InstructionKind::DepartAtModule => 3,
            _ => return None,
        };
        // SAFETY: the operand is a procedure, which begins with its definition.
        Some(unsafe { word(word(cell, operand * WORD), 0) })
    }

    /// The code of the clause that a frame runs. `None` if it runs none: a frame of a predicate
    /// in C has something else where others have their clause.
    pub(super) fn clause_of(&self, frame: usize) -> Option<ClauseCode> {
        // SAFETY: a frame of the engine's.
        unsafe {
            let reference = word(frame, FRAME_CLAUSE);
            if reference == 0 || runs_function(word(frame, FRAME_DEFINITION), self.offsets) {
                return None;
            }
            let clause = word(reference, self.offsets.clause);
            let start = clause + self.offsets.codes;
            let size = word(start - WORD, 0);
            Some(ClauseCode {
                definition: word(frame, FRAME_DEFINITION),
                line: self
                    .offsets
                    .line
                    .map(|at| ((clause + at) as *const u32).read()),
                start,
                end: start + size * WORD,
                moves: self.is_on_stack(clause),
            })
        }
    }

    /// The predicate that is called first in place of one that has wrappers. `None` if it has
    /// none any more.
    pub(super) fn wrapper_of(&self, definition: usize) -> Option<usize> {
        let known = KNOWN.get()?;
        // SAFETY: every definition has a supervisor, and that of a wrapped one names a clause.
        unsafe {
            let codes = behind_prefixes(word(definition, self.offsets.supervisor), known);
            (word(codes, 0) == known.call_wrapper).then(|| {
                let clause = word(word(codes, WORD), self.offsets.clause);
                word(clause, CLAUSE_DEFINITION)
            })
        }
    }
}

/// The code of a clause.
pub(super) struct ClauseCode {
    /// Of the predicate that runs.
    pub(super) definition: usize,
    /// Where the clause begins in its file, if the engine says that.
    pub(super) line: Option<u32>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// It lies on the local stack.
    pub(super) moves: bool,
}

impl ClauseCode {
    /// The number of a cell of it.
    pub(super) fn index_of(&self, cell: usize) -> usize {
        (cell - self.start) / WORD
    }

    pub(super) fn contains(&self, cell: usize) -> bool {
        (self.start..self.end).contains(&cell)
    }
}

/// The kind of a choicepoint.
pub(super) fn kind_of(choice: usize) -> u32 {
    // SAFETY: a choicepoint begins with it.
    unsafe { (choice as *const u32).read() }
}

/// What a predicate leaves that is implemented in C, if nothing comes before its function.
pub(super) fn foreign_kind(definition: usize) -> Option<ForeignKind> {
    let offsets = offsets::known()?;
    // SAFETY: every definition has a supervisor.
    let first = unsafe { word(word(definition, offsets.supervisor), 0) };
    begins_foreign(first)
}

/// Whether a frame of that predicate runs a function, whatever comes before: arguments are
/// qualified, or wrappers are around it.
fn runs_function(definition: usize, offsets: &Offsets) -> bool {
    let Some(known) = KNOWN.get() else {
        return false;
    };
    // SAFETY: every definition has a supervisor, and so has the closure that a wrapper calls.
    unsafe {
        let mut codes = behind_prefixes(word(definition, offsets.supervisor), known);
        while word(codes, 0) == known.call_wrapper {
            let Some(closure) = closure_of(word(codes, 2 * WORD)) else {
                return false;
            };
            codes = behind_prefixes(word(closure, offsets.first_clause + WORD), known);
        }
        begins_foreign(word(codes, 0)).is_some()
    }
}

/// Where a supervisor begins with what the predicate does: from 10.1.11 on, arguments are also
/// qualified before a wrapper is called.
///
/// # Safety
/// A supervisor.
unsafe fn behind_prefixes(supervisor: usize, known: &KnownLabels) -> usize {
    let mut codes = supervisor;
    loop {
        // SAFETY: the caller's promise; a prefix is not the last instruction.
        let first = unsafe { word(codes, 0) };
        let prefix = known.prefixes.iter().find(|(label, _)| *label == first);
        let Some(&(_, cells)) = prefix else {
            return codes;
        };
        codes += cells * WORD;
    }
}

/// The definition in the blob of a closure.
fn closure_of(closure: ffi::Atom) -> Option<usize> {
    let mut length = 0;
    // SAFETY: an atom of the engine's.
    let data = unsafe { ffi::PL_blob_data(closure, &raw mut length, std::ptr::null_mut()) };
    (!data.is_null()).then_some(data as usize)
}
