//! What a stub's handler reads of the engine: the running frame, choicepoints, and the clauses
//! that frames run.

use crate::ffi::{self, Term};
use crate::native::instructions::{ForeignKind, InstructionKind};
use crate::native::known::{KNOWN, KnownLabels, begins_foreign};
use crate::native::offsets::{
    self, CLAUSE_DEFINITION, DEBUGGER, FRAME_CLAUSE, FRAME_DEFINITION, Offsets,
};
use crate::native::open_box::Offset;
use crate::native::references::{StackCells, with_references};
use crate::native::shadow::StubMoment;
use crate::native::terms;
use crate::native::words::{WORD, word};

/// An engine, as a handler reads it: nothing is written.
#[derive(Clone, Copy)]
pub(super) struct EngineView {
    offsets: &'static Offsets,
    /// Address of the engine's data, and of the base of its local stack.
    data: usize,
    base: usize,
}

impl EngineView {
    /// The engine whose data is there.
    pub(super) fn new(offsets: &'static Offsets, data: usize) -> Self {
        // SAFETY: the engine's data.
        let base = unsafe { word(data, offsets.base as usize) };
        Self {
            offsets,
            data,
            base,
        }
    }

    /// Address of the engine's data.
    pub(super) fn engine(&self) -> usize {
        self.data
    }

    /// Where this version of the engine has what.
    pub(super) fn offsets(&self) -> &'static Offsets {
        self.offsets
    }

    /// Where the arguments of a frame begin.
    pub(super) fn arguments(&self, frame: usize) -> usize {
        frame + self.offsets.arguments
    }

    /// What lies behind a choicepoint.
    pub(super) fn behind_choice(&self, choice: usize) -> usize {
        choice + self.offsets.choice_size
    }

    /// The choicepoint of a query, by the query's own frame.
    pub(super) fn choice_of_query(&self, top: usize) -> usize {
        top - WORD - self.offsets.choice_size
    }

    /// What a choicepoint resumes: a cell, or a reference to a clause.
    ///
    /// # Safety
    /// A choicepoint that has one.
    pub(super) unsafe fn value_of_choice(&self, choice: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { word(choice, self.offsets.choice_value) }
    }

    /// The clause that a reference refers to.
    ///
    /// # Safety
    /// A reference to a clause.
    pub(super) unsafe fn referred(&self, reference: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { word(reference, self.offsets.clause) }
    }

    /// Where the code of a clause begins.
    pub(super) fn code(&self, clause: usize) -> usize {
        clause + self.offsets.codes
    }

    /// The supervisor of a predicate.
    ///
    /// # Safety
    /// A definition of the engine's.
    pub(super) unsafe fn supervisor(&self, definition: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { word(definition, self.offsets.supervisor) }
    }

    /// The predicate that a closure is of.
    ///
    /// # Safety
    /// The definition of a closure.
    pub(super) unsafe fn of_closure(&self, closure: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { word(closure, self.offsets.first_clause) }
    }

    /// [`terms::stacks`].
    pub(super) fn stacks(&self) -> Option<usize> {
        terms::stacks(self.data, self.base)
    }

    /// [`terms::global_top`].
    pub(super) fn global_top(&self) -> Option<usize> {
        terms::global_top(self.data)
    }

    /// Looks at cells by references to them, and may make so many `more`. `None` if there is no
    /// room for as many.
    ///
    /// # Safety
    /// As [`with_references`].
    pub(super) unsafe fn with_references<T>(
        &self,
        cells: StackCells,
        more: usize,
        look: impl FnOnce(Term) -> T,
    ) -> Option<T> {
        // SAFETY: the caller's promise.
        unsafe { with_references(self.offsets, cells, more, look) }
    }

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
            let clause = self.referred(reference);
            let start = self.code(clause);
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

    /// The same, if a cell is in it.
    pub(super) fn clause_with(&self, frame: usize, cell: usize) -> Option<ClauseCode> {
        let code = self.clause_of(frame);
        code.filter(|code| code.contains(cell))
    }

    /// The predicate that is called first in place of one that has wrappers. `None` if it has
    /// none any more.
    pub(super) fn wrapper_of(&self, definition: usize) -> Option<usize> {
        let known = KNOWN.get()?;
        // SAFETY: every definition has a supervisor, and that of a wrapped one names a clause.
        unsafe {
            let codes = behind_prefixes(self.supervisor(definition), known);
            (word(codes, 0) == known.call_wrapper)
                .then(|| word(self.referred(word(codes, WORD)), CLAUSE_DEFINITION))
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
