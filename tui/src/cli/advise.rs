//! `portmortem advise`

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, ValueEnum};
use portmortem_analyzer::advice::{Cause, Ignored};

use super::{ScopeArgs, parse_percent};

/// Findings that cost a smaller share are left out unless another one is asked for, in percent.
pub(crate) const USUAL_LEAST: f64 = 2.0;

/// `portmortem advise`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem advise run.pmt
  portmortem advise run.pmt --least 0.5 --top 20      smaller findings, too
  portmortem advise run.pmt --focus solve/2           only of the work in solve/2
  portmortem advise run.pmt --ignore memory --ignore generator:solve/2
  portmortem advise --explain generator               what that finding means, and when it is wrong
  portmortem advise run.pmt --format json | jq '.findings[0].remedy'

A finding says what costs time, the numbers that show it, what to change, and how sure that is:
  counted   what happened and what it cost is in the trace
  likely    what happened is in the trace; how much a change saves is not
  to check  look into the program whether the change is possible
What a finding costs is what a change saves at most. Findings overlap: costs do not sum to anything.
A comment \"% portmortem: ignore NAME\" above a clause or goal, or behind it in the same line, ignores what is found there.")]
pub(crate) struct AdviseArgs {
    /// The trace
    #[arg(required_unless_present = "explain")]
    pub(crate) trace: Option<PathBuf>,
    /// Print the page on a finding, by its name, and do nothing else
    #[arg(long, value_name = "NAME", conflicts_with = "trace", value_parser = ByName(Cause::named))]
    pub(crate) explain: Option<Cause>,
    /// Findings that cost a smaller share of the time are left out, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = USUAL_LEAST, value_parser = parse_percent)]
    pub(crate) least: f64,
    /// How many findings to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) top: usize,
    /// Findings to leave out, by name, and by the predicate they stand in if one is given
    #[arg(long, value_name = "NAME[:PREDICATE]", value_parser = ByName(Ignored::parse))]
    pub(crate) ignore: Vec<Ignored>,
    /// Output format
    #[arg(long, value_enum, default_value_t = AdviseFormat::Text)]
    pub(crate) format: AdviseFormat,
    /// Which part of the trace to look at
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// A format of `advise`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AdviseFormat {
    /// For people
    Text,
    /// An object with a list `findings`
    Json,
}

/// Reads what begins with the name of a finding; completion offers the names.
#[derive(Debug, Clone)]
struct ByName<T>(fn(&str) -> Result<T, String>);

impl<T: Clone + Send + Sync + 'static> TypedValueParser for ByName<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        (self.0)(&value.to_string_lossy())
            .map_err(|why| command.clone().error(ErrorKind::InvalidValue, why))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = Cause::ALL
            .into_iter()
            .map(|cause| PossibleValue::new(cause.name()));
        Some(Box::new(names))
    }
}
