//! `portmortem try` and `portmortem diagnose`

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{AdviseFormat, ProgramArgs, USUAL_LEAST, parse_percent};

/// How a program runs that is tried.
#[derive(Debug, Args)]
pub(crate) struct TrialArgs {
    /// What is tried
    #[command(flatten)]
    pub(crate) run: ProgramArgs,
    /// How often each of the programs runs (default: 5 times; 3 if that takes 30 s)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(5..=100))]
    pub(crate) runs: Option<u32>,
    /// A run that takes longer is ended: an error, if it is the program as it is
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) time_limit: u64,
    /// Findings that cost a smaller share of the time are left out, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = USUAL_LEAST, value_parser = parse_percent)]
    pub(crate) least: f64,
    /// Tell also of findings without a change that can be tried, and why
    #[arg(long)]
    pub(crate) untried: bool,
    /// Write the best of the confirmed changes as a patch for `patch -p0`; an older file is
    /// replaced
    #[arg(long, value_name = "FILE")]
    pub(crate) patch: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = AdviseFormat::Text)]
    pub(crate) format: AdviseFormat,
}

impl TrialArgs {
    /// How long a run may take.
    pub(crate) fn limit(&self) -> Duration {
        Duration::from_secs(self.time_limit)
    }
}

/// `portmortem try`
#[derive(Debug, Args)]
#[command(
    after_help = "\
Examples:
  portmortem try program.pl
  portmortem try program.pl input.txt < data
  portmortem try -g 'main(8)' program.pl
  portmortem try -- swipl -O -p lib=src app.pl x    any command of SWI-Prolog, with its own options
  portmortem try program.pl --patch faster.patch && patch -p0 < faster.patch
  portmortem try program.pmt                 the command that the trace was recorded with

The program is recorded once, unless there is a trace (which does not keep the goal of `record -g`: say
it again). Then it runs as it is, and with each change, in
turn and unrecorded; all its effects happen again each time. Standard input is read once and given to
each run; of a terminal nothing is read. Changes are made in memory, and no file of the program is
written. The patch has the fastest combination of what is confirmed: the change that gains most, and each
other one with which the program is confirmed to be faster still.
  confirmed  same output and exit status, and each run was faster than all without the change
  refuted    other output, another exit status, or no faster
  undecided  the runs differ by more than the gain: try more --runs

Exit status: 0 done, whatever was confirmed; 1 error; 2 usage; 3 done, but parts of the trace were lost.",
    override_usage = "portmortem try [OPTIONS] [FILE.pl|TRACE] [ARGS]... [-- <ARGS>...]"
)]
pub(crate) struct TryArgs {
    /// How it is tried
    #[command(flatten)]
    pub(crate) how: TrialArgs,
}

/// `portmortem diagnose`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem diagnose program.pl
  portmortem diagnose program.pl input.txt < data
  portmortem diagnose -- swipl -O -p lib=src app.pl x
  portmortem diagnose program.pl -o /tmp/run.pmt --patch faster.patch

The program is recorded; recorded again if findings need more than a plain recording has; and then run
as it is and with each change, as `portmortem try` does. All its effects happen again each time. How often
it will run is said on standard error before it does. The page at the end says what the time is, what
to change, what was tried, and what was confirmed. Two traces are left at most: program.pmt and
program.more.pmt. If it is interrupted or fails, none is.

Exit status: 0 done, whatever was found; 1 error; 2 usage; 3 done, but parts of the trace were lost.")]
pub(crate) struct DiagnoseArgs {
    /// How it is tried
    #[command(flatten)]
    pub(crate) how: TrialArgs,
    /// The trace to write (default: the program's name with .pmt, in the current directory). An
    /// older trace of that name is replaced
    #[arg(short, long, value_name = "TRACE")]
    pub(crate) output: Option<PathBuf>,
}
