//! Last calls with boxes of their own (`--no-tail`): a stub goes on at the label of another instruction, which has the same operands.
//!
//! A clause may have its last call twice: `L_NOLCO` goes on to a call that takes over the running frame, or jumps to one like any other.

use super::instructions::{Instructions, Op};
use super::plan::Plan;

const CALLS: [(&str, &str); 5] = [
    ("I_DEPART", "I_CALL"),
    ("I_DEPARTM", "I_CALLM"),
    ("I_DEPARTATM", "I_CALLATM"),
    ("I_DEPARTATMV", "I_CALLATMV"),
    ("L_NOLCO", "C_JMP"),
];

/// The instruction that is executed in place of a last call.
fn call(op: Op, instructions: &Instructions) -> Option<Op> {
    let name = instructions.get(op).name.as_str();
    let (_, call) = CALLS.iter().find(|(departs, _)| *departs == name)?;
    instructions.named(call)
}

/// The recorded last calls of a clause become calls.
pub(super) fn become_calls(plan: &mut Plan, instructions: &Instructions) {
    for step in &mut plan.steps {
        step.instead = call(step.op, instructions);
    }
}
