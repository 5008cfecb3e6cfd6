//! Which engine has which shadow.

use std::sync::Mutex;

use portmortem_tracer::locks;
use rustc_hash::FxHashMap;

use super::shadow::Shadow;

/// Addresses of shadows, by the addresses of their engines' data.
static SHADOWS: Mutex<Option<FxHashMap<usize, usize>>> = Mutex::new(None);

/// An empty shadow for the engine whose data lies at `data`. It is never freed, because a thread
/// remembers which engine it has run, and its shadow. So a later engine at that address gets the
/// same one.
pub(crate) fn shadow_of(data: usize) -> *mut Shadow {
    let mut shadows = locks::lock(&SHADOWS);
    let address = shadows
        .get_or_insert_default()
        .entry(data)
        .or_insert_with(|| Box::into_raw(Box::new(Shadow::new())) as usize);
    let shadow = *address as *mut Shadow;
    // SAFETY: the engine that had it is gone, or begins another recording.
    unsafe { (*shadow).retire() };
    shadow
}

/// Retires a shadow, unless another engine has it by now. `stream` has the fields of its stream.
///
/// # Safety
/// The engine that had the stream is gone.
pub(crate) unsafe fn retire_shadow_of(shadow: *mut Shadow, stream: *const u8) {
    let _shadows = locks::lock(&SHADOWS);
    // SAFETY: a shadow is never freed. Whoever gets it retires it first, with the lock held, so if
    // it has this stream, it is not in use.
    unsafe {
        if (&raw const (*shadow).stream).read_volatile() == stream {
            (*shadow).retire();
        }
    }
}
