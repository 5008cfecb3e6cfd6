//! What the cells of some code are to a recording: told from its instructions, before stubs are
//! put there.

use super::instructions::{InstructionKind, Op};
use super::names::NamedGoal;
use super::place::RecordedGoal;
use super::words::WORD;

/// What a goal is to the clause that it stands in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GoalKind {
    /// Its calls get boxes.
    Recorded(RecordedGoal),
    /// It takes constant time, calls nothing and leaves nothing.
    Constant,
    /// Implemented in C, and may be entered again there, where no stub sees it. So what was
    /// called after it may have failed when it returns.
    Reentrant,
    /// Any other goal, or none.
    Unrecorded,
}

impl GoalKind {
    pub(crate) fn recorded(self) -> Option<RecordedGoal> {
        match self {
            Self::Recorded(goal) => Some(goal),
            Self::Constant | Self::Reentrant | Self::Unrecorded => None,
        }
    }
}

/// What the cells of some code are.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Of each cell, and the one behind.
    pub(crate) roles: Vec<u8>,
    pub(crate) steps: Vec<PlanStep>,
    /// The cell at which the clause is entered, and its id in the trace.
    pub(crate) entry: Option<(usize, u32)>,
    /// The clause is that of a wrapper.
    pub(crate) is_wrapper: bool,
}

/// What a step does whenever control is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Always {
    Succeeds,
    Fails,
}

/// An instruction.
#[derive(Debug)]
pub(crate) struct PlanStep {
    /// Where it begins, in cells.
    pub(crate) index: usize,
    pub(crate) op: Op,
    pub(crate) kind: InstructionKind,
    /// Where the alternative begins that it makes a choicepoint for, in cells.
    pub(crate) alternative: Option<usize>,
    /// Where control goes on, in cells, if not behind it.
    pub(crate) jump: Option<usize>,
    /// What it calls, if that is recorded.
    pub(crate) goal: Option<RecordedGoal>,
}

impl Plan {
    pub(crate) fn mark(&mut self, index: usize, role: u8) {
        if let Some(roles) = self.roles.get_mut(index) {
            *roles |= role;
        }
    }

    /// Goals get their names.
    pub(crate) fn name(&mut self, named: &[NamedGoal]) {
        for &(step, site, given) in named {
            if let Some(goal) = self.steps[step].goal.as_mut() {
                (goal.id, goal.given) = (Some(site), given);
            }
        }
    }

    /// The clause that is entered at a cell.
    pub(crate) fn entry_at(&self, index: usize) -> Option<u32> {
        let entry = self.entry.filter(|&(at, _)| at == index);
        entry.map(|(_, clause)| clause)
    }

    /// Whether the clause fails after a goal, and nothing in between can fail by itself. A branch
    /// that the goal stands in has no
    /// other after it but one that begins with a port, or fails: otherwise a test there might be
    /// what has failed in the end.
    /// `always` tells of a step whether it always succeeds or always fails, without a port.
    ///
    /// A goal that makes a `\+` fail may be a test that rejects; but what fails in any case is a
    /// loop, as `\+ ( G, \+ T )`, which asks `G` for all its solutions. The branches inside of the
    /// `\+` are gone then.
    pub(crate) fn then_fails(
        &self,
        goal: usize,
        always: impl Fn(&PlanStep) -> Option<Always>,
    ) -> bool {
        let Some(next) = self.first_to_fail(goal + 1, &always) else {
            return false;
        };
        let branch = if self.ends_negation(next) {
            let negation = (0..goal)
                .rev()
                .find(|&at| self.is_condition_around(at, goal));
            negation.filter(|&at| self.fails_instead(at, &always))
        } else {
            let fails = next.kind == InstructionKind::Fail || always(next) == Some(Always::Fails);
            fails.then_some(goal)
        };
        branch.is_some_and(|branch| {
            let mut alternatives = self.alternatives_around(branch);
            alternatives.all(|at| self.begins_with_port(at, &always))
        })
    }

    /// Whether a step is the end of a negated goal, where `\+` fails.
    fn ends_negation(&self, step: &PlanStep) -> bool {
        let at = self.step_at(step.index);
        let next = at.and_then(|at| self.steps.get(at + 1));
        step.kind == InstructionKind::Commit
            && next.is_some_and(|next| next.kind == InstructionKind::Fail)
    }

    /// Whether a step begins a condition that another one stands in.
    fn is_condition_around(&self, at: usize, inner: usize) -> bool {
        let alternative = self.steps[at].alternative;
        let end = alternative.and_then(|index| self.step_at(index));
        self.steps[at].kind == InstructionKind::Condition && end.is_some_and(|end| end > inner)
    }

    /// Whether the clause fails in any case if a condition does not hold.
    fn fails_instead(
        &self,
        condition: usize,
        always: impl Fn(&PlanStep) -> Option<Always>,
    ) -> bool {
        let alternative = self.steps[condition].alternative;
        let at = alternative.and_then(|index| self.step_at(index));
        let first = at.and_then(|at| self.first_to_fail(at, &always));
        first.is_some_and(|step| {
            step.kind == InstructionKind::Fail
                || always(step) == Some(Always::Fails)
                || self.ends_negation(step)
        })
    }

    /// The steps at which alternatives to the branches begin that a step stands in. A condition
    /// that held has none.
    fn alternatives_around(&self, step: usize) -> impl Iterator<Item = usize> + '_ {
        let mut held = 0_usize;
        let before = self.steps[..step].iter().rev().filter(move |other| {
            held += usize::from(other.kind == InstructionKind::Commit);
            let has_held = other.kind == InstructionKind::Condition && held > 0;
            held -= usize::from(has_held);
            !has_held
        });
        before
            .filter_map(|other| other.alternative)
            .filter_map(|index| self.step_at(index))
            .filter(move |&at| at > step)
    }

    /// Whether the first that may fail from a step on is a port, the end of the clause among
    /// them, or fails always.
    fn begins_with_port(&self, at: usize, always: impl Fn(&PlanStep) -> Option<Always>) -> bool {
        self.first_to_fail(at, &always).is_some_and(|step| {
            matches!(step.kind, InstructionKind::Fail | InstructionKind::Exit)
                || self.ends_negation(step)
                || step.goal.is_some()
                || always(step) == Some(Always::Fails)
        })
    }

    /// The first step that may fail when control is at a step.
    fn first_to_fail(
        &self,
        mut at: usize,
        always: impl Fn(&PlanStep) -> Option<Always>,
    ) -> Option<&PlanStep> {
        loop {
            let step = self.steps.get(at)?;
            at = match step.jump {
                Some(target) => self.step_at(target)?,
                None if always(step) == Some(Always::Succeeds) => at + 1,
                None => return Some(step),
            };
        }
    }

    /// The number of the step that begins at a cell. Jumps lead forward.
    fn step_at(&self, index: usize) -> Option<usize> {
        self.steps
            .binary_search_by_key(&index, |step| step.index)
            .ok()
    }

    /// The goal at a cell of the code that begins at `start`.
    pub(crate) fn goal_at(&self, start: usize, cell: usize) -> Option<RecordedGoal> {
        let index = (cell - start) / WORD;
        self.steps[self.step_at(index)?].goal
    }
}
