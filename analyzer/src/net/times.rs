//! Net times of a profile: recorded times less the costs of recording.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::Rates;
use crate::figures::Caller;
use crate::figures::contexts::ContextFigures;
use crate::figures::counted::Counted;
use crate::figures::net_times::{EdgesOfTimes, NetTimes, Times};
use crate::figures::profile::Profile;
use crate::figures::work::Work;
use crate::trace::PredicateIndex;

impl NetTimes {
    /// The times of a profile.
    #[must_use]
    pub fn of(profile: &Profile, rates: &Rates) -> Self {
        let mut net = Self::default();
        net.contexts(&profile.contexts, 0, rates);
        net.predicates(profile);
        let rows = &profile.contexts;
        net.work = Work::sum(rows, profile.predicates.len(), |row| {
            match rates.is_work(rows[row].predicate) {
                true => net.contexts[row].self_ticks,
                false => 0,
            }
        });
        let inside = |times: &[Times]| -> Vec<u64> {
            let times = times.iter();
            times.map(|times| times.inclusive_ticks).collect()
        };
        let own = |counts: fn(&Rates, PredicateIndex) -> bool| {
            let times = (0..).zip(&net.predicates);
            let times = times.map(|(index, times)| match counts(rates, index) {
                true => times.self_ticks,
                false => 0,
            });
            times.collect()
        };
        let all = Inside {
            profile,
            counted: Counted::All,
            contexts: &inside(&net.contexts),
            predicates: &inside(&net.predicates),
            own: own(|_, _| true),
        };
        let work = Inside {
            profile,
            counted: Counted::Work,
            contexts: &net.work.contexts,
            predicates: &net.work.predicates,
            own: own(Rates::is_work),
        };
        let (edges, work_edges) = rayon::join(|| all.edges(), || work.edges());
        Self {
            edges,
            work_edges,
            ..net
        }
    }

    /// What is left of the time of some rows: outermost ones with all below them. The `first` of the profile is the first of them.
    pub(crate) fn ticks_left(rows: &[ContextFigures], first: usize, rates: &Rates) -> u64 {
        let mut net = Self::default();
        net.contexts(rows, first, rates);
        net.net_ticks
    }

    fn contexts(&mut self, rows: &[ContextFigures], first: usize, rates: &Rates) {
        let above = |row: &ContextFigures| row.parent.map(|at| at as usize - first);
        let mut times = vec![Times::default(); rows.len()];
        let mut missing = vec![0_u64; rows.len()];
        let mut outermost: Vec<PredicateIndex> = Vec::with_capacity(rows.len());
        for row in rows {
            outermost.push(above(row).map_or(row.predicate, |at| outermost[at]));
        }
        // A row comes before those below it.
        for (at, row) in rows.iter().enumerate().rev() {
            let rate = rates.below(outermost[at]);
            let (own, short) = rates.left(row, rate, missing[at]);
            self.clamps += u64::from(short > 0);
            times[at].self_ticks = own;
            add(&mut times[at].inclusive_ticks, own);
            add(&mut self.recorded_ticks, row.self_ticks);
            add(&mut self.net_ticks, own);
            let (waited, left) = rates.waiting(row);
            add(&mut self.recorded_waiting_ticks, waited);
            add(&mut self.net_waiting_ticks, left);
            let inclusive = times[at].inclusive_ticks;
            if let Some(above) = above(row) {
                let more = rates.callbacks(row, rows[above].predicate, rate);
                missing[above] = missing[above].saturating_add(short).saturating_add(more);
                add(&mut times[above].inclusive_ticks, inclusive);
            }
        }
        self.contexts = times;
    }

    fn predicates(&mut self, profile: &Profile) {
        self.predicates = vec![Times::default(); profile.predicates.len()];
        for (row, times) in profile.contexts.iter().zip(&self.contexts) {
            let Some(sum) = self.predicates.get_mut(row.predicate as usize) else {
                continue;
            };
            add(&mut sum.self_ticks, times.self_ticks);
            if !row.recursive {
                add(&mut sum.inclusive_ticks, times.inclusive_ticks);
            }
        }
    }
}

/// Net times in boxes with all that they call, as far as they count.
struct Inside<'p> {
    profile: &'p Profile,
    counted: Counted,
    /// As [`Profile::contexts`].
    contexts: &'p [u64],
    /// By predicate.
    predicates: &'p [u64],
    /// By predicate, without what they call.
    own: Vec<u64>,
}

impl Inside<'_> {
    /// By caller and callee.
    fn edges(&self) -> EdgesOfTimes {
        let mut edges = EdgesOfTimes::new();
        self.served(&mut edges);
        self.spent(&mut edges);
        edges
    }

    /// The time of a row is served for its callers: boxes of the row above, or of recursive rows
    /// beside it, which call from the same context.
    fn served(&self, edges: &mut EdgesOfTimes) {
        let rows = &self.profile.contexts;
        let mut recursive: FxHashMap<Option<u32>, Vec<Caller>> = FxHashMap::default();
        for row in rows.iter().filter(|row| row.recursive) {
            let callers = recursive.entry(row.parent).or_default();
            callers.push(Caller::Predicate(row.predicate));
        }
        // There are far more rows than pairs of caller and callee.
        let pairs = self.profile.edges.iter();
        let pairs = pairs.map(|(&pair, figures)| {
            let served = self.counted.edge(figures).served_ticks;
            (pair, (served, None::<u64>))
        });
        let mut pairs: FxHashMap<_, _> = pairs.collect();
        let mut weighted = Vec::new();
        for (row, &inside) in rows.iter().zip(self.contexts) {
            if row.recursive {
                continue;
            }
            let above = row.parent.and_then(|at| rows.get(at as usize));
            let above = above.map_or(Caller::Root, |row| Caller::Predicate(row.predicate));
            let beside = recursive.get(&row.parent).into_iter().flatten().copied();
            let callers = std::iter::once(above).chain(beside);
            weighted.clear();
            weighted.extend(callers.filter_map(|caller| {
                let pair = (caller, row.predicate);
                let (weight, _) = pairs.get(&pair)?;
                Some((pair, *weight))
            }));
            for (pair, ticks) in share(inside, &weighted) {
                if let Some((_, served)) = pairs.get_mut(&pair) {
                    add(served.get_or_insert_default(), ticks);
                }
            }
        }
        for (pair, (_, served)) in pairs {
            if let Some(ticks) = served {
                add(&mut edges.entry(pair).or_default().served_ticks, ticks);
            }
        }
    }

    /// What is not a predicate's own is spent in its callees: by recorded time, less what recording took of each.
    fn spent(&self, edges: &mut EdgesOfTimes) {
        let mut callees: BTreeMap<PredicateIndex, Vec<_>> = BTreeMap::new();
        for (&(caller, callee), figures) in &self.profile.edges {
            let (Some(recorded), Some(&inside)) = (
                self.profile.predicates.get(callee as usize),
                self.predicates.get(callee as usize),
            ) else {
                continue;
            };
            let recorded = self.counted.predicate(recorded).inclusive_ticks;
            let spent = self.counted.edge(figures).spent_ticks;
            let weight = u128::from(spent) * u128::from(inside) / u128::from(recorded.max(1));
            let weight = u64::try_from(weight).unwrap_or(u64::MAX);
            match caller {
                Caller::Predicate(caller) => callees
                    .entry(caller)
                    .or_default()
                    .push(((Caller::Predicate(caller), callee), weight)),
                Caller::Root => edges.entry((caller, callee)).or_default().spent_ticks = weight,
            }
        }
        for (caller, weighted) in callees {
            let at = caller as usize;
            let (Some(inside), Some(own)) = (self.predicates.get(at), self.own.get(at)) else {
                continue;
            };
            for (pair, ticks) in share(inside.saturating_sub(*own), &weighted) {
                add(&mut edges.entry(pair).or_default().spent_ticks, ticks);
            }
        }
    }
}

/// Sums stay where 64 bits end: only figures of impossible ticks get there.
fn add(sum: &mut u64, part: u64) {
    *sum = sum.saturating_add(part);
}

/// Shares `ticks` in proportion to weights, to the last tick; to the first of all if no weight is known.
pub(crate) fn share<T: Copy>(ticks: u64, weighted: &[(T, u64)]) -> impl Iterator<Item = (T, u64)> {
    let all: u128 = weighted.iter().map(|(_, weight)| u128::from(*weight)).sum();
    // So that products have no more than 128 bits.
    let coarse = 64_u32.saturating_sub(all.leading_zeros());
    let (mut before, mut given) = (0, 0);
    weighted.iter().enumerate().map(move |(at, (key, weight))| {
        before += u128::from(*weight);
        let until = match all {
            0 if at == 0 => ticks,
            0 => given,
            // No more than `ticks`.
            _ => (u128::from(ticks) * (before >> coarse) / (all >> coarse)) as u64,
        };
        let part = until - given;
        given = until;
        (*key, part)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use portmortem_tracer::format::{COST_UNIT, PortCosts};

    use super::*;
    use crate::figures::net_times::EdgeTimes;
    use crate::figures::{EdgeFigures, Port, PredicateFigures};
    use crate::net::{Rate, RecordingCosts};
    use crate::trace::BoxKind;

    fn costs(call: (u32, u32), exit: (u32, u32)) -> PortCosts {
        let mut costs = PortCosts::default();
        let unit = COST_UNIT as u32;
        for (port, (inside, outside)) in [(Port::Call, call), (Port::ExitDet, exit)] {
            costs.inside[port as usize] = inside * unit;
            costs.outside[port as usize] = outside * unit;
        }
        costs
    }

    fn rates(ports: PortCosts, arities: &[u32]) -> Rates {
        let kinds = arities.iter().map(|&arity| BoxKind::Call { arity });
        Rates {
            outermost: BTreeMap::new(),
            other: Rate::new(RecordingCosts {
                ports,
                ..RecordingCosts::default()
            }),
            engine_work: COST_UNIT as u32,
            waiting: COST_UNIT as u32,
            kinds: kinds.collect(),
            boundary: BTreeSet::new(),
        }
    }

    /// A row with that many boxes of its own and called from it, all of which exit.
    fn row(
        parent: Option<u32>,
        predicate: u32,
        own: u64,
        boxes: u64,
        called: u64,
    ) -> ContextFigures {
        let mut row = ContextFigures {
            parent,
            predicate,
            self_ticks: own,
            ..ContextFigures::default()
        };
        for port in [Port::Call, Port::ExitDet] {
            row.inside[port as usize] = boxes;
            row.outside[port as usize] = called;
        }
        row
    }

    /// `main` (0) calls `p` (1) ten times and `q` (2) once; `p` calls `q` ten times.
    fn profile() -> Profile {
        let mut profile = Profile {
            contexts: vec![
                row(None, 0, 1000, 1, 11),
                row(Some(0), 1, 500, 10, 10),
                row(Some(1), 2, 35, 10, 0),
                row(Some(0), 2, 90, 1, 0),
            ],
            predicates: vec![PredicateFigures::default(); 4],
            ..Profile::default()
        };
        for (at, (own, inclusive)) in [(1000, 1625), (500, 535), (125, 125)].iter().enumerate() {
            profile.predicates[at].self_ticks = *own;
            profile.predicates[at].inclusive_ticks = *inclusive;
            profile.predicates[at].inclusive_work_ticks = *inclusive;
        }
        for (caller, callee, served, spent) in [
            (Caller::Root, 0, 1625, 1625),
            (Caller::Predicate(0), 1, 535, 535),
            (Caller::Predicate(0), 2, 90, 90),
            (Caller::Predicate(1), 2, 35, 35),
        ] {
            let edge = EdgeFigures {
                served_ticks: served,
                served_work_ticks: served,
                spent_ticks: spent,
                spent_work_ticks: spent,
                ..EdgeFigures::default()
            };
            profile.edges.insert((caller, callee), edge);
        }
        profile
    }

    /// Which part of the recorded time is the recorder's own, in thousandths.
    fn distortion_permille(net: &NetTimes) -> u64 {
        (net.recorded_ticks - net.net_ticks) * 1000 / net.recorded_ticks.max(1)
    }

    #[test]
    fn each_row_loses_what_its_events_cost() {
        // 5 ticks of a box are its own, 7 its caller's.
        let found = NetTimes::of(&profile(), &rates(costs((2, 3), (3, 4)), &[]));
        let own: Vec<_> = found
            .contexts
            .iter()
            .map(|times| times.self_ticks)
            .collect();
        // 1000 - 5 - 77; 500 - 50 - 70, and 15 that the first q was short of; 90 - 5.
        assert_eq!(own, [918, 365, 0, 85]);
        assert_eq!((found.clamps, found.recorded_ticks), (1, 1625));
        assert_eq!(found.net_ticks, 918 + 365 + 85);
        assert_eq!(found.contexts[0].inclusive_ticks, found.net_ticks);
        assert_eq!(distortion_permille(&found), 158);
    }

    #[test]
    fn who_is_at_the_boundary_pays_for_callbacks() {
        let mut rates = rates(costs((2, 3), (3, 4)), &[]);
        let own = |rates: &Rates| -> Vec<u64> {
            let found = NetTimes::of(&profile(), rates);
            found.contexts.iter().map(|row| row.self_ticks).collect()
        };
        rates.other.costs.callback = 6 * COST_UNIT as u32;
        assert_eq!(own(&rates), [918, 365, 0, 85]);
        // `p` calls `q` ten times, and so does `main` once, which is recorded.
        rates.boundary.insert(1);
        assert_eq!(own(&rates), [918, 365 - 60, 0, 85]);
        let mut recursive = profile();
        recursive.contexts[2].recursive = true;
        let found = NetTimes::of(&recursive, &rates);
        assert_eq!(found.contexts[1].self_ticks, 365);
    }

    #[test]
    fn arguments_cost_and_own_work_is_slowed_down() {
        // Every box of `p` has three arguments of 4 ticks each; work is a quarter longer, for 20 ticks after an event.
        let mut costs = costs((2, 3), (3, 4));
        costs.argument = 4 * COST_UNIT as u32;
        costs.slowdown = COST_UNIT as u32 / 4;
        costs.reach = 20;
        let found = NetTimes::of(&profile(), &rates(costs, &[0, 3]));
        // 500 - 120 - 15 - 10 * 12 is 245 slowed down, below the reach of 20 stretches.
        assert_eq!(found.contexts[1].self_ticks, 196);
        // 1000 - 82 is 918, of which only 12 stretches of 20 ticks were slowed down.
        assert_eq!(found.contexts[0].self_ticks, 918 - 60);
    }

    #[test]
    fn of_the_engines_own_work_so_much_is_left_as_was_measured() {
        let mut rates = rates(costs((2, 3), (3, 4)), &[0, 0, 0]);
        rates.kinds[2] = BoxKind::EngineWork;
        let found = NetTimes::of(&profile(), &rates);
        assert_eq!(found.predicates[2].self_ticks, 125);
        rates.engine_work = COST_UNIT as u32 / 5;
        let found = NetTimes::of(&profile(), &rates);
        assert_eq!(found.contexts[2].self_ticks, 35 * 204 / 1024);
        assert_eq!(found.contexts[3].self_ticks, 90 * 204 / 1024);
        rates.engine_work = u32::MAX;
        let found = NetTimes::of(&profile(), &rates);
        assert_eq!(found.predicates[2].self_ticks, 125);
    }

    #[test]
    fn nothing_is_left_of_set_up() {
        let mut rates = rates(costs((2, 3), (3, 4)), &[0, 0, 0]);
        let before = NetTimes::of(&profile(), &rates);
        rates.kinds[2] = BoxKind::SetUp;
        let found = NetTimes::of(&profile(), &rates);
        assert_eq!(found.predicates[2].self_ticks, 0);
        assert_eq!(found.recorded_ticks, before.recorded_ticks);
        let left = |times: &NetTimes| -> u64 {
            let other = times.predicates.iter().take(2);
            other.map(|times| times.self_ticks).sum()
        };
        assert_eq!(found.net_ticks, left(&found));
        keeps_sums(&found, |_| true);
        let mut hidden = profile();
        hidden.contexts[1].hidden.set_up_ticks = u64::MAX;
        assert_eq!(NetTimes::of(&hidden, &rates).contexts[1].self_ticks, 0);
    }

    #[test]
    fn sums_are_kept() {
        let calls = rates(costs((2, 3), (3, 4)), &[0, 0, 0]);
        for engine_work in [0, 100, COST_UNIT as u32] {
            let mut collections = calls.clone();
            collections.kinds[2] = BoxKind::EngineWork;
            collections.engine_work = engine_work;
            keeps_sums(&NetTimes::of(&profile(), &collections), |index| index != 2);
        }
        keeps_sums(&NetTimes::of(&profile(), &calls), |_| true);
    }

    fn keeps_sums(found: &NetTimes, is_work: impl Fn(u32) -> bool) {
        let sum = |edges: &EdgesOfTimes,
                   of: &dyn Fn(Caller, u32) -> bool,
                   ticks: fn(&EdgeTimes) -> u64| {
            let chosen = edges
                .iter()
                .filter(|((caller, callee), _)| of(*caller, *callee));
            chosen.map(|(_, edge)| ticks(edge)).sum::<u64>()
        };
        for (at, times) in found.predicates.iter().enumerate() {
            let (own, index) = (times.self_ticks, at as u32);
            let own_work = if is_work(index) { own } else { 0 };
            for (edges, inclusive, own) in [
                (&found.edges, times.inclusive_ticks, own),
                (&found.work_edges, found.work.predicates[at], own_work),
            ] {
                let served = sum(edges, &|_, callee| callee == index, |edge| {
                    edge.served_ticks
                });
                assert_eq!(served, inclusive);
                let me = Caller::Predicate(index);
                let spent = sum(edges, &|caller, _| caller == me, |edge| edge.spent_ticks);
                assert_eq!(own + spent, inclusive);
            }
        }
        assert!(found.net_ticks <= found.recorded_ticks);
    }

    #[test]
    fn without_costs_nothing_changes() {
        let found = NetTimes::of(&profile(), &rates(PortCosts::default(), &[]));
        assert_eq!((found.clamps, distortion_permille(&found)), (0, 0));
        assert_eq!(found.predicates[2].inclusive_ticks, 125);
    }

    #[test]
    fn absurd_costs_leave_nothing() {
        let all = PortCosts {
            inside: [u32::MAX; 8],
            outside: [u32::MAX; 8],
            argument: u32::MAX,
            slowdown: u32::MAX,
            reach: u32::MAX,
        };
        let found = NetTimes::of(&profile(), &rates(all, &[]));
        assert_eq!((found.clamps, found.net_ticks), (4, 0));
        assert_eq!(distortion_permille(&found), 1000);
        let nothing = NetTimes::of(&Profile::default(), &rates(all, &[]));
        assert_eq!(nothing.clamps, 0);
    }
}
