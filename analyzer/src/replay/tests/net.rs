//! Times without the recorder's own, of a part of a trace.

use portmortem_tracer::Options;
use portmortem_tracer::format::{
    Baseline, COST_UNIT, Dialect, Event, Outcome, PortCosts, Record, StreamKind, Trial, Trials,
};

use super::files::{declare, recorder, trace};
use crate::figures::net_times::NetTimes;
use crate::replay::{ReplayOptions, replay};
use crate::scope::focus::{Focus, FocusOn};
use crate::scope::hide::Hide;
use crate::trace::Trace;

const MAIN: u32 = 0;
const P: u32 = 1;
const Q: u32 = 2;
const COLLECTION: u32 = 3;
const WAITING: u32 = 4;
const R: u32 = 5;
const SET_UP: u32 = 6;

/// Ticks between two events.
const STRETCH: u64 = 1000;

/// `main` calls `p/1`, that calls `q/2`, in which a collection runs, the thread waits, a clause gets its stubs, and `r/5` leaves a choicepoint. All are
/// re-entered; then `q` departs into `r`, and what is left is cut. An event costs 3 ticks inside and 5 outside, an argument 7; of
/// collections a quarter is left, of waiting all, of set-up nothing.
fn recorded() -> Trace {
    let unit = COST_UNIT as u32;
    recorded_with(&Record::PortCosts(PortCosts {
        inside: [3 * unit; 8],
        outside: [5 * unit; 8],
        argument: 7 * unit,
        ..PortCosts::default()
    }))
}

/// The same with other costs.
fn recorded_with(costs: &Record) -> Trace {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.pmt");
    let recorder = recorder(&path, &Options::default());
    recorder.recording_costs(costs);
    declare(&recorder, 7);
    let call = |predicate| Event::Call { predicate };
    let events = [
        call(MAIN),
        call(P),
        call(Q),
        call(COLLECTION),
        Event::ExitDet,
        call(WAITING),
        Event::ExitDet,
        call(SET_UP),
        Event::ExitDet,
        call(R),
        Event::ExitNondet,
        Event::ExitNondet,
        Event::ExitNondet,
        Event::Redo,
        Event::Redo,
        Event::Redo,
        Event::ExitDet,
        Event::Tail { predicate: R },
        Event::ExitNondet,
        Event::ExitNondet,
        Event::Cut { count: 2 },
        Event::ExitDet,
    ];
    let stream = recorder.stream(StreamKind::Thread, "a thread", Dialect::EveryRedo);
    let begin = portmortem_tracer::clock::ticks() + (1 << 40);
    for (event, at) in events.into_iter().zip(0..) {
        stream.record_at(event, begin + at * STRETCH);
    }
    recorder.close(Outcome::Exited(0)).unwrap();
    let baseline = Baseline {
        ns: 1,
        runs: 1,
        engine_work: COST_UNIT as u32 / 4,
    };
    portmortem_tracer::amend(&path, &[Record::Baseline(baseline)]).unwrap();
    trace(std::fs::read(&path).unwrap())
}

fn net(trace: &Trace, hidden: &[u32], focus: Focus) -> NetTimes {
    let hide = hidden.iter().fold(Hide::default(), |hide, &p| hide.and(p));
    let options = ReplayOptions {
        hide,
        focus,
        ..ReplayOptions::default()
    };
    replay(trace, &options).net.unwrap()
}

#[test]
fn what_recording_hidden_boxes_took_is_taken_off_their_callers_time() {
    let trace = recorded();
    let all = net(&trace, &[], Focus::default());
    assert_eq!(all.clamps, 0);
    let own = |net: &NetTimes, predicate: u32| net.predicates[predicate as usize].self_ticks;
    for hidden in [
        &[P][..],
        &[Q],
        &[R],
        &[COLLECTION],
        &[WAITING],
        &[SET_UP],
        &[COLLECTION, WAITING],
        &[Q, COLLECTION],
        &[Q, WAITING],
        &[P, Q, R],
        &[P, Q, R, COLLECTION, WAITING, SET_UP],
    ] {
        let net = net(&trace, hidden, Focus::default());
        assert_eq!(net.net_ticks, all.net_ticks, "{hidden:?}");
        assert_eq!(net.recorded_ticks, all.recorded_ticks);
        assert_eq!(net.clamps, 0);
        assert_eq!(net.predicates[0].inclusive_ticks, net.net_ticks);
        assert!(hidden.iter().all(|&predicate| own(&net, predicate) == 0));
    }
    // Four stretches, 5 for each of five ways in and out and for each of two cuts, 3 for its exit and call.
    assert_eq!(own(&all, MAIN), 4 * STRETCH - (3 + 2) * 5 - 2 * 3);
    // One stretch of it, of which a quarter is left.
    assert_eq!(own(&all, COLLECTION), STRETCH / 4);
    assert_eq!(own(&all, WAITING), STRETCH);
    assert_eq!(own(&all, SET_UP), 0);
    let without_p = net(&trace, &[P], Focus::default());
    assert_eq!(own(&without_p, MAIN), own(&all, MAIN) + own(&all, P));
}

/// Recorders of earlier versions fitted the costs, and left them in the trace.
#[test]
fn trials_are_as_good_as_the_costs_fitted_to_them() {
    let trials = Trials {
        empty: 10,
        trials: [[9, 0, 9, 0, 0, 0, 0, 0], [9, 2, 0, 4, 4, 9, 0, 0]]
            .map(|counts| Trial {
                counts,
                arguments: 20,
                ticks: 900,
                leaf_ticks: 300,
                untraced: 300,
            })
            .to_vec(),
        ..Trials::default()
    };
    let costs = crate::net::trials::costs(&trials).unwrap().ports;
    let fitted = net(
        &recorded_with(&Record::PortCosts(costs)),
        &[],
        Focus::default(),
    );
    let found = net(
        &recorded_with(&Record::Trials(trials)),
        &[],
        Focus::default(),
    );
    assert!(found.net_ticks < found.recorded_ticks);
    assert_eq!(found, fitted);
}

#[test]
fn a_focus_has_the_times_that_its_boxes_have() {
    let trace = recorded();
    let all = net(&trace, &[], Focus::default());
    let focus = Focus::default().within(&FocusOn::Predicate(Q));
    let inside = net(&trace, &[], focus.clone());
    assert_eq!(inside.predicates[2..7], all.predicates[2..7]);
    assert_eq!(inside.predicates[0].self_ticks, 0);
    let hidden = net(&trace, &[R], focus);
    assert_eq!(hidden.net_ticks, inside.net_ticks);
}
