//! Recordings that keep the figures of all events, and the newest events only.

use std::fs;

use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::kept::kept;
use portmortem_tests::{Sandbox, Status};
use serde_json::Value;

/// Rounds of the same work. After three, the program waits until the watcher has folded something
/// since they began, if it records so. That folding may have begun before, but not before the one
/// that ended while the three rounds before these ran: so no more than nine rounds wait to be
/// folded. They have room, so the recorder loses no event on a busy machine, either.
const ROUNDS: &str = "
:- use_module(library(process)).
:- initialization(main, main).
main :-
    current_prolog_flag(argv, [File, Text, Then]), atom_number(Text, Rounds),
    Groups is Rounds // 3,
    forall(between(1, Groups, _),
           ( stamp(File, Stamp), forall(between(1, 3, _), work), await(File, Stamp, 0) )),
    write(done), nl,
    call(Then).

deleted :- delete_file('few.pmt'), more.
shortened :- shell('truncate -s 4096 few.pmt'), more.
more :- forall(between(1, 30, _), work), write(more), nl.

die :- current_prolog_flag(pid, Me), process_kill(Me, 9), sleep(60).

work :- numlist(1, 60, L), forall(between(1, 40, _), nrev(L, _)), queens(6, _), risky.

nrev([], []).
nrev([H|T], R) :- nrev(T, S), app(S, [H], R).
app([], L, L).
app([H|T], L, [H|R]) :- app(T, L, R).

queens(N, Qs) :- numlist(1, N, Ns), perm(Ns, Qs), safe(Qs), !.
perm([], []).
perm(L, [H|T]) :- sel(H, L, R), perm(R, T).
sel(X, [X|T], T).
sel(X, [H|T], [H|R]) :- sel(X, T, R).
safe([]).
safe([Q|Qs]) :- no_attack(Q, 1, Qs), safe(Qs).
no_attack(_, _, []).
no_attack(Q, D, [R|Rs]) :- Q =\\= R + D, Q =\\= R - D, D1 is D + 1, no_attack(Q, D1, Rs).

risky :- catch(deep(20), stop, true).
deep(0) :- throw(stop).
deep(N) :- M is N - 1, deep(M), true.

stamp(none, none) :- !.
stamp(File, Stamp) :- exists_file(File), !, time_file(File, Stamp).
stamp(_, none).

await(none, _, _) :- !.
await(File, Stamp, _) :- stamp(File, Now), Now \\== Stamp, !.
await(File, Stamp, N) :- N < 6000, sleep(0.01), M is N + 1, await(File, Stamp, M).
";

/// The predicates of the report on a trace, with these columns.
fn predicates(sandbox: &Sandbox, trace: &str, columns: &str) -> Vec<Value> {
    let options = ["--format", "json", "--top", "100", "--columns", columns];
    let report = sandbox.portmortem([&["report", trace], &options[..]].concat());
    let report: Value = serde_json::from_str(&report.out()).unwrap();
    report["predicates"].as_array().unwrap().clone()
}

/// The one of that name.
fn named<'r>(rows: &'r [Value], name: &str) -> &'r Value {
    rows.iter().find(|row| row["predicate"] == name).unwrap()
}

/// What the rounds did, without how long it took: for each predicate of them its counts.
fn counts(sandbox: &Sandbox, trace: &str) -> Vec<Vec<Value>> {
    let columns = "predicate,calls,exits_det,exits_nondet,fails,redos,exceptions,cuts";
    let rows = predicates(sandbox, trace, columns);
    let names = [
        "nrev/2",
        "app/3",
        "perm/2",
        "sel/3",
        "safe/1",
        "no_attack/3",
        "deep/1",
        "risky/0",
    ];
    let row = |name: &&str| {
        let row = named(&rows, name);
        columns
            .split(',')
            .map(|column| row[column].clone())
            .collect()
    };
    names.iter().map(row).collect()
}

/// Records the rounds with little room.
fn record_folded<'a>(rounds: &'a str, then: &'a str) -> [&'a str; 9] {
    record_keeping("figures=4M", rounds, then)
}

/// Records the rounds and keeps some of their events.
fn record_keeping<'a>(keep: &'a str, rounds: &'a str, then: &'a str) -> [&'a str; 9] {
    [
        "record",
        "--keep",
        keep,
        "-o",
        "few.pmt",
        "rounds.pl",
        "few.pmt.figures",
        rounds,
        then,
    ]
}

/// What was folded and what is left in the trace is all that the program did.
#[test]
fn a_program_that_is_killed_has_figures_until_then() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("rounds.pl"), ROUNDS).unwrap();
    let plain = ["record", "-o", "all.pmt", "rounds.pl", "none", "20", "true"];
    sandbox.portmortem(plain).succeeds();
    let killed = sandbox.portmortem(record_folded("20", "die"));
    assert_eq!(killed.status, Status::Signal(9), "{killed}");
    assert_eq!(counts(&sandbox, "few.pmt"), counts(&sandbox, "all.pmt"));
}

/// The program goes on, and it is said what became of the recording.
#[test]
fn a_trace_that_is_taken_away_while_it_is_folded() {
    for (then, said, left) in [
        ("deleted", "cannot read few.pmt: No such file", false),
        ("shortened", "another program shortened few.pmt", true),
    ] {
        let sandbox = Sandbox::new();
        fs::write(sandbox.path("rounds.pl"), ROUNDS).unwrap();
        let outcome = sandbox.portmortem(record_folded("12", then));
        outcome.exits(0).prints("done\nmore\n").says(said);
        assert_eq!(sandbox.path("few.pmt").exists(), left);
        assert_eq!(sandbox.path("few.pmt.figures").exists(), left);
    }
}

/// The trace is some ten times as large as its limit.
#[test]
fn figures_of_all_events_stay_when_their_blocks_are_written_over() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("rounds.pl"), ROUNDS).unwrap();
    let rounds = "60";
    let plain = [
        "record",
        "-o",
        "all.pmt",
        "rounds.pl",
        "none",
        rounds,
        "true",
    ];
    let plain = sandbox.portmortem(plain);
    let folded = sandbox.portmortem(record_folded(rounds, "true"));
    plain.succeeds().prints("done\n");
    folded
        .exits(0)
        .prints("done\n")
        .says("figures of all events are in few.pmt.figures");
    let size = |name| fs::metadata(sandbox.path(name)).unwrap().len();
    assert!(
        size("few.pmt") <= (4 << 20) + (64 << 10),
        "{}",
        size("few.pmt")
    );
    assert!(size("all.pmt") > 3 * size("few.pmt"), "{}", size("all.pmt"));
    assert_eq!(counts(&sandbox, "few.pmt"), counts(&sandbox, "all.pmt"));
    sandbox
        .portmortem(["report", "few.pmt"])
        .succeeds()
        .shows("events were folded into the figures");
    sandbox
        .portmortem(["verify", "few.pmt"])
        .succeeds()
        .shows("no damage, nothing lost")
        .shows("events were folded into the figures");
    // Packed, it keeps its figures.
    for words in [
        ["pack", "few.pmt", "-o", "packed.pmt", "--force"],
        ["pack", "packed.pmt", "-o", "back.pmt", "--unpack"],
    ] {
        sandbox.portmortem(words).succeeds();
    }
    for trace in ["packed.pmt", "back.pmt"] {
        assert_eq!(counts(&sandbox, trace), counts(&sandbox, "few.pmt"));
        sandbox
            .portmortem(["report", trace])
            .succeeds()
            .shows("events were folded into the figures");
    }
    sandbox
        .portmortem(["report", "few.pmt", "--focus", "nrev/2"])
        .refuses("its events were folded into figures");
    // Figures that are not readable are no reason to be silent.
    let figures = sandbox.path("few.pmt.figures");
    let mut bytes = fs::read(&figures).unwrap();
    bytes[8] ^= 1;
    fs::write(&figures, bytes).unwrap();
    sandbox
        .portmortem(["report", "few.pmt"])
        .exits(3)
        .says("are of another version of Portmortem");
    // A trace that takes its place has none.
    let again = [
        "record",
        "--keep",
        "all",
        "-o",
        "few.pmt",
        "rounds.pl",
        "none",
        "3",
        "true",
    ];
    sandbox.portmortem(again).succeeds();
    assert!(!figures.exists());
}

/// Without a limit, nothing is written over until the trace is large; then figures go on.
#[test]
fn a_recording_that_becomes_large_is_folded() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("rounds.pl"), ROUNDS).unwrap();
    let small = "record --keep auto=64M -o all.pmt rounds.pl none 60 true";
    sandbox.portmortem(small.split(' ')).exits(0);
    // Folding may have begun, but was not needed.
    assert!(!sandbox.path("all.pmt.figures").exists());
    let large = sandbox.portmortem(record_keeping("auto=4M", "60", "true"));
    large
        .exits(0)
        .prints("done\n")
        .says("the newest events are here")
        .says("with --keep all the trace has all events");
    let [all, few] = ["all.pmt", "few.pmt"].map(|trace| {
        sandbox.portmortem(["report", trace]).succeeds();
        counts(&sandbox, trace)
    });
    assert_eq!(few, all);
    let report = sandbox.portmortem(["report", "few.pmt"]);
    report.shows("events were folded into the figures");
    let report = sandbox.portmortem(["report", "all.pmt"]);
    assert!(!report.out().contains("folded"), "{report}");
    let refused = "record --keep auto=64M --clauses -o all.pmt rounds.pl none 5 true";
    sandbox
        .portmortem(refused.split(' '))
        .refuses("leave out --clauses");
    let refused = "record --keep all --max-size 64M -o all.pmt rounds.pl none 5 true";
    sandbox
        .portmortem(refused.split(' '))
        .refuses("--max-size is a limit");
}

/// A program that stops the process that folds it until its room is used up.
const TOO_FAST: &str = "
:- initialization(main, main).
main :-
    forall(between(1, 5, _), work),
    to_watcher('STOP'), forall(between(1, 40, _), work), to_watcher('CONT'),
    File = 'few.pmt.figures',
    forall(between(1, 4, _), ( stamp(File, Stamp), forall(between(1, 3, _), work), await(File, Stamp, 0) )),
    forall(between(1, 3, _), last),
    write(done), nl.

% It has the command of the recording, and its directory.
to_watcher(Signal) :-
    format(atom(Command),
           'for p in /proc/[0-9]*; do if [ \"$(readlink $p/cwd)\" = \"$PWD\" ] && tr \"\\\\0\" \" \" < $p/cmdline | grep -q \"record[ ]--keep\"; then kill -~w ${p#/proc/}; fi; done 2>/dev/null',
           [Signal]),
    shell(Command, _).

last :- work.
";

/// It was recorded with that much kept.
fn record_too_fast(keep: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let (_, rest) = ROUNDS.split_once("work :-").unwrap();
    let program = format!("{TOO_FAST}\nwork :-{rest}");
    fs::write(sandbox.path("rounds.pl"), program).unwrap();
    let record = ["record", "--keep", keep, "-o", "few.pmt", "rounds.pl"];
    sandbox.portmortem(record).exits(0).prints("done\n");
    sandbox
}

/// A trace without a limit grows as long as no process folds, and nothing is lost.
#[test]
fn a_large_recording_does_not_wait_and_loses_nothing() {
    let sandbox = record_too_fast("auto=4M");
    sandbox
        .portmortem(["report", "few.pmt"])
        .exits(0)
        .shows("events were folded into the figures");
    let rows = predicates(&sandbox, "few.pmt", "predicate,calls");
    assert_eq!(named(&rows, "work/0")["calls"], 5 + 40 + 4 * 3 + 3);
    assert_eq!(named(&rows, "last/0")["calls"], 3);
}

/// The threads that fold have the priority that was asked for.
#[test]
fn folding_gives_way_to_other_programs() {
    let sandbox = Sandbox::new();
    let (_, rest) = ROUNDS.split_once("work :-").unwrap();
    let program = "
:- initialization(main, main).
main :-
    forall(between(1, 3, _), work), await('few.pmt.figures', none, 0),
    shell('for p in /proc/[0-9]*; do if [ \"$(readlink $p/cwd)\" = \"$PWD\" ] && tr \"\\\\0\" \" \" < $p/cmdline | grep -q \"record[ ]--keep\"; then cat $p/task/*/stat; fi; done 2>/dev/null | cut -d\" \" -f19 | sort -u').
";
    let program = format!("{program}\nwork :-{rest}");
    fs::write(sandbox.path("rounds.pl"), program).unwrap();
    let record = "record --keep figures=4M --nice 7 -o few.pmt rounds.pl";
    // Other threads of the process have that of the program.
    let recorded = sandbox.portmortem(record.split(' '));
    recorded.exits(0).prints("0\n7\n");
}

/// Events are lost, and what comes after them is in the figures.
#[test]
fn figures_go_on_where_events_were_lost() {
    let sandbox = record_too_fast("figures=4M");
    sandbox
        .portmortem(["report", "few.pmt"])
        .exits(3)
        .shows("lost; figures of what ran meanwhile are missing")
        .shows("events were folded into the figures");
    let rows = predicates(
        &sandbox,
        "few.pmt",
        "predicate,calls,exits_det,exits_nondet",
    );
    assert_eq!(named(&rows, "last/0")["calls"], 3);
    let works = named(&rows, "work/0")["calls"].as_u64().unwrap();
    assert!((8..60).contains(&works), "{works}");
}

/// Moments of the beginning of a long run: a slow call, a mark, what a condition holds for, and an
/// exception that ends a thread.
const MOMENTS: &str = "
:- use_module(library(portmortem)).
:- initialization(main, main).
main :-
    begin,
    forall(between(1, 2, I), ( rare(I), rounds ) ),
    forall(between(1, 14, _), rounds),
    final,
    write(done), nl.
rounds :-
    File = 'few.pmt.figures',
    stamp(File, Stamp), forall(between(1, 3, _), work), await(File, Stamp, 0).
begin :-
    work, slow, pm_keep(here), pm_mark(there),
    thread_create(boom, Id), thread_join(Id, _).
slow :- numlist(1, 150, L), nrev(L, _), true.
boom :- once(rare(0)), throw(oops).
rare(_).
final.
";

/// The events around them are there in the end, with the boxes around these. No more than six
/// rounds are folded at a time, which is less than a quarter of the room: so nothing is given up,
/// on a busy machine, either. The condition names a predicate that is called only at the end.
#[test]
fn events_stay_that_are_looked_at_later() {
    let sandbox = Sandbox::new();
    let (_, rest) = ROUNDS.split_once("work :-").unwrap();
    fs::write(
        sandbox.path("rounds.pl"),
        format!("{MOMENTS}\nwork :-{rest}"),
    )
    .unwrap();
    let record = ["record", "--keep", "figures=8M", "-o", "few.pmt"];
    let condition = "predicate = rare/1 or predicate = final/0";
    let asked = ["--keep-when", condition, "rounds.pl"];
    let recorded = sandbox.portmortem(record.iter().chain(&asked));
    recorded.exits(0).prints("done\n");
    let size = fs::metadata(sandbox.path("few.pmt")).unwrap().len();
    assert!(size <= (8 << 20) + (64 << 10), "{size}");
    let events = |condition: &str| -> Vec<Value> {
        let words = [
            "events", "few.pmt", "--format", "json", "--stack", "--where",
        ];
        let events = sandbox.portmortem(words.iter().chain(&[condition]));
        let lines = events.exits(3).says("kept are: stream 1 0 (");
        lines
            .out()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let slow = events("predicate = slow/0 and port = call");
    assert_eq!(slow.len(), 1, "{slow:?}");
    let names = |event: &Value| -> Vec<String> {
        let stack = event["stack"].as_array().unwrap().iter();
        stack
            .map(|boxed| boxed["predicate"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&slow[0])[..3], ["slow/0", "begin/0", "main/0"]);
    let marks = events("port = mark");
    let texts = marks.iter().map(|event| event["text"].as_str().unwrap());
    assert_eq!(texts.collect::<Vec<_>>(), ["keep: here", "there"]);
    let rare = events("predicate = rare/1 and port = call");
    assert_eq!(rare.len(), 3, "{rare:?}");
    let thrown = events("predicate = boom/0 and port = exception");
    assert_eq!(thrown.len(), 1, "{thrown:?}");
    // The middle of the run is gone, and no event was lost.
    sandbox
        .portmortem(["verify", "few.pmt"])
        .succeeds()
        .shows("no damage, nothing lost");
    let rows = predicates(&sandbox, "few.pmt", "predicate,calls");
    assert_eq!(named(&rows, "work/0")["calls"], 1 + 16 * 3);
    let works = events("predicate = work/0 and port = call");
    assert!(works.len() < 42, "{}", works.len());
    assert_holes_cannot_be_cut_out(&sandbox);
}

/// Neither a range in which nothing is left nor one that ends there.
fn assert_holes_cannot_be_cut_out(sandbox: &Sandbox) {
    let trace = Trace::open(&sandbox.path("few.pmt")).unwrap();
    let kept = kept(&trace, &trace.streams()[0]);
    assert!(kept.len() > 1, "{kept:?}");
    let ns = |tick| trace.clock().since_start_ns(tick);
    let [from, until] = [kept[0].ticks.end, kept[1].ticks.start].map(ns);
    let third = (until - from) / 3;
    for from in [from + third, from - third.min(from / 2)] {
        let range = format!("{from}ns..{}ns", until - third);
        sandbox
            .portmortem(["cut", "few.pmt", "--time", &range, "-o", "part.pmt"])
            .exits(1)
            .says("events of the range were folded into figures and are gone");
    }
}

/// A condition that cannot be read is refused before the program runs; one whose predicate never
/// comes is told of at the end; and without folding there is nothing to keep.
#[test]
fn conditions_of_what_stays_are_checked() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("rounds.pl"), ROUNDS).unwrap();
    let record = |keep: &str, condition: &str| {
        let words = [
            "record",
            "--force",
            "--keep",
            keep,
            "--keep-when",
            condition,
        ];
        let program = ["-o", "few.pmt", "rounds.pl", "few.pmt.figures", "9", "true"];
        sandbox.portmortem(words.iter().chain(&program))
    };
    record("figures=4M", "took >").refuses("--keep-when");
    record("figures=4M", "port = cal").refuses("port");
    record("all", "port = call").refuses("it needs --keep figures");
    record("figures=4M", "predicate = nobody/7")
        .exits(0)
        .prints("done\n")
        .says("--keep-when names what the trace does not have")
        .says("nobody/7");
}
