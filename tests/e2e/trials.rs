//! What recording costs is found out before the first recording, by the recorder that makes it, and
//! kept for later ones.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use portmortem_analyzer::Trace;
use portmortem_tests::{Outcome, Profiled, Sandbox, built};
use portmortem_tracer::format::{Technique, Trials};

const PROGRAM: &str = "
:- initialization(main, main).
:- use_module(library(lists)).
main :- findall(X-Y, pair(X, Y), Pairs), last(Pairs, Last), writeln(Last).
pair(X, Y) :- member(X, [1,2,3]), member(Y, [a,b]), msort([X,Y], [_|_]).
";

/// Calls that are not last ones, last calls and exits of the first of them; failures of the second:
/// they call a predicate 200 times.
const CALLS: u64 = 200;

fn record(sandbox: &Sandbox, cache: impl AsRef<OsStr>, options: &[&str]) -> Outcome {
    let mut run = sandbox.command(built::portmortem());
    run.command.env("XDG_CACHE_HOME", cache);
    let arguments = [&["record", "--force", "-o", "run.pmt"], options, &["a.pl"]].concat();
    run.args(arguments).wait()
}

fn says_what_it_says(outcome: &Outcome) {
    outcome.exits(0).prints("3-b\n");
}

fn trials(sandbox: &Sandbox) -> Trials {
    let trace = Trace::open(&sandbox.path("run.pmt")).unwrap();
    trace.trials().expect("trials").clone()
}

/// Files that are kept.
fn kept(cache: &Path) -> Vec<PathBuf> {
    match fs::read_dir(cache.join("portmortem")) {
        Ok(files) => files.map(|file| file.unwrap().path()).collect(),
        // There never was one.
        Err(_) => Vec::new(),
    }
}

/// Records until so many files are kept: trials that say that a recorded program is faster are
/// not, and others that use the machine make such.
fn record_until(number: usize, sandbox: &Sandbox, cache: &Path, options: &[&str]) -> Vec<PathBuf> {
    for _ in 0..50 {
        says_what_it_says(&record(sandbox, cache, options));
        let files = kept(cache);
        if files.len() == number {
            return files;
        }
        assert_eq!(files.len(), number - 1, "{options:?}");
    }
    panic!("never kept: {options:?}");
}

#[test]
fn they_are_recorded_as_the_program_is() {
    for (options, technique) in [
        (&[][..], Technique::Stubs),
        (&["--wrappers-only"], Technique::Ports),
    ] {
        let sandbox = Sandbox::with("a.pl", PROGRAM);
        says_what_it_says(&record(&sandbox, sandbox.path("cache"), options));
        let trace = Trace::open(&sandbox.path("run.pmt")).unwrap();
        assert_eq!(trace.technique(), Some(technique));
        let with = match technique {
            Technique::Stubs => "with stubs",
            Technique::Ports => "with ports",
        };
        sandbox.portmortem(["info", "run.pmt"]).exits(0).shows(with);
        let [nothings, nevers, rest @ ..] = &trials(&sandbox).trials[..] else {
            panic!("no trials");
        };
        let [calls, tails, exits, .., fails, _, _] = nothings.counts;
        assert_eq!(
            (calls, tails, exits, fails),
            (CALLS + 1, CALLS, CALLS + 1, 0)
        );
        assert_eq!(nevers.counts[5], CALLS);
        let every_kind = |kind: usize| rest.iter().any(|trial| trial.counts[kind] > 0);
        assert!((0..8).all(every_kind), "{options:?}");
    }
}

#[test]
fn they_are_kept() {
    let sandbox = Sandbox::with("a.pl", PROGRAM);
    let cache = sandbox.path("cache");
    let mut before = Trials::default();
    // They are measured again while the machine is much slower or quicker than it was.
    for _ in 0..50 {
        says_what_it_says(&record(&sandbox, &cache, &[]));
        let now = trials(&sandbox);
        if now == before {
            return;
        }
        before = now;
    }
    panic!("never used");
}

#[test]
fn what_is_kept_is_of_one_way_to_record() {
    let sandbox = Sandbox::with("a.pl", PROGRAM);
    let cache = sandbox.path("cache");
    for (index, options) in [&[][..], &["--wrappers-only"], &["--byrd"]]
        .iter()
        .enumerate()
    {
        record_until(index + 1, &sandbox, &cache, options);
    }
    // Nothing is measured.
    says_what_it_says(&record(&sandbox, &cache, &["--symbolic"]));
    assert_eq!(kept(&cache).len(), 3);
}

#[test]
fn a_damaged_file_is_replaced() {
    let sandbox = Sandbox::with("a.pl", PROGRAM);
    let cache = sandbox.path("cache");
    let [file] = &record_until(1, &sandbox, &cache, &[])[..] else {
        panic!("one is kept");
    };
    let whole = fs::read(file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for damaged in [&whole[..whole.len() - 1], &flipped, b"", &[0xff; 100_000]] {
        fs::write(file, damaged).unwrap();
        says_what_it_says(&record(&sandbox, &cache, &[]));
        assert!(fs::read(file).ok().as_deref() != Some(damaged));
        assert!(trials(&sandbox).trials.len() > 2);
    }
}

#[test]
fn where_nothing_can_be_kept_they_are_measured() {
    let sandbox = Sandbox::with("a.pl", PROGRAM);
    let file = sandbox.write("file", "");
    let directory = sandbox.path("elsewhere");
    fs::create_dir_all(&directory).unwrap();
    for cache in [
        file.as_os_str(),
        OsStr::new("/proc/none"),
        OsStr::new("elsewhere"),
    ] {
        says_what_it_says(&record(&sandbox, cache, &[]));
        assert!(trials(&sandbox).trials.len() > 2);
    }
    // A relative path counts as none.
    assert_eq!(fs::read_dir(directory).unwrap().count(), 0);
}

/// Trials run code of libraries and of the system in the same process, and leave it as it was.
#[test]
fn the_recording_is_the_same_after_them() {
    let sandbox = Sandbox::with("a.pl", PROGRAM);
    let cache = sandbox.path("cache");
    let counts = |options: &[&str]| {
        says_what_it_says(&record(&sandbox, &cache, options));
        Profiled::of(&sandbox.path("run.pmt")).calls_and_exits()
    };
    for options in [&[][..], &["--libraries"]] {
        let _ = fs::remove_dir_all(&cache);
        let after_them = counts(options);
        assert!(after_them.keys().any(|name| name.1 == "pair"));
        for _ in 0..3 {
            assert_eq!(counts(options), after_them);
        }
    }
}
