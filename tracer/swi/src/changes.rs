//! Which predicates have changed since they were looked at last: those are looked at before the
//! program can call them, and no others.
//!
//! Every clause that is loaded is reported here, so that what a directive costs does not depend
//! on the size of the program.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ffi::{self, Atom, FALSE, Foreign, Functor, TRUE, Term};
use crate::heads::head_of;
use crate::recording;

static CHANGES: Mutex<Option<Changes>> = Mutex::new(None);

/// How many predicates have been looked at in this process, each as often as it was.
static LOOKED_AT: AtomicU64 = AtomicU64::new(0);

/// What has changed in one recording.
#[derive(Default)]
struct Changes {
    epoch: u32,
    /// Whether any predicate may have.
    all: bool,
    queue: VecDeque<(Atom, Functor)>,
    /// The same predicates.
    queued: HashSet<(Atom, Functor)>,
}

/// `changed(+Module, +Clause)`: a clause of this predicate is about to be stored, or the
/// predicate changes in another way; then `Clause` is its head.
pub(crate) fn changed(module: Term, clause: Term) -> Foreign {
    if let Some(predicate) = head_of(module, clause)
        && let Some(changes) = &mut *changes()
        && changes.queued.insert(predicate)
    {
        // SAFETY: an atom that the engine has given us. It must live as long as the queue.
        unsafe { ffi::PL_register_atom(predicate.0) };
        changes.queue.push_back(predicate);
    }
    TRUE
}

/// `all_changed`: any predicate may have changed.
pub(crate) fn all_changed() -> Foreign {
    if let Some(changes) = &mut *changes() {
        changes.all = true;
    }
    TRUE
}

/// `has_changes`: there is something to look at.
pub(crate) fn has_changes() -> Foreign {
    let changes = changes();
    Foreign::from(
        changes
            .as_ref()
            .is_some_and(|changes| changes.all || !changes.queue.is_empty()),
    )
}

/// `take_all_changed`: true once after `all_changed`. All predicates are about to be looked at,
/// so none is in the queue any more.
pub(crate) fn take_all_changed() -> Foreign {
    let Some(changes) = &mut *changes() else {
        return FALSE;
    };
    if changes.all {
        changes.all = false;
        for (module, _) in changes.queue.drain(..) {
            // SAFETY: registered when it was put there.
            unsafe { ffi::PL_unregister_atom(module) };
        }
        changes.queued.clear();
        return TRUE;
    }
    FALSE
}

/// `next_changed(-Module, -Head)`: takes the first predicate from the queue. Fails if there is
/// none.
pub(crate) fn next_changed(module: Term, head: Term) -> Foreign {
    let Some(predicate) = take_first() else {
        return FALSE;
    };
    // SAFETY: terms of our own argument list; the atom is registered, and a functor is for ever.
    unsafe {
        let unified = ffi::truth(ffi::PL_unify_atom(module, predicate.0))
            && ffi::truth(ffi::PL_unify_functor(head, predicate.1));
        ffi::PL_unregister_atom(predicate.0);
        Foreign::from(unified)
    }
}

fn take_first() -> Option<(Atom, Functor)> {
    let changes = &mut *changes();
    let changes = changes.as_mut()?;
    let predicate = changes.queue.pop_front()?;
    changes.queued.remove(&predicate);
    Some(predicate)
}

/// `look_at`: a predicate is looked at.
pub(crate) fn look_at() -> Foreign {
    LOOKED_AT.fetch_add(1, Ordering::Relaxed);
    TRUE
}

/// `looked_at(-N)`: how many predicates have been looked at.
pub(crate) fn looked_at(count: Term) -> Foreign {
    let looked_at = LOOKED_AT.load(Ordering::Relaxed);
    // SAFETY: a term of our own argument list.
    Foreign::from(ffi::truth(unsafe {
        ffi::PL_unify_int64(count, looked_at as i64)
    }))
}

/// Those of this recording; None where nothing is recorded.
fn changes() -> MutexGuard<'static, Option<Changes>> {
    let mut changes = CHANGES.lock().unwrap_or_else(PoisonError::into_inner);
    match recording::epoch() {
        None => *changes = None,
        Some(epoch) => {
            if changes
                .as_ref()
                .is_none_or(|changes| changes.epoch != epoch)
            {
                *changes = Some(Changes {
                    epoch,
                    ..Changes::default()
                });
            }
        }
    }
    changes
}
