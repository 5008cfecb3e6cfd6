//! Apache Parquet, compressed with zstd. What is not known is null.

use std::io::Write;

use polars::prelude::{DataFrame, PolarsResult};
use polars_io::parquet::write::{BatchedWriter, ParquetWriter};
use portmortem_analyzer::export::{ExportError, Exporter, TableWriter};
use portmortem_analyzer::tables::Column;

use crate::batches::{Batches, FrameFile};
use crate::builder::schema;
use crate::output::Output;

/// Apache Parquet.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parquet;

impl Exporter for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn begin<'w>(
        &self,
        columns: &'static [Column],
        out: Box<dyn Write + Send + 'w>,
    ) -> Result<Box<dyn TableWriter + 'w>, ExportError> {
        let (out, failure) = Output::new(out);
        // Many files are written at the same time; polars' own threads would be too many.
        let file = ParquetWriter::new(out)
            .set_parallel(false)
            .batched(&schema(columns))
            .map_err(|error| failure.explain(self.name(), &error))?;
        Ok(Box::new(Batches::new(columns, file, failure)))
    }
}

impl<W: Write + Send> FrameFile for BatchedWriter<W> {
    const FORMAT: &'static str = "parquet";

    fn add(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        self.write_batch(frame)
    }

    fn end(&mut self) -> PolarsResult<()> {
        self.finish().map(drop)
    }
}
