//! The foreign predicates of a symbolic recording: its instrumented copies call them.

use crate::engine::Engine;
use crate::engines;
use crate::ffi::{self, Foreign, TRUE, Term};
use crate::symbolic::{CostCounter, integer, program, unbound, unify as heads};

/// `set(+PredicateId, +Heads, -Set)`: makes the heads of a predicate's clauses known, in their
/// order.
pub(crate) fn set(predicate: Term, heads: Term, set: Term) -> Foreign {
    let number = program::add_set(integer(predicate) as u32, heads);
    unify(set, number as i64)
}

/// `goal(+Set, +Clause, +Costs, -Goal)`: makes known what running a goal of a clause costs: a
/// list of `Name-Count`.
pub(crate) fn goal(set: Term, clause: Term, costs: Term, goal: Term) -> Foreign {
    let (set, clause) = (integer(set) as usize, integer(clause) as u32);
    unify(goal, program::add_goal(set, clause, costs) as i64)
}

/// `called(+Set, +Goal, -Serial)`: a predicate is about to be run. `Serial` names the call, or is
/// 0 if it is not counted.
pub(crate) fn called(set: Term, goal: Term, serial: Term) -> Foreign {
    let mut given = 0;
    counting(|counter, active| {
        given =
            program::set(integer(set) as usize).map_or(0, |set| counter.call(active, set, goal));
    });
    unify(serial, given)
}

/// `neck(+Serial, +Clause, +Before, +Now)`: the head of a clause is unified. `Before` and `Now`
/// are the newest choicepoints, before the predicate was run and now.
pub(crate) fn neck(serial: Term, clause: Term, before: Term, now: Term) -> Foreign {
    let remain = integer(before) != integer(now);
    counting(|counter, active| {
        counter.enter(active, integer(serial), integer(clause) as u32, remain)
    });
    TRUE
}

/// `commit(+Serial)`: the clause has cut its alternatives.
pub(crate) fn commit(serial: Term) -> Foreign {
    counting(|counter, active| counter.commit(active, integer(serial)));
    TRUE
}

/// `run(+Goal)`: a goal of a clause's body is about to be run.
pub(crate) fn run(goal: Term) -> Foreign {
    counting(|counter, active| {
        if let Some(goal) = program::goal(integer(goal) as usize) {
            counter.run(active, &goal);
        }
    });
    TRUE
}

/// `build(+Left, +Goal)`: as `run`, if `Left` is an unbound variable, which a unification makes
/// the term on its right.
pub(crate) fn build(left: Term, goal: Term) -> Foreign {
    if unbound(left) { run(goal) } else { TRUE }
}

/// `arith(+Set, +Clause, +Expression)`: an expression is about to be evaluated.
pub(crate) fn arith(set: Term, clause: Term, expression: Term) -> Foreign {
    counting(|counter, active| {
        if let Some(set) = program::set(integer(set) as usize) {
            let operators = heads::operators(expression);
            counter.evaluate(active, &set, integer(clause) as u32, &operators);
        }
    });
    TRUE
}

/// `unbound(+Variables, -Mask)`: which of the arguments of a term are unbound.
pub(crate) fn unbound_now(variables: Term, mask: Term) -> Foreign {
    unify(mask, unbound_mask(variables))
}

/// `bound(+Set, +Clause, +Variables, +Mask)`: a built-in has succeeded; `Mask` is what was
/// unbound before.
pub(crate) fn bound(set: Term, clause: Term, variables: Term, mask: Term) -> Foreign {
    counting(|counter, active| {
        let updates = integer(mask) & !unbound_mask(variables);
        if let Some(set) = program::set(integer(set) as usize) {
            let updates = u64::from(updates.count_ones());
            counter.update(active, &set, integer(clause) as u32, updates);
        }
    });
    TRUE
}

fn unbound_mask(variables: Term) -> i64 {
    let mut mask = 0;
    // SAFETY: a term of our own argument list and a reference made here.
    unsafe {
        let argument = ffi::PL_new_term_ref();
        for at in 0..MAX_WATCHED {
            if !ffi::truth(ffi::PL_get_arg(at + 1, variables, argument)) {
                break;
            }
            if unbound(argument) {
                mask |= 1 << at;
            }
        }
    }
    mask
}

/// Does something with the counter of the calling engine and the index of its active box, if it
/// is counting.
fn counting(action: impl FnOnce(&mut CostCounter, usize)) {
    // SAFETY: the state is used within this call only.
    let engine = unsafe { engines::existing() };
    if let Some(Engine {
        symbolic: Some(counter),
        boxes,
        quiet: false,
        ..
    }) = engine
    {
        action(counter, boxes.active_index());
    }
}

fn unify(term: Term, value: i64) -> Foreign {
    // SAFETY: a term of our own argument list.
    Foreign::from(ffi::truth(unsafe { ffi::PL_unify_int64(term, value) }))
}

/// The most variables of a goal that are looked at: as many as the engine's small integers have
/// bits.
const MAX_WATCHED: usize = 56;
