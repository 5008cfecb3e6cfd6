//! What every command on a trace does first: open it, replay it, check the sums; with a progress bar if that takes long.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use portmortem_analyzer::index::Beside;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::names::printable;
use portmortem_analyzer::{Analysis, Filters, Progress};

use crate::report::losses;

/// Done, but parts of the trace were lost or damaged.
pub(super) const INCOMPLETE: u8 = 3;

/// The figures of the trace at `path`; `filters` says which part of it to look at.
pub(crate) fn analyse(
    path: &Path,
    filters: impl FnOnce(&Trace) -> Result<Filters>,
) -> Result<Analysis> {
    read(path, filters, false)
}

/// The same, with the times of single calls if they will be asked for.
pub(crate) fn read(
    path: &Path,
    filters: impl FnOnce(&Trace) -> Result<Filters>,
    with_calls: bool,
) -> Result<Analysis> {
    let done = AtomicU64::new(0);
    let trace = Trace::open(path)?;
    let filters = filters(&trace)?;
    let name = printable(&path.to_string_lossy());
    match Beside::of(&trace, path) {
        Beside::Figures if !filters.is_everything() => bail!(
            "{name}: its events were folded into figures of the whole run, and --time, --stream, --focus \
             and --hide need them; `events` shows those that were kept"
        ),
        Beside::Useless => {
            let _ = writeln!(
                io::stderr(),
                "warning: {name}: the figures of all its events ({name}.figures) are of another version of Portmortem, of \
                 another trace, or damaged; what follows is of the newest events only"
            );
        }
        Beside::Figures | Beside::Nothing => {}
    }
    let size = trace.size();
    let of = if with_calls {
        Analysis::with_calls
    } else {
        Analysis::of
    };
    let analysis = with_progress(size, &done, || of(trace, path, filters, &done))?;
    Ok(analysis)
}

/// The figures of the whole trace at `path`.
pub(crate) fn analyse_all(path: &Path) -> Result<Analysis> {
    analyse(path, |_| Ok(Filters::default()))
}

/// The exit status: whether parts of the trace are missing.
pub(crate) fn exit_code(analysis: &Analysis) -> ExitCode {
    if losses(analysis).is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(INCOMPLETE)
    }
}

/// Says on standard error what was lost of a trace, if anything was; whether it was.
pub(super) fn warn_of_losses(analysis: &Analysis) -> bool {
    let losses = losses(analysis);
    if !losses.is_empty() {
        let path = printable(&analysis.path.to_string_lossy());
        let _ = writeln!(io::stderr(), "warning: {path}: {}", losses.join("; "));
    }
    !losses.is_empty()
}

/// Nothing is drawn for what takes less.
const PATIENCE: Duration = Duration::from_secs(1);

/// Does `work`, which counts up `done` to `total` bytes, and draws a bar on a terminal meanwhile.
pub(super) fn with_progress<T>(total: u64, done: &AtomicU64, work: impl FnOnce() -> T) -> T {
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

/// [`with_progress`] for work on a trace of this size that finds out itself how much there is to
/// do.
pub(super) fn with_share_of<T>(size: u64, work: impl FnOnce(&Progress) -> T) -> T {
    let progress = Progress::default();
    let done = || (progress.share() * size as f64) as u64;
    with_progress_of(size, &done, || work(&progress))
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
