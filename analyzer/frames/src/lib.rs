//! Tables as polars frames, the file formats that are made of them, Parquet and Arrow, and questions in SQL about them.
//!
//! Polars takes longer to build than everything else together, so it is used in this crate and in
//! what is above it only. Columns and cells are those of [`portmortem_analyzer::tables`], whatever
//! the table: text is a string, integers are 64 bits and signed, what is missing is null.

mod arrow;
mod batches;
mod builder;
mod output;
mod parquet;
mod query;
mod refused;

pub use arrow::Arrow;
pub use builder::{FrameBuilder, schema};
pub use parquet::Parquet;
pub use query::{Answer, Query, QueryError, Value};

use polars::prelude::{DataFrame, PolarsResult};
use portmortem_analyzer::Tables;
use portmortem_analyzer::tables::Table;

/// A table of some traces as one frame: a column for each column of the table, the rows of each trace
/// after those of the one before. All of it is in memory; for `events` that is more than the traces.
///
/// # Errors
/// If polars refuses, as with more rows than it can count (2³²).
pub fn frame<'t>(
    table: Table,
    traces: impl IntoIterator<Item = Tables<'t>>,
) -> PolarsResult<DataFrame> {
    let mut builder = FrameBuilder::new(table.columns());
    for tables in traces {
        tables.rows(table, |cells| builder.push(cells))?;
    }
    builder.finish()
}

#[cfg(test)]
mod tests;
