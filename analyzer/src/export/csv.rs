//! Comma-separated values (RFC 4180, lines end in a line feed): a line of column names, then the rows.
//! What is not known is an empty cell.

use std::io::Write;

use csv::Writer;

use super::{ExportError, Exporter, TableWriter};
use crate::tables::{Cell, Column};

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
        let mut table = CsvTable {
            writer: Writer::from_writer(out),
            digits: String::new(),
        };
        let names = columns.iter().map(|column| column.name);
        table.writer.write_record(names).map_err(failed)?;
        Ok(Box::new(table))
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
            let field = match *cell {
                Cell::Missing => "",
                Cell::Text(text) => text,
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
