//! Predictions as a table: one row a predicate, and its names and units of columns.

use std::io;

use serde::Serialize;

use crate::growth::Estimate;
use crate::prediction::{Predicted, Prediction};

/// A row of the table. Bounds hold 95 % of what is to be expected; those of an exact count are the count.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictionRow<'p> {
    /// Indicator, as Prolog would write it.
    pub predicate: &'p str,
    /// Size of the input; none: the recording itself.
    pub size: Option<u64>,
    /// Calls as a function of the size `n`.
    pub calls_function: Option<String>,
    /// Kind of that function.
    pub kind: Option<String>,
    /// Whether it agrees with every recording, to the unit.
    pub exact: Option<bool>,
    /// Sizes, or for a fit recordings, that it was found from.
    pub points: Option<usize>,
    /// Free parameters of the function: points less these are checks.
    pub parameters: Option<usize>,
    /// Calls.
    pub calls: Option<f64>,
    /// Lower bound.
    pub calls_low: Option<f64>,
    /// Upper bound.
    pub calls_high: Option<f64>,
    /// Time in the predicate itself, in ns.
    pub self_ns: Option<u64>,
    /// Lower bound.
    pub self_low_ns: Option<u64>,
    /// Upper bound.
    pub self_high_ns: Option<u64>,
}

impl Prediction {
    /// As a table.
    pub fn table(&self) -> impl Iterator<Item = PredictionRow<'_>> {
        self.rows.iter().map(|row| table_row(row, self.size))
    }

    /// Writes the table as comma-separated values, headings first.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_csv(&self, out: impl io::Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        for row in self.table() {
            writer.serialize(row).map_err(io::Error::other)?;
        }
        writer.flush()
    }
}

fn table_row(row: &Predicted, size: Option<u64>) -> PredictionRow<'_> {
    let growth = &row.growth;
    let evidence = growth.evidence();
    let ns = |bound: fn(&Estimate) -> f64| row.self_ns.as_ref().map(|ns| bound(ns).round() as u64);
    let calls = |bound: fn(&Estimate) -> f64| row.calls.as_ref().map(bound);
    PredictionRow {
        predicate: &row.predicate,
        size,
        calls_function: growth.formula(),
        kind: growth.kind().map(|kind| kind.to_string()),
        exact: evidence.map(|_| growth.is_exact()),
        points: evidence.map(|evidence| evidence.points),
        parameters: evidence.map(|evidence| evidence.parameters),
        calls: calls(|calls| calls.value),
        calls_low: calls(|calls| calls.low),
        calls_high: calls(|calls| calls.high),
        self_ns: ns(|ns| ns.value),
        self_low_ns: ns(|ns| ns.low),
        self_high_ns: ns(|ns| ns.high),
    }
}
