//! What the engine does at a signal.

use std::ffi::c_int;
use std::ptr;

use crate::ffi::{self, SignalAction};

/// Whether the engine does something within the handler of a signal: ends the process, or runs
/// Prolog. It only notes signals of `on_signal/3`, for the thread that got them.
///
/// Takes no lock.
pub(crate) fn works_in_handler(signal: c_int) -> bool {
    let mut action = SignalAction {
        function: ptr::null(),
        predicate: ptr::null_mut(),
        flags: 0,
        reserved: [ptr::null(); 2],
    };
    // SAFETY: asks only, and stores the answer in a structure of the interface's layout.
    let known = unsafe { ffi::PL_sigaction(signal, ptr::null(), &raw mut action) } == signal;
    known && action.flags & ffi::LATER == 0 && !action.is_none()
}

impl SignalAction {
    /// Whether the engine has no part in what happens.
    fn is_none(&self) -> bool {
        self.function.is_null() && self.predicate.is_null() && self.flags == 0
    }
}
