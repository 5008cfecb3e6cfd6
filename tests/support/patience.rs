//! Waiting for what another process does.

use std::thread;
use std::time::{Duration, Instant};

/// What takes longer hangs, however busy the machine is.
pub const TIME_LIMIT: Duration = Duration::from_secs(900);

/// Asks again and again until there is no complaint any more.
///
/// # Panics
/// With the last complaint, past the time limit.
pub fn ask_until(ask: impl Fn() -> Result<(), String>) {
    let begin = Instant::now();
    while let Err(complaint) = ask() {
        assert!(begin.elapsed() < TIME_LIMIT, "{complaint}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until something is so.
///
/// # Panics
/// If it is not past the time limit.
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    ask_until(|| match is_so() {
        true => Ok(()),
        false => Err(format!("not so: {what}")),
    });
}
