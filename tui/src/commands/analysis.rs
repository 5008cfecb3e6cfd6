//! What every command on a trace does first: open it, replay it, check the sums; with a progress bar if that takes long.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use portmortem_analyzer::figures::laws::{self, Imbalance};
use portmortem_analyzer::index;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::{Profile, ReplayOptions, Tables, replay};
use portmortem_screens::Scope;

use crate::report::{Report, losses};

/// Done, but parts of the trace were lost or damaged.
pub(crate) const INCOMPLETE: u8 = 3;

/// A trace and its profile.
pub(crate) struct Analysis {
    /// The trace.
    pub(crate) trace: Trace,
    /// The figures of the part that is looked at.
    pub(crate) profile: Profile,
    /// Which part that is.
    scope: Scope,
    /// Sums that do not come out.
    pub(crate) imbalances: Vec<Imbalance>,
    /// What the tables call the trace: its file name without extension.
    name: String,
}

impl Analysis {
    /// Opens the trace at `path`, which is called by its file name without extension, and takes its figures
    /// from its index, if it has one, or replays it. `scope` says which part of it to look at.
    pub(crate) fn of(path: &Path, scope: impl FnOnce(&Trace) -> Result<Scope>) -> Result<Self> {
        let done = AtomicU64::new(0);
        let trace = Trace::open(path)?;
        let scope = scope(&trace)?;
        with_progress(trace.size(), &done, || {
            Self::indexed(trace, path, name_of(path), scope, &done)
        })
    }

    /// Reads every event of the trace at `path`, whether or not it has an index.
    pub(crate) fn replayed(path: &Path) -> Result<Self> {
        let done = AtomicU64::new(0);
        let trace = Trace::open(path)?;
        let options = ReplayOptions {
            progress: Some(&done),
            ..ReplayOptions::default()
        };
        let profile = with_progress(trace.size(), &done, || replay(&trace, &options));
        trace.check_whole(path)?;
        Ok(Self::new(trace, profile, name_of(path)))
    }

    /// An opened trace, the file at `path`; adds to `done` the bytes that are read. Whoever reads events of the trace later
    /// must ask again whether it is whole.
    pub(crate) fn indexed(
        trace: Trace,
        path: &Path,
        name: String,
        scope: Scope,
        done: &AtomicU64,
    ) -> Result<Self> {
        let options = ReplayOptions {
            progress: Some(done),
            ..scope.options()
        };
        let profile = index::profile(&trace, path, &options);
        trace.check_whole(path)?;
        Ok(Self {
            scope,
            ..Self::new(trace, profile, name)
        })
    }

    fn new(trace: Trace, profile: Profile, name: String) -> Self {
        let imbalances = laws::check(&profile);
        Self {
            trace,
            profile,
            scope: Scope::default(),
            imbalances,
            name,
        }
    }

    /// As tables.
    pub(crate) fn tables(&self) -> Tables<'_> {
        Tables::new(&self.name, &self.trace, &self.profile)
    }

    /// Whether parts of the trace are missing.
    pub(crate) fn is_incomplete(&self) -> bool {
        !self.losses().is_empty()
    }

    /// Which parts of the trace are missing, a line each.
    pub(crate) fn losses(&self) -> Vec<String> {
        losses(&self.report())
    }

    /// As a report.
    pub(crate) fn report(&self) -> Report<'_> {
        Report {
            trace: &self.trace,
            profile: &self.profile,
            tables: self.tables(),
            scope: &self.scope,
            imbalances: &self.imbalances,
        }
    }

    /// The exit status: whether parts of the trace are missing.
    pub(crate) fn exit_code(&self) -> ExitCode {
        if self.is_incomplete() {
            ExitCode::from(INCOMPLETE)
        } else {
            ExitCode::SUCCESS
        }
    }
}

/// What the tables call a trace.
fn name_of(path: &Path) -> String {
    let name = path.file_stem().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Nothing is drawn for what takes less.
const PATIENCE: Duration = Duration::from_secs(1);

/// Does `work`, which counts up `done` to `total` bytes, and draws a bar on a terminal meanwhile.
pub(crate) fn with_progress<T>(total: u64, done: &AtomicU64, work: impl FnOnce() -> T) -> T {
    with_progress_of(total, &|| done.load(Ordering::Relaxed), work)
}

/// [`with_progress`] for work whose progress has to be asked for.
pub(crate) fn with_progress_of<T>(
    total: u64,
    done: &(dyn Fn() -> u64 + Sync),
    work: impl FnOnce() -> T,
) -> T {
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let drawer = scope.spawn(|| draw(total, done, &finished));
        // Also if the work panics: the scope waits for the thread that draws.
        let _finish = Finish {
            finished: &finished,
            drawer: drawer.thread(),
        };
        work()
    })
}

/// Ends the drawing when it goes.
struct Finish<'f> {
    finished: &'f AtomicBool,
    drawer: &'f Thread,
}

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.finished.store(true, Ordering::Release);
        self.drawer.unpark();
    }
}

fn draw(total: u64, done: &dyn Fn() -> u64, finished: &AtomicBool) {
    let begin = Instant::now();
    let mut bar: Option<ProgressBar> = None;
    while !finished.load(Ordering::Acquire) {
        thread::park_timeout(Duration::from_millis(100));
        if begin.elapsed() < PATIENCE {
            continue;
        }
        let bar = bar.get_or_insert_with(|| new_bar(total));
        bar.set_position(done());
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

/// On standard error, and only if that is a terminal.
fn new_bar(total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{bar:40} {percent:>3} %  {bytes} of {total_bytes}, {eta} left",
    )
    .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(total).with_style(style)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// It used to wait for ever.
    #[test]
    fn a_panic_ends_the_progress_bar() {
        let work = || with_progress(1, &AtomicU64::new(0), || panic!("a defect"));
        let panicked = catch_unwind(AssertUnwindSafe(work));
        assert!(panicked.is_err());
        assert_eq!(with_progress(1, &AtomicU64::new(0), || 7), 7);
    }
}
