//! All tables of the recorded samples, and of a profile that is known.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use portmortem_tracer::format::{Dialect, Header, Outcome, Site, StreamKind};
use portmortem_tracer::{NewPredicate, Options, Recorder};

use super::*;
use crate::figures::contexts::ContextFigures;
use crate::figures::{BacktrackFigures, PortTotals, PredicateFigures, StreamFigures};
use crate::replay::{ReplayOptions, replay};
use crate::scope::{Filters, Scope};

fn sample(name: &str) -> Trace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    Trace::open(&path.join(name)).unwrap()
}

/// The rows of a table, as text.
fn rows(tables: Tables, table: Table) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let taken: Result<(), Infallible> = tables.rows(table, |cells| {
        rows.push(cells.iter().map(text).collect());
        Ok(())
    });
    taken.unwrap();
    rows
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Missing => "-".to_owned(),
        Cell::Text(text) => (*text).to_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Bool(flag) => flag.to_string(),
    }
}

#[test]
fn names_are_found() {
    for &table in Table::ALL {
        assert_eq!(Table::from_name(table.name()), Some(table));
    }
    assert_eq!(Table::from_name("predicate"), None);
}

/// Others rely on these names: they may be added to, not changed.
#[test]
fn columns_are_those_of_the_interface() {
    for (table, columns) in [
        (
            Table::Predicates,
            "trace predicate file line calls tail_calls exits_det exits_nondet redos fails exceptions cuts open \
             pending events self_ns inclusive_ns self_comp_ns inclusive_comp_ns failed_ns raised_ns open_ns \
             self_failed_ns self_raised_ns self_open_ns undone_ns determinism",
        ),
        (
            Table::Edges,
            "trace caller callee calls tail_calls exits redos fails recursive served_ns spent_ns \
             served_comp_ns spent_comp_ns",
        ),
        (
            Table::Sites,
            "trace caller clause goal file line callee calls tail_calls exits redos fails exceptions cuts served_ns \
             undone_ns",
        ),
        (
            Table::Clauses,
            "trace predicate clause file line entered exits redos failed exhausted exceptions open left left_redos \
             left_cuts left_pending self_ns inclusive_ns failed_ns",
        ),
        (
            Table::Arguments,
            "trace predicate calls hashed not_ground too_large distinct repeated most_repeated cut_short",
        ),
        (
            Table::Sizes,
            "trace predicate argument kind calls least greatest",
        ),
        (
            Table::Contexts,
            "trace id parent predicate depth recursive calls exits redos fails exceptions events self_ns \
             inclusive_ns undone_ns self_comp_ns inclusive_comp_ns",
        ),
        (
            Table::Backtracks,
            "trace failed resumed count undone_ns collected_ns",
        ),
        (Table::Cuts, "trace cutter predicate count"),
        (
            Table::Choicepoints,
            "trace predicate left redone cut pending never_used lifetime_ns max_height",
        ),
        (Table::Cycles, "trace cycle predicate"),
        (
            Table::Streams,
            "trace stream kind name events first_ns last_ns lost_events self_ns work_ns waiting_ns untraced_ns paused_ns gap_ns \
             max_depth max_choices",
        ),
        (
            Table::Waits,
            "trace stream name predicate caller file line kind object awaited awaited_name waits waited_ns longest_ns \
             longest_event",
        ),
        (
            Table::Centers,
            "trace cost_center entered calls tail_calls exits_det exits_nondet redos fails exceptions cuts open \
             pending self_ns self_comp_ns",
        ),
        (Table::Costs, "trace cost_center predicate symbol count"),
        (
            Table::Latencies,
            "trace predicate calls timed departed open redos mean_ns max_ns growth outermost first_ns \
             last_ns ns_0 ns_128 ns_256 ns_512 ns_1024 ns_2048 ns_4096 ns_8192 ns_16384 ns_32768 \
             ns_65536 ns_131072 ns_262144 ns_524288 ns_1048576 ns_2097152 ns_4194304 ns_8388608 \
             ns_16777216 ns_33554432 ns_67108864 ns_134217728 ns_268435456 ns_536870912 ns_1073741824 \
             ns_2147483648 ns_4294967296 ns_8589934592 ns_17179869184",
        ),
        (
            Table::SiteLatencies,
            "trace caller clause goal file line callee calls timed departed open redos mean_ns max_ns \
             growth outermost first_ns last_ns ns_0 ns_128 ns_256 ns_512 ns_1024 ns_2048 ns_4096 \
             ns_8192 ns_16384 ns_32768 ns_65536 ns_131072 ns_262144 ns_524288 ns_1048576 ns_2097152 \
             ns_4194304 ns_8388608 ns_16777216 ns_33554432 ns_67108864 ns_134217728 ns_268435456 \
             ns_536870912 ns_1073741824 ns_2147483648 ns_4294967296 ns_8589934592 ns_17179869184",
        ),
        (
            Table::Slowest,
            "trace predicate rank stream event at_ns ns caller clause goal line",
        ),
        (
            Table::Events,
            "trace stream seq ns port predicate depth box parent count text clause",
        ),
    ] {
        let names: Vec<_> = table.columns().iter().map(|column| column.name).collect();
        assert_eq!(names.join(" "), columns);
    }
}

#[test]
fn cells_are_of_the_kind_of_their_column() {
    for name in [
        "queens.pmt",
        "threads_exceptions.pmt",
        "metainterp.pmt",
        "debray1.pmt",
    ] {
        let trace = sample(name);
        let profile = replay(&trace, &ReplayOptions::default());
        let calls = CallsOnRequest::new(Arc::new(Scope::of(&trace, &Filters::default())));
        let tables = Tables::new("x", &trace, &profile).with_calls(&calls);
        for &table in Table::ALL {
            let mut rows = 0;
            let taken: Result<(), Infallible> = tables.rows(table, |cells| {
                rows += 1;
                assert_eq!(cells.len(), table.columns().len());
                assert_eq!(cells[0], Cell::Text("x"));
                for (column, cell) in table.columns().iter().zip(cells) {
                    let fits = match cell {
                        Cell::Missing => true,
                        Cell::Text(_) => column.kind == Kind::Text,
                        Cell::Integer(_) => column.kind == Kind::Integer,
                        Cell::Bool(_) => column.kind == Kind::Bool,
                    };
                    assert!(fits, "{} {column:?} {cell:?}", table.name());
                }
                Ok(())
            });
            taken.unwrap();
            let of_calls = [Table::Latencies, Table::SiteLatencies, Table::Slowest];
            assert!(rows > 0 || !of_calls.contains(&table), "{name}");
        }
    }
}

/// A call among the slowest is an event of the same number, and took the time until its box had a
/// way out.
#[test]
fn slow_calls_are_events() {
    for name in ["queens.pmt", "threads_exceptions.pmt", "debray1.pmt"] {
        let trace = sample(name);
        let profile = replay(&trace, &ReplayOptions::default());
        let calls = CallsOnRequest::new(Arc::new(Scope::of(&trace, &Filters::default())));
        let tables = Tables::new("x", &trace, &profile).with_calls(&calls);
        let events: Vec<EventRow> = tables.events().collect();
        let mut some = 0;
        for slow in tables.slowest() {
            let in_stream = events.iter().filter(|event| event.stream == slow.stream);
            let later: Vec<_> = in_stream.filter(|event| event.seq >= slow.event).collect();
            let call = later[0];
            assert_eq!(call.seq, slow.event);
            assert_eq!(call.predicate, Some(slow.predicate));
            assert!(["call", "tail"].contains(&call.port) && call.ns == slow.at_ns);
            let ways_out = ["exit_det", "exit_nondet", "fail", "exception"];
            let is_way_out =
                |event: &&EventRow| event.r#box == call.r#box && ways_out.contains(&event.port);
            let end = later.iter().position(is_way_out).unwrap();
            let pauses = later[..end]
                .windows(2)
                .filter(|pair| pair[0].port == "pause");
            let paused: u64 = pauses.clone().map(|pair| pair[1].ns - pair[0].ns).sum();
            // All ends are rounded.
            let took = later[end].ns - call.ns - paused;
            let rounded = 1 + pauses.count() as u64;
            assert!(took.abs_diff(slow.ns) <= rounded, "{took} {slow:?}");
            some += 1;
        }
        assert!(some > 5, "{name}");
    }
}

/// What the events say agrees with what the replay made of them.
#[test]
fn events_are_those_of_the_other_tables() {
    for name in ["queens.pmt", "threads_exceptions.pmt", "debray2.pmt"] {
        let trace = sample(name);
        let profile = replay(&trace, &ReplayOptions::default());
        let tables = Tables::new("x", &trace, &profile);
        let mut calls = BTreeMap::<&str, u64>::new();
        let mut of_stream = BTreeMap::<u32, (u64, u64)>::new();
        for row in tables.events() {
            if matches!(row.port, "call" | "tail") {
                *calls.entry(row.predicate.unwrap()).or_default() += 1;
            }
            let (events, deepest) = of_stream.entry(row.stream).or_default();
            assert_eq!(row.seq, *events, "nothing is lost");
            *events += 1;
            if row.port == "call" {
                assert_eq!(row.r#box, Some(row.seq));
            }
            assert_eq!(row.parent.is_some(), row.depth > Some(0));
            assert!(row.parent < row.r#box || row.parent.is_none());
            *deepest = (*deepest).max(row.depth.map_or(0, |depth| depth + 1));
        }
        for row in tables.predicates() {
            assert_eq!(calls.get(row.predicate), Some(&row.calls));
        }
        for row in tables.streams().filter(|row| row.events > 0) {
            let (events, deepest) = of_stream[&row.stream];
            assert_eq!((events, deepest), (row.events, row.max_depth));
        }
    }
}

#[test]
fn rows_say_what_the_profile_has() {
    let trace = sample("threads_exceptions.pmt");
    let unknown = trace.unknown_predicate();
    let mut profile = Profile {
        predicates: vec![PredicateFigures::default(); unknown as usize + 1],
        ..Profile::default()
    };
    profile.predicates[1] = PredicateFigures {
        ports: PortTotals {
            calls: 6,
            exits_nondet: 5,
            redos: 2,
            cuts: 1,
            pending: 2,
            ..PortTotals::default()
        },
        max_height: 9,
        ..PredicateFigures::default()
    };
    let backtrack = |count| BacktrackFigures {
        count,
        ..BacktrackFigures::default()
    };
    profile.backtracks = [
        ((Caller::Root, 1), backtrack(3)),
        ((Caller::Predicate(0), 1), backtrack(7)),
    ]
    .into();
    profile.cuts = [((Caller::Root, 0), 1), ((Caller::Predicate(1), unknown), 4)].into();
    let context = ContextFigures {
        parent: None,
        predicate: 0,
        depth: 0,
        recursive: false,
        ports: PortTotals {
            calls: 1,
            exits_det: 2,
            redos: 3,
            fails: 4,
            exceptions: 5,
            ..PortTotals::default()
        },
        ..ContextFigures::default()
    };
    let below = ContextFigures {
        parent: Some(0),
        depth: 1,
        recursive: true,
        ..context
    };
    profile.contexts = vec![context, below];
    profile.streams = vec![StreamFigures {
        stream: 4_000_000,
        events: 3,
        ..StreamFigures::default()
    }];
    let tables = Tables::new("x", &trace, &profile);
    let (zero, one) = (trace.predicate_name(0), trace.predicate_name(1));
    assert_eq!(
        rows(tables, Table::Choicepoints),
        [["x", one, "5", "2", "1", "2", "3", "0", "9"]]
    );
    assert_eq!(
        rows(tables, Table::Backtracks),
        [
            ["x", zero, one, "7", "0", "0"],
            ["x", ROOT, one, "3", "0", "0"]
        ]
    );
    assert_eq!(
        rows(tables, Table::Cuts),
        [["x", one, "<unknown>", "4"], ["x", ROOT, zero, "1"]]
    );
    let contexts = rows(tables, Table::Contexts);
    assert_eq!(contexts[0][1..6], ["0", "-", zero, "0", "false"]);
    assert_eq!(contexts[1][1..6], ["1", "0", zero, "1", "true"]);
    assert_eq!(contexts[1][6..12], ["1", "2", "3", "4", "5", "15"]);
    let predicate = tables.predicates().next().unwrap();
    assert_eq!((predicate.predicate, predicate.events), (one, 13));
    let stream = tables.streams().next().unwrap();
    assert_eq!((stream.kind, stream.name, stream.events), ("thread", "", 3));
}

/// `main` calls `p` by two goals, one of them in another file, and without a site.
#[test]
fn calls_without_a_site_have_a_row() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pmt");
    let header = Header::of_this_process("test engine");
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    let main = recorder.predicate(NewPredicate::named("user", "main", 0).at("a.pl", 1));
    let p = recorder.predicate(NewPredicate::named("user", "p", 1));
    let goal = |goal, line, file| Site {
        callee: p,
        caller: main,
        clause: 1,
        goal,
        line,
        file,
        then_fails: false,
    };
    let second = recorder.site(goal(2, 0, Some(recorder.file("b.pl"))));
    let first = recorder.site(goal(1, 2, None));
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    stream.call(main);
    stream.call(first);
    stream.exit_nondet();
    stream.call(second);
    stream.fail();
    stream.redo();
    stream.exit_det();
    stream.call(p);
    stream.exit_nondet();
    stream.cut();
    stream.tail(first);
    stream.exit_det();
    stream.end();
    recorder.close(Outcome::Exited(0)).unwrap();

    let trace = Trace::open(&path).unwrap();
    let profile = replay(&trace, &ReplayOptions::default());
    let rows = rows(Tables::new("x", &trace, &profile), Table::Sites);
    let shown: Vec<_> = rows.iter().map(|row| row[1..14].join(" ")).collect();
    assert_eq!(
        shown,
        [
            "<root> - - - - main/0 1 0 1 0 0 0 0",
            "main/0 1 1 a.pl 2 p/1 2 1 3 1 0 0 0",
            "main/0 1 2 b.pl - p/1 1 0 0 0 1 0 0",
            "main/0 - - - - p/1 1 0 1 0 0 0 1",
        ]
    );
}

#[test]
fn nothing_more_is_asked_for_after_an_error() {
    let trace = sample("queens.pmt");
    let profile = replay(&trace, &ReplayOptions::default());
    let mut taken = 0;
    let outcome = Tables::new("x", &trace, &profile).rows(Table::Events, |_| {
        taken += 1;
        if taken < 5 { Ok(()) } else { Err("enough") }
    });
    assert_eq!((outcome, taken), (Err("enough"), 5));
}
