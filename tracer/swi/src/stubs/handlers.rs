//! What stubs do: from a place and the engine's state to events.
//!
//! A handler runs between two instructions of the engine. It reads the engine's stacks and changes nothing but cells of code. It
//! cannot call Prolog, and makes no terms.

use super::emit;
use super::instructions::{Kind, Op};
use super::offsets::{
    self, CATCH, CLAUSE, CLAUSE_DEFINITION, DEBUGGER, FRAME_CLAUSE, FRAME_CONTEXT,
    FRAME_DEFINITION, FRAME_PARENT, FRAME_RETURN, JUMP, Offsets, word,
};
use super::plant::{self, Goal, GoalKind, Handlers, Place, Plan, Work, role};
use super::predicates::{self, Identity, Standing};
use super::shadow::{Call, Events, Moment, Offset, Shadow};
use super::sites::{self, Sites};
use crate::engine::{self, Engine};
use crate::ffi::TRUE;
use crate::panics::guarded;

const WORD: usize = size_of::<usize>();

/// All handlers.
pub(super) const HANDLERS: Handlers = Handlers {
    look: on_look,
    call: on_call,
    select: on_select,
    wrapped: on_wrapped,
    new_body: on_new_body,
    new_code: on_new_code,
    recovery: on_recovery,
};

/// The engine that has come to a stub.
struct Visit {
    offsets: &'static Offsets,
    /// Address of the engine's data, and of the base of its local stack.
    data: usize,
    base: usize,
    shadow: &'static mut Shadow,
    engine: &'static mut Engine,
}

/// Runs a handler if the engine is recorded. Control goes on where it would without stubs.
fn visit(work: impl FnOnce(&mut Visit)) {
    guarded(TRUE, || {
        if let Some(mut visit) = Visit::begin() {
            work(&mut visit);
        }
        TRUE
    });
}

extern "C" fn on_look(place: usize, cell: usize) {
    visit(|visit| {
        let place = place_of(place);
        visit.look(place.roles, cell);
    });
}

extern "C" fn on_call(place: usize, cell: usize) {
    visit(|visit| {
        let place = place_of(place);
        if let Work::Call(goal) = place.work {
            visit.call(place, cell, goal);
        }
    });
}

extern "C" fn on_select(place: usize, cell: usize) {
    visit(|visit| visit.select(place_of(place).op, cell));
}

extern "C" fn on_wrapped(_place: usize, _cell: usize) {
    visit(Visit::wrapped);
}

extern "C" fn on_new_body(_place: usize, cell: usize) {
    visit(|visit| visit.new_body(cell));
}

extern "C" fn on_new_code(place: usize, cell: usize) {
    visit(|visit| visit.new_code(place_of(place), cell));
}

extern "C" fn on_recovery(_place: usize, _cell: usize) {
    visit(Visit::recovery);
}

fn place_of(place: usize) -> &'static Place {
    // SAFETY: stubs have addresses of places, which are never freed.
    unsafe { &*(place as *const Place) }
}

/// The engine's events.
impl Events for Engine {
    fn exit_det(&mut self) {
        if !self.stream.exit_det_if_soon() {
            self.note_pauses(true);
            self.stream.exit_det();
        }
    }

    fn exit_nondet(&mut self) {
        if !self.stream.exit_nondet_if_soon() {
            self.note_pauses(true);
            self.stream.exit_nondet();
        }
    }

    fn redo(&mut self, active: bool) {
        if !self.stream.redo_if_soon() {
            self.note_pauses(active);
            self.stream.redo();
        }
    }

    fn fail(&mut self) {
        if !self.stream.fail_if_soon() {
            self.note_pauses(true);
            self.stream.fail();
        }
    }

    fn exception(&mut self) {
        self.note_pauses(true);
        self.stream.exception();
    }

    fn cut(&mut self, active: bool) {
        if !self.stream.cut_if_soon() {
            self.note_pauses(active);
            self.stream.cut();
        }
    }
}

impl Visit {
    fn begin() -> Option<Self> {
        let offsets = offsets::known()?;
        let data = offsets::running_engine(offsets);
        // SAFETY: the only reference until the handler ends.
        let Some(engine) = (unsafe { engine::of_stub(data) }) else {
            Self::forget();
            return None;
        };
        let block = emit::thread_block();
        let shadow = engine.shadow;
        // SAFETY: the calling thread's own block; a shadow is never freed, and used by its engine only.
        let shadow = unsafe {
            if (*block).engine != data || (*block).shadow != shadow {
                (*block).engine = data;
                (*block).shadow = shadow;
            }
            &mut *shadow
        };
        shadow.stream = if engine.quiet {
            std::ptr::null()
        } else {
            engine.stream.fields()
        };
        // SAFETY: the engine's data.
        let base = unsafe { word(data, offsets.base as usize) };
        Some(Self {
            offsets,
            data,
            base,
            shadow,
            engine,
        })
    }

    /// The thread runs an engine that is not recorded.
    fn forget() {
        // SAFETY: the calling thread's own block.
        unsafe { (*emit::thread_block()).engine = 0 };
    }

    /// The running frame.
    fn frame(&self) -> usize {
        // SAFETY: the engine's data.
        unsafe { word(self.data, self.offsets.environment as usize) }
    }

    /// Where the next frame will be.
    fn top(&self) -> usize {
        // SAFETY: the engine's data.
        unsafe { word(self.data, self.offsets.top as usize) }
    }

    /// The newest choicepoint, the debugger's among them.
    fn newest_of_all(&self) -> usize {
        // SAFETY: the engine's data.
        unsafe { word(self.data, self.offsets.choice as usize) }
    }

    /// The newest choicepoint at which something can be redone.
    fn newest(&self) -> usize {
        let mut choice = self.newest_of_all();
        while kind_of(choice) == DEBUGGER {
            choice = self.older(choice);
        }
        choice
    }

    /// The choicepoint before.
    fn older(&self, choice: usize) -> usize {
        // SAFETY: a choicepoint; that of a query is the oldest, and asked for none.
        unsafe { word(choice, self.offsets.choice_parent) }
    }

    fn frame_of_choice(&self, choice: usize) -> usize {
        // SAFETY: a choicepoint.
        unsafe { word(choice, self.offsets.choice_frame) }
    }

    fn offset(&self, address: usize) -> Offset {
        (address as Offset).wrapping_sub(self.base as Offset)
    }

    fn moment(&self) -> Moment {
        Moment {
            frame: self.offset(self.frame()),
            choice: self.offset(self.newest()),
        }
    }

    fn is_on_stack(&self, address: usize) -> bool {
        // SAFETY: the engine's data.
        let limit = unsafe { word(self.data, self.offsets.limit as usize) };
        (self.base..limit).contains(&address)
    }

    /// The cell that a box returns to, if it stays where it is.
    fn fixed(&self, cell: usize) -> usize {
        if self.is_on_stack(cell) { 0 } else { cell }
    }

    /// What has happened since the last stub.
    fn look(&mut self, roles: u8, cell: usize) {
        let moment = self.moment();
        let returns_to = self.fixed(cell);
        if roles & role::RETURN != 0 {
            let returned = self.shadow.returned(moment, returns_to, self.engine);
            if returned || roles & !role::SELDOM == role::RETURN {
                self.shadow.settle();
                self.shadow.announced = -1;
                if returned {
                    self.watch_newest();
                }
                return;
            }
        }
        if roles & role::CAUGHT != 0 {
            self.shadow.caught(moment.frame, self.engine);
        }
        if roles & (role::RESUME | role::CLAUSE) != 0 {
            let in_clause = roles & role::CLAUSE != 0;
            self.shadow.resumed(moment, in_clause, self.engine);
            self.watch_newest();
        }
        if roles & role::AFTER_CUT != 0 {
            self.shadow.cut_after(moment.choice, self.engine);
        }
        self.shadow.settle();
        self.shadow.announced = -1;
    }

    /// A goal of a recorded clause calls.
    fn call(&mut self, place: &Place, cell: usize, goal: Goal) {
        let is_another = self
            .callee(place.kind, cell)
            .is_some_and(|callee| callee != goal.callee);
        // SAFETY: a definition of the engine's.
        let has_come = !goal.is_there && unsafe { predicates::is_there(goal.callee) };
        let goal = if is_another || has_come || goal.id.is_none() {
            self.plant_again(place, cell)
        } else {
            Some(goal)
        };
        let frame = self.frame();
        let newest = self.newest();
        if newest > frame && self.frame_of_choice(newest) == frame {
            self.watch(newest);
        }
        let Some(goal) = goal else { return };
        let departs = match place.kind {
            Kind::LastCall | Kind::LastCallSelf => true,
            Kind::Depart | Kind::DepartInModule | Kind::DepartAtModule => {
                goal.is_there && self.newest_of_all() <= frame
            }
            _ => false,
        };
        if departs {
            self.tail(goal, frame, self.is_on_stack(cell));
        } else {
            self.open(goal, frame, newest, cell + place.length);
        }
    }

    /// A last call: the callee gets the running frame. If that is the frame of the active box, the box departs; but that of `call/1`
    /// stays, which has made the clause that calls.
    fn tail(&mut self, goal: Goal, frame: usize, made: bool) {
        let at = self.offset(frame);
        self.shadow.expected = -1;
        self.shadow.announced = -1;
        let Some(id) = goal.id else {
            self.shadow.expected = at;
            return;
        };
        if made || self.shadow.active_frame() != at {
            self.enter(id, frame);
        } else if !self.shadow.is_silent() && !self.engine.stream.tail_if_soon(id) {
            self.engine.note_pauses(self.shadow.is_active());
            self.engine.stream.tail(id);
        }
        if goal.announce {
            self.shadow.announced = at;
        }
    }

    fn open(&mut self, goal: Goal, frame: usize, newest: usize, returns_to: usize) {
        let top = self.offset(self.top());
        let Some(id) = goal.id else {
            self.shadow.announced = -1;
            self.shadow.expected = top;
            return;
        };
        let call = Call {
            frame: top,
            caller: self.offset(frame),
            choice: self.offset(newest),
            returns_to: self.fixed(returns_to),
            foreign: false,
        };
        self.called(id, &call);
        self.shadow.announced = if goal.announce { top } else { -1 };
    }

    fn called(&mut self, id: u32, call: &Call) {
        let silent = self.engine.quiet;
        if !silent && !self.engine.stream.call_if_soon(id) {
            self.engine.note_pauses(self.shadow.is_active());
            self.engine.stream.call(id);
        }
        self.shadow.call(call, silent);
        self.shadow.expected = -1;
    }

    /// The definition that an instruction calls, if its operand says so.
    fn callee(&self, kind: Kind, cell: usize) -> Option<usize> {
        let operand = match kind {
            Kind::Call | Kind::Depart | Kind::LastCall => 1,
            Kind::CallInModule | Kind::DepartInModule => 2,
            Kind::CallAtModule | Kind::DepartAtModule => 3,
            _ => return None,
        };
        // SAFETY: the operand is a procedure, which begins with its definition.
        Some(unsafe { word(word(cell, operand * WORD), 0) })
    }

    /// The stub at a call names a predicate that is no longer called there, or was not there: the clause gets its stubs again.
    #[cold]
    fn plant_again(&mut self, place: &Place, cell: usize) -> Option<Goal> {
        let found = self.goal(place.kind, cell).recorded();
        if found.is_some_and(|goal| place.work == Work::Call(goal)) {
            return found;
        }
        let frame = self.frame();
        let code = self.clause_of(frame).filter(|code| code.contains(cell))?;
        let plan = self.plant(&code, true)?;
        plan.goal_at(code.start, cell)
    }

    /// The definition that the goal at a cell calls. `None` if it is no goal.
    fn called_definition(&self, kind: Kind, cell: usize) -> Option<usize> {
        match kind {
            Kind::CallGoal => super::call_definition(1),
            Kind::CallClosure => {
                // SAFETY: the operand of the instruction.
                super::call_definition(unsafe { word(cell, WORD) } + 1)
            }
            Kind::LastCallSelf => {
                // SAFETY: the running frame.
                Some(unsafe { word(self.frame(), FRAME_DEFINITION) })
            }
            _ => self.callee(kind, cell),
        }
    }

    /// What the goal at a cell is in a recorded clause.
    fn goal(&mut self, kind: Kind, cell: usize) -> GoalKind {
        let Some(callee) = self.called_definition(kind, cell) else {
            return GoalKind::Unrecorded;
        };
        // SAFETY: a definition of the engine's.
        let standing = unsafe { self.engine.standings.standing(callee) };
        match standing {
            Standing::Unrecorded | Standing::Untouched if is_foreign(callee) => GoalKind::Constant,
            Standing::Unrecorded | Standing::Untouched => GoalKind::Unrecorded,
            Standing::Undefined => GoalKind::Recorded(Goal {
                callee,
                id: None,
                announce: false,
                is_there: true,
            }),
            Standing::Recorded(_) | Standing::Loader(_) | Standing::Boundary(_) => {
                GoalKind::Recorded(Goal {
                    callee,
                    id: standing.at_goal(),
                    announce: standing.is_always_called(),
                    // SAFETY: as above.
                    is_there: unsafe { predicates::is_there(callee) },
                })
            }
        }
    }

    /// The clauses of the running predicate are about to be selected, and no stub has recorded its call.
    fn select(&mut self, op: Op, cell: usize) {
        let frame = self.frame();
        let at = self.offset(frame);
        // SAFETY: the running frame.
        let definition = unsafe { word(frame, FRAME_DEFINITION) };
        // SAFETY: a definition of the engine's.
        let standing = unsafe { self.engine.standings.standing_of_running(definition) };
        let expected = std::mem::replace(&mut self.shadow.expected, -1) == at;
        self.shadow.announced = -1;
        let id = match standing {
            Standing::Recorded(id) | Standing::Loader(id) => id,
            Standing::Boundary(id) if expected => id,
            _ => {
                if standing == Standing::Unrecorded
                    && let Some(mut planter) = plant::planter()
                {
                    // SAFETY: the running predicate, and the cell that control is at.
                    unsafe { planter.pass(definition, cell, op) };
                }
                return;
            }
        };
        if expected && at == self.shadow.active_frame() {
            // An undefined predicate is no last call, so this one has clauses that may be asserted.
            return self.tail(
                Goal {
                    callee: definition,
                    id: Some(id),
                    announce: false,
                    is_there: true,
                },
                frame,
                false,
            );
        }
        self.enter(id, frame);
    }

    /// Unrecorded code has called a recorded predicate.
    fn enter(&mut self, id: u32, frame: usize) {
        // SAFETY: the running frame; a recorded predicate has been called by one.
        let (parent, returns_to) =
            unsafe { (word(frame, FRAME_PARENT), word(frame, FRAME_RETURN)) };
        let mut newest = self.newest();
        while newest > frame && self.frame_of_choice(newest) == frame {
            newest = self.older(newest);
        }
        let call = Call {
            frame: self.offset(frame),
            caller: if parent == 0 { -1 } else { self.offset(parent) },
            choice: self.offset(newest),
            returns_to: self.fixed(returns_to),
            // SAFETY: that of a query, if it has none.
            foreign: parent == 0 || unsafe { word(parent, FRAME_PARENT) } == 0,
        };
        // SAFETY: a frame of the engine's.
        let catches =
            parent != 0 && unsafe { word(parent, FRAME_DEFINITION) } == super::catch_definition();
        self.shadow.entered(&call, catches, self.engine);
        self.demand(frame);
        self.watch(newest);
        self.called(id, &call);
        self.shadow.announced = -1;
    }

    /// The predicate of a wrapper's closure is about to run. If its wrapper has a box, that is the box of the call.
    fn wrapped(&mut self) {
        let frame = self.frame();
        // SAFETY: the closure's definition, the predicate that it is of, and the supervisor of that, which calls the wrapper.
        let wrapper = unsafe {
            let closure = word(frame, FRAME_DEFINITION);
            let definition = word(closure, self.offsets.first_clause);
            if !self.engine.standings.standing(definition).is_recorded() {
                return;
            }
            let clause = word(word(definition, self.offsets.supervisor), WORD);
            word(word(clause, self.offsets.clause), CLAUSE_DEFINITION)
        };
        let mut ancestor = frame;
        loop {
            // SAFETY: a frame of the engine's.
            ancestor = unsafe { word(ancestor, FRAME_PARENT) };
            if ancestor == 0 {
                return;
            }
            // SAFETY: as above.
            if unsafe { word(ancestor, FRAME_DEFINITION) } == wrapper {
                break;
            }
        }
        if self.shadow.has_open(self.offset(ancestor)) {
            self.shadow.announced = self.offset(frame);
        }
    }

    /// The code of the clause that a frame runs: the clause's address, its code, and whether it lies on the local stack.
    fn clause_of(&self, frame: usize) -> Option<Code> {
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

    /// The body of a clause begins for the first time.
    fn new_body(&mut self, cell: usize) {
        let frame = self.frame();
        let Some(code) = self.clause_of(frame).filter(|code| code.contains(cell)) else {
            return;
        };
        if cell == code.start {
            self.look(role::CLAUSE, cell);
        }
        // SAFETY: a definition of the engine's.
        let standing = unsafe { self.engine.standings.standing(code.definition) };
        if standing != Standing::Untouched {
            self.plant(&code, standing.is_recorded());
        }
    }

    /// A body begins that `call/1` has made. What is newer than its frame was left by an exception: had it failed, a stub would have seen it.
    fn new_code(&mut self, place: &Place, cell: usize) {
        let frame = self.frame();
        let Some(code) = self.clause_of(frame).filter(|code| code.contains(cell)) else {
            return;
        };
        let moment = self.moment();
        self.shadow.caught(moment.frame, self.engine);
        self.shadow.cut_after(moment.choice, self.engine);
        self.shadow.settle();
        self.plant_goals(frame, &code);
        if self.has_goals(frame, &code)
            && let Some(goal) = self.goal(place.kind, cell).recorded()
        {
            self.call(place, cell, goal);
        }
    }

    /// A predicate begins. If it is the recovery of `catch/3`, an exception has left what is newer than that.
    fn recovery(&mut self) {
        // SAFETY: the running frame.
        let parent = unsafe { word(self.frame(), FRAME_PARENT) };
        // SAFETY: a frame of the engine's.
        if parent != 0 && unsafe { word(parent, FRAME_DEFINITION) } == super::catch_definition() {
            let at = self.offset(parent);
            self.shadow.caught(at, self.engine);
            self.shadow.settle();
        }
    }

    /// Whether goals of a clause that the frame runs get boxes: the clause's predicate is recorded, or `call/1` has made it for the program.
    fn has_goals(&mut self, frame: usize, code: &Code) -> bool {
        if code.moves {
            // SAFETY: a frame of the engine's, whose clause lies on the stack.
            return predicates::is_in_scope(unsafe { word(frame, FRAME_CONTEXT) });
        }
        // SAFETY: a definition of the engine's.
        unsafe { self.engine.standings.standing(code.definition) }.is_recorded()
    }

    fn plant_goals(&mut self, frame: usize, code: &Code) {
        let goals = self.has_goals(frame, code);
        self.plant(code, goals);
    }

    /// Gives a clause its stubs. `goals` tells whether its goals get boxes.
    fn plant(&mut self, code: &Code, goals: bool) -> Option<Plan> {
        let mut planter = plant::planter()?;
        let cells = code.start..code.end;
        let goal = |cell, kind| {
            if goals {
                self.goal(kind, cell)
            } else {
                GoalKind::Unrecorded
            }
        };
        // SAFETY: the code of a clause.
        let mut plan = unsafe { planter.plan(&cells, goal) }?;
        if goals && let Some(mut sites) = self.sites(code) {
            self.name_sites(&mut plan, code, &mut sites);
        }
        // SAFETY: as above.
        unsafe { planter.carry_out(&cells, &plan) };
        Some(plan)
    }

    /// What the source says of the clause.
    fn sites(&mut self, code: &Code) -> Option<Sites> {
        let line = code.line?;
        let predicate = predicates::identity(code.definition);
        let noted = sites::of_clause(predicate, line)?;
        // SAFETY: a definition of the engine's.
        let standing = unsafe { self.engine.standings.standing(code.definition) };
        Some(Sites::new(
            standing.at_goal()?,
            self.clause_number(code),
            noted,
        ))
    }

    /// The number of a clause among those of its predicate, from 1.
    fn clause_number(&self, code: &Code) -> u32 {
        // SAFETY: the clauses of a definition that runs.
        unsafe {
            let mut reference = word(code.definition, self.offsets.first_clause);
            let mut number = 1;
            while reference != 0
                && word(reference, self.offsets.clause) + self.offsets.codes != code.start
            {
                reference = word(reference, offsets::NEXT_CLAUSE);
                number += 1;
            }
            number
        }
    }

    /// Events of goals name their sites.
    fn name_sites(&self, plan: &mut Plan, code: &Code, sites: &mut Sites) {
        for index in 0..plan.steps.len() {
            let step = &plan.steps[index];
            let Some(callee) = self.called_definition(step.kind, code.start + step.index * WORD)
            else {
                continue;
            };
            let Identity { name, arity, .. } = predicates::identity(callee);
            let then_fails = plan.then_fails(index);
            if let Some(goal) = plan.steps[index].goal.as_mut()
                && let Some(id) = goal.id
            {
                goal.id = Some(sites.site(name, arity, id, then_fails));
            }
        }
    }

    /// Wherever control returns to between a new box and the active one there is a stub.
    fn demand(&mut self, mut frame: usize) {
        let below = self.shadow.active_frame();
        loop {
            // SAFETY: frames of the engine's.
            let (parent, cell) = unsafe { (word(frame, FRAME_PARENT), word(frame, FRAME_RETURN)) };
            if parent == 0 || cell == 0 {
                return;
            }
            // SAFETY: where a frame returns to is code.
            if plant::is_bare(unsafe { word(cell, 0) }) {
                self.observe(parent, cell);
            }
            if self.offset(parent) <= below {
                return;
            }
            frame = parent;
        }
    }

    /// The clause that a frame runs gets stubs; or, if it is none, the cell alone.
    #[cold]
    fn observe(&mut self, frame: usize, cell: usize) {
        if let Some(code) = self.clause_of(frame).filter(|code| code.contains(cell)) {
            self.plant_goals(frame, &code);
        }
        self.plant_bare(cell, role::RETURN | role::SELDOM);
    }

    fn plant_bare(&mut self, cell: usize, roles: u8) {
        // SAFETY: a cell of code.
        if !plant::is_bare(unsafe { word(cell, 0) }) || self.is_on_stack(cell) && roles == 0 {
            return;
        }
        if let Some(mut planter) = plant::planter() {
            // SAFETY: as above.
            unsafe {
                if let Some(op) = planter.op_at(cell) {
                    planter.plant(cell, op, roles, Work::Look);
                }
            }
        }
    }

    /// There is a stub wherever control resumes next.
    fn watch_newest(&mut self) {
        let newest = self.newest();
        self.watch(newest);
    }

    /// There is a stub where this choicepoint resumes, or the next one at which anything does.
    fn watch(&mut self, mut choice: usize) {
        loop {
            match kind_of(choice) {
                CATCH | DEBUGGER => choice = self.older(choice),
                JUMP => {
                    // SAFETY: such a choicepoint has a cell.
                    let cell = unsafe { word(choice, self.offsets.choice_value) };
                    // SAFETY: a cell of code.
                    if plant::is_bare(unsafe { word(cell, 0) }) {
                        self.observe_choice(choice, cell);
                    }
                    return;
                }
                CLAUSE => {
                    // SAFETY: such a choicepoint has a reference to a clause.
                    let cell = unsafe {
                        let reference = word(choice, self.offsets.choice_value);
                        word(reference, self.offsets.clause) + self.offsets.codes
                    };
                    self.plant_bare(cell, role::CLAUSE);
                    return;
                }
                _ => return,
            }
        }
    }

    #[cold]
    fn observe_choice(&mut self, choice: usize, cell: usize) {
        let frame = self.frame_of_choice(choice);
        if let Some(code) = self
            .clause_of_choice(frame)
            .filter(|code| code.contains(cell))
        {
            self.plant_goals(frame, &code);
        }
        self.plant_bare(cell, role::RESUME);
    }

    /// As [`Visit::clause_of`]. A frame of a foreign predicate has something else where others have their clause.
    fn clause_of_choice(&self, frame: usize) -> Option<Code> {
        // SAFETY: a frame of the engine's.
        let definition = unsafe { word(frame, FRAME_DEFINITION) };
        if is_foreign(definition) {
            return None;
        }
        self.clause_of(frame)
    }
}

/// The code of a clause.
struct Code {
    /// Of the predicate that runs.
    definition: usize,
    /// Where the clause begins in its file, if the engine says that.
    line: Option<u32>,
    start: usize,
    end: usize,
    /// It lies on the local stack.
    moves: bool,
}

impl Code {
    fn contains(&self, cell: usize) -> bool {
        (self.start..self.end).contains(&cell)
    }
}

/// The kind of a choicepoint.
fn kind_of(choice: usize) -> u32 {
    // SAFETY: a choicepoint begins with it.
    unsafe { (choice as *const u32).read() }
}

/// Whether a predicate is implemented in C: its supervisor calls a function.
fn is_foreign(definition: usize) -> bool {
    let Some(offsets) = offsets::known() else {
        return false;
    };
    // SAFETY: every definition has a supervisor.
    let first = unsafe { word(word(definition, offsets.supervisor), 0) };
    super::foreign_labels().contains(&first)
}
