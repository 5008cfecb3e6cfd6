//! Apache Arrow's file format (IPC), not compressed, so that it can be mapped. What is not known is null.

use std::io::Write;

use polars::prelude::{CompatLevel, DataFrame, PolarsResult};
use polars_io::SerWriter;
use polars_io::ipc::{BatchedWriter, IpcWriter};
use portmortem_analyzer::export::{ExportError, Exporter, TableWriter};
use portmortem_analyzer::tables::Column;

use crate::batches::{Batches, FrameFile};
use crate::builder::schema;
use crate::output::Output;

/// Apache Arrow.
#[derive(Debug, Clone, Copy, Default)]
pub struct Arrow;

impl Exporter for Arrow {
    fn name(&self) -> &'static str {
        "arrow"
    }

    fn begin<'w>(
        &self,
        columns: &'static [Column],
        out: Box<dyn Write + Send + 'w>,
    ) -> Result<Box<dyn TableWriter + 'w>, ExportError> {
        let (out, failure) = Output::new(out);
        // String views, polars' own, are not read by everybody yet. No column has a dictionary.
        let fields = columns.iter().map(|_| Default::default()).collect();
        let file = IpcWriter::new(out)
            .with_compat_level(CompatLevel::oldest())
            .batched(&schema(columns), fields)
            .map_err(|error| failure.explain(self.name(), &error))?;
        Ok(Box::new(Batches::new(columns, file, failure)))
    }
}

impl<W: Write + Send> FrameFile for BatchedWriter<W> {
    const FORMAT: &'static str = "arrow";

    fn add(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        self.write_batch(frame)
    }

    fn end(&mut self) -> PolarsResult<()> {
        self.finish()
    }
}
