//! The times of single calls, which a thread of its own finds when a screen wants them: the events are read again for them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use portmortem_analyzer::Analysis;

/// The thread of an analysis that finds them, if there is one. One that nobody holds any more is cancelled.
#[derive(Debug, Default)]
pub(crate) struct CallTimes {
    thread: Mutex<Option<Reading>>,
}

#[derive(Debug)]
struct Reading {
    /// Until it is waited for.
    thread: Option<JoinHandle<()>>,
    /// Events read.
    progress: Arc<AtomicU64>,
    cancel: Arc<AtomicBool>,
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

impl CallTimes {
    /// Begins to find them, unless they are known or that has begun.
    pub(crate) fn start(&self, analysis: &Arc<Analysis>) {
        if analysis.known_calls().is_some() || self.share(analysis).is_some() {
            return;
        }
        let (progress, cancel) = <(Arc<AtomicU64>, Arc<AtomicBool>)>::default();
        let (of, done, stop) = (
            Arc::clone(analysis),
            Arc::clone(&progress),
            Arc::clone(&cancel),
        );
        let find = move || {
            // In threads of their own: what the screens do in parallel meanwhile must not wait for this.
            match rayon::ThreadPoolBuilder::new().build() {
                Ok(pool) => pool.install(|| of.find_calls(&done, &stop)),
                Err(_) => of.find_calls(&done, &stop),
            };
        };
        // If there is no thread for them, they stay unknown.
        if let Ok(thread) = thread::Builder::new().spawn(find) {
            *self.lock() = Some(Reading {
                thread: Some(thread),
                progress,
                cancel,
            });
        }
    }

    /// How much is done, from 0 to 1, while they are being found.
    pub(crate) fn share(&self, analysis: &Analysis) -> Option<f64> {
        let reading = self.lock();
        let reading = reading.as_ref()?;
        reading
            .thread
            .as_ref()
            .filter(|thread| !thread.is_finished())?;
        let done = reading.progress.load(Ordering::Relaxed) as f64;
        Some((done / analysis.events().max(1) as f64).min(1.0))
    }

    /// Waits until they are found, if that has begun.
    pub(crate) fn wait(&self) {
        let thread = self
            .lock()
            .as_mut()
            .and_then(|reading| reading.thread.take());
        // One that has panicked has found nothing.
        thread.map(JoinHandle::join);
    }

    /// Gives up.
    pub(crate) fn stop(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Reading>> {
        // There is nothing in it that a panic could leave half done.
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
