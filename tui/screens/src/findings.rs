//! The findings of advice, which a worker looks for when a screen wants them: the events are read
//! for them. All screens that show the same figures share them.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use portmortem_analyzer::Analysis;
use portmortem_analyzer::advice::{self, Finding};

use crate::worker::{Received, Worker};

/// Findings that cost less than this share of the time, in percent, are not shown.
const LEAST: f64 = 1.0;

/// The findings of an analysis, or the worker that looks for them.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    worker: Mutex<Option<Worker<Vec<Finding>>>>,
    found: OnceLock<Arc<Vec<Finding>>>,
}

impl Findings {
    /// Begins to look for them, unless they are known or that has begun.
    pub(crate) fn start(&self, analysis: &Arc<Analysis>) {
        let mut worker = self.lock();
        if worker.is_none() && self.found.get().is_none() {
            let of = Arc::clone(analysis);
            *worker = Some(Worker::start(0, move |task| {
                task.found(advice::findings(&of, LEAST));
            }));
        }
    }

    /// The findings, if they are known.
    pub(crate) fn known(&self) -> Option<&Arc<Vec<Finding>>> {
        self.found.get()
    }

    /// The findings, if they are known; waits for them until some moment, or without one as long as
    /// it takes. [`Received::Ended`] if nothing looks for them.
    pub(crate) fn next(&self, until: Option<Instant>) -> Received<Arc<Vec<Finding>>> {
        if let Some(found) = self.found.get() {
            return Received::Value(Arc::clone(found));
        }
        let mut worker = self.lock();
        let Some(received) = worker.as_ref().map(|worker| worker.next(until)) else {
            return Received::Ended;
        };
        match received {
            Received::NotYet => Received::NotYet,
            Received::Ended => {
                *worker = None;
                Received::Ended
            }
            Received::Value(findings) => {
                *worker = None;
                Received::Value(Arc::clone(self.found.get_or_init(|| Arc::new(findings))))
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Worker<Vec<Finding>>>> {
        // There is nothing in it that a panic could leave half done.
        self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
