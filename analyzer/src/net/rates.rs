//! What recording an event costs, in all parts of a trace.

use std::collections::{BTreeMap, BTreeSet};

use bincode::{Decode, Encode};
use portmortem_tracer::format::{COST_UNIT, Fit, PortCosts};

use super::costs::RecordingCosts;
use crate::figures::contexts::ContextFigures;
use crate::figures::{Port, PortCounts};
use crate::net::trials;
use crate::trace::{BoxKind, PredicateIndex, Trace};

/// What recording costs in a trace.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Rates {
    /// Below boxes of these predicates without a recorded caller.
    pub outermost: BTreeMap<PredicateIndex, Rate>,
    /// Everywhere else.
    pub other: Rate,
    /// What is left of the time of the engine's own work, in parts of [`COST_UNIT`]: all of it, unless it was measured.
    pub engine_work: u32,
    /// What is left of the time of waiting, in parts of [`COST_UNIT`]: all of it, unless it was measured.
    pub waiting: u32,
    /// By [`PredicateIndex`].
    pub kinds: Vec<BoxKind>,
    /// [`Trace::boundary`].
    pub boundary: BTreeSet<PredicateIndex>,
}

/// What recording costs somewhere in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Rate {
    /// The costs of what is recorded.
    pub costs: RecordingCosts,
    /// How much of what is left without them is no waiting for what was recorded, in parts of [`COST_UNIT`].
    pub left: u32,
}

impl Rate {
    /// The costs as they are, and no waiting.
    #[must_use]
    pub fn new(costs: RecordingCosts) -> Self {
        Self {
            costs,
            left: COST_UNIT as u32,
        }
    }

    /// Fitted to a baseline.
    #[must_use]
    pub fn fitted(costs: &RecordingCosts, fit: &Fit) -> Self {
        let times = |cost: u32| {
            let units = u64::from(cost) * u64::from(fit.costs) / COST_UNIT;
            u32::try_from(units).unwrap_or(u32::MAX)
        };
        let ports = &costs.ports;
        Self {
            costs: RecordingCosts {
                ports: PortCosts {
                    inside: ports.inside.map(times),
                    outside: ports.outside.map(times),
                    argument: times(ports.argument),
                    slowdown: times(ports.slowdown),
                    reach: ports.reach,
                },
                callback: times(costs.callback),
            },
            left: fit.left,
        }
    }
}

impl Rates {
    /// As a trace says; `None` if it does not.
    #[must_use]
    pub fn of(trace: &Trace) -> Option<Self> {
        // Traces before version 4 have costs instead of trials.
        let fitted = || trials::costs(trace.trials()?);
        let stated = trace.port_costs().map(|&ports| RecordingCosts {
            ports,
            ..RecordingCosts::default()
        });
        let rates = Self::new(trace, &stated.or_else(fitted)?);
        Some(match trace.baseline() {
            Some(baseline) => rates.fitted(trace, baseline.engine_work, trace.fits()),
            None => rates,
        })
    }

    /// If costs are estimated: as cheap and as costly as recording was in one of the trials that they are estimated from.
    #[must_use]
    pub fn bounds(trace: &Trace) -> Option<[Self; 2]> {
        if trace.baseline().is_some() {
            return None;
        }
        let found = trace.trials()?;
        let costs = trials::costs(found)?;
        let (least, most) = trials::spread(found, &costs)?;
        Some([least, most].map(|costs_times| {
            let fit = Fit {
                predicate: None,
                costs: costs_times,
                left: COST_UNIT as u32,
            };
            Self {
                other: Rate::fitted(&costs, &fit),
                ..Self::new(trace, &costs)
            }
        }))
    }

    /// The same everywhere.
    #[must_use]
    pub fn new(trace: &Trace, costs: &RecordingCosts) -> Self {
        Self {
            outermost: BTreeMap::new(),
            other: Rate::new(*costs),
            engine_work: COST_UNIT as u32,
            waiting: COST_UNIT as u32,
            kinds: BoxKind::by_predicate(trace),
            boundary: trace.boundary().iter().copied().collect(),
        }
    }

    /// Fitted to a baseline.
    #[must_use]
    pub fn fitted(mut self, trace: &Trace, engine_work: u32, fits: &[Fit]) -> Self {
        self.engine_work = engine_work;
        let costs = self.other.costs;
        for fit in fits {
            let rate = Rate::fitted(&costs, fit);
            match fit.predicate.map(|id| trace.predicate_index(id)) {
                None => self.other = rate,
                Some(Some(predicate)) => match BoxKind::of(&self.kinds, predicate) {
                    BoxKind::Waiting => self.waiting = fit.left,
                    _ => {
                        self.outermost.insert(predicate, rate);
                    }
                },
                // Its record is damaged.
                Some(None) => {}
            }
        }
        self
    }

    /// What holds below boxes of a predicate without a recorded caller.
    pub(super) fn below(&self, outermost: PredicateIndex) -> &Rate {
        self.outermost.get(&outermost).unwrap_or(&self.other)
    }

    /// Whether boxes of a predicate are work.
    pub(crate) fn is_work(&self, predicate: PredicateIndex) -> bool {
        BoxKind::of(&self.kinds, predicate).is_work()
    }

    /// How long the row waited, and what is left of that.
    pub(crate) fn waiting(&self, row: &ContextFigures) -> (u64, u64) {
        let waited = match BoxKind::of(&self.kinds, row.predicate) {
            BoxKind::Waiting => row.self_ticks,
            BoxKind::Call { .. } => {
                let set_up = row.hidden.set_up_ticks.min(row.self_ticks);
                row.hidden.waiting_ticks.min(row.self_ticks - set_up)
            }
            _ => 0,
        };
        (waited, part(waited, self.waiting))
    }

    /// What callbacks of a row cost the row above more than their ports. Boxes of a recursive row
    /// have other callers, too.
    pub(super) fn callbacks(
        &self,
        row: &ContextFigures,
        above: PredicateIndex,
        rate: &Rate,
    ) -> u64 {
        if row.recursive || !self.boundary.contains(&above) || !self.is_work(row.predicate) {
            return 0;
        }
        let calls = row.inside[Port::Call as usize];
        calls.saturating_mul(rate.costs.callback.into()) / COST_UNIT
    }

    /// What is left of the row's own time, and what is missing: so much less did it take than recording it costs.
    pub(crate) fn left(&self, row: &ContextFigures, rate: &Rate, missing: u64) -> (u64, u64) {
        match BoxKind::of(&self.kinds, row.predicate) {
            BoxKind::EngineWork | BoxKind::Autoload => {
                (part(row.self_ticks, self.engine_work), missing)
            }
            // No work, and nothing in it is a cost of recording.
            BoxKind::Waiting => (part(row.self_ticks, self.waiting), missing),
            // All of it is recording.
            BoxKind::SetUp => (0, missing),
            BoxKind::Call { arity } => {
                let set_up = row.hidden.set_up_ticks.min(row.self_ticks);
                let of_program = row.self_ticks - set_up;
                let waiting = row.hidden.waiting_ticks.min(of_program);
                let worked = of_program - waiting;
                let engine_work = row.hidden.engine_ticks.min(worked);
                let own = worked - engine_work;
                let costs = &rate.costs;
                let cost = missing.saturating_add(cost(row, arity, &costs.ports));
                let left = undisturbed(own.saturating_sub(cost), row, &costs.ports);
                // All are parts of the row's self time.
                (
                    part(left, rate.left)
                        + part(engine_work, self.engine_work)
                        + part(waiting, self.waiting),
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
