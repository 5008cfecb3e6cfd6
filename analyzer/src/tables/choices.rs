//! The tables `backtracks`, `cuts` and `choicepoints`: who left alternatives, and what became of them.

use std::cmp::Reverse;

use super::Tables;
use super::row::rows;

rows! {
    /// A row of the table `backtracks`: one for every predicate that failed and predicate that was
    /// re-entered then ([`crate::figures::BacktrackFigures`]).
    pub struct BacktrackRow<'t> {
        /// Name of the trace.
        pub trace: &'t str,
        /// Indicator of what failed, or in what something untraced did; [`crate::tables::ROOT`] if
        /// that was nowhere.
        pub failed: &'t str,
        /// Indicator of what was re-entered.
        pub resumed: &'t str,
        /// How many times.
        pub count: u64,
        /// Time of work thrown away, in ns. Sums over `failed` to the undone time of `resumed`.
        pub undone_ns: u64,
    }

    /// A row of the table `cuts`: one for every predicate that cut and predicate whose choicepoints
    /// it cut.
    pub struct CutRow<'t> {
        /// Name of the trace.
        pub trace: &'t str,
        /// Indicator of what was active, or [`crate::tables::ROOT`].
        pub cutter: &'t str,
        /// Indicator of the boxes that lost their choicepoints.
        pub predicate: &'t str,
        /// How many boxes. Sums over `cutter` to the cuts of `predicate`.
        pub count: u64,
    }

    /// A row of the table `choicepoints`: one for every predicate that left one.
    ///
    /// `left = redone + cut + pending`.
    pub struct ChoicepointRow<'t> {
        /// Name of the trace.
        pub trace: &'t str,
        /// Indicator.
        pub predicate: &'t str,
        /// Exits that left a choicepoint.
        pub left: u64,
        /// Those that were backtracked into.
        pub redone: u64,
        /// Those that were cut.
        pub cut: u64,
        /// Those that were there at the end, or where the trace lost track.
        pub pending: u64,
        /// Those that were never backtracked into: `cut + pending`.
        pub never_used: u64,
        /// How long they lived, all together, in ns; pauses and gaps not counted.
        pub lifetime_ns: u64,
        /// Greatest number of boxes that could be re-entered at once, one of the predicate the newest.
        pub max_height: u64,
    }
}

impl<'t> Tables<'t> {
    /// By undone time, the most first; then by count; then by what failed and what was re-entered,
    /// in the order of the trace.
    pub fn backtracks(self) -> impl Iterator<Item = BacktrackRow<'t>> {
        let mut order: Vec<_> = self.profile.backtracks.iter().collect();
        order.sort_by_key(|(_, figures)| Reverse((figures.undone_ticks, figures.count)));
        let rows = order.into_iter();
        rows.map(move |(&(failed, resumed), figures)| BacktrackRow {
            trace: self.name,
            failed: self.caller(failed),
            resumed: self.trace.predicate_name(resumed),
            count: figures.count,
            undone_ns: self.ns(figures.undone_ticks),
        })
    }

    /// By count, the most first; then by what cut and what was cut, in the order of the trace.
    pub fn cuts(self) -> impl Iterator<Item = CutRow<'t>> {
        let mut order: Vec<_> = self.profile.cuts.iter().collect();
        order.sort_by_key(|&(_, count)| Reverse(count));
        let rows = order.into_iter();
        rows.map(move |(&(cutter, predicate), &count)| CutRow {
            trace: self.name,
            cutter: self.caller(cutter),
            predicate: self.trace.predicate_name(predicate),
            count,
        })
    }

    /// By the number left, the most first; then in the order of the trace.
    pub fn choicepoints(self) -> impl Iterator<Item = ChoicepointRow<'t>> {
        let mut order: Vec<_> = (0..)
            .zip(&self.profile.predicates)
            .filter(|(_, figures)| figures.exits_nondet > 0)
            .collect();
        order.sort_by_key(|(_, figures)| Reverse(figures.exits_nondet));
        let rows = order.into_iter();
        rows.map(move |(index, figures)| ChoicepointRow {
            trace: self.name,
            predicate: self.trace.predicate_name(index),
            left: figures.exits_nondet,
            redone: figures.redos,
            cut: figures.cuts,
            pending: figures.pending,
            never_used: figures.cuts.saturating_add(figures.pending),
            lifetime_ns: self.ns(figures.lifetime_ticks),
            max_height: figures.max_height,
        })
    }
}
