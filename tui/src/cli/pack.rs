//! The command line of `pack`.

use std::path::PathBuf;

use clap::Args;

/// `portmortem pack`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem pack run.pmt -o run.packed.pmt
  portmortem pack --unpack run.packed.pmt -o run.pmt

Every command reads a packed trace, with the same figures. It has about half to a quarter of the
size; reading all of it takes a little longer. Packed or not, the figures are kept beside the trace
by `index`. Of `record --keep figures` the file FILE.figures is copied, too.")]
pub(crate) struct PackArgs {
    /// The trace
    pub(crate) trace: PathBuf,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// The way back: write the trace that was packed
    #[arg(long)]
    pub(crate) unpack: bool,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
}
