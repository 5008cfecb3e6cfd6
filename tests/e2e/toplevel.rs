//! `portmortem/1`, `pm_report/1` and `pm_advise/0`: what they print, and what they leave.

use std::fs;
use std::path::Path;

use portmortem_tests::{Outcome, Sandbox, built};

use super::library::{calls, run, whole, with_pack};

/// Runs goals with the program at hand.
fn run_with_program(sandbox: &Sandbox, goal: &str) -> Outcome {
    let mut swipl = sandbox.command(Path::new("swipl"));
    swipl.command.env("PORTMORTEM", built::portmortem());
    swipl.args(["-g", goal, "-t", "halt", "program.pl"]).wait()
}

#[test]
fn reports_of_a_running_recording() {
    let sandbox = with_pack("");
    let goal = "pm_start('a.pmt', []), forall(between(1, 30, _), one(_)), pm_report,         pm_reset, forall(between(1, 7, _), next(1, _)), pm_report(next/2), pm_report([top(1), sort(calls)]),         pm_report([time('..')]), one(_), pm_stop, pm_report(one/1)";
    let outcome = run_with_program(&sandbox, goal);
    outcome.exits(0);
    let out = outcome.out();
    let reports: Vec<&str> = out.split("SWI-Prolog 9").skip(1).collect();
    let [first, of_one, since, whole_time, of_the_end] = reports[..] else {
        panic!("{out}");
    };
    assert!(first.contains("one/1") && first.contains("num/1") && !first.contains("next/2"));
    assert!(of_one.contains("next/2") && of_one.contains("\ntime: ") && !of_one.contains("num/1"));
    assert!(since.contains("next/2") && !since.contains("one/1"));
    assert!(whole_time.contains("next/2") && whole_time.contains("one/1"));
    // When the recording has ended, the same part of it is reported.
    assert!(of_the_end.contains("one/1") && of_the_end.contains("\ntime: "));
    let profiled = whole(&sandbox, "a.pmt");
    assert_eq!(calls(&profiled, "one/1"), 31);
    assert_eq!(calls(&profiled, "next/2"), 7);
    let of_program = |name: &String| !name.contains(':');
    let names = profiled.names().into_iter().filter(of_program);
    assert_eq!(names.collect::<Vec<_>>(), ["next/2", "num/1", "one/1"]);
}

/// It is what `portmortem advise` says, while the recording goes on and when it has ended.
#[test]
fn advice_on_a_recording() {
    let sandbox = with_pack("");
    let advice = |goal: &str| {
        let outcome = run_with_program(&sandbox, goal);
        outcome.exits(0);
        let out = outcome.out();
        let (_, after) = out.split_once("here:\n").unwrap();
        after.to_owned()
    };
    let running = "pm_start('a.pmt', []), forall(between(1, 30, _), one(_)), writeln('here:'), pm_advise, pm_stop";
    let running = advice(running);
    assert!(running.contains(" events in 1 stream"), "{running}");
    for (trace, goal) in [
        (
            "b.pmt",
            "pm_start('b.pmt', []), one(_), pm_stop, writeln('here:'), pm_advise",
        ),
        (
            "c.pmt",
            "pm_record(one(_), [output('c.pmt')]), writeln('here:'), pm_advise",
        ),
        (
            "d.pmt",
            "forall(portmortem(one(_), [output('d.pmt')]), true), writeln('here:'), pm_advise",
        ),
    ] {
        let said = advice(goal);
        let trace = sandbox.path(trace).display().to_string();
        let advise = sandbox.portmortem(["advise", &trace]);
        assert_eq!(said, advise.exits(0).out(), "{goal}");
    }
    let none = run_with_program(&sandbox, "pm_advise, one(X), writeln(X)");
    none.exits(0).says("nothing has been recorded");
}

#[test]
fn reports_that_cannot_be() {
    let sandbox = with_pack("");
    let goal = "pm_start('a.pmt', []),         catch(pm_report([colour(red)]), error(portmortem_error(Why), _), (write(Why), nl)),         setenv('PORTMORTEM', 'no/such program'), pm_report, one(X), writeln(X), pm_stop";
    let outcome = run_with_program(&sandbox, goal);
    outcome
        .succeeds()
        .shows("no option of a report: colour(red)")
        .shows("no/such program")
        .shows("\n2\n");
    run_with_program(
        &sandbox,
        "pm_reset, pm_report, pm_report(one/1), one(X), writeln(X)",
    )
    .exits(0)
    .prints("2\n")
    .says("nothing has been recorded");
}

/// As its goal: solutions, failure, exceptions, and no choicepoint where it has none.
#[test]
fn portmortem_of_a_goal() {
    let sandbox = with_pack("");
    let goal = "findall(X, portmortem(one(X), [output('a.pmt')]), Xs), print(xs(Xs)), nl, \
         call_cleanup(portmortem(next(1, Y)), Det = true), print(det(Det, Y)), nl, \
         ( portmortem(num(9)) -> true ; writeln(failed) ), \
         catch(portmortem(thrower), Ball, (print(caught(Ball)), nl)), \
         ( portmortem(num(Z), [output('b.pmt')]), Z >= 2 -> print(z(Z)), nl ; true )";
    let outcome = run_with_program(&sandbox, goal);
    outcome
        .succeeds()
        .shows("The trace is a.pmt: portmortem tui a.pmt\nxs([2,3])\n")
        .shows("\ndet(true,2)\n")
        .shows("\nfailed\n")
        .shows("\ncaught(ball)\n")
        .shows("The trace is b.pmt: portmortem tui b.pmt\nz(2)\n")
        .shows("one/1")
        .shows("thrower/0");
    let profiled = whole(&sandbox, "a.pmt");
    let row = profiled.row("one/1");
    assert_eq!((row.calls, row.exits_nondet, row.redos), (1, 1, 1));
    // The cut is told before its handler ends the recording.
    assert_eq!(whole(&sandbox, "b.pmt").row("num/1").pending, 0);
    run(&sandbox, "portmortem(one(_), [output('a.pmt')])").says("exists already");
}

/// Its trace is there until the process ends, also where the goal ends it. Nothing is left then.
#[test]
fn the_trace_of_portmortem_is_temporary() {
    let sandbox = with_pack("");
    fs::create_dir(sandbox.path("tmp")).unwrap();
    let temporary = |goal: &str| {
        let mut swipl = sandbox.command(Path::new("swipl"));
        swipl.command.env("PORTMORTEM", built::portmortem());
        let place = format!(
            "set_prolog_flag(tmp_dir, '{}')",
            sandbox.path("tmp").display()
        );
        let outcome = swipl
            .args(["-g", &place, "-g", goal, "-t", "halt", "program.pl"])
            .wait();
        for directory in [sandbox.path("tmp"), sandbox.directory().to_owned()] {
            let left = fs::read_dir(directory).unwrap();
            let names = left.map(|entry| entry.unwrap().file_name());
            let traces = names.filter(|name| name.to_string_lossy().contains("portmortem_"));
            assert_eq!(traces.count(), 0, "{goal}");
        }
        assert!(!sandbox.path("recording.pmt").exists());
        outcome
    };
    let first = "once(portmortem(one(_))), portmortem(next(1, _)), writeln(here), pm_report(next/2), \
                 pm_report([top(1), sort(calls)]), current_prolog_flag(tmp_dir, T), directory_files(T, Fs), \
                 forall((member(F, Fs), sub_atom(F, _, _, _, portmortem)), writeln(there))";
    let outcome = temporary(first);
    let out = outcome.exits(0).out();
    let (_, after) = out.split_once("here\n").unwrap();
    assert!(
        after.contains("next/2") && !after.contains("one/1"),
        "{out}"
    );
    assert!(after.ends_with("\nthere\n"), "{out}");
    temporary("portmortem((one(_), halt(3)))")
        .exits(3)
        .shows("one/1")
        .shows("The trace goes with this process");
    // The child of a fork has nothing to report, and nothing to remove.
    let forks = "portmortem((one(_), fork(P), ( P == child -> halt ; wait(P, _) ), halt(4)))";
    let out = temporary(forks).exits(4).out();
    assert_eq!(out.matches("The trace goes").count(), 1, "{out}");
}

/// A goal of a built-in predicate is recorded as one of a clause.
#[test]
fn portmortem_of_a_built_in_predicate() {
    let sandbox = with_pack("");
    let goal = "portmortem(findall(X, between(1, 300000, X), _), [output('a.pmt')]), \
                call_cleanup(pm_record(between(1, 3, Y), [output('b.pmt')]), Det = true), \
                writeln(Det-Y), pm_record((between(1, 5, Z), Z > 3, !), [output('c.pmt')]), writeln(Z), \
                catch(portmortem(1), error(Error, _), (print(Error), nl))";
    run_with_program(&sandbox, goal)
        .exits(0)
        .shows("\ntrue-1\n4\n")
        .shows("\ntype_error(callable,1)\n");
    let row = |trace: &str, name: &str| {
        let profiled = whole(&sandbox, trace);
        let row = profiled.row(name);
        (row.calls, row.redos)
    };
    assert_eq!(row("a.pmt", "'$bags':findall/3"), (1, 0));
    assert_eq!(row("a.pmt", "system:between/3"), (1, 299_999));
    assert_eq!(row("b.pmt", "system:between/3"), (1, 0));
    assert_eq!(row("c.pmt", "system:between/3"), (1, 3));
}
