//! How much memory this process takes at most.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// The kernel keeps no high-water mark of anonymous memory, so it is looked at this often.
const EVERY: Duration = Duration::from_millis(1);

/// Peaks in KiB.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Peak {
    /// Memory that is not part of a file, as seen in samples.
    pub(crate) anonymous: u64,
    /// All, pages of mapped files included.
    pub(crate) resident: u64,
}

/// Runs `action` and watches the process meanwhile.
pub(crate) fn watch(action: impl FnOnce() -> Result<()>) -> Result<Peak> {
    let done = AtomicBool::new(false);
    let anonymous = thread::scope(|scope| {
        let sampler = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::Relaxed) {
                most = most.max(status("RssAnon").unwrap_or(0));
                thread::sleep(EVERY);
            }
            most
        });
        let result = action();
        done.store(true, Ordering::Relaxed);
        let most = sampler.join();
        result.map(|()| most.unwrap_or(0))
    })?;
    Ok(Peak {
        anonymous,
        resident: status("VmHWM")?,
    })
}

/// A line of `/proc/self/status`, in KiB.
fn status(name: &str) -> Result<u64> {
    let text = fs::read_to_string("/proc/self/status")?;
    let rest = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    rest.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok())
        .with_context(|| format!("no {name} in /proc/self/status"))
}
