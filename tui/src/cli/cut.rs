//! The command line of `cut`.

use std::path::PathBuf;

use clap::Args;

/// `portmortem cut`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem cut run.pmt --time 1.5s..2s -o part.pmt
  portmortem cut run.pmt --time load..solve -o part.pmt      from pm_mark(load) to pm_mark(solve)
  portmortem cut run.pmt --time 2s.. --stream main -o part.pmt
  portmortem cut run.pmt --time 1s..2s -o part.pmt && portmortem pack part.pmt -o small.pmt

Every command reads the part, with the figures that `--time` gives of the whole trace, to the tick.
It has the events of that time, and of those before only what the boxes need that are active or can
be re-entered when it begins. What is open when it ends is open at its end.")]
pub(crate) struct CutArgs {
    /// The trace
    pub(crate) trace: PathBuf,
    /// Which range of time since the beginning, e.g. 1.5ms..2s, ..2s or 2s..; ends may be texts of
    /// `pm_mark`, e.g. load..solve
    #[arg(long, value_name = "FROM..UNTIL")]
    pub(crate) time: String,
    /// Only this stream, by its number or name (may be given more than once)
    #[arg(long, value_name = "STREAM")]
    pub(crate) stream: Vec<String>,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
}
