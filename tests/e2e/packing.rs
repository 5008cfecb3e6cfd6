//! Packed traces: every command says of them what it says of the traces that were packed.

use std::fs;

use portmortem_tests::{Sandbox, built, sample};
use serde_json::Value;

/// The samples, packed beside themselves.
fn packed(sandbox: &Sandbox, name: &str) {
    fs::copy(sample(&format!("{name}.pmt")), sandbox.path("xyzzy1.pmt")).unwrap();
    sandbox
        .portmortem(["pack", "xyzzy1.pmt", "-o", "xyzzy2.pmt", "--force"])
        .succeeds()
        .shows("xyzzy2.pmt: ")
        .shows("; xyzzy1.pmt was ");
}

#[test]
fn every_command_reads_both() {
    let sandbox = Sandbox::new();
    for name in ["queens", "parser", "threads_exceptions", "metainterp"] {
        packed(&sandbox, name);
        let size = |file| fs::metadata(sandbox.path(file)).unwrap().len();
        assert!(size("xyzzy2.pmt") <= size("xyzzy1.pmt"), "{name}");
        // Files that a command writes, and texts: with the name of the trace in them.
        let same = |command: &[&str]| {
            let say = |trace: &str| {
                let words = command
                    .iter()
                    .map(|&word| if word == "TRACE" { trace } else { word });
                let outcome = sandbox.portmortem(words);
                outcome.exits(0);
                outcome.out().replace("xyzzy2", "xyzzy1")
            };
            assert_eq!(say("xyzzy2.pmt"), say("xyzzy1.pmt"), "{name}: {command:?}");
        };
        same(&["report", "TRACE", "--format", "json"]);
        same(&["report", "TRACE", "--all", "--sites"]);
        same(&["report", "TRACE", "--time", "0s..1ms"]);
        same(&["advise", "TRACE"]);
        same(&["verify", "TRACE"]);
        same(&["events", "TRACE", "--format", "csv", "--stack"]);
        same(&["graph", "TRACE", "--format", "folded"]);
        same(&["html", "TRACE", "-o", "-"]);
        let write = |trace| {
            let words = [
                "export",
                trace,
                "--to",
                "tables",
                "--tables",
                "latencies,edges",
                "--force",
            ];
            sandbox.portmortem(words).succeeds();
            let files = ["tables/latencies.csv", "tables/edges.csv"];
            files.map(|file| fs::read_to_string(sandbox.path(file)).unwrap())
        };
        let (mine, theirs) = (write("xyzzy2.pmt"), write("xyzzy1.pmt"));
        assert_eq!(mine.map(|text| text.replace("xyzzy2,", "xyzzy1,")), theirs);
    }
}

#[test]
fn the_way_back() {
    let sandbox = Sandbox::new();
    for name in ["queens", "parser", "threads_exceptions", "scan"] {
        packed(&sandbox, name);
        sandbox
            .portmortem([
                "pack",
                "--unpack",
                "xyzzy2.pmt",
                "-o",
                "back.pmt",
                "--force",
            ])
            .succeeds();
        let read = |file| fs::read(sandbox.path(file)).unwrap();
        assert!(read("back.pmt") == read("xyzzy1.pmt"), "{name}");
    }
    let names = fs::read_dir(sandbox.directory()).unwrap();
    let hidden = names.filter(|name| {
        let name = name.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with(".portmortem")
    });
    assert_eq!(hidden.count(), 0);
}

#[test]
fn what_is_refused() {
    let sandbox = Sandbox::new();
    packed(&sandbox, "queens");
    let refuses = |words: &[&str], why: &str| {
        sandbox.portmortem(words).refuses(why);
    };
    refuses(
        &["pack", "xyzzy2.pmt", "-o", "again.pmt"],
        "it is packed already; to unpack it: portmortem pack --unpack xyzzy2.pmt -o FILE",
    );
    refuses(
        &["pack", "--unpack", "xyzzy1.pmt", "-o", "again.pmt"],
        "it is not packed; to pack it: portmortem pack xyzzy1.pmt -o FILE",
    );
    refuses(&["pack", "xyzzy1.pmt", "-o", "xyzzy2.pmt"], "--force");
    refuses(
        &["pack", "xyzzy1.pmt", "-o", "xyzzy1.pmt", "--force"],
        "is the trace itself",
    );
    refuses(&["pack", "none.pmt", "-o", "again.pmt"], "No such file");
    assert!(!sandbox.path("again.pmt").exists());
    sandbox
        .portmortem(["pack", "--help"])
        .succeeds()
        .shows("Examples:");
    // What a reader of before says of it: it knows no greater version than that of the sample.
    let bytes = fs::read(sandbox.path("xyzzy2.pmt")).unwrap();
    assert_eq!(bytes[8..10], 10_u16.to_le_bytes());
}

/// The recording waits until the file `go` is there.
const WAITING: &str = "
:- initialization(main, main).
main :- work(1000), open(ready, write, S), close(S), wait.
work(0) :- !.
work(N) :- M is N-1, work(M).
wait :- exists_file(go), !.
wait :- sleep(0.01), wait.
";

#[test]
fn a_recording_is_packed_when_it_has_ended() {
    let sandbox = Sandbox::with("waiting.pl", WAITING);
    let recording = sandbox
        .command(built::portmortem())
        .args(["record", "waiting.pl"])
        .start();
    portmortem_tests::patience::wait_until("the program waits", || sandbox.path("ready").exists());
    let words = ["pack", "waiting.pmt", "-o", "xyzzy2.pmt"];
    sandbox
        .portmortem(words)
        .refuses("it is still being recorded; pack it when the recording has ended");
    sandbox.write("go", "");
    recording.wait().exits(0);
    sandbox.portmortem(words).succeeds();
    let events = |trace: &str| {
        let said = sandbox
            .portmortem(["verify", "--format", "json", trace])
            .out();
        let said: Value = serde_json::from_str(&said).unwrap();
        said[0]["events"].as_u64().unwrap()
    };
    assert_eq!(events("xyzzy2.pmt"), events("waiting.pmt"));
    sandbox
        .portmortem(["info", "xyzzy2.pmt"])
        .exits(0)
        .shows("packed, before that ");
}
