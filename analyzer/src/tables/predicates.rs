//! The table `predicates`.

use std::cmp::Reverse;

use portmortem_tracer::format::Predicate as Declared;

use super::Tables;
use super::row::{Row, rows};
use crate::calls::complete::CompleteTables;
use crate::calls::figures::CallFigures;
use crate::figures::counted::Counted;
use crate::figures::net_times::Times;
use crate::figures::{Determinism, PredicateFigures};
use crate::trace::PredicateIndex;

rows! {
    /// A row of the table `predicates`: one for every predicate that was called.
    pub struct PredicateRow<'t> of p: PredicateData<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = p.tables.name;
        /// Indicator, as Prolog would write it.
        "predicate" None predicate: &'t str = p.tables.trace.predicate_name(p.index);
        /// Source file of its first clause.
        "file" None file: Option<&'t str> = p.file();
        /// Line of its first clause.
        "line" None line: Option<u32> = p.line();
        /// Boxes opened, last calls included.
        "calls" Count calls: u64 = p.figures.calls;
        /// Calls that were last calls into a departed box.
        "last calls" Count tail_calls: u64 = p.figures.tail_calls;
        /// Exits that left no choicepoint.
        "det exits" Count exits_det: u64 = p.figures.exits_det;
        /// Exits that left a choicepoint.
        "nondet ex." Count exits_nondet: u64 = p.figures.exits_nondet;
        /// Re-entries by backtracking.
        "redos" Count redos: u64 = p.figures.redos;
        /// Final failures.
        "fails" Count fails: u64 = p.figures.fails;
        /// Boxes left by an exception.
        "exc." Count exceptions: u64 = p.figures.exceptions;
        /// Re-enterable boxes discarded.
        "cut" Count cuts: u64 = p.figures.cuts;
        /// Boxes active at the end, or where the trace lost track.
        "open" Count open: u64 = p.figures.open;
        /// Boxes re-enterable at the end, or where the trace lost track.
        "pending" Count pending: u64 = p.figures.pending;
        /// Port events of its boxes: a cost that is the same on every run. Calls, exits, redos,
        /// fails, exceptions.
        "events" Count events: u64 = p.figures.events();
        /// Time while one of its boxes was active, in ns.
        "self" Time self_ns: u64 = p.tables.ns(p.figures.self_ticks);
        /// Time while one of its boxes was on the active chain, in ns; recursion counted once.
        "incl" Time inclusive_ns: u64 = p.tables.ns(p.figures.inclusive_ticks);
        /// `self_ns` less the cost of recording, if that is known.
        "self net" Time self_comp_ns: Option<u64> = p.net(|times| times.self_ticks);
        /// `inclusive_ns` less the cost of recording, if that is known.
        "incl net" Time inclusive_comp_ns: Option<u64> = p.net_inclusive();
        /// Part of `inclusive_ns` in activations that failed.
        "failed" Time failed_ns: u64 = p.tables.ns(p.figures.failed_ticks);
        /// Part of `inclusive_ns` in activations left by an exception.
        "raised" Time raised_ns: u64 = p.tables.ns(p.figures.raised_ticks);
        /// Part of `inclusive_ns` in activations that did not end.
        "in open" Time open_ns: u64 = p.tables.ns(p.figures.open_ticks);
        /// Part of `self_ns` in activations that failed.
        "self failed" Time self_failed_ns: u64 = p.tables.ns(p.figures.self_failed_ticks);
        /// Part of `self_ns` in activations left by an exception.
        "self raised" Time self_raised_ns: u64 = p.tables.ns(p.figures.self_raised_ticks);
        /// Part of `self_ns` in activations that did not end.
        "self open" Time self_open_ns: u64 = p.tables.ns(p.figures.self_open_ticks);
        /// Time of work thrown away by redos into it because something failed, in ns.
        "undone" Time undone_ns: u64 = p.tables.ns(p.figures.undone_ticks);
        /// Determinism as observed: `det`, `semidet`, `multi`, `nondet` or `failing`; empty if no
        /// box ended.
        "det" None determinism: Option<&'t str> = p.determinism();
    }
    on request {
        /// Exits of both kinds.
        "exits" Count exits: u64 = p.figures.exits();
        /// How long its choicepoints lived, all together, in ns; pauses and gaps not counted.
        "lifetime" Time lifetime_ns: u64 = p.tables.ns(p.figures.lifetime_ticks);
        /// Greatest number of boxes that could be re-entered at once, one of the predicate the
        /// newest.
        "height" Count max_height: u64 = p.figures.max_height;
        /// Tables that began to be filled in its boxes, for its own calls or for goals of `tnot/1`;
        /// empty if none did.
        "filled" Count filled: Option<u64> = p.filled();
        /// `calls` less `filled`: calls that found a table, if `tnot/1` filled none. Empty as
        /// `filled` is, or if more tables were filled.
        "reused" Count reused: Option<u64> = p.filled().and_then(|filled| p.figures.calls.checked_sub(filled));
        /// Answers of its tables, each counted when it was complete; empty if none was, or if that
        /// is not known. The events are read again for it.
        "answers" Count answers: Option<u64> = p.complete_tables().map(|complete| complete.answers);
        /// Nodes of the tries that held these answers: what they take of memory is in proportion.
        "table nodes" Count table_nodes: Option<u64> = p.complete_tables().map(|complete| complete.nodes);
        /// `self_ns` by `calls`, in ns.
        "self/call" Time self_call_ns: Option<u64> = p.figures.self_ticks.checked_div(p.figures.calls).map(|ticks| p.tables.ns(ticks));
        /// Mean time of a call, in ns: from the call to the exit, failure or exception that
        /// follows. The events are read again for it.
        "mean" Time mean_ns: Option<u64> = p.of_calls(CallFigures::mean_ticks);
        /// Time of the slowest call, likewise.
        "max" Time max_ns: Option<u64> = p.of_calls(CallFigures::max_ticks);
        /// How the time of a call changed over the calls: `constant`, `falling`, `sublinear`,
        /// `linear`, `superlinear`, or empty if that is not clear. The events are read again for
        /// it.
        "growth" None growth: Option<&'t str> = p.call_figures().and_then(|calls| calls.trend().verdict.name());
    }
}

/// Columns of predicates that are missing until the times of single calls are known.
pub const OF_CALLS: [&str; 5] = ["answers", "table_nodes", "mean_ns", "max_ns", "growth"];

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
            .map(move |(_, _, index)| PredicateRow::new(&self.predicate(index)))
    }

    /// The predicates that have events, in the order of the trace.
    pub fn used_predicates(self) -> impl Iterator<Item = PredicateIndex> {
        let figures = (0..).zip(&self.profile.predicates);
        let used = figures.filter(|(_, figures)| figures.is_used());
        used.map(|(index, _)| index)
    }

    /// A predicate of the trace.
    ///
    /// # Panics
    /// If the profile has none of this number.
    #[must_use]
    pub fn predicate(self, index: PredicateIndex) -> PredicateData<'t> {
        PredicateData {
            tables: self,
            index,
            figures: self
                .counted()
                .predicate(&self.profile.predicates[index as usize]),
        }
    }
}

/// What rows of predicates are made of.
#[derive(Debug, Clone, Copy)]
pub struct PredicateData<'t> {
    pub(super) tables: Tables<'t>,
    pub(super) index: PredicateIndex,
    pub(super) figures: PredicateFigures,
}

impl<'t> PredicateData<'t> {
    fn declared(&self) -> Option<&'t Declared> {
        let info = self.tables.trace.predicates().get(self.index as usize);
        info.map(|info| &info.declared)
    }

    fn file(&self) -> Option<&'t str> {
        self.tables.trace.file(self.declared()?.file?)
    }

    fn line(&self) -> Option<u32> {
        let line = self.declared()?.line;
        (line != 0).then_some(line)
    }

    fn filled(&self) -> Option<u64> {
        let tables = self.tables;
        tables.profile.tables_filled(tables.trace, self.index)
    }

    fn net(&self, ticks: fn(&Times) -> u64) -> Option<u64> {
        let net = self.tables.profile.net.as_ref()?;
        let times = net.predicates.get(self.index as usize)?;
        Some(self.tables.ns(ticks(times)))
    }

    fn net_inclusive(&self) -> Option<u64> {
        let net = self.tables.profile.net.as_ref()?;
        match self.tables.counted() {
            Counted::All => self.net(|times| times.inclusive_ticks),
            Counted::Work => Some(self.tables.ns(net.work.of_predicate(self.index))),
        }
    }

    /// The times of its single calls.
    fn call_figures(&self) -> Option<&'t CallFigures> {
        self.tables.calls()?.predicate(self.index)
    }

    /// Its tables that were completed.
    fn complete_tables(&self) -> Option<&'t CompleteTables> {
        self.tables.calls()?.tables(self.index)
    }

    fn of_calls(&self, ticks: fn(&CallFigures) -> Option<u64>) -> Option<u64> {
        Some(self.tables.ns(ticks(self.call_figures()?)?))
    }

    fn determinism(&self) -> Option<&'static str> {
        let byrd = self.tables.trace.header().mode.byrd;
        self.figures.determinism(byrd).map(Determinism::name)
    }
}
