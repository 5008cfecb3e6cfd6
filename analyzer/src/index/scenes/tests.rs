use std::path::Path;
use std::sync::atomic::AtomicU64;

use portmortem_tracer::format::{Dialect, Event, Header, Outcome, Part, StreamKind};
use portmortem_tracer::{Keep, NewPredicate, Options, Recorder, clock};

use crate::cutting::{CutError, cut};
use crate::figures::laws;
use crate::index::{Fold, Folded, folded};
use crate::replay::ReplayOptions;
use crate::trace::kept::{KeptEvents, kept};
use crate::trace::{PredicateIndex, Trace};
use crate::walk::{Step, Walk};

/// Bytes that the recording may have.
const LIMIT: u64 = 1 << 20;

/// How many predicates have one slow call each.
const SLOW: u32 = 60;

fn recorder(path: &Path) -> Recorder {
    let options = Options {
        max_size: Some(LIMIT),
        keep: Keep::Figures,
        ..Options::default()
    };
    let header = Header::of_this_process("test engine");
    Recorder::create(path, &header, &options).unwrap()
}

/// A box in which others are called and fail, and now and then one that is slow: each of another
/// predicate, and `ticks` says how slow. Some of them come after a mark.
fn record(path: &Path, marks: &[u32], ticks: impl Fn(u32) -> i64) -> (Trace, Folded) {
    let recorder = recorder(path);
    let declare = |name: &str| recorder.predicate(NewPredicate::named("user", name, 0));
    let (main, fast) = (declare("main"), declare("fast"));
    let slow: Vec<u32> = (0..SLOW).map(|at| declare(&format!("slow_{at}"))).collect();
    let mark = recorder.text("keep: here");
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    let mut tick = clock::ticks() + (1 << 40);
    let mut happens = |event, later: i64| {
        tick = tick.wrapping_add_signed(later);
        stream.record_at(event, tick);
    };
    let mut fold = Fold::begin(path, LIMIT).unwrap();
    happens(Event::Call { predicate: main }, 1);
    for (at, &of) in (0..).zip(&slow) {
        if marks.contains(&at) {
            happens(Event::Mark { text: mark }, 1);
        }
        happens(Event::Call { predicate: of }, 1);
        happens(Event::Fail, ticks(at));
        for round in 0..20_000 {
            happens(Event::Call { predicate: fast }, 1);
            happens(Event::Fail, 1);
            if round % 10_000 == 0 {
                fold.go_on(1).unwrap();
            }
        }
    }
    happens(Event::ExitDet, 1);
    drop(stream);
    recorder.close(Outcome::Exited(0)).unwrap();
    fold.finish().unwrap();
    let trace = Trace::open(path).unwrap();
    let folded = folded(&trace, path, &ReplayOptions::default()).unwrap();
    (trace, folded)
}

/// Which of the slow calls are there, outside of the newest events.
fn there(trace: &Trace, folded: &Folded) -> Vec<u32> {
    let stream = &trace.streams()[0];
    let mut runs = kept(trace, stream);
    let newest = runs.pop().unwrap();
    assert!(newest.events.start > 0 && !runs.is_empty());
    let is_slow = |predicate: PredicateIndex| {
        trace
            .predicate_name(predicate)
            .strip_prefix("slow_")?
            .strip_suffix("/0")?
            .parse::<u32>()
            .ok()
    };
    let mut found = Vec::new();
    for KeptEvents { events, .. } in runs {
        let walk = Walk::from(trace, Some(&folded.trail), stream, events.start);
        for Step {
            number, of, event, ..
        } in walk.take_while(|step| events.contains(&step.number))
        {
            // All boxes are known there.
            if number > 0 {
                let (of, depth) = of.unwrap();
                assert!(
                    of.called == 0 || (of.caller, depth) == (Some(0), 1),
                    "{number}: {of:?}"
                );
            }
            if let Event::Call { predicate } = event {
                found.extend(is_slow(predicate));
            }
        }
    }
    found
}

/// Blocks that stay have a quarter of the room, and the slowest calls begin in them.
#[test]
fn the_slowest_calls_stay() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.pmt");
    // Each is slower than all before by turns, so that others make room for it.
    let ticks = |at: u32| i64::from(at * 7919 % SLOW + 1) * 1000;
    let (trace, folded) = record(&path, &[], ticks);
    let calls = folded.calls.as_ref().unwrap();
    let mut slowest: Vec<u32> = (0..SLOW).collect();
    slowest.sort_by_key(|&at| std::cmp::Reverse(ticks(at)));
    let there = there(&trace, &folded);
    assert!(there.len() >= 2, "{there:?}");
    // Those within the newest events are none of them.
    let newest = kept(&trace, &trace.streams()[0])
        .pop()
        .unwrap()
        .events
        .start;
    let before = |at: &&u32| {
        let of = trace
            .predicates()
            .iter()
            .position(|of| of.indicator == format!("slow_{at}/0"))
            .unwrap();
        calls.predicate(of as PredicateIndex).unwrap().slowest[0].event < newest
    };
    let mut expected: Vec<u32> = slowest
        .iter()
        .filter(before)
        .copied()
        .take(there.len())
        .collect();
    expected.sort_unstable();
    assert_eq!(there, expected);
    assert!(trace.size() <= LIMIT);
}

/// What a program asks for comes first.
#[test]
fn marks_come_before_slow_calls() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.pmt");
    let (trace, folded) = record(&path, &[3, 9], |at| {
        if at < 20 { 10 } else { 1000 + i64::from(at) }
    });
    let there = there(&trace, &folded);
    assert!(there.contains(&3) && there.contains(&9), "{there:?}");
}

/// The clock of the machine jumps by hours, and back again: no figure is lost, and no time is
/// negative.
#[test]
fn a_clock_that_jumps() {
    const HOURS: i64 = 1 << 44;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.pmt");
    let ticks = |at| match at {
        20 | 40 => HOURS,
        30 => -HOURS,
        _ => 1000,
    };
    let (trace, folded) = record(&path, &[], ticks);
    let profile = &folded.profile;
    assert_eq!(laws::check(profile), []);
    let calls: u64 = profile.predicates.iter().map(|row| row.ports.calls).sum();
    assert_eq!(calls, 1 + u64::from(SLOW) * 20_001);
    let stream = &profile.streams[0];
    let lasted = stream.last_tick - stream.first_tick;
    assert!(
        (HOURS as u64..3 * HOURS as u64).contains(&lasted),
        "{lasted}"
    );
    assert!(there(&trace, &folded).contains(&20));
}

/// Two streams after each other. Of the first one no event is left at its end: a range after that
/// can be cut out, and one that the end is in cannot.
#[test]
fn a_stream_that_has_ended_has_no_hole_after_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.pmt");
    let recorder = recorder(&path);
    let fast = recorder.predicate(NewPredicate::named("user", "fast", 0));
    let mut fold = Fold::begin(&path, LIMIT).unwrap();
    let mut tick = clock::ticks() + (1 << 40);
    for (name, rounds) in [("first", 200_000), ("second", 800_000)] {
        let stream = recorder.stream(StreamKind::Thread, name, Dialect::EveryRedo);
        for round in 0..rounds {
            tick += 1;
            stream.record_at(Event::Call { predicate: fast }, tick);
            // The slowest call is the first one of the second stream.
            tick += if (name, round) == ("second", 0) {
                1000
            } else {
                1
            };
            stream.record_at(Event::Fail, tick);
            if round % 10_000 == 0 {
                fold.go_on(1).unwrap();
            }
        }
    }
    recorder.close(Outcome::Exited(0)).unwrap();
    fold.finish().unwrap();
    let trace = Trace::open(&path).unwrap();
    let [first, second] = trace.streams() else {
        panic!("{:?}", trace.streams());
    };
    let end = first.end.unwrap();
    let last = kept(&trace, first).pop();
    assert!(last.is_none_or(|last| last.events.end < end.events));
    let newest = kept(&trace, second).pop().unwrap().ticks;
    let cut_out = |from, until| {
        let part = Part {
            from,
            until,
            streams: Vec::new(),
            of: "trace.pmt".to_owned(),
        };
        cut(&trace, &part, true, &mut Vec::new(), &AtomicU64::new(0))
    };
    cut_out(newest.start + 1, newest.end).unwrap();
    let at_end = cut_out(end.tick, end.tick + 1);
    assert!(matches!(at_end, Err(CutError::Folded)), "{at_end:?}");
}
