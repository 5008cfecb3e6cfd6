//! What the arguments of calls are, at the call and at each exit (`--values`).
//!
//! At the call they are in the frame of the predicate that is called. At an exit that may have been
//! used again, so the cells that were held then are looked at: see
//! [`held_values`](crate::native::held_values).

use std::array;

use portmortem_tracer::format::{ArgumentValue, ValueKind};

use super::handlers::Visit;
use crate::argument_values::{Fresh, KnownTerm};
use crate::arguments::{ArgumentWalk, MOST_REFERENCES};
use crate::engine::Engine;
use crate::ffi::{self, Term};
use crate::native::collected;
use crate::native::held_values::{HeldArguments, KeptValues, MOST, MOST_CALLS, SeenArguments};
use crate::native::identity::{Identity, identity, module_name};
use crate::native::offsets;
use crate::native::place::RecordedGoal;
use crate::native::references::{StackCells, with_references};
use crate::native::standing::Standing;
use crate::native::terms;
use crate::native::words::{WORD, word};
use crate::recording;
use crate::values::{atom_text, name_text};

/// The cell of a variable.
const VARIABLE: usize = 0;

impl Visit {
    /// The number of a predicate in the trace, if values of it are recorded.
    pub(super) fn with_values(&mut self, definition: usize, standing: Standing) -> Option<u32> {
        let kept = &mut self.engine.values;
        let id = match standing {
            Standing::Recorded(id) | Standing::WithArguments(id) | Standing::Boundary(id) => id,
            _ => return None,
        };
        let is_kept = kept.is_wanted
            && *kept
                .predicates
                .entry((definition, id))
                .or_insert_with(|| is_named(identity(definition), id));
        is_kept.then_some(id)
    }

    /// What is recorded of a goal's call besides its event: its arguments begin in this frame.
    pub(super) fn note_call(&mut self, goal: &RecordedGoal, frame: usize) {
        if goal.with_arguments {
            self.note_arguments(goal.callee, frame);
        }
        if let Some(id) = goal.with_values {
            self.note_values(goal.callee, goal.id.unwrap_or(id), frame);
        }
        if let Some(sharing) = goal.sync {
            self.note_sync(sharing, goal.callee, frame);
        }
    }

    /// The call that has just been recorded was made with the arguments that a frame begins with:
    /// the running one, or the next one, which is complete but for its head.
    /// `goal` is what the event of the call names.
    pub(super) fn note_values(&mut self, definition: usize, goal: u32, frame: usize) {
        let arity = identity(definition).arity;
        if self.engine.quiet || self.shadow.is_silent() || arity == 0 {
            return;
        }
        if !self.engine.values.looks_at(goal) {
            return;
        }
        let first = self.view.arguments(frame);
        let count = arity.min(MOST);
        if let Some(held) = self.held(first, count, goal)
            && !self.shadow.hold(held)
        {
            return;
        }
        let behind = first + arity * WORD;
        // SAFETY: nothing of the stack lies behind the arguments.
        let seen = unsafe { look(self.engine, goal, first, count, behind, None) };
        self.shadow.values_seen(seen);
    }

    fn held(&self, first: usize, count: usize, goal: u32) -> Option<HeldArguments> {
        // SAFETY: arguments of a frame.
        let cell = |at| unsafe { word(first, at * WORD) };
        Some(HeldArguments {
            cells: array::from_fn(|at| if at < count { cell(at) } else { 0 }),
            arity: count,
            goal,
            seen: SeenArguments::default(),
            collections: collected::count()?,
            stacks: self.view.stacks()?,
            top: self.view.global_top()?,
        })
    }
}

impl Engine {
    /// The active box is about to exit, of which these arguments were held.
    pub(super) fn note_values_at_exit(&mut self, held: &[Option<HeldArguments>; MOST_CALLS]) {
        let Some(offsets) = offsets::known() else {
            return;
        };
        let data = offsets::running_engine(offsets);
        // SAFETY: the engine's data.
        let [base, top, limit] = [offsets.base, offsets.top, offsets.limit]
            .map(|offset| unsafe { word(data, offset as usize) });
        if top + MOST * WORD > limit {
            return;
        }
        for (when, held) in (1..).zip(held) {
            let Some(held) = held else { continue };
            let is_good = Some(held.collections) == collected::count()
                && Some(held.stacks) == terms::stacks(data, base);
            if !is_good {
                continue;
            }
            // What was collected since the last event lies before the pause.
            self.note_pauses(true);
            // SAFETY: nothing of the stack lies behind its top, and there is room.
            unsafe {
                for (at, &cell) in held.cells[..held.arity].iter().enumerate() {
                    ((top + at * WORD) as *mut usize).write(cell);
                }
                let exit = Some((when, held));
                let behind = top + held.arity * WORD;
                look(self, held.goal, top, held.arity, behind, exit);
            }
        }
    }
}

/// Records what is known of terms whose cells lie on the local stack, one behind the other. Nothing
/// is known of any of them if there is no room. At an exit: of which call, and what was held of it.
///
/// # Safety
/// Nothing of the stack lies behind `behind`.
unsafe fn look(
    engine: &mut Engine,
    goal: u32,
    first: usize,
    count: usize,
    behind: usize,
    exit: Option<(u8, &HeldArguments)>,
) -> SeenArguments {
    let Some(offsets) = offsets::known() else {
        return SeenArguments::default();
    };
    let data = offsets::running_engine(offsets);
    // SAFETY: the engine's data.
    let base = unsafe { word(data, offsets.base as usize) };
    let mut values = [KnownTerm::UNKNOWN; MOST];
    let mut seen = exit.map_or_else(SeenArguments::default, |(_, held)| held.seen);
    let fresh = exit.map(|(_, held)| Fresh {
        data,
        base,
        top: held.top,
    });
    let cells = StackCells {
        first,
        count,
        behind,
    };
    let look = |first| {
        let values = &mut values[..count];
        measure(first, fresh, values, goal, &mut seen, &mut engine.values);
    };
    engine.stream.pause();
    // SAFETY: the caller's promise.
    let _ = unsafe { with_references(offsets, cells, MOST_REFERENCES, look) };
    engine.stream.resume();
    for (at, value) in values[..count].iter_mut().enumerate() {
        // SAFETY: as above.
        let is_in_frame = unsafe { word(first, at * WORD) } == VARIABLE;
        // What a variable in a frame is at an exit stood in that frame.
        if is_in_frame && exit.is_some() {
            *value = KnownTerm::UNKNOWN;
        }
    }
    let when = exit.map_or(0, |(when, _)| when);
    // At least one is said at each exit.
    let all_settled = (0..count).all(|at| seen.settled & (1 << at) != 0);
    for (at, value) in values[..count].iter().enumerate() {
        if seen.settled & (1 << at) != 0 && !(all_settled && at == 0) {
            continue;
        }
        let say = |kind: ValueKind, cells: usize, hash| {
            let size = if kind.has_size() { cells as u32 } else { 0 };
            engine.stream.value(ArgumentValue {
                when,
                argument: at as u8 + 1,
                kind,
                size,
                hash,
            });
        };
        say(value.kind, value.size, value.hash);
        if value.newer > 0 {
            say(ValueKind::Fresh, value.newer, 0);
        }
    }
    if exit.is_none() {
        for (at, value) in values[..count].iter().enumerate() {
            seen.settled |= u8::from(value.kind == ValueKind::Ground) << at;
        }
    }
    seen
}

/// Finds out what is known of terms. Reads them only; [`MOST_REFERENCES`] must be free.
/// At a call it is said, too, which ones are places of a result.
fn measure(
    first: Term,
    fresh: Option<Fresh>,
    values: &mut [KnownTerm],
    goal: u32,
    seen: &mut SeenArguments,
    kept: &mut KeptValues,
) {
    // SAFETY: a frame of our own, which is closed below; nothing is bound in it.
    let (frame, at, inner) = unsafe {
        (
            ffi::PL_open_foreign_frame(),
            ffi::PL_new_term_ref(),
            ffi::PL_new_term_ref(),
        )
    };
    if at != 0 && inner != 0 {
        let mut walk = ArgumentWalk::of_terms(fresh);
        for (at_argument, (term, value)) in (first..).zip(values).enumerate() {
            let bit = 1 << at_argument;
            if seen.settled & bit != 0 {
                continue;
            }
            if fresh.is_none() && is_place(term, inner) {
                seen.places |= bit;
            }
            // SAFETY: a term of one argument, and a reference of the open frame.
            let is_through =
                seen.places & bit != 0 && ffi::truth(unsafe { ffi::PL_get_arg(1, term, inner) });
            let term = if is_through { inner } else { term };
            *value = kept.look(goal, |most| {
                let value = walk.value(term, at, most);
                (value, value.size)
            });
        }
    }
    // SAFETY: opened above.
    unsafe { ffi::PL_close_foreign_frame(frame) };
}

/// Whether a term is a name around a variable, such as the `string(S)` of `format/3`: the result
/// will be there. The reference `inner` is used for it.
fn is_place(term: Term, inner: Term) -> bool {
    let (mut name, mut arity) = (0, 0);
    // SAFETY: references of the open frame.
    unsafe {
        ffi::truth(ffi::PL_get_compound_name_arity(
            term,
            &raw mut name,
            &raw mut arity,
        )) && arity == 1
            && !ffi::truth(ffi::PL_is_dict(term))
            && ffi::truth(ffi::PL_get_arg(1, term, inner))
            && ffi::truth(ffi::PL_is_variable(inner))
            && !ffi::truth(ffi::PL_is_attvar(inner))
    }
}

/// Whether `--values` names a predicate. If so, the trace says it.
fn is_named(predicate: Identity, id: u32) -> bool {
    let Some(module) = module_name(predicate.module) else {
        return false;
    };
    let (module, name) = (atom_text(module), name_text(predicate.name));
    let arity = u32::try_from(predicate.arity).unwrap_or(u32::MAX);
    let keeps = recording::with(|current| {
        let keeps = current.selection.keeps_values(&module, &name, arity);
        if keeps {
            current.recorder.keeps_values(id);
        }
        keeps
    });
    keeps == Some(true)
}
