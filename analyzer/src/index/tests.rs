use std::sync::atomic::AtomicBool;

use bincode::error::DecodeError;
use portmortem_tracer::format::{Dialect, Header, Outcome, StreamKind};
use portmortem_tracer::{NewPredicate, Options, Recorder};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rustix::fs::{FileType, Mode};

use super::bytes::{self, HEAD_BYTES};
use super::*;
use crate::analysis::Analysis;
use crate::progress::Progress;
use crate::replay::replay;
use crate::replay::tests::{long_script, long_trace};
use crate::scope::{Filter, Window};
use crate::walk::Walk;

/// A trace file and its index, a checkpoint every few blocks.
fn indexed(directory: &Path) -> (PathBuf, Trace, Index) {
    let mut runner = TestRunner::deterministic();
    let script = long_script().new_tree(&mut runner).unwrap().current();
    let path = directory.join("run.pmt");
    fs::write(&path, long_trace(&script)).unwrap();
    let trace = Trace::open(&path).unwrap();
    let index = Index::build_every(1000, &trace, &path, &ReplayOptions::default()).unwrap();
    assert!(index.contents.checkpoints.len() > 3);
    (path, trace, index)
}

#[test]
fn the_profile_is_that_of_the_replay() {
    let directory = tempfile::tempdir().unwrap();
    let (path, trace, index) = indexed(directory.path());
    index.save(&path).unwrap();
    let index = Index::load(&trace, &path).unwrap();
    assert_eq!(index.profile(), replay(&trace, &ReplayOptions::default()));
}

/// Of a trace that has one predicate so far.
fn recorder_of_one(path: &Path) -> (Recorder, u32) {
    let header = Header::of_this_process("test engine");
    let recorder = Recorder::create(path, &header, &Options::default()).unwrap();
    let predicate = recorder.predicate(NewPredicate::named("user", "p", 0));
    (recorder, predicate)
}

/// They are kept only where there is an index, and only of its trace.
#[test]
fn the_times_of_single_calls_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let (path, trace, index) = indexed(directory.path());
    let scope = Arc::new(Scope::of(&trace, &Filters::default()));
    let calls = find_calls(&trace, &path);
    assert_eq!(*calls, Calls::of(&trace, &scope));
    assert!(!Index::path_of(&path).exists());
    index.save(&path).unwrap();
    let everything = ReplayOptions::default();
    assert_eq!(known(&trace, &path, &everything).calls, None);
    let wanted = CallsOnRequest::new(scope);
    let with_calls = ReplayOptions {
        calls: Some(&wanted),
        ..everything.clone()
    };
    let found = known(&trace, &path, &with_calls);
    assert_eq!(found.calls.as_ref(), Some(&calls));
    let kept = known(&trace, &path, &everything);
    assert_eq!((kept.profile, kept.calls), (index.profile(), Some(calls)));
}

/// What the screens had to find once they know from then on.
#[test]
fn what_the_screens_found_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let (path, trace, index) = indexed(directory.path());
    index.save(&path).unwrap();
    let trace = Arc::new(trace);
    let open = |filters| {
        let progress = Progress::default();
        Analysis::explored(Arc::clone(&trace), &path, filters, &progress).unwrap()
    };
    let mut window = Filters::default();
    window.push(Filter::Window(Window {
        from: 0,
        until: u64::MAX,
    }));
    let part = open(window);
    assert!(part.find_calls(&Progress::default()));
    let first = open(Filters::default());
    assert_eq!(first.known_calls(), None, "those of a part are others");
    assert!(first.find_calls(&Progress::default()));
    let second = open(Filters::default());
    assert_eq!(second.known_calls(), first.known_calls());
}

/// A report does without slices. They are added, whatever else was added before, and only where
/// there is an index.
#[test]
fn slices_are_made_once_somebody_needs_them() {
    let directory = tempfile::tempdir().unwrap();
    let (path, trace, index) = indexed(directory.path());
    find_slices(&trace, &path);
    assert!(index.pyramids().is_none() && !Index::path_of(&path).exists());
    index.save(&path).unwrap();
    let calls = find_calls(&trace, &path);
    let trace = Arc::new(trace);
    let open = || {
        let (trace, progress) = (Arc::clone(&trace), Progress::default());
        Analysis::explored(trace, &path, Filters::default(), &progress).unwrap()
    };
    let first = open();
    assert!(first.lacks_slices());
    let stopped = Progress::default();
    stopped.stop();
    first.find_slices(&stopped);
    assert!(first.lacks_slices() && open().lacks_slices());
    first.find_slices(&Progress::default());
    let second = open();
    assert!(!first.lacks_slices() && !second.lacks_slices());
    assert_eq!(second.known_calls(), Some(&*calls));
    let kept = fs::read(Index::path_of(&path)).unwrap();
    find_slices(&trace, &path);
    assert_eq!(fs::read(Index::path_of(&path)).unwrap(), kept);
}

/// What is written has what another process added since it was read, and stands alone if the file
/// is gone.
#[test]
fn what_another_process_added_stays() {
    let directory = tempfile::tempdir().unwrap();
    let (path, trace, index) = indexed(directory.path());
    let place = index.save(&path).unwrap();
    let load = || Index::load(&trace, &path).unwrap();
    let (with_slices, without, alone) = (load(), load(), load());
    assert!(with_slices.find_slices(&trace, &Progress::default()));
    let calls = find_calls(&trace, &path);
    with_slices.with_added(&trace, &path).save(&path).unwrap();
    assert_eq!(load().calls(), Some(&calls));
    assert!(load().pyramids().is_some());
    without.with_added(&trace, &path).save(&path).unwrap();
    assert!(load().calls().is_some() && load().pyramids().is_some());
    fs::remove_file(place).unwrap();
    alone.with_added(&trace, &path).save(&path).unwrap();
    assert!(load().calls().is_none() && load().pyramids().is_none());
}

/// A reader of a recording keeps its replay where the index will be, but not once there is one.
#[test]
fn an_index_made_while_the_recording_was_read_stays() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pmt");
    let (recorder, predicate) = recorder_of_one(&path);
    let stream = recorder.stream(StreamKind::Thread, "a thread", Dialect::EveryRedo);
    for _ in 0..WORTH_BYTES / 2 {
        stream.call(predicate);
        stream.exit_det();
    }
    let trace = Trace::open(&path).unwrap();
    let everything = ReplayOptions::default();
    let mut growing = so_far::load(&trace, &path);
    let read = growing.go_on(&trace, &everything).unwrap().read;
    so_far::keep_if_worth(&growing, read, &trace, &path);
    assert!(Index::path_of(&path).exists());
    recorder.close(Outcome::Exited(0)).unwrap();
    let whole = Trace::open(&path).unwrap();
    let index = Index::build(&whole, &path, &everything).unwrap();
    index.save(&path).unwrap();
    so_far::keep_if_worth(&growing, read, &trace, &path);
    assert!(Index::load(&whole, &path).is_ok());
}

#[test]
fn every_moment_is_that_of_the_way_from_the_beginning() {
    let directory = tempfile::tempdir().unwrap();
    let (_, trace, index) = indexed(directory.path());
    for stream in trace.streams() {
        let mut plain = Walk::from(&trace, None, stream, 0);
        let mut number = 0;
        loop {
            if number % 97 == 0 {
                let mut jumped = Walk::from(&trace, Some(index.trail()), stream, number);
                assert_eq!(jumped.moment(), plain.moment());
                let next = Walk::from(&trace, None, stream, number).next();
                assert_eq!(jumped.next(), next);
            }
            number += 1;
            if plain.next().is_none() {
                break;
            }
        }
    }
}

#[test]
fn a_stale_or_damaged_index_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let (path, trace, index) = indexed(directory.path());
    assert!(matches!(
        Index::load(&trace, &path),
        Err(IndexError::Missing)
    ));
    let to = index.save(&path).unwrap();
    let bytes = fs::read(&to).unwrap();
    for at in (0..bytes.len()).step_by(bytes.len() / 50) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 4;
        fs::write(&to, flipped).unwrap();
        assert!(Index::load(&trace, &path).is_err(), "byte {at}");
    }
    for length in [0, 7, HEAD_BYTES, bytes.len() - 1] {
        fs::write(&to, &bytes[..length]).unwrap();
        assert!(matches!(
            Index::load(&trace, &path),
            Err(IndexError::Damaged)
        ));
    }
    fs::write(&to, &bytes).unwrap();
    assert!(Index::load(&trace, &path).is_ok());
    let changed = fs::read(&path).unwrap();
    fs::write(&path, changed).unwrap();
    assert!(matches!(Index::load(&trace, &path), Err(IndexError::Stale)));
}

/// The replay takes no checkpoints in a stream that it cannot cut, so those of the second come
/// first.
#[test]
fn streams_of_both_dialects() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pmt");
    let (recorder, predicate) = recorder_of_one(&path);
    for dialect in [Dialect::InnermostRedo, Dialect::EveryRedo] {
        let stream = recorder.stream(StreamKind::Thread, "a thread", dialect);
        for _ in 0..20_000 {
            stream.call(predicate);
            stream.exit_det();
        }
    }
    recorder.close(Outcome::Exited(0)).unwrap();
    let trace = Trace::open(&path).unwrap();
    let index = Index::build_every(1000, &trace, &path, &ReplayOptions::default()).unwrap();
    let streams: Vec<u64> = index
        .contents
        .checkpoints
        .iter()
        .map(|c| c.stream)
        .collect();
    assert!(streams.contains(&0) && streams.contains(&1) && !streams.is_sorted());
    index.save(&path).unwrap();
    assert!(Index::load(&trace, &path).is_ok());
}

/// Each `p` calls the next and can be re-entered; then one cut takes all of them, the outermost
/// first. It is written as many events, and a chunk that ends between two of them leaves boxes
/// without their callers. That is no fault of the trace.
#[test]
fn a_cut_of_many_boxes_around_each_other() {
    const DEPTH: u32 = 40_000;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pmt");
    let (recorder, predicate) = recorder_of_one(&path);
    let stream = recorder.stream(StreamKind::Thread, "a thread", Dialect::EveryRedo);
    (0..DEPTH).for_each(|_| stream.call(predicate));
    (0..DEPTH).for_each(|_| stream.exit_nondet());
    (0..DEPTH).for_each(|_| stream.cut());
    recorder.close(Outcome::Exited(0)).unwrap();
    let trace = Trace::open(&path).unwrap();
    let everything = ReplayOptions::default();
    let index = Index::build_every(1000, &trace, &path, &everything).unwrap();
    assert!(index.contents.checkpoints.len() > 3);
    index.save(&path).unwrap();
    let index = Index::load(&trace, &path).unwrap();
    assert_eq!(index.profile(), replay(&trace, &everything));
    assert_eq!(index.profile().predicates[0].ports.cuts, u64::from(DEPTH));
}

#[test]
fn a_replay_that_is_cancelled_makes_no_index() {
    let directory = tempfile::tempdir().unwrap();
    let (path, trace, _) = indexed(directory.path());
    let cancel = AtomicBool::new(true);
    let options = ReplayOptions {
        cancel: Some(&cancel),
        ..ReplayOptions::default()
    };
    let built = Index::build(&trace, &path, &options);
    assert!(matches!(built, Err(IndexError::Interrupted)));
}

#[test]
fn an_index_is_written_where_there_is_something_to_gain() {
    let directory = tempfile::tempdir().unwrap();
    let (path, trace, index) = indexed(directory.path());
    let place = Index::path_of(&path);
    let everything = ReplayOptions::default();
    assert_eq!(known(&trace, &path, &everything).profile, index.profile());
    index.keep_if_worth(&trace, &path);
    assert!(!place.exists(), "the trace is small");
    let large = WORTH_BYTES + 1;
    let nowhere = directory.path().join("nowhere/run.pmt");
    let missing = IndexError::Missing;
    assert!(is_worth_writing(large, &path, &missing));
    assert!(!is_worth_writing(large, &nowhere, &missing));
    assert!(!is_worth_writing(large, &path, &IndexError::NotAFile));
    fs::write(&place, "not an index").unwrap();
    assert_eq!(known(&trace, &path, &everything).profile, index.profile());
    assert!(
        Index::load(&trace, &path).is_ok(),
        "a damaged one is made again"
    );
}

#[test]
fn contents_that_lie_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (path, trace, index) = indexed(directory.path());
    index.save(&path).unwrap();
    assert!(Index::load(&trace, &path).is_ok());
    let lies: [fn(&mut IndexContents); 14] = [
        |contents| contents.contexts[0].parent = Some(7),
        |contents| contents.contexts[1].depth += 1,
        |contents| contents.predicates[0].calls += 1,
        |contents| contents.predicates[0].self_ticks += 1,
        |contents| contents.predicates[0].undone_ticks += 1,
        |contents| contents.edges.values_mut().next().unwrap().exits_det += 1,
        |contents| contents.sites.values_mut().next().unwrap().redos += 1,
        |contents| *contents.cuts.values_mut().next().unwrap() += 1,
        |contents| contents.streams[0].stream += 1,
        |contents| contents.streams[0].events += 1,
        |contents| contents.streams[0].first_tick += 1,
        |contents| contents.calls = Some(Arc::new(of_other_predicates())),
        |contents| at_checkpoint(contents, |checkpoint| checkpoint.event += 1),
        |contents| at_checkpoint(contents, |checkpoint| checkpoint.block = u64::MAX),
    ];
    for (number, lie) in lies.into_iter().enumerate() {
        let (_, _, mut index) = indexed(directory.path());
        lie(&mut index.contents);
        index.contents.of = Fingerprint::of(&trace, &path).unwrap();
        index.save(&path).unwrap();
        let loaded = Index::load(&trace, &path);
        assert!(matches!(loaded, Err(IndexError::Damaged)), "lie {number}");
    }
}

/// Calls of a trace that has more predicates.
fn of_other_predicates() -> Calls {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/parser.pmt");
    let trace = Trace::open(&path).unwrap();
    Calls::of(&trace, &Scope::of(&trace, &Filters::default()))
}

fn at_checkpoint(contents: &mut IndexContents, lie: fn(&mut Checkpoint)) {
    let mut checkpoints = contents.checkpoints.to_vec();
    lie(&mut checkpoints[1]);
    contents.checkpoints = checkpoints.into();
}

/// A list of four million predicates, in a kilobyte: no room is made for them.
#[test]
fn a_short_index_takes_little_memory() {
    for length in [1_u64 << 13, 1 << 22, 1 << 32, u64::MAX >> 9] {
        let claims = (7_u64, 7_u64, 7_i128, length);
        let config = bincode::config::standard();
        let mut body = bincode::encode_to_vec(claims, config).unwrap();
        body.resize(1000, 1);
        let error = bytes::decode_body::<IndexContents>(&body).unwrap_err();
        assert!(
            matches!(error, DecodeError::LimitExceeded),
            "{length}: {error}"
        );
        let decoded =
            bytes::decode::<IndexContents>(bytes::INDEX, &bytes::sealed(bytes::INDEX, &body));
        assert!(matches!(decoded, Err(IndexError::Damaged)));
    }
}

/// Opening a pipe to read it waits for a writer.
#[test]
fn an_index_that_is_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let (path, trace, index) = indexed(directory.path());
    let place = Index::path_of(&path);
    let elsewhere = directory.path().join("elsewhere");
    let make_pipe = || {
        let owner = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &place, FileType::Fifo, owner, 0).unwrap();
    };
    let make_link = || std::os::unix::fs::symlink(&elsewhere, &place).unwrap();
    let make_directory = || fs::create_dir(&place).unwrap();
    make_pipe();
    assert!(matches!(
        Index::load(&trace, &path),
        Err(IndexError::NotAFile)
    ));
    assert!(matches!(index.save(&path), Err(IndexError::NotAFile)));
    let everything = ReplayOptions::default();
    assert_eq!(known(&trace, &path, &everything).profile, index.profile());
    fs::remove_file(&place).unwrap();
    make_directory();
    assert!(matches!(
        Index::load(&trace, &path),
        Err(IndexError::NotAFile)
    ));
    assert!(matches!(index.save(&path), Err(IndexError::NotAFile)));
    fs::remove_dir(&place).unwrap();
    make_link();
    assert!(matches!(
        Index::load(&trace, &path),
        Err(IndexError::Missing)
    ));
    assert!(matches!(index.save(&path), Err(IndexError::NotAFile)));
    assert!(fs::symlink_metadata(&place).unwrap().is_symlink());
    assert!(!elsewhere.exists());
}
