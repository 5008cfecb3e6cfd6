//! Times as they would be without the recorder: a pass over a profile.
//!
//! Each event that was written took time of its own, part of it in the stretch of the box that was entered or
//! left, part in that of the caller ([`PortCosts`]). The profile counts both for every row of the call tree
//! ([`crate::contexts::ContextFigures::inside`]), so the cost of a row is a sum of products, in integers.
//! What is left of the row's self time is its compensated self time. Time of hidden boxes is their callers', and so is what
//! recording them took ([`HiddenFigures`]).
//!
//! Of the engine's own work so much is left as a baseline says, or all. A baseline fits the costs, too ([`crate::baseline`]): below
//! each outermost predicate they are multiplied, and if that does not explain what it takes, all times there are.
//!
//! Costs are means, and a row may have taken less than that: then it has no time left, and what is missing is taken from the
//! row above, because where the line between a box and its caller runs is the least certain thing about a cost. Nothing
//! gets below zero, what goes round is counted ([`Compensation::clamps`]), and nothing is lost but what is missing at
//! the top.
//!
//! Inclusive times are sums over the tree, so they add up like the recorded ones: for contexts, predicates, and both
//! columns of edges. Of edges the profile knows no costs: the compensated time of a row is shared by the callers that can have
//! called it, and that spent in callees by the callees, in proportion to recorded times.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};
use portmortem_tracer::format::{COST_UNIT, Fit, PortCosts};

use crate::contexts::ContextFigures;
#[cfg(doc)]
use crate::contexts::HiddenFigures;
use crate::figures::{Caller, Port, PortCounts, PredicateIndex};
use crate::profile::Profile;
use crate::trace::{PredicateInfo, Trace};

/// What recording costs in a trace.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Rates {
    /// Below boxes of these predicates that nobody recorded called.
    pub outermost: BTreeMap<PredicateIndex, Rate>,
    /// Everywhere else.
    pub other: Rate,
    /// What is left of the time of the engine's own work, in parts of [`COST_UNIT`]: all of it, unless it was measured.
    pub engine_work: u32,
    /// By [`PredicateIndex`].
    pub kinds: Vec<BoxKind>,
}

/// What recording costs somewhere in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Rate {
    /// The costs of ports.
    pub ports: PortCosts,
    /// How much of what is left without them is no waiting for what was recorded, in parts of [`COST_UNIT`].
    pub left: u32,
}

/// What a box is, as far as it matters for what recording it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub enum BoxKind {
    /// A call of a predicate with so many arguments.
    Call {
        /// Arguments.
        arity: u32,
    },
    /// A garbage collection or stack shift.
    EngineWork,
}

impl BoxKind {
    /// Of each predicate of a trace.
    #[must_use]
    pub fn by_predicate(trace: &Trace) -> Vec<Self> {
        let of = |info: &PredicateInfo| {
            if info.is_engine_work() {
                Self::EngineWork
            } else {
                Self::Call {
                    arity: info.declared.arity,
                }
            }
        };
        trace.predicates().iter().map(of).collect()
    }

    /// Of one predicate; nothing is known of the unknown one.
    pub(crate) fn of(kinds: &[Self], predicate: PredicateIndex) -> Self {
        let of = kinds.get(predicate as usize).copied();
        of.unwrap_or(Self::Call { arity: 0 })
    }
}

impl Rate {
    /// The costs of ports as they are, and no waiting.
    #[must_use]
    pub fn new(ports: PortCosts) -> Self {
        Self {
            ports,
            left: COST_UNIT as u32,
        }
    }

    /// Fitted to a baseline.
    #[must_use]
    pub fn fitted(ports: &PortCosts, fit: &Fit) -> Self {
        let times = |cost: u32| {
            let units = u64::from(cost) * u64::from(fit.costs) / COST_UNIT;
            u32::try_from(units).unwrap_or(u32::MAX)
        };
        Self {
            ports: PortCosts {
                inside: ports.inside.map(times),
                outside: ports.outside.map(times),
                argument: times(ports.argument),
                slowdown: times(ports.slowdown),
                reach: ports.reach,
            },
            left: fit.left,
        }
    }
}

impl Rates {
    /// As a trace says; `None` if it does not.
    #[must_use]
    pub fn of(trace: &Trace) -> Option<Self> {
        let rates = Self::new(trace, trace.port_costs()?);
        Some(match trace.baseline() {
            Some(baseline) => rates.fitted(trace, baseline.engine_work, trace.fits()),
            None => rates,
        })
    }

    /// The same everywhere.
    #[must_use]
    pub fn new(trace: &Trace, ports: &PortCosts) -> Self {
        Self {
            outermost: BTreeMap::new(),
            other: Rate::new(*ports),
            engine_work: COST_UNIT as u32,
            kinds: BoxKind::by_predicate(trace),
        }
    }

    /// Fitted to a baseline.
    #[must_use]
    pub fn fitted(mut self, trace: &Trace, engine_work: u32, fits: &[Fit]) -> Self {
        self.engine_work = engine_work;
        let ports = self.other.ports;
        for fit in fits {
            let rate = Rate::fitted(&ports, fit);
            match fit.predicate.map(|id| trace.predicate_index(id)) {
                None => self.other = rate,
                Some(Some(predicate)) => {
                    self.outermost.insert(predicate, rate);
                }
                // Its record is damaged.
                Some(None) => {}
            }
        }
        self
    }

    /// What holds below boxes of a predicate that nobody recorded called.
    fn below(&self, outermost: PredicateIndex) -> &Rate {
        self.outermost.get(&outermost).unwrap_or(&self.other)
    }

    /// What is left of the row's own time, and what is missing: so much less did it take than recording it costs.
    pub(crate) fn left(&self, row: &ContextFigures, rate: &Rate, missing: u64) -> (u64, u64) {
        match BoxKind::of(&self.kinds, row.predicate) {
            BoxKind::EngineWork => (part(row.self_ticks, self.engine_work), missing),
            BoxKind::Call { arity } => {
                let engine_work = row.hidden.engine_ticks.min(row.self_ticks);
                let own = row.self_ticks - engine_work;
                let cost = missing.saturating_add(cost(row, arity, &rate.ports));
                let left = undisturbed(own.saturating_sub(cost), row, &rate.ports);
                // Both are parts of the row's self time.
                (
                    part(left, rate.left) + part(engine_work, self.engine_work),
                    cost.saturating_sub(own),
                )
            }
        }
    }
}

/// So many parts of [`COST_UNIT`] of a time; not more than all of it.
fn part(ticks: u64, parts: u32) -> u64 {
    let parts = u64::from(parts).min(COST_UNIT);
    let part = u128::from(ticks) * u128::from(parts) / u128::from(COST_UNIT);
    part as u64
}

/// Compensated times, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// Twin of `self_ticks`.
    pub self_ticks: u64,
    /// Twin of `inclusive_ticks`.
    pub inclusive_ticks: u64,
}

/// Compensated times of an edge, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EdgeTimes {
    /// Twin of `served_ticks`.
    pub served_ticks: u64,
    /// Twin of `spent_ticks`.
    pub spent_ticks: u64,
}

/// The compensated times of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compensation {
    /// By [`PredicateIndex`].
    pub predicates: Vec<Times>,
    /// As [`Profile::contexts`].
    pub contexts: Vec<Times>,
    /// As [`Profile::edges`].
    pub edges: BTreeMap<(Caller, PredicateIndex), EdgeTimes>,
    /// Rows of the call tree that took less than recording them costs.
    pub clamps: u64,
    /// Ticks that boxes ran, as recorded.
    pub recorded_ticks: u64,
    /// Ticks that are left of them.
    pub compensated_ticks: u64,
}

impl Compensation {
    /// The times of a profile.
    #[must_use]
    pub fn new(profile: &Profile, rates: &Rates) -> Self {
        let mut compensation = Self::default();
        compensation.contexts(&profile.contexts, 0, rates);
        compensation.predicates(profile);
        compensation.served(profile);
        compensation.spent(profile);
        compensation
    }

    /// What is left of the time of some rows: outermost ones with all below them. The `first` of the profile is the first of them.
    pub(crate) fn ticks_left(rows: &[ContextFigures], first: usize, rates: &Rates) -> u64 {
        let mut compensation = Self::default();
        compensation.contexts(rows, first, rates);
        compensation.compensated_ticks
    }

    /// Which part of the recorded time is the recorder's own, in thousandths.
    #[must_use]
    pub fn distortion_permille(&self) -> u64 {
        let own = self.recorded_ticks - self.compensated_ticks;
        let scaled = u128::from(own) * 1000 / u128::from(self.recorded_ticks.max(1));
        scaled as u64
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
            let (own, short) = rates.left(row, rates.below(outermost[at]), missing[at]);
            self.clamps += u64::from(short > 0);
            times[at].self_ticks = own;
            add(&mut times[at].inclusive_ticks, own);
            add(&mut self.recorded_ticks, row.self_ticks);
            add(&mut self.compensated_ticks, own);
            let inclusive = times[at].inclusive_ticks;
            if let Some(above) = above(row) {
                missing[above] = missing[above].saturating_add(short);
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

    /// The inclusive time of a row is served for whoever called it: the row above, or boxes of recursive rows beside it, which
    /// call from the same context.
    fn served(&mut self, profile: &Profile) {
        let mut recursive: BTreeMap<Option<u32>, Vec<Caller>> = BTreeMap::new();
        for row in profile.contexts.iter().filter(|row| row.recursive) {
            let callers = recursive.entry(row.parent).or_default();
            callers.push(Caller::Predicate(row.predicate));
        }
        for (row, times) in profile.contexts.iter().zip(&self.contexts) {
            if row.recursive {
                continue;
            }
            let above = row.parent.and_then(|at| profile.contexts.get(at as usize));
            let above = above.map_or(Caller::Root, |row| Caller::Predicate(row.predicate));
            let beside = recursive.get(&row.parent).into_iter().flatten().copied();
            let callers = std::iter::once(above).chain(beside);
            let weighted: Vec<_> = callers
                .filter_map(|caller| {
                    let pair = (caller, row.predicate);
                    Some((pair, profile.edges.get(&pair)?.served_ticks))
                })
                .collect();
            for (pair, ticks) in share(times.inclusive_ticks, &weighted) {
                add(&mut self.edges.entry(pair).or_default().served_ticks, ticks);
            }
        }
    }

    /// What is not a predicate's own is spent in its callees: by recorded time, less what recording took of each.
    fn spent(&mut self, profile: &Profile) {
        let mut callees: BTreeMap<PredicateIndex, Vec<_>> = BTreeMap::new();
        for (&(caller, callee), figures) in &profile.edges {
            let (Some(recorded), Some(times)) = (
                profile.predicates.get(callee as usize),
                self.predicates.get(callee as usize),
            ) else {
                continue;
            };
            let weight = u128::from(figures.spent_ticks) * u128::from(times.inclusive_ticks)
                / u128::from(recorded.inclusive_ticks.max(1));
            let weight = u64::try_from(weight).unwrap_or(u64::MAX);
            match caller {
                Caller::Predicate(caller) => callees
                    .entry(caller)
                    .or_default()
                    .push(((Caller::Predicate(caller), callee), weight)),
                Caller::Root => {
                    self.edges.entry((caller, callee)).or_default().spent_ticks = weight;
                }
            }
        }
        for (caller, weighted) in callees {
            let Some(times) = self.predicates.get(caller as usize) else {
                continue;
            };
            let spent = times.inclusive_ticks.saturating_sub(times.self_ticks);
            for (pair, ticks) in share(spent, &weighted) {
                add(&mut self.edges.entry(pair).or_default().spent_ticks, ticks);
            }
        }
    }
}

/// Sums stay where 64 bits end: only figures of impossible ticks get there.
fn add(sum: &mut u64, part: u64) {
    *sum = sum.saturating_add(part);
}

/// Ticks that recording took of a row's own time.
fn cost(row: &ContextFigures, arity: u32, costs: &PortCosts) -> u64 {
    let products = |counts: &PortCounts, costs: &[u32; 8]| -> u128 {
        let both = counts.iter().zip(costs);
        both.map(|(count, cost)| u128::from(*count) * u128::from(*cost))
            .sum()
    };
    let entries = row.inside[Port::Call as usize].saturating_add(row.inside[Port::Tail as usize]);
    let arguments = u128::from(entries) * u128::from(arity) + u128::from(row.hidden.arguments);
    // Eight products of 64 and 32 bits each are far from 128.
    let ports = products(&row.inside, &costs.inside)
        + products(&row.outside, &costs.outside)
        + products(&row.hidden.inside, &costs.inside)
        + products(&row.hidden.outside, &costs.outside);
    let units = arguments
        .saturating_mul(u128::from(costs.argument))
        .saturating_add(ports + u128::from(COST_UNIT) / 2);
    u64::try_from(units / u128::from(COST_UNIT)).unwrap_or(u64::MAX)
}

/// What own work takes when it is not slowed down by the recording around it. Slowed down is what follows on an event, as far as
/// [`PortCosts::reach`]; how long each stretch is the profile does not know, so all are taken to be equal.
fn undisturbed(ticks: u64, row: &ContextFigures, costs: &PortCosts) -> u64 {
    // An event ends one stretch and begins another, and counts inside of one row and outside of another.
    let events: u128 = [
        &row.inside,
        &row.outside,
        &row.hidden.inside,
        &row.hidden.outside,
    ]
    .into_iter()
    .flatten()
    .map(|count| u128::from(*count))
    .sum();
    let reached = events / 2 * u128::from(costs.reach);
    let (unit, slowdown) = (u128::from(COST_UNIT), u128::from(costs.slowdown));
    let recorded = u128::from(ticks);
    let slowed = (recorded * unit / (unit + slowdown)).min(reached);
    let own = recorded.saturating_sub(slowed * slowdown / unit);
    own as u64
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
    use super::*;
    use crate::figures::{EdgeFigures, PredicateFigures};

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
            other: Rate::new(ports),
            engine_work: COST_UNIT as u32,
            kinds: kinds.collect(),
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
        }
        for (caller, callee, served, spent) in [
            (Caller::Root, 0, 1625, 1625),
            (Caller::Predicate(0), 1, 535, 535),
            (Caller::Predicate(0), 2, 90, 90),
            (Caller::Predicate(1), 2, 35, 35),
        ] {
            let edge = EdgeFigures {
                served_ticks: served,
                spent_ticks: spent,
                ..EdgeFigures::default()
            };
            profile.edges.insert((caller, callee), edge);
        }
        profile
    }

    #[test]
    fn each_row_loses_what_its_events_cost() {
        // 5 ticks of a box are its own, 7 its caller's.
        let found = Compensation::new(&profile(), &rates(costs((2, 3), (3, 4)), &[]));
        let own: Vec<_> = found
            .contexts
            .iter()
            .map(|times| times.self_ticks)
            .collect();
        // 1000 - 5 - 77; 500 - 50 - 70, and 15 that the first q was short of; 90 - 5.
        assert_eq!(own, [918, 365, 0, 85]);
        assert_eq!((found.clamps, found.recorded_ticks), (1, 1625));
        assert_eq!(found.compensated_ticks, 918 + 365 + 85);
        assert_eq!(found.contexts[0].inclusive_ticks, found.compensated_ticks);
        assert_eq!(found.distortion_permille(), 158);
    }

    #[test]
    fn arguments_cost_and_own_work_is_slowed_down() {
        // Every box of `p` has three arguments of 4 ticks each; work is a quarter longer, for 20 ticks after an event.
        let mut costs = costs((2, 3), (3, 4));
        costs.argument = 4 * COST_UNIT as u32;
        costs.slowdown = COST_UNIT as u32 / 4;
        costs.reach = 20;
        let found = Compensation::new(&profile(), &rates(costs, &[0, 3]));
        // 500 - 120 - 15 - 10 * 12 is 245 slowed down, below the reach of 20 stretches.
        assert_eq!(found.contexts[1].self_ticks, 196);
        // 1000 - 82 is 918, of which only 12 stretches of 20 ticks were slowed down.
        assert_eq!(found.contexts[0].self_ticks, 918 - 60);
    }

    #[test]
    fn of_the_engines_own_work_so_much_is_left_as_was_measured() {
        let mut rates = rates(costs((2, 3), (3, 4)), &[0, 0, 0]);
        rates.kinds[2] = BoxKind::EngineWork;
        let found = Compensation::new(&profile(), &rates);
        assert_eq!(found.predicates[2].self_ticks, 125);
        rates.engine_work = COST_UNIT as u32 / 5;
        let found = Compensation::new(&profile(), &rates);
        assert_eq!(found.contexts[2].self_ticks, 35 * 204 / 1024);
        assert_eq!(found.contexts[3].self_ticks, 90 * 204 / 1024);
        rates.engine_work = u32::MAX;
        let found = Compensation::new(&profile(), &rates);
        assert_eq!(found.predicates[2].self_ticks, 125);
    }

    #[test]
    fn sums_are_kept() {
        let calls = rates(costs((2, 3), (3, 4)), &[0, 0, 0]);
        for engine_work in [0, 100, COST_UNIT as u32] {
            let mut collections = calls.clone();
            collections.kinds[2] = BoxKind::EngineWork;
            collections.engine_work = engine_work;
            keeps_sums(&Compensation::new(&profile(), &collections));
        }
        keeps_sums(&Compensation::new(&profile(), &calls));
    }

    fn keeps_sums(found: &Compensation) {
        for (at, times) in found.predicates.iter().enumerate() {
            let at = at as u32;
            let served: u64 = found
                .edges
                .iter()
                .filter(|((_, callee), _)| *callee == at)
                .map(|(_, edge)| edge.served_ticks)
                .sum();
            assert_eq!(served, times.inclusive_ticks);
            let spent: u64 = found
                .edges
                .iter()
                .filter(|((caller, _), _)| *caller == Caller::Predicate(at))
                .map(|(_, edge)| edge.spent_ticks)
                .sum();
            assert_eq!(times.self_ticks + spent, times.inclusive_ticks);
        }
        assert!(found.compensated_ticks <= found.recorded_ticks);
    }

    #[test]
    fn without_costs_nothing_changes() {
        let found = Compensation::new(&profile(), &rates(PortCosts::default(), &[]));
        assert_eq!((found.clamps, found.distortion_permille()), (0, 0));
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
        let found = Compensation::new(&profile(), &rates(all, &[]));
        assert_eq!((found.clamps, found.compensated_ticks), (4, 0));
        assert_eq!(found.distortion_permille(), 1000);
        let nothing = Compensation::new(&Profile::default(), &rates(all, &[]));
        assert_eq!(nothing.clamps, 0);
    }
}
