//! Traces that were made to do harm: their names are commands of terminals, their files are others
//! than the program's, and their records contradict each other.

use std::fs;
use std::path::Path;

use portmortem_analyzer::tables::Table;
use portmortem_fuzzing::mutation::{Random, mutate};
use portmortem_fuzzing::{Target, records};
use portmortem_tests::{Outcome, Sandbox, Status};
use portmortem_tracer::format::{Clause, Dialect, Header, Outcome as Ending, Site, StreamKind};
use portmortem_tracer::{NewPredicate, Options, Recorder};

/// Escape sequences with ESC and with the control character of one byte, a way to the beginning of
/// the line, and a change of the direction of writing.
pub(super) const COMMANDS: &str = "x\x1b[2J\u{9b}31m\r\u{7f}\u{202e}\ny";

/// A trace with commands in all that it says. Goals are in these files.
pub(super) fn forge(path: &Path, files: &[&str]) {
    let header = Header {
        command: vec!["swipl".to_owned(), format!("{COMMANDS}.pl")],
        machine: COMMANDS.to_owned(),
        directory: path.parent().unwrap().display().to_string(),
        ..Header::of_this_process(COMMANDS)
    };
    let recorder = Recorder::create(path, &header, &Options::default()).unwrap();
    let main = recorder.predicate(NewPredicate::named(COMMANDS, COMMANDS, 0).at(COMMANDS, 1));
    let below =
        recorder.predicate(NewPredicate::named("user", &format!("={COMMANDS}"), 1).at(files[0], 1));
    let center = recorder.cost_center(COMMANDS);
    recorder.in_cost_center(below, center);
    recorder.note(COMMANDS);
    let clause = recorder.clause(Clause {
        predicate: main,
        number: 1,
        line: 1,
        file: None,
    });
    let site = |(goal, file): (u32, &&str)| {
        recorder.site(Site {
            callee: below,
            caller: main,
            clause: 1,
            goal,
            line: 1,
            file: Some(recorder.file(file)),
            then_fails: false,
        })
    };
    let sites: Vec<u32> = (1..).zip(files).map(site).collect();
    let stream = recorder.stream(StreamKind::Thread, COMMANDS, Dialect::EveryRedo);
    stream.call(main);
    stream.clause(clause);
    stream.mark(COMMANDS);
    for site in sites {
        stream.call(site);
        stream.mark(&format!("={COMMANDS}"));
        stream.exit_nondet();
        stream.redo();
        stream.fail();
    }
    stream.exit_det();
    stream.end();
    recorder.close(Ending::Exited(0)).unwrap();
}

/// Nothing is printed that a terminal would do.
fn harmless(what: &str, text: &str) {
    let harms = |c: char| (c.is_control() && c != '\t') || c == '\u{202e}';
    let lines = text.lines();
    for line in lines {
        assert_eq!(line.chars().find(|c| harms(*c)), None, "{what}: {line:?}");
    }
}

#[test]
fn no_command_prints_commands_of_a_terminal() {
    let sandbox = Sandbox::new();
    forge(&sandbox.path("forged.pmt"), &[COMMANDS, "/etc/passwd"]);
    let run = |arguments: &[&str]| {
        let outcome = sandbox.portmortem(arguments);
        let what = arguments.join(" ");
        harmless(&what, &outcome.err());
        harmless(&what, &outcome.exits(0).out());
        outcome
    };
    for format in ["text", "csv", "json", "prolog"] {
        run(&["events", "forged.pmt", "--format", format]).shows("[2J");
        run(&["events", "forged.pmt", "--stack", "--format", format]).shows("[2J");
        let sql = "SELECT * FROM events";
        run(&["query", "forged.pmt", sql, "--format", format]).shows("[2J");
        for table in [&[][..], &["--sites"], &["--clauses"], &["--predicate", "*"]] {
            run(&[&["report", "forged.pmt", "--format", format], table].concat());
        }
    }
    for format in ["text", "csv", "json"] {
        run(&["diff", "forged.pmt", "forged.pmt", "--format", format]);
    }
    for format in [
        "folded",
        "flamegraph",
        "firefox",
        "speedscope",
        "callgrind",
        "dot",
    ] {
        let metric: &[&str] = match format {
            "callgrind" | "dot" => &[],
            _ => &["--metric", "events"],
        };
        run(&[
            &["graph", "forged.pmt", "--format", format, "-o", "-"],
            metric,
        ]
        .concat())
        .shows("[2J");
    }
    for format in ["text", "html", "json"] {
        run(&["annotate", "forged.pmt", "--format", format]).shows("[2J");
    }
    run(&["html", "forged.pmt", "-o", "-"]).shows("[2J");
    run(&["events", "forged.pmt", "--box", "0"]);
    run(&["info", "forged.pmt"]).shows("[2J");
    run(&["verify", "forged.pmt"]);
    run(&["advise", "forged.pmt"]);
    let tables: Vec<&str> = Table::ALL.iter().map(|table| table.name()).collect();
    for format in ["csv", "json", "prolog"] {
        let export = ["export", "forged.pmt", "--to", "tables", "--format", format];
        run(&[&export[..], &["--tables", &tables.join(",")]].concat());
    }
    for file in fs::read_dir(sandbox.path("tables")).unwrap() {
        let path = file.unwrap().path();
        harmless(
            &path.display().to_string(),
            &fs::read_to_string(&path).unwrap(),
        );
    }
}

#[test]
fn annotate_prints_no_file_of_others() {
    let sandbox = Sandbox::new();
    for directory in ["program", "home/keys"] {
        fs::create_dir_all(sandbox.path(directory)).unwrap();
    }
    sandbox.write("program/own.pl", "own_text.\n");
    sandbox.write("home/keys/key.pl", "secret_text.\n");
    let key = sandbox.path("home/keys/key.pl");
    let files = [
        "own.pl",
        "/etc/passwd",
        "engine:../../../etc/passwd",
        "engine:library/lists.pl",
        "../home/keys/key.pl",
        key.to_str().unwrap(),
    ];
    forge(&sandbox.path("program/forged.pmt"), &files);
    let annotate = |options: &str| -> Outcome {
        sandbox.sh(&format!(
            "cd program && \"$portmortem\" annotate forged.pmt {options}"
        ))
    };
    for format in ["text", "html"] {
        let usual = annotate(&format!("--format {format}"));
        usual
            .exits(0)
            .shows("own_text")
            .shows("Part of SWI-Prolog")
            .shows("neither in the program's directory nor")
            .hides("secret_text")
            .hides("root:")
            .says("note: the text of 4 files outside of the program's directory")
            .says("--outside");
        annotate(&format!("--format {format} --outside"))
            .succeeds()
            .shows("secret_text")
            .shows("root:")
            .hides("neither in the program's directory nor");
    }
    // A user who names a file of this machine means it; what the trace calls so is not enough.
    annotate("../home/keys/key.pl")
        .exits(0)
        .shows("secret_text");
    annotate("engine:../../../etc/passwd")
        .exits(0)
        .hides("root:");
}

/// Traces whose checksums are right, and whose records are others than a recorder writes.
fn with_changed_records() -> Vec<Vec<u8>> {
    const HOW_MANY: usize = 40;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/regressions/trace");
    let known = ["a-site-for-a-cost-centre", "a-spliced-record"];
    let known = known.map(|name| fs::read(folder.join(name)).unwrap()[1..].to_vec());
    let seeds = Target::Records.seeds();
    let mut random = Random::new(40);
    let changed = std::iter::repeat_with(|| mutate(&mut random, &seeds));
    let changed = changed.filter_map(|input| records::trace_of(&input));
    known.into_iter().chain(changed.take(HOW_MANY)).collect()
}

#[test]
fn what_records_say_never_ends_a_command() {
    let sandbox = Sandbox::new();
    let commands: [&[&str]; 12] = [
        &["report", "x.pmt", "--top", "3"],
        &["report", "x.pmt", "--all", "--sites"],
        &["report", "x.pmt", "--predicate", "*"],
        &["info", "x.pmt"],
        &["verify", "x.pmt"],
        &["advise", "x.pmt", "--least", "0"],
        &["events", "x.pmt", "--stack"],
        &["annotate", "x.pmt"],
        &["diff", "x.pmt", "x.pmt"],
        &["graph", "x.pmt", "--format", "firefox", "-o", "-"],
        &["html", "x.pmt", "-o", "-"],
        &["index", "x.pmt"],
    ];
    for trace in with_changed_records() {
        sandbox.write("x.pmt", &trace);
        for arguments in commands {
            let outcome = sandbox.portmortem(arguments);
            let status = [0, 1, 3].map(Status::Exit);
            outcome.demand(status.contains(&outcome.status), "an answer or an error");
            outcome.demand(!outcome.err().contains("panicked"), "no panic");
        }
    }
}

#[test]
fn a_record_that_refers_to_nothing_is_left_out_and_reported() {
    let sandbox = Sandbox::new();
    sandbox.write("x.pmt", &with_changed_records()[1]);
    sandbox
        .portmortem(["verify", "x.pmt"])
        .exits(3)
        .shows("the cost centre of predicate 47 is declared nowhere");
}
