//! The times of single calls, which a worker finds when a screen wants them: the events are read again
//! for them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use portmortem_analyzer::Analysis;

use crate::worker::{Received, Worker};

/// The worker of an analysis that finds them, if there is one. What it finds the analysis keeps.
#[derive(Debug, Default)]
pub(crate) struct CallTimes {
    worker: Mutex<Option<Worker<()>>>,
}

impl CallTimes {
    /// Begins to find them, unless they are known or that has begun.
    pub(crate) fn start(&self, analysis: &Arc<Analysis>) {
        if analysis.known_calls().is_some() || self.share().is_some() {
            return;
        }
        let of = Arc::clone(analysis);
        let worker = Worker::start_apart(analysis.events(), move |task| {
            of.find_calls(task.progress());
        });
        *self.lock() = Some(worker);
    }

    /// How much is done, from 0 to 1, while they are being found.
    pub(crate) fn share(&self) -> Option<f64> {
        let worker = self.lock();
        let worker = worker.as_ref()?;
        match worker.next(Some(Instant::now())) {
            Received::Ended => None,
            Received::Value(()) | Received::NotYet => Some(worker.share()),
        }
    }

    /// Waits until they are found, if that has begun.
    pub(crate) fn wait(&self) {
        let worker = self.lock().take();
        while let Some(Received::Value(())) = worker.as_ref().map(|worker| worker.next(None)) {}
    }

    /// Gives up.
    pub(crate) fn stop(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Worker<()>>> {
        // There is nothing in it that a panic could leave half done.
        self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
