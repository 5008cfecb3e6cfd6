//! Where stubs are put while the program runs: into the clauses that it enters, and wherever
//! control will return or resume.

use std::sync::Arc;

use super::clauses;
use super::handlers::Visit;
use super::held;
use super::labels;
use super::plant::{self, Planter};
use super::view::{ClauseCode, foreign_kind, kind_of};
use crate::native::identity::{Identity, identity};
use crate::native::instructions::{ForeignKind, InstructionKind, Instructions};
use crate::native::known::call_definition;
use crate::native::names::NamedGoal;
use crate::native::offsets::{
    CATCH, CLAUSE, DEBUGGER, FRAME_CONTEXT, FRAME_DEFINITION, FRAME_PARENT, FRAME_RETURN, JUMP,
};
use crate::native::place::{RecordedGoal, StubPlace, StubWork, role};
use crate::native::plan::{Always, GoalKind, Plan, PlanStep};
use crate::native::predicates;
use crate::native::sites::{self, Given, Sites};
use crate::native::standing::Standing;
use crate::native::words::{WORD, word};

/// How many frames below a box are looked at each time, if no other box is active.
const DEEP: usize = 1000;

impl Visit {
    /// The stub at a call names a predicate that is no longer called there, or was not there: the
    /// clause gets its stubs again.
    #[cold]
    pub(super) fn plant_again(&mut self, place: &StubPlace, cell: usize) -> Option<RecordedGoal> {
        let frame = self.view.frame();
        // SAFETY: the running frame.
        let definition = unsafe { word(frame, FRAME_DEFINITION) };
        let found = self.goal(definition, place.kind, cell).recorded();
        let stale = place.is_stale();
        if !stale && found.is_some_and(|goal| place.work == StubWork::Call(goal)) {
            return found;
        }
        let code = self.view.clause_with(frame, cell)?;
        // A recording after that which has made the stub may leave the clause out.
        let goals = !stale || self.has_goals(frame, &code);
        let plan = self.plant(&code, goals)?;
        plan.goal_at(code.start, cell)
    }

    /// The definition that the goal at a cell of a clause of `definition` calls. `None` if it is
    /// no goal. The clause need not be the running one.
    fn called_definition(
        &self,
        definition: usize,
        kind: InstructionKind,
        cell: usize,
    ) -> Option<usize> {
        match kind {
            InstructionKind::CallGoal => call_definition(1),
            InstructionKind::CallClosure => {
                // SAFETY: the operand of the instruction.
                call_definition(unsafe { word(cell, WORD) } + 1)
            }
            InstructionKind::LastCallSelf => Some(definition),
            _ => self.view.callee(kind, cell),
        }
    }

    /// What the goal at a cell is in a recorded clause.
    pub(super) fn goal(
        &mut self,
        definition: usize,
        kind: InstructionKind,
        cell: usize,
    ) -> GoalKind {
        let Some(callee) = self.called_definition(definition, kind, cell) else {
            return GoalKind::Unrecorded;
        };
        // SAFETY: a definition of the engine's.
        let standing = unsafe { self.engine.standings.standing(callee) };
        if matches!(standing, Standing::Unrecorded | Standing::Undefined) {
            predicates::tell_internal(callee);
        }
        match standing {
            Standing::Unrecorded | Standing::Untouched | Standing::CompletesTables => {
                match foreign_kind(callee) {
                    Some(ForeignKind::Semidet) => GoalKind::Constant,
                    Some(ForeignKind::Nondet) => GoalKind::Reentrant,
                    None => GoalKind::Unrecorded,
                }
            }
            Standing::Center | Standing::Search | Standing::FillsTable(_) => GoalKind::Unrecorded,
            Standing::Undefined => GoalKind::Recorded(RecordedGoal {
                callee,
                id: None,
                announce: false,
                with_arguments: false,
                with_values: None,
                sync: None,
                is_there: true,
                boundary: false,
                given: Given::UNKNOWN,
            }),
            Standing::Recorded(_)
            | Standing::WithArguments(_)
            | Standing::Tests(_)
            | Standing::Loader(_)
            | Standing::Boundary(_) => {
                let id = standing.at_goal();
                // `call/N` never begins: its goal gets its frame.
                let begins = standing.is_always_called() && !kind.calls_goal();
                GoalKind::Recorded(RecordedGoal {
                    callee,
                    id,
                    announce: begins,
                    with_arguments: matches!(standing, Standing::WithArguments(_)),
                    with_values: self.with_values(callee, standing),
                    sync: self.sharing(callee, standing),
                    // SAFETY: as above.
                    is_there: unsafe { predicates::is_there(callee) },
                    boundary: !begins,
                    given: Given::UNKNOWN,
                })
            }
        }
    }

    /// Whether goals of a clause that the frame runs get boxes: the clause's predicate is
    /// recorded, or `call/1` has made it for the program.
    pub(super) fn has_goals(&mut self, frame: usize, code: &ClauseCode) -> bool {
        if code.moves {
            // SAFETY: a frame of the engine's, whose clause lies on the stack.
            let context = unsafe { word(frame, FRAME_CONTEXT) };
            return self.engine.standings.is_context_in_scope(context);
        }
        // SAFETY: a definition of the engine's.
        unsafe { self.engine.standings.standing(code.definition) }.is_recorded()
    }

    pub(super) fn plant_goals(&mut self, frame: usize, code: &ClauseCode) {
        let goals = self.has_goals(frame, code);
        self.plant(code, goals);
    }

    /// Gives a clause its stubs. `goals` tells whether its goals get boxes.
    ///
    /// What that takes is a box of its own, but where no box is active. That of the recorder's
    /// own clauses is in the box of what they do; and bodies that `call/1` makes get stubs so
    /// often that a box would cost more than it tells.
    pub(super) fn plant(&mut self, code: &ClauseCode, goals: bool) -> Option<Plan> {
        if is_held(code.start) {
            return None;
        }
        let is_own = self.engine.standings.is_own(code.definition);
        if code.moves || is_own || !self.shadow.is_active() {
            return self.plant_unmeasured(code, goals);
        }
        let began = self.engine.begin_set_up();
        let plan = self.plant_unmeasured(code, goals);
        self.engine.note_set_up(began);
        plan
    }

    fn plant_unmeasured(&mut self, code: &ClauseCode, goals: bool) -> Option<Plan> {
        let mut planter = plant::planter()?;
        let cells = code.start..code.end;
        let goal = |cell, kind| {
            if goals {
                self.goal(code.definition, kind, cell)
            } else {
                GoalKind::Unrecorded
            }
        };
        // SAFETY: the code of a clause.
        let mut plan = unsafe { planter.plan(&cells, goal) }?;
        plan.is_wrapper = self.wrapped_by(code.definition).is_some();
        if goals {
            self.name(&mut planter, &mut plan, code);
        }
        // SAFETY: as above.
        unsafe { planter.carry_out(&cells, &plan) };
        Some(plan)
    }

    /// Events of goals name their sites, and the event of the clause's entry the clause.
    fn name(&mut self, planter: &mut Planter, plan: &mut Plan, code: &ClauseCode) {
        if code.moves {
            if let Some(named) = self.sites_of_body(plan, code, &planter.instructions) {
                plan.name(&named);
            }
            return;
        }
        // SAFETY: a definition of the engine's.
        let standing = unsafe { self.engine.standings.standing(code.definition) };
        let Some(predicate) = standing.at_goal() else {
            return;
        };
        let identity = identity(code.definition);
        let line = code.line.unwrap_or(0);
        let in_line = sites::of_line(identity, line);
        if in_line.is_empty() && !self.engine.clauses {
            return;
        }
        let number = if clauses::is_dynamic(planter, code.definition) {
            None
        } else {
            planter
                .numbers
                .of(self.view.offsets(), code.definition, code.start)
        };
        let noted = in_line.clause(number, || self.goals_of(plan, code));
        let number = number.or_else(|| Some(noted.as_deref()?.number()));
        if self.engine.clauses
            && let Some(number) = number
        {
            let clause = clauses::clause(predicate, number, line, identity, noted.as_deref());
            let entry = clauses::entry(plan, &planter.instructions);
            plan.entry = entry.zip(clause);
        }
        if let Some((noted, number)) = noted.zip(number) {
            let sites = Sites::new(predicate, number, noted);
            plan.name(&self.sites_of(plan, code, sites, &planter.instructions));
        }
    }

    /// What a step of some code always does without a port: it builds an argument, or calls a
    /// built-in predicate such as `nl/0` or `false/0`.
    fn always(
        &self,
        step: &PlanStep,
        code: &ClauseCode,
        instructions: &Instructions,
    ) -> Option<Always> {
        if step.goal.is_some() {
            return None;
        }
        if step.kind == InstructionKind::Other {
            let succeeds = instructions.get(step.op).always_succeeds();
            return succeeds.then_some(Always::Succeeds);
        }
        let cell = code.start + step.index * WORD;
        let callee = self.called_definition(code.definition, step.kind, cell)?;
        predicates::always(callee)
    }

    /// What the recorded goals of some code call. A last call is compiled twice.
    fn goals_of(&self, plan: &Plan, code: &ClauseCode) -> Vec<Identity> {
        let mut goals = Vec::new();
        let mut last_call = None;
        for step in plan.steps.iter().filter(|step| step.goal.is_some()) {
            let cell = code.start + step.index * WORD;
            let called = self.called_definition(code.definition, step.kind, cell);
            let is_last = matches!(
                step.kind,
                InstructionKind::LastCall | InstructionKind::LastCallSelf
            );
            let again = last_call.is_some() && last_call == called;
            last_call = called.filter(|_| is_last);
            goals.extend(called.filter(|_| !again).map(identity));
        }
        goals
    }

    /// What the source says of a body that `call/1` has made: the only argument that has its goals.
    fn sites_of_body(
        &mut self,
        plan: &Plan,
        code: &ClauseCode,
        instructions: &Instructions,
    ) -> Option<Arc<[NamedGoal]>> {
        let mut shape = self.shape(plan, code);
        let mut names = std::mem::take(self.engine.standings.names());
        let mut called = None;
        let found = self.shadow.given().find_map(|given| {
            names.body(given, &mut shape, || {
                let called = called.get_or_insert_with(|| self.goals_of(plan, code));
                let sites = given.body(called)?;
                Some(self.sites_of(plan, code, sites, instructions))
            })
        });
        *self.engine.standings.names() = names;
        found
    }

    /// All that the names of a body's goals depend on; the first word is for what the active box
    /// was given.
    fn shape(&self, plan: &Plan, code: &ClauseCode) -> Vec<usize> {
        let or_none = |word: Option<usize>| word.map_or(0, |word| word + 1);
        let mut shape = vec![0];
        for step in &plan.steps {
            let cell = code.start + step.index * WORD;
            let id = step.goal.and_then(|goal| goal.id);
            shape.extend([
                step.index << u8::BITS | usize::from(step.op),
                or_none(step.alternative),
                or_none(step.jump),
                or_none(id.map(|id| id as usize)),
                or_none(self.called_definition(code.definition, step.kind, cell)),
            ]);
        }
        shape
    }

    /// The names of a clause's goals. A last call is compiled twice: for when the frame can be
    /// given up, and behind that for when it cannot.
    fn sites_of(
        &self,
        plan: &Plan,
        code: &ClauseCode,
        mut sites: Sites,
        instructions: &Instructions,
    ) -> Vec<NamedGoal> {
        let mut named = Vec::new();
        let mut last_call: Option<(usize, u32, Given)> = None;
        for (index, step) in plan.steps.iter().enumerate() {
            let kind = step.kind;
            let Some(callee) =
                self.called_definition(code.definition, kind, code.start + step.index * WORD)
            else {
                continue;
            };
            let Some(id) = step.goal.and_then(|goal| goal.id) else {
                continue;
            };
            let same = last_call.take().filter(|&(of, ..)| of == callee);
            let (_, site, given) = same.unwrap_or_else(|| {
                let Identity { name, arity, .. } = identity(callee);
                let then_fails =
                    plan.then_fails(index, |step| self.always(step, code, instructions));
                let (site, given) = sites.site(name, arity, id, then_fails);
                (callee, site, given)
            });
            named.push((index, site, given));
            if matches!(
                kind,
                InstructionKind::LastCall | InstructionKind::LastCallSelf
            ) {
                last_call = Some((callee, site, given));
            }
        }
        named
    }

    /// Whether the predicate that begins in a frame returns to a clause in which no stub would see
    /// that.
    pub(super) fn is_called_by_held(&self, frame: usize) -> bool {
        // SAFETY: a frame of the engine's.
        is_held(unsafe { word(frame, FRAME_RETURN) })
    }

    /// Wherever control returns to between a new box and the active one there is a stub.
    ///
    /// If no box is active, the frames below may be a million, as where a recording begins in the
    /// middle of a deep recursion. They are all looked at once. After that, those that lie deep get
    /// theirs when control has come near them.
    pub(super) fn demand(&mut self, mut frame: usize) {
        let below = self.shadow.active_frame();
        let knows_deep = !self.shadow.is_active() && self.engine.knows_deep_frames;
        for depth in 0.. {
            // SAFETY: frames of the engine's.
            let (parent, cell) = unsafe { (word(frame, FRAME_PARENT), word(frame, FRAME_RETURN)) };
            if parent == 0 || cell == 0 {
                self.engine.knows_deep_frames = true;
                return;
            }
            // SAFETY: where a frame returns to is code.
            if plant::is_bare(unsafe { word(cell, 0) }) {
                self.observe(parent, cell);
            } else if knows_deep && depth > DEEP {
                return;
            }
            if self.view.offset(parent) <= below {
                return;
            }
            frame = parent;
        }
    }

    /// The clause that a frame runs gets stubs; or, if it is none, the cell alone.
    #[cold]
    pub(super) fn observe(&mut self, frame: usize, cell: usize) {
        if let Some(code) = self.view.clause_with(frame, cell) {
            self.plant_goals(frame, &code);
        }
        self.plant_bare(cell, role::RETURN | role::SELDOM);
    }

    pub(super) fn plant_bare(&mut self, cell: usize, roles: u8) {
        // SAFETY: a cell of code.
        if !plant::is_bare(unsafe { word(cell, 0) }) || self.view.is_on_stack(cell) && roles == 0 {
            return;
        }
        if let Some(mut planter) = plant::planter() {
            // SAFETY: as above.
            unsafe {
                if let Some(op) = planter.op_at(cell) {
                    planter.plant(cell, op, roles, StubWork::Look);
                }
            }
        }
    }

    /// There is a stub wherever control resumes next.
    pub(super) fn watch_newest(&mut self) {
        let newest = self.view.newest();
        self.watch(newest);
    }

    /// There is a stub where this choicepoint resumes, or the next one at which anything does.
    /// Those that were there before the active box were seen to when it opened.
    pub(super) fn watch(&mut self, mut choice: usize) {
        let seen_to = self.shadow.choice_before();
        loop {
            match kind_of(choice) {
                CATCH | DEBUGGER if self.view.offset(choice) <= seen_to => return,
                CATCH | DEBUGGER => choice = self.view.older(choice),
                JUMP => {
                    // SAFETY: such a choicepoint has a cell.
                    let cell = unsafe { self.view.value_of_choice(choice) };
                    // SAFETY: a cell of code.
                    if plant::is_bare(unsafe { word(cell, 0) }) {
                        self.observe_choice(choice, cell);
                    }
                    return;
                }
                CLAUSE => {
                    // SAFETY: such a choicepoint has a reference to a clause.
                    let clause = unsafe { self.view.referred(self.view.value_of_choice(choice)) };
                    self.watch_clause(clause);
                    return;
                }
                _ => return,
            }
        }
    }

    /// There is a stub where this clause is tried.
    fn watch_clause(&mut self, clause: usize) {
        let start = self.view.code(clause);
        // SAFETY: the first cell of a clause.
        if !plant::is_bare(unsafe { word(start, 0) }) {
            return;
        }
        // SAFETY: a clause.
        if let Some(planter) = plant::planter()
            // SAFETY: the first cell of a clause.
            && let Some(cell) = unsafe { labels::tried_at(&planter, start) }
        {
            drop(planter);
            self.plant_bare(cell, role::CLAUSE);
        }
    }

    #[cold]
    pub(super) fn observe_choice(&mut self, choice: usize, cell: usize) {
        let frame = self.view.frame_of_choice(choice);
        if let Some(code) = self.view.clause_with(frame, cell) {
            self.plant_goals(frame, &code);
        }
        self.plant_bare(cell, role::RESUME);
    }
}

/// Whether a cell keeps what it has.
fn is_held(cell: usize) -> bool {
    held::is_any() && plant::planter().is_some_and(|planter| planter.held.has(cell))
}
