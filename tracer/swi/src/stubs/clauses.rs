//! Which clause a box is in (`--clauses`), and the numbers of clauses.
//!
//! A clause is entered at the first cell behind its head and the unifications that its body
//! begins with: the compiler may have moved those into the head. A fact is entered at its last
//! cell. Before that cell the head of a rule (`=>`) may still be found not to match, and what
//! waits for a variable of the head has run.

use portmortem_tracer::format::Clause;

use super::handlers::Visit;
use super::plant::Planter;
use super::view::ClauseCode;
use crate::native::identity::Identity;
use crate::native::instructions::{InstructionKind, Instructions};
use crate::native::offsets::FRAME_DEFINITION;
use crate::native::place::StubPlace;
use crate::native::plan::{Plan, PlanStep};
use crate::native::sites::{self, NotedClause};
use crate::native::words::{WORD, word};
use crate::recording;

/// Whether clauses of a predicate come and go while it runs.
pub(super) fn is_dynamic(planter: &Planter, definition: usize) -> bool {
    // SAFETY: a definition has a supervisor. Its length lies in front, or it is one that is
    // shared, of one instruction.
    unsafe {
        let supervisor = word(definition, planter.offsets.supervisor);
        let cells = word(supervisor - WORD, 0).max(1);
        (0..cells).any(|cell| {
            let op = planter.op_at(supervisor + cell * WORD);
            op.is_some_and(|op| planter.instructions.get(op).name.contains("DYNAMIC"))
        })
    }
}

/// The id of a clause in the trace.
pub(super) fn clause(
    predicate: u32,
    number: u32,
    line: u32,
    identity: Identity,
    noted: Option<&NotedClause>,
) -> Option<u32> {
    recording::with(|current| {
        let file = noted.map(NotedClause::file);
        let file = file.filter(|&file| *file != *sites::place_of(identity).0);
        current.recorder.clause(Clause {
            predicate,
            number,
            line,
            file: file.map(|file| current.recorder.file(&current.file_name(file))),
        })
    })
}

/// The cell at which a clause is entered.
pub(super) fn entry(plan: &Plan, instructions: &Instructions) -> Option<usize> {
    let is = |step: &PlanStep| {
        matches!(
            step.kind,
            InstructionKind::Enter | InstructionKind::ExitFact
        )
    };
    let first = plan.steps.iter().position(is)?;
    if plan.steps[first].kind == InstructionKind::ExitFact {
        return Some(plan.steps[first].index);
    }
    let mut unifying = false;
    let behind = plan.steps[first + 1..].iter().find(|step| {
        let name = instructions.get(step.op).name.as_str();
        match name {
            "B_UNIFY_VAR" | "B_UNIFY_FIRSTVAR" => unifying = true,
            "B_UNIFY_EXIT" => unifying = false,
            _ => return !unifying && !name.starts_with("B_UNIFY_"),
        }
        false
    });
    behind.map(|step| step.index)
}

impl Visit {
    /// The stub is met at which a clause is entered.
    pub(super) fn entry(&mut self, place: &StubPlace, cell: usize, clause: u32) {
        if !place.is_stale() {
            return self.enter_clause(clause);
        }
        let frame = self.view.frame();
        if let Some(code) = self.view.clause_with(frame, cell) {
            let goals = self.has_goals(frame, &code);
            self.plant_and_enter(&code, goals, cell);
        }
    }

    /// Gives a clause its stubs. If it is entered at this cell, it is now: the cell has just had
    /// another stub.
    pub(super) fn plant_and_enter(&mut self, code: &ClauseCode, goals: bool, cell: usize) {
        let plan = self.plant(code, goals);
        if let Some(clause) = plan.and_then(|plan| plan.entry_at(code.index_of(cell))) {
            self.enter_clause(clause);
        }
    }

    /// The box of the running frame enters a clause; or that of its wrapper, as of a tabled
    /// predicate.
    pub(super) fn enter_clause(&mut self, clause: u32) {
        let frame = self.view.frame();
        // SAFETY: the running frame.
        let definition = unsafe { word(frame, FRAME_DEFINITION) };
        let is_active = self.shadow.active_frame() == self.view.offset(frame)
            || self.shadow.is_in_wrapper_of(definition);
        if !is_active || self.shadow.is_silent() || self.engine.quiet {
            return;
        }
        if !self.engine.stream.clause_if_soon(clause) {
            self.engine.note_pauses(true);
            self.engine.stream.clause(clause);
        }
    }
}
