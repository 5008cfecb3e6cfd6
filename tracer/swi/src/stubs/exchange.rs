//! When stubs come and go: with a recording, the engine's own table of labels is exchanged, so
//! that code is born with stubs; after it, each stub that is met goes.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::emit;
use super::plant::{Planter, PlanterInUse, planter};
use crate::native::instructions::{InstructionKind, Op};
use crate::native::place::{EXIT_CLEANUP, StubWork};
use crate::native::predicates;
use crate::native::words::{CodeWord, WORD, store, word};
use crate::recording;

impl Planter {
    /// Code that the engine makes from now on has stubs where a predicate and where a body
    /// begins, and in all of a body, because those of `call/1` begin with anything. So have the
    /// supervisors that predicates share. `facts` tells whether facts have stubs at their ends.
    pub(super) fn exchange(&mut self, facts: bool) -> Option<()> {
        if self.exchanged {
            return Some(());
        }
        self.facts = facts;
        for op in self.instructions.ops() {
            if let Some((roles, work)) = self.born_with(op) {
                let stub = self.stub(op, roles, work)?;
                self.give(op, stub);
            }
        }
        // Stubs there went where they were met while nothing was being recorded.
        for (&first, plain) in &self.plain {
            // SAFETY: the cell of a supervisor that stays.
            unsafe { store(std::ptr::from_ref(&plain[1]) as usize, first) };
        }
        self.exchanged = true;
        Some(())
    }

    /// What an instruction is born with.
    fn born_with(&self, op: Op) -> Option<(u8, StubWork)> {
        let instruction = self.instructions.get(op);
        match instruction.kind {
            InstructionKind::Select => Some((0, StubWork::Select)),
            InstructionKind::Wrap => Some((0, StubWork::Wrapped)),
            InstructionKind::Enter => Some((0, StubWork::NewBody)),
            InstructionKind::ForeignOpen => Some((0, StubWork::Boundary)),
            InstructionKind::ExitFact if self.facts => Some((0, StubWork::NewBody)),
            InstructionKind::ExitCleanup => Some((EXIT_CLEANUP, StubWork::Look)),
            _ if instruction.begins_bodies() => Some((0, StubWork::NewCode)),
            _ => None,
        }
    }

    /// Puts what an instruction is born with into the engine's table, and into shared supervisors.
    fn give(&self, op: Op, cell: CodeWord) {
        // SAFETY: the engine's table of labels.
        unsafe {
            store(
                self.instructions.labels as usize + usize::from(op) * WORD,
                cell,
            )
        };
        for &shared in &self.shared {
            // SAFETY: the cell of a shared supervisor, which has this instruction.
            unsafe {
                if self.op_at(shared) == Some(op) {
                    store(shared, cell);
                }
            }
        }
    }

    /// Nothing is being recorded: code that the engine makes from now on has no stubs. Those that
    /// are there go when they are met ([`leave`]), or when another recording meets them: what
    /// they name means nothing to it.
    pub(super) fn withdraw(&mut self) {
        self.forget_goals();
        if !std::mem::take(&mut self.exchanged) {
            return;
        }
        for op in self.instructions.ops() {
            if self.born_with(op).is_some() && !self.always_has_stub(op) {
                self.give(op, self.instructions.get(op).label);
            }
        }
    }

    /// Whether the engine compares cells with what its table says of this instruction, and one
    /// has a stub for ever: see [`super::labels`].
    fn always_has_stub(&self, op: Op) -> bool {
        self.instructions.get(op).kind == InstructionKind::ExitCleanup
    }

    /// Puts the label back into a cell, if it has a stub and no breakpoint.
    ///
    /// # Safety
    /// A cell of code, with that instruction.
    unsafe fn take_out(&self, cell: usize, op: Op) {
        // SAFETY: the caller's promise.
        let stub = unsafe { word(cell, 0) };
        let label = self.instructions.get(op).label;
        if self.memory.contains(stub) && !self.always_has_stub(op) {
            // SAFETY: cells are aligned words.
            let cell = unsafe { AtomicUsize::from_ptr(cell as *mut usize) };
            let _ = cell.compare_exchange(stub, label, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// A predicate that was not recorded may be now: its supervisor is the shared one again.
    ///
    /// # Safety
    /// A definition.
    pub(super) unsafe fn recall(&self, definition: usize) {
        // SAFETY: every definition has a supervisor.
        let supervisor =
            unsafe { &*((definition + self.offsets.supervisor) as *const AtomicUsize) };
        let codes = supervisor.load(Ordering::Acquire);
        let is_plain = |plain: &&[CodeWord; 3]| std::ptr::from_ref(&plain[1]) as usize == codes;
        let Some((&first, _)) = self.plain.iter().find(|(_, plain)| is_plain(plain)) else {
            return;
        };
        let op = self.memory.op(&self.instructions, first);
        // SAFETY: cells of shared supervisors.
        let has_op = |&cell: &usize| unsafe { self.op_at(cell) } == op;
        if let Some(shared) = self.shared.iter().copied().find(has_op) {
            let _ = supervisor.compare_exchange(codes, shared, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// The predicate is not recorded: until it has another one, its supervisor only looks at
    /// whether the predicate is a goal of the program, or the recovery of `catch/3`.
    ///
    /// # Safety
    /// A definition, and the cell of its supervisor that has a stub for the instruction.
    pub(super) unsafe fn pass(&mut self, definition: usize, cell: usize, op: Op) {
        let label = self.instructions.get(op).label;
        let first = self.stub(op, 0, StubWork::Boundary).unwrap_or(label);
        if !self.shared.contains(&cell) {
            // SAFETY: the caller's promise.
            return unsafe { store(cell, first) };
        }
        let Some(exit) = self.instructions.named("I_EXIT") else {
            return;
        };
        let exit = self.instructions.get(exit).label;
        let plain = self
            .plain
            .entry(first)
            // As the engine makes shared ones: a length of 0, the instruction, and I_EXIT.
            .or_insert_with(|| Box::leak(Box::new([0, first, exit])));
        let plain = std::ptr::from_ref(&plain[1]) as usize;
        // SAFETY: the caller's promise. If the predicate has got another supervisor meanwhile, it
        // keeps that.
        let supervisor =
            unsafe { &*((definition + self.offsets.supervisor) as *const AtomicUsize) };
        let _ = supervisor.compare_exchange(cell, plain, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// A stub is met whose engine is not recorded. If nothing is being recorded, it goes.
#[cold]
pub(super) fn leave(cell: usize, op: Op) {
    // A recording that begins meanwhile waits for the planter before it plants anything.
    if !predicates::is_recording()
        && let Some(mut planter) = planter()
        && !predicates::is_recording()
    {
        planter.withdraw();
        // SAFETY: the cell that control is at.
        unsafe { planter.take_out(cell, op) };
    }
}

/// Nothing is being recorded any more.
pub(super) fn withdraw() {
    if let Some(mut planter) = planter()
        && !predicates::is_recording()
    {
        planter.withdraw();
    }
}

/// The planter while a fork happens: the child must find it in order, and its lock free.
struct PlanterOverFork(UnsafeCell<Option<PlanterInUse>>);

// SAFETY: only the thread that holds the planter's lock looks inside.
unsafe impl Sync for PlanterOverFork {}

static HELD: PlanterOverFork = PlanterOverFork(UnsafeCell::new(None));

extern "C" fn before_fork() {
    if let Some(planter) = planter() {
        // SAFETY: this thread holds the lock.
        unsafe { *HELD.0.get() = Some(planter) };
    }
}

extern "C" fn in_parent() {
    let block = emit::thread_block();
    // SAFETY: the thread's own block; it holds the lock if that says so, because it took it in
    // `before_fork` or had it before.
    unsafe {
        if (*block).plants {
            drop((*HELD.0.get()).take());
        }
    }
}

/// In the child nothing is recorded, and no stub is made; those that it meets go.
extern "C" fn in_child() {
    in_parent();
    recording::leave_to_parent();
}

/// The planter's lock is free in the child of a fork.
pub(super) fn watch_forks() {
    // SAFETY: the handlers take and free a lock.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
}
