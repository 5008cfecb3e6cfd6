//! The tables `centers` and `costs`: counts, time and symbolic costs by cost centre.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Tables;
use super::row::{Row, rows};
use crate::costs::{ENTERED, NOT_OBSERVABLE, UNFOLDINGS};
use crate::net::centers::{CenterSum, by_center};
use crate::trace::{Center, PredicateIndex, PredicateInfo};

/// What is outside of all cost centres.
pub const OUTSIDE: &str = "<outside>";

/// By centre, predicate and symbol.
type Sums<'t> = BTreeMap<(Center, Option<PredicateIndex>, &'t str), Option<u64>>;

rows! {
    /// A row of the table `centers`: one for every cost centre that was entered, and one for what
    /// ran outside of all.
    ///
    /// All counts are of boxes of predicates in the centre and in no centre nested in it; not
    /// of the centre's own boxes, nor of collections, stack shifts, waiting, loading and set-
    /// up, whose time is in `self_ns`. Every count sums over the centres to that of all other
    /// boxes of the trace, and `self_ns` to that of all boxes.
    pub struct CenterRow<'t> of c: InCenter<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = c.tables.name;
        /// Name of the cost centre, or `<outside>`.
        "cost centre" None cost_center: &'t str = c.tables.center_name(c.center);
        /// How often it was entered.
        "entered" Count entered: u64 = c.sum.entered;
        /// Boxes opened, last calls included.
        "calls" Count calls: u64 = c.sum.figures.calls;
        /// Those of the calls that were last calls.
        "last calls" Count tail_calls: u64 = c.sum.figures.tail_calls;
        /// Exits that left no choicepoint.
        "det exits" Count exits_det: u64 = c.sum.figures.exits_det;
        /// Exits that left a choicepoint.
        "nondet ex." Count exits_nondet: u64 = c.sum.figures.exits_nondet;
        /// Re-entries by backtracking.
        "redos" Count redos: u64 = c.sum.figures.redos;
        /// Final failures.
        "fails" Count fails: u64 = c.sum.figures.fails;
        /// Boxes left by an exception.
        "exc." Count exceptions: u64 = c.sum.figures.exceptions;
        /// Re-enterable boxes discarded.
        "cuts" Count cuts: u64 = c.sum.figures.cuts;
        /// Boxes active at the end, or where the trace lost track.
        "open" Count open: u64 = c.sum.figures.open;
        /// Boxes re-enterable at the end, or where the trace lost track.
        "pending" Count pending: u64 = c.sum.figures.pending;
        /// Time while a box in the centre, or that of the centre itself, was the active one, in ns.
        "self" Time self_ns: u64 = c.tables.ns(c.sum.figures.self_ticks);
        /// `self_ns` less the cost of recording, if that is known.
        "net" Time self_comp_ns: Option<u64> = c.sum.net_ticks.map(|ticks| c.tables.ns(ticks));
    }
    on request {
        /// Exits of both kinds.
        "exits" Count exits: u64 = c.sum.figures.exits_det.saturating_add(c.sum.figures.exits_nondet);
    }
}

rows! {
    /// A row of the table `costs`: one for every cost centre, predicate and symbol that was counted
    /// there.
    pub struct CostRow<'t> of c: CostData<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = c.tables.name;
        /// Name of the cost centre, or `<outside>`.
        "cost centre" None cost_center: &'t str = c.tables.center_name(c.center);
        /// Indicator of the predicate whose clauses were counted.
        "predicate" None predicate: Option<&'t str> = c.predicate.map(|of| c.tables.trace.predicate_name(of));
        /// Name of the symbol.
        "symbol" None symbol: &'t str = c.symbol;
        /// How often it was counted; empty if it cannot be observed.
        "count" Count count: Option<u64> = c.count;
    }
}

impl<'t> Tables<'t> {
    /// By self time, the most first; then in the order of the trace.
    pub fn centers(self) -> impl Iterator<Item = CenterRow<'t>> {
        let centers = self.center_list().into_iter();
        centers.map(|center| CenterRow::new(&center))
    }

    /// The same, as what rows are made of.
    #[must_use]
    pub fn center_list(self) -> Vec<InCenter<'t>> {
        let sums = by_center(self.trace, self.profile, self.counted()).into_iter();
        let mut centers: Vec<_> = sums.map(|(of, sum)| self.in_center(of, sum)).collect();
        centers.sort_by_key(|center| Reverse(center.sum.figures.self_ticks));
        centers
    }

    /// A cost centre and what ran in it.
    #[must_use]
    pub fn in_center(self, center: Center, sum: CenterSum) -> InCenter<'t> {
        InCenter {
            tables: self,
            center,
            sum,
        }
    }

    /// By cost centre and predicate, in the order of the trace; then by symbol. How often
    /// predicates were called and centres entered comes from the events, all else from the records
    /// of a symbolic recording.
    pub fn costs(self) -> impl Iterator<Item = CostRow<'t>> {
        let mut sums = self.symbolic_costs();
        // One that was declared to be in a centre while it ran was counted elsewhere before.
        let called = self.profile.centers.iter();
        let called = called.filter(|(_, figures)| figures.calls > 0);
        let called: BTreeSet<PredicateIndex> = called.map(|(&(_, of), _)| of).collect();
        let is_known = |of: &Option<PredicateIndex>| of.is_some_and(|of| called.contains(&of));
        sums.retain(|(_, of, symbol), _| *symbol != UNFOLDINGS || !is_known(of));
        for (&(center, of), figures) in &self.profile.centers {
            let info = self.trace.predicates().get(of as usize);
            // After a gap, time without a known active box is that of the unknown predicate,
            // without a call.
            if figures.calls == 0 {
                continue;
            }
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
        let rows = sums.into_iter();
        rows.map(move |((center, predicate, symbol), count)| {
            CostRow::new(&CostData {
                tables: self,
                center,
                predicate,
                symbol,
                count,
            })
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

/// What a row of the table `centers` is made of.
#[derive(Debug, Clone, Copy)]
pub struct InCenter<'t> {
    tables: Tables<'t>,
    center: Center,
    sum: CenterSum,
}

/// What a row of the table `costs` is made of.
#[derive(Debug, Clone, Copy)]
pub struct CostData<'t> {
    tables: Tables<'t>,
    center: Center,
    predicate: Option<PredicateIndex>,
    symbol: &'t str,
    count: Option<u64>,
}
