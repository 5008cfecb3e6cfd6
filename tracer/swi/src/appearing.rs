//! Which predicates assert has been seen to change, so that only new ones cost more than a look-up.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::ffi::{self, Atom, FALSE, Foreign, Functor, TRUE, Term};
use crate::recording;

static SEEN: Mutex<Option<Seen>> = Mutex::new(None);

/// The predicates seen during one recording.
struct Seen {
    epoch: u32,
    predicates: HashSet<(Atom, Functor)>,
}

/// `seen(+Module, +Clause)`: true if a clause of this predicate was asserted before in this recording, or if nothing is being recorded.
pub(crate) fn seen(module: Term, clause: Term) -> Foreign {
    let Some(epoch) = recording::epoch() else {
        return TRUE;
    };
    let Some(key) = key(module, clause) else {
        return FALSE;
    };
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.as_ref().is_none_or(|seen| seen.epoch != epoch) {
        *seen = Some(Seen {
            epoch,
            predicates: HashSet::new(),
        });
    }
    let new = seen
        .as_mut()
        .is_some_and(|seen| seen.predicates.insert(key));
    Foreign::from(!new)
}

/// `forget_seen`: a predicate is abolished; what is asserted for it later is new.
pub(crate) fn forget() -> Foreign {
    *SEEN.lock().unwrap_or_else(PoisonError::into_inner) = None;
    TRUE
}

/// Module and functor of the clause's head; None for what has no plain head.
fn key(module: Term, clause: Term) -> Option<(Atom, Functor)> {
    let mut atom: Atom = 0;
    let mut functor: Functor = 0;
    // SAFETY: terms of our own argument list, a reference made here, and places for the answers.
    unsafe {
        let neck = ffi::PL_new_functor(ffi::PL_new_atom(c":-".as_ptr()), 2);
        if !ffi::truth(ffi::PL_get_atom(module, &raw mut atom))
            || !ffi::truth(ffi::PL_get_functor(clause, &raw mut functor))
        {
            return None;
        }
        if functor == neck {
            let head = ffi::PL_new_term_ref();
            if !ffi::truth(ffi::PL_get_arg(1, clause, head))
                || !ffi::truth(ffi::PL_get_functor(head, &raw mut functor))
            {
                return None;
            }
        }
        let qualified = ffi::PL_new_functor(ffi::PL_new_atom(c":".as_ptr()), 2);
        (functor != qualified).then_some((atom, functor))
    }
}
