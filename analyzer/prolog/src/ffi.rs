//! The part of SWI-Prolog's foreign language interface that reading a trace needs, declared by
//! hand: the functions below have had the same names and arguments from 9.0 to 10.1.
//!
//! Truth values changed from `int` to `bool` in between, so only their low byte is read
//! ([`truth`]). The symbols are resolved when the engine loads the library.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

pub(crate) type Term = usize;
pub(crate) type Atom = usize;
pub(crate) type Functor = usize;
pub(crate) type Foreign = usize;

/// `PL_get_nchars`: accept an atom or string.
pub(crate) const CVT_ATOM_OR_STRING: u32 = 0x01 | 0x02;
/// Text is UTF-8.
pub(crate) const REP_UTF8: c_int = 0x0010_0000;
/// `PL_put_chars`: make a string.
pub(crate) const STRING: c_int = 6;

/// `PL_BLOB_MAGIC`
const BLOB_MAGIC: usize = 0x7529_3a01;
/// `PL_BLOB_NOCOPY`: the atom is the address of the data.
const BLOB_NOCOPY: usize = 0x04;

pub(crate) type ReleaseBlob = extern "C" fn(Atom) -> c_int;
/// Of a stream of the engine, an atom, and flags.
pub(crate) type WriteBlob = extern "C" fn(*mut c_void, Atom, c_int) -> c_int;

/// `PL_blob_t`: a kind of atoms that stand for data of ours.
#[repr(C)]
pub(crate) struct BlobType {
    magic: usize,
    flags: usize,
    name: *const c_char,
    release: ReleaseBlob,
    /// Null: that of the engine.
    compare: *const c_void,
    write: WriteBlob,
    /// acquire, save and load: those of the engine.
    functions: [*const c_void; 3],
    padding: usize,
    reserved: [*mut c_void; 9],
    registered: c_int,
    rank: c_int,
    next: *mut c_void,
    atom_name: Atom,
}

/// A blob type, which the engine writes to.
pub(crate) struct StaticBlobType(UnsafeCell<BlobType>);

// SAFETY: only the engine reads and writes it, under its own lock; we hand out its address.
unsafe impl Sync for StaticBlobType {}

impl StaticBlobType {
    /// Of this name; `release` is called when the last reference to such an atom is gone, and
    /// `write` to print one.
    pub(crate) const fn new(name: &'static CStr, release: ReleaseBlob, write: WriteBlob) -> Self {
        Self(UnsafeCell::new(BlobType {
            magic: BLOB_MAGIC,
            flags: BLOB_NOCOPY,
            name: name.as_ptr(),
            release,
            compare: ptr::null(),
            write,
            functions: [ptr::null(); 3],
            padding: 0,
            reserved: [ptr::null_mut(); 9],
            registered: 0,
            rank: 0,
            next: ptr::null_mut(),
            atom_name: 0,
        }))
    }

    pub(crate) fn address(&'static self) -> *mut BlobType {
        self.0.get()
    }
}

unsafe extern "C" {
    /// Writes a text to a stream of the engine; negative if that fails.
    pub(crate) fn Sfputs(text: *const c_char, stream: *mut c_void) -> c_int;
    pub(crate) fn PL_register_foreign_in_module(
        module: *const c_char,
        name: *const c_char,
        arity: c_int,
        function: *const c_void,
        flags: c_int,
        ...
    ) -> c_int;
    pub(crate) fn PL_unify_blob(
        term: Term,
        data: *mut c_void,
        length: usize,
        kind: *mut BlobType,
    ) -> c_int;
    pub(crate) fn PL_get_blob(
        term: Term,
        data: *mut *mut c_void,
        length: *mut usize,
        kind: *mut *mut BlobType,
    ) -> c_int;
    pub(crate) fn PL_blob_data(
        atom: Atom,
        length: *mut usize,
        kind: *mut *mut BlobType,
    ) -> *mut c_void;
    pub(crate) fn PL_is_variable(term: Term) -> c_int;
    pub(crate) fn PL_get_int64(term: Term, value: *mut i64) -> c_int;
    pub(crate) fn PL_get_nchars(
        term: Term,
        length: *mut usize,
        text: *mut *mut c_char,
        flags: u32,
    ) -> c_int;
    pub(crate) fn PL_new_term_ref() -> Term;
    pub(crate) fn PL_new_term_refs(number: usize) -> Term;
    pub(crate) fn PL_copy_term_ref(term: Term) -> Term;
    pub(crate) fn PL_put_variable(term: Term) -> c_int;
    pub(crate) fn PL_put_atom(term: Term, atom: Atom) -> c_int;
    pub(crate) fn PL_put_int64(term: Term, value: i64) -> c_int;
    pub(crate) fn PL_put_term(to: Term, from: Term) -> c_int;
    pub(crate) fn PL_put_chars(
        term: Term,
        flags: c_int,
        length: usize,
        text: *const c_char,
    ) -> c_int;
    pub(crate) fn PL_put_dict(
        term: Term,
        tag: Atom,
        length: usize,
        keys: *const Atom,
        values: Term,
    ) -> c_int;
    pub(crate) fn PL_cons_functor_v(term: Term, functor: Functor, arguments: Term) -> c_int;
    pub(crate) fn PL_unify(one: Term, other: Term) -> c_int;
    pub(crate) fn PL_unify_list(list: Term, head: Term, tail: Term) -> c_int;
    pub(crate) fn PL_unify_nil(list: Term) -> c_int;
    pub(crate) fn PL_new_atom_mbchars(encoding: c_int, length: usize, text: *const c_char) -> Atom;
    pub(crate) fn PL_unregister_atom(atom: Atom);
    pub(crate) fn PL_new_functor(name: Atom, arity: usize) -> Functor;
    pub(crate) fn PL_raise_exception(exception: Term) -> c_int;
}

/// Reads a truth value of the interface: `int` in 9.0, `bool` later.
pub(crate) fn truth(value: c_int) -> bool {
    value & 0xff != 0
}
