//! The command line of `html`.

use std::path::PathBuf;

use clap::Args;

use super::ScopeArgs;

/// `portmortem html`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem html run.pmt                       writes run.html
  portmortem html run.pmt -o /tmp/slow.html --force
  portmortem html run.pmt --focus solve/2       only the work in solve/2
  portmortem html run.pmt -o - | ssh host 'cat > run.html'

One file that any browser opens, without a network: advice, the profile, callers and callees of a
predicate, a flame graph, a timeline, and the source with figures. It has figures and no events, so
it stays small, however long the trace is. The text of source files is in it, as in `annotate`.")]
pub(crate) struct HtmlArgs {
    /// The trace
    pub(crate) trace: PathBuf,
    /// The page to write, - for standard output [default: the trace's name with .html, in the
    /// current directory]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    /// Predicates to show: so many with the most time themselves, and so many with the most time
    /// including what they call; the others are summed up
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub(crate) top: usize,
    /// Also show the text of files that are neither in the program's directory nor the engine's
    /// libraries
    #[arg(long)]
    pub(crate) outside: bool,
    /// Which part of the trace to look at
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}
