//! The recording that is shown: its file, the trace in it as it was read last, whether that still
//! grows, and the recordings that are shown beside it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use portmortem_analyzer::trace::names::printable;
use portmortem_analyzer::trace::{Trace, TraceError};
use portmortem_analyzer::{Analysis, Filters, SoFar, remarks};

use super::follow::Follow;
use crate::analysis::{AnalysisView, analyse};
use crate::format::size;
use crate::worker::Worker;

/// What is shown, and what it is compared with.
#[derive(Debug)]
pub(super) struct OpenRecording {
    path: PathBuf,
    trace: Arc<Trace>,
    /// How far a trace is replayed that is still being recorded.
    so_far: Arc<SoFar>,
    /// The recordings to compare with.
    before: Vec<PathBuf>,
    /// Further recordings of what is shown.
    beside: Vec<PathBuf>,
    /// The trace is still being recorded.
    follow: Option<Follow>,
}

impl OpenRecording {
    pub(super) fn new(trace: Trace, path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            trace: Arc::new(trace),
            so_far: Arc::default(),
            before: Vec::new(),
            beside: Vec::new(),
            follow: None,
        }
    }

    /// Compares it with other recordings.
    pub(super) fn compare_with(&mut self, before: impl IntoIterator<Item = PathBuf>) {
        self.before = before.into_iter().collect();
    }

    /// Shows further recordings with it.
    pub(super) fn show_beside(&mut self, others: impl IntoIterator<Item = PathBuf>) {
        self.beside = others.into_iter().collect();
    }

    /// Whether it is to be read again whenever it may have grown.
    pub(super) fn follow(&mut self, follow: bool) {
        self.follow = follow.then(Follow::new);
    }

    pub(super) fn is_followed(&self) -> bool {
        self.follow.is_some()
    }

    /// The trace as it was read last.
    pub(super) fn trace(&self) -> &Arc<Trace> {
        &self.trace
    }

    /// What its file is called.
    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        printable(&name.to_string_lossy())
    }

    /// Whether the file still has all that it had.
    pub(super) fn check_whole(&self) -> Result<(), TraceError> {
        self.trace.check_whole(&self.path)
    }

    /// Begins to replay what these filters leave.
    pub(super) fn analyse(&self, filters: Filters) -> Worker<Analysis> {
        analyse(Arc::clone(&self.trace), &self.path, filters, &self.so_far)
    }

    /// Figures beside those of the other recordings, with sources or without.
    pub(super) fn view(&self, analysis: Analysis, sources: bool) -> AnalysisView {
        AnalysisView::new(Arc::new(analysis), sources)
            .compared_with(&self.before, &self.beside)
            .followed(self.is_followed())
    }

    /// Reads the trace again, as it is now. `true` if all predicates are where they were.
    pub(super) fn read_again(&mut self) -> Result<bool, TraceError> {
        let trace = Trace::open(&self.path)?;
        let (old, new) = (self.trace.predicates(), trace.predicates());
        let same = old
            .iter()
            .zip(new)
            .all(|(old, new)| old.declared == new.declared);
        let same = same && new.len() >= old.len();
        self.trace = Arc::new(trace);
        Ok(same)
    }

    /// Whether it is followed and to be read again. If so, it is read now.
    pub(super) fn begin_if_due(&mut self) -> bool {
        let follow = self.follow.as_mut();
        follow.is_some_and(|follow| follow.begin_if_due(Instant::now()))
    }

    /// Its figures are there. Returns what to say if it was followed and has ended.
    pub(super) fn figures_came(&mut self, analysis: &AnalysisView) -> Option<String> {
        let follow = self.follow.as_mut()?;
        follow.figures_came(Instant::now(), analysis.events());
        analysis.trace.end()?;
        self.follow = None;
        let ending = remarks::ending(&analysis.trace);
        Some(format!("the recording ended: {ending}"))
    }

    /// What is said of it while it is still being recorded: events a second, how old the figures
    /// are, its size.
    pub(super) fn growth(&self) -> Option<String> {
        let [pace, behind] = self.follow.as_ref()?.in_words();
        let size = size(self.trace.size());
        let parts = [Some("recording".to_owned()), pace, behind, Some(size)];
        Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}
