//! What a stub is made for: what its cell is to the boxes around it, and what is to be done there.

use std::mem::offset_of;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::instructions::{InstructionKind, Op};
use super::sharing::Sharing;
use super::sites::Given;

/// What a cell is to the boxes around it. A cell may be several things.
pub(crate) mod role {
    /// The cell behind a call.
    pub(crate) const RETURN: u8 = 1;
    /// Control comes here by backtracking.
    pub(crate) const RESUME: u8 = 2;
    /// A clause begins here, and control may come here by backtracking.
    pub(crate) const CLAUSE: u8 = 4;
    /// The cell behind an instruction that removes choicepoints.
    pub(crate) const AFTER_CUT: u8 = 8;
    /// An exception may have been caught in this frame.
    pub(crate) const CAUGHT: u8 = 16;
    /// With [`RETURN`]: most often no box returns here.
    pub(crate) const SELDOM: u8 = 32;
}

/// Of `I_EXITCLEANUP`, always: see [`crate::stubs`].
pub(crate) const EXIT_CLEANUP: u8 = role::RETURN | role::SELDOM;

/// What a stub does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum StubWork {
    /// Looks what has happened.
    Look,
    /// Looks, then a goal of a recorded clause calls a predicate.
    Call(RecordedGoal),
    /// The clauses of a predicate are about to be selected.
    Select,
    /// The predicate that a wrapper is around is about to run, in the wrapper's box.
    Wrapped,
    /// A wrapper begins, in place of its predicate.
    Wrapper,
    /// `shift/1` leaves what it is called in.
    Shift,
    /// A body begins that has not been seen.
    NewBody,
    /// An instruction of a body that has not been seen: `call/1` has made it.
    NewCode,
    /// A predicate begins that the recovery of `catch/3` may be.
    Recovery,
    /// Looks, then the clause of that id in the trace is entered.
    Entry(u32),
    /// A predicate begins that is not recorded itself, and may be a goal of the program.
    Boundary,
    /// A clause that is not recorded calls what may be a goal of the program.
    MetaCall,
}

/// A goal of a recorded clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RecordedGoal {
    /// The definition that is called. If the procedure has another one by then, the stub is
    /// exchanged.
    pub(crate) callee: usize,
    /// What the event says is called. `None` if that is not known before the predicate begins.
    pub(crate) id: Option<u32>,
    /// All calls of the predicate are recorded, so it is told that this one has been.
    pub(crate) announce: bool,
    /// What it is called with is recorded, too.
    pub(crate) with_arguments: bool,
    /// What its arguments are at calls and exits is recorded, too, and under which number of its
    /// predicate.
    pub(crate) with_values: Option<u32>,
    /// What it does with something that threads share is recorded, too.
    pub(crate) sync: Option<Sharing>,
    /// The predicate is there. One that a library is loaded for is not: the engine never makes a
    /// last call of it.
    pub(crate) is_there: bool,
    /// The predicate is not recorded itself.
    pub(crate) boundary: bool,
    /// The goals in its arguments.
    pub(crate) given: Given,
}

impl StubWork {
    /// What [`StubPlace::callee`] is while it holds.
    pub(crate) fn named(self) -> usize {
        match self {
            Self::Call(goal) => goal.callee,
            _ => 1,
        }
    }
}

impl RecordedGoal {
    /// Whether more is recorded of its call than the event.
    pub(crate) fn says_more(&self) -> bool {
        self.with_arguments || self.with_values.is_some() || self.sync.is_some()
    }
}

/// What a stub's handler gets, and machine code in its stead.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct StubPlace {
    /// Of a goal: the definition that it calls, of an entered clause 1; 0 when the recording has
    /// ended, until another one names it.
    pub(crate) callee: AtomicUsize,
    /// Of a goal: the events of its call, but for their time, and how many bytes of them count.
    /// Of an entered clause: its event.
    pub(crate) call_word: u64,
    pub(crate) tail_word: u64,
    pub(crate) event_length: usize,
    /// How many bytes the instruction takes with its operands; 0 if that depends.
    pub(crate) length: usize,
    /// Of a goal: 0 if its predicate is told of the call, or -1.
    pub(crate) silence: i64,
    /// Of a goal: the marks of its box, and whether it is at the boundary, as they lie in the box.
    pub(crate) marks: u64,
    /// Of a goal: what its box is given, and 1 if a box that departs keeps what it was given
    /// before.
    pub(crate) given: Given,
    pub(crate) keeps: u64,
    pub(crate) op: Op,
    pub(crate) kind: InstructionKind,
    pub(crate) roles: u8,
    pub(crate) work: StubWork,
}

impl StubPlace {
    /// Where the definition stands that a goal calls.
    pub(crate) const CALLEE: usize = offset_of!(Self, callee);

    /// Whether this is a goal or a clause of an earlier recording, and the present one has not
    /// named it yet.
    pub(crate) fn is_stale(&self) -> bool {
        matches!(self.work, StubWork::Call(_) | StubWork::Entry(_))
            && self.callee.load(Ordering::Relaxed) == 0
    }
}
