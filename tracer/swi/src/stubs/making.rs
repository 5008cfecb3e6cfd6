//! Bodies that `call/1` makes get the stubs that the same body got before.

use super::handlers::Visit;
use super::plant::{self, Planter};
use super::view::ClauseCode;
use crate::native::identity::{Identity, identity};
use crate::native::instructions::InstructionKind;
use crate::native::made::Body;
use crate::native::place::RecordedGoal;
use crate::native::plan::Plan;
use crate::native::predicates;
use crate::native::words::{CodeWord, WORD, store, word};

impl Visit {
    /// Gives a body that `call/1` has made its stubs. `goals` tells whether its goals get boxes.
    /// The goal at a cell of it, if one is called there.
    pub(super) fn plant_made(
        &mut self,
        code: &ClauseCode,
        goals: bool,
        cell: usize,
    ) -> Option<RecordedGoal> {
        if !goals || !code.moves {
            return self.plant(code, goals)?.goal_at(code.start, cell);
        }
        let mut made = std::mem::take(self.engine.standings.made());
        let has_outline = plant::planter()
            .and_then(|planter| self.outline(&planter, code, &mut made.outline))
            .is_some();
        let goal = match made.bodies.get(&*made.outline).filter(|_| has_outline) {
            Some(body) => {
                for &(index, cell) in &body.cells {
                    // SAFETY: a cell of the code, with an instruction that was found to be the
                    // one which this stub is of.
                    unsafe { store(code.start + index * WORD, cell) };
                }
                body.first.filter(|_| cell == code.start)
            }
            None => self.plant(code, goals).and_then(|plan| {
                if has_outline {
                    made.keep(planted(code, &plan));
                }
                plan.goal_at(code.start, cell)
            }),
        };
        *self.engine.standings.made() = made;
        goal
    }

    /// All that the stubs of a body depend on. `None` if an instruction is not known.
    fn outline(
        &self,
        planter: &Planter,
        code: &ClauseCode,
        outline: &mut Vec<usize>,
    ) -> Option<()> {
        outline.clear();
        let instructions = &planter.instructions;
        let mut cell = code.start;
        while cell < code.end {
            // SAFETY: within the code.
            let op = unsafe { planter.op_at(cell) }?;
            // SAFETY: as above.
            let length = unsafe { instructions.length(op, cell as *const CodeWord) }?;
            let kind = instructions.get(op).kind;
            outline.push(usize::from(op) | length << 16);
            // SAFETY: operands follow the label.
            let operand = |number: usize| unsafe { word(cell, number * WORD) };
            match kind {
                InstructionKind::Alternative
                | InstructionKind::Jump
                | InstructionKind::CallClosure => outline.push(operand(1)),
                InstructionKind::Condition => outline.push(operand(2)),
                _ => {}
            }
            if let Some(callee) = self.view.callee(kind, cell) {
                let Identity {
                    name,
                    arity,
                    module,
                } = identity(callee);
                // SAFETY: a definition of the engine's, which has a supervisor.
                let (is_there, begins) = unsafe {
                    let supervisor = self.view.supervisor(callee);
                    (predicates::is_there(callee), word(supervisor, 0))
                };
                outline.extend([callee, name, arity, module, is_there.into(), begins]);
            }
            cell += length * WORD;
        }
        let given = self.shadow.given();
        outline.extend(given.map(|given| given.address().unwrap_or(0)));
        Some(())
    }
}

/// A body that has got the stubs of a plan.
fn planted(code: &ClauseCode, plan: &Plan) -> Body {
    // SAFETY: cells of the code.
    let content = |index| unsafe { word(code.start, index * WORD) };
    let indices = plan.steps.iter().map(|step| step.index);
    Body {
        cells: indices.map(|index| (index, content(index))).collect(),
        first: plan.goal_at(code.start, code.start),
    }
}
