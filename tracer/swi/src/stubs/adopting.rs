//! Predicates that were there before the recording get their stubs.

use std::ops::Range;

use super::plant::{self, Planter};
use crate::ffi::{Foreign, TRUE, Term};
use crate::native::identity::definition;
use crate::native::instructions::InstructionKind;
use crate::native::offsets::{self, Offsets};
use crate::native::place::StubWork;
use crate::native::plan::GoalKind;
use crate::native::words::{CodeWord, WORD, word};
use crate::recording;
use crate::values::integer;

/// `stub_recovery(+Module, +Name, +Arity)`: the predicate, which has been called, may be the
/// recovery of `catch/3`, and fails.
pub(crate) fn recovery(module: Term, name: Term, arity: Term) -> Foreign {
    if let (Some(definition), Some(offsets)) = (definition(module, name, arity), offsets::known())
        && let Some(mut planter) = plant::planter()
    {
        // SAFETY: a predicate has a supervisor, which is its own if a length lies in front.
        unsafe {
            let cell = word(definition, offsets.supervisor);
            if word(cell - WORD, 0) != 0
                && let Some(op) = planter.op_at(cell)
            {
                planter.plant(cell, op, 0, StubWork::Recovery);
            }
        }
    }
    TRUE
}

/// `stub_adopt(+Module, +Name, +Arity)`: a predicate that was there before gets the stubs that it
/// would have if it were loaded now.
pub(crate) fn adopt(module: Term, name: Term, arity: Term) -> Foreign {
    if let (Some(definition), Some(offsets)) = (definition(module, name, arity), offsets::known())
        && let Some(mut planter) = plant::planter()
    {
        let facts = recording::with(|current| current.clauses).unwrap_or(false);
        // SAFETY: a definition with clauses.
        unsafe { adopt_definition(&mut planter, definition, offsets, facts) };
    }
    TRUE
}

/// # Safety
/// A definition with clauses, of which none is being freed.
unsafe fn adopt_definition(
    planter: &mut Planter,
    definition: usize,
    offsets: &Offsets,
    facts: bool,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let supervisor = word(definition, offsets.supervisor);
        let size = word(supervisor - WORD, 0);
        planter.recall(definition);
        plant_kind(
            planter,
            supervisor..supervisor + size * WORD,
            InstructionKind::Select,
            0,
            StubWork::Select,
        );
        let mut reference = word(definition, offsets.first_clause);
        while reference != 0 {
            let codes = offsets.code_of(word(reference, offsets.clause));
            if facts {
                plant_kind(
                    planter,
                    codes.clone(),
                    InstructionKind::ExitFact,
                    0,
                    StubWork::NewBody,
                );
            }
            plant_kind(planter, codes, InstructionKind::Enter, 0, StubWork::NewBody);
            reference = word(reference, offsets::NEXT_CLAUSE);
        }
    }
}

/// `stub_observe(+Module, +Name, +Arity, +Goal, +Foreign)`: a predicate of the system or a
/// library that was there before gets the stubs by which the program's goals are seen: where it
/// begins, if it may be one (`Goal` is 1) or be recorded (2), and where its clauses call goals,
/// if it has clauses.
pub(crate) fn observe(module: Term, name: Term, arity: Term, goal: Term, foreign: Term) -> Foreign {
    if let (Some(definition), Some(offsets)) = (definition(module, name, arity), offsets::known())
        && let Some(mut planter) = plant::planter()
    {
        let work = match integer(goal) {
            0 => None,
            1 => Some(StubWork::Boundary),
            _ => Some(StubWork::Select),
        };
        // SAFETY: a definition with clauses, or of a predicate in C, has a supervisor.
        unsafe {
            if let Some(work) = work {
                let supervisor = word(definition, offsets.supervisor);
                let codes = supervisor..supervisor + word(supervisor - WORD, 0) * WORD;
                for kind in [InstructionKind::ForeignOpen, InstructionKind::Select] {
                    plant_kind(&mut planter, codes.clone(), kind, 0, work);
                }
            }
            if integer(foreign) == 0 {
                observe_clauses(&mut planter, definition, offsets);
            }
        }
    }
    TRUE
}

/// # Safety
/// A definition with clauses, of which none is being freed.
unsafe fn observe_clauses(planter: &mut Planter, definition: usize, offsets: &Offsets) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut reference = word(definition, offsets.first_clause);
        while reference != 0 {
            let codes = offsets.code_of(word(reference, offsets.clause));
            if let Some(plan) = planter.plan(&codes, |_, _| GoalKind::Unrecorded) {
                planter.observe(&codes, &plan);
            }
            reference = word(reference, offsets::NEXT_CLAUSE);
        }
    }
}

/// Puts stubs into the first instruction of a kind.
///
/// # Safety
/// Code, all of it.
pub(super) unsafe fn plant_kind(
    planter: &mut Planter,
    codes: Range<usize>,
    kind: InstructionKind,
    roles: u8,
    work: StubWork,
) {
    let mut cell = codes.start;
    while cell < codes.end {
        // SAFETY: the caller's promise.
        let Some(op) = (unsafe { planter.op_at(cell) }) else {
            return;
        };
        if planter.instructions.get(op).kind == kind {
            // SAFETY: the cell has this instruction.
            return unsafe { planter.plant(cell, op, roles, work) };
        }
        // SAFETY: as above.
        let Some(length) = (unsafe { planter.instructions.length(op, cell as *const CodeWord) })
        else {
            return;
        };
        cell += length * WORD;
    }
}
