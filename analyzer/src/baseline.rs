//! What recording cost a program, from runs of it that hardly cost anything.
//!
//! Mean costs of ports do not know how a program uses caches and branch predictors. What recording cost it in all can be
//! measured: the program is run again, and only its outermost predicates are recorded ([`Outermost`]). The costs of all ports
//! are scaled alike until the times without them add up to that ([`fit`]); garbage collections and stack shifts have a scale of
//! their own, because a run that is not recorded has less of them. How they are shared by the predicates stays an
//! estimate, their sum does not.

use std::collections::BTreeMap;

use portmortem_tracer::format::{Baseline, COST_UNIT, PortCosts};

use crate::compensation::{Compensation, Rates};
use crate::figures::Caller;
use crate::profile::Profile;
use crate::trace::Trace;

/// What happened in the outermost boxes of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outermost {
    /// By predicate, `module:name/arity`, without the engine's own work.
    pub counts: BTreeMap<String, Counts>,
    /// Time in them, in ns; without the recorder's own if the trace says what that is.
    pub ns: u64,
    /// Of that, the engine's own work, in ns, as recorded.
    pub engine_ns: u64,
}

/// How often predicates were called from nowhere, and how that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Calls.
    pub calls: u64,
    /// Exits.
    pub exits: u64,
    /// Failures.
    pub fails: u64,
}

impl Outermost {
    /// Of a whole trace.
    #[must_use]
    pub fn new(trace: &Trace, profile: &Profile) -> Self {
        let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
        for (&(caller, callee), figures) in &profile.edges {
            let Some(info) = trace.predicates().get(callee as usize) else {
                continue;
            };
            if caller == Caller::Root && !info.is_engine_work() {
                let declared = &info.declared;
                let name = format!("{}:{}/{}", declared.module, declared.name, declared.arity);
                let sum = counts.entry(name).or_default();
                sum.calls += figures.calls;
                sum.exits += figures.exits;
                sum.fails += figures.fails;
            }
        }
        let ticks = match &profile.compensation {
            Some(compensation) => compensation.compensated_ticks,
            None => profile.contexts.iter().map(|row| row.self_ticks).sum(),
        };
        let engine_ticks = trace
            .predicates()
            .iter()
            .zip(&profile.predicates)
            .filter(|(info, _)| info.is_engine_work())
            .map(|(_, figures)| figures.self_ticks)
            .sum();
        Self {
            counts,
            ns: trace.clock().duration_ns(ticks),
            engine_ns: trace.clock().duration_ns(engine_ticks),
        }
    }
}

/// What unrecorded runs of a program say; `None` if there were none. Others that use the machine make some runs longer, and none
/// shorter: the quickest counts.
#[must_use]
pub fn measured(recorded: &Outermost, unrecorded: &[Outermost]) -> Option<Baseline> {
    let quickest = unrecorded.iter().min_by_key(|run| run.ns)?;
    let (part, all) = (quickest.engine_ns, recorded.engine_ns.max(1));
    let engine_work = u128::from(part.min(all)) * u128::from(COST_UNIT) / u128::from(all);
    Some(Baseline {
        ns: quickest.ns,
        runs: u32::try_from(unrecorded.len()).unwrap_or(u32::MAX),
        engine_work: engine_work as u32,
    })
}

/// Parts of one that scales are given in.
const SCALE_UNIT: u64 = 1024;

/// Costs are made at most so many times as large.
const MOST: u64 = 32;

/// The costs of ports, scaled so that what is left of the recorded time is nearest to the baseline.
#[must_use]
pub fn fit(trace: &Trace, profile: &Profile, rates: Rates, baseline: &Baseline) -> Rates {
    let rates = Rates {
        engine_work: baseline.engine_work,
        ..rates
    };
    let ns = baseline.ns;
    let left = |scale: u64| {
        let ticks = Compensation::ticks_left(profile, &scaled(&rates, scale));
        trace.clock().duration_ns(ticks)
    };
    // The more is taken off the less is left.
    let (mut low, mut high) = (0, MOST * SCALE_UNIT);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if left(middle) > ns {
            low = middle;
        } else {
            high = middle;
        }
    }
    let nearest = [low, high]
        .into_iter()
        .min_by_key(|&scale| left(scale).abs_diff(ns));
    scaled(&rates, nearest.unwrap_or(SCALE_UNIT))
}

fn scaled(rates: &Rates, scale: u64) -> Rates {
    let costs = &rates.ports;
    let times = |cost: u32| {
        let units = u64::from(cost) * scale / SCALE_UNIT;
        u32::try_from(units).unwrap_or(u32::MAX)
    };
    Rates {
        ports: PortCosts {
            inside: costs.inside.map(times),
            outside: costs.outside.map(times),
            argument: times(costs.argument),
            slowdown: times(costs.slowdown),
            reach: costs.reach,
        },
        ..rates.clone()
    }
}

#[cfg(test)]
mod tests {
    use portmortem_tracer::format::{Dialect, Event, Header, Outcome, StreamKind};
    use portmortem_tracer::{Options, Recorder};

    use super::*;
    use crate::replay::{ReplayOptions, replay};

    /// A trace of so many calls of `leaf/1` from `main/0`, and what recording is said to have cost.
    fn recorded(path: &std::path::Path, calls: u32, cost: u32) -> (Trace, Profile) {
        let header = Header::of_this_process("some engine");
        let recorder = Recorder::create(path, &header, &Options::default()).unwrap();
        recorder.port_costs(&PortCosts {
            inside: [cost * COST_UNIT as u32; 8],
            ..PortCosts::default()
        });
        let main = recorder.predicate("user", "main", 0, None, 0);
        let leaf = recorder.predicate("odd module", "a leaf", 1, None, 0);
        let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
        stream.call(main);
        for _ in 0..calls {
            stream.call(leaf);
            stream.exit_det();
        }
        stream.fail();
        stream.end();
        recorder.close(Outcome::Exited(0)).unwrap();
        let trace = Trace::open(path).unwrap();
        let profile = replay(&trace, &ReplayOptions::default());
        (trace, profile)
    }

    #[test]
    fn only_outermost_boxes_count() {
        let directory = tempfile::tempdir().unwrap();
        let (trace, profile) = recorded(&directory.path().join("a.pmt"), 100, 0);
        let outermost = Outermost::new(&trace, &profile);
        let once = Counts {
            calls: 1,
            exits: 0,
            fails: 1,
        };
        assert_eq!(
            outermost.counts,
            BTreeMap::from([("user:main/0".to_owned(), once)])
        );
        let whole = profile.contexts.iter().map(|row| row.self_ticks).sum();
        assert_eq!(outermost.ns, trace.clock().duration_ns(whole));
    }

    #[test]
    fn the_quickest_run_counts() {
        let run = |ns, engine_ns| Outermost {
            counts: BTreeMap::new(),
            ns,
            engine_ns,
        };
        let recorded = run(500, 64);
        let found = measured(&recorded, &[run(90, 20), run(80, 16), run(95, 0)]).unwrap();
        assert_eq!((found.ns, found.runs, found.engine_work), (80, 3, 256));
        // No more than was recorded.
        let found = measured(&recorded, &[run(80, 70)]).unwrap();
        assert_eq!(found.engine_work, 1024);
        assert_eq!(
            measured(&run(500, 0), &[run(80, 0)]).unwrap().engine_work,
            0
        );
        assert_eq!(measured(&recorded, &[]), None);
    }

    #[test]
    fn collections_are_scaled_by_what_was_measured_of_them() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("c.pmt");
        let header = Header::of_this_process("some engine");
        let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
        recorder.port_costs(&PortCosts {
            inside: [COST_UNIT as u32; 8],
            ..PortCosts::default()
        });
        let main = recorder.predicate("user", "main", 0, None, 0);
        let collection = recorder.predicate("system", "garbage_collect", 0, None, 0);
        let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
        let begin = portmortem_tracer::clock::ticks();
        stream.record_at(Event::Call { predicate: main }, begin);
        stream.record_at(
            Event::Call {
                predicate: collection,
            },
            begin + 4_000_000,
        );
        stream.record_at(Event::ExitDet, begin + 12_000_000);
        stream.record_at(Event::ExitDet, begin + 16_000_000);
        stream.end();
        recorder.close(Outcome::Exited(0)).unwrap();
        let trace = Trace::open(&path).unwrap();
        let profile = replay(&trace, &ReplayOptions::default());
        let whole = Outermost::new(&trace, &profile);
        assert_eq!(whole.engine_ns, trace.clock().duration_ns(8_000_000));

        let wanted = trace.clock().duration_ns(9_000_000);
        let again = Outermost {
            ns: wanted,
            engine_ns: whole.engine_ns / 4,
            ..whole.clone()
        };
        let baseline = measured(&whole, &[again]).unwrap();
        assert!(baseline.engine_work.abs_diff(256) <= 1, "{baseline:?}");
        let costs = PortCosts {
            inside: [100_000 * COST_UNIT as u32; 8],
            ..PortCosts::default()
        };
        let rates = Rates {
            ports: costs,
            ..Rates::of(&trace).unwrap()
        };
        let fitted = fit(&trace, &profile, rates, &baseline);
        let found = Compensation::new(&profile, &fitted);
        let collections = found.predicates[1].self_ticks;
        assert!(collections.abs_diff(2_000_000) <= 8_000, "{collections}");
        let left = trace.clock().duration_ns(found.compensated_ticks);
        assert!(left.abs_diff(wanted) <= wanted / 100, "{left} for {wanted}");
    }

    #[test]
    fn what_is_left_is_what_was_measured() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("b.pmt");
        let (trace, profile) = recorded(&path, 10_000, 20);
        let whole: u64 = profile.contexts.iter().map(|row| row.self_ticks).sum();
        let whole = trace.clock().duration_ns(whole);
        for part in [1, 2, 3, 5, 9, 10] {
            let wanted = whole * part / 10;
            let baseline = Baseline {
                ns: wanted,
                runs: 1,
                engine_work: COST_UNIT as u32,
            };
            let fitted = fit(&trace, &profile, Rates::of(&trace).unwrap(), &baseline);
            let left = Compensation::ticks_left(&profile, &fitted);
            let left = trace.clock().duration_ns(left);
            // So much does a step of the scale take off; and what rounding does.
            let step = trace.clock().duration_ns(20_002 * 20 / SCALE_UNIT + 1);
            assert!(left.abs_diff(wanted) <= step, "{left} for {wanted}");
        }
    }
}
