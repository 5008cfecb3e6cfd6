//! What recording cost a program, from runs of it that hardly cost anything.
//!
//! Mean costs of ports do not know how a program uses caches and branch predictors. What recording cost it in all can be
//! measured: the program is run again, and only its outermost predicates are recorded ([`Outermost`]). The costs of all ports
//! are multiplied alike until the times without them add up to that ([`UnrecordedRuns::fits`]), below each outermost predicate for itself; but
//! not by more than programs were seen to need. What then is left over is no cost of any event, and taken off in
//! proportion. Garbage collections and stack shifts have a share of their own, because a run that is
//! not recorded has less of them. How the sums are shared by the predicates stays an estimate, the sums do not.
//!
//! Waiting is no work, and is in none of these sums: no costs are fitted to how busy the machine was. It has a share of its own,
//! too, because a program that waits for its own threads waits for less if they are not recorded.
//! Nor is set-up in any of these sums: all of it is recording.

use std::collections::BTreeMap;

use portmortem_tracer::format::{Baseline, COST_UNIT, Fit};

use crate::figures::Caller;
use crate::figures::contexts::ContextFigures;
use crate::figures::net_times::NetTimes;
use crate::figures::profile::Profile;
use crate::net::{Rate, Rates};
use crate::trace::{BoxKind, PredicateInfo, Trace};

/// What happened in the outermost boxes of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outermost {
    /// By predicate, `module:name/arity`, without the engine's own work.
    pub counts: BTreeMap<String, RootCounts>,
    /// Time in those of each predicate, in ns, again without the engine's own work at the top; without the recorder's own if the
    /// trace says what that is.
    pub times: BTreeMap<String, u64>,
    /// Time in all, in ns; the same.
    pub ns: u64,
    /// Of that, the engine's own work, in ns, as recorded.
    pub engine_ns: u64,
    /// Waiting, in ns, which is in none of the other times.
    pub waiting_ns: u64,
}

/// How often predicates were called from nowhere, and how that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RootCounts {
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
        let mut counts: BTreeMap<String, RootCounts> = BTreeMap::new();
        for (&(caller, callee), figures) in &profile.edges {
            let Some(info) = trace.predicates().get(callee as usize) else {
                continue;
            };
            if caller == Caller::Root && !info.is_engine_work() {
                let sum = counts.entry(name(info)).or_default();
                sum.calls = sum.calls.saturating_add(figures.calls);
                sum.exits = sum.exits.saturating_add(figures.exits());
                sum.fails = sum.fails.saturating_add(figures.fails);
            }
        }
        let kinds = BoxKind::by_predicate(trace);
        let mut times: BTreeMap<String, u64> = BTreeMap::new();
        let (mut all, mut waited, mut first) = (0_u64, 0_u64, 0);
        // The rows of each outermost predicate follow each other.
        for below in profile.contexts.chunk_by(|_, next| next.parent.is_some()) {
            let mut worked = 0_u64;
            for (at, row) in below.iter().enumerate() {
                let net = profile.net.as_ref();
                let ticks = net.map_or(row.self_ticks, |net| net.contexts[first + at].self_ticks);
                match BoxKind::of(&kinds, row.predicate) {
                    BoxKind::Waiting => waited = waited.saturating_add(ticks),
                    BoxKind::SetUp => {}
                    _ => worked = worked.saturating_add(ticks),
                }
            }
            first += below.len();
            all = all.saturating_add(worked);
            let info = trace.predicates().get(below[0].predicate as usize);
            if let Some(info) = info.filter(|info| !info.is_engine_work()) {
                let ns = trace.clock().duration_ns(worked);
                let sum = times.entry(name(info)).or_default();
                *sum = sum.saturating_add(ns);
            }
        }
        let ticks_of = |wanted: &[BoxKind]| -> u64 {
            let known = kinds.iter().zip(&profile.predicates);
            known
                .filter(|(kind, _)| wanted.contains(kind))
                .map(|(_, figures)| figures.self_ticks)
                .fold(0, u64::saturating_add)
        };
        let engine_ticks = ticks_of(&[BoxKind::EngineWork, BoxKind::Autoload]);
        Self {
            counts,
            times,
            ns: trace.clock().duration_ns(all),
            engine_ns: trace.clock().duration_ns(engine_ticks),
            waiting_ns: trace.clock().duration_ns(waited),
        }
    }
}

fn name(info: &PredicateInfo) -> String {
    let declared = &info.declared;
    format!("{}:{}/{}", declared.module, declared.name, declared.arity)
}

/// What unrecorded runs of a program say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrecordedRuns {
    /// In all.
    pub baseline: Baseline,
    /// Time of outermost predicates, in ns.
    times: BTreeMap<String, u64>,
    /// How much of the recorded waiting there was, in parts of [`COST_UNIT`].
    waiting: u32,
}

/// Costs are made at most so many times as large, in parts of [`COST_UNIT`]. `make bench-truth` finds no program that needs
/// 1.6 times as much, but for one whose threads wait for recorded ones.
const MOST: u64 = 2 * COST_UNIT;

/// What is fitted for itself took at least one of so many parts of the time.
const PARTS: u64 = 100;

impl UnrecordedRuns {
    /// `None` without runs. Others that use the machine make some runs longer, and none shorter: the quickest counts, for each
    /// outermost predicate its own.
    #[must_use]
    pub fn new(recorded: &Outermost, unrecorded: &[Outermost]) -> Option<Self> {
        let quickest = unrecorded.iter().min_by_key(|run| run.ns)?;
        // What else uses the machine makes no thread wait for less.
        let waiting = unrecorded.iter().map(|run| run.waiting_ns).min();
        let mut times = quickest.times.clone();
        for (predicate, time) in unrecorded.iter().flat_map(|run| &run.times) {
            times
                .entry(predicate.clone())
                .and_modify(|least| *least = (*least).min(*time));
        }
        let sum =
            |times: &BTreeMap<String, u64>| times.values().copied().fold(0, u64::saturating_add);
        let baseline = Baseline {
            // The rest of that run is engine work at the top.
            ns: sum(&times).saturating_add(quickest.ns.saturating_sub(sum(&quickest.times))),
            runs: u32::try_from(unrecorded.len()).unwrap_or(u32::MAX),
            engine_work: units(quickest.engine_ns, recorded.engine_ns),
        };
        Some(Self {
            baseline,
            times,
            waiting: units(waiting.unwrap_or(0), recorded.waiting_ns),
        })
    }

    /// How the costs of ports, and times, are to be multiplied so that what is left of recorded times is nearest to what was measured.
    #[must_use]
    pub fn fits(&self, trace: &Trace, profile: &Profile, rates: &Rates) -> Vec<Fit> {
        let rates = Rates {
            engine_work: self.baseline.engine_work,
            waiting: 0,
            ..rates.clone()
        };
        let rows = &profile.contexts;
        let all = rows.iter().map(|row| row.self_ticks);
        let all = all.fold(0, u64::saturating_add);
        let mut fits = vec![fit(trace, None, (rows, 0), &rates, self.baseline.ns)];
        let mut first = 0;
        // The rows of each outermost predicate follow each other.
        for below in rows.chunk_by(|_, next| next.parent.is_some()) {
            let row = &below[0];
            let info = trace.predicates().get(row.predicate as usize);
            let ns = info.and_then(|info| self.times.get(&name(info)));
            if let (Some(info), Some(&ns)) = (info, ns)
                && row.inclusive_ticks.saturating_mul(PARTS) >= all
            {
                let predicate = Some(info.declared.id);
                fits.push(fit(trace, predicate, (below, first), &rates, ns));
            }
            first += below.len();
        }
        let waiting = trace.predicates().iter().filter(|info| info.is_waiting());
        fits.extend(waiting.map(|info| Fit {
            predicate: Some(info.declared.id),
            costs: COST_UNIT as u32,
            left: self.waiting,
        }));
        fits
    }
}

/// A part of a whole, in parts of [`COST_UNIT`]; not more than all of it.
fn units(part: u64, whole: u64) -> u32 {
    let whole = whole.max(1);
    let units = u128::from(part.min(whole)) * u128::from(COST_UNIT) / u128::from(whole);
    units as u32
}

/// What fits rows, from the first on, to a time in ns.
fn fit(
    trace: &Trace,
    predicate: Option<u32>,
    (rows, first): (&[ContextFigures], usize),
    rates: &Rates,
    ns: u64,
) -> Fit {
    let costs = rates.other.costs;
    let mut rates = rates.clone();
    let mut left = |fit: Fit| {
        rates.other = Rate::fitted(&costs, &fit);
        let ticks = NetTimes::ticks_left(rows, first, &rates);
        trace.clock().duration_ns(ticks)
    };
    let with = |costs: u64, left: u64| Fit {
        predicate,
        costs: costs as u32,
        left: left as u32,
    };
    // The more is taken off the less is left.
    let costs = nearest(MOST, ns, |costs| left(with(costs, COST_UNIT)));
    let waited = nearest(COST_UNIT, ns, |waited| {
        left(with(costs, COST_UNIT - waited))
    });
    with(costs, COST_UNIT - waited)
}

/// The number up to `most` for which a function that does not grow is nearest to a value; the least of them.
fn nearest(most: u64, value: u64, mut function: impl FnMut(u64) -> u64) -> u64 {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low.midpoint(high);
        if function(middle) > value {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let mut distance = |at: u64| function(at).abs_diff(value);
    let before = low.saturating_sub(1);
    if distance(before) <= distance(low) {
        before
    } else {
        low
    }
}

#[cfg(test)]
mod tests {
    use portmortem_tracer::format::{
        Dialect, Event, Header, Outcome, PortCosts, Record, Role, Roles, StreamKind,
    };
    use portmortem_tracer::{NewPredicate, Options, Recorder};

    use super::*;
    use crate::net::RecordingCosts;
    use crate::replay::{ReplayOptions, replay};

    /// A trace of so many calls of `leaf/1` from `main/0`, 100 ticks each and 100 apart, and what recording is said to have cost.
    fn recorded(path: &std::path::Path, calls: u32, cost: u32) -> (Trace, Profile) {
        let header = Header::of_this_process("some engine");
        let recorder = Recorder::create(path, &header, &Options::default()).unwrap();
        recorder.recording_costs(&Record::PortCosts(PortCosts {
            inside: [cost * COST_UNIT as u32; 8],
            ..PortCosts::default()
        }));
        let main = recorder.predicate(NewPredicate::named("user", "main", 0));
        let leaf = recorder.predicate(NewPredicate::named("odd module", "a leaf", 1));
        let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
        let mut tick = portmortem_tracer::clock::ticks();
        let mut record = |event| {
            stream.record_at(event, tick);
            tick += 100;
        };
        record(Event::Call { predicate: main });
        for _ in 0..calls {
            record(Event::Call { predicate: leaf });
            record(Event::ExitDet);
        }
        record(Event::Fail);
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
        let once = RootCounts {
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
            times: BTreeMap::from([("a".to_owned(), ns - 10), ("b".to_owned(), 10)]),
            ns,
            engine_ns,
            waiting_ns: engine_ns,
        };
        let recorded = run(500, 64);
        let measured = |recorded: &Outermost, runs: &[Outermost]| {
            UnrecordedRuns::new(recorded, runs).map(|measured| measured.baseline)
        };
        let found = measured(&recorded, &[run(90, 20), run(80, 16), run(95, 0)]).unwrap();
        assert_eq!((found.ns, found.runs, found.engine_work), (80, 3, 256));
        // No more than was recorded.
        let found = measured(&recorded, &[run(80, 70)]).unwrap();
        assert_eq!(found.engine_work, 1024);
        let found = measured(&run(500, 0), &[run(80, 0)]).unwrap();
        assert_eq!(found.engine_work, 0);
        assert_eq!(measured(&recorded, &[]), None);
        // Threads wait for one another: each predicate has its own quickest run.
        let other = Outermost {
            times: BTreeMap::from([("a".to_owned(), 85), ("b".to_owned(), 5)]),
            ..run(90, 0)
        };
        assert_eq!(measured(&recorded, &[run(80, 0), other]).unwrap().ns, 75);
    }

    #[test]
    fn collections_are_scaled_by_what_was_measured_of_them() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("c.pmt");
        let header = Header::of_this_process("some engine");
        let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
        recorder.recording_costs(&Record::PortCosts(PortCosts {
            inside: [COST_UNIT as u32; 8],
            ..PortCosts::default()
        }));
        let main = recorder.predicate(NewPredicate::named("user", "main", 0));
        let roles = Roles::of(&[Role::Collection]);
        let collection =
            recorder.predicate(NewPredicate::named("engine", "collect", 0).with_roles(roles));
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
            times: BTreeMap::from([("user:main/0".to_owned(), wanted)]),
            ns: wanted,
            engine_ns: whole.engine_ns / 4,
            ..whole.clone()
        };
        let measured = UnrecordedRuns::new(&whole, &[again]).unwrap();
        let engine_work = measured.baseline.engine_work;
        assert!(engine_work.abs_diff(256) <= 1, "{measured:?}");
        let costs = RecordingCosts {
            ports: PortCosts {
                inside: [100_000 * COST_UNIT as u32; 8],
                ..PortCosts::default()
            },
            ..RecordingCosts::default()
        };
        let rates = Rates::new(&trace, &costs);
        let fits = measured.fits(&trace, &profile, &rates);
        let fitted = rates.fitted(&trace, engine_work, &fits);
        let found = NetTimes::of(&profile, &fitted);
        let collections = found.predicates[1].self_ticks;
        assert!(collections.abs_diff(2_000_000) <= 8_000, "{collections}");
        let left = trace.clock().duration_ns(found.net_ticks);
        assert!(left.abs_diff(wanted) <= wanted / 100, "{left} for {wanted}");
    }

    /// The first worked for half of its time, and waited for the other, for one that is recorded: unrecorded, both are quicker.
    #[test]
    fn waiting_is_neither_work_nor_cost() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("w.pmt");
        let header = Header::of_this_process("some engine");
        let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
        recorder.recording_costs(&Record::PortCosts(PortCosts {
            inside: [1_000_000 * COST_UNIT as u32; 8],
            ..PortCosts::default()
        }));
        let main = recorder.predicate(NewPredicate::named("user", "main", 0));
        let roles = Roles::of(&[Role::Waiting]);
        let waiting =
            recorder.predicate(NewPredicate::named("engine", "idle", 0).with_roles(roles));
        let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
        let begin = portmortem_tracer::clock::ticks();
        stream.record_at(Event::Call { predicate: main }, begin);
        stream.record_at(Event::Call { predicate: waiting }, begin + 4_000_000);
        stream.record_at(Event::ExitDet, begin + 12_000_000);
        stream.record_at(Event::ExitDet, begin + 16_000_000);
        stream.end();
        recorder.close(Outcome::Exited(0)).unwrap();
        let trace = Trace::open(&path).unwrap();
        let profile = replay(&trace, &ReplayOptions::default());
        let ns = |ticks| trace.clock().duration_ns(ticks);
        let whole = Outermost::new(&trace, &profile);
        // A million ticks are the costs of each of two events.
        let worked = whole.times["user:main/0"];
        assert!(worked.abs_diff(ns(6_000_000)) <= 1, "{whole:?}");
        assert_eq!((whole.ns, whole.engine_ns), (worked, 0));
        assert_eq!(whole.waiting_ns, ns(8_000_000));

        let again = |waited| Outermost {
            times: BTreeMap::from([("user:main/0".to_owned(), ns(5_000_000))]),
            ns: ns(5_000_000),
            waiting_ns: ns(waited),
            ..whole.clone()
        };
        let measured = UnrecordedRuns::new(&whole, &[again(9_000_000), again(2_000_000)]).unwrap();
        let rates = Rates::of(&trace).unwrap();
        let fits = measured.fits(&trace, &profile, &rates);
        let found = NetTimes::of(&profile, &rates.fitted(&trace, 0, &fits));
        for (at, wanted) in [(0, 5_000_000), (1, 2_000_000)] {
            let net = found.predicates[at].self_ticks;
            assert!(net.abs_diff(wanted) <= 9_000, "{net} for {wanted}");
        }
        assert_eq!(found.recorded_waiting_ticks, 8_000_000);
        assert_eq!(found.net_waiting_ticks, found.predicates[1].self_ticks);
    }

    #[test]
    fn what_is_left_is_what_was_measured() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("b.pmt");
        let (trace, profile) = recorded(&path, 10_000, 20);
        let recorded = Outermost::new(&trace, &profile);
        let rates = Rates::of(&trace).unwrap();
        let whole = recorded.ns;
        let mut shares = Vec::new();
        for part in [1, 2, 5, 9, 10, 11, 15] {
            let wanted = whole * part / 10;
            let again = Outermost {
                times: BTreeMap::from([("user:main/0".to_owned(), wanted)]),
                ns: wanted,
                ..recorded.clone()
            };
            let measured = UnrecordedRuns::new(&recorded, &[again]).unwrap();
            let fits = measured.fits(&trace, &profile, &rates);
            assert_eq!([fits[0].predicate, fits[1].predicate], [None, Some(0)]);
            assert_eq!((fits[0].costs, fits[0].left), (fits[1].costs, fits[1].left));
            shares.push(fits[1].left);
            let fitted = rates.clone().fitted(&trace, 0, &fits);
            let left = NetTimes::ticks_left(&profile.contexts, 0, &fitted);
            let left = trace.clock().duration_ns(left);
            // More than was recorded there cannot be.
            let wanted = wanted.min(profile_ns(&trace, &profile));
            assert!(left.abs_diff(wanted) * 100 <= whole, "{left} for {wanted}");
        }
        // Ten times less is no cost of any event.
        assert!(shares[0] < 1024 && shares[4..].iter().all(|left| *left == 1024));
    }

    fn profile_ns(trace: &Trace, profile: &Profile) -> u64 {
        let whole = profile.contexts.iter().map(|row| row.self_ticks).sum();
        trace.clock().duration_ns(whole)
    }

    #[test]
    fn each_outermost_predicate_has_a_time_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("d.pmt");
        let header = Header::of_this_process("some engine");
        let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
        recorder.recording_costs(&Record::PortCosts(PortCosts {
            inside: [COST_UNIT as u32; 8],
            ..PortCosts::default()
        }));
        let begin = portmortem_tracer::clock::ticks();
        for (name, id) in [("main", 0), ("worker", 1)] {
            assert_eq!(recorder.predicate(NewPredicate::named("user", name, 0)), id);
            let stream = recorder.stream(StreamKind::Thread, name, Dialect::EveryRedo);
            stream.record_at(Event::Call { predicate: id }, begin);
            stream.record_at(Event::ExitDet, begin + 9_000_000);
            stream.end();
        }
        recorder.close(Outcome::Exited(0)).unwrap();
        let trace = Trace::open(&path).unwrap();
        let profile = replay(&trace, &ReplayOptions::default());
        let recorded = Outermost::new(&trace, &profile);
        let ns = |ticks| trace.clock().duration_ns(ticks);
        let again = Outermost {
            times: BTreeMap::from([
                ("user:main/0".to_owned(), ns(3_000_000)),
                ("user:worker/0".to_owned(), ns(6_000_000)),
            ]),
            ns: ns(9_000_000),
            ..recorded.clone()
        };
        let measured = UnrecordedRuns::new(&recorded, &[again]).unwrap();
        let rates = Rates::of(&trace).unwrap();
        let fits = measured.fits(&trace, &profile, &rates);
        let found = NetTimes::of(&profile, &rates.fitted(&trace, 0, &fits));
        for (at, wanted) in [(0, 3_000_000), (1, 6_000_000)] {
            let net = found.predicates[at].inclusive_ticks;
            assert!(net.abs_diff(wanted) <= 9_000, "{net} for {wanted}");
        }
    }
}
