//! What a thread of the operating system knows of the Prolog threads that end in it.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Weak};

thread_local! {
    /// The slot of a Prolog thread that has been told to end. That comes first, and then goals of
    /// the `at_exit` option run, which may need a state again. Nothing tells of the end of that
    /// one: the next thread with the number ends it. Until then the address of the engine's data
    /// may be that of any other thread, so this state is found by its number alone.
    pub(crate) static LEFT: Cell<*const c_void> = const { Cell::new(ptr::null()) };
    /// Whether this thread has come to a port or stub before. One whose first comes in a goal at
    /// its exit is not in [`LEFT`], and its state may be found by the address when it is gone: so
    /// who has the address next makes sure, once, that it leads nowhere else.
    pub(crate) static ARRIVED: Cell<bool> = const { Cell::new(false) };
    static LIFE: Arc<()> = Arc::new(());
}

/// Gone when the calling thread is.
pub(crate) fn life() -> Weak<()> {
    LIFE.try_with(Arc::downgrade).unwrap_or_default()
}
