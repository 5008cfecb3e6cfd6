//! The tables `centers` and `costs`: counts, time and symbolic costs by cost centre.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Tables;
use super::row::rows;
use crate::costs::{ENTERED, NOT_OBSERVABLE, UNFOLDINGS};
use crate::net::centers::{CenterSum, by_center};
use crate::trace::{Center, PredicateIndex, PredicateInfo};

/// What is outside of all cost centres.
pub const OUTSIDE: &str = "<outside>";

/// By centre, predicate and symbol.
type Sums<'t> = BTreeMap<(Center, Option<PredicateIndex>, &'t str), Option<u64>>;

rows! {
    /// A row of the table `centers`: one for every cost centre that was entered, and one for what ran
    /// outside of all.
    ///
    /// All counts are of boxes of predicates in the centre and in no centre nested in it. Every count sums
    /// over the centres to that of the whole trace.
    pub struct CenterRow<'t> {
        /// Name of the trace.
        pub trace: &'t str,
        /// Name of the cost centre, or [`OUTSIDE`].
        pub cost_center: &'t str,
        /// How often it was entered.
        pub entered: u64,
        /// Boxes opened, last calls included.
        pub calls: u64,
        /// Those of the calls that were last calls.
        pub tail_calls: u64,
        /// Exits that left no choicepoint.
        pub exits_det: u64,
        /// Exits that left a choicepoint.
        pub exits_nondet: u64,
        /// Re-entries by backtracking.
        pub redos: u64,
        /// Final failures.
        pub fails: u64,
        /// Boxes left by an exception.
        pub exceptions: u64,
        /// Re-enterable boxes discarded.
        pub cuts: u64,
        /// Boxes still active at the end, or where the trace lost track.
        pub open: u64,
        /// Boxes still re-enterable at the end, or where the trace lost track.
        pub pending: u64,
        /// Time while a box in the centre, or that of the centre itself, was the active one, in ns.
        pub self_ns: u64,
        /// The same without the recorder's own, if that is known.
        pub self_comp_ns: Option<u64>,
    }

    /// A row of the table `costs`: one for every cost centre, predicate and symbol that was counted there.
    pub struct CostRow<'t> {
        /// Name of the trace.
        pub trace: &'t str,
        /// Name of the cost centre, or [`OUTSIDE`].
        pub cost_center: &'t str,
        /// Indicator of the predicate whose clauses did it.
        pub predicate: Option<&'t str>,
        /// What was done: a [`crate::costs::Component`]'s name, [`ENTERED`], or [`NOT_OBSERVABLE`].
        pub symbol: &'t str,
        /// How often; nothing if that cannot be observed.
        pub count: Option<u64>,
    }
}

impl<'t> Tables<'t> {
    /// By self time, the most first; then in the order of the trace.
    pub fn centers(self) -> impl Iterator<Item = CenterRow<'t>> {
        let sums = by_center(self.trace, self.profile);
        let mut order: Vec<_> = sums.into_iter().collect();
        order.sort_by_key(|(_, sum)| Reverse(sum.figures.self_ticks));
        order.into_iter().map(move |(center, sum)| {
            let CenterSum {
                entered,
                figures,
                net_ticks,
            } = sum;
            CenterRow {
                trace: self.name,
                cost_center: self.center_name(center),
                entered,
                calls: figures.calls,
                tail_calls: figures.tail_calls,
                exits_det: figures.exits_det,
                exits_nondet: figures.exits_nondet,
                redos: figures.redos,
                fails: figures.fails,
                exceptions: figures.exceptions,
                cuts: figures.cuts,
                open: figures.open,
                pending: figures.pending,
                self_ns: self.ns(figures.self_ticks),
                self_comp_ns: net_ticks.map(|ticks| self.ns(ticks)),
            }
        })
    }

    /// By cost centre and predicate, in the order of the trace; then by symbol. How often predicates were
    /// called and centres entered comes from the events, all else from the records of a symbolic recording.
    pub fn costs(self) -> impl Iterator<Item = CostRow<'t>> {
        let mut sums = self.symbolic_costs();
        for (&(center, of), figures) in &self.profile.centers {
            let info = self.trace.predicates().get(of as usize);
            if info.is_none_or(PredicateInfo::is_called_by_program) {
                sums.insert((center, Some(of), UNFOLDINGS), Some(figures.calls));
            }
            if info.is_some_and(|info| info.center.is_some()) {
                sums.insert((center, Some(of), ENTERED), Some(figures.calls));
            }
        }
        let centers: BTreeSet<Center> = sums.keys().map(|&(center, ..)| center).collect();
        let unknown = centers
            .into_iter()
            .map(|center| ((center, None, NOT_OBSERVABLE), None));
        sums.extend(unknown);
        sums.into_iter()
            .map(move |((center, of, symbol), count)| CostRow {
                trace: self.name,
                cost_center: self.center_name(center),
                predicate: of.map(|of| self.trace.predicate_name(of)),
                symbol,
                count,
            })
    }

    fn symbolic_costs(self) -> Sums<'t> {
        let trace = self.trace;
        let index = |id| {
            trace
                .predicate_index(id)
                .unwrap_or(trace.unknown_predicate())
        };
        let mut sums = Sums::new();
        for cost in trace.costs().0 {
            if let Some(symbol) = trace.text(cost.symbol) {
                let key = (cost.center.map(index), Some(index(cost.predicate)), symbol);
                let sum = sums.entry(key).or_insert(Some(0));
                *sum = sum.map(|sum| sum.saturating_add(cost.count));
            }
        }
        sums
    }

    fn center_name(self, center: Center) -> &'t str {
        let Some(index) = center else { return OUTSIDE };
        let info = self.trace.predicates().get(index as usize);
        info.map_or_else(
            || self.trace.predicate_name(index),
            |info| &info.declared.name,
        )
    }
}
