//! Tables to file formats: one file for each format, behind one trait.
//!
//! To add a format, write a type that implements [`Exporter`] and add it where the program lists
//! them.

pub mod csv;
pub mod json;

use std::io::{self, Write};

use crate::tables::{Cell, Column, Tables};

pub use self::csv::Csv;
pub use crate::tables::Table;
pub use json::Json;

/// A file format for tables.
///
/// Output depends on nothing but the rows: not on the machine, the time or the number of threads.
pub trait Exporter: Sync {
    /// Its name, as users write it, and the extension of its files.
    fn name(&self) -> &'static str;

    /// Begins a table with these columns.
    ///
    /// # Errors
    /// [`ExportError`] if `out` fails.
    fn begin<'w>(
        &self,
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
        let mut writer = self.begin(table.columns(), Box::new(out))?;
        tables.rows(table, |cells| writer.row(cells))?;
        writer.finish()
    }
}

/// A table that is being written.
pub trait TableWriter: Send {
    /// Adds a row.
    ///
    /// # Errors
    /// [`ExportError`] if the output fails.
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), ExportError>;

    /// Writes what is still to be written. Without it the file is not whole.
    ///
    /// # Errors
    /// [`ExportError`] if the output fails.
    fn finish(self: Box<Self>) -> Result<(), ExportError>;
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
