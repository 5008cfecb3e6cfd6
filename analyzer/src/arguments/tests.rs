//! Random calls of a few predicates, recorded and counted once more in the plainest way.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use portmortem_tracer::format::{Arguments as Said, Dialect, Event, Header, Outcome, StreamKind};
use portmortem_tracer::{NewPredicate, Options, Recorder, clock};
use proptest::prelude::*;

use super::*;
use crate::reading::{self, Asked};
use crate::replay::{ReplayOptions, replay};
use crate::scope::{Focus, FocusOn, Hide, Window};

const PREDICATES: u32 = 4;
/// Of these the trace has arguments; events may say some of the others as well, which are
/// not believed.
const WITH: [u32; 2] = [0, 2];

/// One call: of what, what is said of it, and how it goes on.
#[derive(Debug, Clone)]
struct Made {
    predicate: u32,
    is_last: bool,
    said: Vec<Said>,
    /// So many boxes are left before the next call.
    left: u8,
}

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        4 => (0..6u64).prop_map(Said::Hash),
        1 => any::<u64>().prop_map(Said::Hash),
        1 => Just(Said::NotGround),
        1 => Just(Said::TooLarge),
        1 => (1..4u8, any::<i64>()).prop_map(|(argument, value)| Said::Integer { argument, value }),
        1 => (1..4u8, any::<u64>()).prop_map(|(argument, length)| Said::List { argument, length }),
    ]
}

fn calls() -> impl Strategy<Value = Vec<Made>> {
    let one = (
        0..PREDICATES,
        any::<bool>(),
        prop::collection::vec(said(), 0..3),
        0..3u8,
    );
    let one = one.prop_map(|(predicate, is_last, said, left)| Made {
        predicate,
        is_last,
        said,
        left,
    });
    prop::collection::vec(one, 0..60)
}

/// An event and the predicates on the active chain after it, the outermost first.
type Happened = (Event, Vec<u32>);

fn events(calls: &[Made]) -> Vec<Happened> {
    let mut happened = Vec::new();
    // Physical boxes, each with its logical ones.
    let mut open: Vec<Vec<u32>> = Vec::new();
    for call in calls {
        let predicate = call.predicate;
        let event = match open.last_mut() {
            Some(last) if call.is_last => {
                last.push(predicate);
                Event::Tail { predicate }
            }
            _ => {
                open.push(vec![predicate]);
                Event::Call { predicate }
            }
        };
        happened.push((event, open.concat()));
        for &said in &call.said {
            happened.push((Event::Arguments(said), open.concat()));
        }
        for _ in 0..call.left {
            if open.pop().is_some() {
                happened.push((Event::ExitDet, open.concat()));
            }
        }
    }
    happened
}

/// The trace of the same events in two streams, one tick after the other, and the tick of the
/// first.
fn record(events: &[Happened]) -> (Trace, u64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.pmt");
    let header = Header::of_this_process("none");
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    for id in 0..PREDICATES {
        let name = format!("p{id}");
        assert_eq!(
            recorder.predicate(NewPredicate::named("user", &name, 1)),
            id
        );
    }
    for id in WITH {
        recorder.keeps_arguments(id);
    }
    let first = clock::ticks() + (1 << 30);
    for _ in 0..2 {
        let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
        for ((event, _), tick) in events.iter().zip(first..) {
            stream.record_at(*event, tick);
        }
    }
    recorder.close(Outcome::Exited(0)).unwrap();
    drop(recorder);
    (Trace::open(Path::new(&path)).unwrap(), first)
}

/// What is said while `counts` says so of the place and the chain, in both streams.
fn plain(events: &[Happened], counts: impl Fn(usize, &[u32]) -> bool) -> ArgumentsOfPredicates {
    let mut figures = ArgumentsOfPredicates::new();
    let mut times: HashMap<(u32, u64), u64> = HashMap::new();
    for (at, (event, chain)) in events.iter().chain(events).enumerate() {
        let (Event::Arguments(said), Some(&of)) = (event, chain.last()) else {
            continue;
        };
        if !WITH.contains(&of) || !counts(at % events.len(), chain) {
            continue;
        }
        let of_predicate = figures.entry(of).or_default();
        let size = match *said {
            Said::Hash(hash) => {
                of_predicate.hashed += 1;
                *times.entry((of, hash)).or_default() += 1;
                continue;
            }
            Said::NotGround => {
                of_predicate.not_ground += 1;
                continue;
            }
            Said::TooLarge => {
                of_predicate.too_large += 1;
                continue;
            }
            Said::Integer { argument, value } => ((argument, SizeKind::Integer), value),
            Said::List { argument, length } => {
                let length = length.min(i64::MAX as u64) as i64;
                ((argument, SizeKind::List), length)
            }
        };
        let sizes = of_predicate.sizes.entry(size.0).or_insert(SizeFigures {
            calls: 0,
            least: i64::MAX,
            greatest: i64::MIN,
        });
        sizes.calls += 1;
        sizes.least = sizes.least.min(size.1);
        sizes.greatest = sizes.greatest.max(size.1);
    }
    for ((of, _), times) in times {
        let figures = figures.get_mut(&of).unwrap();
        figures.distinct += 1;
        figures.most_repeated = figures.most_repeated.max(times);
    }
    figures
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn they_are_those_of_a_plain_count(calls in calls(), from in 0..80usize, length in 0..80usize) {
        let events = events(&calls);
        let (trace, first) = record(&events);
        prop_assert_eq!(trace.with_arguments(), WITH);
        let all = replay(&trace, &ReplayOptions::default());
        prop_assert_eq!(&all.arguments, &plain(&events, |_, _| true));
        prop_assert!(all.arguments.values().all(ArgumentFigures::is_sound));

        let window = Window { from: first + from as u64, until: first + (from + length) as u64 };
        let scope = Scope { window: Some(window), ..Scope::hiding(&trace, &Hide::default()) };
        let inside = plain(&events, |at, _| (from..from + length).contains(&at));
        prop_assert_eq!(reading::read(&trace, &scope, Asked::default(), None).unwrap().arguments, inside);

        let focus = Focus::default().within(&FocusOn::Predicate(1));
        let scope = Scope { focus, hidden: vec![false, false, true, false, false], ..Scope::hiding(&trace, &Hide::default()) };
        let below = plain(&events, |_, chain| chain.contains(&1) && chain.last() != Some(&2));
        prop_assert_eq!(reading::read(&trace, &scope, Asked::default(), None).unwrap().arguments, below);
    }
}

/// Beyond the limit the counts are lower bounds, and what is known already is still counted.
#[test]
fn a_limit_of_different_calls() {
    let (room, scope) = (AtomicUsize::new(3), Scope::default());
    let mut ledger = ArgumentLedger::new(&scope, &WITH, &room);
    for hash in [1, 2, 1, 3, 4, 5, 2, 1] {
        ledger.book(0, Said::Hash(hash));
    }
    ledger.book(1, Said::Hash(1));
    let arguments = ledger.into_pages().close();
    let known: BTreeSet<_> = arguments
        .values()
        .map(|of| (of.hashed, of.distinct, of.most_repeated, of.cut_short))
        .collect();
    assert_eq!(known, [(8, 4, 3, true), (1, 1, 1, true)].into());
}
