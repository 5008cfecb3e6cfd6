//! Recorded samples, cut at every byte and with bits flipped, through every table: figures are right, or the trace says
//! that something is wrong with it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::export::{self, Exporter, Table};
use crate::figures::laws;
use crate::figures::profile::Profile;
use crate::replay::{ReplayOptions, replay};
use crate::tables::Tables;
use crate::trace::Trace;
use crate::trace::mapping::Mapping;

/// The three smallest samples.
fn samples() -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../traces");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let traces = files.filter(|path| path.extension().is_some_and(|name| name == "pmt"));
    let mut samples: Vec<Vec<u8>> = traces.map(|path| fs::read(path).unwrap()).collect();
    samples.sort_by_key(Vec::len);
    assert!(samples.len() >= 3);
    samples.truncate(3);
    samples
}

/// What a front end shows of a trace: all tables.
#[derive(Debug)]
struct Shown {
    profile: Profile,
    tables: Vec<String>,
}

impl Shown {
    fn of(trace: &Trace) -> Self {
        let profile = replay(trace, &ReplayOptions::default());
        let tables = Tables::new("a", trace, &profile);
        let table = |table: &Table| {
            let mut text = Vec::new();
            export::Csv.write(&tables, *table, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let tables = Table::ALL.iter().map(table).collect();
        Self { profile, tables }
    }

    /// Equal to the tick. Nanoseconds may differ a little: the index has a reading of two clocks, and without it
    /// their ratio is that of readings closer together, or the stated one.
    fn is_like(&self, other: &Self) -> bool {
        let number = |cell: &str| cell.parse::<f64>().ok();
        let close = |(cell, other): (&str, &str)| match (number(cell), number(other)) {
            (Some(a), Some(b)) if b > 1000.0 => (a - b).abs() <= b * 1e-3,
            (Some(a), Some(b)) => (a - b).abs() <= 1.0,
            _ => cell == other,
        };
        let cells = |text: &str| {
            text.split([',', '\n'])
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let alike = |(table, other): (&String, &String)| {
            let (table, other) = (cells(table), cells(other));
            let pairs = table.iter().map(String::as_str);
            table.len() == other.len() && pairs.zip(other.iter().map(String::as_str)).all(close)
        };
        self.profile == other.profile && self.tables.iter().zip(&other.tables).all(alike)
    }
}

/// An undamaged sample.
struct Sample {
    bytes: Vec<u8>,
    whole: Shown,
}

impl Sample {
    fn new(bytes: Vec<u8>) -> Self {
        let trace = read(bytes.clone()).unwrap();
        let whole = Shown::of(&trace);
        assert!(!is_marked(&trace, &whole.profile));
        Self { bytes, whole }
    }

    /// Refused, marked, or as it was. Whether the difference was noticed.
    fn look_at(&self, bytes: Vec<u8>, what: &dyn Fn() -> String) -> bool {
        let Some(trace) = read(bytes) else {
            return true;
        };
        let _ = trace.verify();
        let shown = Shown::of(&trace);
        assert_eq!(laws::check(&shown.profile), [], "{}", what());
        let marked = is_marked(&trace, &shown.profile);
        assert!(
            marked || shown.is_like(&self.whole),
            "wrong in silence: {}",
            what()
        );
        marked
    }

    fn cut(&self, length: usize) -> bool {
        self.look_at(self.bytes[..length].to_vec(), &|| {
            format!("cut to {length} bytes")
        })
    }

    fn flip(&self, byte: usize, bit: usize) -> bool {
        let mut bytes = self.bytes.clone();
        bytes[byte] ^= 1 << bit;
        self.look_at(bytes, &|| format!("bit {bit} of byte {byte}"))
    }
}

fn read(bytes: Vec<u8>) -> Option<Trace> {
    Trace::read(Mapping::from(bytes), Path::new("a.pmt")).ok()
}

/// Whether a report says that something is missing.
fn is_marked(trace: &Trace, profile: &Profile) -> bool {
    trace.end().is_none()
        || profile.lost_events() > 0
        || !profile.damage.is_empty()
        || profile.violation_count > 0
}

#[test]
fn every_cut() {
    for sample in samples().into_iter().map(Sample::new) {
        // All but those that cost no more than the index of blocks, or a part of that.
        let noticed = (0..sample.bytes.len()).filter(|&length| sample.cut(length));
        assert!(noticed.count() >= sample.bytes.len() - 1024);
    }
}

/// One bit of every byte outside the file header, which is mostly zeros, and of every 16th inside.
#[test]
fn a_flipped_bit_in_many_bytes() {
    for sample in samples().into_iter().map(Sample::new) {
        let header = (0..4096).step_by(16);
        let bytes = (0..128).chain(header).chain(4096..sample.bytes.len());
        let noticed = bytes.filter(|&byte| sample.flip(byte, byte % 8)).count();
        assert!(noticed > 500, "{noticed}");
    }
}

/// Takes minutes: `cargo nextest run --run-ignored only every_flipped_bit`.
#[test]
#[ignore = "takes minutes"]
fn every_flipped_bit() {
    for sample in samples().into_iter().map(Sample::new) {
        for byte in 0..sample.bytes.len() {
            for bit in 0..8 {
                sample.flip(byte, bit);
            }
        }
    }
}
