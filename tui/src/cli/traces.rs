//! The command line of commands that say something of each trace: `info` and `verify`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `portmortem info` and `portmortem verify`
#[derive(Debug, Args)]
pub(crate) struct TracesArgs {
    /// The traces; patterns with *, ? and [] are expanded (** for any depth of directories)
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = TracesFormat::Text)]
    pub(crate) format: TracesFormat,
}

/// How that is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TracesFormat {
    /// For people
    Text,
    /// An array with an object for each trace
    Json,
}
