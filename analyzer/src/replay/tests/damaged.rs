//! Files that are not what a recorder wrote: every one is analysed or refused, and says why.

use std::collections::BTreeSet;
use std::path::Path;

use portmortem_tracer::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BlockHeader, BlockKind, Dialect, Event, FILE_HEADER_BYTES,
    Header, HeaderError, NEWEST_VERSION, PortCosts, Predicate, Record, Roles, StreamBegin,
    StreamKind, crc32, decode_header, encode_header, encode_record,
};
use proptest::prelude::*;

use super::files::{record, trace};
use super::random::{self, Limits};
use super::{Events, Script};
use crate::export::{self, Exporter, Table};
use crate::figures::{counted::Counted, laws};
use crate::net::centers::by_center;
use crate::replay::{ReplayOptions, replay};
use crate::scope::focus::{Focus, FocusOn};
use crate::scope::window::Window;
use crate::tables::{ROOT, Tables};
use crate::trace::damage::DamageKind;
use crate::trace::mapping::Mapping;
use crate::trace::{Trace, TraceError};

pub(super) fn open(bytes: &[u8]) -> Result<Trace, TraceError> {
    Trace::read(Mapping::from(bytes.to_vec()), Path::new("a.pmt"))
}

/// Everything that can be done with a trace.
pub(super) fn analyse(trace: &Trace) {
    let _ = trace.verify();
    let profile = replay(trace, &ReplayOptions::default());
    assert_eq!(laws::check(&profile), []);
    let tables = Tables::new("a", trace, &profile);
    for &table in Table::ALL {
        export::Csv.write(&tables, table, &mut Vec::new()).unwrap();
    }
    names_have_rows(&tables);
}

/// The blocks of a trace: offset and header.
fn blocks(bytes: &[u8]) -> Vec<(usize, BlockHeader)> {
    let (_, file_id) = decode_header(bytes).unwrap();
    let mut at = FILE_HEADER_BYTES;
    let mut blocks = Vec::new();
    while let Ok(block) = BlockHeader::parse(&bytes[at.min(bytes.len())..], file_id) {
        blocks.push((at, block));
        at += block.size as usize;
    }
    blocks
}

pub(super) fn event_blocks(bytes: &[u8]) -> Vec<(usize, BlockHeader)> {
    let mut blocks = blocks(bytes);
    blocks.retain(|(_, block)| block.kind == BlockKind::Events);
    blocks
}

/// Gives a block header the checksums of what it has now.
fn reseal(bytes: &mut [u8], at: usize) {
    let crc = crc32(&bytes[at + 4..at + 60]);
    bytes[at + 60..at + 64].copy_from_slice(&crc.to_le_bytes());
    let committed = u32::from_le_bytes(bytes[at + 64..at + 68].try_into().unwrap()) as usize;
    if let Some(payload) = bytes.get(at + BLOCK_HEADER_BYTES..at + BLOCK_HEADER_BYTES + committed) {
        let crc = crc32(payload);
        bytes[at + 88..at + 92].copy_from_slice(&crc.to_le_bytes());
    }
    let crc = crc32(&bytes[at + 64..at + 92]);
    bytes[at + 92..at + 96].copy_from_slice(&crc.to_le_bytes());
}

/// A small trace of three streams.
fn sample() -> Vec<u8> {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let limits = Limits {
        predicates: 5,
        dialect: Dialect::EveryRedo,
        gaps: false,
        sites: true,
    };
    let streams: Vec<Events> = (0..3)
        .map(|_| {
            let tree = random::choices(900).new_tree(&mut runner).unwrap();
            random::run(&proptest::strategy::ValueTree::current(&tree), limits, 1)
        })
        .collect();
    record(&Script {
        dialect: Dialect::EveryRedo,
        hidden: vec![false; 5],
        centers: Vec::new(),
        places: Vec::new(),
        window: None,
        streams,
    })
}

/// `n` calls and exits.
pub(super) fn flat(n: u64) -> Vec<u8> {
    let pair = |i| {
        [
            (Event::Call { predicate: 0 }, 3 * i),
            (Event::ExitDet, 3 * i + 1),
        ]
    };
    record(&Script::new(1, (0..n).flat_map(pair).collect()))
}

/// A whole trace by hand: these blocks of (kind, stream, payload), all open.
fn by_hand(blocks: &[(u32, u32, Vec<u8>)]) -> Vec<u8> {
    let header = Header::of_this_process("nothing");
    let mut bytes = encode_header(&header, 7).to_vec();
    for (kind, stream, payload) in blocks {
        let at = bytes.len();
        let size = (BLOCK_HEADER_BYTES + payload.len()).next_multiple_of(BLOCK_ALIGN);
        bytes.resize(at + size, 0);
        bytes[at..at + 4].copy_from_slice(b"PMBK");
        bytes[at + 4..at + 8].copy_from_slice(&(size as u32).to_le_bytes());
        bytes[at + 8..at + 16].copy_from_slice(&7u64.to_le_bytes());
        bytes[at + 16..at + 20].copy_from_slice(&kind.to_le_bytes());
        bytes[at + 20..at + 24].copy_from_slice(&stream.to_le_bytes());
        bytes[at + 64..at + 68].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        let payload_at = at + BLOCK_HEADER_BYTES;
        bytes[payload_at..payload_at + payload.len()].copy_from_slice(payload);
        reseal(&mut bytes, at);
    }
    bytes
}

fn events(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    events.iter().for_each(|event| event.encode(1, &mut bytes));
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_changed(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        near_headers in any::<bool>(),
        sealed in any::<bool>(),
    ) {
        let mut bytes = SAMPLE.with(Clone::clone);
        let blocks = blocks(&bytes);
        for (index, byte) in changes {
            let at = if near_headers {
                let (at, _) = blocks[index.index(blocks.len())];
                at + usize::from(byte.rotate_left(3)) % BLOCK_HEADER_BYTES
            } else {
                index.index(bytes.len())
            };
            bytes[at] = bytes[at].wrapping_add(byte | 1);
        }
        if sealed {
            // Hostile rather than damaged: the checksums agree.
            blocks.iter().for_each(|&(at, _)| reseal(&mut bytes, at));
        }
        if let Ok(trace) = open(&bytes) {
            analyse(&trace);
        }
    }

    #[test]
    fn cut_anywhere(at in any::<prop::sample::Index>()) {
        let bytes = SAMPLE.with(Clone::clone);
        let at = at.index(bytes.len());
        match open(&bytes[..at]) {
            Ok(trace) => analyse(&trace),
            Err(error) => prop_assert!(at < FILE_HEADER_BYTES, "{}", error),
        }
    }

    #[test]
    fn pieces_exchanged(pieces in prop::collection::vec((0..40usize, 0..40usize), 1..6)) {
        let mut bytes = SAMPLE.with(Clone::clone);
        for (from, to) in pieces {
            let [from, to] = [from, to].map(|at| {
                FILE_HEADER_BYTES + at * BLOCK_ALIGN % (bytes.len() - FILE_HEADER_BYTES - BLOCK_ALIGN)
            });
            bytes.copy_within(from..from + BLOCK_ALIGN, to);
        }
        analyse(&open(&bytes).unwrap());
    }

    #[test]
    fn any_payload_whatever(
        records in prop::collection::vec(any::<u8>(), 0..300),
        payload in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let bytes = by_hand(&[(2, 0, records), (1, 1, payload.clone()), (1, u32::MAX, payload)]);
        analyse(&open(&bytes).unwrap());
    }
}

thread_local! {
    static SAMPLE: Vec<u8> = sample();
}

#[test]
fn what_is_not_a_trace_is_refused_with_its_kind() {
    let message = |bytes: &[u8]| open(bytes).unwrap_err().to_string();
    assert_eq!(
        message(b"\x89PNG\r\n\x1a\n"),
        "a.pmt: not a Portmortem trace; it looks like a PNG image"
    );
    assert_eq!(
        message(b"main :- true."),
        "a.pmt: not a Portmortem trace; it looks like text"
    );
    let mut newer = sample();
    let version = NEWEST_VERSION + 1;
    newer[8] = version as u8;
    assert_eq!(
        message(&newer),
        format!(
            "a.pmt: written by a newer Portmortem (format {version}, this one reads up to {NEWEST_VERSION}); \
             use that version to read it"
        )
    );
    let mut damaged = sample();
    damaged[40] ^= 1;
    assert!(matches!(open(&damaged), Err(TraceError::Header { .. })));
    let truncated = open(&sample()[..100]);
    let Err(TraceError::Header { source, .. }) = truncated else {
        panic!()
    };
    assert_eq!(source, HeaderError::Truncated(100));
    let missing = Trace::open(Path::new("/nowhere/a.pmt"))
        .unwrap_err()
        .to_string();
    assert!(
        missing.starts_with("cannot read /nowhere/a.pmt: "),
        "{missing}"
    );
}

#[test]
fn a_flipped_bit_costs_its_block() {
    let mut bytes = flat(100_000);
    let blocks = event_blocks(&bytes);
    let (at, hit) = blocks[2];
    let (_, after) = blocks[3];
    bytes[at + BLOCK_HEADER_BYTES + 77] ^= 4;
    let trace = trace(bytes);
    assert_eq!(trace.damage(), []);
    let profile = replay(&trace, &ReplayOptions::default());
    let lost = after.first_event - hit.first_event;
    assert_eq!(profile.damage.len(), 1);
    assert_eq!(profile.damage[0].what, DamageKind::Checksum);
    assert_eq!(profile.damage[0].offset, at as u64);
    assert_eq!(profile.damage[0].events_lost, Some(lost));
    assert_eq!(profile.lost_events(), lost);
    assert_eq!(profile.streams[0].events, 200_000 - lost);
    assert_eq!(profile.violation_count, 0);
    assert_eq!(laws::check(&profile), []);
    assert_eq!(trace.verify(), profile.damage);
}

#[test]
fn a_damaged_block_header_costs_its_block() {
    let bytes = flat(100_000);
    let blocks = event_blocks(&bytes);
    let (at, hit) = blocks[2];
    let lost = blocks[3].1.first_event - hit.first_event;
    let mut with_index = bytes;
    with_index[at + 33] ^= 1;
    let mut without_index = with_index.clone();
    without_index.truncate(without_index.len() - 1);
    for (bytes, what) in [
        (with_index, DamageKind::LostBlock),
        (
            without_index,
            DamageKind::NoBlock {
                bytes: u64::from(hit.size),
            },
        ),
    ] {
        let profile = replay(&trace(bytes), &ReplayOptions::default());
        assert_eq!(profile.damage[0].offset, at as u64);
        assert_eq!(profile.damage[0].what, what);
        assert_eq!(profile.lost_events(), lost);
        assert_eq!(profile.streams[0].events + lost, 200_000);
    }
}

#[test]
fn a_file_cut_inside_a_block_keeps_what_is_there() {
    let mut bytes = flat(100_000);
    let (at, hit) = event_blocks(&bytes)[5];
    bytes.truncate(at + BLOCK_HEADER_BYTES + 1000);
    let profile = replay(&trace(bytes), &ReplayOptions::default());
    let what = DamageKind::CutOff {
        missing: u64::from(hit.size) - 1128,
    };
    assert_eq!(profile.damage[0].what, what);
    let stream = profile.streams[0];
    assert!(stream.events > hit.first_event && stream.events < hit.first_event + 1000);
    // The record of the stream's end says how many there were.
    assert_eq!(stream.events + stream.lost_events, 200_000);
}

#[test]
fn a_predicate_without_a_name_is_unknown() {
    let call = events(&[
        Event::Call {
            predicate: u32::MAX,
        },
        Event::ExitDet,
    ]);
    let begin = Record::StreamBegin(StreamBegin {
        stream: 1,
        kind: StreamKind::Thread,
        name: "main".to_owned(),
        dialect: Dialect::EveryRedo,
        tick: 0,
    });
    let mut records = Vec::new();
    encode_record(&begin, &mut records).unwrap();
    // An open block has no checksum, so this is taken for damage of it.
    let bytes = by_hand(&[(2, 0, records.clone()), (1, 1, call)]);
    let profile = replay(&trace(bytes.clone()), &ReplayOptions::default());
    let what = DamageKind::UnknownPredicate {
        predicate: u32::MAX,
    };
    assert_eq!(profile.damage[0].what, what);
    assert_eq!(profile.streams[0].events, 0);
    // With a checksum the box was there.
    let mut closed = bytes;
    let at = FILE_HEADER_BYTES + 512;
    closed[at + 68] = 1;
    closed[at + 80] = 2;
    reseal(&mut closed, at);
    let profile = replay(&trace(closed), &ReplayOptions::default());
    assert_eq!(profile.damage[0].what, what);
    assert_eq!(profile.predicates[0].exits_det, 1);
    assert_eq!(profile.streams[0].events, 2);
}

/// Four billion of anything is a few bytes in a file and must stay so in memory.
#[test]
fn large_numbers_allocate_nothing() {
    let begin = StreamBegin {
        stream: u32::MAX,
        kind: StreamKind::Engine,
        name: String::new(),
        dialect: Dialect::InnermostRedo,
        tick: u64::MAX,
    };
    let mut records = Vec::new();
    for record in [
        Record::Text {
            id: u32::MAX,
            text: String::new(),
        },
        Record::File {
            id: u32::MAX,
            path: String::new(),
        },
        Record::Predicate(Predicate {
            id: u32::MAX,
            arity: u32::MAX,
            file: Some(u32::MAX - 1),
            line: u32::MAX,
            roles: Roles::from_bits(u32::MAX),
            ..Predicate::default()
        }),
        Record::StreamBegin(begin),
        Record::StreamEnd {
            stream: u32::MAX,
            tick: u64::MAX,
            events: u64::MAX,
        },
    ] {
        encode_record(&record, &mut records).unwrap();
    }
    let mut payload = events(&[
        Event::Call {
            predicate: u32::MAX,
        },
        Event::ExitNondet,
        Event::Cut { count: u32::MAX },
        Event::Gap { lost: u64::MAX },
        Event::Cut { count: u32::MAX },
        Event::Redo,
        Event::ExitDet,
    ]);
    Event::Mark { text: u32::MAX }.encode(u64::MAX >> 1, &mut payload);
    Event::Mark { text: u32::MAX }.encode(u64::MAX >> 1, &mut payload);
    let bytes = by_hand(&[(2, 0, records), (1, u32::MAX, payload)]);
    let trace = open(&bytes).unwrap();
    assert_eq!(trace.predicate_index(u32::MAX), Some(0));
    analyse(&trace);
    let profile = replay(&trace, &ReplayOptions::default());
    assert_eq!(profile.predicates[0].cuts, 1);
    assert_eq!(profile.streams[0].lost_events, u64::MAX);
}

#[test]
fn a_stream_without_announcement_is_replayed() {
    let calls = events(&[Event::Pause, Event::Resume]);
    let profile = replay(
        &open(&by_hand(&[(1, 9, calls)])).unwrap(),
        &ReplayOptions::default(),
    );
    assert_eq!(profile.damage[0].what, DamageKind::UnknownStream);
    assert_eq!(
        (profile.streams[0].stream, profile.streams[0].events),
        (9, 2)
    );
}

/// A way out of a box that was not called, and calls after it, in a focus: every box has a way there.
#[test]
fn impossible_events_in_a_focus() {
    let records = predicates(2);
    for first in [
        Event::ExitDet,
        Event::ExitNondet,
        Event::Redo,
        Event::Fail,
        Event::Exception,
        Event::Cut { count: 3 },
        Event::Tail { predicate: 0 },
    ] {
        let call = |predicate| Event::Call { predicate };
        let mut script = vec![first; 20];
        script.extend([call(0), call(1), call(0), Event::Tail { predicate: 1 }]);
        script.extend([first; 20]);
        script.push(call(1));
        let bytes = by_hand(&[(2, 0, records.clone()), (1, 1, events(&script))]);
        let trace = open(&bytes).unwrap();
        for place in [FocusOn::Predicate(1), FocusOn::Context(vec![0, 1])] {
            let options = ReplayOptions {
                focus: Focus::default().within(&place),
                ..ReplayOptions::default()
            };
            let profile = replay(&trace, &options);
            assert_eq!(laws::check(&profile), [], "{first:?}");
        }
    }
}

/// Ticks whose sum over streams has more than 64 bits: sums stay where those end.
#[test]
fn ticks_that_do_not_fit() {
    let mut records = predicates(2);
    let costs = PortCosts {
        inside: [u32::MAX; 8],
        outside: [u32::MAX; 8],
        argument: u32::MAX,
        slowdown: u32::MAX,
        reach: u32::MAX,
    };
    encode_record(&Record::PortCosts(costs), &mut records).unwrap();
    let most = u64::MAX - 1;
    let mut payload = Vec::new();
    for (event, delta) in [
        (Event::Call { predicate: 0 }, 0),
        (Event::Call { predicate: 1 }, 0),
        (Event::ExitNondet, most / 2),
        (Event::Redo, 0),
        (Event::Tail { predicate: 1 }, 0),
        (Event::ExitNondet, most / 2),
        (Event::ExitNondet, 0),
    ] {
        event.encode(delta, &mut payload);
    }
    let streams = (1..=4).map(|stream| (1, stream, payload.clone()));
    let blocks: Vec<_> = [(2, 0, records)].into_iter().chain(streams).collect();
    let trace = open(&by_hand(&blocks)).unwrap();
    for focus in [
        Focus::default(),
        Focus::default().within(&FocusOn::Predicate(1)),
    ] {
        let options = ReplayOptions {
            focus,
            ..ReplayOptions::default()
        };
        let profile = replay(&trace, &options);
        assert_eq!(profile.predicates[1].calls, 8);
        assert_eq!(profile.predicates[1].self_ticks, u64::MAX);
        assert!(profile.net.is_some());
        let _ = by_center(&trace, &profile, Counted::All);
        let tables = Tables::new("a", &trace, &profile);
        for &table in Table::ALL {
            export::Csv.write(&tables, table, &mut Vec::new()).unwrap();
        }
    }
}

/// As records: `p0/4294967295`, `p1/4294967295`, …
fn predicates(count: u32) -> Vec<u8> {
    let mut records = Vec::new();
    for id in 0..count {
        let predicate = Predicate {
            id,
            module: "user".to_owned(),
            name: format!("p{id}"),
            arity: u32::MAX,
            ..Predicate::default()
        };
        encode_record(&Record::Predicate(predicate), &mut records).unwrap();
    }
    records
}

/// Whoever is named in a table has a row in the table of predicates.
fn names_have_rows(tables: &Tables) {
    let known: BTreeSet<&str> = tables.predicates().map(|row| row.predicate).collect();
    for row in tables.edges() {
        assert!(known.contains(row.callee), "{}", row.callee);
        assert!(row.caller == ROOT || known.contains(row.caller));
    }
    for row in tables.contexts() {
        assert!(known.contains(row.predicate), "{}", row.predicate);
    }
}

/// Where track is lost an unknown box may be active, and need never do anything.
#[test]
fn an_idle_unknown_box_has_no_row() {
    let script = [
        Event::Call { predicate: 0 },
        Event::ExitNondet,
        Event::Gap { lost: 1 },
    ];
    let bytes = by_hand(&[(2, 0, predicates(1)), (1, 1, events(&script))]);
    let trace = open(&bytes).unwrap();
    let profile = replay(&trace, &ReplayOptions::default());
    let tables = Tables::new("a", &trace, &profile);
    let edges: Vec<_> = tables.edges().map(|row| (row.caller, row.callee)).collect();
    assert_eq!(edges, [(ROOT, "p0/4294967295")]);
    names_have_rows(&tables);
    // In a window in which a box is only re-entered it has a row.
    let mut payload = Vec::new();
    for event in [
        Event::Call { predicate: 0 },
        Event::ExitNondet,
        Event::Redo,
        Event::ExitDet,
    ] {
        event.encode(u64::from(event == Event::Redo) * 100, &mut payload);
    }
    let trace = open(&by_hand(&[(2, 0, predicates(1)), (1, 1, payload)])).unwrap();
    let options = ReplayOptions {
        window: Some(Window {
            from: 50,
            until: 1000,
        }),
        ..ReplayOptions::default()
    };
    let profile = replay(&trace, &options);
    let tables = Tables::new("a", &trace, &profile);
    assert_eq!(tables.edges().map(|row| row.redos).sum::<u64>(), 1);
    names_have_rows(&tables);
}

/// A symbolic recording may begin with the announcement of a stream, before the first block has read the clocks.
#[test]
fn a_stream_that_begins_before_the_first_block() {
    let begin = StreamBegin {
        stream: 1,
        kind: StreamKind::Thread,
        name: String::new(),
        dialect: Dialect::EveryRedo,
        tick: 1,
    };
    let mut records = Vec::new();
    encode_record(&Record::StreamBegin(begin), &mut records).unwrap();
    records.extend(predicates(1));
    let script = [Event::Call { predicate: 0 }, Event::ExitDet];
    let mut bytes = by_hand(&[(2, 0, records), (1, 1, events(&script))]);
    for (at, _) in blocks(&bytes) {
        bytes[at + 40..at + 48].copy_from_slice(&5000_u64.to_le_bytes());
        reseal(&mut bytes, at);
    }
    let trace = open(&bytes).unwrap();
    let profile = replay(&trace, &ReplayOptions::default());
    let tables = Tables::new("a", &trace, &profile);
    let row = tables.streams().next().unwrap();
    let lasted = row.self_ns + row.untraced_ns + row.paused_ns + row.gap_ns;
    assert_eq!((row.first_ns, row.last_ns), (0, lasted));
    assert!(lasted >= 4999);
}

/// Another program cuts the file: what is missing reads as zeros, and the trace says so.
#[test]
fn a_file_that_is_cut_while_it_is_analysed() {
    let whole = sample();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.pmt");
    for left in [0, 5000, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole).unwrap();
        let trace = Trace::open(&path).unwrap();
        trace.check_whole(&path).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_len(left as u64).unwrap();
        analyse(&trace);
        let error = trace.check_whole(&path).unwrap_err();
        assert!(matches!(error, TraceError::Truncated { .. }));
        drop(file);
    }
}
