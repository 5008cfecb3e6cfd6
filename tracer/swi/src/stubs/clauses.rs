//! Which clause a box is in (`--clauses`), and the numbers of clauses.
//!
//! A clause is entered at the first cell behind its head and the unifications that its body begins with: the compiler may have moved those into the
//! head. A fact is entered at its last cell. Before that cell the head of a rule (`=>`) may still be found not to match, and what waits for a
//! variable of the head has run.

use portmortem_tracer::format::Clause;
use rustc_hash::FxHashMap;

use super::handlers::Visit;
use super::instructions::{Instructions, Kind};
use super::offsets::{self, Offsets, word};
use super::plan::{Plan, Step};
use super::plant::{Place, Planter};
use super::predicates::Identity;
use super::sites::{self, Noted};
use super::view::Code;
use crate::recording;

const WORD: usize = size_of::<usize>();

/// The numbers of clauses among those of their predicates, as they were when stubs were put into them.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// By definition.
    predicates: FxHashMap<usize, Numbered>,
}

/// The clauses of a predicate, all of them.
#[derive(Debug)]
struct Numbered {
    /// The words of the definition that tell the first and the last one.
    ends: [usize; 2],
    /// By where their code begins.
    numbers: FxHashMap<usize, u32>,
}

impl Numbers {
    /// The number of a clause of a static predicate that runs, from 1.
    pub(super) fn of(&mut self, offsets: &Offsets, code: &Code) -> Option<u32> {
        if clauses(offsets, code.definition).next()? == code.start {
            return Some(1);
        }
        self.known(offsets, code.definition)
            .get(&code.start)
            .copied()
    }

    /// Those of a predicate: counted again if it has got or lost clauses.
    fn known(&mut self, offsets: &Offsets, definition: usize) -> &FxHashMap<usize, u32> {
        // SAFETY: a definition of the engine's.
        let ends = [0, WORD].map(|at| unsafe { word(definition, offsets.first_clause + at) });
        let count = || Numbered {
            ends,
            numbers: clauses(offsets, definition).zip(1..).collect(),
        };
        let numbered = self.predicates.entry(definition).or_insert_with(count);
        if numbered.ends != ends {
            *numbered = count();
        }
        &numbered.numbers
    }
}

/// Where the code begins of the clauses of a static predicate that runs, in their order. Those of a dynamic one may be freed meanwhile.
fn clauses(offsets: &Offsets, definition: usize) -> impl Iterator<Item = usize> + use<'_> {
    // SAFETY: a definition of the engine's.
    let mut reference = unsafe { word(definition, offsets.first_clause) };
    std::iter::from_fn(move || {
        if reference == 0 {
            return None;
        }
        // SAFETY: clauses of a static predicate are freed after it was loaded again, when it runs no more.
        unsafe {
            let clause = word(reference, offsets.clause);
            reference = word(reference, offsets::NEXT_CLAUSE);
            Some(clause + offsets.codes)
        }
    })
}

/// Whether clauses of a predicate come and go while it runs.
pub(super) fn is_dynamic(planter: &Planter, definition: usize) -> bool {
    // SAFETY: a definition has a supervisor. Its length lies in front, or it is one that is shared, of one instruction.
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
    noted: Option<&Noted>,
) -> Option<u32> {
    recording::with(|current| {
        let file = noted.map(Noted::file);
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
    let is = |step: &Step| matches!(step.kind, Kind::Enter | Kind::ExitFact);
    let first = plan.steps.iter().position(is)?;
    if plan.steps[first].kind == Kind::ExitFact {
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
    pub(super) fn entry(&mut self, place: &Place, cell: usize, clause: u32) {
        if !place.is_stale() {
            return self.enter_clause(clause);
        }
        let frame = self.frame();
        if let Some(code) = self.clause_of(frame).filter(|code| code.contains(cell)) {
            let goals = self.has_goals(frame, &code);
            self.plant_and_enter(&code, goals, cell);
        }
    }

    /// Gives a clause its stubs. If it is entered at this cell, it is now: the cell has just had another stub.
    pub(super) fn plant_and_enter(&mut self, code: &Code, goals: bool, cell: usize) {
        let plan = self.plant(code, goals);
        if let Some(clause) = plan.and_then(|plan| plan.entry_at(code.index_of(cell))) {
            self.enter_clause(clause);
        }
    }

    /// The box of the running frame enters a clause.
    pub(super) fn enter_clause(&mut self, clause: u32) {
        let is_active = self.shadow.active_frame() == self.offset(self.frame());
        if !is_active || self.shadow.is_silent() || self.engine.quiet {
            return;
        }
        if !self.engine.stream.clause_if_soon(clause) {
            self.engine.note_pauses(true);
            self.engine.stream.clause(clause);
        }
    }
}
