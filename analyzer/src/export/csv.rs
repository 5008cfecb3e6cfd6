//! Comma-separated values (RFC 4180, lines end in a line feed): a line of column names, then the
//! rows. What is not known is an empty cell.
//!
//! Names are text, and a spreadsheet takes some texts for formulas: those are written as quoted
//! atoms, like names of predicates that need quotes ([`field`]). A terminal takes some characters
//! for commands: those are escaped as in reports.

use std::borrow::Cow;
use std::io::Write;

use csv::Writer;

use super::{ExportError, Exporter, TableWriter};
use crate::tables::{Cell, Column};
use crate::trace::names;

/// Comma-separated values.
#[derive(Debug, Clone, Copy, Default)]
pub struct Csv;

impl Exporter for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn begin<'w>(
        &self,
        columns: &'static [Column],
        out: Box<dyn Write + Send + 'w>,
    ) -> Result<Box<dyn TableWriter + 'w>, ExportError> {
        Csv::with_names(columns.iter().map(|column| column.name), out)
    }
}

impl Csv {
    /// Begins a table whose columns have these names.
    ///
    /// # Errors
    /// [`ExportError`] if `out` fails.
    pub fn with_names<'w, 'n>(
        names: impl Iterator<Item = &'n str>,
        out: Box<dyn Write + Send + 'w>,
    ) -> Result<Box<dyn TableWriter + 'w>, ExportError> {
        let mut table = CsvTable {
            writer: Writer::from_writer(out),
            digits: String::new(),
        };
        table.writer.write_record(names).map_err(failed)?;
        Ok(Box::new(table))
    }
}

/// A text as it is written: what a spreadsheet would take for a formula is quoted, what a terminal
/// would take for a command is escaped.
#[must_use]
pub fn field(text: &str) -> Cow<'_, str> {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    if formula {
        Cow::Owned(names::quoted(text))
    } else if names::is_printable(text) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(names::printable(text))
    }
}

struct CsvTable<W: Write> {
    writer: Writer<W>,
    /// Kept for its memory.
    digits: String,
}

impl<W: Write + Send> TableWriter for CsvTable<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), ExportError> {
        use std::fmt::Write as _;
        for cell in cells {
            let text;
            let field = match *cell {
                Cell::Missing => "",
                Cell::Text(cell) => {
                    text = field(cell);
                    &*text
                }
                Cell::Bool(true) => "true",
                Cell::Bool(false) => "false",
                Cell::Integer(number) => {
                    self.digits.clear();
                    let _ = write!(self.digits, "{number}");
                    &self.digits
                }
            };
            self.writer.write_field(field).map_err(failed)?;
        }
        // The end of a record is a record without further fields.
        self.writer.write_record(None::<&[u8]>).map_err(failed)
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        Ok(self.writer.flush()?)
    }
}

fn failed(error: csv::Error) -> ExportError {
    let reason = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => ExportError::Io(error),
        _ => ExportError::Format {
            format: Csv.name(),
            reason,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Table;

    #[test]
    fn no_cell_is_a_formula() {
        for (text, cell) in [
            ("run", "run"),
            ("", ""),
            ("(=)/2", "(=)/2"),
            ("'=x'/0", "'=x'/0"),
            ("=1+1", "'=1+1'"),
            ("=>> / 0", "'=>> / 0'"),
            ("+49 it's", "'+49 it\\'s'"),
            ("-1", "'-1'"),
            ("@SUM(A1)", "'@SUM(A1)'"),
            ("\t=1", "'\\t=1'"),
            ("1=1", "1=1"),
            ("a\x1b[2J\u{9b}\nb", "a\\x1B\\[2J\\x9B\\\\nb"),
            ("größe", "größe"),
        ] {
            assert_eq!(field(text), cell);
        }
        let mut out = Vec::new();
        let columns = &Table::Edges.columns()[..1];
        let mut writer = Csv.begin(columns, Box::new(&mut out)).unwrap();
        writer.row(&[Cell::Text("=1+1")]).unwrap();
        writer.finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "trace\n'=1+1'\n");
    }

    #[test]
    fn names_then_rows() {
        let mut out = Vec::new();
        let mut writer = Csv
            .begin(&Table::Edges.columns()[..5], Box::new(&mut out))
            .unwrap();
        let row = [
            Cell::Text("run"),
            Cell::Text("'a,\"b\"'/2"),
            Cell::Missing,
            Cell::Integer(-7),
            Cell::Bool(true),
        ];
        writer.row(&row).unwrap();
        writer.finish().unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "trace,caller,callee,calls,tail_calls\nrun,\"'a,\"\"b\"\"'/2\",,-7,true\n"
        );
    }
}
