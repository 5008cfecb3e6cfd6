//! Apache Parquet, compressed with zstd. What is not known is null.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use polars::prelude::{CompatLevel, DataFrame, PolarsResult, SchemaExt};
use polars_io::parquet::write::{
    BatchedWriter, ParquetCompression, ParquetWriter, StatisticsOptions, get_encodings,
};
use polars_parquet::write::{
    CompressedPage, Encoding, ParquetType, Version, WriteOptions, array_to_columns, compress,
};
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
        _name: &'static str,
        columns: &'static [Column],
        out: Box<dyn Write + Send + 'w>,
    ) -> Result<Box<dyn TableWriter + 'w>, ExportError> {
        let (out, failure) = Output::new(out);
        let schema = schema(columns);
        let options = options();
        let file = ParquetWriter::new(out)
            .with_compression(ParquetCompression::default())
            .with_statistics(options.statistics)
            .batched(&schema);
        let mut file = file.map_err(|error| failure.explain(self.name(), &error))?;
        let types = file.parquet_schema().fields().to_vec();
        let encodings = get_encodings(&schema.to_arrow(CompatLevel::newest()));
        let file = ParquetFile {
            file: Mutex::new(file),
            columns: types.into_iter().zip(encodings.iter().cloned()).collect(),
            options,
        };
        Ok(Box::new(Batches::new(columns, file, failure)))
    }
}

/// How pages are made, the same whichever thread makes them.
fn options() -> WriteOptions {
    WriteOptions {
        statistics: StatisticsOptions::default(),
        version: Version::V1,
        compression: ParquetCompression::default().into(),
        data_page_size: None,
    }
}

/// A file, whose row groups are encoded and compressed on any thread. The writer of polars has but
/// its own threads for that, and compresses on one.
struct ParquetFile<W: Write> {
    file: Mutex<BatchedWriter<W>>,
    columns: Vec<(ParquetType, Vec<Encoding>)>,
    options: WriteOptions,
}

/// Rows, and their pages by column.
type RowGroup = (u64, Vec<Vec<CompressedPage>>);

impl<W: Write + Send> FrameFile for ParquetFile<W> {
    const FORMAT: &'static str = "parquet";

    type Encoded = Vec<RowGroup>;

    fn encode(&self, frame: DataFrame) -> PolarsResult<Vec<RowGroup>> {
        let mut groups = Vec::new();
        for batch in frame.iter_chunks(CompatLevel::newest(), false) {
            let mut columns = Vec::new();
            for (array, (kind, encodings)) in batch.columns().iter().zip(&self.columns) {
                for pages in array_to_columns(array, kind.clone(), self.options, encodings)? {
                    let compressed = pages
                        .map(|page| Ok(compress(page?, Vec::new(), self.options.compression)?));
                    columns.push(compressed.collect::<PolarsResult<_>>()?);
                }
            }
            groups.push((batch.len() as u64, columns));
        }
        Ok(groups)
    }

    fn add(&self, groups: Vec<RowGroup>) -> PolarsResult<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        for (rows, columns) in groups {
            file.write_row_group(rows, &columns)?;
        }
        Ok(())
    }

    fn end(&mut self) -> PolarsResult<()> {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.finish().map(drop)
    }
}
