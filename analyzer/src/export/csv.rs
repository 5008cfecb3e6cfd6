//! Comma-separated values (RFC 4180, lines end in a line feed): a line of column names, then the rows.
//! What is not known is an empty cell.

use std::io::Write;

use csv::WriterBuilder;
use serde::Serialize;

use super::{ExportError, Exporter, Table};
use crate::tables::Tables;

/// Comma-separated values.
#[derive(Debug, Clone, Copy, Default)]
pub struct Csv;

impl Exporter for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn write(&self, tables: &Tables, table: Table, out: &mut dyn Write) -> Result<(), ExportError> {
        let written = match table {
            Table::Predicates => write_rows(&PREDICATES, &tables.predicates, out),
            Table::Edges => write_rows(&EDGES, &tables.edges, out),
        };
        written.map_err(|error| failed(error, table))
    }
}

/// Column names, which a table without rows has too.
const PREDICATES: [&str; 21] = [
    "trace",
    "predicate",
    "file",
    "line",
    "calls",
    "tail_calls",
    "exits_det",
    "exits_nondet",
    "redos",
    "fails",
    "exceptions",
    "cuts",
    "open",
    "pending",
    "self_ns",
    "inclusive_ns",
    "self_comp_ns",
    "inclusive_comp_ns",
    "failed_ns",
    "undone_ns",
    "determinism",
];

const EDGES: [&str; 11] = [
    "trace",
    "caller",
    "callee",
    "calls",
    "tail_calls",
    "exits",
    "redos",
    "fails",
    "recursive",
    "served_ns",
    "spent_ns",
];

fn write_rows<R: Serialize>(columns: &[&str], rows: &[R], out: &mut dyn Write) -> csv::Result<()> {
    let mut writer = WriterBuilder::new().has_headers(false).from_writer(out);
    writer.write_record(columns)?;
    for row in rows {
        writer.serialize(row)?;
    }
    writer.flush()?;
    Ok(())
}

fn failed(error: csv::Error, table: Table) -> ExportError {
    let reason = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => ExportError::Io(error),
        _ => ExportError::Format {
            table: table.name(),
            format: Csv.name(),
            reason,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{EdgeRow, PredicateRow};

    fn lines(tables: &Tables, table: Table) -> Vec<String> {
        let mut out = Vec::new();
        Csv.write(tables, table, &mut out).unwrap();
        String::from_utf8(out)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    fn predicate() -> PredicateRow<'static> {
        PredicateRow {
            trace: "run",
            predicate: "'a,\"b\"'/2",
            file: None,
            line: Some(7),
            calls: 1,
            tail_calls: 2,
            exits_det: 3,
            exits_nondet: 4,
            redos: 5,
            fails: 6,
            exceptions: 7,
            cuts: 8,
            open: 9,
            pending: 10,
            self_ns: 11,
            inclusive_ns: 12,
            self_comp_ns: None,
            inclusive_comp_ns: None,
            failed_ns: 13,
            undone_ns: 14,
            determinism: Some("det"),
        }
    }

    fn edge() -> EdgeRow<'static> {
        EdgeRow {
            trace: "run",
            caller: crate::tables::ROOT,
            callee: "p/1",
            calls: 1,
            tail_calls: 2,
            exits: 3,
            redos: 4,
            fails: 5,
            recursive: false,
            served_ns: 6,
            spent_ns: 7,
        }
    }

    #[test]
    fn rows_follow_their_names() {
        let tables = Tables {
            predicates: vec![predicate()],
            edges: vec![edge()],
        };
        let predicates = lines(&tables, Table::Predicates);
        assert_eq!(
            predicates[1],
            r#"run,"'a,""b""'/2",,7,1,2,3,4,5,6,7,8,9,10,11,12,,,13,14,det"#
        );
        assert_eq!(
            lines(&tables, Table::Edges)[1],
            "run,<root>,p/1,1,2,3,4,5,false,6,7"
        );
    }

    /// The names above are those of the rows' fields, in their order.
    #[test]
    fn column_names_are_field_names() {
        let names = |value: serde_json::Value| -> Vec<String> {
            value.as_object().unwrap().keys().cloned().collect()
        };
        let mut columns = PREDICATES.map(str::to_owned);
        columns.sort();
        assert_eq!(names(serde_json::to_value(predicate()).unwrap()), columns);
        let mut columns = EDGES.map(str::to_owned);
        columns.sort();
        assert_eq!(names(serde_json::to_value(edge()).unwrap()), columns);
    }

    #[test]
    fn a_table_without_rows_has_names() {
        assert_eq!(lines(&Tables::default(), Table::Edges), [EDGES.join(",")]);
    }
}
