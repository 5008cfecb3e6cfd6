//! A packed trace has all that the trace has that was packed, and leads back to it.

use std::sync::atomic::AtomicU64;

use portmortem_tracer::format::{
    BLOCK_HEADER_BYTES, BlockHeader, Dialect, FILE_HEADER_BYTES, MAX_UNPACKED_BYTES, Outcome,
    StreamKind, crc32, decode_header, pack_block_header,
};
use portmortem_tracer::{Keep, Options};
use proptest::prelude::*;

use super::damaged::{analyse, event_blocks, open};
use super::files::{self, declare, long, record, recorder, trace};
use crate::export::{self, Exporter, Table};
use crate::figures::laws;
use crate::figures::profile::Profile;
use crate::replay::{ReplayOptions, replay};
use crate::tables::Tables;
use crate::trace::Trace;
use crate::trace::damage::DamageKind;
use crate::trace::packing::{self, PackError};

type Packing = fn(&Trace, &mut dyn std::io::Write, &AtomicU64) -> Result<(), PackError>;

fn with(work: Packing, bytes: &[u8]) -> Result<Vec<u8>, PackError> {
    let (trace, mut out, done) = (open(bytes).unwrap(), Vec::new(), AtomicU64::new(0));
    work(&trace, &mut out, &done)?;
    Ok(out)
}

fn pack(bytes: &[u8]) -> Vec<u8> {
    with(packing::pack, bytes).unwrap()
}

fn unpack(bytes: &[u8]) -> Vec<u8> {
    with(packing::unpack, bytes).unwrap()
}

/// All that is known of a trace, without places in the file.
fn known(bytes: &[u8]) -> (Profile, Vec<Vec<u8>>) {
    let trace = open(bytes).unwrap();
    let mut profile = replay(&trace, &ReplayOptions::default());
    for damage in &mut profile.damage {
        damage.offset = 0;
    }
    profile.damage.sort_by_key(|damage| format!("{damage:?}"));
    for violation in &mut profile.violations {
        violation.offset = 0;
    }
    let tables = Tables::new("a", &trace, &profile);
    let csv = |&table: &Table| {
        let mut out = Vec::new();
        export::Csv.write(&tables, table, &mut out).unwrap();
        out
    };
    let all = Table::ALL.iter().map(csv).collect();
    (profile, all)
}

/// Whatever the bytes are, the figures keep the laws, and every table can be written.
fn survives(bytes: &[u8]) {
    let _ = open(bytes).unwrap().verify();
    let (profile, _) = known(bytes);
    assert_eq!(laws::check(&profile), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_packed_trace_is_the_trace(script in files::script()) {
        let plain = record(&script);
        let packed = pack(&plain);
        prop_assert!(open(&packed).unwrap().is_packed());
        prop_assert_eq!(open(&packed).unwrap().verify(), []);
        prop_assert_eq!(known(&packed), known(&plain));
        prop_assert!(unpack(&packed) == plain);
    }

    /// Whatever is wrong with a trace is wrong with the packed one.
    #[test]
    fn damage_stays_damage(
        script in files::script(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        left in prop_oneof![Just(None), any::<prop::sample::Index>().prop_map(Some)],
    ) {
        let mut plain = record(&script);
        for (place, value) in flips {
            let place = FILE_HEADER_BYTES + place.index(plain.len() - FILE_HEADER_BYTES);
            plain[place] ^= value;
        }
        if let Some(left) = left {
            plain.truncate(FILE_HEADER_BYTES + left.index(plain.len() - FILE_HEADER_BYTES));
        }
        let packed = pack(&plain);
        prop_assert_eq!(known(&packed), known(&plain));
        prop_assert_eq!(known(&unpack(&packed)), known(&plain));
    }

    /// A packed trace that was damaged is analysed or refused.
    #[test]
    fn damaged_packed_traces(
        script in files::script(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        left in prop_oneof![Just(None), any::<prop::sample::Index>().prop_map(Some)],
    ) {
        let mut packed = pack(&record(&script));
        for (place, value) in flips {
            let place = FILE_HEADER_BYTES + place.index(packed.len() - FILE_HEADER_BYTES);
            packed[place] ^= value;
        }
        if let Some(left) = left {
            packed.truncate(FILE_HEADER_BYTES + left.index(packed.len() - FILE_HEADER_BYTES));
        }
        survives(&packed);
        match with(packing::unpack, &packed) {
            Ok(plain) => survives(&plain),
            Err(PackError::Overlap { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn many_blocks_are_packed() {
    let mut script = long();
    script.streams = vec![script.streams[0].clone(); 5];
    let plain = record(&script);
    let packed = pack(&plain);
    assert!(packed.len() < plain.len() / 10, "{}", packed.len());
    assert_eq!(known(&packed), known(&plain));
    assert!(unpack(&packed) == plain);
    // What is read at a time does not depend on it.
    let (packed, plain) = (trace(packed), trace(plain));
    let sizes = |trace: &Trace| {
        let streams = trace.streams().iter();
        let blocks = streams.flat_map(|stream| stream.blocks.clone());
        blocks
            .map(|block| trace.bytes_of(block..block + 1))
            .collect::<Vec<_>>()
    };
    assert!(sizes(&plain).len() > 5);
    assert_eq!(sizes(&packed), sizes(&plain));
    assert!(packed.size() > plain.size() * 9 / 10 && packed.size() <= plain.size());
    assert!(packed.file_size() < packed.size() / 10);
}

/// Recordings that were cut short, and a flight recorder, whose blocks have leftovers of others.
#[test]
fn recordings_without_an_end() {
    for keep in [Keep::First, Keep::Last] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.pmt");
        let options = Options {
            max_size: Some(1 << 20),
            keep,
            overwrite: false,
        };
        let recorder = recorder(&path, &options);
        declare(&recorder, 2);
        let stream = recorder.stream(StreamKind::Engine, "main", Dialect::EveryRedo);
        for time in 0..400_000_u64 {
            stream.call((time % 2) as u32);
            stream.exit_det();
        }
        let check = |bytes: &[u8]| {
            let packed = pack(bytes);
            assert!(packed.len() < bytes.len());
            assert_eq!(known(&packed), known(bytes));
            assert_eq!(known(&unpack(&packed)), known(bytes));
            (packed, bytes.to_vec())
        };
        // What kill -9 would leave.
        check(&std::fs::read(&path).unwrap());
        drop(stream);
        recorder.close(Outcome::Exited(0)).unwrap();
        let (packed, plain) = check(&std::fs::read(&path).unwrap());
        if keep == Keep::First {
            assert!(unpack(&packed) == plain);
        }
    }
}

#[test]
fn what_is_done_is_not_done_again() {
    let plain = record(&long());
    let packed = pack(&plain);
    assert!(matches!(
        with(packing::pack, &packed),
        Err(PackError::Packed)
    ));
    assert!(matches!(
        with(packing::unpack, &plain),
        Err(PackError::NotPacked)
    ));
}

/// A block that claims to be large costs no memory, and is damaged.
#[test]
fn a_block_that_claims_too_much() {
    let mut bytes = record(&long());
    let (_, file_id) = decode_header(&bytes).unwrap();
    let (at, _) = event_blocks(&bytes)[0];
    let header: &mut [u8; BLOCK_HEADER_BYTES] = (&mut bytes[at..at + BLOCK_HEADER_BYTES])
        .try_into()
        .unwrap();
    // Large enough for what it is about to claim.
    header[4..8].copy_from_slice(&(1_u32 << 31).to_le_bytes());
    header[56..60].fill(0);
    header[64..68].copy_from_slice(&(MAX_UNPACKED_BYTES + 1).to_le_bytes());
    let crc = crc32(&header[64..92]);
    header[92..96].copy_from_slice(&crc.to_le_bytes());
    pack_block_header(header, 0, Some(100));
    let block = BlockHeader::parse(header, file_id).unwrap();
    assert_eq!(block.committed, MAX_UNPACKED_BYTES + 1);
    let trace = open(&bytes).unwrap();
    analyse(&trace);
    let damage = trace.verify();
    assert!(
        damage
            .iter()
            .any(|damage| damage.what == DamageKind::Checksum),
        "{damage:?}"
    );
}
