//! What SQLite leaves to the program that uses it, or does not have.

use regex::Regex;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::{Connection, Result};

/// Makes the functions known: `regexp`, which the operator `REGEXP` calls, and `stddev`.
pub(crate) fn define(database: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    database.create_scalar_function("regexp", 2, flags, |arguments| matches(arguments))?;
    database.create_aggregate_function("stddev", 1, flags, Deviation)
}

/// `text REGEXP pattern`: whether the pattern is found in the text.
fn matches(arguments: &Context<'_>) -> Result<Option<bool>> {
    let pattern =
        arguments.get_or_create_aux(0, |pattern| Regex::new(pattern.as_str()?).map_err(boxed))?;
    let text: Option<String> = arguments.get(1)?;
    Ok(text.map(|text| pattern.is_match(&text)))
}

fn boxed(
    error: impl std::error::Error + Send + Sync + 'static,
) -> Box<dyn std::error::Error + Send + Sync> {
    Box::new(error)
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
        let number: Option<f64> = arguments.get(0)?;
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
