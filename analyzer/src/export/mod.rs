//! Tables to file formats: one file for each format, behind one trait.
//!
//! To add a format, write a type that implements [`Exporter`] and add it where the program lists
//! them.

pub mod csv;
pub mod json;
mod parallel;
pub mod prolog;
mod shared_output;

use std::any::Any;
use std::io::{self, Write};

use crate::tables::{Cell, Column, Tables};

pub use self::csv::Csv;
pub use crate::tables::Table;
pub use json::Json;
pub use parallel::{Rows, write_in_parallel};
pub use prolog::Prolog;

/// A file format for tables.
///
/// Output depends on nothing but the rows: not on the machine, the time or the number of threads.
pub trait Exporter: Sync {
    /// Its name, as users write it.
    fn name(&self) -> &'static str;

    /// The extension of its files.
    fn extension(&self) -> &'static str {
        self.name()
    }

    /// Begins a table of this name with these columns.
    ///
    /// # Errors
    /// [`ExportError`] if `out` fails.
    fn begin<'w>(
        &self,
        name: &'static str,
        columns: &'static [Column],
        out: Box<dyn Write + Send + 'w>,
    ) -> Result<Box<dyn TableWriter + 'w>, ExportError>;

    /// Writes one table of one trace.
    ///
    /// # Errors
    /// [`ExportError`] if `out` fails; what was written until then is not a whole table.
    fn write(
        &self,
        tables: &Tables,
        table: Table,
        out: &mut (dyn Write + Send),
    ) -> Result<(), ExportError> {
        let mut writer = self.begin(table.name(), table.columns(), Box::new(out))?;
        tables.rows(table, |cells| writer.row(cells))?;
        writer.finish()
    }
}

/// Rows in the terms of a file: what [`TableWriter::encode`] made and [`TableWriter::add`] writes.
pub type Encoded = Box<dyn Any + Send>;

/// A table that is being written.
pub trait TableWriter: Send + Sync {
    /// Adds a row.
    ///
    /// # Errors
    /// [`ExportError`] if the output fails.
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), ExportError>;

    /// How many rows are worth being encoded at a time.
    fn batch(&self) -> usize;

    /// Encodes rows. Any thread may, and several at the same time.
    ///
    /// # Errors
    /// [`ExportError`] if the format cannot say them.
    fn encode(&self, rows: &Rows<'_>) -> Result<Encoded, ExportError>;

    /// Writes rows that this table encoded, behind all that were added before.
    ///
    /// # Errors
    /// [`ExportError`] if the output fails.
    fn add(&self, encoded: Encoded) -> Result<(), ExportError>;

    /// Writes what is still to be written. Without it the file is not whole.
    ///
    /// # Errors
    /// [`ExportError`] if the output fails.
    fn finish(self: Box<Self>) -> Result<(), ExportError>;
}

/// What a table of this type encoded.
///
/// # Errors
/// If another one did.
pub fn own<T: 'static>(encoded: Encoded, format: &'static str) -> Result<T, ExportError> {
    let own = encoded.downcast().map(|own| *own);
    own.map_err(|_| ExportError::Format {
        format,
        reason: "another table encoded it".to_owned(),
    })
}

/// Why a table could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The output failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The format cannot say it.
    #[error("this cannot be written as {format}: {reason}")]
    Format {
        /// Name of the format.
        format: &'static str,
        /// Why not.
        reason: String,
    },
}
