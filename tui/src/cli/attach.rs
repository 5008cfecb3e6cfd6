//! The command line of `attach`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use jiff::SignedDuration;

use super::keep::large_at;
use crate::size::parse_size;

/// `portmortem attach`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem attach 4711 --for 10s                    ten seconds of process 4711
  portmortem attach 4711                              until ^C
  portmortem attach $(pgrep -f server.pl) --for 10s -o /tmp/slow.pmt
  portmortem attach 4711 --for 1m --include 'shop:*'  one module, and what it calls directly
  portmortem attach 4711 --max-size 200M --keep last  until ^C, the newest 200 MB

The program must have been told that it may be recorded:
  :- use_module(library(portmortem)).
  :- initialization(pm_listen).                       after a fork into the background
or it has loaded the library, and was started with the environment variable PORTMORTEM_LISTEN=1.
Only its user can attach. Afterwards it goes on as fast as before; it can be attached to again.

The first ^C ends the recording, a second one does not wait for that. If this command is killed,
the program ends the recording by itself.")]
pub(crate) struct AttachArgs {
    /// The number of the process
    #[arg(value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) process: u32,
    /// How long to record, e.g. 10s, 500ms or 2m (default: until ^C)
    #[arg(long = "for", value_name = "TIME", value_parser = parse_time)]
    pub(crate) time: Option<Duration>,
    /// The trace to write (default: attached-PID.pmt, in the current directory). An older trace of
    /// that name is replaced
    #[arg(short, long, value_name = "TRACE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file even if it is not a trace
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not say at the end where the trace is and what to type next
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Record only these predicates or modules, with the built-in and library predicates that they
    /// call directly (may be given more than once)
    #[arg(long, value_name = "GLOB")]
    pub(crate) include: Vec<String>,
    /// Leave out these predicates or modules: their time goes to their callers
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Leave out the built-in and library predicates that the program calls directly: their time
    /// goes to their callers
    #[arg(long)]
    pub(crate) no_boundary: bool,
    /// Record which clause of each predicate is entered, for `report --clauses`
    #[arg(long)]
    pub(crate) clauses: bool,
    /// Of these predicates, record a hash of the arguments of each call, and the sizes of the first
    /// four (may be given more than once)
    #[arg(long = "arguments", value_name = "GLOB")]
    pub(crate) keep_arguments: Vec<String>,
    /// Of these predicates, record a hash and the size of each argument at calls and exits (may be
    /// given more than once)
    #[arg(long = "values", value_name = "GLOB")]
    pub(crate) keep_values: Vec<String>,
    /// Record library predicates too
    #[arg(long)]
    pub(crate) libraries: bool,
    /// Record built-in predicates too
    #[arg(long)]
    pub(crate) builtins: bool,
    /// Limit the size of the trace, e.g. 500M or 2G (default: 4G, or a tenth of the free space)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_size: Option<u64>,
    /// What to keep when the limit is reached
    #[arg(long, value_enum, default_value_t = KeptPart::First)]
    pub(crate) keep: KeptPart,
}

/// Which part of a recording to keep at its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeptPart {
    /// The beginning: recording stops, the program goes on
    First,
    /// The end: a flight recorder
    Last,
}

impl AttachArgs {
    /// What the program is asked for: options of `pm_start/2` for a trace at this absolute path.
    pub(crate) fn settings(&self, trace: &Path, force: bool) -> Vec<String> {
        let limit = self.max_size.unwrap_or_else(|| large_at(trace));
        let keep = match self.keep {
            KeptPart::First => "first",
            KeptPart::Last => "last",
        };
        let mut all = vec![
            format!("output={}", trace.display()),
            format!("max_size={limit}"),
            format!("keep={keep}"),
        ];
        let given = [
            ("force=true", force),
            ("boundary=false", self.no_boundary),
            ("clauses=true", self.clauses),
            ("libraries=true", self.libraries),
            ("builtins=true", self.builtins),
        ];
        all.extend(
            given
                .iter()
                .filter(|(_, is)| *is)
                .map(|(text, _)| (*text).to_owned()),
        );
        for (key, patterns) in [
            ("include", &self.include),
            ("exclude", &self.exclude),
            ("arguments", &self.keep_arguments),
            ("values", &self.keep_values),
        ] {
            all.extend(patterns.iter().map(|pattern| format!("{key}={pattern}")));
        }
        all
    }
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let time: Option<SignedDuration> = text.parse().ok();
    let time = time.and_then(|time| Duration::try_from(time).ok());
    time.filter(|time| !time.is_zero())
        .ok_or_else(|| "not a time; write for example 10s, 500ms or 2m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(parse_time("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(parse_time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_time("1h30m"), Ok(Duration::from_secs(5400)));
        for text in ["", "10", "-1s", "0s", "soon"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
