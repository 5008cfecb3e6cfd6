//! Everything that is written can be read, and nothing that is read makes a decoder panic.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use portmortem_tracer::format::{
    ArgumentValue, Arguments, BLOCK_MAGIC, Baseline, BlockError, BlockHeader, BlockIndex, Clause,
    ClockSource, CompleteTable, Cost, Dialect, Event, EventError, FILE_HEADER_BYTES, FILE_MAGIC,
    Fit, Footer, Header, HeaderError, IndexEntry, MAX_EVENT_BYTES, Mode, NEWEST_VERSION, Outcome,
    PortCosts, Predicate, Record, Roles, Site, StreamBegin, StreamKind, SyncCall, SyncRole,
    Technique, Trial, Trials, ValueKind, WireError, crc32, decode_header, decode_index,
    decode_record, encode_header, encode_index, encode_record, read_record, read_varint,
    write_varint,
};
use proptest::prelude::*;

/// Of any length in the file.
fn id() -> impl Strategy<Value = u32> {
    (any::<u32>(), 0u32..32).prop_map(|(value, shift)| value >> shift)
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        id().prop_map(|predicate| Event::Call { predicate }),
        id().prop_map(|predicate| Event::Tail { predicate }),
        Just(Event::ExitDet),
        Just(Event::ExitNondet),
        Just(Event::Redo),
        Just(Event::Fail),
        Just(Event::Exception),
        any::<u32>().prop_map(|count| Event::Cut { count }),
        Just(Event::Pause),
        Just(Event::Resume),
        any::<u64>().prop_map(|lost| Event::Gap { lost }),
        any::<u32>().prop_map(|text| Event::Mark { text }),
        id().prop_map(|clause| Event::Clause { clause }),
        arguments().prop_map(Event::Arguments),
        table().prop_map(Event::Table),
        value(),
        sync(),
    ]
}

fn table() -> impl Strategy<Value = CompleteTable> {
    (id(), any::<u32>(), any::<u32>()).prop_map(|(predicate, answers, nodes)| CompleteTable {
        predicate,
        answers,
        nodes,
    })
}

/// When there is no size, none comes back.
fn value() -> impl Strategy<Value = Event> {
    let kind = prop_oneof![
        Just(ValueKind::Unbound),
        Just(ValueKind::Ground),
        Just(ValueKind::NotGround),
        Just(ValueKind::Unknown),
        Just(ValueKind::Fresh),
    ];
    let numbers = (0..32u8, any::<u8>(), any::<u32>(), any::<u64>());
    (kind, numbers).prop_map(|(kind, (when, argument, size, hash))| {
        Event::Value(ArgumentValue {
            when,
            argument,
            kind,
            size: if kind.has_size() { size } else { 0 },
            hash: if kind.has_hash() { hash } else { 0 },
        })
    })
}

fn sync() -> impl Strategy<Value = Event> {
    let role = prop_oneof![
        Just(SyncRole::Holds),
        Just(SyncRole::Locks),
        Just(SyncRole::Unlocks),
        Just(SyncRole::Receives),
        Just(SyncRole::Sends),
        Just(SyncRole::Joins),
    ];
    (role, any::<u32>()).prop_map(|(role, shared)| Event::Sync(SyncCall { role, shared }))
}

fn arguments() -> impl Strategy<Value = Arguments> {
    prop_oneof![
        any::<u64>().prop_map(Arguments::Hash),
        Just(Arguments::NotGround),
        Just(Arguments::TooLarge),
        any::<(u8, i64)>().prop_map(|(argument, value)| Arguments::Integer { argument, value }),
        any::<(u8, u64)>().prop_map(|(argument, length)| Arguments::List { argument, length }),
    ]
}

fn delta() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift)
}

fn predicate() -> impl Strategy<Value = Record> {
    let numbers = (
        any::<u32>(),
        any::<u32>(),
        any::<Option<u32>>(),
        any::<u32>(),
        any::<u32>(),
    );
    (numbers, any::<String>(), any::<String>()).prop_map(
        |((id, arity, file, line, roles), module, name)| {
            Record::Predicate(Predicate {
                id,
                module,
                name,
                arity,
                file,
                line,
                roles: Roles::from_bits(roles),
            })
        },
    )
}

fn cost() -> impl Strategy<Value = Cost> {
    any::<(Option<u32>, u32, u32, u32, u64)>().prop_map(
        |(center, predicate, clause, symbol, count)| Cost {
            center,
            predicate,
            clause,
            symbol,
            count,
        },
    )
}

fn trial() -> impl Strategy<Value = Trial> {
    any::<([u64; 8], [u64; 4])>().prop_map(|(counts, others)| {
        let [arguments, ticks, leaf_ticks, untraced] = others;
        Trial {
            counts,
            arguments,
            ticks,
            leaf_ticks,
            untraced,
        }
    })
}

fn record() -> impl Strategy<Value = Record> {
    let outcome = prop_oneof![
        any::<i32>().prop_map(Outcome::Exited),
        Just(Outcome::Stopped),
        Just(Outcome::Full)
    ];
    prop_oneof![
        (any::<u32>(), any::<String>()).prop_map(|(id, path)| Record::File { id, path }),
        predicate(),
        (any::<u32>(), any::<String>(), any::<bool>(), any::<u64>()).prop_map(
            |(stream, name, engine, tick)| {
                let (kind, dialect) = match engine {
                    true => (StreamKind::Engine, Dialect::EveryRedo),
                    false => (StreamKind::Thread, Dialect::InnermostRedo),
                };
                Record::StreamBegin(StreamBegin {
                    stream,
                    kind,
                    name,
                    dialect,
                    tick,
                })
            }
        ),
        (any::<u32>(), any::<u64>(), any::<u64>()).prop_map(|(stream, tick, events)| {
            Record::StreamEnd {
                stream,
                tick,
                events,
            }
        }),
        (any::<u32>(), any::<String>()).prop_map(|(id, text)| Record::Text { id, text }),
        any::<String>().prop_map(|text| Record::Note { text }),
        (any::<u32>(), any::<String>()).prop_map(|(id, name)| Record::CostCenter { id, name }),
        any::<(u32, u32)>()
            .prop_map(|(predicate, center)| Record::InCostCenter { predicate, center }),
        (prop::collection::vec(cost(), 0..20), any::<bool>())
            .prop_map(|(costs, last)| Record::Costs { costs, last }),
        (any::<u64>(), any::<u64>(), outcome).prop_map(|(tick, ns, outcome)| Record::End {
            tick,
            ns,
            outcome
        }),
        any::<([u32; 8], [u32; 8], [u32; 3])>().prop_map(|(inside, outside, others)| {
            let [argument, slowdown, reach] = others;
            Record::PortCosts(PortCosts {
                inside,
                outside,
                argument,
                slowdown,
                reach,
            })
        }),
        (
            any::<u64>(),
            prop::collection::vec(trial(), 0..20),
            prop::collection::vec(any::<u64>(), 0..20)
        )
            .prop_map(|(empty, trials, callbacks)| {
                Record::Trials(Trials {
                    empty,
                    trials,
                    callbacks,
                })
            }),
        any::<u32>().prop_map(|predicate| Record::Boundary { predicate }),
        any::<(u64, u32, u32)>().prop_map(|(ns, runs, engine_work)| {
            Record::Baseline(Baseline {
                ns,
                runs,
                engine_work,
            })
        }),
        any::<(u32, [u32; 5], Option<u32>, bool)>().prop_map(|(id, numbers, file, then_fails)| {
            let [callee, caller, clause, goal, line] = numbers;
            let site = Site {
                callee,
                caller,
                clause,
                goal,
                line,
                file,
                then_fails,
            };
            Record::Site { id, site }
        }),
        any::<(u32, [u32; 3], Option<u32>)>().prop_map(|(id, numbers, file)| {
            let [predicate, number, line] = numbers;
            let clause = Clause {
                predicate,
                number,
                line,
                file,
            };
            Record::Clause { id, clause }
        }),
        any::<u32>().prop_map(|predicate| Record::Arguments { predicate }),
        any::<u32>().prop_map(|predicate| Record::Values { predicate }),
        any::<(u32, String)>().prop_map(|(id, name)| Record::Shared { id, name }),
        prop_oneof![Just(Technique::Ports), Just(Technique::Stubs)].prop_map(Record::Technique),
        any::<(Option<u32>, u32, u32)>().prop_map(|(predicate, costs, left)| {
            Record::Fit(Fit {
                predicate,
                costs,
                left,
            })
        }),
    ]
}

fn description(command: Vec<String>) -> Header {
    Header {
        recorder: "portmortem".to_owned(),
        engine: "SWI-Prolog 9.0.4".to_owned(),
        command,
        directory: "/home/me".to_owned(),
        machine: "host".to_owned(),
        process: 4711,
        started_unix: 1_795_000_000,
        clock: ClockSource::Rdtsc,
        ticks_per_second: 2_400_000_000,
        mode: Mode {
            byrd: true,
            no_tail: false,
            keep_last: true,
        },
    }
}

proptest! {
    #[test]
    fn events_come_back(events in prop::collection::vec((event(), delta()), 0..50)) {
        let mut bytes = Vec::new();
        for &(event, delta) in &events {
            let before = bytes.len();
            event.encode(delta, &mut bytes);
            prop_assert!(bytes.len() - before <= MAX_EVENT_BYTES);
        }
        let mut at = 0;
        for expected in events {
            let (event, delta, used) = Event::decode(&bytes[at..]).unwrap();
            prop_assert_eq!((event, delta), expected);
            for end in at..at + used {
                prop_assert_eq!(Event::decode(&bytes[at..end]), Err(EventError::Truncated));
            }
            at += used;
        }
        prop_assert_eq!(at, bytes.len());
    }

    #[test]
    fn numbers_come_back(value in delta()) {
        let mut bytes = Vec::new();
        write_varint(value, &mut bytes);
        let mut at = 0;
        prop_assert_eq!(read_varint(&bytes, &mut at), Ok(value));
        prop_assert_eq!(at, bytes.len());
    }

    #[test]
    fn records_come_back(records in prop::collection::vec(record(), 0..20)) {
        let mut bytes = Vec::new();
        for record in &records {
            encode_record(record, &mut bytes).unwrap();
        }
        let mut at = 0;
        for record in &records {
            prop_assert_eq!(&read_record(&bytes, &mut at).unwrap(), record);
        }
        prop_assert_eq!(at, bytes.len());
    }

    #[test]
    fn descriptions_come_back(command in prop::collection::vec(".{0,20}", 0..20), id in 1u64..) {
        let header = description(command);
        prop_assert_eq!(decode_header(&encode_header(&header, id)).unwrap(), (header, id));
    }

    #[test]
    fn indexes_come_back(entries in prop::collection::vec((any::<u64>(), any::<u32>(), any::<u64>()), 0..50)) {
        let blocks = entries
            .into_iter()
            .map(|(offset, stream, sequence)| IndexEntry { offset, stream, sequence })
            .collect();
        let index = BlockIndex { blocks };
        prop_assert_eq!(decode_index(&encode_index(&index)).unwrap(), index);
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = Event::decode(&bytes);
        let _ = decode_record(&bytes);
        let _ = read_record(&bytes, &mut 0);
        let _ = decode_index(&bytes);
        let _ = Footer::decode(&bytes);
        let _ = BlockHeader::parse(&bytes, 1);
        let _ = decode_header(&bytes);
        if bytes.len() >= 128 {
            // Valid checksums around nonsense reach the code behind them.
            bytes[..4].copy_from_slice(&BLOCK_MAGIC);
            bytes[8..16].copy_from_slice(&1u64.to_le_bytes());
            let crc = crc32(&bytes[4..60]);
            bytes[60..64].copy_from_slice(&crc.to_le_bytes());
            if let Ok(header) = BlockHeader::parse(&bytes, 1) {
                prop_assert!(header.committed <= header.size - 128);
            }
        }
    }

    #[test]
    fn no_description_makes_a_decoder_panic(text in prop::collection::vec(any::<u8>(), 0..500)) {
        let mut bytes = encode_header(&description(Vec::new()), 1);
        bytes[12..16].copy_from_slice(&(text.len() as u32).to_le_bytes());
        bytes[24..28].copy_from_slice(&crc32(&text).to_le_bytes());
        let crc = crc32(&bytes[..28]);
        bytes[28..32].copy_from_slice(&crc.to_le_bytes());
        bytes[32..32 + text.len()].copy_from_slice(&text);
        let _ = decode_header(&bytes);
    }

    #[test]
    fn every_flipped_bit_of_a_header_is_noticed(bit in 0usize..32 * 8) {
        let mut bytes = encode_header(&description(Vec::new()), 77);
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(decode_header(&bytes).is_err());
    }
}

#[test]
fn the_bytes_of_the_specification() {
    let mut bytes = Vec::new();
    Event::Call { predicate: 300 }.encode(100, &mut bytes);
    Event::Tail {
        predicate: (1 << 21) - 1,
    }
    .encode(0, &mut bytes);
    Event::ExitDet.encode(4095, &mut bytes);
    Event::Cut { count: 1 }.encode(4096, &mut bytes);
    Event::Exception.encode(0, &mut bytes);
    assert_eq!(
        bytes,
        [
            4 << 3 | 1,
            3,
            0xac,
            2,
            2,
            0,
            0xff,
            0xff,
            0x7f,
            31 << 3 | 3,
            127,
            7,
            0x80,
            1,
            1,
            0,
            0,
            1
        ],
        "call, tail, exit, cut, exception"
    );
}

#[test]
fn headers_that_cannot_be_read_say_why() {
    let good = encode_header(&description(Vec::new()), 5);
    assert_eq!(decode_header(b""), Err(HeaderError::NotATrace));
    assert_eq!(
        decode_header(b"\x89PNG\r\n\x1a\nmore"),
        Err(HeaderError::NotATrace)
    );
    assert_eq!(decode_header(&FILE_MAGIC), Err(HeaderError::Truncated(8)));
    assert_eq!(
        decode_header(&good[..100]),
        Err(HeaderError::Truncated(100))
    );
    let mut newer = good;
    newer[8] = NEWEST_VERSION as u8 + 1;
    let error = decode_header(&newer).unwrap_err();
    assert_eq!(
        error,
        HeaderError::NewerVersion {
            found: NEWEST_VERSION + 1
        }
    );
    let says = format!("version {}", NEWEST_VERSION + 1);
    assert!(error.to_string().contains(&says), "{error}");
    let mut damaged = good;
    damaged[40] ^= 1;
    assert!(matches!(
        decode_header(&damaged),
        Err(HeaderError::Damaged(_))
    ));
}

#[test]
fn a_long_description_is_cut_to_fit() {
    let mut header = description(vec!["argumentü".repeat(100); 3000]);
    header.directory = "/ü".repeat(5000);
    header.machine = "m".repeat(5000);
    let bytes = encode_header(&header, 5);
    assert_eq!(bytes.len(), FILE_HEADER_BYTES);
    let (read, _) = decode_header(&bytes).unwrap();
    assert_eq!(read.process, header.process);
    assert!(read.directory.ends_with('…') && read.directory.len() <= 512);
    assert!(!read.command.is_empty() && read.command.last().is_some_and(|last| last == "…"));
    let short = description(vec![String::new(); 3900]);
    assert!(decode_header(&encode_header(&short, 5)).unwrap().0 == short);
}

#[test]
fn a_record_that_is_too_long_is_refused() {
    let record = Record::Note {
        text: "x".repeat(70_000),
    };
    let mut bytes = vec![1, 2, 3];
    let refused = encode_record(&record, &mut bytes);
    assert_eq!(refused, Err(WireError::TooLong { limit: 65_536 }));
    assert_eq!(bytes, [1, 2, 3]);
}

#[test]
fn a_bad_record_does_not_hide_the_next() {
    let mut bytes = vec![2, 0xff, 0xff];
    encode_record(
        &Record::Note {
            text: "next".to_owned(),
        },
        &mut bytes,
    )
    .unwrap();
    let mut at = 0;
    assert!(read_record(&bytes, &mut at).is_err());
    assert_eq!(
        read_record(&bytes, &mut at),
        Ok(Record::Note {
            text: "next".to_owned()
        })
    );
}

#[test]
fn an_index_allocates_no_more_than_its_bytes_allow() {
    let mut bytes = vec![0xfd];
    bytes.extend((1u64 << 60).to_le_bytes());
    assert_eq!(decode_index(&bytes), Err(WireError::Truncated));
}

#[test]
fn a_block_may_change_its_size() {
    let mut bytes = [0; 128];
    bytes[..4].copy_from_slice(&BLOCK_MAGIC);
    bytes[4..8].copy_from_slice(&1024u32.to_le_bytes());
    bytes[16] = 1;
    let mut size = |now: u32| {
        bytes[56..60].copy_from_slice(&now.to_le_bytes());
        let crc = crc32(&bytes[4..60]);
        bytes[60..64].copy_from_slice(&crc.to_le_bytes());
        BlockHeader::parse(&bytes, 0).map(|header| header.size)
    };
    assert_eq!(size(0), Ok(1024), "as it was opened");
    assert_eq!(size(512), Ok(512));
    assert_eq!(size(1 << 18), Ok(1 << 18));
    assert_eq!(size(100), Err(BlockError::Damaged));
    bytes[56] ^= 1;
    assert_eq!(BlockHeader::parse(&bytes, 0), Err(BlockError::Damaged));
}

#[test]
fn blocks_of_another_trace_are_foreign() {
    let mut bytes = [0; 128];
    bytes[..4].copy_from_slice(&BLOCK_MAGIC);
    assert_eq!(BlockHeader::parse(&bytes, 9), Err(BlockError::Damaged));
    let crc = crc32(&bytes[4..60]);
    bytes[60..64].copy_from_slice(&crc.to_le_bytes());
    assert_eq!(BlockHeader::parse(&bytes, 9), Err(BlockError::Foreign));
    assert_eq!(
        BlockHeader::parse(&bytes[..127], 9),
        Err(BlockError::Truncated)
    );
    assert_eq!(BlockHeader::parse(&[0; 512], 9), Err(BlockError::Absent));
}
