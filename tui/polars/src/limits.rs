//! What the SQL engine is held to. It may end this process all the same; `portmortem`, which started
//! it, makes an error of that.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;

use anyhow::{Context, Result};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::stdio::dup2_stderr;

/// Takes no more memory than there is, leaves no core behind, and ends with the process that waits
/// for this one.
pub(crate) fn limit() -> Result<()> {
    limit_to(Resource::Core, 0)?;
    if let Some(bytes) = available_memory() {
        limit_to(Resource::Data, bytes)?;
    }
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
    Ok(())
}

/// Does what must not take longer than some seconds of processor time, from the beginning of the
/// process.
pub(crate) fn within<T>(seconds: u64, work: impl FnOnce() -> T) -> Result<T> {
    let before = limit_to(Resource::Cpu, seconds)?;
    let done = work();
    setrlimit(Resource::Cpu, before).context(NO_LIMIT)?;
    Ok(done)
}

const NO_LIMIT: &str = "cannot set a limit";

/// The limit that was before.
fn limit_to(resource: Resource, most: u64) -> Result<Rlimit> {
    let before = getrlimit(resource);
    let limit = Rlimit {
        current: Some(before.current.map_or(most, |current| current.min(most))),
        maximum: before.maximum,
    };
    setrlimit(resource, limit).context(NO_LIMIT)?;
    Ok(before)
}

/// Bytes that can be had without taking them from others, if the system says.
fn available_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes.saturating_mul(1024))
}

/// Nothing is said on standard error meanwhile: a library tells of its panics there, and the system
/// of overflows.
pub(crate) fn silently<T>(work: impl FnOnce() -> T) -> io::Result<T> {
    let before: OwnedFd = rustix::io::dup(io::stderr())?;
    dup2_stderr(File::options().write(true).open("/dev/null")?)?;
    let done = work();
    dup2_stderr(before)?;
    Ok(done)
}
