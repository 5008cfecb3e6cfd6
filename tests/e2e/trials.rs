//! What recording costs is found out before the first recording, by the recorder that makes it, and
//! kept for later ones.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use portmortem_analyzer::Trace;
use portmortem_tests::{Outcome, Profiled, Sandbox, built};
use portmortem_tracer::format::{Record, Technique, Trials, crc32, encode_record, read_record};

use crate::library::with_pack;

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

/// The only file that is kept.
fn only_one(cache: &Path) -> PathBuf {
    let [file] = &kept(cache)[..] else {
        panic!("one is kept: {:?}", kept(cache));
    };
    file.clone()
}

/// The notes of a file that is kept, its trials last: for whom they are, and how fast the engine
/// was then.
fn decode(file: &[u8]) -> (String, String, Trials) {
    let (records, _) = file.split_last_chunk::<4>().unwrap();
    let mut at = 0;
    let mut next = || read_record(records, &mut at).unwrap();
    match (next(), next(), next()) {
        (Record::Note { text: key }, Record::Note { text: pace }, Record::Trials(trials)) => {
            (key, pace, trials)
        }
        other => panic!("{other:?}"),
    }
}

fn encode(key: &str, pace: &str, trials: &Trials) -> Vec<u8> {
    let mut file = Vec::new();
    for text in [key, pace].map(str::to_owned) {
        encode_record(&Record::Note { text }, &mut file).unwrap();
    }
    encode_record(&Record::Trials(trials.clone()), &mut file).unwrap();
    let checksum = crc32(&file);
    file.extend_from_slice(&checksum.to_le_bytes());
    file
}

/// Records, and makes sure that the trace has the trials that are kept then: those that were kept
/// before, or new ones, as fast as the machine is just now.
fn has_what_is_kept(sandbox: &Sandbox, cache: &Path, options: &[&str], file: &Path) {
    says_what_it_says(&record(sandbox, cache, options));
    let (_, _, kept) = decode(&fs::read(file).unwrap());
    assert_eq!(trials(sandbox), kept, "{options:?}");
    assert!(kept.trials.len() > 2);
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
        let found = trials(&sandbox);
        let callbacks: u64 = found.callbacks.iter().sum();
        assert_eq!(callbacks > 0, technique == Technique::Stubs);
        let [nothings, nevers, rest @ ..] = &found.trials[..] else {
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

/// Whether they are of use is decided by times: `tracer/swi/tests/units.rs` tests that.
#[test]
fn they_are_kept() {
    let sandbox = Sandbox::with("a.pl", PROGRAM);
    let cache = sandbox.path("cache");
    says_what_it_says(&record(&sandbox, &cache, &[]));
    let file = only_one(&cache);
    for _ in 0..3 {
        has_what_is_kept(&sandbox, &cache, &[], &file);
        assert_eq!(only_one(&cache), file);
    }
}

/// Where the machine is as fast as then. A mark in them tells them from new ones.
#[test]
fn what_is_kept_is_used() {
    let sandbox = with_pack("");
    let cache = sandbox.path("cache");
    let run = |goal: &str| {
        let mut run = sandbox.command(Path::new("swipl"));
        run.command.env("XDG_CACHE_HOME", &cache);
        let run = run.args(["-g", goal, "-t", "halt", "program.pl"]);
        run.wait().succeeds();
    };
    run("pm_record(one(_), [output('run.pmt')])");
    let file = only_one(&cache);
    let (key, _, mut marked) = decode(&fs::read(&file).unwrap());
    marked.empty = 12_345_678;
    // However busy the machine was.
    for trial in &mut marked.trials {
        trial.ticks = trial.untraced + 1;
    }
    let bytes = encode(&key, "1000", &marked);
    fs::write(&file, &bytes).unwrap();
    run("portmortem:'$kept_trials'(stubs, [], 1000), pm_record(one(_), [output('again.pmt')])");
    let trace = Trace::open(&sandbox.path("again.pmt")).unwrap();
    assert_eq!(trace.trials(), Some(&marked));
    assert_eq!(fs::read(&file).unwrap(), bytes);
}

#[test]
fn what_is_kept_is_of_one_way_to_record() {
    let sandbox = Sandbox::with("a.pl", PROGRAM);
    let cache = sandbox.path("cache");
    let mut before: Vec<PathBuf> = Vec::new();
    for options in [&[][..], &["--wrappers-only"], &["--byrd"]] {
        says_what_it_says(&record(&sandbox, &cache, options));
        let mut new = kept(&cache);
        new.retain(|file| !before.contains(file));
        let [file] = &new[..] else {
            panic!("{options:?}: {new:?}");
        };
        has_what_is_kept(&sandbox, &cache, options, file);
        before.push(file.clone());
    }
    // Nothing is measured.
    says_what_it_says(&record(&sandbox, &cache, &["--symbolic"]));
    assert_eq!(kept(&cache).len(), 3);
}

#[test]
fn a_damaged_file_is_replaced() {
    let sandbox = Sandbox::with("a.pl", PROGRAM);
    let cache = sandbox.path("cache");
    says_what_it_says(&record(&sandbox, &cache, &[]));
    let file = only_one(&cache);
    let whole = fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for damaged in [&whole[..whole.len() - 1], &flipped, b"", &[0xff; 100_000]] {
        fs::write(&file, damaged).unwrap();
        has_what_is_kept(&sandbox, &cache, &[], &file);
        assert_ne!(fs::read(&file).unwrap(), damaged);
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
