//! Things that are timed side by side: each once, then each once more, and so on, so that what else
//! the machine does falls on all of them alike.

use std::time::Duration;

use anyhow::{Context, Result};

/// One of the things.
pub(crate) struct Contestant<'c> {
    pub(crate) name: String,
    /// Events that it goes through; 0 if it knows of none.
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    /// The name of what it is compared with, and in what column.
    pub(crate) compared: Vec<(Column, String)>,
    pub(crate) run: Box<dyn FnMut() -> Result<Duration> + 'c>,
}

/// A column with a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// Bytes per second over those of a plain read.
    OfPlainRead,
    /// Over the same with one thread.
    Speedup,
}

/// What was measured of one of the things, in seconds.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    compared: Vec<(Column, String)>,
    pub(crate) median: f64,
    fastest: f64,
    slowest: f64,
}

impl Measured {
    /// Nanoseconds per event.
    pub(crate) fn ns_per_event(&self) -> f64 {
        self.median * 1e9 / self.events as f64
    }

    fn rate(&self) -> f64 {
        self.bytes as f64 / self.median
    }
}

/// Runs each of them so many times, after one time that does not count.
pub(crate) fn run(mut contestants: Vec<Contestant>, times: usize) -> Result<Vec<Measured>> {
    let mut taken: Vec<Vec<Duration>> = vec![Vec::new(); contestants.len()];
    for round in 0..=times {
        for (contestant, taken) in contestants.iter_mut().zip(&mut taken) {
            let context = || contestant.name.clone();
            let time = (contestant.run)().with_context(context)?;
            if round > 0 {
                taken.push(time);
            }
        }
    }
    let measured = contestants
        .into_iter()
        .zip(taken)
        .map(|(contestant, taken)| {
            let seconds = |time: Option<&Duration>| time.map_or(f64::NAN, Duration::as_secs_f64);
            Measured {
                name: contestant.name,
                events: contestant.events,
                bytes: contestant.bytes,
                compared: contestant.compared,
                fastest: seconds(taken.iter().min()),
                slowest: seconds(taken.iter().max()),
                median: median(taken),
            }
        });
    Ok(measured.collect())
}

/// The middle one, in seconds; there must be one.
pub(crate) fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}

/// Prints one row for each, 79 columns wide.
pub(crate) fn print(all: &[Measured]) {
    println!(
        "{:<23}{:>9}{:>18}{:>9}{:>8}{:>6}{:>6}",
        "", "seconds", "fastest–slowest", "M ev/s", "MB/s", "plain", "speed"
    );
    println!("{:<23}{:>9}{:>41}{:>6}", "", "(median)", "read", "up");
    for row in all {
        let events = match row.events {
            0 => String::new(),
            events => format!("{:.1}", events as f64 / row.median / 1e6),
        };
        let range = format!("{:.3}–{:.3}", row.fastest, row.slowest);
        println!(
            "{:<23}{:>9.3}{range:>18}{events:>9}{:>8.0}{:>6}{:>6}",
            row.name,
            row.median,
            row.rate() / 1e6,
            ratio(row, Column::OfPlainRead, all),
            ratio(row, Column::Speedup, all),
        );
    }
}

fn ratio(row: &Measured, column: Column, all: &[Measured]) -> String {
    let other = row
        .compared
        .iter()
        .find(|(compared, _)| *compared == column)
        .and_then(|(_, name)| all.iter().find(|other| other.name == *name));
    other.map_or_else(String::new, |other| {
        format!("{:.2}", row.rate() / other.rate())
    })
}
