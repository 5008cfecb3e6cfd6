//! Waiting for an index that another process makes, as `record` does after the program's end.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use portmortem_tracer::IndexLock;

use super::{Index, IndexError};
use crate::replay::ReplayOptions;
use crate::trace::Trace;

/// How long it takes to see that it is there.
const MOMENT: Duration = Duration::from_millis(10);

/// A process that takes longer may have been stopped.
const PATIENCE: Duration = Duration::from_secs(120);

/// The index of a trace, the file at `path`, after the process that makes it now has ended, if
/// there is one. As long as the lock is held no other makes it.
pub(super) fn load(
    trace: &Trace,
    path: &Path,
    options: &ReplayOptions,
) -> (Result<Index, IndexError>, Option<IndexLock>) {
    let begin = Instant::now();
    let mut lock = IndexLock::try_on(path);
    while lock.is_none() && begin.elapsed() < PATIENCE && !options.is_cancelled() {
        thread::sleep(MOMENT);
        lock = IndexLock::try_on(path);
    }
    (Index::load(trace, path), lock)
}
