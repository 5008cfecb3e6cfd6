//! The conservation laws of the model, and the sums of the call graph, checked on a profile.
//!
//! They hold for every trace whatever, damaged ones included, to the last unit and the last tick: an
//! imbalance is a defect of the replay (or a sum beyond 64 bits), never of the traced program. What
//! the program's engine does wrong is a [`crate::profile::Violation`].

use std::collections::BTreeMap;

use crate::figures::{Caller, EdgeFigures, PredicateFigures, PredicateIndex};
use crate::profile::Profile;

/// Which sum does not come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Law {
    /// Every way into a box has its way out.
    #[error("calls + redos = exits + fails + exceptions + open")]
    Ports,
    /// Every choicepoint left has its end.
    #[error("nondeterminate exits = redos + cuts + pending")]
    Choicepoints,
    /// Every tick of a stream belongs to somebody or to nobody.
    #[error("self + untraced + paused + gap = last tick - first tick")]
    Time,
    /// The active boxes of all streams are those of all predicates.
    #[error("self time of all predicates = self time of all streams = time spent by <root>")]
    Total,
    /// What a predicate serves its callers is its inclusive time.
    #[error("served time over all callers = inclusive time")]
    Served,
    /// A predicate's inclusive time is its own or spent in its callees.
    #[error("self time + time spent in all callees = inclusive time")]
    Spent,
    /// Ports are counted alike for predicates and for their callers.
    #[error("{0} over all callers = {0}")]
    Edges(&'static str),
}

/// What a sum is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// A predicate.
    Predicate(PredicateIndex),
    /// A stream, by its id.
    Stream(u32),
    /// The whole trace.
    Trace,
}

/// A sum that does not come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imbalance {
    /// Which.
    pub law: Law,
    /// Of what.
    pub place: Place,
    /// The left side, boxes or ticks.
    pub left: u64,
    /// The right side.
    pub right: u64,
}

/// Every sum that does not come out; none in a correct profile.
#[must_use]
pub fn check(profile: &Profile) -> Vec<Imbalance> {
    let mut found = Vec::new();
    let mut equal = |law, place, left: u64, right: u64| {
        if left != right {
            found.push(Imbalance {
                law,
                place,
                left,
                right,
            });
        }
    };
    let (by_callee, by_caller) = sums(&profile.edges);
    for (figures, predicate) in profile.predicates.iter().zip(0..) {
        let place = Place::Predicate(predicate);
        let served = by_callee.get(&predicate).copied().unwrap_or_default();
        let spent = by_caller
            .get(&Caller::Predicate(predicate))
            .copied()
            .unwrap_or_default();
        of_predicate(figures, &served, &spent, |law, left, right| {
            equal(law, place, left, right)
        });
    }
    for s in &profile.streams {
        let left = sum([s.self_ticks, s.untraced_ticks, s.paused_ticks, s.gap_ticks]);
        let right = s.last_tick.saturating_sub(s.first_tick);
        equal(Law::Time, Place::Stream(s.stream), left, right);
    }
    let of_predicates = sum(profile.predicates.iter().map(|figures| figures.self_ticks));
    let by_root = by_caller
        .get(&Caller::Root)
        .map_or(0, |edges| edges.spent_ticks);
    equal(
        Law::Total,
        Place::Trace,
        of_predicates,
        profile.total_ticks(),
    );
    equal(Law::Total, Place::Trace, by_root, profile.total_ticks());
    found
}

fn of_predicate(
    p: &PredicateFigures,
    served: &EdgeFigures,
    spent: &EdgeFigures,
    mut equal: impl FnMut(Law, u64, u64),
) {
    let left = sum([p.exits_det, p.exits_nondet, p.fails, p.exceptions, p.open]);
    equal(Law::Ports, sum([p.calls, p.redos]), left);
    equal(
        Law::Choicepoints,
        p.exits_nondet,
        sum([p.redos, p.cuts, p.pending]),
    );
    equal(Law::Served, served.served_ticks, p.inclusive_ticks);
    equal(
        Law::Spent,
        sum([p.self_ticks, spent.spent_ticks]),
        p.inclusive_ticks,
    );
    for (name, left, right) in [
        ("calls", served.calls, p.calls),
        ("last calls", served.tail_calls, p.tail_calls),
        ("exits", served.exits, p.exits()),
        ("redos", served.redos, p.redos),
        ("fails", served.fails, p.fails),
    ] {
        equal(Law::Edges(name), left, right);
    }
}

/// All edges of each callee, and of each caller.
#[allow(clippy::type_complexity, reason = "two maps, used once")]
fn sums(
    edges: &BTreeMap<(Caller, PredicateIndex), EdgeFigures>,
) -> (
    BTreeMap<PredicateIndex, EdgeFigures>,
    BTreeMap<Caller, EdgeFigures>,
) {
    let mut by_callee: BTreeMap<PredicateIndex, EdgeFigures> = BTreeMap::new();
    let mut by_caller: BTreeMap<Caller, EdgeFigures> = BTreeMap::new();
    for (&(caller, callee), figures) in edges {
        by_callee.entry(callee).or_default().add(figures);
        by_caller.entry(caller).or_default().add(figures);
    }
    (by_callee, by_caller)
}

fn sum(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_imbalance_has_its_numbers() {
        let mut profile = Profile::default();
        profile.predicates.push(PredicateFigures {
            calls: 2,
            exits_det: 1,
            ..Default::default()
        });
        let edge = EdgeFigures {
            calls: 2,
            exits: 1,
            ..Default::default()
        };
        profile.edges.insert((Caller::Root, 0), edge);
        let place = Place::Predicate(0);
        assert_eq!(
            check(&profile),
            [Imbalance {
                law: Law::Ports,
                place,
                left: 2,
                right: 1
            }]
        );
    }
}
