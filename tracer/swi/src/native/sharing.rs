//! What calls do with mutexes, message queues and threads, and how these are called.

use std::ffi::{CStr, c_void};
use std::ptr;

use portmortem_tracer::format::SyncRole;

use super::identity::{identity, module_name};
use super::words::{WORD, word};
use crate::ffi::{self, Term, truth};
use crate::values::atom_text;

/// What a predicate does with something that threads share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Sharing {
    pub(crate) role: SyncRole,
    pub(crate) with: With,
}

/// Which mutex, queue or thread that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum With {
    /// The first argument says it.
    First,
    /// The calling thread's own.
    Own,
    /// All of the calling thread.
    All,
}

/// Predicates by which threads wait for one another, or let others go on.
const KNOWN: [(&str, usize, SyncRole, With); 12] = [
    ("with_mutex", 2, SyncRole::Holds, With::First),
    ("mutex_lock", 1, SyncRole::Locks, With::First),
    ("mutex_trylock", 1, SyncRole::Locks, With::First),
    ("mutex_unlock", 1, SyncRole::Unlocks, With::First),
    ("mutex_unlock_all", 0, SyncRole::Unlocks, With::All),
    ("thread_get_message", 1, SyncRole::Receives, With::Own),
    ("thread_get_message", 2, SyncRole::Receives, With::First),
    ("thread_get_message", 3, SyncRole::Receives, With::First),
    ("thread_send_message", 2, SyncRole::Sends, With::First),
    ("thread_send_message", 3, SyncRole::Sends, With::First),
    ("thread_join", 1, SyncRole::Joins, With::First),
    ("thread_join", 2, SyncRole::Joins, With::First),
];
const MODULES: [&str; 2] = ["system", "$syspreds"];

/// What a predicate of the engine does. `None` if it does nothing of the kind. One that is not
/// there yet will be the engine's.
pub(crate) fn of(definition: usize, is_there: bool) -> Option<Sharing> {
    let predicate = identity(definition);
    if predicate.arity > 3 {
        return None;
    }
    let name = atom_text(predicate.name);
    let (.., role, with) = *KNOWN
        .iter()
        .find(|(known, arity, ..)| *known == name && *arity == predicate.arity)?;
    let module = atom_text(module_name(predicate.module)?);
    let is_engines = MODULES.contains(&module.as_str()) || !is_there;
    is_engines.then_some(Sharing { role, with })
}

/// How a mutex, a queue or a thread is called: by its alias; a thread without one by its number,
/// and what has neither by what it is and where. `None` of anything else. Makes no term.
pub(crate) fn name(term: Term) -> Option<String> {
    let (mut atom, mut number) = (0, 0);
    // SAFETY: a reference to a term, which is only read.
    unsafe {
        if truth(ffi::PL_get_int64(term, &raw mut number)) {
            return Some(number.to_string());
        }
        if !truth(ffi::PL_get_atom(term, &raw mut atom)) {
            return None;
        }
    }
    let mut length = 0;
    let mut kind: *const ffi::BlobType = ptr::null();
    // SAFETY: an atom that the term keeps; a blob has a type and data of that length.
    unsafe {
        let data: *const c_void = ffi::PL_blob_data(atom, &raw mut length, &raw mut kind);
        if data.is_null() || kind.is_null() {
            return None;
        }
        if (*kind).flags & ffi::BLOB_TEXT != 0 {
            return Some(atom_text(atom));
        }
        if length != WORD {
            return None;
        }
        let at = word(data as usize, 0);
        match CStr::from_ptr((*kind).name) {
            name if name == c"thread" => thread(at, atom),
            name => Some(format!("<{}>({at:#x})", name.to_string_lossy())),
        }
    }
}

/// The alias or the number of a thread whose handle lies there.
///
/// A handle has four words: the thread, its own atom, its alias, its number. If the atom is not
/// there, this version of the engine has another one.
///
/// # Safety
/// The data of the atom is the address of a handle, or 0.
unsafe fn thread(handle: usize, atom: ffi::Atom) -> Option<String> {
    if handle == 0 {
        return None;
    }
    // SAFETY: the caller's promise; each version of the engine has more than four words there.
    unsafe {
        if word(handle, WORD) != atom {
            return None;
        }
        match word(handle, 2 * WORD) {
            0 => Some((word(handle, 3 * WORD) as u32).to_string()),
            alias => Some(atom_text(alias)),
        }
    }
}
