//! Terms of the engine: made from what the analyser says, and read.
//!
//! Texts are atoms, times are integers in nanoseconds, and what is not known is the atom `null`,
//! as in `portmortem export --format prolog`.

use std::ffi::c_char;
use std::ptr;

use portmortem_analyzer::tables::Cell;
use rustc_hash::FxHashMap;

use crate::error::{Error, done};
use crate::ffi::{
    Atom, CVT_ATOM_OR_STRING, PL_cons_functor_v, PL_copy_term_ref, PL_get_int64, PL_get_nchars,
    PL_is_variable, PL_new_atom_mbchars, PL_new_functor, PL_new_term_ref, PL_new_term_refs,
    PL_put_atom, PL_put_chars, PL_put_dict, PL_put_int64, PL_unify, PL_unify_list, PL_unify_nil,
    PL_unregister_atom, REP_UTF8, STRING, Term, truth,
};

/// Makes terms. It keeps the atoms of texts, which come again and again.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    atoms: FxHashMap<String, Atom>,
}

impl Drop for Terms {
    fn drop(&mut self) {
        for atom in self.atoms.values() {
            // SAFETY: this holds a reference to each. Terms with it have their own.
            unsafe { PL_unregister_atom(*atom) };
        }
    }
}

impl Terms {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The atom of a text. It lives as long as this.
    pub(crate) fn atom(&mut self, text: &str) -> Atom {
        if let Some(atom) = self.atoms.get(text) {
            return *atom;
        }
        // SAFETY: the engine copies so many bytes, which are UTF-8.
        let atom = unsafe { PL_new_atom_mbchars(REP_UTF8, text.len(), text.as_ptr().cast()) };
        self.atoms.insert(text.to_owned(), atom);
        atom
    }

    pub(crate) fn put_atom(&mut self, term: Term, text: &str) -> Result<(), Error> {
        let atom = self.atom(text);
        // SAFETY: a term reference of this call and a live atom; so are those below.
        done(unsafe { PL_put_atom(term, atom) })
    }

    pub(crate) fn put_string(&mut self, term: Term, text: &str) -> Result<(), Error> {
        let flags = STRING | REP_UTF8;
        // SAFETY: the engine copies so many bytes.
        done(unsafe { PL_put_chars(term, flags, text.len(), text.as_ptr().cast()) })
    }

    pub(crate) fn put_cell(&mut self, term: Term, cell: Cell) -> Result<(), Error> {
        match cell {
            Cell::Missing => self.put_atom(term, "null"),
            Cell::Text(text) => self.put_atom(term, text),
            Cell::Integer(number) => put_integer(term, number),
            Cell::Bool(truth) => self.put_atom(term, if truth { "true" } else { "false" }),
        }
    }

    /// `arguments` is the first of consecutive term references.
    pub(crate) fn put_compound(
        &mut self,
        term: Term,
        name: &str,
        arity: usize,
        arguments: Term,
    ) -> Result<(), Error> {
        let name = self.atom(name);
        // SAFETY: a live atom, and as many term references of this call.
        done(unsafe { PL_cons_functor_v(term, PL_new_functor(name, arity), arguments) })
    }

    /// The keys of dicts.
    pub(crate) fn keys<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Vec<Atom> {
        names.into_iter().map(|name| self.atom(name)).collect()
    }

    /// A dict with these keys; `values` is the first of as many consecutive term references.
    pub(crate) fn put_dict(
        &mut self,
        term: Term,
        tag: &str,
        keys: &[Atom],
        values: Term,
    ) -> Result<(), Error> {
        let tag = self.atom(tag);
        // SAFETY: as many live atoms and term references of this call.
        done(unsafe { PL_put_dict(term, tag, keys.len(), keys.as_ptr(), values) })
    }
}

/// Numbers beyond 63 bits, which only a damaged trace can say, are the greatest one.
pub(crate) fn put_number(term: Term, number: u64) -> Result<(), Error> {
    put_integer(term, i64::try_from(number).unwrap_or(i64::MAX))
}

fn put_integer(term: Term, number: i64) -> Result<(), Error> {
    // SAFETY: a term reference of this call.
    done(unsafe { PL_put_int64(term, number) })
}

/// So many consecutive term references. The engine takes them back when the predicate answers.
pub(crate) fn new_refs(number: usize) -> Term {
    // SAFETY: plain call of the interface on a thread that runs Prolog.
    unsafe { PL_new_term_refs(number) }
}

/// Unifies a term with another one.
pub(crate) fn unify(term: Term, other: Term) -> bool {
    // SAFETY: term references of this call.
    truth(unsafe { PL_unify(term, other) })
}

/// A list that is made from its beginning, in place of an unbound argument.
#[derive(Debug)]
pub(crate) struct TermList {
    head: Term,
    tail: Term,
}

impl TermList {
    pub(crate) fn in_place_of(variable: Term) -> Self {
        // SAFETY: an argument of the predicate that is running.
        let (head, tail) = unsafe { (PL_new_term_ref(), PL_copy_term_ref(variable)) };
        Self { head, tail }
    }

    pub(crate) fn push(&mut self, term: Term) -> Result<(), Error> {
        // SAFETY: term references of this call.
        done(unsafe { PL_unify_list(self.tail, self.head, self.tail) })?;
        // SAFETY: as above.
        done(unsafe { PL_unify(self.head, term) })
    }

    pub(crate) fn end(self) -> Result<(), Error> {
        // SAFETY: as above.
        done(unsafe { PL_unify_nil(self.tail) })
    }
}

/// The text of an atom or string.
pub(crate) fn text(term: Term) -> Result<String, Error> {
    let (mut length, mut start) = (0, ptr::null_mut::<c_char>());
    let flags = CVT_ATOM_OR_STRING | REP_UTF8 as u32;
    // SAFETY: an argument of the predicate that is running, and places of our own.
    if !truth(unsafe { PL_get_nchars(term, &raw mut length, &raw mut start, flags) }) {
        return Err(not_a("text", term));
    }
    // SAFETY: the engine says that so many bytes are there, and keeps them until it is called.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// A number that is not negative.
pub(crate) fn number(term: Term) -> Result<u64, Error> {
    let mut value = 0;
    // SAFETY: an argument of the predicate that is running, and a place of our own.
    let is_integer = truth(unsafe { PL_get_int64(term, &raw mut value) });
    let number = u64::try_from(value).ok().filter(|_| is_integer);
    number.ok_or_else(|| not_a("nonneg", term))
}

/// An argument is unbound, or not of the type.
pub(crate) fn not_a(expected: &'static str, term: Term) -> Error {
    // SAFETY: an argument of the predicate that is running.
    if truth(unsafe { PL_is_variable(term) }) {
        Error::Instantiation
    } else {
        Error::Type(expected, term)
    }
}
