//! The predicate that a clause belongs to.

use std::sync::OnceLock;

use crate::ffi::{self, Atom, Functor, Term};

/// More modules than a head is qualified with.
const DEEPEST: u32 = 16;

/// Functors of clauses.
struct Necks {
    clause: Functor,
    rule: Functor,
    committing_rule: Functor,
    guarded: Functor,
    qualified: Functor,
}

fn necks() -> &'static Necks {
    static NECKS: OnceLock<Necks> = OnceLock::new();
    // SAFETY: terminated texts.
    let binary =
        |name: &std::ffi::CStr| unsafe { ffi::PL_new_functor(ffi::PL_new_atom(name.as_ptr()), 2) };
    NECKS.get_or_init(|| Necks {
        clause: binary(c":-"),
        rule: binary(c"=>"),
        committing_rule: binary(c"?=>"),
        guarded: binary(c","),
        qualified: binary(c":"),
    })
}

/// Module and functor of the clause's head, or of a head alone, in this module; None for what is
/// no clause.
pub(crate) fn head_of(module: Term, clause: Term) -> Option<(Atom, Functor)> {
    let necks = necks();
    let mut atom: Atom = 0;
    // SAFETY: a term of the caller's, and a place for the answer.
    if !ffi::truth(unsafe { ffi::PL_get_atom(module, &raw mut atom) }) {
        return None;
    }
    let mut functor = functor_of(clause)?;
    // SAFETY: a copy of the caller's reference.
    let term = unsafe { ffi::PL_copy_term_ref(clause) };
    // A head may be qualified, and so may be the clause: `M:((H, Guard) => B)`, `(M:H :- B)`. The
    // term may be cyclic.
    for _ in 0..DEEPEST {
        if functor == necks.qualified {
            // SAFETY: references and places of our own.
            unsafe {
                let qualifier = ffi::PL_new_term_ref();
                if !ffi::truth(ffi::PL_get_arg(1, term, qualifier))
                    || !ffi::truth(ffi::PL_get_atom(qualifier, &raw mut atom))
                    || !ffi::truth(ffi::PL_get_arg(2, term, term))
                {
                    return None;
                }
            }
        } else if [
            necks.clause,
            necks.rule,
            necks.committing_rule,
            necks.guarded,
        ]
        .contains(&functor)
        {
            // SAFETY: a reference of our own.
            if !ffi::truth(unsafe { ffi::PL_get_arg(1, term, term) }) {
                return None;
            }
        } else {
            return Some((atom, functor));
        }
        functor = functor_of(term)?;
    }
    None
}

fn functor_of(term: Term) -> Option<Functor> {
    let mut functor: Functor = 0;
    // SAFETY: a place for the answer.
    ffi::truth(unsafe { ffi::PL_get_functor(term, &raw mut functor) }).then_some(functor)
}
