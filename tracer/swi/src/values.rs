//! Prolog terms as values of Rust, and back.

use std::ffi::{CStr, c_char, c_int};
use std::{ptr, slice};

use crate::ffi::{self, Foreign, Term};

/// The texts of a list.
pub(crate) fn strings(list: Term) -> Vec<String> {
    elements(list, text)
}

/// The numbers of a list.
pub(crate) fn integers(list: Term) -> Vec<i64> {
    elements(list, |element| {
        let mut value = 0;
        // SAFETY: a reference of this foreign call and a place for its value.
        unsafe { ffi::PL_get_int64(element, &raw mut value) };
        value
    })
}

fn elements<T>(list: Term, read: impl Fn(Term) -> T) -> Vec<T> {
    let mut all = Vec::new();
    each(list, |element| all.push(read(element)));
    all
}

/// Visits the elements of a list.
pub(crate) fn each(list: Term, mut visit: impl FnMut(Term)) {
    // SAFETY: term references of this foreign call.
    unsafe {
        let head = ffi::PL_new_term_ref();
        let tail = ffi::PL_copy_term_ref(list);
        while ffi::truth(ffi::PL_get_list(tail, head, tail)) {
            visit(head);
        }
    }
}

/// The text of an atom or string.
pub(crate) fn text(term: Term) -> String {
    let mut length = 0;
    let mut start: *mut c_char = ptr::null_mut();
    let flags = ffi::CVT_ATOM_OR_STRING | ffi::REP_UTF8;
    // SAFETY: on success the engine gives `length` bytes that stay until the next call.
    unsafe {
        if ffi::truth(ffi::PL_get_nchars(
            term,
            &raw mut length,
            &raw mut start,
            flags,
        )) {
            String::from_utf8_lossy(slice::from_raw_parts(start.cast(), length)).into_owned()
        } else {
            String::new()
        }
    }
}

/// A small number.
pub(crate) fn integer(term: Term) -> u32 {
    let mut value = 0;
    // SAFETY: a term of our own argument list and a place for its value.
    unsafe { ffi::PL_get_int64(term, &raw mut value) };
    u32::try_from(value).unwrap_or(0)
}

pub(crate) fn unify_string(term: Term, text: &str) -> Foreign {
    let flags = ffi::STRING | ffi::REP_UTF8 as c_int;
    // SAFETY: text and length belong together.
    let answer =
        unsafe { ffi::PL_unify_chars(term, flags, text.len(), text.as_ptr().cast::<c_char>()) };
    Foreign::from(ffi::truth(answer))
}

/// The words of a reference to a clause. The last one is the clause.
pub(crate) fn clause_reference(clause: Term) -> Option<&'static [usize]> {
    let reference = atom(clause)?;
    let mut length = 0;
    let mut kind: *const ffi::BlobType = ptr::null();
    // SAFETY: the data of a blob that the term keeps, and with it its clause.
    unsafe {
        let data = ffi::PL_blob_data(reference, &raw mut length, &raw mut kind);
        let is_reference = !data.is_null()
            && !kind.is_null()
            && CStr::from_ptr((*kind).name) == c"clause"
            && (2 * size_of::<usize>()..=4 * size_of::<usize>()).contains(&length);
        is_reference.then(|| std::slice::from_raw_parts(data.cast(), length / size_of::<usize>()))
    }
}

pub(crate) fn atom(term: Term) -> Option<ffi::Atom> {
    let mut atom = 0;
    // SAFETY: a term of our own argument list.
    ffi::truth(unsafe { ffi::PL_get_atom(term, &raw mut atom) }).then_some(atom)
}

/// An atom that is never freed.
pub(crate) fn kept_atom(term: Term) -> Option<ffi::Atom> {
    let atom = atom(term)?;
    // SAFETY: an atom.
    unsafe { ffi::PL_register_atom(atom) };
    Some(atom)
}

pub(crate) fn int64(term: Term) -> Option<i64> {
    let mut value = 0;
    // SAFETY: a term of our own argument list.
    ffi::truth(unsafe { ffi::PL_get_int64(term, &raw mut value) }).then_some(value)
}

pub(crate) fn atoms(list: Term) -> Vec<ffi::Atom> {
    let mut atoms = Vec::new();
    each(list, |element| atoms.extend(atom(element)));
    atoms
}

/// The name of a predicate, without a term, as the trace has it: the atom `'[]'` has its quotes,
/// because it is not the empty list `[]`.
pub(crate) fn name_text(name: ffi::Atom) -> String {
    let text = atom_text(name);
    // SAFETY: the engine's table of atoms, which is never freed.
    if text == "[]" && name != unsafe { *ffi::_PL_atoms() } {
        return "'[]'".to_owned();
    }
    text
}

/// The same of a term.
pub(crate) fn name(term: Term) -> String {
    atom(term).map_or_else(|| text(term), name_text)
}

/// The text of an atom, without a term: where terms cannot be made.
pub(crate) fn atom_text(atom: ffi::Atom) -> String {
    let mut length = 0;
    // SAFETY: an atom of the engine's; its text stays while the atom is in use.
    unsafe {
        let narrow = ffi::PL_atom_nchars(atom, &raw mut length);
        if !narrow.is_null() {
            let bytes = std::slice::from_raw_parts(narrow.cast::<u8>(), length);
            // ISO Latin 1: a byte is a character.
            return bytes.iter().map(|&byte| char::from(byte)).collect();
        }
        let wide = ffi::PL_atom_wchars(atom, &raw mut length);
        if wide.is_null() {
            return String::from("?");
        }
        let characters = std::slice::from_raw_parts(wide, length);
        let text = characters
            .iter()
            .map(|&character| char::from_u32(character));
        text.map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    }
}
