//! What the loader says of clauses that it is about to store: where their goals are.

use std::path::Path;

use super::adopting::adopt;
use crate::ffi::{self, Foreign, TRUE, Term};
use crate::native::identity::Identity;
use crate::native::{predicates, sites};
use crate::recording;
use crate::values::{atom, int64, integer, kept_atom, text};

/// `stub_note(+Module, +Name, +Arity, +File, +Line, +Goals)`: a clause of a file is about to be
/// stored. `Goals` has six elements for each goal: name, arity, the characters of the file before
/// it, its number, the number of the goal in whose argument it stands, and which argument that
/// is.
pub(crate) fn note(
    module: Term,
    name: Term,
    arity: Term,
    file: Term,
    line: Term,
    goals: Term,
) -> Foreign {
    let Some((of, called)) = atom(module).zip(atom(name)) else {
        return TRUE;
    };
    if recording::is_left_to_parent() {
        return TRUE;
    }
    let predicate = Identity {
        name: called,
        arity: integer(arity) as usize,
        // SAFETY: the module that the clause is loaded into.
        module: unsafe { ffi::PL_new_module(of) } as usize,
    };
    let file = text(file);
    if !is_of_engine(&file) && predicates::take_in(predicate) {
        adopt(module, name, arity);
    }
    sites::note(predicate, &file, integer(line), noted_goals(goals));
    TRUE
}

fn is_of_engine(file: &str) -> bool {
    recording::with(|current| Path::new(file).starts_with(&current.home)).unwrap_or(true)
}

fn noted_goals(list: Term) -> Vec<sites::NotedGoal> {
    let mut goals = Vec::new();
    // SAFETY: term references of this foreign call.
    unsafe {
        let (head, tail) = (ffi::PL_new_term_ref(), ffi::PL_copy_term_ref(list));
        let next = || ffi::truth(ffi::PL_get_list(tail, head, tail));
        while next() {
            let name = kept_atom(head);
            let number = || if next() { int64(head) } else { None };
            let numbers: [Option<i64>; 5] = std::array::from_fn(|_| number());
            if let (
                Some(name),
                [
                    Some(arity),
                    Some(start),
                    Some(ordinal),
                    Some(parent),
                    Some(argument),
                ],
            ) = (name, numbers)
            {
                goals.push(sites::NotedGoal {
                    name,
                    arity,
                    start,
                    number: ordinal as u32,
                    parent: parent as u32,
                    argument: argument as u32,
                });
            }
        }
    }
    goals
}

/// `stub_forget(+File)`: the file is about to be read again.
pub(crate) fn forget(file: Term) -> Foreign {
    if recording::is_left_to_parent() {
        return TRUE;
    }
    sites::forget(&text(file));
    TRUE
}
