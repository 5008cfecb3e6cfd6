//! Apache Parquet, compressed with zstd. What is not known is null.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use polars_error::{PolarsError, PolarsResult};
use polars_parquet::write::{
    CompressedPage, CompressionOptions, DynIter, DynStreamingIterator, Encoding, FileWriter,
    ParquetType, StatisticsOptions, Version, WriteOptions, array_to_columns, compress,
    fallible_streaming_iterator, get_dtype_encoding,
};
use portmortem_analyzer::export::{ExportError, Exporter, TableWriter};
use portmortem_analyzer::tables::Column;

use crate::batches::{Batches, ColumnFile};
use crate::columns::{ColumnBatch, TextLayout, schema};
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
        _name: &'static str,
        columns: &'static [Column],
        out: Box<dyn Write + Send + 'w>,
    ) -> Result<Box<dyn TableWriter + 'w>, ExportError> {
        let (out, failure) = Output::new(out);
        let schema = schema(columns, TextLayout::Views);
        let encodings: Vec<_> = schema
            .iter_values()
            .map(|field| get_dtype_encoding(field.dtype()))
            .collect();
        let file = FileWriter::try_new(out, schema.clone(), options());
        let file = file.map_err(|error| failure.explain(self.name(), &error))?;
        let types = file.parquet_schema().fields().to_vec();
        let file = ParquetFile {
            file: Mutex::new(file),
            columns: types.into_iter().zip(encodings).collect(),
        };
        Ok(Box::new(Batches::new(Arc::new(schema), file, failure)))
    }
}

/// How pages are made, the same whichever thread makes them.
fn options() -> WriteOptions {
    WriteOptions {
        statistics: StatisticsOptions::default(),
        version: Version::V1,
        compression: CompressionOptions::Zstd(None),
        data_page_size: None,
    }
}

/// A file, whose row groups are encoded and compressed on any thread.
struct ParquetFile<W: Write> {
    file: Mutex<FileWriter<W>>,
    columns: Vec<(ParquetType, Vec<Encoding>)>,
}

/// Rows, and their pages by column.
struct RowGroup {
    rows: u64,
    columns: Vec<Vec<CompressedPage>>,
}

impl<W: Write + Send> ColumnFile for ParquetFile<W> {
    const FORMAT: &'static str = "parquet";

    type Encoded = RowGroup;

    fn encode(&self, batch: ColumnBatch) -> PolarsResult<RowGroup> {
        let mut columns = Vec::new();
        for (array, (kind, encodings)) in batch.columns().iter().zip(&self.columns) {
            for pages in array_to_columns(array, kind.clone(), options(), encodings)? {
                let compressed =
                    pages.map(|page| Ok(compress(page?, Vec::new(), options().compression)?));
                columns.push(compressed.collect::<PolarsResult<_>>()?);
            }
        }
        Ok(RowGroup {
            rows: batch.len() as u64,
            columns,
        })
    }

    fn add(&self, group: RowGroup) -> PolarsResult<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let columns = group.columns.iter().map(|pages| {
            let pages = pages.iter().map(Ok::<_, PolarsError>);
            Ok(DynStreamingIterator::new(
                fallible_streaming_iterator::convert(pages),
            ))
        });
        file.write(group.rows, DynIter::new(columns))
    }

    fn end(&mut self) -> PolarsResult<()> {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.end(None).map(drop)
    }
}
