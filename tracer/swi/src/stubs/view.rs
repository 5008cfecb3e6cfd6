//! What a stub's handler reads of the engine: the running frame, choicepoints, and the clauses that frames run.

use super::handlers::Visit;
use super::instructions::Kind;
use super::offsets::{self, DEBUGGER, FRAME_CLAUSE, FRAME_DEFINITION, word};
use super::shadow::{Moment, Offset};

const WORD: usize = size_of::<usize>();

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

    pub(super) fn moment(&self) -> Moment {
        Moment {
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
    pub(super) fn callee(&self, kind: Kind, cell: usize) -> Option<usize> {
        let operand = match kind {
            Kind::Call | Kind::Depart | Kind::LastCall => 1,
            Kind::CallInModule | Kind::DepartInModule => 2,
            Kind::CallAtModule | Kind::DepartAtModule => 3,
            _ => return None,
        };
        // SAFETY: the operand is a procedure, which begins with its definition.
        Some(unsafe { word(word(cell, operand * WORD), 0) })
    }

    /// The code of the clause that a frame runs: the clause's address, its code, and whether it lies on the local stack.
    pub(super) fn clause_of(&self, frame: usize) -> Option<Code> {
        // SAFETY: a frame of the engine's that runs a clause.
        unsafe {
            let reference = word(frame, FRAME_CLAUSE);
            if reference == 0 {
                return None;
            }
            let clause = word(reference, self.offsets.clause);
            let start = clause + self.offsets.codes;
            let size = word(start - WORD, 0);
            Some(Code {
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

    /// As [`Visit::clause_of`]. A frame of a foreign predicate has something else where others have their clause.
    pub(super) fn clause_of_choice(&self, frame: usize) -> Option<Code> {
        // SAFETY: a frame of the engine's.
        let definition = unsafe { word(frame, FRAME_DEFINITION) };
        if is_foreign(definition) {
            return None;
        }
        self.clause_of(frame)
    }
}

/// The code of a clause.
pub(super) struct Code {
    /// Of the predicate that runs.
    pub(super) definition: usize,
    /// Where the clause begins in its file, if the engine says that.
    pub(super) line: Option<u32>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// It lies on the local stack.
    pub(super) moves: bool,
}

impl Code {
    pub(super) fn contains(&self, cell: usize) -> bool {
        (self.start..self.end).contains(&cell)
    }
}

/// The kind of a choicepoint.
pub(super) fn kind_of(choice: usize) -> u32 {
    // SAFETY: a choicepoint begins with it.
    unsafe { (choice as *const u32).read() }
}

/// Whether a predicate is implemented in C: its supervisor calls a function.
pub(super) fn is_foreign(definition: usize) -> bool {
    let Some(offsets) = offsets::known() else {
        return false;
    };
    // SAFETY: every definition has a supervisor.
    let first = unsafe { word(word(definition, offsets.supervisor), 0) };
    super::is_foreign_label(first)
}
