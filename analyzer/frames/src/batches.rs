//! Rows that are collected and written some at a time, so that no table is held whole.

use polars::prelude::{DataFrame, PolarsResult};
use portmortem_analyzer::export::{Encoded, ExportError, Rows, TableWriter, own};
use portmortem_analyzer::tables::{Cell, Column};

use crate::FrameBuilder;
use crate::output::OutputFailure;

/// Rows of a batch: some megabytes, and still enough to be worth a row group of their own.
const BATCH: usize = 1 << 17;

/// A file that frames are added to.
pub(crate) trait FrameFile: Send + Sync {
    /// Its format.
    const FORMAT: &'static str;

    /// A frame in the terms of the file.
    type Encoded: Send + 'static;

    /// Encodes a frame. Any thread may, and several at the same time.
    fn encode(&self, frame: DataFrame) -> PolarsResult<Self::Encoded>;

    fn add(&self, encoded: Self::Encoded) -> PolarsResult<()>;

    fn end(&mut self) -> PolarsResult<()>;
}

/// A [`FrameFile`] as a writer of rows.
pub(crate) struct Batches<F> {
    columns: &'static [Column],
    pub(crate) rows: FrameBuilder,
    pub(crate) file: F,
    pub(crate) failure: OutputFailure,
}

impl<F: FrameFile> Batches<F> {
    pub(crate) fn new(columns: &'static [Column], file: F, failure: OutputFailure) -> Self {
        Self {
            columns,
            rows: FrameBuilder::new(columns),
            file,
            failure,
        }
    }

    fn flush(&mut self) -> PolarsResult<()> {
        if self.rows.rows() > 0 {
            let frame = self.rows.take()?;
            self.file.add(self.file.encode(frame)?)?;
        }
        Ok(())
    }

    fn explained<T>(&self, result: PolarsResult<T>) -> Result<T, ExportError> {
        result.map_err(|error| self.failure.explain(F::FORMAT, &error))
    }
}

impl<F: FrameFile> TableWriter for Batches<F> {
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
            let mut builder = FrameBuilder::new(self.columns);
            rows.iter().try_for_each(|row| builder.push(row))?;
            self.file.encode(builder.finish()?)
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
