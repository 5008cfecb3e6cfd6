//! The table `edges`: the call graph.

use super::Tables;
use super::row::{Row, rows};
use crate::figures::counted::Counted;
use crate::figures::net_times::EdgeTimes;
use crate::figures::{Caller, EdgeFigures};
use crate::trace::PredicateIndex;

rows! {
    /// A row of the table `edges`: one for every pair of caller and callee.
    pub struct EdgeRow<'t> of e: Edge<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = e.tables.name;
        /// Indicator of the caller, or `<root>`.
        "caller" None caller: &'t str = e.tables.caller(e.caller);
        /// Indicator of the callee.
        "callee" None callee: &'t str = e.tables.trace.predicate_name(e.callee);
        /// Calls of the callee by the caller.
        "calls" Count calls: u64 = e.figures.calls;
        /// Those of the calls that were last calls.
        "last calls" Count tail_calls: u64 = e.figures.tail_calls;
        /// Exits of the callee's boxes that this caller called.
        "exits" Count exits: u64 = e.figures.exits();
        /// Re-entries of them.
        "redos" Count redos: u64 = e.figures.redos;
        /// Final failures of them.
        "fails" Count fails: u64 = e.figures.fails;
        /// Caller and callee are the same: calls, no time.
        "recursive" None recursive: bool = e.caller == Caller::Predicate(e.callee);
        /// Time of outermost activations of the callee from this caller, in ns. Sums over callers
        /// to the callee's inclusive time.
        "served" Time served_ns: u64 = e.tables.ns(e.figures.served_ticks);
        /// Time the caller's innermost box waited for the callee, in ns. Sums over callees, with
        /// self, to the caller's inclusive time.
        "spent" Time spent_ns: u64 = e.tables.ns(e.figures.spent_ticks);
        /// `served_ns` less the cost of recording, if that is known.
        "served net" Time served_comp_ns: Option<u64> = e.net(|times| times.served_ticks);
        /// `spent_ns` less the cost of recording, if that is known.
        "spent net" Time spent_comp_ns: Option<u64> = e.net(|times| times.spent_ticks);
    }
}

impl<'t> Tables<'t> {
    /// By caller, [`crate::tables::ROOT`] first, then by callee, both in the order of the trace.
    pub fn edges(self) -> impl Iterator<Item = EdgeRow<'t>> {
        let edges = self.profile.edges.iter();
        edges.map(move |(&pair, figures)| EdgeRow::new(&self.edge(pair, *figures)))
    }

    /// A caller, a callee and their figures.
    #[must_use]
    pub fn edge(
        self,
        (caller, callee): (Caller, PredicateIndex),
        figures: EdgeFigures,
    ) -> Edge<'t> {
        Edge {
            tables: self,
            caller,
            callee,
            figures: self.counted().edge(&figures),
        }
    }
}

/// What a row of the table is made of.
#[derive(Debug, Clone, Copy)]
pub struct Edge<'t> {
    tables: Tables<'t>,
    caller: Caller,
    callee: PredicateIndex,
    figures: EdgeFigures,
}

impl Edge<'_> {
    fn net(&self, ticks: fn(&EdgeTimes) -> u64) -> Option<u64> {
        let net = self.tables.profile.net.as_ref()?;
        let edges = match self.tables.counted() {
            Counted::All => &net.edges,
            Counted::Work => &net.work_edges,
        };
        let times = edges.get(&(self.caller, self.callee)).copied();
        Some(self.tables.ns(ticks(&times.unwrap_or_default())))
    }
}
