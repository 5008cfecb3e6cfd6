//! Folding a recording while it is written (`record --keep figures`): the watcher of the program
//! does it, so the program waits for nothing.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Result, anyhow};
use portmortem_analyzer::index::Fold;
use portmortem_analyzer::trace::Trace;
use rayon::ThreadPoolBuilder;

/// How long nothing is done where there was nothing to do.
const MOMENT: Duration = Duration::from_millis(25);

/// So much of the room is folded at a time: figures are written each time, which takes as long as
/// folding some megabytes.
const PORTION: u64 = 16;

/// A thread that folds a recording.
pub(crate) struct Folding {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<()>>,
}

impl Folding {
    /// Begins to fold the trace at `path`, as soon as this process writes it. It has room for
    /// `limit` bytes.
    pub(crate) fn begin(path: &Path, process: u32, limit: u64) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (stop, path) = (Arc::clone(&is_over), path.to_owned());
        let thread = thread::spawn(move || fold(&path, process, limit, &stop));
        Self { is_over, thread }
    }

    /// Folds what is left, after the end of the program.
    pub(crate) fn finish(self) -> Result<()> {
        self.is_over.store(true, Ordering::Release);
        let ended = self.thread.join();
        ended.unwrap_or_else(|_| Err(anyhow!("the thread that folds has failed")))
    }
}

fn fold(path: &Path, process: u32, limit: u64, is_over: &AtomicBool) -> Result<()> {
    // One thread more would take a processor from the program.
    let pool = ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut fold = loop {
        let over = is_over.load(Ordering::Acquire);
        match Trace::open(path) {
            Ok(trace) if trace.header().process == process => break Fold::begin(path, limit)?,
            // There never was one.
            _ if over => return Ok(()),
            _ => thread::sleep(MOMENT),
        }
    };
    while !is_over.load(Ordering::Acquire) {
        if pool.install(|| fold.go_on(limit / PORTION))? == 0 {
            thread::sleep(MOMENT);
        }
    }
    Ok(pool.install(|| fold.finish())?)
}
