//! `--keep`: which part of a recording stays when it reaches its limit, or becomes large.

use std::ffi::OsStr;
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};

use crate::size::parse_size;

/// The limit of a recording whose events are folded, if no other is given.
pub(crate) const FIGURES_SIZE: u64 = 1 << 30;

/// The least limit of such a recording: in less room the events of a moment have no place.
const LEAST_FIGURES_SIZE: u64 = 4 << 20;

/// From this size on a recording is large, if no other is given and there is room enough: it takes
/// no more than one part in [`MOST_OF_FREE`] of what is free.
const LARGE: u64 = 4 << 30;
const MOST_OF_FREE: u64 = 10;

/// Which part of a recording to keep when it reaches its limit, or becomes large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeepOption {
    /// All; beyond so many bytes, if it is said, the end and the figures of all that was before.
    Auto(Option<u64>),
    /// All, however large.
    All,
    /// The beginning: recording stops, the program goes on.
    First,
    /// The end: a flight recorder.
    Last,
    /// The end, and the figures of all that was before; in so many bytes, if it is said.
    Figures(Option<u64>),
}

/// From which size on a recording at this path is large.
pub(super) fn large_at(path: &Path) -> u64 {
    let directory = path.parent().filter(|one| !one.as_os_str().is_empty());
    let system = rustix::fs::statvfs(directory.unwrap_or(Path::new(".")));
    let free = system.map_or(u64::MAX, |system| {
        system.f_bavail.saturating_mul(system.f_frsize)
    });
    LARGE.min(free / MOST_OF_FREE).max(LEAST_FIGURES_SIZE)
}

/// Reads one of them, with a size behind `auto` and `figures` if one is given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeepParser;

impl TypedValueParser for KeepParser {
    type Value = KeepOption;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<KeepOption, Error> {
        match value.to_str() {
            Some("auto") => return Ok(KeepOption::Auto(None)),
            Some("all") => return Ok(KeepOption::All),
            Some("first") => return Ok(KeepOption::First),
            Some("last") => return Ok(KeepOption::Last),
            Some("figures") => return Ok(KeepOption::Figures(None)),
            _ => {}
        }
        let given = value.to_str().and_then(|text| text.split_once('='));
        let keep: Option<fn(Option<u64>) -> KeepOption> = match given {
            Some(("auto", _)) => Some(KeepOption::Auto),
            Some(("figures", _)) => Some(KeepOption::Figures),
            _ => None,
        };
        let size = keep
            .zip(given)
            .map(|(keep, (_, size))| (keep, parse_size(size)));
        match size {
            Some((keep, Ok(size))) if size >= LEAST_FIGURES_SIZE => Ok(keep(Some(size))),
            Some((_, found)) => {
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
                Ok(KeepOption::Auto(None))
            }
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = [
            (
                "auto",
                "All; from a size on as figures: 4G, or a tenth of the free space; auto=SIZE says which",
            ),
            ("all", "All, however large"),
            (
                "first",
                "The beginning: recording stops, the program goes on",
            ),
            ("last", "The end: a flight recorder"),
            (
                "figures",
                "The end, what is slow or marked, and the figures of all events; figures=SIZE says in how much room (1G)",
            ),
        ];
        let values = values.map(|(name, help)| PossibleValue::new(name).help(help));
        Some(Box::new(values.into_iter()))
    }
}
