//! What users type by mistake is taken as they mean it, or the error says what to type.

use std::fs;

use portmortem_tests::terminal::Terminal;
use portmortem_tests::{Sandbox, built};

const ECHO: &str = "
:- initialization(main, main).
main :- current_prolog_flag(argv, Argv), print(Argv), nl.
";

fn recorded() -> Sandbox {
    let sandbox = Sandbox::with("echo.pl", ECHO);
    sandbox.portmortem(["record", "echo.pl"]).prints("[]\n");
    sandbox
}

#[test]
fn arguments_of_the_program_need_no_dashes() {
    let sandbox = Sandbox::with("echo.pl", ECHO);
    let record = |words: &[&str]| sandbox.portmortem([&["record"], words].concat());
    record(&["echo.pl", "1500", "b"]).prints("['1500',b]\n");
    record(&["echo.pl", "--force", "1500"]).prints("['1500']\n");
    record(&["echo.pl", "--", "1500"]).prints("['1500']\n");
    record(&["--", "swipl", "echo.pl", "1500"]).prints("['1500']\n");
}

#[test]
fn errors_say_what_to_type() {
    let sandbox = recorded();
    let fails = |words: &[&str], says: &str| {
        sandbox.portmortem(words).exits(1).says(says);
    };
    fails(&["record", "echo.pmt"], "portmortem report echo.pmt");
    fails(&["diagnose", "echo.pmt"], "portmortem report echo.pmt");
    fails(
        &["report", "echo.pmt", "other.pmt"],
        "portmortem diff echo.pmt other.pmt",
    );
    fails(&["report", "echo.pmt", "--time", "0..2"], "write 2s, 2ms");
    fails(
        &["query", "echo.pmt"],
        "the question, which comes last, is missing; for example: portmortem query echo.pmt 'SELECT",
    );
    fails(
        &["query", "SELECT 1"],
        "the trace is missing; for example: portmortem query TRACE 'SELECT",
    );
    sandbox
        .portmortem(["query"])
        .exits(2)
        .says("<TRACE>... <SQL>");
}

/// What is not SWI-Prolog is not run.
#[test]
fn a_command_is_one_of_the_engine() {
    let sandbox = recorded();
    for command in ["/bin/true", "ls"] {
        sandbox
            .portmortem(["record", "-o", "echo.pmt", "--", command])
            .exits(1)
            .says(&format!("{command} is not SWI-Prolog"))
            .says("portmortem record -- swipl");
    }
}

/// At a terminal, the last line says where the trace is and what to type next.
#[test]
fn a_recording_ends_with_a_line() {
    let sandbox = Sandbox::with("echo.pl", ECHO);
    let screen = |options: &[&str]| {
        let words = ["record"].iter().chain(options).chain(&["echo.pl"]);
        let command = sandbox.command(built::portmortem()).args(words);
        let (_, screen) = Terminal::start(command).ends();
        screen
    };
    let last = screen(&[]);
    for part in [
        "recorded echo.pmt (",
        " events, ",
        " in ",
        "; now: portmortem advise echo.pmt",
    ] {
        assert!(last.contains(part), "{part}: {last}");
    }
    assert!(!screen(&["--quiet"]).contains("recorded"));
    let piped = sandbox.portmortem(["record", "echo.pl"]);
    assert_eq!(piped.err(), "");
}

/// `info` and `verify` take several traces, and have a format for programs.
#[test]
fn several_traces_are_described_and_checked() {
    let sandbox = recorded();
    let second = ["record", "-o", "second.pmt", "echo.pl"];
    sandbox.portmortem(second).succeeds();
    let info = sandbox.portmortem(["info", "*.pmt"]).succeeds().out();
    let traces = info.lines().filter(|line| line.starts_with("trace "));
    assert_eq!(traces.count(), 2, "{info}");
    let verify = sandbox.portmortem(["verify", "echo.pmt", "second.pmt"]);
    let verify = verify.succeeds().out();
    assert_eq!(
        verify.matches("no damage, nothing lost").count(),
        2,
        "{verify}"
    );
    let objects = |command: &str, status: i32| -> Vec<serde_json::Value> {
        let words = [command, "echo.pmt", "second.pmt", "--format", "json"];
        let out = sandbox.portmortem(words).exits(status).out();
        serde_json::from_str(&out).unwrap()
    };
    let info = objects("info", 0);
    for (object, name) in info.iter().zip(["echo.pmt", "second.pmt"]) {
        assert_eq!(object["trace"], name);
        let streams = object["streams"].as_array().unwrap();
        let events = streams
            .iter()
            .map(|stream| stream["events"].as_u64().unwrap());
        assert_eq!(object["events"], events.sum::<u64>());
        assert_eq!(object["losses"], serde_json::json!([]));
    }
    assert!(
        objects("verify", 0)
            .iter()
            .all(|object| object["whole"] == true)
    );
    // One that is cut off, and one that is not there: what is said of the others is said.
    let bytes = fs::read(sandbox.path("second.pmt")).unwrap();
    fs::write(sandbox.path("second.pmt"), &bytes[..bytes.len() - 600]).unwrap();
    let verify = objects("verify", 3);
    assert_eq!([&verify[0]["whole"], &verify[1]["whole"]], [true, false]);
    let words = ["verify", "none.pmt", "echo.pmt"];
    let verify = sandbox.portmortem(words);
    verify.exits(1).says("none.pmt").shows("no damage");
}

/// Every command shows examples.
#[test]
fn help_has_examples() {
    let sandbox = Sandbox::new();
    let help = sandbox.portmortem(["--help"]).succeeds().out();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let names: Vec<&str> = commands
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        sandbox.portmortem([name, "--help"]).shows("Examples:");
    }
}
