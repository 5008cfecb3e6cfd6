//! The ports at goals of instrumented clauses.
//!
//! `portmortem_goals.pl` puts them around the goals that call recorded predicates:
//!
//! ```text
//! ( ( call, ( Goal, ( exit, ! ; exit_nondet ) ; fail ) ) *-> true ) % where a cut may come later
//! ( ( call, ( Goal, ( exit_light, ! ; true ; redo ) ; fail ) ) *-> true ) % elsewhere ( last ->
//! Goal ; as above ) % the last goal of a clause
//! ```
//!
//! `Goal` calls the copy of the predicate. There is no frame between the clause and it, and its
//! choicepoints are those of the two disjunctions. Whether a port succeeds depends on the
//! engine's own choicepoints alone, never on what is being recorded, so that the program does the
//! same whatever happens to the recording: `exit` and `exit_light` succeed if `Goal` has left no
//! choicepoint, and `last` if the call that follows is a real last call, or nothing is to be
//! recorded.
//!
//! A box that `call` opened has no guard. It lies within a box that has one, and that guard's
//! pruning tells of exceptions that leave both; cuts are told by the guards of `exit_nondet`
//! around it.

use crate::asking;
use crate::boxes::BoxId;
use crate::collections::Stop;
use crate::coming::{Announced, Coming};
use crate::ending;
use crate::engine::Engine;
use crate::engines;
use crate::ffi::{self, Control, FALSE, Foreign, TRUE, Term};
use crate::frames::{FrameId, calling_frame};
use crate::goal_table::{self, InstrumentedGoal};
use crate::layout::{self, CallingEngine};
use crate::panics::guarded;

/// What a port answers if it panics: `call`, `last` and what marks a call go on, all others try
/// what comes next.
macro_rules! port {
    ($name:ident, $port:path, $otherwise:expr) => {
        pub(crate) extern "C" fn $name(_: Term, _: i32, handle: Control) -> Foreign {
            guarded($otherwise, || $port(handle))
        }
    };
}

port!(call_port, call, TRUE);
port!(last_port, last, TRUE);
port!(call_wrapper_port, call_wrapper, TRUE);
port!(last_wrapper_port, last_wrapper, TRUE);
port!(mark_port, mark, TRUE);
port!(mark_last_port, mark_last, TRUE);
port!(forward_port, forward, TRUE);
port!(exit_port, exit, FALSE);
port!(exit_light_port, exit_light, FALSE);
port!(redo_port, redo, FALSE);
port!(fail_port, fail, FALSE);

/// [`exit_nondet`] is called again when it is backtracked into.
pub(crate) extern "C" fn exit_nondet_port(_: Term, _: i32, handle: Control) -> Foreign {
    // SAFETY: `handle` is what the engine passed.
    let redo = unsafe { ffi::PL_foreign_control(handle) } == ffi::REDO;
    guarded(Foreign::from(!redo), || exit_nondet(handle))
}

#[inline(always)]
pub(crate) fn caller_of(handle: Control) -> CallingEngine {
    // SAFETY: what the engine passed.
    unsafe { CallingEngine::of(handle) }
}

/// The state of the engine that calls, if it has one.
#[inline(always)]
pub(crate) fn engine_of(caller: CallingEngine) -> Option<&'static mut Engine> {
    // SAFETY: the engine that calls; the state is used within this call only.
    unsafe { engines::of_context_if_any(caller.data()) }
}

#[inline(always)]
fn goal_of(handle: Control) -> Option<&'static InstrumentedGoal> {
    // SAFETY: what the engine passed.
    goal_table::goal(unsafe { layout::port_of(handle) })
}

/// The engine and the goal of a port before a call, or what the port is to answer: an exception
/// goes on, and without either there is nothing to record.
#[inline(always)]
fn before_call(
    handle: Control,
    caller: CallingEngine,
) -> Result<(&'static mut Engine, &'static InstrumentedGoal), Foreign> {
    if caller.has_exception() {
        return Err(FALSE);
    }
    let Some(engine) = engine_of(caller) else {
        return Err(TRUE);
    };
    match goal_of(handle) {
        Some(goal) => Ok((engine, goal)),
        None => Err(TRUE),
    }
}

/// `CALL`.
#[inline]
fn call(handle: Control) -> Foreign {
    call_and(handle, |_, _| {})
}

/// `CALL` of a predicate that is called through its wrapper.
#[inline]
fn call_wrapper(handle: Control) -> Foreign {
    call_and(handle, |engine, goal| {
        announce(engine, goal, Announced::InBox);
    })
}

/// `CALL`; `opened` is what to do then, if there is a box.
#[inline(always)]
fn call_and(handle: Control, opened: fn(&mut Engine, &InstrumentedGoal)) -> Foreign {
    let (engine, goal) = match before_call(handle, caller_of(handle)) {
        Ok(found) => found,
        Err(answer) => return answer,
    };
    if !engine.boxes.any_active() {
        return TRUE;
    }
    if engine.quiet || goal.epoch != engine.epoch() {
        call_silently(engine, goal, opened);
        return TRUE;
    }
    if !goal
        .ready
        .is_some_and(|ready| engine.stream.put_if_soon(ready))
    {
        return call_late(goal, opened);
    }
    engine.boxes.enter_goal();
    opened(engine, goal);
    TRUE
}

#[cold]
fn call_silently(
    engine: &mut Engine,
    goal: &InstrumentedGoal,
    opened: fn(&mut Engine, &InstrumentedGoal),
) {
    engine.boxes.enter_silently();
    if goal.epoch == engine.epoch() {
        opened(engine, goal);
    }
}

#[cold]
fn call_late(goal: &InstrumentedGoal, opened: fn(&mut Engine, &InstrumentedGoal)) -> Foreign {
    if let Err(answer) = look() {
        return answer;
    }
    // SAFETY: the state is used within this call only; the reference that the caller had is not
    // used any more.
    if let Some(engine) = unsafe { engines::existing() }
        && engine.boxes.any_active()
    {
        if engine.quiet || goal.epoch != engine.epoch() {
            call_silently(engine, goal, opened);
        } else {
            engine.stream.call(goal.id);
            engine.boxes.enter_goal();
            opened(engine, goal);
        }
    }
    TRUE
}

/// What a port does first after a longer time, at a way in.
fn look() -> Result<(), Foreign> {
    // SAFETY: the reference is not used beyond the next statement.
    let engine = unsafe { engines::existing() }.filter(|engine| engine.stream.has_stopped());
    if let Some(epoch) = engine.map(|engine| engine.epoch()) {
        ending::stop_by_itself(epoch);
        return Err(TRUE);
    }
    asking::look_if_long().map_err(Stop::answer)
}

/// `TAIL`, if the call that follows is a real last call. If it is none it must have a box, and
/// this fails.
#[inline]
fn last(handle: Control) -> Foreign {
    last_and(handle, |_, _, _| {})
}

/// The same for a predicate that is called through its wrapper. A call that is not recorded here
/// may be there.
#[inline]
fn last_wrapper(handle: Control) -> Foreign {
    last_and(handle, |engine, goal, recorded| {
        let what = if recorded {
            Announced::Recorded
        } else {
            Announced::AtGoal {
                id: goal.id,
                frame: calling_frame(),
            }
        };
        announce(engine, goal, what);
    })
}

/// `TAIL`, as [`last`] says. `departed` is what to do then, and whether the call was recorded.
#[inline(always)]
fn last_and(handle: Control, departed: fn(&mut Engine, &InstrumentedGoal, bool)) -> Foreign {
    let caller = caller_of(handle);
    let (engine, goal) = match before_call(handle, caller) {
        Ok(found) => found,
        Err(answer) => return answer,
    };
    if goal.epoch != engine.epoch() {
        return TRUE;
    }
    let Some(active) = engine.boxes.recorded() else {
        departed(engine, goal, false);
        return TRUE;
    };
    // SAFETY: the newest choicepoint is that of the condition which this port is.
    let is_last = unsafe {
        let condition = caller.newest_choice();
        condition.older().address() < condition.frame()
    };
    if !is_last {
        return FALSE;
    }
    if engine.quiet {
        engine.boxes.stray();
        departed(engine, goal, true);
        return TRUE;
    }
    if !goal
        .ready
        .is_some_and(|ready| engine.stream.put_if_soon(ready))
    {
        return tail_late(goal, departed);
    }
    active.depart();
    departed(engine, goal, true);
    TRUE
}

#[cold]
fn tail_late(
    goal: &InstrumentedGoal,
    departed: fn(&mut Engine, &InstrumentedGoal, bool),
) -> Foreign {
    if let Err(answer) = look() {
        return answer;
    }
    // SAFETY: as in `call_late`.
    if let Some(engine) = unsafe { engines::existing() }
        && !engine.quiet
        && goal.epoch == engine.epoch()
        && engine.boxes.is_recorded()
    {
        engine.stream.tail(goal.id);
        engine.boxes.depart();
        departed(engine, goal, true);
    }
    TRUE
}

/// Before an inner goal whose wrapper records the call: its event is to carry the site.
#[inline]
fn mark(handle: Control) -> Foreign {
    announce_next(handle, |goal| Announced::AtGoal {
        id: goal.id,
        frame: FrameId::NONE,
    })
}

/// The same before the last goal of a clause: if its wrapper gets the frame of the clause, that
/// is a last call.
#[inline]
fn mark_last(handle: Control) -> Foreign {
    announce_next(handle, |goal| Announced::AtGoal {
        id: goal.id,
        frame: calling_frame(),
    })
}

/// Before a copy that is no longer the predicate calls the predicate.
fn forward(handle: Control) -> Foreign {
    announce_next(handle, |_| Announced::Recorded)
}

#[inline(always)]
fn announce_next(handle: Control, what: impl FnOnce(&InstrumentedGoal) -> Announced) -> Foreign {
    match before_call(handle, caller_of(handle)) {
        Ok((engine, goal)) => {
            if goal.epoch == engine.epoch() {
                announce(engine, goal, what(goal));
            } else {
                engine.coming = None;
            }
            TRUE
        }
        Err(answer) => answer,
    }
}

#[inline(always)]
fn announce(engine: &mut Engine, goal: &InstrumentedGoal, what: Announced) {
    engine.coming = Some(Coming {
        predicate: goal.predicate,
        position: engine.stream.position(),
        what,
    });
}

/// Whether the goal before the inner disjunction has left a choicepoint: if not, the one before
/// that of the inner disjunction is that of the outer one, which belongs to the same frame.
#[inline(always)]
fn is_det(caller: CallingEngine) -> bool {
    // SAFETY: the two disjunctions around this port have a choicepoint each.
    unsafe {
        let inner = caller.newest_choice();
        inner.older().frame() == inner.frame()
    }
}

/// `EXIT` without a choicepoint left. If there is one this fails, and [`exit_nondet`] comes next.
#[inline]
fn exit(handle: Control) -> Foreign {
    let caller = caller_of(handle);
    if caller.has_exception() || !is_det(caller) {
        return FALSE;
    }
    exit_det(caller)
}

#[inline(always)]
fn exit_det(caller: CallingEngine) -> Foreign {
    let Some(engine) = engine_of(caller) else {
        return TRUE;
    };
    let Some(active) = engine.boxes.active_goal() else {
        return TRUE;
    };
    if active.is_recorded && !engine.stream.exit_det_if_soon() {
        return exit_det_late();
    }
    engine.boxes.leave_active(active);
    TRUE
}

#[cold]
fn exit_det_late() -> Foreign {
    match asking::look_if_long() {
        Err(stop) => stop.answer(),
        Ok(()) => {
            // SAFETY: the state is used within this call only; the reference that the caller had
            // is not used any more.
            if let Some(engine) = unsafe { engines::existing() } {
                if engine.boxes.is_recorded_goal() {
                    engine.stream.exit_det();
                }
                engine.boxes.leave_goal();
            }
            TRUE
        }
    }
}

/// `EXIT` of either kind. Succeeds if no choicepoint is left.
#[inline]
fn exit_light(handle: Control) -> Foreign {
    let caller = caller_of(handle);
    if caller.has_exception() {
        return FALSE;
    }
    if is_det(caller) {
        return exit_det(caller);
    }
    if let Some(engine) = engine_of(caller) {
        if engine.boxes.is_recorded_goal() && !engine.stream.exit_nondet_if_soon() {
            return exit_light_late();
        }
        engine.boxes.exit_goal(true);
    }
    FALSE
}

#[cold]
fn exit_light_late() -> Foreign {
    if asking::look_if_long().is_ok() {
        exit_goal(true);
    }
    FALSE
}

#[cold]
fn exit_nondet_late() -> Foreign {
    match asking::look_if_long() {
        Err(stop) => stop.answer(),
        Ok(()) => guard_exit(exit_goal(false)),
    }
}

/// The answer that keeps a choicepoint, if there is a box.
#[inline(always)]
fn guard_exit(id: Option<BoxId>) -> Foreign {
    // SAFETY: the answer that keeps a choicepoint.
    id.map_or(TRUE, |id| unsafe { ffi::_PL_retry(id.to_raw() as isize) })
}

/// The active box exits and can be re-entered, by [`redo`] if it is `light`.
fn exit_goal(light: bool) -> Option<BoxId> {
    // SAFETY: the state is used within this call only; the caller has no reference.
    let engine = unsafe { engines::existing() }?;
    if engine.boxes.is_recorded_goal() {
        engine.stream.exit_nondet();
    }
    engine.boxes.exit_goal(light)
}

/// `REDO` of the newest box on the choice stack.
#[inline]
fn redo(handle: Control) -> Foreign {
    if let Some(engine) = engine_of(caller_of(handle))
        && engine.boxes.redo_light()
        && engine.boxes.is_recorded_goal()
        && !engine.stream.redo_if_soon()
    {
        event_late(Engine::redo_active);
    }
    FALSE
}

/// If the handler of a signal throws meanwhile, its exception leaves the box that was re-entered,
/// or after all alternatives are used up: the event happened before.
#[cold]
fn event_late(record: fn(&mut Engine)) {
    let looked = asking::look_if_long();
    // SAFETY: the state is used within this call only; the reference that the caller had is not
    // used any more.
    if let (Some(engine), Ok(()) | Err(Stop::Exception)) = (unsafe { engines::existing() }, looked)
    {
        record(engine);
    }
}

/// `EXIT` with a choicepoint left; backtracked into: `REDO`; pruned: `CUT`, of what is inside as
/// well.
#[inline]
fn exit_nondet(handle: Control) -> Foreign {
    // SAFETY: `handle` is what the engine passed.
    match unsafe { ffi::PL_foreign_control(handle) } {
        ffi::FIRST_CALL => {
            if caller_of(handle).has_exception() {
                return FALSE;
            }
            let Some(engine) = engine_of(caller_of(handle)) else {
                return TRUE;
            };
            if engine.boxes.is_recorded_goal() && !engine.stream.exit_nondet_if_soon() {
                return exit_nondet_late();
            }
            guard_exit(engine.boxes.exit_goal(false))
        }
        ffi::REDO => {
            if let Some(engine) = engine_of(caller_of(handle))
                && engine.boxes.redo_goal(context(handle))
                && engine.boxes.is_recorded_goal()
                && !engine.stream.redo_if_soon()
            {
                event_late(Engine::redo_active);
            }
            FALSE
        }
        _ => {
            if let Some(engine) = engine_of(caller_of(handle)) {
                engine.exit_pruned(context(handle));
            }
            TRUE
        }
    }
}

#[inline]
fn context(handle: Control) -> BoxId {
    // SAFETY: `handle` is what the engine passed, and so is the context it returns.
    BoxId::from_raw(unsafe { ffi::PL_foreign_context(handle) } as i64)
}

/// `FAIL`.
#[inline]
fn fail(handle: Control) -> Foreign {
    if let Some(engine) = engine_of(caller_of(handle)) {
        let Some(active) = engine.boxes.active_goal() else {
            return FALSE;
        };
        if active.is_recorded && !engine.stream.fail_if_soon() {
            event_late(Engine::fail_active);
            return FALSE;
        }
        engine.boxes.leave_active(active);
    }
    FALSE
}
