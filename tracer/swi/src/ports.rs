//! The foreign predicates in the wrapper's body: one per port.
//!
//! ```text
//! Head :- enter(Id, Box),                              % the guard
//!         ( var(Box) -> Copy                           % a last call: TAIL, no box
//!         ; Box == 0 -> Copy, true % a goal has opened the box and ends it; only in wrappers
//!         that call the predicate itself ; prolog_current_choice(Before), Copy,
//!         prolog_current_choice(After), ( Before == After, exit_det(Box) -> ! ; Before == After
//!         -> exit_resumed(Box, Before) % Prolog, see `resumed` ; exit_nondet(Box) ) ).
//! ```
//!
//! None of them fails or succeeds differently for what it records, and none calls back into
//! Prolog but for the first event of an engine, and after stretches that may contain a garbage
//! collection ([`crate::collections`]). If an exception is on its way when a port is entered, the
//! port records nothing and answers `FALSE`, so that the exception goes on.

use std::sync::atomic::{AtomicUsize, Ordering};

use portmortem_tracer::format::CompleteTable;

use crate::asking;
use crate::boxes::{BoxId, Exit};
use crate::collections::Stop;
use crate::coming::{Announced, Coming};
use crate::ending;
use crate::engine::Engine;
use crate::engines;
use crate::ffi::{self, Control, FALSE, Foreign, TRUE, Term, exception_is_pending};
use crate::frames::{FrameId, calling_frame};
use crate::layout::CallingEngine;
use crate::recording;

/// The guard. First call: `CALL`, and `open` is the box; or, with `open` left unbound and no
/// choicepoint, the wrapped predicate is to run without a box: it was reached by a last call
/// (`TAIL`), nothing is being recorded, or recording is paused. If the call was recorded at its
/// goal, `open` is [`IN_BOX`], and there is no choicepoint either. Backtracked into: every
/// alternative of the predicate is used up, `FAIL`. Pruned: see [`Engine::guard_pruned`].
pub(crate) fn enter(id: Term, open: Term, handle: Control) -> Foreign {
    guard::<false>(id, open, handle)
}

/// [`enter`] in the wrapper of a predicate that has no copy: it has a branch for [`IN_BOX`].
pub(crate) fn enter_original(id: Term, open: Term, handle: Control) -> Foreign {
    guard::<true>(id, open, handle)
}

/// In place of a box: a goal has opened it. No box has this id.
const IN_BOX: i64 = 0;

#[inline(always)]
fn guard<const ORIGINAL: bool>(id: Term, open: Term, handle: Control) -> Foreign {
    // SAFETY: `handle` is what the engine passed.
    match unsafe { ffi::PL_foreign_control(handle) } {
        ffi::FIRST_CALL => {
            if ORIGINAL && let Some(answer) = enter_recorded(id, open, handle) {
                return answer;
            }
            enter_first(id, open)
        }
        ffi::REDO => {
            if let Some((engine, id)) = known(handle) {
                fail(engine, id);
            }
            FALSE
        }
        _ => {
            if let Some((engine, id)) = known(handle) {
                engine.guard_pruned(id);
            }
            TRUE
        }
    }
}

/// What to answer if the goal has recorded the call. The engine is asked nothing for that.
#[inline(always)]
fn enter_recorded(id: Term, open: Term, handle: Control) -> Option<Foreign> {
    // SAFETY: what the engine passed; the state is used within this call only.
    let engine = unsafe {
        let caller = CallingEngine::if_known(handle).filter(|caller| !caller.has_exception())?;
        engines::of_context_if_any(caller.data())?
    };
    engine.coming?;
    let call = WrapperCall::of(integer(id) as u32, engine.coming, engine.stream.position());
    let place = call.recorded?;
    engine.coming = None;
    engine.entered = false;
    Some(match place {
        WrapperPlace::Box => in_box(open),
        WrapperPlace::Elsewhere => TRUE,
    })
}

#[inline]
fn enter_first(id: Term, open: Term) -> Foreign {
    if exception_is_pending() {
        return FALSE;
    }
    let mut context = ffi::FrameContext::EMPTY;
    if !context.fill() {
        return TRUE;
    }
    // SAFETY: the state is used within this call only.
    let Some(engine) = (unsafe { engines::of_context(context.engine) }) else {
        return TRUE;
    };
    let coming = engine.coming.take();
    engine.entered = false;
    let predicate = integer(id) as u32;
    let call = WrapperCall::of(predicate, coming, engine.stream.position());
    if call.recorded.is_some() {
        return TRUE;
    }
    if engine.quiet {
        return enter_silently(engine, &mut context, open);
    }
    let last = is_last_call(engine, &mut context, call.from);
    let recorded = if last {
        engine.stream.tail_if_soon(call.id)
    } else {
        engine.stream.call_if_soon(call.id)
    };
    if !recorded {
        return enter_late(predicate, &call, open);
    }
    entered(engine, predicate, open, last)
}

/// If the stack is full there is an exception, which leaves the box.
#[inline]
fn in_box(open: Term) -> Foreign {
    // SAFETY: a term of our own argument list.
    Foreign::from(ffi::truth(unsafe { ffi::PL_unify_int64(open, IN_BOX) }))
}

/// How a wrapper is called.
struct WrapperCall {
    /// What the event carries.
    id: u32,
    /// The frame of the clause that calls, where that is known.
    from: FrameId,
    /// Where it was recorded already, if it was.
    recorded: Option<WrapperPlace>,
}

/// Where a call was recorded before its wrapper.
#[derive(Clone, Copy)]
enum WrapperPlace {
    /// At a goal that opened a box for it.
    Box,
    Elsewhere,
}

impl WrapperCall {
    /// `position` is that of the stream now.
    #[inline(always)]
    fn of(predicate: u32, coming: Option<Coming>, position: usize) -> Self {
        let mut call = Self {
            id: predicate,
            from: FrameId::NONE,
            recorded: None,
        };
        let holds = |coming: &Coming| coming.predicate == predicate && coming.position == position;
        match coming.filter(holds).map(|coming| coming.what) {
            None => {}
            Some(Announced::AtGoal { id, frame }) => {
                call.id = id;
                call.from = frame;
            }
            Some(Announced::Recorded) => call.recorded = Some(WrapperPlace::Elsewhere),
            Some(Announced::InBox) => call.recorded = Some(WrapperPlace::Box),
        }
        call
    }
}

/// While recording is paused: a box without events, if clauses may follow that have ports at
/// their goals. An exception that leaves their boxes must meet a guard.
#[cold]
fn enter_silently(engine: &mut Engine, context: &mut ffi::FrameContext, open: Term) -> Foreign {
    if !recording::has_goals() {
        return TRUE;
    }
    if is_last_call(engine, context, FrameId::NONE) {
        engine.boxes.stray();
        return TRUE;
    }
    let id = engine.boxes.enter(engine.frames.wrapper(), true);
    open_guard(engine, id, open)
}

/// [`enter_first`] after a longer time. Whatever it has looked at may have changed when it is
/// known what was collected.
#[cold]
fn enter_late(predicate: u32, call: &WrapperCall, open: Term) -> Foreign {
    // SAFETY: the reference is not used beyond the next statement.
    let engine = unsafe { engines::existing() }.filter(|engine| engine.stream.has_stopped());
    if let Some(epoch) = engine.map(|engine| engine.epoch()) {
        ending::stop_by_itself(epoch);
        return TRUE;
    }
    if let Err(stop) = asking::look_if_long() {
        return stop.answer();
    }
    let mut context = ffi::FrameContext::EMPTY;
    if !context.fill() {
        return TRUE;
    }
    // SAFETY: the state is used within this call only.
    let Some(engine) = (unsafe { engines::of_context(context.engine) }) else {
        return TRUE;
    };
    if engine.quiet {
        return enter_silently(engine, &mut context, open);
    }
    let last = is_last_call(engine, &mut context, call.from);
    if last {
        engine.stream.tail(call.id);
    } else {
        engine.stream.call(call.id);
    }
    entered(engine, predicate, open, last)
}

/// Whether the wrapper took the place of the clause that called it; `from` is that clause's
/// frame, if it is known.
#[inline(always)]
fn is_last_call(engine: &mut Engine, context: &mut ffi::FrameContext, from: FrameId) -> bool {
    let frames = &mut engine.frames;
    let below_wrapper = frames.is_last_call(context, recording::wrapper_generation());
    (below_wrapper || from != FrameId::NONE && from == frames.wrapper())
        && engine.tails
        && engine.boxes.any_active()
}

/// What there is to do when the call is recorded.
#[inline(always)]
fn entered(engine: &mut Engine, predicate: u32, open: Term, last: bool) -> Foreign {
    engine.entered = true;
    if last {
        engine.boxes.depart();
        if let Some(tally) = &mut engine.symbolic {
            tally.departed(engine.boxes.active_index(), predicate);
        }
        return TRUE;
    }
    let around = engine.boxes.active_index();
    let id = engine.boxes.enter(engine.frames.wrapper(), false);
    if let Some(tally) = &mut engine.symbolic {
        tally.opened(engine.boxes.active_index(), around, predicate);
    }
    open_guard(engine, id, open)
}

/// Makes the choicepoint that is the guard of a new box.
#[inline(always)]
fn open_guard(engine: &mut Engine, id: BoxId, open: Term) -> Foreign {
    // SAFETY: a term of our own argument list.
    if !ffi::truth(unsafe { ffi::PL_unify_int64(open, id.to_raw()) }) {
        // The stack is full: an exception leaves the box.
        engine.guard_pruned(id);
        return FALSE;
    }
    // SAFETY: the answer that keeps a choicepoint.
    unsafe { ffi::_PL_retry(id.to_raw() as isize) }
}

#[inline]
fn fail(engine: &mut Engine, id: BoxId) {
    let silent = engine.boxes.is_silent(id);
    if let Some(resumed) = engine.boxes.fail(id) {
        if silent {
            return;
        }
        if let Some(tally) = &mut engine.symbolic {
            tally.failed(id.index() as usize);
        }
        if resumed > 0 || !engine.stream.fail_if_soon() {
            fail_late(resumed);
        }
    }
}

/// If the handler of a signal throws meanwhile, its exception leaves the box when all
/// alternatives are used up.
#[cold]
fn fail_late(resumed: usize) {
    let looked = asking::look_if_long();
    // SAFETY: the state is used within this call only; the reference that the caller had is not
    // used any more.
    let (Some(engine), Ok(()) | Err(Stop::Exception)) = (unsafe { engines::existing() }, &looked)
    else {
        return;
    };
    for _ in 0..resumed {
        engine.stream.redo();
    }
    if looked.is_err() {
        engine.exception();
    } else {
        engine.stream.fail();
    }
}

/// A table begins to be filled, in the active box: `CALL` and `EXIT`, with nothing inside.
pub(crate) fn fills(id: Term) -> Foreign {
    if exception_is_pending() {
        return FALSE;
    }
    if let Err(stop) = asking::look_if_long() {
        return stop.answer();
    }
    // SAFETY: the state is used within this call only.
    if let Some(engine) = unsafe { engines::existing() }
        && engine.boxes.any_active()
        && !engine.quiet
    {
        engine.stream.call(integer(id) as u32);
        engine.stream.exit_det();
    }
    TRUE
}

/// A table of a predicate is about to be complete, with so many answers and nodes of its trie.
pub(crate) fn table(id: Term, answers: Term, nodes: Term) -> Foreign {
    // SAFETY: the state is used within this call only.
    if let Some(engine) = unsafe { engines::existing() }
        && engine.boxes.any_active()
        && !engine.quiet
        && let [Ok(predicate), Ok(answers), Ok(nodes)] =
            [id, answers, nodes].map(|number| u32::try_from(integer(number)))
    {
        engine.stream.table(CompleteTable {
            predicate,
            answers,
            nodes,
        });
    }
    TRUE
}

/// `EXIT` without a choicepoint left. Fails if a continuation may have resumed the clause, so
/// that the wrapper's cut, which would then cut choicepoints of others, is not reached. The
/// box of an earlier recording is cut, unreported.
pub(crate) fn exit_det(open: Term) -> Foreign {
    if exception_is_pending() {
        return FALSE;
    }
    // SAFETY: the state is used within this call only.
    let Some(engine) = (unsafe { engines::existing() }) else {
        return TRUE;
    };
    if !leave_suspended(engine, box_id(open)) {
        return Foreign::from(!recording::continuations_in_use());
    }
    if engine.boxes.is_recorded() && !engine.stream.exit_det_if_soon() {
        return exit_det_late(open);
    }
    engine.boxes.exit_det();
    TRUE
}

#[cold]
fn exit_det_late(open: Term) -> Foreign {
    match left_late(open) {
        Ok(engine) => {
            if engine.boxes.is_recorded() {
                engine.stream.exit_det();
            }
            engine.boxes.exit_det();
            TRUE
        }
        Err(stop) => stop.answer(),
    }
}

/// The state in which the box is the active one, when it is known what was collected.
fn left_late(open: Term) -> Result<&'static mut Engine, Stop> {
    asking::look_if_long()?;
    // SAFETY: the state is used within the caller's call only; the reference that it had is not
    // used any more.
    unsafe { engines::existing() }
        .filter(|engine| engine.boxes.is_active(box_id(open)))
        .ok_or(Stop::Ended)
}

/// `EXIT` with a choicepoint left; backtracked into: `REDO`; pruned: `CUT`.
pub(crate) fn exit_nondet(open: Term, handle: Control) -> Foreign {
    // SAFETY: `handle` is what the engine passed.
    match unsafe { ffi::PL_foreign_control(handle) } {
        ffi::FIRST_CALL => {
            if exception_is_pending() {
                return FALSE;
            }
            // SAFETY: the state is used within this call only.
            let Some(engine) = (unsafe { engines::existing() }) else {
                return TRUE;
            };
            let id = box_id(open);
            if !leave_suspended(engine, id) {
                return TRUE;
            }
            if engine.boxes.is_recorded() && !engine.stream.exit_nondet_if_soon() {
                return exit_nondet_late(open);
            }
            engine.boxes.exit_nondet();
            // SAFETY: the answer that keeps a choicepoint.
            unsafe { ffi::_PL_retry(id.to_raw() as isize) }
        }
        ffi::REDO => {
            if let Some((engine, id)) = known(handle) {
                redo(engine, id);
            }
            FALSE
        }
        _ => {
            if let Some((engine, id)) = known(handle) {
                engine.exit_pruned(id);
            }
            TRUE
        }
    }
}

#[cold]
fn exit_nondet_late(open: Term) -> Foreign {
    match left_late(open) {
        Ok(engine) => {
            if engine.boxes.is_recorded() {
                engine.stream.exit_nondet();
            }
            engine.boxes.exit_nondet();
            // SAFETY: the answer that keeps a choicepoint.
            unsafe { ffi::_PL_retry(box_id(open).to_raw() as isize) }
        }
        Err(stop) => stop.answer(),
    }
}

#[inline]
fn redo(engine: &mut Engine, id: BoxId) {
    if let Some(resumed) = engine.boxes.redo(id)
        && !engine.boxes.is_silent(id)
        && (resumed > 0 || !engine.stream.redo_if_soon())
    {
        redo_late(resumed);
    }
}

/// If the handler of a signal throws meanwhile, its exception leaves the box that has just been
/// re-entered.
#[cold]
fn redo_late(resumed: usize) {
    let looked = asking::look_if_long();
    // SAFETY: the state is used within this call only; the reference that the caller had is not
    // used any more.
    let (Some(engine), Ok(()) | Err(Stop::Exception)) = (unsafe { engines::existing() }, looked)
    else {
        return;
    };
    for _ in 0..=resumed {
        engine.stream.redo();
    }
}

/// Makes `id` the active box if it is open, reporting the boxes that `shift/1` left on the way as
/// exited.
///
/// A wrapper's clause that a continuation resumed is not the box: its first frame was left by
/// `shift/1`.
#[inline]
fn leave_suspended(engine: &mut Engine, id: BoxId) -> bool {
    if recording::continuations_in_use() && !engine.boxes.is_frame_of(id, calling_frame()) {
        return false;
    }
    match engine.boxes.classify_exit(id) {
        Exit::Active => true,
        Exit::Below(_) => {
            leave_boxes_inside(engine, id);
            true
        }
        Exit::Stale => false,
    }
}

/// Reports the boxes between the active one and `id` as left by `shift/1`, if `id` is open.
fn leave_boxes_inside(engine: &mut Engine, id: BoxId) {
    if let Exit::Below(count) = engine.boxes.classify_exit(id) {
        for _ in 0..count {
            let recorded = engine.boxes.is_recorded();
            engine.boxes.suspend();
            if recorded {
                engine.stream.exit_nondet();
            }
        }
    }
}

/// `before_reset(-Active)`: the active box, for [`after_reset`].
pub(crate) fn before_reset(active: Term) -> Foreign {
    // SAFETY: the state is used within this call only.
    let id = unsafe { engines::existing() }.map_or(0, |engine| engine.boxes.active_id().to_raw());
    // SAFETY: a term of our own argument list.
    Foreign::from(ffi::truth(unsafe { ffi::PL_unify_int64(active, id) }))
}

/// `after_reset(+Active)`: `shift/1` has left the boxes inside of `Active`. They count as exited;
/// their guards are about to be cut.
pub(crate) fn after_reset(active: Term) -> Foreign {
    // SAFETY: the state is used within this call only.
    if let Some(engine) = unsafe { engines::existing() } {
        leave_boxes_inside(engine, box_id(active));
    }
    TRUE
}

/// `resumed(+Box)`: a continuation has resumed the wrapper's clause and ends it. Succeeds if the
/// guard is still there. It is about to be cut; the box, left by `shift/1`, counts as exited.
pub(crate) fn resumed(open: Term) -> Foreign {
    // SAFETY: the state is used within this call only.
    let Some(engine) = (unsafe { engines::existing() }) else {
        return FALSE;
    };
    let Some(parent) = engine.boxes.parent(box_id(open)) else {
        return FALSE;
    };
    leave_boxes_inside(engine, parent);
    TRUE
}

/// `cyclic(+Argument)`: a module qualification that is cyclic, which would crash the engine. What
/// is qualified may be cyclic.
pub(crate) fn is_cyclic(argument: Term) -> Foreign {
    // SAFETY: references made here.
    let inner = unsafe { ffi::PL_copy_term_ref(argument) };
    // SAFETY: the reference made here, and its own.
    let qualified =
        |_| is_qualified(inner) && ffi::truth(unsafe { ffi::PL_get_arg(2, inner, inner) });
    // SAFETY: the reference made here.
    Foreign::from((0..DEEPEST).all(qualified) && !ffi::truth(unsafe { ffi::PL_is_acyclic(inner) }))
}

/// So many qualifications the engine takes off before it looks whether they are cyclic.
const DEEPEST: usize = 100;

fn is_qualified(term: Term) -> bool {
    static QUALIFIED: AtomicUsize = AtomicUsize::new(0);
    let mut functor: ffi::Functor = 0;
    // SAFETY: a valid term; functors stay valid.
    unsafe {
        if QUALIFIED.load(Ordering::Relaxed) == 0 {
            let name = ffi::PL_new_atom(c":".as_ptr());
            QUALIFIED.store(ffi::PL_new_functor(name, 2), Ordering::Relaxed);
        }
        ffi::truth(ffi::PL_get_functor(term, &raw mut functor))
            && functor == QUALIFIED.load(Ordering::Relaxed)
    }
}

/// The engine and the box of a guard that is backtracked into or pruned.
#[inline]
fn known(handle: Control) -> Option<(&'static mut Engine, BoxId)> {
    // SAFETY: the state is used within this call only; `handle` is what the engine passed.
    unsafe {
        let engine = engines::existing()?;
        Some((
            engine,
            BoxId::from_raw(ffi::PL_foreign_context(handle) as i64),
        ))
    }
}

#[inline]
fn box_id(open: Term) -> BoxId {
    BoxId::from_raw(integer(open))
}

#[inline]
fn integer(term: Term) -> i64 {
    let mut value = 0;
    // SAFETY: a term of our own argument list and a place for its value.
    unsafe { ffi::PL_get_int64(term, &raw mut value) };
    value
}
