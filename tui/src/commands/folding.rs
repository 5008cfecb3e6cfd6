//! Folding a recording while it is written (`record --keep figures`, and every one that becomes
//! large): the watcher of the program does it, so the program waits for nothing.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use portmortem_analyzer::index::{Fold, FoldError};
use portmortem_analyzer::trace::Trace;
use rayon::ThreadPoolBuilder;

use crate::cli::{KeepOption, RecordArgs};

/// How long nothing is done, at least, where there was nothing to do.
const MOMENT: Duration = Duration::from_millis(25);

/// Bytes a second that a program writes at most.
const FASTEST: u32 = 128 << 20;

/// So much of the room is folded at a time: figures are written each time, which takes as long as
/// folding some megabytes.
const PORTION: u64 = 16;

/// A recording that may be of this size before events make room is folded from such a part of it
/// on: then there is something to be written over when it has that size.
const BEGINNING: u64 = 4;

/// What is folded, and when.
#[derive(Debug, Clone)]
struct FoldPlan {
    /// The process that writes the trace.
    process: u32,
    /// Bytes that the trace may have.
    limit: u64,
    /// Bytes that the trace has when folding begins.
    from: u64,
    /// The trace has no limit: all of it stays unless it becomes larger than that.
    may_stay_whole: bool,
    /// By how much its priority is lower.
    nice: u8,
    /// Around which events others stay.
    keep_when: Option<String>,
}

impl FoldPlan {
    /// How long to wait before the trace is looked at again, if this time lay between the last two
    /// portions. Each look goes over all blocks of the room, so two a portion are enough. A program
    /// that becomes faster meanwhile fills no more than a quarter of the room.
    fn pause(&self, between: Duration) -> Duration {
        let quarter = Duration::from_secs(self.limit / 4) / FASTEST;
        (between / 2).min(quarter).max(MOMENT)
    }
}

/// A thread that folds a recording.
pub(crate) struct Folding {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<bool>>,
}

impl Folding {
    /// Begins to fold the trace at `path`, as soon as this process writes it, if it is one of which
    /// events are folded.
    pub(crate) fn of(path: &Path, process: u32, args: &RecordArgs) -> Option<Self> {
        let (limit, from, may_stay_whole) = match (args.keep, args.limit()) {
            (KeepOption::Figures(_), Some(limit)) => (limit, 0, false),
            (KeepOption::Auto(Some(size)), _) => (size, size / BEGINNING, true),
            _ => return None,
        };
        let plan = FoldPlan {
            process,
            limit,
            from,
            may_stay_whole,
            nice: args.nice,
            keep_when: args.keep_when.clone(),
        };
        Some(Self::begin(path, plan))
    }

    fn begin(path: &Path, plan: FoldPlan) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (stop, path) = (Arc::clone(&is_over), path.to_owned());
        let thread = thread::spawn(move || fold(&path, &plan, &stop));
        Self { is_over, thread }
    }

    /// Folds what is left, after the end of the program. Whether it was given up to look for what
    /// `--keep-when` holds for.
    pub(crate) fn finish(self) -> Result<bool> {
        self.is_over.store(true, Ordering::Release);
        self.thread.thread().unpark();
        let ended = self.thread.join();
        ended.unwrap_or_else(|_| Err(anyhow!("the thread that folds has failed")))
    }
}

fn fold(path: &Path, plan: &FoldPlan, is_over: &AtomicBool) -> Result<bool> {
    let Some(mut fold) = first(path, plan, is_over)? else {
        return Ok(false);
    };
    // On Linux it is that of this thread, and of those that it starts.
    if plan.nice > 0 {
        rustix::process::nice(plan.nice.into())?;
    }
    // One thread more would take a processor from the program.
    let pool = ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut failed = None;
    let mut pause = MOMENT;
    let mut before = Instant::now();
    while !is_over.load(Ordering::Acquire) {
        let folded = match failed {
            None => pool.install(|| fold.go_on(plan.limit / PORTION)),
            Some(_) => Ok(0),
        };
        match folded {
            Ok(1..) => {
                pause = plan.pause(before.elapsed());
                before = Instant::now();
            }
            // The recorder may be writing the header again, which cannot be read meanwhile.
            Ok(0) | Err(FoldError::Trace(_)) => thread::park_timeout(pause),
            Err(error) => failed = Some(error),
        }
    }
    // What is folded may be written over until the end.
    if plan.may_stay_whole && Trace::open(path).is_ok_and(|trace| !trace.header().mode.keep_last) {
        fold.leave()?;
        return Ok(false);
    }
    let ended = match failed {
        None => pool.install(|| fold.finish()),
        Some(error) => Err(error),
    };
    if ended.is_err() && !path.exists() {
        // Without the trace they are of no use.
        Fold::forget(path)?;
    }
    ended?;
    Ok(fold.gave_up_condition())
}

/// Waits until there is enough to be folded. `None`: the program ended before.
fn first(path: &Path, plan: &FoldPlan, is_over: &AtomicBool) -> Result<Option<Fold>> {
    loop {
        let over = is_over.load(Ordering::Acquire);
        // What is there may be of an earlier recording.
        let is_enough = || path.metadata().is_ok_and(|now| now.len() >= plan.from);
        let is_ours =
            || Trace::open(path).is_ok_and(|trace| trace.header().process == plan.process);
        match is_enough() && is_ours() {
            true if over && plan.may_stay_whole => return Ok(None),
            true => {
                let fold = Fold::begin(path, plan.limit)?;
                return Ok(Some(fold.keeping_when(plan.keep_when.as_deref())));
            }
            false if over => return Ok(None),
            false => thread::park_timeout(MOMENT),
        }
    }
}
