//! Rows that are collected and written some at a time, so that no table is held whole.

use polars_arrow::datatypes::ArrowSchemaRef;
use polars_error::PolarsResult;
use portmortem_analyzer::export::{Encoded, ExportError, Rows, TableWriter, own};
use portmortem_analyzer::tables::Cell;

use crate::columns::{ColumnBatch, ColumnsBuilder};
use crate::output::OutputFailure;

/// Rows of a batch: some megabytes, and still enough to be worth a row group of their own.
const BATCH: usize = 1 << 17;

/// A file that batches of rows are added to.
pub(crate) trait ColumnFile: Send + Sync {
    /// Its format.
    const FORMAT: &'static str;

    /// A batch in the terms of the file.
    type Encoded: Send + 'static;

    /// Encodes a batch. Any thread may, and several at the same time.
    fn encode(&self, batch: ColumnBatch) -> PolarsResult<Self::Encoded>;

    fn add(&self, encoded: Self::Encoded) -> PolarsResult<()>;

    fn end(&mut self) -> PolarsResult<()>;
}

/// A [`ColumnFile`] as a writer of rows.
pub(crate) struct Batches<F> {
    schema: ArrowSchemaRef,
    rows: ColumnsBuilder,
    file: F,
    failure: OutputFailure,
}

impl<F: ColumnFile> Batches<F> {
    pub(crate) fn new(schema: ArrowSchemaRef, file: F, failure: OutputFailure) -> Self {
        Self {
            rows: ColumnsBuilder::new(&schema),
            schema,
            file,
            failure,
        }
    }

    fn flush(&mut self) -> PolarsResult<()> {
        if self.rows.rows() > 0 {
            let batch = self.rows.take()?;
            self.file.add(self.file.encode(batch)?)?;
        }
        Ok(())
    }

    fn explained<T>(&self, result: PolarsResult<T>) -> Result<T, ExportError> {
        result.map_err(|error| self.failure.explain(F::FORMAT, &error))
    }
}

impl<F: ColumnFile> TableWriter for Batches<F> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), ExportError> {
        let mut result = self.rows.push(cells);
        if self.rows.rows() >= BATCH {
            result = result.and_then(|()| self.flush());
        }
        self.explained(result)
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn encode(&self, rows: &Rows<'_>) -> Result<Encoded, ExportError> {
        let encode = || {
            let mut columns = ColumnsBuilder::new(&self.schema);
            rows.iter().try_for_each(|row| columns.push(row))?;
            self.file.encode(columns.take()?)
        };
        Ok(Box::new(self.explained(encode())?))
    }

    fn add(&self, encoded: Encoded) -> Result<(), ExportError> {
        let encoded: F::Encoded = own(encoded, F::FORMAT)?;
        self.explained(self.file.add(encoded))
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        let result = self.flush().and_then(|()| self.file.end());
        self.explained(result)
    }
}
