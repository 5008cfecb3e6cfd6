//! Costs that the recorder wrote, summed up.

use std::path::Path;

use portmortem_tracer::format::{Cost, Dialect, Event, Header, Outcome, StreamKind};
use portmortem_tracer::{NewPredicate, Options, Recorder, clock};

use super::*;
use crate::replay::{ReplayOptions, replay};
use crate::tables::Tables;
use crate::trace::mapping::Mapping;

fn recorded(write: impl FnOnce(&Recorder)) -> Trace {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.pmt");
    let header = Header::of_this_process("test engine");
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    write(&recorder);
    recorder.close(Outcome::Exited(0)).unwrap();
    Trace::read(
        Mapping::from(std::fs::read(&path).unwrap()),
        Path::new("trace.pmt"),
    )
    .unwrap()
}

#[test]
fn names_are_components() {
    for component in Component::FIXED.into_iter().chain([
        Component::Operator("+/2".to_owned()),
        Component::Builtin("is/2".to_owned()),
    ]) {
        assert_eq!(Component::from_name(&component.name()), component);
    }
}

#[test]
fn records_are_summed_up() {
    let trace = recorded(|recorder| {
        let predicate = recorder.predicate(NewPredicate::named("user", "p", 1));
        let center = recorder.cost_center("c");
        let (calls, plus) = (recorder.text("F"), recorder.text("arith:+/2"));
        let cost = |center, clause, symbol, count| Cost {
            center,
            predicate,
            clause,
            symbol,
            count,
        };
        assert!(recorder.costs(&[cost(None, 0, calls, 3), cost(None, 1, plus, 5)], false));
        assert!(recorder.costs(
            &[cost(Some(center), 0, calls, 4), cost(None, 1, plus, 6)],
            true
        ));
    });
    let costs = Costs::of(&trace);
    assert!(costs.is_symbolic() && costs.is_complete());
    assert_eq!(costs.counted_calls(0), 7);
    let plus = Component::Operator("+/2".to_owned());
    assert_eq!(costs.of_clause(0, 1), [(plus.clone(), 11)].into());
    assert_eq!(
        costs.of_predicate(0),
        [(Component::Calls, 7), (plus, 11)].into()
    );
    let profile = replay(&trace, &ReplayOptions::default());
    let rows: Vec<_> = Tables::new("x", &trace, &profile)
        .costs()
        .map(|row| (row.cost_center, row.predicate, row.symbol, row.count))
        .collect();
    let p = Some("p/1");
    assert_eq!(
        rows,
        [
            ("<outside>", None, "V", None),
            ("<outside>", p, "F", Some(3)),
            ("<outside>", p, "arith:+/2", Some(11)),
            ("c", None, "V", None),
            ("c", p, "F", Some(4)),
        ]
    );
}

/// The recorder counted a call outside of all centres, and then the predicate was declared to be in
/// one: all its boxes are in that, and each of their calls is counted once.
#[test]
fn calls_are_those_of_the_events() {
    let trace = recorded(|recorder| {
        let predicate = recorder.predicate(NewPredicate::named("user", "p", 1));
        let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
        let tick = clock::ticks();
        for _ in 0..2 {
            stream.record_at(Event::Call { predicate }, tick);
            stream.record_at(Event::ExitDet, tick);
        }
        let declared = recorder.cost_center("c");
        recorder.in_cost_center(predicate, declared);
        let calls = recorder.text("F");
        let cost = |center| Cost {
            center,
            predicate,
            clause: 0,
            symbol: calls,
            count: 1,
        };
        assert!(recorder.costs(&[cost(None), cost(Some(declared))], true));
    });
    let profile = replay(&trace, &ReplayOptions::default());
    let rows = Tables::new("x", &trace, &profile).costs();
    let rows = rows.filter(|row| row.predicate.is_some());
    let rows: Vec<_> = rows
        .map(|row| (row.cost_center, row.symbol, row.count))
        .collect();
    assert_eq!(rows, [("c", "E", Some(2)), ("c", "F", Some(2))]);
}

#[test]
fn a_recording_that_did_not_end_lacks_some() {
    let trace = recorded(|recorder| {
        let _ = recorder.predicate(NewPredicate::named("user", "p", 1));
    });
    let costs = Costs::of(&trace);
    assert!(!costs.is_symbolic() && !costs.is_complete());
}
