//! Apache Arrow's file format (IPC), not compressed, so that it can be mapped. What is not known is null.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

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
        _name: &'static str,
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
        Ok(Box::new(Batches::new(columns, Mutex::new(file), failure)))
    }
}

impl<W: Write + Send> FrameFile for Mutex<BatchedWriter<W>> {
    const FORMAT: &'static str = "arrow";

    /// There is nothing to be done: frames are in memory as they are in the file.
    type Encoded = DataFrame;

    fn encode(&self, frame: DataFrame) -> PolarsResult<DataFrame> {
        Ok(frame)
    }

    fn add(&self, frame: DataFrame) -> PolarsResult<()> {
        let mut file = self.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_batch(&frame)
    }

    fn end(&mut self) -> PolarsResult<()> {
        let file = self.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.finish()
    }
}
