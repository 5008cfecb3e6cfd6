//! What streams and recorders write, read back.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "common/reader.rs"]
mod reader;

use std::fs;
use std::path::Path;

use portmortem_tracer::format::{
    BlockKind, Clause, Dialect, Event, Header, Outcome, Predicate, Record, Site, StreamKind,
};
use portmortem_tracer::{Keep, NO_ID, NewPredicate, Options, RecordError, Recorder, Stream};
use proptest::prelude::*;
use reader::Trace;
use tempfile::TempDir;

fn header() -> Header {
    Header::of_this_process("test engine 1.0")
}

fn begin(options: Options) -> (TempDir, Recorder) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.pmt");
    let recorder = Recorder::create(&path, &header(), &options).unwrap();
    (directory, recorder)
}

fn thread(recorder: &Recorder) -> Stream {
    recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo)
}

#[test]
fn a_goal_has_one_id_among_those_of_predicates() {
    let (_directory, recorder) = begin(Options::default());
    let caller = recorder.predicate(NewPredicate::named("user", "main", 0).at("/p/main.pl", 3));
    let callee = recorder.predicate(NewPredicate::named("user", "app", 3).at("/p/main.pl", 9));
    let site = |goal, file| Site {
        callee,
        caller,
        clause: 1,
        goal,
        line: 4,
        file,
        then_fails: goal == 2,
    };
    let first = site(1, None);
    let second = site(2, Some(recorder.file("/p/more.pl")));
    assert_eq!((recorder.site(first), recorder.site(second)), (2, 3));
    assert_eq!((recorder.site(first), recorder.site(second)), (2, 3));
    assert_eq!(recorder.cost_center("name"), 4);
    recorder.close(Outcome::Stopped).unwrap();
    assert_eq!(recorder.site(first), NO_ID);

    let trace = Trace::read(recorder.path());
    let path = "/p/more.pl".to_owned();
    assert_eq!(
        trace.records[3..6],
        [
            Record::File { id: 1, path },
            Record::Site { id: 2, site: first },
            Record::Site {
                id: 3,
                site: second
            },
        ]
    );
}

#[test]
fn a_clause_has_one_id_among_clauses() {
    let (_directory, recorder) = begin(Options::default());
    let predicate = recorder.predicate(NewPredicate::named("user", "main", 0).at("/p/main.pl", 3));
    let clause = |number| Clause {
        predicate,
        number,
        line: 3,
        file: None,
    };
    assert_eq!(recorder.clause(clause(1)), 0);
    assert_eq!(recorder.clause(clause(2)), 1);
    assert_eq!(recorder.clause(clause(1)), 0);
    let stream = thread(&recorder);
    // Of every length; those with long ids, and those that come late, take the slow path.
    let ids = [
        0,
        127,
        128,
        16_383,
        16_384,
        (1 << 21) - 1,
        1 << 21,
        u32::MAX,
    ];
    for id in ids {
        if !stream.clause_if_soon(id) {
            stream.clause(id);
        }
    }
    stream.end();
    recorder.close(Outcome::Stopped).unwrap();
    assert_eq!(recorder.clause(clause(1)), NO_ID);

    let trace = Trace::read(recorder.path());
    assert_eq!(
        trace.records[2..4],
        [1, 2].map(|number| Record::Clause {
            id: number - 1,
            clause: clause(number)
        })
    );
    let entered = ids.map(|clause| Event::Clause { clause });
    assert_eq!(trace.stream(1).kinds(), entered);
}

#[test]
fn every_port_comes_back() {
    let (_directory, recorder) = begin(Options::default());
    let new = [
        NewPredicate::named("user", "main", 0).at("/p/main.pl", 3),
        NewPredicate::named("user", "app", 3).at("/p/main.pl", 9),
        NewPredicate::named("lists", "'strange\nname'", 7),
    ];
    assert_eq!(new.map(|new| recorder.predicate(new)), [0, 1, 2]);
    let stream = thread(&recorder);
    stream.call(0);
    stream.tail(1);
    stream.call(127);
    stream.call(128);
    stream.call(16_383);
    stream.call(16_384);
    stream.call((1 << 21) - 1);
    stream.call(1 << 21);
    stream.tail(u32::MAX);
    stream.exit_det();
    stream.exit_nondet();
    stream.redo();
    stream.fail();
    stream.exception();
    stream.cut();
    stream.pause();
    stream.resume();
    stream.gap(12);
    stream.mark("here");
    stream.mark("there");
    stream.mark("here");
    stream.end();
    recorder.note("a note");
    recorder.close(Outcome::Exited(3)).unwrap();

    let trace = Trace::read(recorder.path());
    assert!(trace.has_footer);
    assert_eq!(trace.outcome(), Some(&Outcome::Exited(3)));
    assert_eq!(trace.header.engine, "test engine 1.0");
    assert_eq!(trace.notes(), ["a note"]);
    let predicate = |id, module: &str, name: &str, arity, file, line| {
        Record::Predicate(Predicate {
            id,
            module: module.to_owned(),
            name: name.to_owned(),
            arity,
            file,
            line,
            ..Predicate::default()
        })
    };
    assert_eq!(
        trace.records[..4],
        [
            Record::File {
                id: 0,
                path: "/p/main.pl".to_owned()
            },
            predicate(0, "user", "main", 0, Some(0), 3),
            predicate(1, "user", "app", 3, Some(0), 9),
            predicate(2, "lists", "'strange\nname'", 7, None, 0),
        ]
    );
    let stream = trace.stream(1);
    assert_eq!(
        stream.kinds(),
        [
            Event::Call { predicate: 0 },
            Event::Tail { predicate: 1 },
            Event::Call { predicate: 127 },
            Event::Call { predicate: 128 },
            Event::Call { predicate: 16_383 },
            Event::Call { predicate: 16_384 },
            Event::Call {
                predicate: (1 << 21) - 1
            },
            Event::Call { predicate: 1 << 21 },
            Event::Tail {
                predicate: u32::MAX
            },
            Event::ExitDet,
            Event::ExitNondet,
            Event::Redo,
            Event::Fail,
            Event::Exception,
            Event::Cut { count: 1 },
            Event::Pause,
            Event::Resume,
            Event::Gap { lost: 12 },
            Event::Mark { text: 0 },
            Event::Mark { text: 1 },
            Event::Mark { text: 0 },
        ]
    );
    assert_eq!((stream.lost, stream.open_blocks), (0, 0));
    assert!(stream.events.is_sorted_by_key(|event| event.0));
}

#[test]
fn a_long_stream_takes_growing_blocks() {
    let (_directory, recorder) = begin(Options::default());
    let stream = thread(&recorder);
    let calls = 500_000;
    for i in 0..calls {
        stream.call(i & 63);
        stream.exit_det();
    }
    stream.end();
    recorder.close(Outcome::Exited(0)).unwrap();
    let trace = Trace::read(recorder.path());
    let mut sizes: Vec<_> = trace
        .blocks
        .iter()
        .filter(|block| block.header.stream == 1)
        .collect();
    sizes.sort_by_key(|block| block.header.sequence);
    let sizes: Vec<_> = sizes
        .iter()
        .map(|block| block.header.size as f64 / 1024.0)
        .collect();
    assert_eq!(sizes[..6], [0.5, 1.5, 6.0, 24.0, 96.0, 256.0]);
    assert!(sizes.iter().all(|&size| size <= 256.0));
    let stream = trace.stream(1);
    assert_eq!(stream.events.len() as u32, 2 * calls);
    for (i, pair) in stream.kinds().chunks(2).enumerate() {
        assert_eq!(
            pair,
            [
                Event::Call {
                    predicate: i as u32 & 63
                },
                Event::ExitDet
            ]
        );
    }
}

#[test]
fn cuts_in_a_row_are_one_event() {
    let (_directory, recorder) = begin(Options::default());
    let stream = thread(&recorder);
    stream.cut();
    for _ in 0..300 {
        stream.cut();
    }
    stream.fail();
    stream.cut();
    stream.cut();
    stream.exit_det();
    stream.end();
    recorder.close(Outcome::Exited(0)).unwrap();
    let counts = [127, 127, 47].map(|count| Event::Cut { count });
    let rest = [Event::Fail, Event::Cut { count: 2 }, Event::ExitDet];
    assert_eq!(
        Trace::read(recorder.path()).stream(1).kinds(),
        [&counts[..], &rest].concat()
    );
}

#[test]
fn clocks_that_jump_and_go_back() {
    let (_directory, recorder) = begin(Options::default());
    let stream = thread(&recorder);
    let ticks = [1000, 1000, 5096, 900, 1000, u64::MAX / 2, 7, u64::MAX, 0];
    for tick in ticks {
        stream.record_at(Event::Fail, tick);
    }
    stream.end();
    recorder.close(Outcome::Exited(0)).unwrap();
    let stream = Trace::read(recorder.path()).stream(1);
    let read: Vec<_> = stream.events.iter().map(|event| event.0).collect();
    let half = u64::MAX / 2;
    assert_eq!(
        read,
        [1000, 1000, 5096, 5096, 5096, half, half, u64::MAX, u64::MAX]
    );
    assert_eq!(stream.regressions, 4);
}

#[test]
fn names_stand_before_the_events_that_use_them() {
    let (_directory, recorder) = begin(Options::default());
    let stream = thread(&recorder);
    for _ in 0..5000 {
        stream.call(recorder.predicate(NewPredicate::named("user", "a rather long name", 3)));
        // Nothing closed, nothing flushed: this is what a reader finds at this very moment.
    }
    let trace = Trace::read(recorder.path());
    let known = trace
        .records
        .iter()
        .filter(|record| matches!(record, Record::Predicate(_)))
        .count();
    assert_eq!(known, 5000);
    assert_eq!(trace.stream(1).events.len(), 5000);
    assert!(!trace.has_footer);
    assert_eq!(trace.outcome(), None);
}

#[test]
fn long_and_strange_names_are_kept_within_bounds() {
    let (_directory, recorder) = begin(Options::default());
    let name = "ü\0\u{1b}[31m".repeat(100_000);
    let id = recorder.predicate(NewPredicate::named(&name, &name, 1).at(&name, 1));
    assert_eq!(
        recorder.predicate(NewPredicate::named(&name, &name, 2).at(&name, 1)),
        id + 1
    );
    recorder.note(&name);
    recorder.close(Outcome::Stopped).unwrap();
    let trace = Trace::read(recorder.path());
    assert_eq!(trace.records.len(), 5);
    assert!(trace.notes()[0].ends_with('…'));
}

#[test]
fn a_stream_that_outlives_the_recording_does_no_harm() {
    let (_directory, recorder) = begin(Options::default());
    let stream = thread(&recorder);
    let ended = thread(&recorder);
    ended.call(1);
    stream.call(1);
    ended.end();
    recorder.close(Outcome::Exited(0)).unwrap();
    let before = fs::read(recorder.path()).unwrap();
    for _ in 0..1000 {
        stream.exit_det();
        stream.cut();
        stream.mark("late");
    }
    assert_eq!(
        recorder.predicate(NewPredicate::named("user", "late", 0)),
        NO_ID
    );
    assert_eq!(recorder.text("late"), NO_ID);
    recorder.note("late");
    let late = thread(&recorder);
    late.call(1);
    late.end();
    stream.end();
    recorder.close(Outcome::Stopped).unwrap();
    assert!(fs::read(recorder.path()).unwrap() == before);
    let trace = Trace::read(recorder.path());
    assert_eq!(trace.stream(1).kinds(), [Event::Call { predicate: 1 }]);
    assert_eq!(
        (trace.stream(1).open_blocks, trace.stream(2).open_blocks),
        (1, 0)
    );
    assert!(!recorder.is_recording());
}

#[test]
fn threads_that_write_while_the_recording_ends() {
    let (_directory, recorder) = begin(Options::default());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let recorder = recorder.clone();
            scope.spawn(move || {
                while recorder.is_recording() {
                    let stream = thread(&recorder);
                    for i in 0..1000 {
                        stream.call(i);
                        stream.exit_det();
                    }
                }
            });
        }
        std::thread::sleep(std::time::Duration::from_millis(30));
        recorder.close(Outcome::Exited(0)).unwrap();
    });
    let trace = Trace::read(recorder.path());
    for id in trace.stream_ids() {
        let stream = trace.stream(id);
        assert!(stream.kinds().chunks(2).enumerate().all(|(i, pair)| {
            pair[0]
                == Event::Call {
                    predicate: i as u32,
                }
                && pair.get(1).is_none_or(|&event| event == Event::ExitDet)
        }));
    }
}

#[test]
fn streams_alive_at_once_and_without_events() {
    let (_directory, recorder) = begin(Options::default());
    let streams: Vec<_> = (0..2000).map(|_| thread(&recorder)).collect();
    for round in 0..3 {
        for stream in streams.iter().skip(round) {
            stream.call(round as u32);
        }
    }
    drop(streams);
    thread(&recorder).end();
    recorder.close(Outcome::Exited(0)).unwrap();
    let trace = Trace::read(recorder.path());
    assert_eq!(trace.stream(1).events.len(), 1);
    assert_eq!(trace.stream(2000).events.len(), 3);
    assert_eq!(
        (trace.stream(2001).blocks, trace.stream_end(2001)),
        (0, Some(0))
    );
}

#[test]
fn at_the_limit_the_first_events_stay() {
    for max_size in [64 << 10, 100_001, 1 << 20, 3 << 20] {
        let options = Options {
            max_size: Some(max_size),
            ..Options::default()
        };
        let (_directory, recorder) = begin(options);
        let stream = thread(&recorder);
        let calls = 3_000_000u32;
        for i in 0..calls {
            stream.call(i & 1);
        }
        assert!(recorder.is_full());
        assert_eq!(
            recorder.predicate(NewPredicate::named("user", "late", 0)),
            0,
            "names still have room"
        );
        stream.end();
        let refused = thread(&recorder);
        for _ in 0..10 {
            refused.cut();
        }
        refused.exit_det();
        refused.end();
        recorder.close(Outcome::Stopped).unwrap();
        let trace = Trace::read(recorder.path());
        assert!(trace.length <= max_size, "{} of {max_size}", trace.length);
        assert!(
            trace.length > max_size / 4 * 3,
            "{} of {max_size}",
            trace.length
        );
        assert!(trace.has_footer);
        assert_eq!(trace.outcome(), Some(&Outcome::Full));
        assert!(trace.notes()[0].starts_with("recording stopped at the limit of "));
        let stream = trace.stream(1);
        assert_eq!(stream.events.len() as u64 + stream.lost, u64::from(calls));
        assert!(stream.events.iter().enumerate().all(|(i, &(_, event))| {
            event
                == Event::Call {
                    predicate: i as u32 & 1,
                }
        }));
        assert_eq!(trace.stream(2).lost, 2);
    }
}

#[test]
fn at_the_limit_the_last_events_stay() {
    for max_size in [64 << 10, 100_001, 1 << 20, 3 << 20] {
        let options = Options {
            max_size: Some(max_size),
            keep: Keep::Last,
            ..Options::default()
        };
        let (_directory, recorder) = begin(options);
        assert_eq!(recorder.predicate(NewPredicate::named("user", "p", 0)), 0);
        let stream = thread(&recorder);
        let calls = 3_000_000;
        for i in 0..calls {
            stream.call(i & 0xff);
        }
        stream.end();
        recorder.close(Outcome::Stopped).unwrap();
        let trace = Trace::read(recorder.path());
        assert!(trace.header.mode.keep_last);
        assert!(trace.length <= max_size, "{} of {max_size}", trace.length);
        assert_eq!(trace.outcome(), Some(&Outcome::Stopped));
        let stream = trace.stream(1);
        assert_eq!(stream.events.len() as u64 + stream.lost, u64::from(calls));
        assert!(
            stream.events.len() as u64 > max_size / 6,
            "{} events",
            stream.events.len()
        );
        let first = stream.lost as u32;
        assert!(stream.events.iter().enumerate().all(|(i, &(_, event))| {
            event
                == Event::Call {
                    predicate: (first + i as u32) & 0xff,
                }
        }));
    }
}

#[test]
fn a_flight_recorder_of_many_streams_counts_what_it_lost() {
    let options = Options {
        max_size: Some(256 << 10),
        keep: Keep::Last,
        ..Options::default()
    };
    let (_directory, recorder) = begin(options);
    let rounds = 3000u32;
    let long = thread(&recorder);
    for round in 0..rounds {
        let short = thread(&recorder);
        for _ in 0..10 {
            long.call(round);
            short.call(round);
            short.fail();
        }
    }
    long.end();
    recorder.close(Outcome::Exited(0)).unwrap();
    let trace = Trace::read(recorder.path());
    assert!(trace.length <= 256 << 10);
    let ids = trace.stream_ids();
    assert_eq!(ids.len(), rounds as usize + 1, "records are never recycled");
    for id in ids {
        let stream = trace.stream(id);
        let expected = if id == 1 { u64::from(rounds) * 10 } else { 20 };
        assert_eq!(stream.events.len() as u64 + stream.lost, expected);
    }
    assert_eq!(trace.stream(rounds + 1).lost, 0, "the last ones are there");
}

#[test]
fn a_flight_recorder_with_more_streams_than_room() {
    let options = Options {
        max_size: Some(64 << 10),
        keep: Keep::Last,
        ..Options::default()
    };
    let (_directory, recorder) = begin(options);
    let mut streams: Vec<_> = (0..100).map(|_| thread(&recorder)).collect();
    let mut calls = 0;
    for round in 0..30_000u32 {
        if round == 15_000 {
            // The first streams give their room to those that had none.
            streams.drain(..50);
            calls = round;
        }
        streams.iter().for_each(|stream| stream.call(round & 0xff));
    }
    drop(streams);
    recorder.close(Outcome::Exited(0)).unwrap();
    let trace = Trace::read(recorder.path());
    for id in 1..=100 {
        let stream = trace.stream(id);
        let expected = if id <= 50 { calls } else { 30_000 };
        assert_eq!(
            stream.events.len() as u64 + stream.lost,
            u64::from(expected)
        );
    }
    // How many events fit into that room depends on how far apart they are.
    let with_room = (51..=100).filter(|&id| !trace.stream(id).events.is_empty());
    assert!(with_room.count() > 30);
}

#[test]
fn a_flight_recorder_full_of_names_stops_and_says_so() {
    let options = Options {
        max_size: Some(64 << 10),
        keep: Keep::Last,
        ..Options::default()
    };
    let (_directory, recorder) = begin(options);
    let stream = thread(&recorder);
    for i in 0..20_000 {
        stream.call(recorder.predicate(NewPredicate::named("user", "name", i)));
    }
    assert!(!recorder.is_recording());
    stream.end();
    recorder.close(Outcome::Stopped).unwrap();
    let trace = Trace::read(recorder.path());
    let names = trace
        .records
        .iter()
        .filter(|record| matches!(record, Record::Predicate(_)))
        .count();
    for (_, event) in trace.stream(1).events {
        assert!(matches!(event, Event::Call { predicate } if (predicate as usize) < names));
    }
}

#[test]
fn however_long_the_names_the_last_words_have_room() {
    for (length, keep) in (0..400)
        .step_by(7)
        .flat_map(|length| [(length, Keep::First), (length, Keep::Last)])
    {
        let (_directory, recorder) = begin(Options {
            max_size: Some(64 << 10),
            keep,
            ..Options::default()
        });
        let stream = thread(&recorder);
        let name = "n".repeat(length);
        while recorder.is_recording() {
            stream.call(recorder.predicate(NewPredicate::named("user", &name, 0)));
        }
        recorder.close(Outcome::Stopped).unwrap();
        let trace = Trace::read(recorder.path());
        assert!(trace.length <= 64 << 10);
        let expected = match keep {
            Keep::First => (Outcome::Full, 1),
            _ => (Outcome::Stopped, 0),
        };
        assert_eq!(trace.outcome(), Some(&expected.0), "names of {length}");
        assert_eq!(trace.notes().len(), expected.1, "names of {length}");
    }
}

#[test]
fn refusals() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("there");
    let create = |options: Options| Recorder::create(&path, &header(), &options);
    let small = Options {
        max_size: Some(65_535),
        ..Options::default()
    };
    assert!(matches!(
        create(small),
        Err(RecordError::LimitTooSmall { given: 65_535 })
    ));
    fs::write(&path, "precious").unwrap();
    assert!(matches!(
        create(Options::default()),
        Err(RecordError::Exists { .. })
    ));
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    let overwrite = Options {
        overwrite: true,
        ..Options::default()
    };
    create(overwrite).unwrap().close(Outcome::Stopped).unwrap();
    Trace::read(&path);
    for path in ["/dev/null", "/"] {
        let refused = Recorder::create(path, &header(), &overwrite);
        assert!(
            matches!(refused, Err(RecordError::NotAFile { .. })),
            "{refused:?}"
        );
    }
    let missing = directory.path().join("no/such/directory");
    let error = Recorder::create(&missing, &header(), &overwrite).unwrap_err();
    assert!(matches!(
        error,
        RecordError::System {
            action: "create",
            ..
        }
    ));
}

#[test]
fn what_is_still_recorded_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pmt");
    let link = directory.path().join("link.pmt");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let overwrite = Options {
        overwrite: true,
        ..Options::default()
    };
    let create = |path: &Path| Recorder::create(path, &header(), &overwrite);
    Recorder::check_unused(&path).unwrap();
    let first = create(&path).unwrap();
    for path in [&path, &link] {
        let refused = create(path).unwrap_err();
        assert!(
            matches!(&refused, RecordError::InUse { path: named } if named == path),
            "{refused}"
        );
        Recorder::check_unused(path).unwrap_err();
    }
    let stream = thread(&first);
    stream.call(first.predicate(NewPredicate::named("user", "first", 0)));
    drop(stream);
    first.close(Outcome::Exited(0)).unwrap();
    assert_eq!(Trace::read(&path).stream(1).events.len(), 1);
    // The handle of the first is still there; and the second is never closed.
    Recorder::check_unused(&link).unwrap();
    let second = create(&link).unwrap();
    create(&path).unwrap_err();
    drop(second);
    create(&path).unwrap().close(Outcome::Exited(0)).unwrap();
    assert!(link.is_symlink());
}

#[test]
fn an_empty_recording_is_a_trace() {
    let (_directory, recorder) = begin(Options::default());
    recorder.close(Outcome::Exited(0)).unwrap();
    let trace = Trace::read(recorder.path());
    assert!(trace.has_footer && trace.length < 16 << 10);
    assert_eq!(trace.blocks.len(), 1);
    assert_eq!(trace.blocks[0].header.kind, BlockKind::Records);
}

#[test]
fn block_clocks_agree_with_each_other() {
    let (_directory, recorder) = begin(Options::default());
    let stream = thread(&recorder);
    for _ in 0..30 {
        for _ in 0..2000 {
            stream.call(1);
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    stream.end();
    recorder.close(Outcome::Exited(0)).unwrap();
    let trace = Trace::read(recorder.path());
    let mut pairs: Vec<_> = trace
        .blocks
        .iter()
        .map(|block| (block.header.base_tick, block.header.base_ns))
        .collect();
    pairs.sort_unstable();
    // In the same order, whatever comes between the two clocks.
    assert!(pairs.is_sorted_by_key(|pair| pair.1), "{pairs:?}");
    assert!(pairs[0].0 < pairs[pairs.len() - 1].0, "{pairs:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever a stream is told at whatever ticks, the file says it.
    #[test]
    fn any_sequence_comes_back(steps in prop::collection::vec((0u8..12, any::<u32>(), any::<u16>(), 0u8..40), 0..3000)) {
        let (_directory, recorder) = begin(Options::default());
        let stream = thread(&recorder);
        let mut tick = 1_000_000u64;
        let mut expected = Vec::new();
        for (kind, argument, delta, shift) in steps {
            let event = match kind {
                0 | 1 => Event::Call { predicate: argument & 0xff },
                2 => Event::Tail { predicate: argument },
                3 | 4 => Event::ExitDet,
                5 => Event::ExitNondet,
                6 => Event::Redo,
                7 => Event::Fail,
                8 => Event::Cut { count: argument },
                9 => Event::Exception,
                10 => Event::Gap { lost: argument.into() },
                _ => Event::Pause,
            };
            tick += u64::from(delta) << shift >> 10;
            stream.record_at(event, tick);
            expected.push((tick, event));
        }
        stream.end();
        recorder.close(Outcome::Exited(0)).unwrap();
        prop_assert_eq!(Trace::read(recorder.path()).stream(1).events, expected);
    }
}
