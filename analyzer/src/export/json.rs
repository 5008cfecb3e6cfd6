//! JSON lines: an object for each row, column names as keys. What is not known is null.

use std::io::{self, Write};
use std::str;

use serde::{Serialize, Serializer};

use super::shared_output::SharedOutput;
use super::{Encoded, ExportError, Exporter, Rows, TableWriter};
use crate::tables::{Cell, Column};
use crate::trace::names;

/// JSON lines.
#[derive(Debug, Clone, Copy, Default)]
pub struct Json;

impl Exporter for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn begin<'w>(
        &self,
        _name: &'static str,
        columns: &'static [Column],
        out: Box<dyn Write + Send + 'w>,
    ) -> Result<Box<dyn TableWriter + 'w>, ExportError> {
        Ok(Box::new(JsonTable {
            columns,
            out: SharedOutput::new(out),
        }))
    }
}

/// Writes JSON to another writer without characters that a terminal could take for commands. They
/// can be in strings only, where JSON has escapes for them (`\u009b`); `serde_json` writes those
/// from 127 on as they are.
#[derive(Debug)]
pub struct Escaped<W>(pub W);

impl<W: Write> Write for Escaped<W> {
    /// Takes whole strings, as `serde_json` writes them.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match str::from_utf8(bytes) {
            Ok(text) if !bytes.is_ascii() || bytes.contains(&0x7f) => {
                self.0.write_all(escaped(text).as_bytes())?;
            }
            _ => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut units = [0; 2];
    for c in text.chars() {
        if c < '\x7f' || names::is_printable(c.encode_utf8(&mut [0; 4])) {
            out.push(c);
        } else {
            let units = c.encode_utf16(&mut units).iter();
            out.extend(units.map(|unit| format!("\\u{unit:04x}")));
        }
    }
    out
}

/// Rows that are encoded at a time.
const BATCH: usize = 1 << 12;

struct JsonTable<W> {
    columns: &'static [Column],
    out: SharedOutput<W>,
}

fn write_row(
    columns: &'static [Column],
    cells: &[Cell<'_>],
    out: &mut impl Write,
) -> Result<(), ExportError> {
    let object = JsonObject { columns, cells };
    serde_json::to_writer(Escaped(&mut *out), &object).map_err(io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

impl<W: Write + Send> TableWriter for JsonTable<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), ExportError> {
        write_row(self.columns, cells, self.out.alone())
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn encode(&self, rows: &Rows<'_>) -> Result<Encoded, ExportError> {
        let mut text = Vec::new();
        rows.iter()
            .try_for_each(|row| write_row(self.columns, row, &mut text))?;
        Ok(Box::new(text))
    }

    fn add(&self, encoded: Encoded) -> Result<(), ExportError> {
        self.out.add(encoded, Json.name())
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        self.out.finish()
    }
}

struct JsonObject<'r, 't> {
    columns: &'static [Column],
    cells: &'r [Cell<'t>],
}

impl Serialize for JsonObject<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.columns.iter().map(|column| column.name);
        serializer.collect_map(names.zip(self.cells))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Table;

    #[test]
    fn no_string_is_a_command() {
        let text = "a\x1b\x7f\u{9b}\u{202e}\u{e0001} größe 漢";
        let mut out = Vec::new();
        serde_json::to_writer(Escaped(&mut out), text).unwrap();
        let written = String::from_utf8(out).unwrap();
        assert_eq!(
            written,
            r#""a\u001b\u007f\u009b\u202e\udb40\udc01 größe 漢""#
        );
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
    }

    #[test]
    fn an_object_a_line() {
        let mut out = Vec::new();
        let mut writer = Json
            .begin("edges", &Table::Edges.columns()[..4], Box::new(&mut out))
            .unwrap();
        let row = [
            Cell::Text("a \"b\"\n"),
            Cell::Missing,
            Cell::Integer(i64::MAX),
            Cell::Bool(false),
        ];
        writer.row(&row).unwrap();
        writer.row(&row).unwrap();
        writer.finish().unwrap();
        let line =
            r#"{"trace":"a \"b\"\n","caller":null,"callee":9223372036854775807,"calls":false}"#;
        assert_eq!(String::from_utf8(out).unwrap(), format!("{line}\n{line}\n"));
    }
}
