//! How many inferences the engine has made: where it counts them is found by looking, as for
//! [`pauses`](mod@super::pauses).
//!
//! Two runs of a program that make about as many did the same work, however they are recorded: a
//! stub makes none.

use std::ffi::{CStr, c_int};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use portmortem_tracer::locks;

use super::image::Image;
use super::offsets;
use super::search::{SumSearch, data_of};
use super::words::word;
use crate::ffi;

/// Where the engine's data have the count.
static FOUND: OnceLock<usize> = OnceLock::new();

static SEARCH: Mutex<SumSearch> = Mutex::new(SumSearch::new());

/// Those of streams that have ended.
static ENDED: AtomicU64 = AtomicU64::new(0);

/// Compares the count with the data of the main thread's engine.
pub(super) fn look(image: &Image, engine: usize) {
    if FOUND.get().is_some() {
        return;
    }
    if let (Some(count), Some(words)) = (ask(c"inferences"), data_of(image, engine)) {
        let mut search = locks::lock(&SEARCH);
        search.look(&words, count);
        if let Some(found) = search.end() {
            FOUND.get_or_init(|| found);
        }
    }
}

/// A count, from Prolog: the value of a key of `statistics/2`.
pub(super) fn ask(key: &CStr) -> Option<u64> {
    /// `PL_Q_NODEBUG | PL_Q_CATCH_EXCEPTION`
    const QUIET: c_int = 0x0004 | 0x0008;
    let mut count = 0;
    // SAFETY: terms of a frame of our own.
    let found = unsafe {
        let statistics = ffi::PL_predicate(c"statistics".as_ptr(), 2, c"system".as_ptr());
        let frame = ffi::PL_open_foreign_frame();
        let arguments = ffi::PL_new_term_refs(2);
        let found = ffi::truth(ffi::PL_put_atom_chars(arguments, key.as_ptr()))
            && ffi::truth(ffi::PL_put_variable(arguments + 1))
            && ffi::truth(ffi::PL_call_predicate(
                ptr::null_mut(),
                QUIET,
                statistics,
                arguments,
            ))
            && ffi::truth(ffi::PL_get_int64(arguments + 1, &raw mut count));
        ffi::PL_discard_foreign_frame(frame);
        found
    };
    u64::try_from(count).ok().filter(|_| found)
}

/// How many the running engine has made so far. `None` if that cannot be read.
pub(crate) fn made() -> Option<u64> {
    let engine = offsets::running_engine(offsets::known()?);
    // SAFETY: a word of the engine's data.
    let count = unsafe { word(engine, *FOUND.get()?) };
    Some(count as u64)
}

/// A stream of the running engine ends, at whose beginning it had made `before`.
pub(crate) fn ended(before: Option<u64>) {
    if let (Some(before), Some(now)) = (before, made()) {
        ENDED.fetch_add(now.saturating_sub(before), Ordering::Relaxed);
    }
}

/// The program begins: what was done before is not counted.
pub(crate) fn begin() {
    ENDED.store(0, Ordering::Relaxed);
}

/// Those of streams that have ended. `None` if they cannot be read.
pub(crate) fn so_far() -> Option<u64> {
    FOUND.get()?;
    Some(ENDED.load(Ordering::Relaxed))
}
