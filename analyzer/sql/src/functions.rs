//! What SQLite leaves to the program that uses it, or does not have.

use std::borrow::Cow;

use regex::Regex;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};

/// Makes the functions known: `regexp`, which the operator `REGEXP` calls, and `stddev`.
pub(crate) fn define(database: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    database.create_scalar_function("regexp", 2, flags, |arguments| matches(arguments))?;
    database.create_aggregate_function("stddev", 1, flags, Deviation)
}

/// `text REGEXP pattern`: whether the pattern is found in the text. Numbers are texts, too.
fn matches(arguments: &Context<'_>) -> Result<Option<bool>> {
    let (Some(pattern), Some(text)) = (text(arguments.get_raw(0)), text(arguments.get_raw(1)))
    else {
        return Ok(None);
    };
    let pattern = arguments.get_or_create_aux(0, |_| {
        Regex::new(&pattern).map_err(|error| {
            let reason = error.to_string();
            format!("REGEXP: {}", reason.lines().last().unwrap_or_default())
        })
    })?;
    Ok(Some(pattern.is_match(&text)))
}

/// A value as text. `None` if it is missing.
fn text(value: ValueRef<'_>) -> Option<Cow<'_, str>> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Integer(number) => number.to_string().into(),
        ValueRef::Real(number) => number.to_string().into(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
    })
}

/// The standard deviation of a sample.
struct Deviation;

/// Sums over the numbers so far, by Welford's method.
#[derive(Default)]
struct Spread {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Aggregate<Spread, Option<f64>> for Deviation {
    fn init(&self, _: &mut Context<'_>) -> Result<Spread> {
        Ok(Spread::default())
    }

    fn step(&self, arguments: &mut Context<'_>, spread: &mut Spread) -> Result<()> {
        let number = match arguments.get_raw(0) {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(number as f64),
            ValueRef::Real(number) => Some(number),
            ValueRef::Text(_) | ValueRef::Blob(_) => {
                return Err(Error::UserFunctionError("stddev() is of numbers".into()));
            }
        };
        if let Some(number) = number {
            spread.count += 1.0;
            let from_mean = number - spread.mean;
            spread.mean += from_mean / spread.count;
            spread.squares += from_mean * (number - spread.mean);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, spread: Option<Spread>) -> Result<Option<f64>> {
        let spread = spread.filter(|spread| spread.count > 1.0);
        Ok(spread.map(|spread| (spread.squares / (spread.count - 1.0)).sqrt()))
    }
}
