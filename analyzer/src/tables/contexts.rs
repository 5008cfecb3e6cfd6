//! The table `contexts`: the call tree.

use super::Tables;
use super::row::rows;

rows! {
    /// A row of the table `contexts`: one for every calling context ([`crate::figures::contexts`]).
    pub struct ContextRow<'t> {
        /// Name of the trace.
        pub trace: &'t str,
        /// Number of the row, from 0.
        pub id: u64,
        /// Number of the row above, which comes before this one; nothing if nobody traced is above.
        pub parent: Option<u32>,
        /// Indicator.
        pub predicate: &'t str,
        /// Rows above.
        pub depth: u32,
        /// A box of the predicate was among the callers already: the row has nothing below it.
        pub recursive: bool,
        /// Boxes opened here, last calls included.
        pub calls: u64,
        /// Exits of both kinds.
        pub exits: u64,
        /// Re-entries by backtracking.
        pub redos: u64,
        /// Final failures.
        pub fails: u64,
        /// Boxes left by an exception.
        pub exceptions: u64,
        /// Port events of the boxes counted here (calls, exits, redos, fails, exceptions).
        pub events: u64,
        /// Time while a box counted here was the active one, in ns.
        pub self_ns: u64,
        /// `self_ns` and that of all rows below.
        pub inclusive_ns: u64,
        /// Time of work thrown away by redos into boxes counted here, in ns.
        pub undone_ns: u64,
        /// `self_ns` less the cost of recording ([`crate::net::compensation`]), if that is known.
        pub self_comp_ns: Option<u64>,
        /// `inclusive_ns` less the cost of recording, if that is known.
        pub inclusive_comp_ns: Option<u64>,
    }
}

impl<'t> Tables<'t> {
    /// From the top: each row is followed by those below it.
    pub fn contexts(self) -> impl Iterator<Item = ContextRow<'t>> {
        let compensation = self.profile.net.as_ref();
        let times = move |id: u64| compensation?.contexts.get(id as usize);
        (0..)
            .zip(&self.profile.contexts)
            .map(move |(id, figures)| ContextRow {
                trace: self.name,
                id,
                parent: figures.parent,
                predicate: self.trace.predicate_name(figures.predicate),
                depth: figures.depth,
                recursive: figures.recursive,
                calls: figures.calls,
                exits: figures.exits(),
                redos: figures.redos,
                fails: figures.fails,
                exceptions: figures.exceptions,
                events: figures.events(),
                self_ns: self.ns(figures.self_ticks),
                inclusive_ns: self.ns(figures.inclusive_ticks),
                undone_ns: self.ns(figures.undone_ticks),
                self_comp_ns: times(id).map(|times| self.ns(times.self_ticks)),
                inclusive_comp_ns: times(id).map(|times| self.ns(times.inclusive_ticks)),
            })
    }
}
