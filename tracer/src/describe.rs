//! What a trace says about the process that it is of.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::clock;
use crate::format::{Header, Mode};

impl Header {
    /// The description of a recording of this process, made by `engine`, e.g. `SWI-Prolog 9.0.4`. The program's
    /// directory is taken to be the working directory.
    #[must_use]
    pub fn of_this_process(engine: &str) -> Self {
        let directory = std::env::current_dir().unwrap_or_default();
        let started = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            recorder: concat!("portmortem ", env!("CARGO_PKG_VERSION")).to_owned(),
            engine: engine.to_owned(),
            command: std::env::args_os()
                .map(|arg| arg.to_string_lossy().into_owned())
                .collect(),
            directory: directory.to_string_lossy().into_owned(),
            machine: machine(),
            process: std::process::id(),
            started_unix: started.as_secs(),
            clock: clock::source(),
            ticks_per_second: clock::ticks_per_second(),
            mode: Mode::default(),
        }
    }
}

/// `name (processor)`, as far as it is known.
fn machine() -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let name = read("/proc/sys/kernel/hostname");
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or(std::env::consts::ARCH, |(_, model)| model.trim());
    match name.trim() {
        "" => model.to_owned(),
        name => format!("{name} ({model})"),
    }
}
