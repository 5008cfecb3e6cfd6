//! Stubs are put into the engine's code: into clauses when their bodies are first entered, into
//! the code that the engine will make, and wherever control returns or resumes that nothing was
//! put before.
//!
//! A stub depends on the instruction that it stands for and on what is to be done there, never on
//! its cell: the engine keeps the place of the next cell in a register ([`CellCounter`]). So code
//! with stubs may move, and be copied or freed.

use std::ops::{Deref, DerefMut, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use portmortem_tracer::{Ready, locks};
use rustc_hash::FxHashMap;

use super::emit::{self, CellCounter, Glance, Handler, StubShape};
use super::fast::{self, Callee, Departs, Setting};
use super::held::HeldClauses;
use super::own_stack;
use crate::native::clause_numbers::ClauseNumbers;
use crate::native::instructions::{InstructionKind, Instructions, Op};
use crate::native::memory::StubMemory;
use crate::native::offsets::Offsets;
use crate::native::place::{RecordedGoal, StubPlace, StubWork, role};
use crate::native::plan::Plan;
use crate::native::sites::Given;
use crate::native::words::{CodeWord, WORD, store, word};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct PlantKey {
    op: Op,
    roles: u8,
    /// The clause that is entered before a call.
    entry: Option<u32>,
    work: StubWork,
}

/// A stub that was made. It is never freed, because a cell may have it for ever; but later
/// recordings use it again for the same work, so that what stays does not grow with their number.
#[derive(Debug, Clone, Copy)]
struct Stub {
    cell: CodeWord,
    /// What its handlers get, if they are told of a goal or a clause.
    goals: [Option<&'static StubPlace>; 2],
}

/// Functions that gates call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handlers {
    pub(super) look: Handler,
    pub(super) call: Handler,
    pub(super) select: Handler,
    pub(super) wrapped: Handler,
    pub(super) wrapper: Handler,
    pub(super) shift: Handler,
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
    wrapper: usize,
    shift: usize,
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
    counter: CellCounter,
    gates: Gates,
    stubs: FxHashMap<PlantKey, Stub>,
    /// What the stubs of goals get in this recording.
    goals: Vec<&'static StubPlace>,
    /// This recording has ids of its own, and no other one has its stubs.
    pub(super) of_trials: bool,
    /// Machine code of calls.
    calls: FxHashMap<(Callee, Departs), usize>,
    /// Of clauses.
    pub(super) numbers: ClauseNumbers,
    /// Whether code that the engine makes has stubs, and whether facts have stubs at their ends.
    pub(super) exchanged: bool,
    pub(super) facts: bool,
    /// Supervisors that the engine shares between predicates: the cells of their first
    /// instructions.
    pub(super) shared: Vec<usize>,
    /// Supervisors of predicates that are not recorded, in place of those, by the cell that they
    /// begin with.
    pub(super) plain: FxHashMap<CodeWord, &'static [CodeWord; 3]>,
    /// Clauses that get no stubs.
    pub(super) held: HeldClauses,
}

static PLANTER: Mutex<Option<Planter>> = Mutex::new(None);
/// Cells from here on lead to stubs, or to nothing.
static FIRST_STUB: AtomicUsize = AtomicUsize::new(usize::MAX);

/// All threads use this planter from now on.
pub(super) fn install(planter: Planter) {
    FIRST_STUB.store(planter.instructions.range.end, Ordering::Release);
    *locks::lock(&PLANTER) = Some(planter);
}

/// The planter, while it is in use. A signal that is handled meanwhile in the same thread finds
/// none.
pub(super) struct PlanterInUse {
    planter: MutexGuard<'static, Option<Planter>>,
}

/// The planter, if there is one and this thread does not use it already.
pub(super) fn planter() -> Option<PlanterInUse> {
    let block = emit::thread_block();
    // SAFETY: the calling thread's own block.
    unsafe {
        if (*block).plants {
            return None;
        }
        (*block).plants = true;
    }
    let in_use = PlanterInUse {
        planter: PLANTER.lock().unwrap_or_else(PoisonError::into_inner),
    };
    in_use.planter.is_some().then_some(in_use)
}

impl Drop for PlanterInUse {
    fn drop(&mut self) {
        // SAFETY: as in `planter`. The lock is still held for a moment: a signal that comes in it
        // waits for no other thread.
        unsafe { (*emit::thread_block()).plants = false };
    }
}

impl Deref for PlanterInUse {
    type Target = Planter;

    fn deref(&self) -> &Planter {
        match &*self.planter {
            Some(planter) => planter,
            None => unreachable!("`planter` has looked"),
        }
    }
}

impl DerefMut for PlanterInUse {
    fn deref_mut(&mut self) -> &mut Planter {
        match &mut *self.planter {
            Some(planter) => planter,
            None => unreachable!("`planter` has looked"),
        }
    }
}

/// Whether a cell is an instruction of the engine's, without a stub.
#[inline(always)]
pub(super) fn is_bare(cell: CodeWord) -> bool {
    cell < FIRST_STUB.load(Ordering::Relaxed)
}

impl Planter {
    pub(super) fn new(
        instructions: Instructions,
        mut memory: StubMemory,
        offsets: &'static Offsets,
        counter: CellCounter,
        handlers: &Handlers,
    ) -> Option<Self> {
        let mut gate = |handler| {
            let code = emit::gate(memory.next(0)?, counter, handler, own_stack::ask)?;
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
            wrapper: gate(handlers.wrapper)?,
            shift: gate(handlers.shift)?,
            new_body: gate(handlers.new_body)?,
            new_code: gate(handlers.new_code)?,
            recovery: gate(handlers.recovery)?,
            entry: gate(handlers.entry)?,
            meta_call: gate(handlers.meta_call)?,
        };
        let mut planter = Self {
            shared: instructions.shared_supervisors(),
            instructions,
            memory,
            offsets,
            counter,
            gates,
            stubs: FxHashMap::default(),
            goals: Vec::new(),
            of_trials: false,
            calls: FxHashMap::default(),
            numbers: ClauseNumbers::default(),
            exchanged: false,
            facts: false,
            plain: FxHashMap::default(),
            held: HeldClauses::default(),
        };
        planter.gates.returned = planter.fast(fast::returned, look)?;
        planter.gates.resumed = planter.fast(fast::resumed, look)?;
        planter.gates.cut = planter.fast(fast::cut_behind, look)?;
        planter.gates.entry = planter.fast(fast::entered, planter.gates.entry)?;
        Some(planter)
    }

    /// Adds fast code in front of a gate, if there is any.
    fn fast(
        &mut self,
        code: impl FnOnce(&Setting) -> Option<Vec<u8>>,
        slow: usize,
    ) -> Option<usize> {
        let Some(code) = code(&self.setting(slow)?) else {
            return Some(slow);
        };
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
    pub(super) fn stub(&mut self, op: Op, roles: u8, work: StubWork) -> Option<CodeWord> {
        self.stub_of(PlantKey {
            op,
            roles,
            entry: None,
            work,
        })
    }

    fn stub_of(&mut self, key: PlantKey) -> Option<CodeWord> {
        let PlantKey {
            op,
            roles,
            entry,
            work,
        } = key;
        let label = self.instructions.get(op).label;
        if let Some(&known) = self.stubs.get(&key) {
            self.revive(known);
            return Some(known.cell);
        }
        let first_goal = self.goals.len();
        let place = self.place(op, roles, work);
        let (gate, glance) = match work {
            StubWork::Look => self.look_gate(roles),
            StubWork::Call(goal) => (self.call_gate(op, goal)?, Glance::None),
            StubWork::Select => (self.gates.select, Glance::Announced),
            StubWork::Wrapped => (self.gates.wrapped, Glance::None),
            StubWork::Wrapper => (self.gates.wrapper, Glance::None),
            StubWork::Shift => (self.gates.shift, Glance::None),
            StubWork::NewBody => (self.gates.new_body, Glance::None),
            StubWork::NewCode => (self.gates.new_code, Glance::None),
            StubWork::Recovery => (self.gates.recovery, Glance::None),
            StubWork::Entry(_) => (self.gates.entry, Glance::None),
            StubWork::Boundary => (self.gates.select, Glance::Expected),
            StubWork::MetaCall => (self.gates.meta_call, Glance::None),
        };
        // What has happened before comes first.
        let looks = roles != 0
            && matches!(
                work,
                StubWork::Call(_) | StubWork::Entry(_) | StubWork::MetaCall
            );
        let before = [
            looks.then(|| {
                (
                    self.place(op, roles, StubWork::Look),
                    self.look_gate(roles).0,
                )
            }),
            entry.map(|clause| (self.place(op, 0, StubWork::Entry(clause)), self.gates.entry)),
        ];
        let shape = StubShape {
            glance,
            before,
            place,
            gate,
            label,
        };
        let at = self.memory.next(emit::LONGEST)?;
        let code = emit::stub(at, &shape, self.offsets)?;
        let cell = self.memory.add(&code, op);
        let mut new = self.goals[first_goal..].iter().copied();
        let goals = [new.next(), new.next()];
        self.stubs.insert(key, Stub { cell, goals });
        Some(cell)
    }

    /// What a stub says holds again: this recording calls its goal and its clause what that one
    /// did for which it was made.
    fn revive(&mut self, stub: Stub) {
        for place in stub.goals.into_iter().flatten() {
            if place.is_stale() {
                place.callee.store(place.work.named(), Ordering::Relaxed);
                self.goals.push(place);
            }
        }
    }

    /// The address of what a handler gets.
    fn place(&mut self, op: Op, roles: u8, work: StubWork) -> usize {
        let goal = if let StubWork::Call(goal) = work {
            Some(goal)
        } else {
            None
        };
        let id = goal.and_then(|goal| goal.id);
        let (call, tail) = match work {
            StubWork::Entry(clause) => (Ready::clause(clause), None),
            _ => (id.and_then(Ready::call), id.and_then(Ready::tail)),
        };
        let place = StubPlace {
            callee: AtomicUsize::new(work.named()),
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
        let place: &'static StubPlace = Box::leak(Box::new(place));
        if matches!(work, StubWork::Call(_) | StubWork::Entry(_)) {
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
    fn call_gate(&mut self, op: Op, goal: RecordedGoal) -> Option<usize> {
        if goal.id.and_then(Ready::call).is_none() || !goal.is_there || goal.says_more() {
            return Some(self.gates.call);
        }
        let (callee, departs) = match self.instructions.get(op).kind {
            InstructionKind::Call => (Callee::Operand(1), Departs::Never),
            InstructionKind::CallInModule => (Callee::Operand(2), Departs::Never),
            InstructionKind::CallAtModule => (Callee::Operand(3), Departs::Never),
            InstructionKind::Depart => (Callee::Operand(1), Departs::IfDet),
            InstructionKind::DepartInModule => (Callee::Operand(2), Departs::IfDet),
            InstructionKind::DepartAtModule => (Callee::Operand(3), Departs::IfDet),
            InstructionKind::LastCall => (Callee::Operand(1), Departs::Always),
            InstructionKind::LastCallSelf => (Callee::Fixed, Departs::Always),
            InstructionKind::CallGoal | InstructionKind::CallClosure => {
                (Callee::Fixed, Departs::Never)
            }
            _ => return Some(self.gates.call),
        };
        if let Some(&known) = self.calls.get(&(callee, departs)) {
            return Some(known);
        }
        let gate = self.fast(
            |setting| fast::call(setting, callee, departs),
            self.gates.call,
        )?;
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

    /// What stubs of goals say holds no longer. A clause that has such a stub gets others when it
    /// runs, or the same again.
    pub(super) fn forget_goals(&mut self) {
        for goal in self.goals.drain(..) {
            goal.callee.store(0, Ordering::Relaxed);
        }
        if std::mem::take(&mut self.of_trials) {
            self.stubs.retain(|_, stub| stub.goals[0].is_none());
        }
    }

    /// Puts a stub into a cell, in place of the instruction or of a stub for it.
    ///
    /// # Safety
    /// A cell of code, with that instruction.
    pub(super) unsafe fn plant(&mut self, cell: usize, op: Op, roles: u8, work: StubWork) {
        let key = PlantKey {
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
    unsafe fn plant_key(&mut self, cell: usize, key: PlantKey) {
        if self.held.has(cell) {
            return;
        }
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
                    self.plant(cell, step.op, 0, StubWork::MetaCall);
                }
            }
        }
    }

    /// Puts stubs where a plan has them: the first one last, so that another thread which comes to
    /// it finds all that control comes to from there.
    ///
    /// # Safety
    /// The plan is that of this code.
    pub(super) unsafe fn carry_out(&mut self, codes: &Range<usize>, plan: &Plan) {
        if self.held.has(codes.start) {
            return;
        }
        for step in plan.steps.iter().rev() {
            let cell = codes.start + step.index * WORD;
            let roles = plan.roles[step.index];
            let entry = plan.entry_at(step.index);
            let (work, entry) = match (step.goal, entry) {
                (Some(goal), entry) => (Some(StubWork::Call(goal)), entry),
                (None, entry) if step.kind.calls_goal() => (Some(StubWork::MetaCall), entry),
                (None, Some(clause)) => (Some(StubWork::Entry(clause)), None),
                (None, None) if step.kind == InstructionKind::Shift => {
                    (Some(StubWork::Shift), None)
                }
                (None, None) if plan.is_wrapper && step.kind == InstructionKind::Enter => {
                    (Some(StubWork::Wrapper), None)
                }
                (None, None) if roles != 0 => (Some(StubWork::Look), None),
                (None, None) => (None, None),
            };
            let key = |work| PlantKey {
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
