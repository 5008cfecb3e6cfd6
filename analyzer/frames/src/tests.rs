//! Every table of a recorded sample, written and read back.

use std::io::{self, Cursor, Write};
use std::path::Path;
use std::sync::Arc;

use polars::prelude::*;
use polars_io::SerReader;
use polars_io::ipc::IpcReader;
use polars_io::parquet::read::ParquetReader;
use portmortem_analyzer::calls::CallsOnRequest;
use portmortem_analyzer::export::{ExportError, Exporter};
use portmortem_analyzer::tables::{Cell, Kind, Table};
use portmortem_analyzer::{Filters, Profile, ReplayOptions, Scope, Tables, Trace, replay};

use crate::{Arrow, FrameBuilder, Parquet, frame, schema};

fn sample() -> (Trace, Profile) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/queens.pmt");
    let trace = Trace::open(&path).unwrap();
    let profile = replay(&trace, &ReplayOptions::default());
    (trace, profile)
}

fn written(format: &dyn Exporter, tables: &Tables, table: Table) -> Cursor<Vec<u8>> {
    let mut out = Vec::new();
    format.write(tables, table, &mut out).unwrap();
    Cursor::new(out)
}

#[test]
fn files_say_what_the_frames_say() {
    let (trace, profile) = sample();
    let calls = CallsOnRequest::new(Arc::new(Scope::of(&trace, &Filters::default())));
    let tables = Tables::new("queens", &trace, &profile).with_calls(&calls);
    for &table in Table::ALL {
        let frame = frame(table, [tables]).unwrap();
        assert_eq!(**frame.schema(), schema(table.columns()));
        let parquet = ParquetReader::new(written(&Parquet, &tables, table)).finish();
        assert!(
            frame.equals_missing(&parquet.unwrap()),
            "{} as Parquet",
            table.name()
        );
        let arrow = IpcReader::new(written(&Arrow, &tables, table)).finish();
        assert!(
            frame.equals_missing(&arrow.unwrap()),
            "{} as Arrow",
            table.name()
        );
    }
}

#[test]
fn frames_have_the_cells_of_the_rows() {
    let (trace, profile) = sample();
    let calls = CallsOnRequest::new(Arc::new(Scope::of(&trace, &Filters::default())));
    let tables = Tables::new("queens", &trace, &profile).with_calls(&calls);
    for &table in Table::ALL {
        let frame = frame(table, [tables]).unwrap();
        let mut at = 0;
        let same: PolarsResult<()> = tables.rows(table, |cells| {
            for (column, cell) in frame.columns().iter().zip(cells) {
                let value = match cell {
                    Cell::Missing => AnyValue::Null,
                    Cell::Text(text) => AnyValue::String(text),
                    Cell::Integer(number) => AnyValue::Int64(*number),
                    Cell::Bool(flag) => AnyValue::Boolean(*flag),
                };
                assert_eq!(
                    column.get(at)?,
                    value,
                    "{} row {at} {}",
                    table.name(),
                    column.name()
                );
            }
            at += 1;
            Ok(())
        });
        same.unwrap();
        assert_eq!(frame.height(), at);
    }
}

/// More rows than a batch has, from more than one trace.
#[test]
fn batches_follow_each_other() {
    let (trace, profile) = sample();
    let traces = ["a", "b", "c"].map(|name| Tables::new(name, &trace, &profile));
    let together = frame(Table::Events, traces).unwrap();
    assert!(together.height() > 150_000);
    for format in [&Parquet as &dyn Exporter, &Arrow] {
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
        let read = match format.name() {
            "parquet" => ParquetReader::new(Cursor::new(out)).finish(),
            _ => IpcReader::new(Cursor::new(out)).finish(),
        };
        assert!(together.equals_missing(&read.unwrap()), "{}", format.name());
    }
}

#[test]
fn rows_of_another_shape_are_refused() {
    let mut builder = FrameBuilder::new(Table::Cycles.columns());
    assert_eq!(Table::Cycles.columns()[1].kind, Kind::Integer);
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
    for format in [&Parquet as &dyn Exporter, &Arrow] {
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
