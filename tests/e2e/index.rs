//! Indexes: where they are written, and that none is refused to a whole trace.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use portmortem_analyzer::index::Index;
use portmortem_analyzer::{Progress, ReplayOptions, Trace};
use portmortem_tests::patience::wait_until;
use portmortem_tests::{Sandbox, built, sample};
use portmortem_tracer::IndexLock;

/// Recorded it is a trace of more than 10 MB.
const LONG: &str = "
:- initialization(main, main).
main :- between(1, 2500, _), step(1000), fail.
main :- writeln(done).
step(0) :- !.
step(N) :- next(N, M), step(M).
next(N, M) :- M is N-1.
";

/// Each `fill/1` can be re-entered, inside the one that called it; the cut takes all of them.
const NESTED: &str = "
:- initialization(main, main).
main :- length(L, 300000), fill(L), !, last(L, X), writeln(X).
fill([]).
fill([a|T]) :- fill(T).
fill([b|T]) :- fill(T).
";

/// The names of all files, but for those of `home`.
fn files(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.directory()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name != "home").collect();
    names.sort();
    names
}

#[test]
fn a_long_recording_has_one() {
    let sandbox = Sandbox::with("long.pl", LONG);
    sandbox
        .portmortem(["record", "long.pl"])
        .succeeds()
        .prints("done\n");
    let path = sandbox.path("long.pmt");
    let has_calls = || {
        let index = Index::load(&Trace::open(&path).unwrap(), &path);
        index.is_ok_and(|index| index.calls().is_some())
    };
    wait_until("the index has the times of single calls", has_calls);
    assert_eq!(files(&sandbox), ["long.pl", "long.pmt", "long.pmt.index"]);
    sandbox
        .portmortem(["index", "long.pmt"])
        .succeeds()
        .prints("long.pmt.index: up to date\n");
    let with = sandbox.portmortem(["report", "long.pmt"]).succeeds().out();

    sandbox
        .portmortem(["record", "--no-index", "-o", "plain.pmt", "long.pl"])
        .exits(0);
    assert!(!sandbox.path("plain.pmt.index").exists());

    // A command that does not look at all of it writes none; one that does writes one; nothing is to be gained by a small one.
    fs::remove_file(sandbox.path("long.pmt.index")).unwrap();
    sandbox
        .portmortem(["report", "long.pmt", "--focus", "step/1"])
        .succeeds();
    assert!(!sandbox.path("long.pmt.index").exists());
    sandbox
        .portmortem(["report", "long.pmt"])
        .succeeds()
        .prints(&with);
    // A report did without slices: they are added.
    let has_slices = || {
        let index = Index::load(&Trace::open(&path).unwrap(), &path);
        index.is_ok_and(|index| index.pyramids().is_some())
    };
    assert!(!has_slices());
    let added = sandbox.portmortem(["index", "long.pmt"]).succeeds().out();
    assert!(!added.contains("up to date"), "{added}");
    assert!(has_slices());
    sandbox
        .portmortem(["index", "long.pmt"])
        .succeeds()
        .prints("long.pmt.index: up to date\n");
    fs::copy(sample("queens.pmt"), sandbox.path("queens.pmt")).unwrap();
    sandbox.portmortem(["report", "queens.pmt"]).succeeds();
    assert!(!sandbox.path("queens.pmt.index").exists());
}

/// What a command would make is there when it has waited.
#[test]
fn an_index_that_another_process_makes_is_waited_for() {
    let sandbox = Sandbox::with("long.pl", LONG);
    sandbox
        .portmortem(["record", "--no-index", "long.pl"])
        .exits(0);
    let path = sandbox.path("long.pmt");
    let lock = IndexLock::try_on(&path).unwrap();
    let start = |command: &str| {
        let run = sandbox.command(built::portmortem());
        run.args([command, "long.pmt"]).start()
    };
    let (making, reporting) = (start("index"), start("report"));
    let trace = Trace::open(&path).unwrap();
    let index = Index::build(&trace, &path, &ReplayOptions::default()).unwrap();
    assert!(index.find_slices(&trace, &Progress::default()));
    index.save(&path).unwrap();
    let made = fs::metadata(sandbox.path("long.pmt.index")).unwrap().ino();
    drop(lock);
    making
        .wait()
        .succeeds()
        .prints("long.pmt.index: up to date\n");
    reporting.wait().succeeds();
    let now = fs::metadata(sandbox.path("long.pmt.index")).unwrap().ino();
    assert_eq!(made, now);
}

/// The process that makes the index of a trace in this directory, as long as it is there.
fn maker(sandbox: &Sandbox) -> Option<(i32, Vec<PathBuf>)> {
    let program = sandbox.path("long.pl").into_os_string().into_vec();
    let entries = fs::read_dir("/proc").unwrap();
    let processes = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_maker = |pid: &i32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let directory = fs::read_link(format!("/proc/{pid}/cwd"));
        words.split(|byte| *byte == 0).any(|word| word == program)
            && directory.is_ok_and(|directory| directory == Path::new("/"))
    };
    let pid = processes.into_iter().find(is_maker)?;
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let open = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    Some((pid, open.collect()))
}

/// What waits for the end of the program does not wait for its index, and whatever becomes of that,
/// the trace is whole.
#[test]
fn what_makes_an_index_holds_nothing_and_may_be_killed() {
    let sandbox = Sandbox::with("long.pl", LONG);
    let program = sandbox.path("long.pl");
    let script = format!(
        "exec 7>held; \"$portmortem\" record {} 2>&1 | cat",
        program.display()
    );
    sandbox.sh(&script).exits(0).prints("done\n");
    // On an idle machine it may be done.
    if let Some((pid, open)) = maker(&sandbox) {
        let own = [PathBuf::from("/dev/null"), sandbox.path("long.pmt")];
        let is_own = |path: &&PathBuf| {
            let name = path.to_string_lossy();
            own.contains(path) || name.contains("long.pmt") || name.starts_with("/proc/")
        };
        let others: Vec<_> = open.iter().filter(|path| !is_own(path)).collect();
        // The file descriptors of the system's own, such as those of timers, have no path.
        let others = others.iter().filter(|path| path.is_absolute());
        assert_eq!(others.count(), 0, "{open:?}");
        // SAFETY: a plain system call. It is our own, or has just ended.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
    wait_until("no process makes the index", || maker(&sandbox).is_none());
    sandbox
        .portmortem(["verify", "long.pmt"])
        .succeeds()
        .shows("no damage, nothing lost");
    sandbox
        .portmortem(["index", "long.pmt"])
        .succeeds()
        .shows("long.pmt.index: ");
}

#[test]
fn every_whole_trace_can_have_one() {
    let sandbox = Sandbox::with("nested.pl", NESTED);
    sandbox
        .portmortem(["record", "nested.pl"])
        .exits(0)
        .prints("a\n");
    sandbox.portmortem(["verify", "nested.pmt"]).succeeds();
    let before = sandbox
        .portmortem(["report", "nested.pmt"])
        .succeeds()
        .out();
    sandbox.portmortem(["index", "nested.pmt"]).succeeds();
    sandbox
        .portmortem(["report", "nested.pmt"])
        .succeeds()
        .prints(&before);
}

/// Kills itself after some million events.
const KILLED: &str = "\
:- initialization(main, main).
main :-
    forall(between(1, 1000000, X), one(X)),
    current_prolog_flag(pid, Pid),
    format(atom(Kill), 'kill -KILL ~w', [Pid]),
    shell(Kill).
one(X) :- Y is X+1, other(Y).
other(_).
";

/// How far the replay of a trace came whose recording did not end is kept where its index would be.
#[test]
fn what_did_not_end_is_read_once() {
    let sandbox = Sandbox::with("run.pl", KILLED);
    sandbox.portmortem(["record", "run.pl"]);
    let kept = sandbox.path("run.pmt.index");
    assert!(!kept.exists());
    let report = || {
        let of = sandbox.portmortem(["report", "run.pmt", "--format", "csv"]);
        of.out()
    };
    let first = report();
    assert!(first.contains("1000000"), "{first}");
    let bytes = fs::read(&kept).unwrap();
    assert!(bytes.starts_with(b"PMTSOFAR"));
    assert_eq!(report(), first);
    // One that is damaged is made again, and is no worse than none.
    for at in [3, 9, 30, bytes.len() / 2] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        fs::write(&kept, &damaged).unwrap();
        assert_eq!(report(), first);
        assert_eq!(fs::read(&kept).unwrap(), bytes);
    }
}
