//! `portmortem graph`: the formats of other viewers, of a program recorded here and of the samples.

use std::collections::BTreeMap;
use std::fs;

use portmortem_tests::generator::{Shape, Workload, generate};
use portmortem_tests::{Outcome, Profiled, Sandbox, Status, repository, sample};

fn queens() -> (Sandbox, Profiled) {
    let sandbox = Sandbox::new();
    let profiled = sandbox.record_file(&sample("queens.pl"), &[]);
    (sandbox, profiled)
}

fn graph(sandbox: &Sandbox, format: &str, options: &[&str]) -> Outcome {
    let arguments = ["graph", "queens.pmt", "--format", format];
    sandbox.portmortem(arguments.iter().chain(options).copied())
}

/// By stack, without the figure.
fn stacks(text: &str) -> BTreeMap<String, u64> {
    let line = |line: &str| {
        let (stack, size) = line.rsplit_once(' ').unwrap();
        let (_, stack) = stack.split_once(';').unwrap();
        (stack.to_owned(), size.parse().unwrap())
    };
    text.lines().map(line).collect()
}

#[test]
fn folded_stacks() {
    let (sandbox, profiled) = queens();
    let all = graph(
        &sandbox,
        "folded",
        &["--metric", "events", "--min-percent", "0"],
    );
    let all = stacks(&all.succeeds().out());
    let events: u64 = profiled.predicates().iter().map(|row| row.events).sum();
    assert_eq!(all.values().sum::<u64>(), events);
    assert!(
        all.keys()
            .any(|stack| stack.ends_with(";attack/2;attack/3")),
        "{all:?}"
    );
    // Small rows are folded, said, and not lost.
    let few = graph(
        &sandbox,
        "folded",
        &["--metric", "events", "--min-percent", "20"],
    );
    few.exits(0)
        .says(" rows below 20 % are folded; --min-percent 0 shows all");
    let few = stacks(&few.out());
    assert_eq!(few.values().sum::<u64>(), events);
    assert!(few.len() < all.len() && few.keys().any(|stack| stack.ends_with("<folded>")));
    // A part of the trace, and another figure.
    let part = graph(
        &sandbox,
        "folded",
        &["--focus", "attack/2", "--metric", "self"],
    );
    let part = part.exits(0).out();
    assert!(
        part.lines()
            .all(|line| line.starts_with("self_ns;attack/2")),
        "{part}"
    );
    let undone = graph(
        &sandbox,
        "folded",
        &["--metric", "undone", "--hide", "permute"],
    );
    undone.exits(0).shows("undone_ns;").hides("permute");
}

#[test]
fn speedscope_files() {
    let (sandbox, _) = queens();
    graph(
        &sandbox,
        "speedscope",
        &["-o", "q.json", "--metric", "events"],
    )
    .exits(0)
    .prints("");
    let file = fs::read(sandbox.path("q.json")).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&file).unwrap();
    let profile = &file["profiles"][0];
    assert_eq!(
        (&profile["type"], &profile["unit"]),
        (&"evented".into(), &"none".into())
    );
    let (mut open, mut last) = (Vec::new(), 0);
    for event in profile["events"].as_array().unwrap() {
        let at = event["at"].as_u64().unwrap();
        assert!(at >= last);
        last = at;
        match event["type"].as_str() {
            Some("O") => open.push(&event["frame"]),
            _ => assert_eq!(open.pop(), Some(&event["frame"])),
        }
    }
    assert!(open.is_empty());
    assert_eq!(profile["endValue"], last);
}

/// A frame of the picture says how much of it is in a predicate, and that is what the table says.
#[test]
fn flame_graphs() {
    let (sandbox, profiled) = queens();
    let options = ["-o", "q.svg", "--metric", "events", "--min-percent", "0"];
    graph(&sandbox, "flamegraph", &options).succeeds();
    let svg = fs::read_to_string(sandbox.path("q.svg")).unwrap();
    assert!(svg.starts_with("<?xml") && svg.trim_end().ends_with("</svg>"));
    let events: u64 = profiled.predicates().iter().map(|row| row.events).sum();
    let all = format!("<title>all ({} events, 100%)</title>", thousands(events));
    assert!(svg.contains(&all), "{all}: {svg}");
    assert!(svg.contains("queens.pl (queens)</text>"), "{svg}");
    // Only attack/2 calls attack/3; the outermost frame is at most so much more as it waited.
    let title = |of: &str| -> u64 {
        let marker = format!("<title>{of} (");
        let frames = svg.split(&marker).skip(1).map(|rest| {
            let number = rest.split(' ').next().unwrap().replace(',', "");
            number.parse::<u64>().unwrap()
        });
        frames.max().unwrap()
    };
    let attacks = profiled.row("attack/3").events;
    assert!((attacks..=events).contains(&title("attack/3")), "{svg}");
    assert!(title("attack/3") <= title("attack/2"));
    let again = graph(&sandbox, "flamegraph", &options[2..]);
    assert_eq!(again.succeeds().out(), svg);
    graph(&sandbox, "flamegraph", &["--time", "..1ns"]).refuses("nothing to draw: self_ns is 0");
}

/// "1,234,567".
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap())
        .collect();
    groups.join(",")
}

/// The format is the one that Mozilla describes: tables of indices. A sample for each event, or for each microsecond.
#[test]
fn firefox_profiles() {
    let (sandbox, profiled) = queens();
    let profile = |metric: &str| -> serde_json::Value {
        let options = ["--metric", metric, "--min-percent", "0"];
        let outcome = graph(&sandbox, "firefox", &options);
        serde_json::from_slice(&outcome.succeeds().stdout).unwrap()
    };
    let weights = |profile: &serde_json::Value| -> u64 {
        let weights = profile["threads"][0]["samples"]["weight"].as_array();
        weights
            .unwrap()
            .iter()
            .map(|weight| weight.as_u64().unwrap())
            .sum()
    };
    let events: u64 = profiled.predicates().iter().map(|row| row.events).sum();
    assert_eq!(weights(&profile("events")), events);
    let times = profile("self");
    let ns: u64 = profiled.predicates().iter().map(|row| row.self_ns).sum();
    assert!(weights(&times).abs_diff(ns / 1000) <= 1);
    assert_eq!(times["meta"]["interval"], 0.001);
    let thread = &times["threads"][0];
    let strings = thread["stringArray"]
        .as_array()
        .or(times["shared"]["stringArray"].as_array());
    assert!(strings.unwrap().contains(&"attack/3".into()), "{times}");
}

/// A program of another package is there.
fn needs(sandbox: &Sandbox, program: &str) {
    let found = sandbox.sh(&format!("command -v {program}"));
    found.demand(
        found.status == Status::Exit(0),
        "`make test-packages` installs it",
    );
}

/// `callgrind_annotate` finds the calls, and the inclusive times of the table.
#[test]
fn callgrind_files() {
    let (sandbox, profiled) = queens();
    graph(
        &sandbox,
        "callgrind",
        &["-o", "callgrind.out", "--metric", "self"],
    )
    .succeeds();
    let text = fs::read_to_string(sandbox.path("callgrind.out")).unwrap();
    // Goals have lines: permute/3 calls sel/3 from line 47.
    let lines: Vec<&str> = text.lines().collect();
    let calls = profiled.row("sel/3").calls - 5508;
    let call = lines
        .iter()
        .position(|line| line.starts_with(&format!("calls={calls} 53")));
    assert!(lines[call.unwrap() + 1].starts_with("47 "), "{text}");
    needs(&sandbox, "callgrind_annotate");
    let annotated = sandbox.sh("callgrind_annotate --inclusive=yes --threshold=100 callgrind.out");
    let annotated = annotated.exits(0).out();
    for predicate in ["main/0", "queens/2", "permute/3", "attack/2", "attack/3"] {
        let inclusive = profiled.row(predicate).inclusive_ns;
        // `1,234,567 (98.7%)  queens.pl:main/0`
        let name = format!(" queens.pl:{predicate}");
        let line = annotated.lines().find(|line| line.ends_with(&name));
        let line = line.unwrap_or_else(|| panic!("{predicate}: {annotated}"));
        let number = line.split_whitespace().next().unwrap().replace(',', "");
        let number: u64 = number.parse().unwrap();
        assert!(number.abs_diff(inclusive) < 20, "{line} {inclusive}");
    }
}

#[test]
fn drawings() {
    let (sandbox, _) = queens();
    let few = graph(
        &sandbox,
        "dot",
        &["--metric", "self", "--min-percent", "30"],
    );
    few.exits(0)
        .says("predicates and edges below 30 % are left out");
    graph(&sandbox, "dot", &["--min-percent", "0", "-o", "q.dot"]).succeeds();
    let text = fs::read_to_string(sandbox.path("q.dot")).unwrap();
    assert!(text.starts_with("digraph \"queens\" {\n") && text.ends_with("}\n"));
    assert!(text.contains("[label=\"attack/3\\nself ") && text.contains("19,260 calls"));
    needs(&sandbox, "dot");
    let drawn = sandbox.sh("dot -Tsvg q.dot");
    drawn.exits(0).shows("attack/3").shows("</svg>");
}

/// Every format of every sample, by the figure that is usual.
#[test]
fn samples() {
    let sandbox = Sandbox::new();
    let mut traces = 0;
    for entry in fs::read_dir(repository("traces")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "pmt") {
            continue;
        }
        traces += 1;
        for format in [
            "folded",
            "flamegraph",
            "firefox",
            "speedscope",
            "callgrind",
            "dot",
            "pprof",
            "perfetto",
        ] {
            let arguments = [
                "graph".as_ref(),
                path.as_os_str(),
                "--format".as_ref(),
                format.as_ref(),
            ];
            let outcome = sandbox.portmortem(arguments);
            outcome
                .exits(0)
                .demand(!outcome.stdout.is_empty(), "a graph");
        }
    }
    assert!(traces >= 8);
}

#[test]
fn files_are_not_lost() {
    let (sandbox, _) = queens();
    sandbox.write("old", "x");
    let refuses = |options: &[&str], text: &str| {
        graph(&sandbox, "dot", options).refuses(text);
    };
    refuses(&["-o", "old"], "old exists; replace it with --force");
    refuses(&["-o", "./queens.pmt", "--force"], "is the trace itself");
    refuses(&["-o", "nowhere/x.dot"], "cannot write nowhere/x.dot");
    refuses(&["--metric", "events"], "callgrind and dot have times only");
    graph(&sandbox, "callgrind", &["--min-percent", "1"]).refuses("leave --min-percent out");
    graph(&sandbox, "dot", &["--min-percent", "200"]).exits(2);
    graph(&sandbox, "dot", &["-o", "old", "--force"]).exits(0);
    assert!(
        fs::read_to_string(sandbox.path("old"))
            .unwrap()
            .starts_with("digraph")
    );
    let part = graph(&sandbox, "folded", &["--time", "..1ns"]);
    part.exits(0).prints("").says("nothing of that figure");
    let closed = sandbox
        .sh("{ $portmortem graph queens.pmt --format callgrind; echo status $? >&2; } | true");
    assert_eq!(closed.err(), "status 0\n");
    // What a damaged trace has is written, and that it is damaged is said.
    let mut bytes = fs::read(sandbox.path("queens.pmt")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    sandbox.write("damaged.pmt", bytes);
    let damaged = sandbox.portmortem(["graph", "damaged.pmt", "--format", "folded"]);
    damaged.exits(3).shows("main/0").says("warning: ");
}

/// Names of all that is above are in a stack: the rows that are too deep are folded, and no format
/// takes memory or room in proportion to the square of the depth.
#[test]
fn very_many_nested_predicates() {
    const DEPTH: u32 = 30_000;
    let sandbox = Sandbox::new();
    let shape = Shape {
        predicates: DEPTH,
        depth: DEPTH,
        ..Shape::new(Workload::Deep, 4 * u64::from(DEPTH), 1)
    };
    generate(&sandbox.path("queens.pmt"), &shape).unwrap();
    for format in [
        "folded",
        "flamegraph",
        "speedscope",
        "firefox",
        "callgrind",
        "dot",
    ] {
        let script = format!(
            "ulimit -d 1500000; \"$portmortem\" graph queens.pmt --format {format} --metric self --min-percent 0 -o out"
        );
        let script = match format {
            "callgrind" => script.replace(" --min-percent 0", ""),
            _ => script,
        };
        let outcome = sandbox.sh(&format!("rm -f out; {script}"));
        outcome.exits(0);
        let size = fs::metadata(sandbox.path("out")).unwrap().len();
        assert!(size < 40_000_000, "{format}: {size} bytes");
        let is_cut = ["folded", "flamegraph"].contains(&format);
        assert_eq!(
            outcome
                .err()
                .contains(" with 1,000 or more above them are folded"),
            is_cut,
            "{outcome}"
        );
    }
    let folded = graph(
        &sandbox,
        "folded",
        &["--metric", "events", "--min-percent", "0"],
    );
    let events: u64 = stacks(&folded.out()).values().sum();
    let whole = graph(
        &sandbox,
        "folded",
        &["--metric", "events", "--min-percent", "100"],
    );
    assert_eq!(events, stacks(&whole.out()).values().sum::<u64>());
    let deepest = folded
        .out()
        .lines()
        .map(|line| line.matches(';').count())
        .max();
    assert_eq!(deepest, Some(1001));
}
