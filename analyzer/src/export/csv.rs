//! Comma-separated values (RFC 4180, lines end in a line feed): a line of column names, then the
//! rows. What is not known is an empty cell.
//!
//! Names are text, and a spreadsheet takes some texts for formulas: those are written as quoted
//! atoms, like names of predicates that need quotes ([`field`]). A terminal takes some characters
//! for commands: those are escaped as in reports.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use csv::Writer;

use super::{Encoded, ExportError, Exporter, Rows, TableWriter, own};
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
        _name: &'static str,
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
        let mut text = CsvText::new();
        text.writer.write_record(names).map_err(failed)?;
        let mut file = CsvFile { text, out };
        file.flush()?;
        Ok(Box::new(CsvTable(Mutex::new(file))))
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

/// Rows that are encoded or written at a time.
const BATCH: usize = 1 << 12;

struct CsvTable<W>(Mutex<CsvFile<W>>);

/// The output, and the rows that are not there yet.
struct CsvFile<W> {
    text: CsvText,
    out: W,
}

impl<W: Write> CsvFile<W> {
    fn flush(&mut self) -> Result<(), ExportError> {
        let text = std::mem::replace(&mut self.text, CsvText::new());
        Ok(self.out.write_all(&text.into_bytes()?)?)
    }
}

/// Rows as text.
struct CsvText {
    writer: Writer<Vec<u8>>,
    rows: usize,
    /// Kept for its memory.
    digits: itoa::Buffer,
}

impl CsvText {
    fn new() -> Self {
        Self {
            writer: Writer::from_writer(Vec::new()),
            rows: 0,
            digits: itoa::Buffer::new(),
        }
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), ExportError> {
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
                Cell::Integer(number) => self.digits.format(number),
            };
            self.writer.write_field(field).map_err(failed)?;
        }
        self.rows += 1;
        // The end of a record is a record without further fields.
        self.writer.write_record(None::<&[u8]>).map_err(failed)
    }

    fn into_bytes(self) -> Result<Vec<u8>, ExportError> {
        let bytes = self.writer.into_inner();
        bytes.map_err(|error| io::Error::from(error.error().kind()).into())
    }
}

impl<W: Write + Send> TableWriter for CsvTable<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), ExportError> {
        let file = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.text.row(cells)?;
        if file.text.rows >= BATCH {
            file.flush()?;
        }
        Ok(())
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn encode(&self, rows: &Rows<'_>) -> Result<Encoded, ExportError> {
        let mut text = CsvText::new();
        rows.iter().try_for_each(|row| text.row(row))?;
        Ok(Box::new(text.into_bytes()?))
    }

    fn add(&self, encoded: Encoded) -> Result<(), ExportError> {
        let text: Vec<u8> = own(encoded, Csv.name())?;
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.flush()?;
        Ok(file.out.write_all(&text)?)
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        let mut file = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        file.flush()?;
        Ok(file.out.flush()?)
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
        let mut writer = Csv.begin("edges", columns, Box::new(&mut out)).unwrap();
        writer.row(&[Cell::Text("=1+1")]).unwrap();
        writer.finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "trace\n'=1+1'\n");
    }

    #[test]
    fn names_then_rows() {
        let mut out = Vec::new();
        let mut writer = Csv
            .begin("edges", &Table::Edges.columns()[..5], Box::new(&mut out))
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
