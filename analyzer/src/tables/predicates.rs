//! The table `predicates`.

use std::cmp::Reverse;

use super::Tables;
use super::row::rows;
use crate::figures::Determinism;
use crate::trace::PredicateIndex;

rows! {
    /// A row of the table `predicates`: one for every predicate that was called.
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
        /// Port events of its boxes (calls, exits, redos, fails, exceptions): a cost that is the same
        /// on every run.
        pub events: u64,
        /// Time while a box of the predicate was the active one, in ns.
        pub self_ns: u64,
        /// Time while a box of the predicate was on the active chain, in ns; recursion counted once.
        pub inclusive_ns: u64,
        /// `self_ns` less the cost of recording ([`crate::net::compensation`]), if that is known.
        pub self_comp_ns: Option<u64>,
        /// `inclusive_ns` less the cost of recording, if that is known.
        pub inclusive_comp_ns: Option<u64>,
        /// The part of `inclusive_ns` in activations that ended in failure.
        pub failed_ns: u64,
        /// The part of `inclusive_ns` in activations left by an exception.
        pub raised_ns: u64,
        /// The part of `inclusive_ns` in activations that did not end.
        pub open_ns: u64,
        /// The part of `self_ns` in activations that ended in failure.
        pub self_failed_ns: u64,
        /// The part of `self_ns` in activations left by an exception.
        pub self_raised_ns: u64,
        /// The part of `self_ns` in activations that did not end.
        pub self_open_ns: u64,
        /// Time of work thrown away by redos into the predicate, in ns.
        pub undone_ns: u64,
        /// Determinism as observed ([`crate::figures::PredicateFigures::determinism`]).
        pub determinism: Option<&'t str>,
    }
}

impl<'t> Tables<'t> {
    /// By self time, the most first; then by name.
    pub fn predicates(self) -> impl Iterator<Item = PredicateRow<'t>> {
        let mut order: Vec<(Reverse<u64>, &str, PredicateIndex)> = (0..)
            .zip(&self.profile.predicates)
            .filter(|(_, figures)| figures.is_used())
            .map(|(index, figures)| {
                let time = Reverse(self.ns(figures.self_ticks));
                (time, self.trace.predicate_name(index), index)
            })
            .collect();
        order.sort_unstable();
        order
            .into_iter()
            .map(move |(_, _, index)| self.predicate(index))
    }

    fn predicate(self, index: PredicateIndex) -> PredicateRow<'t> {
        let figures = &self.profile.predicates[index as usize];
        let info = self.trace.predicates().get(index as usize);
        let declared = info.map(|info| &info.declared);
        let compensation = self.profile.net.as_ref();
        let times = compensation.and_then(|all| all.predicates.get(index as usize));
        PredicateRow {
            trace: self.name,
            predicate: self.trace.predicate_name(index),
            file: declared.and_then(|declared| self.trace.file(declared.file?)),
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
            events: [
                figures.exits(),
                figures.redos,
                figures.fails,
                figures.exceptions,
            ]
            .iter()
            .fold(figures.calls, |sum, &count| sum.saturating_add(count)),
            self_ns: self.ns(figures.self_ticks),
            inclusive_ns: self.ns(figures.inclusive_ticks),
            self_comp_ns: times.map(|times| self.ns(times.self_ticks)),
            inclusive_comp_ns: times.map(|times| self.ns(times.inclusive_ticks)),
            failed_ns: self.ns(figures.failed_ticks),
            raised_ns: self.ns(figures.raised_ticks),
            open_ns: self.ns(figures.open_ticks),
            self_failed_ns: self.ns(figures.self_failed_ticks),
            self_raised_ns: self.ns(figures.self_raised_ticks),
            self_open_ns: self.ns(figures.self_open_ticks),
            undone_ns: self.ns(figures.undone_ticks),
            determinism: figures
                .determinism(self.trace.header().mode.byrd)
                .map(Determinism::name),
        }
    }
}
