//! An open trace as an atom. The engine closes a trace that the program has forgotten when it
//! collects the atom.

use std::ffi::{CString, c_int, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Holds};
use crate::ffi::{
    Atom, PL_blob_data, PL_get_blob, PL_unify_blob, Sfputs, StaticBlobType, Term, truth,
};
use crate::opened::Opened;
use crate::terms::not_a;

/// What such atoms are called in errors, and where the engine prints them.
pub(crate) const KIND: &str = "portmortem_trace";

static TYPE: StaticBlobType = StaticBlobType::new(c"portmortem_trace", release, write);

/// The data of an atom; `None` when it is closed. A thread that reads a trace which another one
/// closes reads on.
type Handle = Mutex<Option<Arc<Opened>>>;

/// Makes an unbound argument an atom for an open trace.
pub(crate) fn unify_new(term: Term, opened: Opened) -> Holds {
    let handle: Box<Handle> = Box::new(Mutex::new(Some(Arc::new(opened))));
    let data = Box::into_raw(handle).cast::<c_void>();
    // SAFETY: the engine takes the data over, and gives it to `release` once.
    Ok(truth(unsafe {
        PL_unify_blob(term, data, size_of::<Handle>(), TYPE.address())
    }))
}

extern "C" fn release(atom: Atom) -> c_int {
    // SAFETY: an atom of our type, whose data is a box of `unify_new`. No reference to it is left.
    let handle = unsafe {
        let data = PL_blob_data(atom, ptr::null_mut(), ptr::null_mut());
        (!data.is_null()).then(|| Box::from_raw(data.cast::<Handle>()))
    };
    // A panic must not leave this function.
    let dropped = std::panic::AssertUnwindSafe(|| drop(handle));
    c_int::from(std::panic::catch_unwind(dropped).is_ok())
}

/// Prints an atom as the engine prints those of its own: `<portmortem_trace>(0x5581c0de)`.
extern "C" fn write(stream: *mut c_void, atom: Atom, _flags: c_int) -> c_int {
    // SAFETY: an atom of our type, which the engine is printing.
    let data = unsafe { PL_blob_data(atom, ptr::null_mut(), ptr::null_mut()) };
    let Ok(text) = CString::new(format!("<{KIND}>({data:p})")) else {
        return 0;
    };
    // SAFETY: a text that ends with a zero, and the stream that the engine prints to.
    c_int::from(unsafe { Sfputs(text.as_ptr(), stream) } >= 0)
}

fn with_handle<T>(
    term: Term,
    then: impl FnOnce(&mut Option<Arc<Opened>>) -> T,
) -> Result<T, Error> {
    let (mut data, mut kind) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: an argument of the predicate that is running, and places of our own.
    let is_blob =
        truth(unsafe { PL_get_blob(term, &raw mut data, ptr::null_mut(), &raw mut kind) });
    if !is_blob || kind != TYPE.address() || data.is_null() {
        return Err(not_a(KIND, term));
    }
    // SAFETY: data of our type; the argument keeps the atom alive while the predicate runs.
    let handle = unsafe { &*data.cast::<Handle>() };
    Ok(then(
        &mut handle.lock().unwrap_or_else(PoisonError::into_inner),
    ))
}

/// The open trace that an argument stands for.
pub(crate) fn get(term: Term) -> Result<Arc<Opened>, Error> {
    let opened = with_handle(term, |opened| opened.clone())?;
    opened.ok_or(Error::Existence(KIND, term))
}

/// Closes it.
pub(crate) fn close(term: Term) -> Result<(), Error> {
    let opened = with_handle(term, Option::take)?;
    opened.map(drop).ok_or(Error::Existence(KIND, term))
}
