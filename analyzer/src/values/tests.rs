//! Random calls of a few predicates, with values at calls and exits, counted once more in the
//! plainest way.

use std::collections::BTreeMap;
use std::path::Path;

use portmortem_tracer::format::{ArgumentValue, Dialect, Event, Header, Outcome, StreamKind};
use portmortem_tracer::{NewPredicate, Options, Recorder, clock};
use proptest::prelude::*;

use super::*;
use crate::replay::{ReplayOptions, replay};

const PREDICATES: u32 = 3;
/// Of these the trace has values; events may say some of the other as well, which is not believed.
const WITH: [u32; 2] = [0, 2];
const ARITY: u8 = 2;

/// Something that happens.
#[derive(Debug, Clone)]
enum Step {
    /// A call or a last call, with values of its arguments if they are looked at.
    Call(u32, bool, Option<[ArgumentFacts; ARITY as usize]>),
    /// An exit, with values of so many of the calls in its box: of the last one and the first.
    Exit(usize, [ArgumentFacts; ARITY as usize]),
    Fail,
}

fn value() -> impl Strategy<Value = ArgumentFacts> {
    let value = |kind, size, hash| ArgumentFacts {
        kind,
        size,
        hash,
        newer: 0,
    };
    prop_oneof![
        2 => Just(value(ValueKind::Unbound, 0, 0)),
        4 => (1..3u64).prop_map(move |hash| value(ValueKind::Ground, 40 * hash as u32, hash)),
        1 => (1..9u32).prop_map(move |size| value(ValueKind::NotGround, size, size.into())),
        1 => Just(ArgumentFacts::UNKNOWN),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let row = || [value(), value()];
    prop_oneof![
        4 => (0..PREDICATES, any::<bool>(), prop::option::weighted(0.8, row()))
            .prop_map(|(of, is_last, given)| Step::Call(of, is_last, given)),
        4 => (0..=CALLS, row()).prop_map(|(count, results)| Step::Exit(count, results)),
        1 => Just(Step::Fail),
    ]
}

/// The events of the steps, and for each box that is open the calls with values in it.
fn events(steps: &[Step]) -> (Vec<Event>, BTreeMap<u32, [u64; 3]>) {
    let mut events = Vec::new();
    let mut open: Vec<Vec<u32>> = Vec::new();
    // Calls, exits that are known, and others.
    let mut counts: BTreeMap<u32, [u64; 3]> = BTreeMap::new();
    let say = |events: &mut Vec<Event>, when: usize, row: &[ArgumentFacts]| {
        for (argument, value) in (1..).zip(row) {
            events.push(Event::Value(ArgumentValue {
                when: when as u8,
                argument,
                kind: value.kind,
                size: value.size,
                hash: value.hash,
            }));
        }
    };
    for step in steps {
        match step {
            Step::Call(of, is_last, given) => {
                let predicate = *of;
                match open.last_mut() {
                    Some(_) if *is_last => events.push(Event::Tail { predicate }),
                    _ => {
                        open.push(Vec::new());
                        events.push(Event::Call { predicate });
                    }
                }
                if let Some(given) = given {
                    say(&mut events, 0, given);
                    if WITH.contains(of) {
                        open.last_mut().unwrap().push(*of);
                        counts.entry(*of).or_default()[0] += 1;
                    }
                }
            }
            Step::Exit(known, results) => {
                let Some(calls) = open.pop() else { continue };
                for when in 1..=*known {
                    say(&mut events, when, results);
                }
                events.push(Event::ExitDet);
                let last = calls.last();
                let first = calls.first().filter(|_| calls.len() > 1);
                for (at, of) in last.into_iter().chain(first).enumerate() {
                    let place = if at < *known { 1 } else { 2 };
                    counts.entry(*of).or_default()[place] += 1;
                }
            }
            Step::Fail => {
                if open.pop().is_some() {
                    events.push(Event::Fail);
                }
            }
        }
    }
    (events, counts)
}

fn record(events: &[Event]) -> Trace {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.pmt");
    let header = Header::of_this_process("none");
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    for id in 0..PREDICATES {
        let name = format!("p{id}");
        let arity = ARITY.into();
        assert_eq!(
            recorder.predicate(NewPredicate::named("user", &name, arity)),
            id
        );
    }
    for id in WITH {
        recorder.keeps_values(id);
    }
    let first = clock::ticks() + (1 << 30);
    for _ in 0..2 {
        let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
        for (event, tick) in events.iter().zip(first..) {
            stream.record_at(*event, tick);
        }
    }
    recorder.close(Outcome::Exited(0)).unwrap();
    drop(recorder);
    Trace::open(Path::new(&path)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn they_are_those_of_a_plain_count(steps in prop::collection::vec(step(), 0..80)) {
        let (events, counts) = events(&steps);
        let trace = record(&events);
        prop_assert_eq!(trace.with_values(), WITH);
        let values = replay(&trace, &ReplayOptions::default()).values;
        prop_assert!(values.is_sound(|of| of < PREDICATES, |_, _| false));
        let found: BTreeMap<u32, [u64; 3]> = values
            .goals
            .iter()
            .map(|(&(of, site), figures)| {
                assert_eq!(site, None);
                (of, [figures.calls, figures.exits, figures.unknown_exits])
            })
            .collect();
        // In two streams.
        let counts: BTreeMap<u32, [u64; 3]> = counts
            .into_iter()
            .map(|(of, counts)| (of, counts.map(|count| 2 * count)))
            .collect();
        prop_assert_eq!(found, counts);
    }

    /// Events in any order whatever.
    #[test]
    fn nonsense_is_counted_soundly(
        said in prop::collection::vec((0..12u8, any::<(u8, u8)>(), value()), 0..80)
    ) {
        let events: Vec<Event> = said
            .into_iter()
            .map(|(what, (when, argument), value)| match what {
                0 | 1 => Event::Call { predicate: u32::from(argument) % PREDICATES },
                2 => Event::Tail { predicate: u32::from(argument) % PREDICATES },
                3 => Event::ExitDet,
                4 => Event::ExitNondet,
                5 => Event::Redo,
                6 => Event::Fail,
                _ => Event::Value(ArgumentValue {
                    when: when % 4,
                    argument: argument % 12,
                    kind: value.kind,
                    size: value.size,
                    hash: value.hash,
                }),
            })
            .collect();
        let trace = record(&events);
        let values = replay(&trace, &ReplayOptions::default()).values;
        prop_assert!(values.is_sound(|of| of < PREDICATES, |_, _| false));
    }
}
