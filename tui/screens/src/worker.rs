//! Threads that find something for a screen while it goes on.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use portmortem_analyzer::Progress;
use rayon::ThreadPoolBuilder;

/// How long a key waits for what a worker finds, before it is drawn that it is looked for.
const PATIENCE: Duration = Duration::from_millis(10);

/// Until when a key waits for what a worker finds.
pub(crate) fn soon() -> Instant {
    Instant::now() + PATIENCE
}

/// Until when a poll waits for what a worker finds: as long as it takes if it is told to wait, else
/// not.
pub(crate) fn poll_until(wait: bool) -> Option<Instant> {
    (!wait).then(Instant::now)
}

/// A thread that finds values, one or many. A worker that is dropped is told to stop.
pub(crate) struct Worker<T> {
    found: Receiver<T>,
    progress: Arc<Progress>,
}

/// What a worker says when it is asked.
#[derive(Debug)]
pub(crate) enum Received<T> {
    /// The next value that was found.
    Value(T),
    /// There may be more later.
    NotYet,
    /// There is no more: the thread has ended.
    Ended,
}

/// The thread's side of a worker.
#[derive(Debug)]
pub(crate) struct Task<T> {
    found: Sender<T>,
    progress: Arc<Progress>,
}

impl<T: Send + 'static> Worker<T> {
    /// Starts a thread. `total` is how much it has to do, in the units of its progress; 0 if that
    /// is not told. If the system has no thread left, the worker has ended at once.
    pub(crate) fn start(total: u64, work: impl FnOnce(&Task<T>) + Send + 'static) -> Self {
        let (sender, found) = channel();
        let progress = Arc::new(Progress::of(total));
        let task = Task {
            found: sender,
            progress: Arc::clone(&progress),
        };
        let _ = thread::Builder::new().spawn(move || work(&task));
        Self { found, progress }
    }

    /// The same for work that rayon divides. It has threads of its own, so that what the screens do
    /// in parallel meanwhile need not wait for it; the shared ones if the system has none left.
    pub(crate) fn start_apart(total: u64, work: impl FnOnce(&Task<T>) + Send + 'static) -> Self {
        Self::start(total, move |task| match ThreadPoolBuilder::new().build() {
            Ok(pool) => pool.install(|| work(task)),
            Err(_) => work(task),
        })
    }

    /// The next value. Waits for it until some moment, or without one as long as it takes.
    pub(crate) fn next(&self, until: Option<Instant>) -> Received<T> {
        let found = match until {
            Some(until) => {
                let wait = until.saturating_duration_since(Instant::now());
                self.found.recv_timeout(wait)
            }
            None => self.found.recv().map_err(RecvTimeoutError::from),
        };
        match found {
            Ok(value) => Received::Value(value),
            Err(RecvTimeoutError::Timeout) => Received::NotYet,
            Err(RecvTimeoutError::Disconnected) => Received::Ended,
        }
    }

    /// How much is done, from 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        self.progress.share()
    }
}

impl<T> Drop for Worker<T> {
    fn drop(&mut self) {
        self.progress.stop();
    }
}

impl<T> Debug for Worker<T> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("Worker");
        fields.field("progress", &self.progress).finish()
    }
}

impl<T> Task<T> {
    /// Hands over what was found. It is lost if the worker was dropped.
    pub(crate) fn found(&self, value: T) {
        let _ = self.found.send(value);
    }

    /// How far the thread is, and whether its work is still wanted.
    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Whether the work is still wanted.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.progress.is_stopped()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn values_come_in_order_and_then_the_end() {
        let worker = Worker::start(2, |task| {
            for value in [1, 2] {
                task.progress().advance(1);
                task.found(value);
            }
        });
        assert!(matches!(worker.next(None), Received::Value(1)));
        assert!(matches!(worker.next(None), Received::Value(2)));
        assert!(matches!(worker.next(None), Received::Ended));
        assert!((worker.share() - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_worker_apart_has_threads_of_its_own() {
        let worker = Worker::start_apart(0, |task| task.found(rayon::current_thread_index()));
        assert!(matches!(worker.next(None), Received::Value(Some(_))));
        assert!(matches!(worker.next(None), Received::Ended));
    }

    #[test]
    fn a_worker_that_is_dropped_stops() {
        let (sender, stopped) = channel();
        let worker = Worker::<()>::start(0, move |task| {
            while task.is_wanted() {
                thread::yield_now();
            }
            let _ = sender.send(());
        });
        assert!(matches!(
            worker.next(Some(Instant::now())),
            Received::NotYet
        ));
        drop(worker);
        assert!(stopped.recv_timeout(Duration::from_secs(60)).is_ok());
    }

    #[test]
    fn a_thread_that_panics_has_ended() {
        let worker = Worker::<u32>::start(0, |_| panic!("a defect"));
        assert!(matches!(worker.next(None), Received::Ended));
    }
}
