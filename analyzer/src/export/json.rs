//! JSON lines: an object for each row, column names as keys. What is not known is null.

use std::io::Write;

use serde::{Serialize, Serializer};

use super::{ExportError, Exporter, TableWriter};
use crate::tables::{Cell, Column};

/// JSON lines.
#[derive(Debug, Clone, Copy, Default)]
pub struct Json;

impl Exporter for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn begin<'w>(
        &self,
        columns: &'static [Column],
        out: Box<dyn Write + Send + 'w>,
    ) -> Result<Box<dyn TableWriter + 'w>, ExportError> {
        Ok(Box::new(JsonTable { columns, out }))
    }
}

struct JsonTable<W: Write> {
    columns: &'static [Column],
    out: W,
}

impl<W: Write + Send> TableWriter for JsonTable<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), ExportError> {
        let object = Object {
            columns: self.columns,
            cells,
        };
        serde_json::to_writer(&mut self.out, &object).map_err(std::io::Error::from)?;
        Ok(self.out.write_all(b"\n")?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        Ok(self.out.flush()?)
    }
}

struct Object<'r, 't> {
    columns: &'static [Column],
    cells: &'r [Cell<'t>],
}

impl Serialize for Object<'_, '_> {
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
    fn an_object_a_line() {
        let mut out = Vec::new();
        let mut writer = Json
            .begin(&Table::Edges.columns()[..4], Box::new(&mut out))
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
