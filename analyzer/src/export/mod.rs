//! Tables to file formats: one file for each format, behind one trait.
//!
//! To add a format, write a type that implements [`Exporter`] and add it to [`FORMATS`].

mod csv;

use std::io::{self, Write};

use crate::tables::Tables;

pub use csv::Csv;

/// A table by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Table {
    /// [`Tables::predicates`].
    Predicates,
    /// [`Tables::edges`].
    Edges,
}

impl Table {
    /// All tables.
    pub const ALL: &[Self] = &[Self::Predicates, Self::Edges];

    /// Its name, as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Predicates => "predicates",
            Self::Edges => "edges",
        }
    }

    /// The table of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|table| table.name() == name)
    }
}

/// A file format for tables.
///
/// Output depends on nothing but the table: not on the machine, the time or the number of threads.
pub trait Exporter: Sync {
    /// Its name, as users write it, and the extension of its files.
    fn name(&self) -> &'static str;

    /// Writes one table with its column names.
    ///
    /// # Errors
    /// [`ExportError`] if `out` fails; what was written until then is not a whole table.
    fn write(&self, tables: &Tables, table: Table, out: &mut dyn Write) -> Result<(), ExportError>;
}

/// All formats.
pub const FORMATS: &[&dyn Exporter] = &[&Csv];

/// The format of this name.
#[must_use]
pub fn format(name: &str) -> Option<&'static dyn Exporter> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// Why a table could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The output failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The format cannot say it.
    #[error("cannot write the table {table} as {format}: {reason}")]
    Format {
        /// Name of the table.
        table: &'static str,
        /// Name of the format.
        format: &'static str,
        /// Why not.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found() {
        for &table in Table::ALL {
            assert_eq!(Table::from_name(table.name()), Some(table));
        }
        assert_eq!(Table::from_name("predicate"), None);
        assert_eq!(format("csv").unwrap().name(), "csv");
        assert!(format("xls").is_none());
    }
}
