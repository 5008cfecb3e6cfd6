//! Columnar files of tables, Apache Parquet and Apache Arrow, as the crates of polars write them.
//!
//! Columns and cells are those of [`portmortem_analyzer::tables`], whatever the table: text is a
//! string, integers are 64 bits and signed, what is missing is null. Only polars' arrays and its
//! writers of files are used. Its frames would take longer to build than everything else together.

mod arrow;
mod batches;
mod columns;
mod output;
mod parquet;

pub use arrow::Arrow;
pub use parquet::Parquet;

#[cfg(test)]
mod tests;
