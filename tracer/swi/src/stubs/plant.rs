//! Stubs are put into the engine's code: into clauses when their bodies are first entered, into the code that the engine will make, and
//! wherever control returns or resumes that nothing was put before.
//!
//! A stub depends on the instruction that it stands for and on what is to be done there, never on its cell: the engine keeps the place of the next cell in a
//! register ([`Counter`]). So code with stubs may move, and be copied or freed.

use std::mem::offset_of;
use std::ops::{Deref, DerefMut, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use portmortem_tracer::{Ready, locks};
use rustc_hash::FxHashMap;

use super::clauses::Numbers;
use super::emit::{self, Counter, Glance, Handler, Shape};
use super::exchange;
use super::fast::{self, Callee, Departs, Setting};
use super::instructions::{Cell, Instructions, Kind, Op};
use super::labels;
use super::memory::StubMemory;
use super::offsets::{Offsets, word};
use super::plan::{GoalKind, Plan, Step};
use super::sites::Given;

const WORD: usize = size_of::<Cell>();

/// What a cell is to the boxes around it. A cell may be several things.
pub(super) mod role {
    /// The cell behind a call.
    pub(in super::super) const RETURN: u8 = 1;
    /// Control comes here by backtracking.
    pub(in super::super) const RESUME: u8 = 2;
    /// A clause begins here, and control may come here by backtracking.
    pub(in super::super) const CLAUSE: u8 = 4;
    /// The cell behind an instruction that removes choicepoints.
    pub(in super::super) const AFTER_CUT: u8 = 8;
    /// An exception may have been caught in this frame.
    pub(in super::super) const CAUGHT: u8 = 16;
    /// With [`RETURN`]: most often no box returns here.
    pub(in super::super) const SELDOM: u8 = 32;
}

/// Of `I_EXITCLEANUP`, always: see [`super::labels`].
pub(super) const EXIT_CLEANUP: u8 = role::RETURN | role::SELDOM;

/// What a stub does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Work {
    /// Looks what has happened.
    Look,
    /// Looks, then a goal of a recorded clause calls a predicate.
    Call(Goal),
    /// The clauses of a predicate are about to be selected.
    Select,
    /// The predicate that a wrapper is around is about to run, in the wrapper's box.
    Wrapped,
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
pub(super) struct Goal {
    /// The definition that is called. If the procedure has another one by then, the stub is exchanged.
    pub(super) callee: usize,
    /// What the event says is called. `None` if that is not known before the predicate begins.
    pub(super) id: Option<u32>,
    /// All calls of the predicate are recorded, so it is told that this one has been.
    pub(super) announce: bool,
    /// What it is called with is recorded, too.
    pub(super) with_arguments: bool,
    /// The predicate is there. One that a library is loaded for is not: the engine never makes a last call of it.
    pub(super) is_there: bool,
    /// The predicate is not recorded itself.
    pub(super) boundary: bool,
    /// The goals in its arguments.
    pub(super) given: Given,
}

/// What a stub's handler gets, and machine code in its stead.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Place {
    /// Of a goal: the definition that it calls, of an entered clause 1; 0 once the recording has ended that the stub was made for.
    callee: AtomicUsize,
    /// Of a goal: the events of its call, but for their time, and how many bytes of them count. Of an entered clause: its event.
    pub(super) call_word: u64,
    pub(super) tail_word: u64,
    pub(super) event_length: usize,
    /// How many bytes the instruction takes with its operands; 0 if that depends.
    pub(super) length: usize,
    /// Of a goal: 0 if its predicate is told of the call, or -1.
    pub(super) silence: i64,
    /// Of a goal: the marks of its box, and whether it is at the boundary, as they lie in the box.
    pub(super) marks: u64,
    /// Of a goal: what its box is given, and 1 if a box that departs keeps what it was given before.
    pub(super) given: Given,
    pub(super) keeps: u64,
    pub(super) op: Op,
    pub(super) kind: Kind,
    pub(super) roles: u8,
    pub(super) work: Work,
}

impl Place {
    /// Where the definition stands that a goal calls.
    pub(super) const CALLEE: usize = offset_of!(Self, callee);

    /// Whether this is a goal or a clause of an earlier recording, whose numbers mean nothing now.
    pub(super) fn is_stale(&self) -> bool {
        matches!(self.work, Work::Call(_) | Work::Entry(_))
            && self.callee.load(Ordering::Relaxed) == 0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    op: Op,
    roles: u8,
    /// The clause that is entered before a call.
    entry: Option<u32>,
    work: Work,
}

/// Functions that gates call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handlers {
    pub(super) look: Handler,
    pub(super) call: Handler,
    pub(super) select: Handler,
    pub(super) wrapped: Handler,
    pub(super) new_body: Handler,
    pub(super) new_code: Handler,
    pub(super) recovery: Handler,
    pub(super) entry: Handler,
    pub(super) meta_call: Handler,
}

/// Gates, in the order of [`Handlers`].
#[derive(Debug)]
struct Gates {
    look: usize,
    /// The same where an exit, a failure or a redo, or a cut is likely.
    returned: usize,
    resumed: usize,
    cut: usize,
    call: usize,
    select: usize,
    wrapped: usize,
    new_body: usize,
    new_code: usize,
    recovery: usize,
    entry: usize,
    meta_call: usize,
}

/// All that stubs are made with.
#[derive(Debug)]
pub(super) struct Planter {
    pub(super) instructions: Instructions,
    pub(super) memory: StubMemory,
    pub(super) offsets: &'static Offsets,
    counter: Counter,
    gates: Gates,
    stubs: FxHashMap<Key, Cell>,
    /// What the stubs of goals get in this recording.
    goals: Vec<&'static Place>,
    /// Machine code of calls.
    calls: FxHashMap<(Callee, Departs), usize>,
    /// Of clauses.
    pub(super) numbers: Numbers,
    /// Whether code that the engine makes has stubs, and whether facts have stubs at their ends.
    pub(super) exchanged: bool,
    pub(super) facts: bool,
    /// Supervisors that the engine shares between predicates: the cells of their first instructions.
    pub(super) shared: Vec<usize>,
    /// Supervisors of predicates that are not recorded, in place of those, by the cell that they begin with.
    pub(super) plain: FxHashMap<Cell, &'static [Cell; 3]>,
}

static PLANTER: Mutex<Option<Planter>> = Mutex::new(None);
/// Cells from here on lead to stubs, or to nothing.
static FIRST_STUB: AtomicUsize = AtomicUsize::new(usize::MAX);

/// All threads use this planter from now on.
pub(super) fn install(planter: Planter) {
    exchange::watch_forks();
    FIRST_STUB.store(planter.instructions.range.end, Ordering::Release);
    *locks::lock(&PLANTER) = Some(planter);
}

/// The planter, while it is in use. A signal that is handled meanwhile in the same thread finds none.
pub(super) struct InUse {
    planter: MutexGuard<'static, Option<Planter>>,
}

/// The planter, if there is one and this thread does not use it already.
pub(super) fn planter() -> Option<InUse> {
    let block = emit::thread_block();
    // SAFETY: the calling thread's own block.
    unsafe {
        if (*block).plants {
            return None;
        }
        (*block).plants = true;
    }
    let in_use = InUse {
        planter: PLANTER.lock().unwrap_or_else(PoisonError::into_inner),
    };
    in_use.planter.is_some().then_some(in_use)
}

impl Drop for InUse {
    fn drop(&mut self) {
        // SAFETY: as in `planter`. The lock is still held for a moment: a signal that comes in it waits for no other thread.
        unsafe { (*emit::thread_block()).plants = false };
    }
}

impl Deref for InUse {
    type Target = Planter;

    fn deref(&self) -> &Planter {
        match &*self.planter {
            Some(planter) => planter,
            None => unreachable!("`planter` has looked"),
        }
    }
}

impl DerefMut for InUse {
    fn deref_mut(&mut self) -> &mut Planter {
        match &mut *self.planter {
            Some(planter) => planter,
            None => unreachable!("`planter` has looked"),
        }
    }
}

/// Whether a cell is an instruction of the engine's, without a stub.
#[inline(always)]
pub(super) fn is_bare(cell: Cell) -> bool {
    cell < FIRST_STUB.load(Ordering::Relaxed)
}

impl Planter {
    pub(super) fn new(
        instructions: Instructions,
        mut memory: StubMemory,
        offsets: &'static Offsets,
        counter: Counter,
        handlers: &Handlers,
    ) -> Option<Self> {
        let mut gate = |handler| {
            let code = emit::gate(memory.next(0)?, counter, handler)?;
            memory.next(code.len())?;
            Some(memory.add_code(&code))
        };
        let look = gate(handlers.look)?;
        let gates = Gates {
            look,
            returned: look,
            resumed: look,
            cut: look,
            call: gate(handlers.call)?,
            select: gate(handlers.select)?,
            wrapped: gate(handlers.wrapped)?,
            new_body: gate(handlers.new_body)?,
            new_code: gate(handlers.new_code)?,
            recovery: gate(handlers.recovery)?,
            entry: gate(handlers.entry)?,
            meta_call: gate(handlers.meta_call)?,
        };
        let mut planter = Self {
            shared: exchange::shared_supervisors(&instructions),
            instructions,
            memory,
            offsets,
            counter,
            gates,
            stubs: FxHashMap::default(),
            goals: Vec::new(),
            calls: FxHashMap::default(),
            numbers: Numbers::default(),
            exchanged: false,
            facts: false,
            plain: FxHashMap::default(),
        };
        planter.gates.returned = planter.fast(fast::returned, look)?;
        planter.gates.resumed = planter.fast(fast::resumed, look)?;
        planter.gates.cut = planter.fast(fast::cut_behind, look)?;
        planter.gates.entry = planter.fast(fast::entered, planter.gates.entry)?;
        Some(planter)
    }

    /// Adds fast code in front of a gate.
    fn fast(&mut self, code: fn(&Setting) -> Option<Vec<u8>>, slow: usize) -> Option<usize> {
        let code = code(&self.setting(slow)?)?;
        self.memory.next(code.len())?;
        Some(self.memory.add_code(&code))
    }

    /// The instruction at a cell. `None` at a breakpoint, or if it is no code.
    ///
    /// # Safety
    /// A cell of code.
    pub(super) unsafe fn op_at(&self, cell: usize) -> Option<Op> {
        // SAFETY: the caller's promise.
        self.memory.op(&self.instructions, unsafe { word(cell, 0) })
    }

    /// The stub for an instruction. `None` if there can be no more stubs.
    pub(super) fn stub(&mut self, op: Op, roles: u8, work: Work) -> Option<Cell> {
        self.stub_of(Key {
            op,
            roles,
            entry: None,
            work,
        })
    }

    fn stub_of(&mut self, key: Key) -> Option<Cell> {
        let Key {
            op,
            roles,
            entry,
            work,
        } = key;
        let label = self.instructions.get(op).label;
        if let Some(&known) = self.stubs.get(&key) {
            return Some(known);
        }
        let place = self.place(op, roles, work);
        let (gate, glance) = match work {
            Work::Look => self.look_gate(roles),
            Work::Call(goal) => (self.call_gate(op, goal)?, Glance::None),
            Work::Select => (self.gates.select, Glance::Announced),
            Work::Wrapped => (self.gates.wrapped, Glance::None),
            Work::NewBody => (self.gates.new_body, Glance::None),
            Work::NewCode => (self.gates.new_code, Glance::None),
            Work::Recovery => (self.gates.recovery, Glance::None),
            Work::Entry(_) => (self.gates.entry, Glance::None),
            Work::Boundary => (self.gates.select, Glance::Expected),
            Work::MetaCall => (self.gates.meta_call, Glance::None),
        };
        // What has happened before comes first.
        let looks = roles != 0 && matches!(work, Work::Call(_) | Work::Entry(_) | Work::MetaCall);
        let before = [
            looks.then(|| (self.place(op, roles, Work::Look), self.look_gate(roles).0)),
            entry.map(|clause| (self.place(op, 0, Work::Entry(clause)), self.gates.entry)),
        ];
        let shape = Shape {
            glance,
            before,
            place,
            gate,
            label,
        };
        let at = self.memory.next(emit::LONGEST)?;
        let code = emit::stub(at, &shape, self.offsets)?;
        let cell = self.memory.add(&code, op);
        self.stubs.insert(key, cell);
        Some(cell)
    }

    /// The address of what a handler gets.
    fn place(&mut self, op: Op, roles: u8, work: Work) -> usize {
        let goal = if let Work::Call(goal) = work {
            Some(goal)
        } else {
            None
        };
        let id = goal.and_then(|goal| goal.id);
        let (call, tail) = match work {
            Work::Entry(clause) => (Ready::clause(clause), None),
            _ => (id.and_then(Ready::call), id.and_then(Ready::tail)),
        };
        let place = Place {
            callee: AtomicUsize::new(goal.map_or(1, |goal| goal.callee)),
            call_word: call.map_or(0, Ready::word),
            tail_word: tail.map_or(0, Ready::word),
            event_length: call.map_or(0, Ready::length),
            length: self.instructions.fixed_length(op).unwrap_or(0) * WORD,
            silence: if goal.is_some_and(|goal| goal.announce) {
                0
            } else {
                -1
            },
            marks: u64::from(goal.is_some_and(|goal| goal.boundary)) << u32::BITS,
            given: goal.map_or(Given::UNKNOWN, |goal| goal.given),
            keeps: goal.is_some_and(|goal| goal.given.only_passes()).into(),
            op,
            kind: self.instructions.get(op).kind,
            roles,
            work,
        };
        let place: &'static Place = Box::leak(Box::new(place));
        if matches!(work, Work::Call(_) | Work::Entry(_)) {
            self.goals.push(place);
        }
        std::ptr::from_ref(place) as usize
    }

    /// Where looking begins, and what a stub compares before.
    fn look_gate(&self, roles: u8) -> (usize, Glance) {
        if roles == role::RETURN {
            // Something happens here nearly always.
            (self.gates.returned, Glance::None)
        } else if roles == role::RETURN | role::SELDOM {
            (self.gates.returned, Glance::Quiet)
        } else if roles & !(role::RESUME | role::CLAUSE) == 0 {
            (self.gates.resumed, Glance::Quiet)
        } else if roles == role::AFTER_CUT {
            (self.gates.cut, Glance::Quiet)
        } else if roles & role::RETURN != 0 && roles & role::SELDOM == 0 {
            (self.gates.look, Glance::None)
        } else {
            (self.gates.look, Glance::Quiet)
        }
    }

    /// Where the call of a goal begins.
    fn call_gate(&mut self, op: Op, goal: Goal) -> Option<usize> {
        if goal.id.and_then(Ready::call).is_none() || !goal.is_there || goal.with_arguments {
            return Some(self.gates.call);
        }
        let (callee, departs) = match self.instructions.get(op).kind {
            Kind::Call => (Callee::Operand(1), Departs::Never),
            Kind::CallInModule => (Callee::Operand(2), Departs::Never),
            Kind::CallAtModule => (Callee::Operand(3), Departs::Never),
            Kind::Depart => (Callee::Operand(1), Departs::IfDet),
            Kind::DepartInModule => (Callee::Operand(2), Departs::IfDet),
            Kind::DepartAtModule => (Callee::Operand(3), Departs::IfDet),
            Kind::LastCall => (Callee::Operand(1), Departs::Always),
            Kind::LastCallSelf => (Callee::Fixed, Departs::Always),
            Kind::CallGoal | Kind::CallClosure => (Callee::Fixed, Departs::Never),
            _ => return Some(self.gates.call),
        };
        if let Some(&known) = self.calls.get(&(callee, departs)) {
            return Some(known);
        }
        let setting = self.setting(self.gates.call)?;
        let code = fast::call(&setting, callee, departs)?;
        self.memory.next(code.len())?;
        let gate = self.memory.add_code(&code);
        self.calls.insert((callee, departs), gate);
        Some(gate)
    }

    /// What fast code is made with that comes next in memory.
    fn setting(&self, slow: usize) -> Option<Setting> {
        Some(Setting {
            at: self.memory.next(0)?,
            counter: self.counter,
            offsets: self.offsets,
            first_stub: self.instructions.range.end,
            slow,
        })
    }

    /// What stubs of goals say holds no longer. A clause that has such a stub gets others when it runs.
    pub(super) fn forget_goals(&mut self) {
        for goal in self.goals.drain(..) {
            goal.callee.store(0, Ordering::Relaxed);
        }
        self.stubs
            .retain(|key, _| !matches!(key.work, Work::Call(_) | Work::Entry(_)));
    }

    /// Puts a stub into a cell, in place of the instruction or of a stub for it.
    ///
    /// # Safety
    /// A cell of code, with that instruction.
    pub(super) unsafe fn plant(&mut self, cell: usize, op: Op, roles: u8, work: Work) {
        let key = Key {
            op,
            roles,
            entry: None,
            work,
        };
        // SAFETY: the caller's promise.
        unsafe { self.plant_key(cell, key) };
    }

    /// # Safety
    /// As for [`Planter::plant`].
    unsafe fn plant_key(&mut self, cell: usize, key: Key) {
        if let Some(stub) = self.stub_of(key) {
            // SAFETY: the caller's promise.
            unsafe { store(cell, stub) };
        }
    }

    /// Takes the stub out of a cell.
    ///
    /// # Safety
    /// As for [`Planter::plant`].
    pub(super) unsafe fn clear(&self, cell: usize, op: Op) {
        // SAFETY: the caller's promise.
        unsafe { store(cell, self.instructions.get(op).label) };
    }

    /// What the cells of a clause are. `goal` says which goals of it are recorded; none if the clause is not. `None` if there is an
    /// instruction whose length is not known, or a breakpoint.
    ///
    /// # Safety
    /// `codes` is the code of a clause, all of it.
    pub(super) unsafe fn plan(
        &self,
        codes: &Range<usize>,
        mut goal: impl FnMut(usize, Kind) -> GoalKind,
    ) -> Option<Plan> {
        let count = codes.len() / WORD;
        let mut plan = Plan {
            roles: vec![0; count + 1],
            steps: Vec::new(),
            entry: None,
        };
        // A stub stays where the clause is tried after another one. If its first instruction enters the body, it had one from the beginning.
        // SAFETY: within the code.
        let tried_at = unsafe { labels::tried_at(self, codes.start) };
        // SAFETY: as above.
        if let Some(cell) = tried_at.filter(|&cell| !is_bare(unsafe { word(cell, 0) })) {
            plan.mark((cell - codes.start) / WORD, role::CLAUSE);
        }
        let mut index = 0;
        while index < count {
            let cell = codes.start + index * WORD;
            // SAFETY: within the code.
            let op = unsafe { self.op_at(cell) }?;
            // SAFETY: as above.
            let length = unsafe { self.instructions.length(op, cell as *const Cell) }?;
            let next = index + length;
            // SAFETY: operands follow the label.
            let operand = |number: usize| unsafe { word(cell, number * WORD) };
            let kind = self.instructions.get(op).kind;
            let found = goal(cell, kind);
            if kind.returns() {
                match found {
                    GoalKind::Recorded(_) => plan.mark(next, role::RETURN),
                    GoalKind::Constant => {}
                    GoalKind::Reentrant => {
                        plan.mark(next, role::RETURN | role::RESUME | role::SELDOM)
                    }
                    GoalKind::Unrecorded => plan.mark(next, role::RETURN | role::SELDOM),
                }
            }
            let alternative = match kind {
                // The distance counts from behind itself.
                Kind::Alternative => Some(index + 2 + operand(1)),
                Kind::Condition => Some(index + 3 + operand(2)),
                _ => None,
            };
            match kind {
                Kind::Alternative | Kind::Condition => {
                    plan.mark(alternative.unwrap_or(next), role::RESUME);
                }
                Kind::Cut => plan.mark(next, role::AFTER_CUT),
                // The goal returns to this cell, and the recovery to the next one.
                Kind::ExitCatch => {
                    plan.mark(index, role::RETURN | role::CAUGHT);
                    plan.mark(next, role::RETURN | role::CAUGHT);
                }
                Kind::ExitCleanup => plan.mark(index, EXIT_CLEANUP),
                _ => {}
            }
            plan.steps.push(Step {
                index,
                op,
                kind,
                alternative,
                jump: (kind == Kind::Jump).then(|| next + operand(1)),
                goal: found.recorded(),
            });
            index = next;
        }
        Some(plan)
    }

    /// Puts stubs where a clause calls goals, if there are none.
    ///
    /// # Safety
    /// The plan is that of this code.
    pub(super) unsafe fn observe(&mut self, codes: &Range<usize>, plan: &Plan) {
        for step in plan.steps.iter().filter(|step| step.kind.calls_goal()) {
            let cell = codes.start + step.index * WORD;
            // SAFETY: the caller's promise.
            unsafe {
                if is_bare(word(cell, 0)) {
                    self.plant(cell, step.op, 0, Work::MetaCall);
                }
            }
        }
    }

    /// Puts stubs where a plan has them.
    ///
    /// # Safety
    /// The plan is that of this code.
    pub(super) unsafe fn carry_out(&mut self, codes: &Range<usize>, plan: &Plan) {
        for step in &plan.steps {
            let cell = codes.start + step.index * WORD;
            let roles = plan.roles[step.index];
            let entry = plan.entry_at(step.index);
            let (work, entry) = match (step.goal, entry) {
                (Some(goal), entry) => (Some(Work::Call(goal)), entry),
                (None, entry) if step.kind.calls_goal() => (Some(Work::MetaCall), entry),
                (None, Some(clause)) => (Some(Work::Entry(clause)), None),
                (None, None) if roles != 0 => (Some(Work::Look), None),
                (None, None) => (None, None),
            };
            let key = |work| Key {
                op: step.op,
                roles,
                entry,
                work,
            };
            // SAFETY: the caller's promise.
            unsafe {
                match work.map(key) {
                    Some(key) => self.plant_key(cell, key),
                    None if !is_bare(word(cell, 0)) => self.clear(cell, step.op),
                    None => {}
                }
            }
        }
    }
}

/// # Safety
/// A cell of code, or of the engine's table of labels.
pub(super) unsafe fn store(cell: usize, value: Cell) {
    // SAFETY: cells are aligned words; whatever reads one gets the old instruction or the new one, which are the same.
    unsafe { AtomicUsize::from_ptr(cell as *mut usize) }.store(value, Ordering::Release);
}
