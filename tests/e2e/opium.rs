//! `library(portmortem/trace)`: a trace as relations, with the figures and events that the program
//! prints.

use std::fs;
use std::path::Path;

use portmortem_analyzer::tables::Table;
use portmortem_tests::{Outcome, Sandbox, repository, sample};
use serde_json::Value;

use super::library::install_pack;

/// With the pack, and samples beside it.
fn with_traces(traces: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    install_pack(&sandbox, "packs/portmortem");
    for trace in traces {
        fs::copy(sample(trace), sandbox.path(trace)).unwrap();
    }
    sandbox
}

/// The first answer to each query, as a line for each variable.
pub(crate) fn answers(sandbox: &Sandbox, program: &str, queries: &str) -> Outcome {
    sandbox.write("asked.pl", program);
    sandbox.write("queries.pl", queries);
    let script = repository("tests/prolog/answers.pl");
    let arguments = [
        Path::new("--"),
        Path::new("asked.pl"),
        Path::new("queries.pl"),
    ];
    sandbox.swipl([&[script.as_path()], &arguments[..]].concat())
}

/// Prints dicts as JSON, as the program does: what is not known is null.
const AS_JSON: &str = "
:- use_module(library(http/json)).
rows(File, Table) :-
    pm_open(File, Trace),
    forall(pm_row(Trace, Table, Row), printed(Row)),
    pm_close(Trace).
events(File, Condition) :-
    pm_open(File, Trace, [damaged(true)]),
    forall(pm_event(Trace, Condition, _, Event), ( put_dict(trace, Event, null, Row), printed(Row) )).
printed(Row) :-
    json_write_dict(current_output, Row, [width(0)]), nl.
";

fn lines(text: &str) -> Vec<Value> {
    let values = text.lines().map(|line| serde_json::from_str(line).unwrap());
    values.collect()
}

/// Every row of every table, and every column, is what `export` writes.
#[test]
fn tables_are_those_of_export() {
    let traces = ["queens.pmt", "threads_exceptions.pmt"];
    let sandbox = with_traces(&traces);
    let names: Vec<&str> = Table::ALL.iter().map(|table| table.name()).collect();
    let mut rows = 0;
    for trace in traces {
        let export = [
            "export", trace, "--force", "--format", "json", "--to", "to", "--tables",
        ];
        sandbox.portmortem([&export[..], &[names.join(",").as_str()]].concat());
        for table in &names {
            let query = format!("rows('{trace}', {table}).");
            let outcome = answers(&sandbox, AS_JSON, &query);
            let found = lines(&outcome.exits(0).out());
            let file = sandbox.path(&format!("to/{table}.json"));
            assert_eq!(found, lines(&fs::read_to_string(file).unwrap()), "{table}");
            rows += found.len();
        }
    }
    assert!(rows > 60_000, "{rows}");
}

/// What `events --where` lists is enumerated, over all streams.
#[test]
fn events_are_those_of_the_program() {
    let sandbox = with_traces(&["queens.pmt", "threads_exceptions.pmt"]);
    for (trace, condition) in [
        ("queens.pmt", "port = fail and predicate = attack/3"),
        ("queens.pmt", "port = call and took > 20us"),
        ("threads_exceptions.pmt", "event >= 0"),
        ("threads_exceptions.pmt", "port = exception"),
    ] {
        let query = format!("events('{trace}', '{condition}').");
        let found = lines(&answers(&sandbox, AS_JSON, &query).exits(0).out());
        let list = ["events", trace, "--format", "json", "--where", condition];
        let mut expected = lines(&sandbox.portmortem(list).out());
        for event in &mut expected {
            event["trace"] = Value::Null;
        }
        assert!(!expected.is_empty(), "{condition}");
        assert_eq!(found, expected, "{condition}");
    }
}

/// Backward is forward the other way round; folds see all events.
#[test]
fn both_directions_and_folds() {
    let sandbox = with_traces(&["queens.pmt"]);
    let program = "
number(Event, Number) :- Number = Event.seq.
both(Trace, Condition, Count) :-
    findall(N, pm_event(Trace, Condition, N, _), [First|Forward]),
    pm_event(Trace, First, Event),
    findall(N, ( pm_next(Event, Condition, E), number(E, N) ), Forward),
    last(Forward, Last),
    pm_event(Trace, Last, End),
    findall(N, ( pm_previous(End, Condition, E), number(E, N) ), Backward),
    reverse([Last|Backward], [First|Forward]),
    length(Backward, Count).
steps(Event, 0, Event) :- !.
steps(Event, N, Last) :- pm_next(Event, Next), pm_previous(Next, Event), N1 is N-1, steps(Next, N1, Last).
one(_, N0, N) :- N is N0+1.
even(Event, _, _) :- 0 =:= Event.seq mod 2.
";
    let queries = "
pm_open('queens.pmt', _T), both(_T, 'event >= 0', All), both(_T, 'port = redo', Redos), both(_T, 'predicate = permute/3 and outcome = fail', Fails).
pm_open('queens.pmt', _T), pm_event(_T, 0, _E), steps(_E, 100, _L), number(_L, N), \\+ pm_previous(_E, _).
pm_open('queens.pmt', _T), foldt(one, _T, 0, N), foldt(one, _T, 'port = fail', 0, F).
pm_open('queens.pmt', _T), foldt(even, _T, 0, _).
";
    let outcome = answers(&sandbox, program, queries);
    let count = |condition: &str| {
        let list = [
            "events",
            "queens.pmt",
            "--format",
            "json",
            "--where",
            condition,
        ];
        sandbox.portmortem(list).out().lines().count()
    };
    outcome.exits(0).prints(&format!(
        "All = {}\nRedos = {}\nFails = {}\nN = 100\nN = {}\nF = {}\nfalse\n",
        count("event >= 0") - 1,
        count("port = redo") - 1,
        count("predicate = permute/3 and outcome = fail") - 1,
        count("event >= 0"),
        count("port = fail"),
    ));
}

#[test]
fn errors_are_terms() {
    let sandbox = with_traces(&["queens.pmt"]);
    sandbox.write("no.pmt", "no trace");
    let mut damaged = fs::read(sample("queens.pmt")).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 4;
    sandbox.write("damaged.pmt", damaged);
    let program = "
kind(Goal, Kind) :- catch(Goal, error(Formal, _), true), Formal =.. [Name|Rest], ( Rest = [Of|_] -> Kind = Name-Of ; Kind = Name ).
closed(T) :- pm_open('queens.pmt', T), pm_close(T).
";
    let queries = "
kind(pm_open('no.pmt', _), K).
kind(pm_open('nowhere.pmt', _), K).
kind(pm_open(_, _), K).
kind(pm_close(_), K).
kind(pm_close(queens), K).
closed(_T), kind(pm_close(_T), K1), kind(pm_event(_T, _, _), K2), kind(pm_info(_T, events, _), K3).
pm_open('queens.pmt', _T), kind(pm_event(_T, 'colour = red', _, _), K1), kind(pm_row(_T, rows, _), K2).
pm_open('queens.pmt', _T), kind(pm_event(_T, x, _), K1), kind(pm_info(_T, colour, _), K2).
pm_open('queens.pmt', _T), kind(predicate_figures(_T, attack/3, [colour(_)]), K).
pm_open('damaged.pmt', _T), kind(pm_row(_T, edges, _), K1), kind(pm_event(_T, _, _), K2).
pm_open('damaged.pmt', _T, [damaged(true)]), pm_row(_T, edges, _), pm_info(_T, in_order, I), pm_event(_T, 'port = gap', _, _).
";
    let outcome = answers(&sandbox, program, queries);
    outcome.exits(0).prints(
        "K = domain_error-portmortem_trace\n\
         K = existence_error-source_sink\n\
         K = instantiation_error\n\
         K = instantiation_error\n\
         K = type_error-portmortem_trace\n\
         K1 = existence_error-portmortem_trace\n\
         K2 = existence_error-portmortem_trace\n\
         K3 = existence_error-portmortem_trace\n\
         K1 = domain_error-event_condition\n\
         K2 = domain_error-portmortem_table\n\
         K1 = type_error-nonneg\n\
         K2 = domain_error-portmortem_key\n\
         K = domain_error-portmortem_column\n\
         K1 = domain_error-undamaged_trace\n\
         K2 = domain_error-undamaged_trace\n\
         I = false\n",
    );
}

/// Traces that are forgotten are closed: no file stays mapped.
#[test]
fn forgotten_traces_do_not_leak() {
    let sandbox = with_traces(&["queens.pmt"]);
    let program = "
many(N) :- forall(between(1, N, _), ( pm_open('queens.pmt', T), once(pm_event(T, _, _)) )).
mapped(Count) :-
    read_file_to_string('/proc/self/maps', Maps, []),
    split_string(Maps, \"\\n\", \"\", Lines),
    aggregate_all(count, ( member(Line, Lines), sub_string(Line, _, _, _, \"queens.pmt\") ), Count).
";
    let queries = "
many(1000), garbage_collect_atoms, mapped(_Count), ( _Count =< 1 -> Left = few ; Left = _Count ).
aggregate_all(count, pm_info(_, trace, _), _Open), ( _Open =< 1 -> Left = few ; Left = _Open ).
";
    let outcome = answers(&sandbox, program, queries);
    outcome.exits(0).prints("Left = few\nLeft = few\n");
}

/// The scenarios of `docs/opium.md` answer what it says.
#[test]
fn the_scenarios_of_the_document() {
    let sandbox = with_traces(&["queens.pmt", "scan.pmt"]);
    let text = fs::read_to_string(repository("docs/opium.md")).unwrap();
    let blocks = |kind: &str| -> Vec<String> {
        let begin = format!("```{kind}\n");
        let parts = text.split(begin.as_str()).skip(1);
        parts
            .map(|part| part.split("```").next().unwrap().to_owned())
            .collect()
    };
    let (scenarios, asked) = (blocks("prolog"), blocks("queries"));
    assert!(scenarios.iter().all(|block| block.lines().count() <= 15));
    let (mut queries, mut expected) = (String::new(), String::new());
    for line in asked.iter().flat_map(|block| block.lines()) {
        match line.strip_prefix("?- ") {
            Some(query) => queries += &format!("{query}\n"),
            None => expected += &format!("{line}\n"),
        }
    }
    assert!(queries.lines().count() >= 5);
    let outcome = answers(&sandbox, &scenarios.join("\n"), &queries);
    outcome.exits(0).prints(&expected);
}
