//! What the loader says of clauses that it is about to store: where their goals are.

use std::cell::Cell;
use std::path::Path;

use super::adopting::adopt;
use crate::ffi::{self, Foreign, TRUE, Term};
use crate::native::identity::Identity;
use crate::native::{alignment, predicates, sites};
use crate::recording;
use crate::values::{atom, int64, integer, kept_atom, text};

thread_local! {
    /// The term of a file that this thread has read last, and may be expanding.
    static TERM: Cell<Option<ffi::RecordedTerm>> = const { Cell::new(None) };
}

/// `stub_keep_term(+Term)`: a term of a file was read.
pub(crate) fn keep_term(term: Term) -> Foreign {
    // SAFETY: a term of our own argument list; a record that is not used any more.
    unsafe {
        if let Some(old) = TERM.replace(Some(ffi::PL_record(term))) {
            ffi::PL_erase(old);
        }
    }
    TRUE
}

/// `stub_kept_term(-Term)`: the term that was read last.
pub(crate) fn kept_term(term: Term) -> Foreign {
    // SAFETY: a term of our own argument list, and a record that is there.
    let unified = TERM.get().is_some_and(|record| unsafe {
        let copy = ffi::PL_new_term_ref();
        ffi::truth(ffi::PL_recorded(record, copy)) && ffi::truth(ffi::PL_unify(copy, term))
    });
    Foreign::from(unified)
}

/// `stub_note(+Module, +Name, +Arity, +File, +Line, +Goals, +Written)`: a clause of a file is
/// about to be stored. `Goals` has seven elements for each goal: name, arity, the characters of
/// the file before its beginning and its end, its number, the number of the goal in whose argument
/// it stands, and which argument that is. `Written` has those of the term that the clause was made
/// from, if that is another one.
pub(crate) fn note(
    module: Term,
    name: Term,
    arity: Term,
    file: Term,
    line: Term,
    goals: Term,
    written: Term,
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
    let line = integer(line);
    let mut goals = noted_goals(goals);
    alignment::place(&mut goals, &noted_goals(written), line);
    sites::note(predicate, &file, line, goals);
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
            let numbers: [Option<i64>; 6] = std::array::from_fn(|_| number());
            if let (
                Some(name),
                [
                    Some(arity),
                    Some(start),
                    Some(end),
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
                    end,
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
