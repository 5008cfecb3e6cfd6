//! A defect of ours must not end the traced program.

use std::panic::{self, AssertUnwindSafe};

use crate::ffi::Foreign;
use crate::recording;

/// Runs a foreign predicate. If it panics, the recording ends, the program goes on, and the
/// answer is `otherwise`.
#[inline(always)]
pub(crate) fn guarded(otherwise: Foreign, predicate: impl FnOnce() -> Foreign) -> Foreign {
    panic::catch_unwind(AssertUnwindSafe(predicate)).unwrap_or_else(|_| abandoned(otherwise))
}

#[cold]
fn abandoned(otherwise: Foreign) -> Foreign {
    recording::abandon();
    otherwise
}

/// Instead of the message that Rust prints: the program's error output stays its own but for this
/// line.
pub(crate) fn install_message() {
    panic::set_hook(Box::new(|panic| {
        eprintln!("portmortem: internal error, the recording ends here: {panic}");
    }));
}
