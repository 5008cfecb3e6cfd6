//! What a thread of a screen sends, for which the screen waits a moment or as long as it takes.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The next thing that was sent; waits so long for it, or as long as it takes. The thread is gone if it is disconnected.
pub(crate) fn receive<T>(
    from: &Receiver<T>,
    wait: Option<Duration>,
) -> Result<T, RecvTimeoutError> {
    match wait {
        Some(wait) => from.recv_timeout(wait),
        None => from.recv().map_err(RecvTimeoutError::from),
    }
}

/// The same; waits until some moment. `None`: it may still come. If the thread is gone, it is `lost`.
pub(crate) fn receive_until<T>(from: &Receiver<T>, until: Option<Instant>, lost: T) -> Option<T> {
    let wait = until.map(|until| until.saturating_duration_since(Instant::now()));
    match receive(from, wait) {
        Ok(received) => Some(received),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => Some(lost),
    }
}
