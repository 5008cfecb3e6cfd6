//! The command line: what reports look like, what exports contain, help and completions, and that nothing a
//! program calls itself can harm a terminal.

use std::collections::BTreeMap;
use std::fs;

use portmortem_tests::{Outcome, Profiled, Sandbox, masks, repository, sample, trap};
use portmortem_tracer::format::ENGINE_WORK;
use unicode_width::UnicodeWidthStr;

/// A program that has everything a report can show, and few lines.
const SMALL: &str = "
:- initialization(main, main).
main :- nums(3, L), total(L, N), catch(risky(N), oops, true), ( pick(X, L), X > 1 -> true ; true ).
nums(0, []) :- !.
nums(N, [N|L]) :- M is N-1, nums(M, L).
total([], 0).
total([X|Xs], N) :- total(Xs, M), N is M+X.
risky(N) :- N > 5, throw(oops).
pick(X, [X|_]).
pick(X, [_|L]) :- pick(X, L).
";

fn small() -> Sandbox {
    let sandbox = Sandbox::with("small.pl", SMALL);
    sandbox.portmortem(["record", "small.pl"]).succeeds();
    sandbox
}

/// Without times and what depends on them, and without the version of the engine.
fn masked(outcome: &Outcome) -> String {
    masks::headline(&masks::times(&outcome.succeeds().out()))
}

#[test]
fn a_report() {
    let sandbox = small();
    let report = sandbox.portmortem("report small.pmt --all --sort name --top 10".split(' '));
    insta::assert_snapshot!(masked(&report));
}

#[test]
fn a_report_of_one_predicate() {
    let sandbox = small();
    for predicate in ["total/2", "user:total", "tot?l"] {
        let report = sandbox.portmortem(["report", "small.pmt", "--all", "--predicate", predicate]);
        // What is no work may be in it. How times are spread is different in each run.
        let text = masked(&report);
        let (block, calls) = text.split_once("\n  a call takes ").unwrap();
        insta::assert_snapshot!("one_predicate", block);
        assert!(calls.contains("; 4 calls timed\n"), "{calls}");
        assert!(calls.contains("1 outermost call, too few calls"));
        assert!(calls.contains("line 3 of main/0") && calls.contains("line 7 of total/2"));
    }
    sandbox
        .portmortem(["report", "small.pmt", "--predicate", "nobody"])
        .refuses("no predicate of this trace matches nobody");
}

/// Most often it is a slip, or was not recorded.
#[test]
fn a_report_of_a_predicate_that_the_trace_has_not() {
    let sandbox = small();
    let refuses = |predicate: &str, why: &str| {
        let report = sandbox.portmortem(["report", "small.pmt", "--predicate", predicate]);
        report.refuses(why);
        report.err()
    };
    refuses("totl/2", "matches totl/2; did you mean total/2? ");
    refuses("totl", "did you mean total/2? ");
    refuses("total/3", "did you mean total/2? ");
    refuses(
        "user:rysky/1",
        "did you mean risky/1? if the program called it, record without",
    );
    let far = refuses(
        "append/3",
        "library predicates are recorded with `record --libraries`",
    );
    assert!(
        far.contains("--builtins") && !far.contains("did you mean"),
        "{far}"
    );
    let system = refuses(
        "system:format/2",
        "built-in predicates are recorded with `record --builtins`",
    );
    assert!(!system.contains("--libraries"), "{system}");
    let focus = ["report", "small.pmt", "--focus", "totl/2"];
    sandbox.portmortem(focus).refuses("did you mean total/2?");
}

#[test]
fn a_report_with_hidden_predicates() {
    let sandbox = small();
    let arguments = "report small.pmt --all --hide total --hide main/0 --sort name --top 10";
    let arguments = arguments.split(' ');
    insta::assert_snapshot!(masked(&sandbox.portmortem(arguments)));
}

#[test]
fn a_report_of_a_part() {
    let sandbox = Sandbox::new();
    sandbox.record_file(&sample("queens.pl"), &[]);
    let report = |options: &[&str]| {
        let arguments = ["report", "queens.pmt", "--sort", "name"];
        sandbox
            .portmortem(arguments.iter().chain(options).copied())
            .out()
    };
    let below = report(&["--focus", "attack/2"]);
    assert!(below.contains("\nin: attack/2\n"), "{below}");
    assert_eq!(column(&below, 4), [5508, 19260]);
    // Two halves are the whole.
    let profiled = Profiled::of(&sandbox.path("queens.pmt"));
    let ticks = profiled.profile.total_ticks();
    let half = profiled.trace.clock().duration_ns(ticks) / 2;
    let halves = [format!("..{half}ns"), format!("{half}ns..")];
    let parts = halves.map(|time| column(&report(&["--time", &time]), 4));
    let both: u64 = parts.iter().flatten().sum();
    assert_eq!(both, column(&report(&[]), 4).iter().sum::<u64>());
    let refuses = |options: &[&str], error| {
        let arguments = ["report", "queens.pmt"];
        sandbox
            .portmortem(arguments.iter().chain(options).copied())
            .refuses(error);
    };
    refuses(&["--focus", "attack*"], "means 2: attack/2, attack/3");
    refuses(&["--focus", "nobody"], "no predicate of this trace");
    refuses(&["--time", "3ms"], "is no range of time");
    refuses(&["--time", "3ms..1ms"], "ends before it begins");
    let past = "the range of time `1000s..2000s` begins after the trace ends; it is ";
    refuses(&["--time", "1000s..2000s"], past);
    let events = ["events", "queens.pmt", "--time", "1000s..2000s"];
    sandbox.portmortem(events).refuses(past);
    // One that does not say when it ended.
    let whole = fs::read(sandbox.path("queens.pmt")).unwrap();
    sandbox.write("cut.pmt", &whole[..whole.len() / 2]);
    let cut = ["report", "cut.pmt", "--time", "1000s..2000s"];
    sandbox.portmortem(cut).refuses(past);
}

/// A column of numbers of the flat profile, counted from the names; without the engine's own work, which depends on time.
fn column(report: &str, from_right: usize) -> Vec<u64> {
    report
        .lines()
        // A wide table has only one blank before it.
        .skip_while(|line| !line.trim_start().starts_with("self "))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| !is_engine_work(line))
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words[words.len() - 1 - from_right]
                .replace(',', "")
                .parse()
                .unwrap()
        })
        .collect()
}

/// Whether a line is of garbage collections, stack shifts or waiting.
fn is_engine_work(row: &str) -> bool {
    ENGINE_WORK.iter().any(|name| row.contains(name))
}

#[test]
fn sorting() {
    let sandbox = Sandbox::new();
    sandbox.record_file(&sample("queens.pl"), &[]);
    for (sort, from_right) in [("fails", 1), ("redos", 2), ("exits", 3), ("calls", 4)] {
        let report = sandbox
            .portmortem(["report", "queens.pmt", "--all", "--sort", sort])
            .out();
        let numbers = column(&report, from_right);
        assert_eq!(numbers.len(), 11, "{report}");
        assert!(numbers.is_sorted_by(|a, b| a >= b), "{sort}: {numbers:?}");
    }
    let by_name = sandbox
        .portmortem(["report", "queens.pmt", "--all", "--sort", "name"])
        .out();
    let names: Vec<&str> = by_name
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("self "))
        .skip(1)
        .take_while(|line| !line.contains("more predicates"))
        .filter(|line| !line.contains(':'))
        .take(7)
        .map(|line| line.split_whitespace().last().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "attack/2",
            "attack/3",
            "main/0",
            "permute/3",
            "queens/2",
            "rows/3",
            "sel/3"
        ]
    );
    let two = sandbox.portmortem("report queens.pmt --all --sort calls --top 2".split(' '));
    let all = Profiled::of(&sandbox.path("queens.pmt")).predicates().len();
    two.shows(&format!("and {} more predicates with", all - 2))
        .shows(&format!("--top {all} shows all"));
}

/// A report has the rows and columns that were asked for, in every format.
#[test]
fn rows_and_columns_are_chosen_in_every_format() {
    let sandbox = Sandbox::new();
    let trace = sample("queens.pmt");
    let report = |options: &str| {
        let mut arguments = vec!["report", trace.to_str().unwrap()];
        arguments.extend(options.split(' '));
        sandbox.portmortem(arguments)
    };
    let hottest = "--columns predicate,calls,exits --sort calls --top 1";
    report(&format!("{hottest} --format csv"))
        .succeeds()
        .prints("predicate,calls,exits\nattack/3,19260,8312\n");
    let text = report(&format!("{hottest} --format text"));
    text.succeeds().shows(
        "\n  predicate   calls  exits\n  attack/3   19,260  8,312\n  … and 6 more predicates",
    );
    let json: serde_json::Value =
        serde_json::from_str(&report(&format!("{hottest} --format json")).succeeds().out())
            .unwrap();
    assert_eq!(
        json["predicates"],
        serde_json::json!([{"predicate": "attack/3", "calls": 19260, "exits": 8312}])
    );
    let one = "--predicate attack/2 --columns self_comp,predicate";
    let csv = report(&format!("{one} --format csv")).succeeds().out();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "self_comp_ns,predicate"));
    let json: serde_json::Value =
        serde_json::from_str(&report(&format!("{one} --format json")).succeeds().out()).unwrap();
    assert_eq!(json["predicates"].as_array().unwrap().len(), 1);
    let edges = json["edges"].as_array().unwrap();
    assert!(!edges.is_empty());
    for edge in edges {
        assert!(edge["caller"] == "attack/2" || edge["callee"] == "attack/2");
    }
    report(one)
        .succeeds()
        .shows("  self net ms  predicate\n")
        .shows("attack/2  queens.pl:");
    // Texts are sorted alphabetically, numbers with the largest first, what is not known last.
    let sorted = |column: &str| {
        let options = format!("--columns predicate --format csv --sort {column}");
        let csv = report(&options).succeeds().out();
        csv.lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(
        ["predicate", "redos", "determinism", "line"].map(sorted),
        ["attack/2", "sel/3", "main/0", "attack/3"].map(str::to_owned)
    );
}

#[test]
fn unknown_columns_are_refused_with_the_nearest_names() {
    let sandbox = Sandbox::new();
    let list = sandbox.portmortem(["report", "--columns", "help"]);
    let list = list.succeeds().out();
    for column in PREDICATES
        .split(',')
        .chain(["exits", "lifetime_ns", "max_height"])
    {
        assert!(list.contains(&format!("{column} ")), "{column}: {list}");
    }
    assert!(
        list.lines().all(|line| line.chars().count() <= 80),
        "{list}"
    );
    for option in ["--columns", "--sort"] {
        let refused = sandbox.portmortem(["report", "x.pmt", option, "fals"]);
        refused.exits(2);
        let error = refused.err();
        assert!(error.contains("did you mean fails"), "{error}");
        assert!(error.contains(", inclusive_comp"), "{error}");
    }
    sandbox
        .portmortem(["report", "--columns", "calls"])
        .refuses("name the trace");
}

/// Ends of a range of time may be texts of marks, and streams may be chosen.
#[test]
fn marks_and_streams_choose_a_part() {
    let sandbox = Sandbox::new();
    let program = "
:- use_module(library(portmortem)).
:- initialization(main, main).
main :- pm_mark(load), load(3), pm_mark(solve), solve(5), pm_mark(load), solve(1),
    thread_create(solve(2), Id, [alias(worker)]), thread_join(Id).
load(0) :- !.
load(N) :- N1 is N-1, load(N1).
solve(0) :- !.
solve(N) :- N1 is N-1, solve(N1).
";
    sandbox.record("marked", program, &[]);
    let calls = |options: &[&str]| {
        let csv = [
            "report",
            "marked.pmt",
            "--format",
            "csv",
            "--columns",
            "predicate,calls",
        ];
        let report = sandbox.portmortem(csv.iter().chain(options).copied());
        let rows = table(&report.succeeds().out());
        ["load/1", "solve/1"].map(|predicate| {
            let row = rows.iter().find(|row| row["predicate"] == predicate);
            row.map_or(0, |row| row["calls"].parse::<u64>().unwrap())
        })
    };
    assert_eq!(calls(&[]), [4, 6 + 2 + 3]);
    assert_eq!(calls(&["--time", "load..solve"]), [4, 0]);
    assert_eq!(calls(&["--time", "solve..load"]), [0, 6]);
    assert_eq!(calls(&["--time", "..solve"]), [4, 0]);
    assert_eq!(calls(&["--time", "solve.."]), [0, 6 + 2 + 3]);
    assert_eq!(calls(&["--time", "0..solve"]), [4, 0]);
    assert_eq!(calls(&["--stream", "worker"]), [0, 3]);
    assert_eq!(calls(&["--stream", "main"]), [4, 6 + 2]);
    assert_eq!(
        calls(&["--stream", "main", "--stream", "worker"]),
        [4, 6 + 2 + 3]
    );
    let refuses = |options: [&str; 2], error| {
        let arguments = ["report", "marked.pmt"];
        let refused = sandbox.portmortem(arguments.into_iter().chain(options));
        refused.refuses(error);
    };
    refuses(
        ["--time", "lode..solve"],
        "`lode` is neither a time, as 1.5ms, nor a mark: the trace has load, solve",
    );
    refuses(
        ["--stream", "nobody"],
        "the trace has no stream nobody; it has ",
    );
}

/// Every number of a report is that of the engine's own tracer: the table of the design.
#[test]
fn the_counts_of_queens() {
    let sandbox = Sandbox::new();
    sandbox.record_file(&sample("queens.pl"), &[]);
    let report = sandbox.portmortem(["report", "queens.pmt", "--format", "csv"]);
    let rows = table(&report.succeeds().out());
    for (predicate, calls, redos) in [
        ("attack/2", "5508", "0"),
        ("attack/3", "19260", "0"),
        ("sel/3", "7565", "12052"),
        ("permute/3", "2057", "828"),
    ] {
        let row = rows
            .iter()
            .find(|row| row["predicate"] == predicate)
            .unwrap();
        assert_eq!(
            (row["calls"].as_str(), row["redos"].as_str()),
            (calls, redos),
            "{predicate}"
        );
    }
}

fn table(csv_text: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(csv_text.as_bytes())
        .deserialize()
        .collect::<Result<_, _>>()
        .unwrap()
}

/// A module and predicates with long names, that have every port.
const LONG_NAMES: &str = "
:- initialization(main, main).
main :- '日本 a module with a rather long name':'and a predicate with a name that is longer'(3), fail.
main :- catch('and a predicate that throws, with a name that is longer', _, true).
'日本 a module with a rather long name':'and a predicate with a name that is longer'(N) :-
    numlist(1, 300, L), member(X, L),
    '日本 a module with a rather long name':'and another one, whose name is not much shorter'(X, N).
'日本 a module with a rather long name':'and another one, whose name is not much shorter'(N, N).
'日本 a module with a rather long name':'and another one, whose name is not much shorter'(_, _).
'and a predicate that throws, with a name that is longer' :- throw(oops).
";

#[test]
fn ordinary_reports_fit_eighty_columns() {
    let sandbox = Sandbox::new();
    let long = sandbox.write("long.pl", LONG_NAMES);
    let samples = [
        "queens.pl",
        "parser.pl",
        "metainterp.pl",
        "threads_exceptions.pl",
        "debray1.pl",
    ];
    for program in samples.map(sample).into_iter().chain([long]) {
        sandbox.record_file(&program, &[]);
        let name = program.file_stem().unwrap().to_str().unwrap();
        let trace = format!("{name}.pmt");
        for arguments in [
            vec!["report", &trace],
            vec!["report", &trace, "--top", "1000"],
            vec!["report", &trace, "--predicate", "*"],
            vec!["verify", &trace],
        ] {
            let outcome = sandbox.portmortem(&arguments);
            for line in outcome.succeeds().out().lines() {
                assert!(
                    line.width() <= 80,
                    "{} columns: {line}\n{arguments:?}",
                    line.width()
                );
                assert_eq!(line, line.trim_end(), "blanks at the end");
            }
        }
    }
}

#[test]
fn every_command_has_help() {
    let sandbox = Sandbox::new();
    let commands = [
        "record",
        "report",
        "info",
        "verify",
        "export",
        "graph",
        "annotate",
        "completions",
        "manual",
    ];
    let overview = sandbox.portmortem(["--help"]).succeeds().out();
    for command in commands {
        assert!(
            overview.contains(&format!("\n  {command} ")),
            "{command}\n{overview}"
        );
        for help in ["--help", "-h"] {
            let outcome = sandbox.portmortem([command, help]);
            outcome
                .succeeds()
                .shows(&format!("Usage: portmortem {command}"));
            assert!(
                outcome.out().lines().all(|line| line.width() <= 100),
                "{outcome}"
            );
        }
    }
    for command in ["record", "report", "export", "graph", "html", "annotate"] {
        sandbox.portmortem([command, "--help"]).shows("Examples:");
    }
    sandbox.portmortem(["--version"]).succeeds().prints(concat!(
        "portmortem ",
        env!("CARGO_PKG_VERSION"),
        "\n"
    ));
}

/// The names that others rely on.
#[test]
fn the_options_of_the_interface_are_there() {
    let sandbox = Sandbox::new();
    let help = |command| sandbox.portmortem([command, "--help"]).out();
    let record = help("record");
    for option in [
        "-o, --output",
        "-g, --goal",
        "--all",
        "--include",
        "--exclude",
        "--libraries",
        "--builtins",
        "--byrd",
        "--no-tail",
        "--max-size",
        "--keep",
        "--stack-limit",
        "--swipl",
        "--force",
        "--threads",
    ] {
        assert!(record.contains(option), "record {option}");
    }
    let report = help("report");
    for option in [
        "--sort",
        "--top",
        "--hide",
        "--predicate",
        "--format",
        "--threads",
    ] {
        assert!(report.contains(option), "report {option}");
    }
    let export = help("export");
    for option in ["--to", "--format", "--tables", "--threads"] {
        assert!(export.contains(option), "export {option}");
    }
}

const PREDICATES: &str = "trace,predicate,file,line,calls,tail_calls,exits_det,exits_nondet,redos,fails,\
    exceptions,cuts,open,pending,events,self_ns,inclusive_ns,self_comp_ns,inclusive_comp_ns,failed_ns,raised_ns,\
    open_ns,self_failed_ns,self_raised_ns,self_open_ns,undone_ns,determinism";
const EDGES: &str = "trace,caller,callee,calls,tail_calls,exits,redos,fails,recursive,served_ns,spent_ns,\
    served_comp_ns,spent_comp_ns";

#[test]
fn exported_columns_are_those_of_the_interface() {
    let sandbox = small();
    sandbox
        .portmortem(["export", "small.pmt", "--to", "new/tables"])
        .succeeds()
        .prints("");
    let read = |name: &str| fs::read_to_string(sandbox.path("new/tables").join(name)).unwrap();
    assert_eq!(read("predicates.csv").lines().next(), Some(PREDICATES));
    assert_eq!(read("edges.csv").lines().next(), Some(EDGES));
    let rows = table(&read("predicates.csv"));
    let total = rows
        .iter()
        .find(|row| row["predicate"] == "total/2")
        .unwrap();
    for (cell, value) in [
        ("trace", "small"),
        ("calls", "4"),
        ("tail_calls", "0"),
        ("exits_det", "4"),
        ("exits_nondet", "0"),
        ("redos", "0"),
        ("fails", "0"),
        ("exceptions", "0"),
        ("file", "small.pl"),
        ("line", "6"),
        ("determinism", "det"),
    ] {
        assert_eq!(total[cell], value, "{cell}");
    }
    let risky = rows
        .iter()
        .find(|row| row["predicate"] == "risky/1")
        .unwrap();
    assert_eq!(
        (risky["exceptions"].as_str(), risky["determinism"].as_str()),
        ("1", "")
    );
    // The interface promises times as whole nanoseconds, and their net twins, for now unknown.
    for row in &rows {
        for column in ["self_ns", "inclusive_ns", "failed_ns", "undone_ns"] {
            assert!(row[column].parse::<u64>().is_ok(), "{row:?}");
        }
    }
    let edges = table(&read("edges.csv"));
    let edge = |caller: &str, callee: &str| {
        let found = edges
            .iter()
            .find(|row| row["caller"] == caller && row["callee"] == callee);
        found
            .unwrap_or_else(|| panic!("{caller} {callee} {edges:?}"))
            .clone()
    };
    assert_eq!(edge("<root>", "main/0")["calls"], "1");
    assert_eq!(edge("total/2", "total/2")["recursive"], "true");
    assert_eq!(edge("main/0", "total/2")["recursive"], "false");
    // The same as the report prints.
    let report = sandbox.portmortem(["report", "small.pmt", "--format", "csv"]);
    report.succeeds().prints(&read("predicates.csv"));
}

#[test]
fn several_traces_in_one_export() {
    let sandbox = Sandbox::new();
    for program in ["debray1.pl", "debray2.pl", "queens.pl"] {
        sandbox.record_file(&sample(program), &[]);
    }
    let traces = ["debray1.pmt", "debray2.pmt", "queens.pmt"];
    let export = |threads: &str, to: &str| {
        let arguments = ["export", "--threads", threads, "--to", to]
            .into_iter()
            .chain(traces);
        sandbox.portmortem(arguments).succeeds();
        fs::read_to_string(sandbox.path(to).join("predicates.csv")).unwrap()
    };
    let text = export("1", "one");
    assert_eq!(text, export("2", "two"));
    let mut rows: BTreeMap<String, u64> = BTreeMap::new();
    let program = table(&text);
    for row in program
        .iter()
        .filter(|row| !is_engine_work(&row["predicate"]))
    {
        *rows.entry(row["trace"].clone()).or_default() += 1;
    }
    let names: Vec<&str> = rows.keys().map(String::as_str).collect();
    assert_eq!(names, ["debray1", "debray2", "queens"]);
    assert_eq!(rows["queens"], 11);
    sandbox
        .portmortem(["export", "queens.pmt", "--to", "only", "--tables", "edges"])
        .succeeds();
    let files: Vec<_> = fs::read_dir(sandbox.path("only")).unwrap().collect();
    assert_eq!(files.len(), 1);
}

#[test]
fn reports_do_not_depend_on_the_number_of_threads() {
    let sandbox = Sandbox::new();
    sandbox.record_file(&sample("threads_exceptions.pl"), &[]);
    let report = |threads: &str, format: &str| {
        let arguments = [
            "report",
            "--threads",
            threads,
            "threads_exceptions.pmt",
            "--format",
            format,
        ];
        sandbox.portmortem(arguments).succeeds().out()
    };
    for format in ["text", "csv", "json"] {
        assert_eq!(report("1", format), report("2", format));
        assert_eq!(report("1", format), report("7", format));
    }
}

#[test]
fn a_report_as_json() {
    let sandbox = small();
    let report = sandbox.portmortem(["report", "small.pmt", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&report.succeeds().out()).unwrap();
    assert_eq!(json["incomplete"], false);
    let columns = |table: &str| {
        let mut columns: Vec<String> = json[table][0]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        columns.sort();
        columns
    };
    let sorted = |text: &str| {
        let mut columns: Vec<String> = text.split(',').map(str::to_owned).collect();
        columns.sort();
        columns
    };
    assert_eq!(columns("predicates"), sorted(PREDICATES));
    assert_eq!(columns("edges"), sorted(EDGES));
}

/// What SWI-Prolog itself writes for the indicator must read back as the same predicate.
#[test]
fn names_are_quoted_as_prolog_would() {
    let sandbox = Sandbox::new();
    let profiled = sandbox.record_file(&trap("names.pl"), &[]);
    let names = profiled.names();
    for name in [
        "'with blank'/1",
        r"'with\nnewline'/1",
        r"'quote\'s'/1",
        r"'back\\slash'/1",
        "'double\"quote'/1",
        "'a/1'/1",
        "'m:a'/1",
        "''/1",
        "{}/1",
        "(+)/1",
        "(-->)/1",
        "'Capital'/1",
        "'_underscore'/1",
        "'42'/1",
        "été/1",
        "'%percent'/1",
        "'Module: with colon':p/1",
        "ünï:cödé/1",
        "('|')/1",
        "(',')/1",
    ] {
        assert!(
            names.iter().any(|known| known == name),
            "{name} in {names:#?}"
        );
    }
    // Each reads back in a fresh engine, as Module:Name/Arity.
    let mut script = String::from(":- set_prolog_flag(double_quotes, codes).\n");
    for name in &names {
        script.push_str(&format!(
            ":- X = ({name}), ( X = _:N/A -> true ; X = N/A ), ( atomic(N), integer(A) -> true ; print(bad(X)), nl ).\n"
        ));
    }
    sandbox.write("read.pl", script);
    sandbox
        .swipl(["-g", "halt", "read.pl"])
        .succeeds()
        .prints("");
}

#[test]
fn control_characters_are_never_printed() {
    let sandbox = Sandbox::new();
    sandbox.record_file(&trap("names.pl"), &[]);
    for arguments in [
        &["report", "names.pmt"][..],
        &["report", "names.pmt", "--top", "1000"],
        &["report", "names.pmt", "--predicate", "*"],
        &["report", "names.pmt", "--format", "csv"],
        &["report", "names.pmt", "--format", "json"],
        &["info", "names.pmt"],
        &["verify", "names.pmt"],
    ] {
        let outcome = sandbox.portmortem(arguments);
        for text in [outcome.out(), outcome.err()] {
            let control = text.chars().find(|c| c.is_control() && *c != '\n');
            assert_eq!(control, None, "{arguments:?}: {text:?}");
            assert!(
                !text.contains('\u{202e}') && !text.contains('\u{200b}'),
                "{arguments:?}"
            );
        }
    }
}

/// File names and arguments come from outside too.
#[test]
fn control_characters_in_paths_and_arguments() {
    let sandbox = Sandbox::with("\x1b[31mred.pl", ":- initialization(main, main).\nmain.\n");
    sandbox
        .portmortem(["record", "-o", "x.pmt", "\x1b[31mred.pl", "--", "\x07bell"])
        .succeeds();
    fs::copy(sandbox.path("x.pmt"), sandbox.path("\x1b[31mx.pmt")).unwrap();
    sandbox.write("\x1b[31mbad.pmt", "text");
    for arguments in [["report", "x.pmt"], ["info", "x.pmt"], ["verify", "x.pmt"]] {
        let outcome = sandbox.portmortem(arguments);
        assert!(
            !outcome.out().contains('\x1b') && !outcome.out().contains('\x07'),
            "{outcome}"
        );
    }
}

#[test]
fn control_characters_in_the_path_of_a_trace() {
    let sandbox = Sandbox::with("hello.pl", ":- initialization(main, main).\nmain.\n");
    sandbox
        .portmortem(["record", "-o", "\x1b[31mx.pmt", "hello.pl"])
        .succeeds();
    sandbox.write("\x1b[31mbad.pmt", "text");
    for arguments in [
        &["info", "\x1b[31mx.pmt"][..],
        &["verify", "\x1b[31mx.pmt"],
        &["report", "\x1b[31mbad.pmt"],
        &["report", "\x1b[31mmissing.pmt"],
        &["record", "\x1b[31mmissing.pl"],
        &["report", "x.pmt", "--predicate", "\x1b[31mnobody"],
    ] {
        let outcome = sandbox.portmortem(arguments);
        let text = outcome.out() + &outcome.err();
        assert!(!text.contains('\x1b'), "{arguments:?}: {text:?}");
    }
}

#[test]
fn info_says_what_a_trace_is() {
    let sandbox = small();
    let outcome = sandbox.portmortem(["info", "small.pmt"]);
    let profiled = Profiled::of(&sandbox.path("small.pmt"));
    assert_eq!(profiled.names().len(), 6);
    let known = profiled.trace.predicates().len();
    outcome
        .succeeds()
        .shows(&format!("predicates {known}\n"))
        .shows("directory  .\n")
        .shows("trace      small.pmt\n")
        .shows("command    swipl small.pl\n")
        .shows("engine     SWI-Prolog ")
        .shows("thread main");
    sandbox
        .portmortem([
            "record",
            "--force",
            "--byrd",
            "--no-tail",
            "small.pl",
            "--",
            "a",
            "b c",
        ])
        .succeeds();
    sandbox
        .portmortem(["info", "small.pmt"])
        .shows("command    swipl small.pl a b c\n")
        .shows("--byrd")
        .shows("--no-tail");
}

#[test]
fn the_programs_standard_output_is_only_its_own() {
    let sandbox = Sandbox::with(
        "p.pl",
        ":- initialization(main, main).\nmain :- write(out), write(user_error, err).\n",
    );
    let outcome = sandbox.portmortem(["record", "p.pl"]);
    assert_eq!(
        (outcome.out().as_str(), outcome.err().as_str()),
        ("out", "err")
    );
}

/// Whoever runs the samples finds what their headers promise.
#[test]
fn every_sample_records_and_reports() {
    let sandbox = Sandbox::new();
    for entry in fs::read_dir(repository("traces")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "pl") {
            sandbox.record_file(&path, &[]);
            let trace = format!("{}.pmt", path.file_stem().unwrap().display());
            sandbox
                .portmortem(["report", &trace, "--top", "1000"])
                .succeeds()
                .shows("main/0");
        }
    }
}

#[test]
fn more_threads_than_the_system_has() {
    let sandbox = small();
    for threads in ["0", "40000", "999999", "many"] {
        let outcome = sandbox.portmortem(["report", "--threads", threads, "small.pmt"]);
        outcome.exits(2).says("--threads");
    }
}
