//! The analysis that the screens show, made by a thread of its own so that the screen never waits.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

use portmortem_analyzer::figures::net_times::{NetTimes, Times};
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::{Analysis, Filters};

/// An analysis, and how it is shown.
#[derive(Debug, Clone)]
pub struct AnalysisView {
    of: Arc<Analysis>,
    /// Times are shown without the recorder's own, as far as they are known.
    net: bool,
    /// Source files may be read, to be shown.
    pub(crate) sources: bool,
    /// The recording that this one is compared with.
    pub(crate) before: Option<PathBuf>,
}

impl Deref for AnalysisView {
    type Target = Analysis;

    fn deref(&self) -> &Analysis {
        &self.of
    }
}

impl AnalysisView {
    /// With times as recorded. `sources`: source files may be read.
    #[must_use]
    pub fn new(of: Arc<Analysis>, sources: bool) -> Self {
        Self {
            of,
            net: false,
            sources,
            before: None,
        }
    }

    /// The same, to be compared with another recording.
    #[must_use]
    pub fn compared_with(self, before: Option<PathBuf>) -> Self {
        Self { before, ..self }
    }

    /// The same with times without the recorder's own, or as recorded.
    #[must_use]
    pub fn with_net(&self, net: bool) -> Self {
        Self {
            net,
            ..self.clone()
        }
    }

    /// Waits for the figures of a part of a trace.
    #[cfg(test)]
    pub(crate) fn part(trace: Arc<Trace>, path: &Path, filters: Filters) -> Self {
        let (progress, cancel) = (AtomicU64::new(0), AtomicBool::new(false));
        let of = Analysis::explored(trace, path, filters, &progress, &cancel).unwrap();
        Self::new(Arc::new(of), true)
    }

    /// Nanoseconds that boxes ran: what shares of time are of.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.ns(match self.net_times() {
            Some(net) => net.net_ticks,
            None => self.profile.total_ticks(),
        })
    }

    /// Whether times are shown without the recorder's own.
    #[must_use]
    pub fn is_net(&self) -> bool {
        self.net_times().is_some()
    }

    /// The times without the recorder's own, if they are shown.
    #[must_use]
    pub fn net_times(&self) -> Option<&NetTimes> {
        self.profile.net.as_ref().filter(|_| self.net)
    }

    /// Self and inclusive time of a predicate, in ticks.
    #[must_use]
    pub fn predicate_times(&self, index: PredicateIndex) -> Times {
        let at = index as usize;
        if let Some(net) = self.net_times() {
            return net.predicates.get(at).copied().unwrap_or_default();
        }
        let figures = self.profile.predicates.get(at);
        figures.map_or_else(Times::default, |figures| Times {
            self_ticks: figures.self_ticks,
            inclusive_ticks: figures.inclusive_ticks,
        })
    }
}

/// An analysis that is being made.
#[derive(Debug)]
pub struct Job {
    progress: Arc<AtomicU64>,
    cancel: Arc<AtomicBool>,
    total: u64,
    result: Receiver<Analysis>,
}

/// What came of a job so far.
#[derive(Debug)]
pub enum Outcome {
    /// It is not done yet.
    Running,
    /// It is done.
    Done(Box<Analysis>),
    /// The thread died, which is a defect.
    Lost,
}

impl Job {
    /// Starts to replay a trace in the background.
    ///
    /// A job that is dropped is cancelled.
    #[must_use]
    pub fn start(trace: Arc<Trace>, path: &Path, filters: Filters) -> Self {
        let progress = Arc::new(AtomicU64::new(0));
        let cancel = Arc::new(AtomicBool::new(false));
        let (sender, result) = channel();
        let job = Self {
            progress: Arc::clone(&progress),
            cancel: Arc::clone(&cancel),
            total: work(&trace, &filters),
            result,
        };
        let path = path.to_owned();
        thread::spawn(move || {
            if let Some(analysis) = Analysis::explored(trace, &path, filters, &progress, &cancel) {
                // Nobody listens any more if the job was cancelled.
                let _ = sender.send(analysis);
            }
        });
        job
    }

    /// How much is done, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        let done = self.progress.load(Ordering::Relaxed) as f64;
        (done / self.total.max(1) as f64).min(1.0)
    }

    /// What came of it; does not wait.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self.result.try_recv() {
            Ok(analysis) => Outcome::Done(Box::new(analysis)),
            Err(TryRecvError::Empty) => Outcome::Running,
            Err(TryRecvError::Disconnected) => Outcome::Lost,
        }
    }

    /// What came of it; waits for its end.
    #[must_use]
    pub fn wait(&self) -> Outcome {
        self.result
            .recv()
            .map_or(Outcome::Lost, |analysis| Outcome::Done(Box::new(analysis)))
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

/// Bytes that are read: the begin of a window is replayed twice, and what has no index, or a focus, is gone through
/// once more.
fn work(trace: &Trace, filters: &Filters) -> u64 {
    let mut times = 1;
    times += u64::from(filters.window().is_some());
    times += u64::from(trace.end().is_none() || !filters.focus().is_everything());
    trace.size().saturating_mul(times)
}
