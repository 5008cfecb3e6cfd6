//! What a signal undoes when it ends the program: the run that goes on, temporary files, and traces
//! that are not complete. A thread waits for signals, so that they act while a trace is analysed.

use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// A process that was killed is waited for so long before its files are removed.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is undone at the end, whichever end that is.
#[derive(Debug)]
pub(crate) struct Ending(Arc<Mutex<Unfinished>>);

#[derive(Debug, Default)]
struct Unfinished {
    /// The process that runs, and leads a group of its own.
    running: Option<Pid>,
    directory: PathBuf,
    /// Files that are not complete, and when they were written before.
    files: Vec<(PathBuf, Option<SystemTime>)>,
}

impl Ending {
    /// Waits for signals from now on. `directory` has the temporary files.
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub(super) fn new(directory: &Path) -> Result<Self> {
        let unfinished = Arc::new(Mutex::new(Unfinished {
            directory: directory.to_owned(),
            ..Unfinished::default()
        }));
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let of_thread = Arc::clone(&unfinished);
        let waits = move || {
            if let Some(signal) = signals.forever().next() {
                // Held to the end: no other thread starts a program or removes a file any more.
                let mut unfinished = of_thread.lock().unwrap_or_else(PoisonError::into_inner);
                unfinished.undo();
                let _ = fs::remove_dir_all(&unfinished.directory);
                let _ = writeln!(io::stderr(), "portmortem: interrupted");
                let _ = emulate_default_handler(signal);
            }
        };
        thread::Builder::new()
            .spawn(waits)
            .context("cannot wait for signals")?;
        Ok(Self(unfinished))
    }

    /// Starts a process that leads a group of its own.
    pub(super) fn start(&self, command: &mut Command) -> io::Result<Child> {
        let mut unfinished = self.locked();
        let child = command.process_group(0).spawn()?;
        unfinished.running = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Ok(child)
    }

    /// Ends what runs and what it left behind, and waits for it by `reap`.
    pub(super) fn end<T>(&self, reap: impl FnOnce() -> T) -> T {
        let mut unfinished = self.locked();
        unfinished.kill();
        let reaped = reap();
        unfinished.running = None;
        reaped
    }

    /// A file is written that is removed unless all goes well. What was there before and is not
    /// touched stays.
    pub(crate) fn begin(&self, path: &Path) {
        self.locked().files.push((path.to_owned(), written(path)));
    }

    /// The file is complete.
    pub(crate) fn keep(&self, path: &Path) {
        self.locked().files.retain(|(file, _)| file != path);
    }

    fn locked(&self) -> MutexGuard<'_, Unfinished> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.locked().undo();
    }
}

impl Unfinished {
    fn kill(&self) {
        if let Some(group) = self.running {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Ends what runs and removes what is not complete.
    fn undo(&mut self) {
        self.kill();
        let begin = Instant::now();
        let ends = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while let Some(process) = self.running
            && let Ok(None) = waitid(WaitId::Pid(process), ends)
            && begin.elapsed() < PATIENCE
        {
            thread::sleep(Duration::from_millis(5));
        }
        for (path, before) in self.files.drain(..) {
            if written(&path) != before {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

fn written(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}
