//! Counts and time by cost centre.
//!
//! A box is in one cost centre, for good: if it is of a centre, or its predicate is declared to be
//! in one, in that one; else in that of the box that called it; else outside of all. So the
//! innermost centre wins, all that runs inside counts, what is in a nested centre does not count
//! for the outer one (Brassel et al. 2004, section 3), and a redo goes on in the centre of the box
//! that it re-enters. Each stream begins outside of all.
//!
//! Law: the rows of a predicate, of all centres, sum to its row in [`crate::Profile::predicates`].
//!
//! A hidden box goes on to be in its centre: its time is booked there, on the row of the visible
//! box whose work it does. So hiding moves no time from one centre to another.

use bincode::{Decode, Encode};

use super::contexts::HiddenFigures;
use super::totals::has_totals;
use super::{PortCounts, PortTotals, add_ports, take_ports};

/// What the boxes of one predicate did in one cost centre. All as in [`super::PredicateFigures`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct CenterFigures {
    /// How often the boxes passed each port.
    pub ports: PortTotals,
    /// Ticks while one of the boxes was the active one.
    pub self_ticks: u64,
    /// Events of boxes of the engine that are theirs, as in
    /// [`super::contexts::ContextFigures::inside`].
    pub inside: PortCounts,
    /// Events of boxes that they called; of cuts, those that happened while one of them was active.
    pub outside: PortCounts,
    /// What hidden boxes did whose work is theirs, as in
    /// [`super::contexts::ContextFigures::hidden`].
    pub hidden: HiddenFigures,
}

has_totals!(CenterFigures);

impl CenterFigures {
    /// Adds other boxes.
    pub fn add(&mut self, other: &Self) {
        self.ports.add(&other.ports);
        self.self_ticks = self.self_ticks.saturating_add(other.self_ticks);
        add_ports(&mut self.inside, &other.inside);
        add_ports(&mut self.outside, &other.outside);
        self.hidden.add(&other.hidden);
    }

    /// Takes away the counts of a part of the run.
    pub(crate) fn take(&mut self, other: &Self) {
        self.ports.take(&other.ports);
        take_ports(&mut self.inside, &other.inside);
        take_ports(&mut self.outside, &other.outside);
        self.hidden.take(&other.hidden);
    }
}
