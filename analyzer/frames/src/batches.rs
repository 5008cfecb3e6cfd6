//! Rows that are collected and written some at a time, so that no table is held whole.

use polars::prelude::{DataFrame, PolarsResult};
use portmortem_analyzer::export::{ExportError, TableWriter};
use portmortem_analyzer::tables::{Cell, Column};

use crate::FrameBuilder;
use crate::output::Failure;

/// Rows of a batch: some megabytes, and still enough to be worth a row group of their own.
const BATCH: usize = 1 << 17;

/// A file that frames are added to.
pub(crate) trait FrameFile: Send {
    /// Its format.
    const FORMAT: &'static str;

    fn add(&mut self, frame: &DataFrame) -> PolarsResult<()>;

    fn end(&mut self) -> PolarsResult<()>;
}

/// A [`FrameFile`] as a writer of rows.
pub(crate) struct Batches<F> {
    pub(crate) rows: FrameBuilder,
    pub(crate) file: F,
    pub(crate) failure: Failure,
}

impl<F: FrameFile> Batches<F> {
    pub(crate) fn new(columns: &'static [Column], file: F, failure: Failure) -> Self {
        Self {
            rows: FrameBuilder::new(columns),
            file,
            failure,
        }
    }

    fn flush(&mut self) -> PolarsResult<()> {
        if self.rows.rows() > 0 {
            let frame = self.rows.take()?;
            self.file.add(&frame)?;
        }
        Ok(())
    }

    fn explained(&self, result: PolarsResult<()>) -> Result<(), ExportError> {
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

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        let result = self.flush().and_then(|()| self.file.end());
        self.explained(result)
    }
}
