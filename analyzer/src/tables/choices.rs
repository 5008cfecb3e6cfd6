//! The tables `backtracks`, `cuts` and `choicepoints`: who left alternatives, and what became of
//! them.

use std::cmp::Reverse;

use super::Tables;
use super::predicates::PredicateData;
use super::row::{Row, rows};
use crate::figures::{BacktrackFigures, Caller};
use crate::trace::PredicateIndex;

rows! {
    /// A row of the table `backtracks`: one for every predicate that failed and predicate that was
    /// re-entered then ([`crate::figures::BacktrackFigures`]).
    pub struct BacktrackRow<'t> of b: BacktrackData<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = b.tables.name;
        /// Indicator of the predicate that failed, or that called an unrecorded goal that failed;
        /// `<root>` if there is none.
        "what failed" None failed: &'t str = b.tables.caller(b.failed);
        /// Indicator of the predicate that was re-entered.
        "into what" None resumed: &'t str = b.tables.trace.predicate_name(b.resumed);
        /// How many times.
        "times" Count count: u64 = b.figures.count;
        /// Time of work thrown away because something failed, in ns. It sums over `failed` to the
        /// undone time of `resumed`.
        "undone" Time undone_ns: u64 = b.tables.ns(b.figures.undone_ticks);
        /// Time of work thrown away where nothing failed, in ns: `failed` is a collector like
        /// `findall/3`, which asked for the next solution, or a driver loop, whose clause ends in
        /// `fail` after the goal that exited last.
        "collected" Time collected_ns: u64 = b.tables.ns(b.figures.collected_ticks);
    }
}

rows! {
    /// A row of the table `cuts`: one for every predicate that cut and predicate whose choicepoints
    /// it cut.
    pub struct CutRow<'t> of c: CutData<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = c.tables.name;
        /// Indicator of the active predicate, or `<root>`.
        "cut by" None cutter: &'t str = c.tables.caller(c.cutter);
        /// Indicator of the boxes that lost their choicepoints.
        "choicepoints of" None predicate: &'t str = c.tables.trace.predicate_name(c.predicate);
        /// How many boxes. Sums over `cutter` to the cuts of `predicate`.
        "cut" Count count: u64 = c.count;
    }
}

rows! {
    /// A row of the table `choicepoints`: one for every predicate that left one.
    ///
    /// `left = redone + cut + pending`.
    pub struct ChoicepointRow<'t> of p: PredicateData<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = p.tables.name;
        /// Indicator.
        "predicate" None predicate: &'t str = p.tables.trace.predicate_name(p.index);
        /// Exits that left a choicepoint.
        "left" Count left: u64 = p.figures.exits_nondet;
        /// Choicepoints that were backtracked into.
        "redone" Count redone: u64 = p.figures.redos;
        /// Choicepoints that were cut.
        "cut" Count cut: u64 = p.figures.cuts;
        /// Choicepoints that were there at the end, or where the trace lost track.
        "pending" Count pending: u64 = p.figures.pending;
        /// Choicepoints that were never backtracked into: `cut + pending`.
        "never used" Count never_used: u64 = p.figures.cuts.saturating_add(p.figures.pending);
        /// How long they lived, all together, in ns; pauses and gaps not counted.
        "lived" Time lifetime_ns: u64 = p.tables.ns(p.figures.lifetime_ticks);
        /// Greatest number of boxes that could be re-entered at once, one of the predicate the
        /// newest.
        "height" Count max_height: u64 = p.figures.max_height;
    }
}

impl<'t> Tables<'t> {
    /// By undone time, the most first; then by count; then by what failed and what was re-entered,
    /// in the order of the trace.
    pub fn backtracks(self) -> impl Iterator<Item = BacktrackRow<'t>> {
        let edges = self.backtrack_list().into_iter();
        edges.map(|edge| BacktrackRow::new(&edge))
    }

    /// The same, as what rows are made of.
    #[must_use]
    pub fn backtrack_list(self) -> Vec<BacktrackData<'t>> {
        let pairs = self.profile.backtracks.iter();
        let edges = pairs.map(move |(&pair, &figures)| self.backtrack(pair, figures));
        let mut edges: Vec<_> = edges.collect();
        edges.sort_by_key(|edge| Reverse((edge.figures.undone_ticks, edge.figures.count)));
        edges
    }

    /// What failed, what was re-entered then, and their figures.
    #[must_use]
    pub fn backtrack(
        self,
        (failed, resumed): (Caller, PredicateIndex),
        figures: BacktrackFigures,
    ) -> BacktrackData<'t> {
        BacktrackData {
            tables: self,
            failed,
            resumed,
            figures,
        }
    }

    /// By count, the most first; then by what cut and what was cut, in the order of the trace.
    pub fn cuts(self) -> impl Iterator<Item = CutRow<'t>> {
        let pairs = self.profile.cuts.iter();
        let rows = pairs.map(move |(&pair, &count)| self.cut(pair, count));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|row| Reverse(row.count));
        rows.into_iter().map(|row| CutRow::new(&row))
    }

    /// What cut, whose choicepoints it cut, and how many.
    #[must_use]
    pub fn cut(self, (cutter, predicate): (Caller, PredicateIndex), count: u64) -> CutData<'t> {
        CutData {
            tables: self,
            cutter,
            predicate,
            count,
        }
    }

    /// By the number left, the most first; then in the order of the trace.
    pub fn choicepoints(self) -> impl Iterator<Item = ChoicepointRow<'t>> {
        let all = 0..self.profile.predicates.len() as PredicateIndex;
        let mut rows: Vec<_> = all
            .map(|index| self.predicate(index))
            .filter(|row| row.figures.exits_nondet > 0)
            .collect();
        rows.sort_by_key(|row| Reverse(row.figures.exits_nondet));
        rows.into_iter().map(|row| ChoicepointRow::new(&row))
    }
}

/// What a row of the table `backtracks` is made of.
#[derive(Debug, Clone, Copy)]
pub struct BacktrackData<'t> {
    tables: Tables<'t>,
    failed: Caller,
    resumed: PredicateIndex,
    /// Times and counts.
    pub figures: BacktrackFigures,
}

/// What a row of the table `cuts` is made of.
#[derive(Debug, Clone, Copy)]
pub struct CutData<'t> {
    tables: Tables<'t>,
    cutter: Caller,
    predicate: PredicateIndex,
    count: u64,
}
