//! Evidence of boxes that were never seen to be called: from before a gap, or out of an engine that
//! misbehaves.
//!
//! Each is given the one entry it must have had, on the row of the unknown predicate, and then goes
//! the way of every other box. So the conservation laws hold for that row too. Without a gap before
//! it such evidence is a violation.

use super::accounts::WayOut;
use super::state::BoxId;
use super::stream::StreamReplay;
use crate::figures::Port;
use crate::profile::ViolationKind;

impl StreamReplay<'_> {
    /// The active box; if there is none, one that somebody must have called.
    #[inline]
    pub(in crate::replay) fn active_or_unknown(&mut self) -> Option<BoxId> {
        let active = self.state.active();
        if active.is_some() {
            active
        } else {
            self.unknown_active()
        }
    }

    #[cold]
    fn unknown_active(&mut self) -> Option<BoxId> {
        self.suspect(ViolationKind::NoActiveBox);
        self.call(self.accounts.unknown());
        self.state.active()
    }

    /// A box that must have exited is put on the empty choice stack.
    #[cold]
    pub(in crate::replay) fn unknown_exited(&mut self) -> bool {
        self.suspect(ViolationKind::NothingToRedo);
        let depth = self.state.depth();
        self.call(self.accounts.unknown());
        let called = self.state.depth() > depth;
        if called {
            self.way_out(WayOut::ExitNondet);
        }
        called
    }

    /// `count` boxes that must have exited are cut.
    #[cold]
    pub(in crate::replay) fn unknown_cut(&mut self, count: u64) {
        self.suspect(ViolationKind::NothingToCut { missing: count });
        let unknown = self.accounts.unknown();
        let context = self.context;
        let edge = self.accounts.edge(context.predicate, unknown);
        let row = self.accounts.row(context.row, unknown);
        self.accounts.count_cut(context.predicate, unknown, count);
        for (port, inside) in [
            (Port::Call, Some(row)),
            (Port::ExitNondet, Some(row)),
            (Port::Cut, None),
        ] {
            self.accounts.count_port(port, inside, context.row, count);
        }
        let figures = self.accounts.figures(unknown);
        for sum in [
            &mut figures.calls,
            &mut figures.exits_nondet,
            &mut figures.cuts,
        ] {
            *sum = sum.saturating_add(count);
        }
        let figures = self.accounts.edge_figures(edge);
        for sum in [&mut figures.calls, &mut figures.exits] {
            *sum = sum.saturating_add(count);
        }
        let figures = self.accounts.contexts.figures_mut(row);
        for sum in [&mut figures.calls, &mut figures.exits] {
            *sum = sum.saturating_add(count);
        }
    }

    /// After a gap such things are expected.
    fn suspect(&mut self, what: ViolationKind) {
        if self.bottom.predicate == self.accounts.root() {
            self.violations.push(what);
        }
    }
}
