//! The foreign predicates in the wrapper's body: one per port.
//!
//! ```text
//! Head :- enter(Id, Box),                              % the guard
//!         ( var(Box) -> Copy                           % a last call: TAIL, no box
//!         ; prolog_current_choice(Before), Copy, prolog_current_choice(After),
//!           ( Before == After, exit_det(Box) -> ! ; exit_nondet(Box) ) ).
//! ```
//!
//! None of them fails or succeeds differently for what it records, and none calls back into Prolog but for
//! the first event of an engine.

use crate::boxes::{BoxId, Exit, Pruned};
use crate::engine::{self, Engine};
use crate::ffi::{self, Control, FALSE, Foreign, TRUE, Term};
use crate::frames::wrapper_frame;
use crate::recording;

/// The guard. First call: `CALL`, and `open` is the box; or, with `open` left unbound and no choicepoint, the wrapped predicate is to run
/// without a box: it was reached by a last call (`TAIL`), nothing is being recorded, or recording is paused.
/// Backtracked into: every alternative of the predicate is used up, `FAIL`. Pruned: see [`crate::boxes::Pruned`].
pub(crate) extern "C" fn enter(id: Term, open: Term, handle: Control) -> Foreign {
    // SAFETY: `handle` is what the engine passed.
    match unsafe { ffi::PL_foreign_control(handle) } {
        ffi::FIRST_CALL => enter_first(id, open),
        ffi::REDO => {
            if let Some((engine, id)) = known(handle) {
                fail(engine, id);
            }
            FALSE
        }
        _ => {
            if let Some((engine, id)) = known(handle) {
                match engine.boxes.prune(id) {
                    Pruned::Silent => {}
                    Pruned::Exception => engine.exception(),
                    Pruned::Cut => engine.stream.cut(),
                }
            }
            TRUE
        }
    }
}

#[inline]
fn enter_first(id: Term, open: Term) -> Foreign {
    let mut context = ffi::Context::EMPTY;
    if !context.fill() {
        return TRUE;
    }
    // SAFETY: the state is used within this call only.
    let Some(engine) = (unsafe { engine::of_context(context.engine) }) else {
        return TRUE;
    };
    if engine.quiet {
        return TRUE;
    }
    let id = integer(id) as u32;
    if engine
        .frames
        .is_last_call(&mut context, recording::wrapper_generation())
        && engine.tails
        && engine.boxes.any_active()
    {
        engine.stream.tail(id);
        if let Some(tally) = &mut engine.symbolic {
            tally.departed(engine.boxes.active_index(), id);
        }
        return TRUE;
    }
    let around = engine.boxes.active_index();
    let opened = engine.boxes.enter(engine.frames.wrapper()).to_raw();
    engine.stream.call(id);
    if let Some(tally) = &mut engine.symbolic {
        tally.opened(engine.boxes.active_index(), around, id);
    }
    // SAFETY: terms and answers as the interface defines them.
    unsafe {
        ffi::PL_unify_int64(open, opened);
        ffi::_PL_retry(opened as isize)
    }
}

#[inline]
fn fail(engine: &mut Engine, id: BoxId) {
    if let Some(resumed) = engine.boxes.fail(id) {
        if let Some(tally) = &mut engine.symbolic {
            tally.failed(id.index() as usize);
        }
        for _ in 0..resumed {
            engine.stream.redo();
        }
        engine.stream.fail();
    }
}

/// `EXIT` without a choicepoint left. Fails if a continuation may have resumed the clause, so that the wrapper's
/// cut, which would then cut somebody else's choicepoints, is not reached. The box of an earlier recording is cut, unreported.
pub(crate) extern "C" fn exit_det(open: Term) -> Foreign {
    // SAFETY: the state is used within this call only.
    let Some(engine) = (unsafe { engine::existing() }) else {
        return TRUE;
    };
    if leave_suspended(engine, box_id(open)) {
        engine.boxes.exit_det();
        engine.stream.exit_det();
        TRUE
    } else {
        Foreign::from(!recording::continuations_in_use())
    }
}

/// `EXIT` with a choicepoint left; backtracked into: `REDO`; pruned: `CUT`.
pub(crate) extern "C" fn exit_nondet(open: Term, handle: Control) -> Foreign {
    // SAFETY: `handle` is what the engine passed.
    match unsafe { ffi::PL_foreign_control(handle) } {
        ffi::FIRST_CALL => {
            let id = box_id(open);
            // SAFETY: the state is used within this call only.
            if let Some(engine) = unsafe { engine::existing() }
                && leave_suspended(engine, id)
            {
                engine.boxes.exit_nondet();
                engine.stream.exit_nondet();
                // SAFETY: the answer that keeps a choicepoint.
                unsafe { ffi::_PL_retry(id.to_raw() as isize) }
            } else {
                TRUE
            }
        }
        ffi::REDO => {
            if let Some((engine, id)) = known(handle)
                && let Some(resumed) = engine.boxes.redo(id)
            {
                for _ in 0..=resumed {
                    engine.stream.redo();
                }
            }
            FALSE
        }
        _ => {
            if let Some((engine, id)) = known(handle)
                && engine.boxes.holds(id)
            {
                engine.stream.cut();
            }
            TRUE
        }
    }
}

/// Makes `id` the active box if it is open, reporting the boxes that `shift/1` left on the way as exited.
///
/// A wrapper's clause that a continuation resumed is not the box: its first frame was left by `shift/1`.
#[inline]
fn leave_suspended(engine: &mut Engine, id: BoxId) -> bool {
    if recording::continuations_in_use() && !engine.boxes.is_frame_of(id, wrapper_frame()) {
        return false;
    }
    match engine.boxes.classify_exit(id) {
        Exit::Active => true,
        Exit::Below(count) => {
            for _ in 0..count {
                engine.boxes.suspend();
                engine.stream.exit_nondet();
            }
            true
        }
        Exit::Stale => false,
    }
}

/// The engine and the box of a guard that is backtracked into or pruned.
#[inline]
fn known(handle: Control) -> Option<(&'static mut Engine, BoxId)> {
    // SAFETY: the state is used within this call only; `handle` is what the engine passed.
    unsafe {
        let engine = engine::existing()?;
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
