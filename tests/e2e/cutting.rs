//! Parts of traces: every command says of them what it says of that range of the whole trace.

use std::fs;

use portmortem_tests::{Sandbox, sample};
use portmortem_tracer::format::{FORMAT_VERSION, NEWEST_VERSION};
use serde_json::Value;

/// Cuts a range out of `xyzzy1.pmt`, and compares what commands say of it.
fn check(sandbox: &Sandbox, time: &str) {
    let cut = [
        "cut",
        "xyzzy1.pmt",
        "--time",
        time,
        "-o",
        "xyzzy2.pmt",
        "--force",
    ];
    let has = "; xyzzy1.pmt has ";
    sandbox
        .portmortem(cut)
        .succeeds()
        .shows("xyzzy2.pmt: ")
        .shows(has);
    let same = |command: &[&str]| {
        let of_range = [command, &["xyzzy1.pmt", "--time", time]].concat();
        let of_part = [command, &["xyzzy2.pmt"]].concat();
        let (range, part) = (sandbox.portmortem(of_range), sandbox.portmortem(of_part));
        range.exits(0);
        part.exits(0);
        let part = part.out().replace("xyzzy2", "xyzzy1");
        assert_eq!(part, range.out(), "{time}: {command:?}");
    };
    same(&["report", "--format", "json"]);
    same(&["report", "--format", "csv", "--all", "--sites"]);
    same(&["events", "--format", "csv", "--stack"]);
    same(&["graph", "--format", "folded"]);
}

#[test]
fn every_command_reads_a_part() {
    let sandbox = Sandbox::new();
    for name in ["queens", "parser", "threads_exceptions", "metainterp"] {
        fs::copy(sample(&format!("{name}.pmt")), sandbox.path("xyzzy1.pmt")).unwrap();
        for time in ["..100us", "0.3ms..0.5ms", "0.4ms..0.4ms", "0.2ms.."] {
            check(&sandbox, time);
        }
        let says = |words: &[&str]| sandbox.portmortem(words).exits(0).out().to_owned();
        let size = |file| fs::metadata(sandbox.path(file)).unwrap().len();
        let small = [
            "cut",
            "xyzzy1.pmt",
            "--time",
            "0.3ms..0.5ms",
            "-o",
            "xyzzy2.pmt",
            "--force",
        ];
        says(&small);
        assert!(size("xyzzy2.pmt") <= size("xyzzy1.pmt") + 4096, "{name}");
        let part = "300.0µs..500.0µs of xyzzy1.pmt";
        assert!(says(&["info", "xyzzy2.pmt"]).contains(&format!("part       {part}")));
        assert!(says(&["report", "xyzzy2.pmt"]).contains(&format!("part: {part}")));
        says(&["verify", "xyzzy2.pmt"]);
        says(&["advise", "xyzzy2.pmt"]);
        says(&["diff", "xyzzy1.pmt", "xyzzy2.pmt"]);
        assert!(says(&["html", "xyzzy2.pmt", "-o", "-"]).contains(part));
        says(&[
            "export",
            "xyzzy2.pmt",
            "--to",
            "tables",
            "--tables",
            "events",
            "--force",
        ]);
        let events = fs::read_to_string(sandbox.path("tables/events.csv")).unwrap();
        let listed = says(&["events", "xyzzy2.pmt", "--format", "csv"]);
        assert_eq!(events.lines().count(), listed.lines().count(), "{name}");
        // A part is packed, and a part of it cut out.
        says(&["pack", "xyzzy2.pmt", "-o", "packed.pmt", "--force"]);
        let asked = [
            "report",
            "packed.pmt",
            "--time",
            "0.35ms..0.4ms",
            "--format",
            "json",
        ];
        let packed = says(&asked).replace("packed", "again");
        says(&[
            "cut",
            "packed.pmt",
            "--time",
            "0.35ms..0.4ms",
            "-o",
            "again.pmt",
            "--force",
        ]);
        assert_eq!(
            says(&["report", "again.pmt", "--format", "json"]),
            packed,
            "{name}"
        );
        let bytes = |file| fs::read(sandbox.path(file)).unwrap();
        for file in ["xyzzy2.pmt", "packed.pmt"] {
            assert_eq!(bytes(file)[8..10], NEWEST_VERSION.to_le_bytes());
        }
        assert!(bytes("xyzzy1.pmt")[8..10] <= FORMAT_VERSION.to_le_bytes()[..]);
    }
}

/// Generators, exceptions, last calls and threads; its work depends on nothing.
const BUSY: &str = "
:- initialization(main, main).
main :- mark, thread_create(work(60), A), thread_create(work(40), B), work(50),
    thread_join(A), thread_join(B), mark.
mark :- ( catch(pm_mark(here), _, true) -> true ; true ).
work(0) :- !.
work(N) :- findall(X, solution(X), Xs), length(Xs, _), catch(risky(N), _, true),
    forall(member(Y, [1,2,3]), check(Y)), loop(20), M is N-1, work(M).
solution(X-Y) :- member(X, [1,2,3,4]), member(Y, [2,3]), X > Y.
risky(N) :- deeper(N), !.
deeper(N) :- 0 is N mod 2, !, throw(oops).
deeper(_).
check(Y) :- Y > 0.
loop(0) :- !.
loop(N) :- M is N-1, loop(M).
";

#[test]
fn parts_of_a_recording_with_threads() {
    let sandbox = Sandbox::with("busy.pl", BUSY);
    for options in [
        &[][..],
        &["--clauses", "--arguments", "*", "--values", "*"][..],
    ] {
        let record = [
            &["record", "busy.pl", "-o", "xyzzy1.pmt", "--force"],
            options,
        ]
        .concat();
        sandbox.portmortem(record).exits(0);
        let info = sandbox.portmortem(["info", "xyzzy1.pmt", "--format", "json"]);
        let info: Value = serde_json::from_str(&info.out()).unwrap();
        let lasted = info[0]["streams"][0]["lasted_ns"].as_u64().unwrap();
        for percent in (0..95).step_by(17) {
            let at = |percent: u64| lasted / 100 * percent;
            check(
                &sandbox,
                &format!("{}ns..{}ns", at(percent), at(percent + 5)),
            );
        }
        let words = ["cut", "xyzzy1.pmt", "--time", "0s..", "--stream", "main"];
        let to = ["-o", "one.pmt", "--force"];
        sandbox.portmortem([&words[..], &to].concat()).succeeds();
        sandbox
            .portmortem(["report", "one.pmt", "--stream", "2"])
            .refuses("this part of xyzzy1.pmt has no events of stream 2; ask for 1");
    }
}

#[test]
fn what_is_refused() {
    let sandbox = Sandbox::new();
    fs::copy(sample("queens.pmt"), sandbox.path("queens.pmt")).unwrap();
    let cut = |more: &[&str]| {
        let words = [&["cut", "queens.pmt", "-o", "part.pmt"], more].concat();
        sandbox.portmortem(words)
    };
    cut(&["--time", "1000s.."]).refuses("begins after the trace ends");
    cut(&["--time", "2ms..1ms"]).refuses("ends before it begins");
    cut(&["--time", "1ms"]).refuses("is no range of time");
    cut(&["--time", "..", "--stream", "nobody"]).refuses("the trace has no stream nobody");
    assert!(!sandbox.path("part.pmt").exists());
    let onto = [
        "cut",
        "queens.pmt",
        "--time",
        "..",
        "-o",
        "queens.pmt",
        "--force",
    ];
    sandbox.portmortem(onto).refuses("is the trace itself");
    cut(&["--time", "1ms..2ms"]).succeeds();
    cut(&["--time", "1ms..2ms"]).refuses("--force");
    sandbox
        .portmortem(["report", "part.pmt", "--time", "2ms..3ms"])
        .refuses("of the range of time `2ms..3ms` this trace has a part: ask for some of 1ms..2ms");
    sandbox
        .portmortem(["index", "part.pmt"])
        .refuses("has no index");
    sandbox
        .portmortem(["cut", "--help"])
        .succeeds()
        .shows("Examples:");
    // A trace that is cut off has parts, too.
    let whole = fs::read(sandbox.path("queens.pmt")).unwrap();
    fs::write(sandbox.path("short.pmt"), &whole[..whole.len() * 2 / 3]).unwrap();
    let words = [
        "cut",
        "short.pmt",
        "--time",
        "0.1ms..0.2ms",
        "-o",
        "of_short.pmt",
    ];
    sandbox.portmortem(words).succeeds();
    sandbox
        .portmortem(["report", "of_short.pmt"])
        .exits(0)
        .shows("cut out of a trace that is damaged");
    fs::write(sandbox.path("none.pmt"), "no trace").unwrap();
    let words = ["cut", "none.pmt", "--time", "..", "-o", "of_none.pmt"];
    sandbox.portmortem(words).refuses("not a Portmortem trace");
}
