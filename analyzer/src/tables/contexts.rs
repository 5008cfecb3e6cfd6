//! The table `contexts`: the call tree.

use super::Tables;
use super::row::{Row, rows};
use crate::figures::contexts::ContextFigures;
use crate::figures::counted::Counted;
use crate::figures::net_times::Times;

rows! {
    /// A row of the table `contexts`: one for every calling context ([`crate::figures::contexts`]).
    pub struct ContextRow<'t> of c: ContextData<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = c.tables.name;
        /// Number of the row, from 0.
        "id" None id: u64 = c.id as u64;
        /// Number of the row above, which comes before this one; empty if no recorded box is above.
        "parent" None parent: Option<u32> = c.figures.parent;
        /// Indicator.
        "predicate" None predicate: &'t str = c.tables.trace.predicate_name(c.figures.predicate);
        /// Rows above.
        "depth" Count depth: u32 = c.figures.depth;
        /// A box of the predicate was among the callers already: the row has nothing below it.
        "recursive" None recursive: bool = c.figures.recursive;
        /// Boxes opened here, last calls included.
        "calls" Count calls: u64 = c.figures.calls;
        /// Exits of both kinds.
        "exits" Count exits: u64 = c.figures.exits();
        /// Re-entries by backtracking.
        "redos" Count redos: u64 = c.figures.redos;
        /// Final failures.
        "fails" Count fails: u64 = c.figures.fails;
        /// Boxes left by an exception.
        "exc." Count exceptions: u64 = c.figures.exceptions;
        /// Port events of the boxes counted here (calls, exits, redos, fails, exceptions).
        "events" Count events: u64 = c.figures.events();
        /// Time while a box counted here was the active one, in ns.
        "self" Time self_ns: u64 = c.tables.ns(c.figures.self_ticks);
        /// `self_ns` and that of all rows below.
        "incl" Time inclusive_ns: u64 = c.tables.ns(c.inclusive_ticks());
        /// Time of work thrown away by redos into boxes counted here because something failed,
        /// in ns.
        "undone" Time undone_ns: u64 = c.tables.ns(c.figures.undone_ticks);
        /// `self_ns` less the cost of recording, if that is known.
        "self net" Time self_comp_ns: Option<u64> = c.net(|times| times.self_ticks);
        /// `inclusive_ns` less the cost of recording, if that is known.
        "incl net" Time inclusive_comp_ns: Option<u64> = c.net_inclusive();
    }
}

impl<'t> Tables<'t> {
    /// From the top: each row is followed by those below it.
    pub fn contexts(self) -> impl Iterator<Item = ContextRow<'t>> {
        let rows = 0..self.profile.contexts.len();
        rows.map(move |id| ContextRow::new(&self.context(id)))
    }

    /// A row of the call tree.
    ///
    /// # Panics
    /// If the profile has none of this number.
    #[must_use]
    pub fn context(self, id: usize) -> ContextData<'t> {
        ContextData {
            tables: self,
            id,
            figures: &self.profile.contexts[id],
        }
    }
}

/// What a row of the table is made of.
#[derive(Debug, Clone, Copy)]
pub struct ContextData<'t> {
    tables: Tables<'t>,
    id: usize,
    figures: &'t ContextFigures,
}

impl ContextData<'_> {
    fn inclusive_ticks(&self) -> u64 {
        let work = self.tables.work;
        let work = work.map(|work| work.contexts.get(self.id).copied().unwrap_or(0));
        work.unwrap_or(self.figures.inclusive_ticks)
    }

    fn net_inclusive(&self) -> Option<u64> {
        let net = self.tables.profile.net.as_ref()?;
        match self.tables.counted() {
            Counted::All => self.net(|times| times.inclusive_ticks),
            Counted::Work => Some(self.tables.ns(*net.work.contexts.get(self.id)?)),
        }
    }

    fn net(&self, ticks: fn(&Times) -> u64) -> Option<u64> {
        let times = self.tables.profile.net.as_ref()?.contexts.get(self.id)?;
        Some(self.tables.ns(ticks(times)))
    }
}
