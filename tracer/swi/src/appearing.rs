//! Which predicates assert has been seen to change, so that only new ones cost more than a look-up.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::ffi::{Atom, FALSE, Foreign, Functor, TRUE, Term};
use crate::heads::head_of;
use crate::recording;

static SEEN: Mutex<Option<SeenPredicates>> = Mutex::new(None);

/// The predicates seen during one recording.
struct SeenPredicates {
    epoch: u32,
    predicates: HashSet<(Atom, Functor)>,
}

/// `seen(+Module, +Clause)`: true if a clause of this predicate was asserted before in this
/// recording, or if nothing is being recorded.
pub(crate) fn seen(module: Term, clause: Term) -> Foreign {
    let Some(epoch) = recording::epoch() else {
        return TRUE;
    };
    let Some(key) = head_of(module, clause) else {
        return FALSE;
    };
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.as_ref().is_none_or(|seen| seen.epoch != epoch) {
        *seen = Some(SeenPredicates {
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
