//! The table `edges`: the call graph.

use super::Tables;
use super::row::rows;
use crate::figures::Caller;

rows! {
    /// A row of the table `edges`: one for every pair of caller and callee.
    pub struct EdgeRow<'t> {
        /// Name of the trace.
        pub trace: &'t str,
        /// Indicator of the caller, or [`crate::tables::ROOT`].
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
        /// Time of outermost activations of the callee from this caller, in ns. Sums over callers to
        /// the callee's inclusive time.
        pub served_ns: u64,
        /// Time the caller's innermost box waited for the callee, in ns. Sums over callees, with
        /// self, to the caller's inclusive time.
        pub spent_ns: u64,
        /// `served_ns` less the cost of recording ([`crate::net::compensation`]), if that is known.
        pub served_comp_ns: Option<u64>,
        /// `spent_ns` less the cost of recording, if that is known.
        pub spent_comp_ns: Option<u64>,
    }
}

impl<'t> Tables<'t> {
    /// By caller, [`crate::tables::ROOT`] first, then by callee, both in the order of the trace.
    pub fn edges(self) -> impl Iterator<Item = EdgeRow<'t>> {
        let edges = self.profile.edges.iter();
        let compensation = self.profile.net.as_ref();
        let times = move |pair| Some(compensation?.edges.get(&pair).copied().unwrap_or_default());
        edges.map(move |(&(caller, callee), figures)| EdgeRow {
            trace: self.name,
            caller: self.caller(caller),
            callee: self.trace.predicate_name(callee),
            calls: figures.calls,
            tail_calls: figures.tail_calls,
            exits: figures.exits(),
            redos: figures.redos,
            fails: figures.fails,
            recursive: caller == Caller::Predicate(callee),
            served_ns: self.ns(figures.served_ticks),
            spent_ns: self.ns(figures.spent_ticks),
            served_comp_ns: times((caller, callee)).map(|times| self.ns(times.served_ticks)),
            spent_comp_ns: times((caller, callee)).map(|times| self.ns(times.spent_ticks)),
        })
    }
}
