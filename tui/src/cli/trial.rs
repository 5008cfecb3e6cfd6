//! `portmortem try`

use std::path::PathBuf;

use clap::Args;

use super::{AdviseFormat, parse_percent};

/// `portmortem try`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem try program.pl
  portmortem try program.pl -- input.txt < data
  portmortem try program.pl --patch faster.patch && patch -p0 < faster.patch

The program is recorded once. Then it runs as it is, and with each change, in turn and unrecorded; all
its effects happen again each time. Standard input is read once and given to each run; of a terminal
nothing is read. Changes are made in memory, and no file of the program is written.
  confirmed  same output and exit status, and each run was faster than all without the change
  refuted    other output, another exit status, or no faster
  undecided  the runs differ by more than the gain: try more --runs

Exit status: 0 done, whatever was confirmed; 1 error; 2 usage.")]
pub(crate) struct TryArgs {
    /// The Prolog file to run
    #[arg(value_name = "FILE.pl")]
    pub(crate) program: PathBuf,
    /// Arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) arguments: Vec<String>,
    /// Goal to run once, then halt (default: run FILE.pl as `swipl FILE.pl` does)
    #[arg(short, long)]
    pub(crate) goal: Option<String>,
    /// How often each of the programs runs
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(5..=100))]
    pub(crate) runs: u32,
    /// Findings that cost a smaller share of the time are left out, in percent
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = parse_percent)]
    pub(crate) least: f64,
    /// Write the confirmed changes as a patch for `patch -p0`; an older file is replaced
    #[arg(long, value_name = "FILE")]
    pub(crate) patch: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = AdviseFormat::Text)]
    pub(crate) format: AdviseFormat,
    /// The SWI-Prolog to use
    #[arg(long, value_name = "PATH", default_value = "swipl")]
    pub(crate) swipl: PathBuf,
}
