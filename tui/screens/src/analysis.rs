//! The analysis that the screens show, made by a thread of its own so that the screen never waits.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

use portmortem_analyzer::centers::{self, Center, CenterSum};
use portmortem_analyzer::figures::Caller;
use portmortem_analyzer::figures::laws::{self, Imbalance};
use portmortem_analyzer::figures::net_times::{EdgeTimes, NetTimes, Times};
use portmortem_analyzer::index::{Index, IndexError};
use portmortem_analyzer::scope::focus::Follow;
use portmortem_analyzer::tables::{OUTSIDE, ROOT};
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::walk::Trail;
use portmortem_analyzer::{FocusOn, Profile, ReplayOptions, Tables, index, replay};

use crate::scope::Scope;
use crate::sources;

/// Traces of more bytes get an index in memory if there is none beside them, so that every event is near.
const LARGE: u64 = 4 << 20;

/// A trace, the figures of what is looked at. Never changes, but for which of two times are shown.
#[derive(Debug)]
pub struct Analysis {
    /// File name of the trace without extension: what the tables call it.
    pub name: String,
    /// Where the trace is.
    pub path: PathBuf,
    /// The trace.
    pub trace: Arc<Trace>,
    /// Its figures.
    pub profile: Profile,
    /// Its index, if it has a good one.
    pub index: Option<Index>,
    /// Places from which any event is near, if it has no index, or to follow the focus.
    pub scanned: Option<Trail>,
    /// Sums that do not come out.
    pub imbalances: Vec<Imbalance>,
    /// Cost centres, how often they were entered, and what ran in them.
    pub centers: Vec<(Center, CenterSum)>,
    /// What is looked at.
    pub scope: Scope,
    /// By predicate, the unknown one included: it is part of its callers.
    pub hidden: Vec<bool>,
    /// Whether source files may be read, to be shown.
    pub sources: bool,
    /// Times are shown without the recorder's own, as far as they are known.
    pub(crate) net: AtomicBool,
}

impl Analysis {
    /// Takes the figures of the trace at `path` from its index, or replays it; `progress` counts bytes up to
    /// [`Trace::size`]. `None` if it was cancelled.
    #[must_use]
    pub fn of(
        trace: Arc<Trace>,
        path: &Path,
        scope: Scope,
        progress: &AtomicU64,
        cancel: &AtomicBool,
    ) -> Option<Self> {
        let found = Index::load(&trace, path);
        let missing = matches!(found, Err(IndexError::Missing)) && trace.size() > LARGE;
        let found = match found {
            Err(_) if missing && scope.is_everything() => {
                Index::build(&trace, path, Some(progress))
            }
            found => found,
        };
        let options = ReplayOptions {
            progress: Some(progress),
            cancel: Some(cancel),
            ..scope.options()
        };
        let figures = || match &found {
            Ok(index) if scope.is_everything() => Some(index.profile()),
            // One that is stale is made again.
            Err(_) if scope.is_everything() => Some(index::profile(&trace, path, &options)),
            _ => replay::try_replay(&trace, &options),
        };
        let focus = scope.focus();
        let hidden = options.hide.mask(&trace);
        let scans = found.is_err() || !focus.is_everything();
        let scan = || {
            let follow = Follow::new(focus, hidden.clone());
            scans.then(|| Trail::scan(&trace, follow, progress, cancel))
        };
        let centers = || {
            trace
                .has_centers()
                .then(|| centers::replay(&trace, &options))
        };
        let ((profile, scanned), centers) = rayon::join(|| rayon::join(figures, scan), centers);
        let (profile, scanned) = (profile?, scanned.flatten());
        let index = found.ok();
        let imbalances = laws::check(&profile);
        let centers = centers.map(|centers| centers.by_center(&trace, &profile));
        let centers = centers.into_iter().flatten().collect();
        let name = path.file_stem().unwrap_or(path.as_os_str());
        Some(Self {
            name: name.to_string_lossy().into_owned(),
            path: path.to_owned(),
            hidden,
            trace,
            profile,
            index,
            scanned,
            imbalances,
            centers,
            scope,
            sources: true,
            net: AtomicBool::new(false),
        })
    }

    /// Waits for the figures of a part of a trace.
    #[cfg(test)]
    pub(crate) fn part(trace: Arc<Trace>, path: &Path, scope: Scope) -> Self {
        let (progress, cancel) = (AtomicU64::new(0), AtomicBool::new(false));
        Self::of(trace, path, scope, &progress, &cancel).unwrap()
    }

    /// Places from which any event is near.
    #[must_use]
    pub fn trail(&self) -> Option<&Trail> {
        let index = self.index.as_ref().map(Index::trail);
        self.scanned.as_ref().or(index)
    }

    /// As tables.
    #[must_use]
    pub fn tables(&self) -> Tables<'_> {
        Tables::new(&self.name, &self.trace, &self.profile)
    }

    /// Nanoseconds of a number of ticks.
    #[must_use]
    pub fn ns(&self, ticks: u64) -> u64 {
        self.trace.clock().duration_ns(ticks)
    }

    /// Nanoseconds that boxes ran: what shares of time are of.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.ns(match self.compensation() {
            Some(compensation) => compensation.net_ticks,
            None => self.profile.total_ticks(),
        })
    }

    /// Shows times without the recorder's own, or as recorded.
    pub fn set_net(&self, net: bool) {
        self.net.store(net, Ordering::Relaxed);
    }

    /// Whether times are shown without the recorder's own.
    #[must_use]
    pub fn is_net(&self) -> bool {
        self.compensation().is_some()
    }

    /// The times without the recorder's own, if they are shown.
    #[must_use]
    pub fn compensation(&self) -> Option<&NetTimes> {
        let shown = self.net.load(Ordering::Relaxed);
        self.profile.net.as_ref().filter(|_| shown)
    }

    /// Self and inclusive time of a predicate, in ticks.
    #[must_use]
    pub fn predicate_times(&self, index: PredicateIndex) -> Times {
        let at = index as usize;
        if let Some(compensation) = self.compensation() {
            return compensation.predicates.get(at).copied().unwrap_or_default();
        }
        let figures = self.profile.predicates.get(at);
        figures.map_or_else(Times::default, |figures| Times {
            self_ticks: figures.self_ticks,
            inclusive_ticks: figures.inclusive_ticks,
        })
    }

    /// The same of a row of the call tree.
    #[must_use]
    pub fn context_times(&self, row: usize) -> Times {
        if let Some(compensation) = self.compensation() {
            return compensation.contexts.get(row).copied().unwrap_or_default();
        }
        let context = self.profile.contexts.get(row);
        context.map_or_else(Times::default, |context| Times {
            self_ticks: context.self_ticks,
            inclusive_ticks: context.inclusive_ticks,
        })
    }

    /// Time served and time spent of a caller and a callee, in ticks.
    #[must_use]
    pub fn edge_times(&self, caller: Caller, callee: PredicateIndex) -> EdgeTimes {
        let edge = (caller, callee);
        if let Some(compensation) = self.compensation() {
            return compensation.edges.get(&edge).copied().unwrap_or_default();
        }
        let figures = self.profile.edges.get(&edge);
        figures.map_or_else(EdgeTimes::default, |figures| EdgeTimes {
            served_ticks: figures.served_ticks,
            spent_ticks: figures.spent_ticks,
        })
    }

    /// Name of a predicate, escaped.
    #[must_use]
    pub fn predicate(&self, index: PredicateIndex) -> &str {
        self.trace.predicate_name(index)
    }

    /// Name of a caller, escaped.
    #[must_use]
    pub fn caller(&self, caller: Caller) -> &str {
        match caller {
            Caller::Root => ROOT,
            Caller::Predicate(index) => self.predicate(index),
        }
    }

    /// Name of a cost centre, escaped.
    #[must_use]
    pub fn center(&self, center: Center) -> &str {
        center.map_or(OUTSIDE, |index| self.predicate(index))
    }

    /// Events read, in all streams.
    #[must_use]
    pub fn events(&self) -> u64 {
        let streams = self.profile.streams.iter();
        streams.fold(0, |sum, stream| sum.saturating_add(stream.events))
    }

    /// File, as the trace names it, and line of the first clause of a predicate.
    #[must_use]
    pub fn source(&self, index: PredicateIndex) -> Option<(&str, u32)> {
        let declared = &self.trace.predicates().get(index as usize)?.declared;
        Some((self.trace.file(declared.file?)?, declared.line))
    }

    /// Where a source file of the trace is on this machine.
    #[must_use]
    pub fn locate(&self, file: &str) -> PathBuf {
        sources::locate(&self.path, &self.trace.header().directory, file)
    }

    /// Whether boxes of a predicate are part of their callers.
    #[must_use]
    pub fn hides(&self, index: PredicateIndex) -> bool {
        self.hidden.get(index as usize) == Some(&true)
    }

    /// The place of a row of the call tree, to look only there. A recursive call is where its context is.
    #[must_use]
    pub fn place(&self, context: usize) -> Option<FocusOn> {
        let rows = &self.profile.contexts;
        let mut path = Vec::new();
        let mut at = rows.get(context);
        while let Some(row) = at {
            if !row.recursive {
                path.push(row.predicate);
            }
            at = row.parent.and_then(|parent| rows.get(parent as usize));
        }
        path.reverse();
        (!path.is_empty()).then_some(FocusOn::Context(path))
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
    pub fn start(trace: Arc<Trace>, path: &Path, scope: Scope) -> Self {
        let progress = Arc::new(AtomicU64::new(0));
        let cancel = Arc::new(AtomicBool::new(false));
        let (sender, result) = channel();
        let job = Self {
            progress: Arc::clone(&progress),
            cancel: Arc::clone(&cancel),
            total: work(&trace, &scope),
            result,
        };
        let path = path.to_owned();
        thread::spawn(move || {
            if let Some(analysis) = Analysis::of(trace, &path, scope, &progress, &cancel) {
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
fn work(trace: &Trace, scope: &Scope) -> u64 {
    let mut times = 1;
    times += u64::from(scope.window().is_some());
    times += u64::from(trace.end().is_none() || !scope.focus().is_everything());
    trace.size().saturating_mul(times)
}
