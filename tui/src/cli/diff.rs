//! The command line of `diff`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use portmortem_analyzer::comparison::Limit;

use super::{OutcomeFormat, ScopeArgs, named_twice};

/// `portmortem diff`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem diff before.pmt after.pmt                   what changed, the cause first
  portmortem diff a1.pmt,a2.pmt,a3.pmt b1.pmt,b2.pmt     the same with the noise of times
  portmortem diff old.pmt new.pmt --fail-if 'calls +10%' --fail-if 'self +5ms'
  portmortem diff old.pmt new.pmt --sites --format csv > changes.csv
  portmortem diff old.pmt new.pmt --by test --fail-if 'test.calls > 10 %'

A limit is calls, exits, redos, fails, exceptions, left (exits that leave a choicepoint) or self,
then + (or >) or - and how much at most: a number, a time, or percent. If a predicate or the sum of
all breaks one, the exit status is 1 and the error names them. With test. before the figure, a limit
is for each test of plunit that is on both sides; recordings have tests with `record --tests`.")]
pub(crate) struct DiffArgs {
    /// Recordings before the change, with commas between
    #[arg(value_name = "BEFORE", value_parser = recordings())]
    pub(crate) before: Recordings,
    /// Recordings after it, with commas between
    #[arg(value_name = "AFTER", value_parser = recordings())]
    pub(crate) after: Recordings,
    /// End with status 1 if figures got worse by more than this (may be given more than once)
    #[arg(long, value_name = "LIMIT", value_parser = Limit::parse)]
    pub(crate) fail_if: Vec<Limit>,
    /// What rows are of; tests of plunit need recordings made with `record --tests`
    #[arg(long, value_enum, default_value_t = CompareBy::Predicate)]
    pub(crate) by: CompareBy,
    /// Number of predicates and goals, or tests, to show [default: 10 as text, else all]
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Show only the goals of clauses, those with the largest change of calls first
    #[arg(long, conflicts_with = "by")]
    pub(crate) sites: bool,
    /// Which part of the traces to look at
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutcomeFormat::Text)]
    pub(crate) format: OutcomeFormat,
}

/// What rows are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareBy {
    /// Predicates, then goals of clauses
    Predicate,
    /// Tests of plunit, what got worse first
    Test,
}

/// Recordings of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recordings(pub(crate) Vec<PathBuf>);

/// Paths with commas between, each of another file. A file whose name has commas is itself.
pub(super) fn recordings() -> impl TypedValueParser<Value = Recordings> {
    PathBufValueParser::new().try_map(|path| {
        let parts = path.as_os_str().as_bytes().split(|&byte| byte == b',');
        let parts = parts.map(|part| PathBuf::from(OsStr::from_bytes(part)));
        if path.exists() {
            return Ok(Recordings(vec![path]));
        }
        let paths: Vec<PathBuf> = parts.collect();
        match named_twice(&paths) {
            Some(said) => Err(said),
            None => Ok(Recordings(paths)),
        }
    })
}
