//! Apache Arrow's file format (IPC), not compressed, so that it can be mapped. What is not known is
//! null.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use polars_arrow::io::ipc::write::{FileWriter, WriteOptions};
use polars_error::PolarsResult;
use portmortem_analyzer::export::{ExportError, Exporter, TableWriter};
use portmortem_analyzer::tables::Column;

use crate::batches::{Batches, ColumnFile};
use crate::columns::{ColumnBatch, TextLayout, schema};
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
        // Views of text are not read by everybody yet.
        let schema = Arc::new(schema(columns, TextLayout::Offsets));
        let options = WriteOptions { compression: None };
        let file = FileWriter::try_new(out, schema.clone(), None, options);
        let file = file.map_err(|error| failure.explain(self.name(), &error))?;
        Ok(Box::new(Batches::new(schema, Mutex::new(file), failure)))
    }
}

impl<W: Write + Send> ColumnFile for Mutex<FileWriter<W>> {
    const FORMAT: &'static str = "arrow";

    /// There is nothing to be done: columns are in memory as they are in the file.
    type Encoded = ColumnBatch;

    fn encode(&self, batch: ColumnBatch) -> PolarsResult<ColumnBatch> {
        Ok(batch)
    }

    fn add(&self, batch: ColumnBatch) -> PolarsResult<()> {
        let mut file = self.lock().unwrap_or_else(PoisonError::into_inner);
        file.write(&batch, None)
    }

    fn end(&mut self) -> PolarsResult<()> {
        let file = self.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.finish()
    }
}
