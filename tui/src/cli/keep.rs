//! `--keep`: which part of a recording stays when it reaches its limit.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};

use crate::size::parse_size;

/// The limit of a recording whose events are folded, if no other is given.
pub(crate) const FIGURES_SIZE: u64 = 1 << 30;

/// The least limit of such a recording: in less room the events of a moment have no place.
const LEAST_FIGURES_SIZE: u64 = 4 << 20;

/// Which part of a recording to keep when it reaches its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The beginning: recording stops, the program goes on.
    First,
    /// The end: a flight recorder.
    Last,
    /// The end, and the figures of all that was before; in so many bytes, if it is said.
    Figures(Option<u64>),
}

/// Reads `first`, `last`, `figures` or `figures=SIZE`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeepParser;

impl TypedValueParser for KeepParser {
    type Value = Keep;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Keep, Error> {
        match value.to_str() {
            Some("first") => return Ok(Keep::First),
            Some("last") => return Ok(Keep::Last),
            Some("figures") => return Ok(Keep::Figures(None)),
            _ => {}
        }
        let size = value
            .to_str()
            .and_then(|text| text.strip_prefix("figures="));
        match size.map(parse_size) {
            Some(Ok(size)) if size >= LEAST_FIGURES_SIZE => Ok(Keep::Figures(Some(size))),
            Some(found) => {
                let reason = found
                    .err()
                    .unwrap_or_else(|| format!("it needs at least {}M", LEAST_FIGURES_SIZE >> 20));
                let value = value.display();
                let text = format!("invalid value '{value}' for '--keep <KEEP>': {reason}\n");
                Err(Error::raw(ErrorKind::ValueValidation, text).with_cmd(command))
            }
            None => {
                let known = self.possible_values().into_iter().flatten();
                let known = PossibleValuesParser::new(known);
                known.parse_ref(command, argument, value)?;
                Ok(Keep::First)
            }
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = [
            (
                "first",
                "The beginning: recording stops, the program goes on",
            ),
            ("last", "The end: a flight recorder"),
            (
                "figures",
                "The end, and the figures of all events; figures=SIZE says in how much room (1G)",
            ),
        ];
        let values = values.map(|(name, help)| PossibleValue::new(name).help(help));
        Some(Box::new(values.into_iter()))
    }
}
