//! What the cells of a clause are, told from its instructions.

use std::ops::Range;

use super::labels;
use super::plant::{Planter, is_bare};
use crate::native::instructions::InstructionKind;
use crate::native::place::{EXIT_CLEANUP, role};
use crate::native::plan::{GoalKind, Plan, PlanStep};
use crate::native::words::{CodeWord, WORD, word};

impl Planter {
    /// What the cells of a clause are. `goal` says which goals of it are recorded; none if the
    /// clause is not. `None` if there is an instruction whose length is not known, or a
    /// breakpoint.
    ///
    /// # Safety
    /// `codes` is the code of a clause, all of it.
    pub(super) unsafe fn plan(
        &self,
        codes: &Range<usize>,
        mut goal: impl FnMut(usize, InstructionKind) -> GoalKind,
    ) -> Option<Plan> {
        let count = codes.len() / WORD;
        let mut plan = Plan {
            roles: vec![0; count + 1],
            steps: Vec::new(),
            entry: None,
            is_wrapper: false,
        };
        // A stub stays where the clause is tried after another one. If its first instruction
        // enters the body, it had one from the beginning. SAFETY: within the code.
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
            let length = unsafe { self.instructions.length(op, cell as *const CodeWord) }?;
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
                InstructionKind::Alternative => Some(index + 2 + operand(1)),
                InstructionKind::Condition => Some(index + 3 + operand(2)),
                _ => None,
            };
            match kind {
                InstructionKind::Alternative | InstructionKind::Condition => {
                    plan.mark(alternative.unwrap_or(next), role::RESUME);
                }
                InstructionKind::Cut | InstructionKind::Commit => plan.mark(next, role::AFTER_CUT),
                // The goal returns to this cell, and the recovery to the next one.
                InstructionKind::ExitCatch => {
                    plan.mark(index, role::RETURN | role::CAUGHT);
                    plan.mark(next, role::RETURN | role::CAUGHT);
                }
                InstructionKind::ExitCleanup => plan.mark(index, EXIT_CLEANUP),
                _ => {}
            }
            plan.steps.push(PlanStep {
                index,
                op,
                kind,
                alternative,
                jump: (kind == InstructionKind::Jump).then(|| next + operand(1)),
                goal: found.recorded(),
            });
            index = next;
        }
        Some(plan)
    }
}
