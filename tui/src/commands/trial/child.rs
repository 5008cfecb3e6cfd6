//! One run of a program: what it printed, how it ended, and what it took.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::ending::Ending;

/// What a run did.
pub(super) struct ChildRun {
    pub(super) status: ExitStatus,
    /// Processor time of the process and of all that it waited for.
    pub(super) seconds: f64,
    pub(super) elapsed: Duration,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Runs it. `None` if it took longer than `limit`.
///
/// # Errors
/// If it cannot be started.
pub(super) fn run(
    mut command: Command,
    input: &Path,
    directory: &Path,
    limit: Duration,
    ending: &Ending,
) -> Result<Option<ChildRun>> {
    let (out, err) = (directory.join("stdout"), directory.join("stderr"));
    command.stdin(File::open(input)?);
    command
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?);
    let begin = Instant::now();
    let child = ending.start(&mut command);
    let child = child.with_context(|| format!("cannot run {}", command.get_program().display()))?;
    let (id, of) = (libc::pid_t::try_from(child.id())?, Pid::from_child(&child));
    let (tell, ended) = mpsc::channel();
    thread::spawn(move || {
        // The child stays to be waited for, so that its number is its own.
        let end = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let _ = retry_on_intr(|| waitid(WaitId::Pid(of), end));
        let _ = tell.send(begin.elapsed());
    });
    let elapsed = ended.recv_timeout(limit).ok();
    let (status, seconds) = ending.end(|| reap(id))?;
    let Some(elapsed) = elapsed else {
        return Ok(None);
    };
    Ok(Some(ChildRun {
        status,
        seconds,
        elapsed,
        stdout: fs::read(out)?,
        stderr: fs::read(err)?,
    }))
}

fn reap(id: libc::pid_t) -> Result<(ExitStatus, f64)> {
    let mut status = 0;
    // SAFETY: the structure is ours, and of plain numbers; the child is ours.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        while libc::wait4(id, &raw mut status, 0, &raw mut usage) < 0 {
            let error = std::io::Error::last_os_error();
            if error.kind() != std::io::ErrorKind::Interrupted {
                return Err(error.into());
            }
        }
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let all = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    Ok((ExitStatus::from_raw(status), all))
}
