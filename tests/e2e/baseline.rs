//! `portmortem record --baseline`: the program runs again, and net times are fitted to that. How well they fit, the tests of the analyzer
//! say, with times that are given; here nothing depends on how long anything took.

use std::fs;
use std::path::Path;

use portmortem_analyzer::figures::Caller;
use portmortem_analyzer::{ReplayOptions, Trace, replay};
use portmortem_tests::{Sandbox, Status, built};
use portmortem_tracer::format::Baseline;

/// Reads terms, and does some work for each; ends with the status that the last one says.
const PROGRAM: &str = "
:- initialization(main, main).
main :- read(X), go(X, 0).
go(end_of_file, Status) :- !, format('status ~w~n', [Status]), halt(Status).
go(N, _) :- numlist(1, 30, L), forall(between(1, 40, _), nrev(L, _)), read(X), go(X, N).
nrev([], []).
nrev([X|Xs], R) :- nrev(Xs, R0), app(R0, [X], R).
app([], L, L).
app([X|Xs], L, [X|Ys]) :- app(Xs, L, Ys).
";

fn open(sandbox: &Sandbox) -> Trace {
    sandbox.portmortem(["verify", "run.pmt"]).succeeds();
    Trace::open(&sandbox.path("run.pmt")).unwrap()
}

fn record(sandbox: &Sandbox, redirection: &str) -> portmortem_tests::Outcome {
    let portmortem = built::portmortem().display();
    sandbox.sh(&format!(
        "{portmortem} record --force --baseline -o run.pmt program.pl {redirection}"
    ))
}

#[test]
fn net_times_are_fitted_to_what_the_program_takes() {
    let sandbox = Sandbox::with("program.pl", PROGRAM);
    sandbox.write("input", "1. 2. 0.");
    let recorded = record(&sandbox, "< input");
    // Once: what further runs print is put away.
    recorded.exits(0).prints("status 0\n").demand(
        recorded.err().is_empty(),
        "nothing to say of a baseline that was found",
    );
    let baseline = fitted(&sandbox);
    let runs = match baseline.runs {
        1 => "by 1 unrecorded run ".to_owned(),
        runs => format!("by {runs} unrecorded runs "),
    };
    let report = sandbox.portmortem(["report", "run.pmt"]);
    let text = report.succeeds().out();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&runs), "{text}");
    assert!(text.contains("their sum is measured"));
    sandbox.portmortem(["index", "run.pmt"]).succeeds();
    let indexed = sandbox.portmortem(["report", "run.pmt"]);
    assert_eq!(indexed.succeeds().out(), report.out());
}

/// The baseline, to which the times of each outermost predicate are fitted.
fn fitted(sandbox: &Sandbox) -> Baseline {
    let trace = open(sandbox);
    let baseline = *trace.baseline().unwrap();
    assert!(baseline.ns > 0 && baseline.runs > 0, "{baseline:?}");
    let profile = replay(&trace, &ReplayOptions::default());
    let mut outermost: Vec<u32> = profile
        .edges
        .keys()
        .filter(|(caller, _)| *caller == Caller::Root)
        .map(|(_, predicate)| trace.predicates()[*predicate as usize].declared.id)
        .collect();
    outermost.sort_unstable();
    let engine = |id: &u32| {
        let index = trace.predicate_index(*id).unwrap();
        trace.predicates()[index as usize].is_engine_work()
    };
    outermost.retain(|id| !engine(id));
    let fits = trace.fits().iter().filter_map(|fit| fit.predicate);
    let mut fits: Vec<u32> = fits.filter(|id| !engine(id)).collect();
    fits.sort_unstable();
    assert_eq!(fits, outermost, "{:?}", trace.fits());
    let net = profile.net.unwrap();
    assert!(net.net_ticks <= net.recorded_ticks);
    baseline
}

/// While a recorded thread works another one waits.
const THREADS: &str = "
:- initialization(main, main).
main :- thread_create(work, Id), thread_join(Id, Status), writeln(Status).
work :- fib(19, _).
fib(0, 0) :- !.
fib(1, 1) :- !.
fib(N, F) :- A is N-1, fib(A, FA), B is N-2, fib(B, FB), F is FA+FB.
";

#[test]
fn threads_that_wait_for_recorded_ones_have_fits_of_their_own() {
    let sandbox = Sandbox::with("program.pl", THREADS);
    record(&sandbox, "< /dev/null").exits(0).prints("true\n");
    fitted(&sandbox);
    let trace = open(&sandbox);
    let name = |id| trace.predicate_name(trace.predicate_index(id).unwrap());
    let fits = trace.fits().iter().filter_map(|fit| fit.predicate);
    let names: Vec<&str> = fits.map(name).collect();
    assert!(
        names.contains(&"main/0") && names.contains(&"work/0"),
        "{names:?}"
    );
}

#[test]
fn the_exit_status_is_that_of_the_recorded_run() {
    let sandbox = Sandbox::with("program.pl", PROGRAM);
    sandbox.write("input", "0. 7.");
    record(&sandbox, "< input").exits(7).prints("status 7\n");
    assert!(open(&sandbox).baseline().is_some());
}

#[test]
fn input_from_a_file_begins_where_it_began() {
    let sandbox = Sandbox::with("program.pl", PROGRAM);
    sandbox.write("input", "8.\n0. 0.");
    let portmortem = built::portmortem().display();
    let recorded = sandbox.sh(&format!(
        "{{ read first; echo $first; {portmortem} record --baseline -o run.pmt program.pl; }} < input"
    ));
    recorded.exits(0).prints("8.\nstatus 0\n");
    assert!(open(&sandbox).baseline().is_some(), "{recorded}");
}

#[test]
fn without_a_baseline_the_recording_is_as_it_was() {
    let sandbox = Sandbox::with("program.pl", PROGRAM);
    // What a pipe held is gone.
    let portmortem = built::portmortem().display();
    let recorded = sandbox.sh(&format!(
        "echo '1. 3.' | {portmortem} record --force --baseline -o run.pmt program.pl"
    ));
    recorded
        .exits(3)
        .prints("status 3\n")
        .says("no baseline: the program ended differently");
    assert_eq!(open(&sandbox).baseline(), None);

    sandbox.write(
        "program.pl",
        "main :- \\+ exists_file(done), open(done, write, S), close(S).\nthen.\n",
    );
    let goal = sandbox.portmortem([
        "record",
        "--force",
        "--baseline",
        "-o",
        "run.pmt",
        "-g",
        "(main ; then)",
        "program.pl",
    ]);
    goal.exits(0)
        .says("the program did something else when it ran again");
    assert_eq!(open(&sandbox).baseline(), None);
}

/// The second run finds what the first one left.
const WITH_STATE: &str = "
:- initialization(main, main).
main :- exists_file(done), !, w(20_000).
main :- open(done, write, S), close(S), w(200_000).
w(0) :- !.
w(N) :- M is N-1, w(M).
";

#[test]
fn a_second_run_that_does_other_work_is_no_baseline() {
    let sandbox = Sandbox::with("program.pl", WITH_STATE);
    let recorded = record(&sandbox, "< /dev/null");
    recorded
        .exits(0)
        .says("no baseline: the runs did different work: ")
        .says("inferences, and then");
    let trace = open(&sandbox);
    assert_eq!((trace.baseline(), trace.fits()), (None, &[][..]));
    // What the second run did is the same in a third one.
    record(&sandbox, "< /dev/null").exits(0);
    assert!(open(&sandbox).baseline().is_some());
}

#[test]
fn an_outermost_predicate_that_calls_itself_cannot_be_timed() {
    let sandbox = Sandbox::with(
        "program.pl",
        "down(0) :- !.\ndown(N) :- M is N-1, down(M), true.\n",
    );
    let options = ["record", "--baseline", "-o", "run.pmt", "-g", "down(5000)"];
    let recorded = sandbox.portmortem(options.into_iter().chain(["program.pl"]));
    recorded
        .exits(0)
        .says("no baseline")
        .says("begin with one that does not");
    assert_eq!(open(&sandbox).baseline(), None);
}

#[test]
fn a_recording_that_was_cut_short_has_none() {
    let sandbox = Sandbox::with(
        "program.pl",
        "main :- current_prolog_flag(pid, P), format(atom(C), 'kill -9 ~w', [P]), shell(C), sleep(60).\n",
    );
    let recorded = sandbox.portmortem([
        "record",
        "--baseline",
        "-o",
        "run.pmt",
        "-g",
        "main",
        "program.pl",
    ]);
    recorded.demand(recorded.status == Status::Signal(9), "death by the signal");
    sandbox
        .portmortem(["report", "run.pmt"])
        .exits(3)
        .shows("the run did not end");
}

#[test]
fn what_it_does_not_go_with() {
    let sandbox = Sandbox::with("program.pl", PROGRAM);
    for options in [["--symbolic", "--force"], ["--max-size", "10M"]] {
        let refused = sandbox.portmortem(
            ["record", "--baseline", "program.pl"]
                .into_iter()
                .chain(options),
        );
        refused.exits(2).says("cannot be used with");
    }
    assert!(!fs::exists(sandbox.path("program.pmt")).unwrap());
}

#[test]
fn nothing_stays_in_the_temporary_directory() {
    let sandbox = Sandbox::with("program.pl", "main.\n");
    fs::create_dir(sandbox.path("tmp")).unwrap();
    let mut run = sandbox.command(Path::new(built::portmortem())).args([
        "record",
        "--baseline",
        "-o",
        "run.pmt",
        "-g",
        "main",
        "program.pl",
    ]);
    run.command.env("TMPDIR", sandbox.path("tmp"));
    run.wait().succeeds();
    assert_eq!(fs::read_dir(sandbox.path("tmp")).unwrap().count(), 0);
}
