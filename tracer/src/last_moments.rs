//! The last moments of a process: one thread has closed the recording and is about to end the
//! process, and the others still run.
//!
//! What they do then is in no event. So they wait, each at its next event, until the process is
//! gone. The thread that ends it may have to let them go before, if one of them could hold what the
//! end of the process needs; then they run on, and their streams count what they do.

use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

/// The thread that ends the process. 0 while none does, or after it has let the others go.
static ENDING: AtomicI32 = AtomicI32::new(0);

/// How often a waiting thread looks whether it may go on. It need not be soon, and there may be
/// thousands of threads.
const PAUSE: Duration = Duration::from_millis(10);

/// The calling thread is about to end the process. Signal-safe.
pub(crate) fn begin() {
    ENDING.store(this_thread(), Ordering::Release);
}

/// Threads that wait, and those that would, may go on. Signal-safe.
pub fn let_go() {
    ENDING.store(0, Ordering::Release);
}

/// Waits while another thread ends the process. The caller must hold no lock that the end of a
/// recording needs.
pub fn wait_unless_ending() {
    loop {
        match ENDING.load(Ordering::Acquire) {
            0 => return,
            thread if thread == this_thread() => return,
            // Signals are handled meanwhile.
            _ => thread::sleep(PAUSE),
        }
    }
}

/// The calling thread, as the system numbers threads. Signal-safe.
#[must_use]
pub fn this_thread() -> i32 {
    // SAFETY: a system call without arguments that cannot fail.
    unsafe { libc::gettid() }
}
