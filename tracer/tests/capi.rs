//! A C program plays an engine through the C interface.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "common/c.rs"]
mod c;
#[path = "common/reader.rs"]
mod reader;

use std::process::Command;

use portmortem_tracer::format::{
    Arguments, Clause, Dialect, Event, Header, Outcome, Record, Site, StreamBegin, StreamKind,
};
use portmortem_tracer::{NewPredicate, Options, Recorder, Stream};
use reader::Trace;

/// What the program says it did: tick, number of the event, argument.
fn script(output: &[u8]) -> Vec<(u64, u32, u32)> {
    let line = |line: &str| {
        let mut numbers = line.split(' ').map(|number| number.parse::<u64>().unwrap());
        let mut next = || numbers.next().unwrap();
        (next(), next() as u32, next() as u32)
    };
    std::str::from_utf8(output)
        .unwrap()
        .lines()
        .map(line)
        .collect()
}

/// Records the script through the slow path of the Rust interface.
fn replay(stream: &Stream, script: &[(u64, u32, u32)]) {
    let mut at = 0;
    while let Some(&(tick, number, argument)) = script.get(at) {
        at += 1;
        let event = match number {
            1 => Event::Call {
                predicate: argument,
            },
            2 => Event::Tail {
                predicate: argument,
            },
            3 => Event::ExitDet,
            4 => Event::ExitNondet,
            5 => Event::Redo,
            6 => Event::Fail,
            7 => {
                let cuts = script[at..].iter().take_while(|step| step.1 == 7).count();
                at += cuts;
                Event::Cut {
                    count: cuts as u32 + 1,
                }
            }
            9 => Event::Exception,
            _ => Event::Gap {
                lost: argument.into(),
            },
        };
        stream.record_at(event, tick);
    }
}

fn payloads(trace: &Trace) -> Vec<(u64, u64, &[u8])> {
    let events = trace.blocks.iter().filter(|block| block.header.stream == 1);
    let mut payloads: Vec<_> = events
        .map(|block| {
            (
                block.header.sequence,
                block.header.base_tick,
                &block.payload[..],
            )
        })
        .collect();
    payloads.sort_unstable();
    payloads
}

#[test]
fn an_engine_in_c_writes_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    // Sanitizers would look at the library too, which was not built for them; warnings are enough.
    let program = c::compile("engine", directory.path(), &[]);
    let path = directory.path().join("c.pmt");
    let output = Command::new(program)
        .arg(&path)
        .arg("200000")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {errors}", output.status);
    let script = script(&output.stdout);
    assert_eq!(script.len(), 200_000);
    let trace = Trace::read(&path);

    let rust = directory.path().join("rust.pmt");
    let header = Header::of_this_process("engine.c 1");
    let recorder = Recorder::create(&rust, &header, &Options::default()).unwrap();
    // The same names, for blocks to have the same places.
    let main = recorder.predicate(NewPredicate::named("user", "main", 0).at("engine.c", 1));
    let nrev = recorder.predicate(NewPredicate::named("user", "nrev", 2));
    assert_eq!((main, nrev, recorder.text("hello")), (0, 1, 0));
    let site = Site {
        callee: nrev,
        caller: main,
        clause: 1,
        goal: 2,
        line: 3,
        file: None,
        then_fails: false,
    };
    let elsewhere = Site {
        file: Some(recorder.file("other.c")),
        ..site
    };
    assert_eq!((recorder.site(site), recorder.site(elsewhere)), (2, 3));
    let clause = Clause {
        predicate: nrev,
        number: 2,
        line: 7,
        file: None,
    };
    let first = Clause {
        number: 1,
        line: 6,
        file: elsewhere.file,
        ..clause
    };
    assert_eq!((recorder.clause(clause), recorder.clause(first)), (0, 1));
    recorder.keeps_arguments(nrev);
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    replay(&stream, &script);
    stream.end();
    recorder.close(Outcome::Exited(42)).unwrap();

    let same = Trace::read(&rust);
    assert!(
        payloads(&trace) == payloads(&same),
        "C and Rust write different bytes"
    );
    assert!(payloads(&trace).len() > 2);
    assert_eq!(trace.stream_end(1), same.stream_end(1));

    assert_eq!(trace.header.engine, "engine.c 1");
    assert_eq!(trace.outcome(), Some(&Outcome::Exited(42)));
    assert_eq!(trace.notes(), ["played by C"]);
    let sites = trace.records.iter().filter_map(|record| match record {
        Record::Site { id, site } => Some((*id, *site)),
        _ => None,
    });
    assert_eq!(sites.collect::<Vec<_>>(), [(2, site), (3, elsewhere)]);
    let clauses = trace.records.iter().filter_map(|record| match record {
        Record::Clause { id, clause } => Some((*id, *clause)),
        _ => None,
    });
    assert_eq!(clauses.collect::<Vec<_>>(), [(0, clause), (1, first)]);
    let keeps = |record: &Record| matches!(record, Record::Arguments { predicate: 1 });
    assert!(trace.records.iter().any(keeps));
    assert!(
        trace
            .records
            .iter()
            .any(|record| matches!(record, Record::StreamBegin(StreamBegin {
        stream: 2, kind: StreamKind::Engine, name, dialect: Dialect::InnermostRedo, ..
    }) if name == "gen"))
    );
    assert_eq!(
        trace.stream(2).kinds(),
        [
            Event::Call { predicate: 2 },
            Event::Arguments(Arguments::List {
                argument: 1,
                length: 30
            }),
            Event::Arguments(Arguments::Integer {
                argument: 2,
                value: -5
            }),
            Event::Arguments(Arguments::Hash(0xfedc_ba98_7654_3210)),
            Event::Clause { clause: 0 },
            Event::Arguments(Arguments::NotGround),
            Event::Arguments(Arguments::TooLarge),
            Event::Pause,
            Event::Resume,
            Event::Mark { text: 0 }
        ]
    );
}

#[test]
fn the_header_is_good_c_plus_plus() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("twice.cpp");
    std::fs::write(
        &source,
        "#include <portmortem.h>\n#include <portmortem.h>\n",
    )
    .unwrap();
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/include");
    let flags = [
        "-std=c++11",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        "-fsyntax-only",
        "-I",
    ];
    let compiler = Command::new("c++")
        .args(flags)
        .arg(include)
        .arg(&source)
        .status();
    match compiler {
        Ok(status) => assert!(status.success()),
        Err(error) => eprintln!("not tested without a C++ compiler: {error}"),
    }
}
