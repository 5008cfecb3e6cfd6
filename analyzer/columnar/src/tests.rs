//! Every table of a recorded sample, written and read back.

use std::io::{self, Cursor, Write};
use std::path::Path;
use std::sync::Arc;

use polars_core::prelude::*;
use polars_io::SerReader;
use polars_io::ipc::IpcReader;
use polars_io::parquet::read::ParquetReader;
use portmortem_analyzer::calls::CallsOnRequest;
use portmortem_analyzer::export::{ExportError, Exporter};
use portmortem_analyzer::tables::{Cell, Kind, Table};
use portmortem_analyzer::{Filters, Profile, ReplayOptions, Scope, Tables, Trace, replay};

use crate::columns::{ColumnsBuilder, TextLayout, schema};
use crate::{Arrow, Parquet};

fn sample() -> (Trace, Profile) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/queens.pmt");
    let trace = Trace::open(&path).unwrap();
    let profile = replay(&trace, &ReplayOptions::default());
    (trace, profile)
}

const FORMATS: [&dyn Exporter; 2] = [&Parquet, &Arrow];

/// What is in a file of a format.
fn read(format: &dyn Exporter, file: Vec<u8>) -> DataFrame {
    let file = Cursor::new(file);
    match format.name() {
        "parquet" => ParquetReader::new(file).finish().unwrap(),
        _ => IpcReader::new(file).finish().unwrap(),
    }
}

/// Whether a frame begins at row `from` with the rows of a table, and what is the next row then.
fn check_rows(frame: &DataFrame, from: usize, tables: &Tables, table: Table) -> usize {
    let mut at = from;
    let checked: PolarsResult<()> = tables.rows(table, |cells| {
        assert_eq!(frame.width(), cells.len());
        for (column, cell) in frame.columns().iter().zip(cells) {
            let value = match cell {
                Cell::Missing => AnyValue::Null,
                Cell::Text(text) => AnyValue::String(text),
                Cell::Integer(number) => AnyValue::Int64(*number),
                Cell::Bool(flag) => AnyValue::Boolean(*flag),
            };
            let name = column.name();
            assert_eq!(column.get(at)?, value, "{} row {at} {name}", table.name());
        }
        at += 1;
        Ok(())
    });
    checked.unwrap();
    at
}

#[test]
fn files_have_the_cells_of_the_rows() {
    let (trace, profile) = sample();
    let calls = CallsOnRequest::new(Arc::new(Scope::of(&trace, &Filters::default())));
    let tables = Tables::new("queens", &trace, &profile).with_calls(&calls);
    for format in FORMATS {
        for &table in Table::ALL {
            let mut out = Vec::new();
            format.write(&tables, table, &mut out).unwrap();
            let frame = read(format, out);
            for (column, field) in table.columns().iter().zip(frame.columns()) {
                let kind = match column.kind {
                    Kind::Text => DataType::String,
                    Kind::Integer => DataType::Int64,
                    Kind::Bool => DataType::Boolean,
                };
                assert_eq!((field.name().as_str(), field.dtype()), (column.name, &kind));
            }
            let rows = check_rows(&frame, 0, &tables, table);
            assert_eq!(
                rows,
                frame.height(),
                "{} as {}",
                table.name(),
                format.name()
            );
        }
    }
}

/// More rows than a batch has, from more than one trace.
#[test]
fn batches_follow_each_other() {
    let (trace, profile) = sample();
    let traces = ["a", "b", "c"].map(|name| Tables::new(name, &trace, &profile));
    for format in FORMATS {
        let mut out = Vec::new();
        let mut writer = format
            .begin("events", Table::Events.columns(), Box::new(&mut out))
            .unwrap();
        for tables in traces {
            tables
                .rows(Table::Events, |cells| writer.row(cells))
                .unwrap();
        }
        writer.finish().unwrap();
        let frame = read(format, out);
        assert!(frame.height() > 150_000);
        let end = traces.iter().fold(0, |from, tables| {
            check_rows(&frame, from, tables, Table::Events)
        });
        assert_eq!(end, frame.height(), "{}", format.name());
    }
}

#[test]
fn rows_of_another_shape_are_refused() {
    let columns = Table::Cycles.columns();
    let mut builder = ColumnsBuilder::new(&Arc::new(schema(columns, TextLayout::Views)));
    assert_eq!(columns[1].kind, Kind::Integer);
    assert!(builder.push(&[Cell::Text("a")]).is_err());
    assert!(
        builder
            .push(&[Cell::Text("a"), Cell::Bool(true), Cell::Text("p/0")])
            .is_err()
    );
}

/// An output with room for some bytes.
struct Narrow(usize);

impl Write for Narrow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.min(bytes.len()) {
            0 => Err(io::Error::new(io::ErrorKind::StorageFull, "no room")),
            fits => {
                self.0 -= fits;
                Ok(fits)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_said_to_be_one() {
    let (trace, profile) = sample();
    let tables = Tables::new("queens", &trace, &profile);
    for format in FORMATS {
        for room in [0, 10, 1000] {
            let error = format
                .write(&tables, Table::Predicates, &mut Narrow(room))
                .unwrap_err();
            assert!(
                matches!(&error, ExportError::Io(e) if e.kind() == io::ErrorKind::StorageFull),
                "{} {room}: {error}",
                format.name()
            );
        }
    }
}
