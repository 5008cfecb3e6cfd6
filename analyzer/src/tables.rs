//! The tables that every front end shows: names and units of `interface.md`, one struct a row.
//!
//! The field names are the column names. Times are integer nanoseconds, each converted on its own, so
//! that sums of rows may be off by rounding; sums of ticks in the [`Profile`] are not.

use serde::Serialize;

use crate::figures::{Caller, Determinism, PredicateIndex};
use crate::profile::Profile;
use crate::trace::Trace;

/// The caller of boxes without traced ancestor.
pub const ROOT: &str = "<root>";

/// A row of the table `predicates`: one for every predicate that was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PredicateRow<'t> {
    /// Name of the trace.
    pub trace: &'t str,
    /// Indicator, as Prolog would write it.
    pub predicate: &'t str,
    /// Source file of its first clause.
    pub file: Option<&'t str>,
    /// Line of its first clause.
    pub line: Option<u32>,
    /// Boxes opened, last calls included.
    pub calls: u64,
    /// Those of the calls that were last calls into a departed box.
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
    /// Time while a box of the predicate was the active one, in ns.
    pub self_ns: u64,
    /// Time while a box of the predicate was on the active chain, in ns; recursion counted once.
    pub inclusive_ns: u64,
    /// `self_ns` less the cost of recording; not known yet.
    pub self_comp_ns: Option<u64>,
    /// `inclusive_ns` less the cost of recording; not known yet.
    pub inclusive_comp_ns: Option<u64>,
    /// The part of `inclusive_ns` in activations that ended in failure.
    pub failed_ns: u64,
    /// Time of work thrown away by redos into the predicate, in ns.
    pub undone_ns: u64,
    /// Determinism as observed ([`crate::figures::PredicateFigures::determinism`]).
    pub determinism: Option<&'static str>,
}

/// A row of the table `edges`: one for every pair of caller and callee.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EdgeRow<'t> {
    /// Name of the trace.
    pub trace: &'t str,
    /// Indicator of the caller, or [`ROOT`].
    pub caller: &'t str,
    /// Indicator of the callee.
    pub callee: &'t str,
    /// Calls of the callee by the caller.
    pub calls: u64,
    /// Those of the calls that were last calls.
    pub tail_calls: u64,
    /// Exits of the callee's boxes that this caller called.
    pub exits: u64,
    /// Re-entries of them.
    pub redos: u64,
    /// Final failures of them.
    pub fails: u64,
    /// Caller and callee are the same: calls, no time.
    pub recursive: bool,
    /// Time of outermost activations of the callee from this caller, in ns. Sums over callers to the
    /// callee's inclusive time.
    pub served_ns: u64,
    /// Time the caller's innermost box waited for the callee, in ns. Sums over callees, with self, to
    /// the caller's inclusive time.
    pub spent_ns: u64,
}

/// All tables of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tables<'t> {
    /// By self time, the most first; then by name.
    pub predicates: Vec<PredicateRow<'t>>,
    /// By caller, [`ROOT`] first, then by callee, both in the order of the trace.
    pub edges: Vec<EdgeRow<'t>>,
}

impl<'t> Tables<'t> {
    /// The tables of a profile of `trace`, which is called `name` in them.
    #[must_use]
    pub fn new(name: &'t str, trace: &'t Trace, profile: &Profile) -> Self {
        let mut predicates: Vec<_> = (0..)
            .zip(&profile.predicates)
            .filter(|(_, figures)| figures.is_used())
            .map(|(index, _)| predicate_row(name, trace, profile, index))
            .collect();
        predicates.sort_by(|a, b| {
            b.self_ns
                .cmp(&a.self_ns)
                .then_with(|| a.predicate.cmp(b.predicate))
        });
        let edges = profile
            .edges
            .keys()
            .map(|pair| edge_row(name, trace, profile, *pair))
            .collect();
        Self { predicates, edges }
    }
}

fn predicate_row<'t>(
    name: &'t str,
    trace: &'t Trace,
    profile: &Profile,
    index: PredicateIndex,
) -> PredicateRow<'t> {
    let figures = &profile.predicates[index as usize];
    let declared = trace
        .predicates()
        .get(index as usize)
        .map(|info| &info.declared);
    let ns = |ticks| trace.clock().duration_ns(ticks);
    PredicateRow {
        trace: name,
        predicate: trace.predicate_name(index),
        file: declared.and_then(|declared| trace.file(declared.file?)),
        line: declared
            .map(|declared| declared.line)
            .filter(|&line| line != 0),
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
        self_ns: ns(figures.self_ticks),
        inclusive_ns: ns(figures.inclusive_ticks),
        self_comp_ns: None,
        inclusive_comp_ns: None,
        failed_ns: ns(figures.failed_ticks),
        undone_ns: ns(figures.undone_ticks),
        determinism: figures
            .determinism(trace.header().mode.byrd)
            .map(Determinism::name),
    }
}

fn edge_row<'t>(
    name: &'t str,
    trace: &'t Trace,
    profile: &Profile,
    pair: (Caller, PredicateIndex),
) -> EdgeRow<'t> {
    let (caller, callee) = pair;
    let figures = profile.edges[&pair];
    let ns = |ticks| trace.clock().duration_ns(ticks);
    EdgeRow {
        trace: name,
        caller: match caller {
            Caller::Root => ROOT,
            Caller::Predicate(index) => trace.predicate_name(index),
        },
        callee: trace.predicate_name(callee),
        calls: figures.calls,
        tail_calls: figures.tail_calls,
        exits: figures.exits,
        redos: figures.redos,
        fails: figures.fails,
        recursive: caller == Caller::Predicate(callee),
        served_ns: ns(figures.served_ticks),
        spent_ns: ns(figures.spent_ticks),
    }
}
