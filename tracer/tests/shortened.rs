//! A trace that another program shortens while it is written.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

use std::fs::File;
use std::sync::Barrier;

use portmortem_tracer::format::{Dialect, Header, Outcome, StreamKind};
use portmortem_tracer::{Keep, NO_ID, NewPredicate, Options, RecordError, Recorder};

#[test]
fn it_ends_the_recording_for_all_streams() {
    for keep in [Keep::First, Keep::Last] {
        for left in [0, 100, 4096, 50_000, 500_000] {
            shortened(keep, left);
        }
    }
}

fn shortened(keep: Keep, left: u64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pmt");
    let options = Options {
        keep,
        max_size: (keep == Keep::Last).then_some(1 << 20),
        ..Options::default()
    };
    let header = Header::of_this_process("test");
    let recorder = Recorder::create(&path, &header, &options).unwrap();
    let main = recorder.predicate(NewPredicate::named("user", "main", 0));
    let (before, after) = (Barrier::new(3), Barrier::new(3));
    std::thread::scope(|scope| {
        for name in ["one", "two"] {
            let (recorder, before, after) = (&recorder, &before, &after);
            scope.spawn(move || {
                let stream = recorder.stream(StreamKind::Thread, name, Dialect::EveryRedo);
                let work = |times| {
                    for _ in 0..times {
                        stream.call(main);
                        stream.exit_det();
                    }
                };
                work(20_000);
                before.wait();
                after.wait();
                work(400_000);
                assert!(stream.has_stopped());
            });
        }
        before.wait();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(left).unwrap();
        after.wait();
    });
    assert!(!recorder.is_recording());
    assert_eq!(
        recorder.predicate(NewPredicate::named("user", "late", 0)),
        NO_ID
    );
    let closed = recorder.close(Outcome::Exited(0));
    assert!(matches!(closed, Err(RecordError::Shortened { .. })));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), left);
    recorder.close(Outcome::Exited(0)).unwrap();
    Recorder::check_unused(&path).unwrap();
}

/// It is noticed at the end at the latest.
#[test]
fn a_recording_that_is_closed_right_after_that() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pmt");
    let header = Header::of_this_process("test");
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    let main = recorder.predicate(NewPredicate::named("user", "main", 0));
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    stream.call(main);
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(0).unwrap();
    stream.exit_det();
    stream.end();
    let closed = recorder.close(Outcome::Exited(0));
    assert!(matches!(closed, Err(RecordError::Shortened { .. })));
    assert_eq!(file.metadata().unwrap().len(), 0);
}
