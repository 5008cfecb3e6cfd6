//! Boxes that call nothing: their call and their end are two events in a row.
//!
//! A quarter to a third of the events of real programs are such ones. What was kept for the box
//! between the two would be undone by the second, so none is made, and the figures are booked at
//! once. All that is not [usual](super::ledger::Usual) goes the way of every box.

use super::choices::{Failed, RedoCause, Who};
use super::chunk::Chunk;
use super::last_calls::Innermost;
use super::ledger::{Entry, WayOut};
use super::routes::Route;
use crate::machine::Class;
use crate::scope::called::Called;
use crate::trace::{Callable, PredicateIndex};

/// How a box of a leaf would be entered, and what is known of it.
struct LeafEntry {
    entry: Entry,
    called: Called,
}

impl Chunk<'_> {
    /// Replays a call or a last call, whose time has passed, with the failure or determinate exit
    /// that follows `delta` ticks later, if its box is usual. `None` if nothing was booked. No box
    /// may be transparent.
    #[inline(always)]
    pub(super) fn replay_leaf(&mut self, class: Class, fails: bool, delta: u64) -> Option<()> {
        let way_out = if fails { WayOut::Fail } else { WayOut::ExitDet };
        match class {
            Class::Enter(callable) => self.call_leaf(callable, way_out, delta),
            Class::Depart(callable) => self.depart_to_leaf(callable, way_out, delta),
            Class::Leave(_)
            | Class::ReEnter
            | Class::Cut(_)
            | Class::Lose(_)
            | Class::Pause(_)
            | Class::Note(_) => None,
        }
    }

    /// A box is called, and left after some ticks.
    #[inline(always)]
    fn call_leaf(&mut self, callable: Callable, way_out: WayOut, delta: u64) -> Option<()> {
        let leaf = self.leaf(callable)?;
        let own = self.pass_leaf(delta)?;
        let predicate = leaf.called.predicate;
        let usual = &mut self.ledger.usual[leaf.entry.arc as usize];
        usual.calls += 1;
        usual.count(way_out, own, leaf.entry.of_outermost(own));
        self.max_depth = self.max_depth.max(self.depth + 1);
        let between_ports = || self.scope.kind_of(predicate).is_between_ports();
        self.last_failure.call(between_ports);
        self.left_usually(way_out, predicate, leaf.called.then_fails);
        Some(())
    }

    /// The active box departs, and is left after some ticks.
    #[inline(always)]
    fn depart_to_leaf(&mut self, callable: Callable, way_out: WayOut, delta: u64) -> Option<()> {
        if self.active == self.bottom || self.taken_below {
            return None;
        }
        let boxed = self.boxes.get(self.active);
        let then_fails = boxed.then_fails;
        let is_usual = match &boxed.chain {
            // The leaf is work, so a box that departs the first time need not be all work.
            None => self.is_usual(boxed),
            // Another step of a loop is only counted.
            Some(chain) => chain.again != callable && self.is_usual_chain(),
        };
        if !is_usual {
            return None;
        }
        let leaf = self.leaf(callable)?;
        let own = self.pass_leaf(delta)?;
        let chains = self.ledger.chains(leaf.entry.arc);
        chains.count(way_out, 1, own, leaf.entry.of_outermost(own));
        let predicate = self.close_usual_chain(way_out, Innermost::WasClosed);
        self.last_failure.forget();
        self.left_usually(way_out, predicate, then_fails);
        Some(())
    }

    /// How a box would be entered that the active one calls or departs into, if it would be usual.
    #[inline(always)]
    fn leaf(&mut self, callable: Callable) -> Option<LeafEntry> {
        let from = self.place();
        let (caller, Route { arc, .. }) = self.ledger.route(from, callable);
        let called = self.ledger.called(callable);
        self.on_chain.leave_by(caller, arc);
        let entry = self.on_chain.entry(arc, called.predicate, callable);
        (entry.is_direct() && called.is_work).then_some(LeafEntry { entry, called })
    }

    /// Time passes that belongs to a leaf: how much. `None` if no clock shows so much.
    #[inline(always)]
    fn pass_leaf(&mut self, delta: u64) -> Option<u64> {
        self.clock.go_on(delta)?;
        Some(if self.clock.pass(delta) { delta } else { 0 })
    }

    /// Two events are over, the second of which left a box of `predicate`.
    #[inline(always)]
    fn left_usually(&mut self, way_out: WayOut, predicate: PredicateIndex, then_fails: bool) {
        self.events += 2;
        if way_out == WayOut::Fail {
            self.last_failure
                .known(RedoCause::failed(Who::Predicate(predicate)));
        } else {
            let failed = self
                .last_failure
                .after_exit_det(|| Failed::after(then_fails));
            self.last_failure.set(failed);
        }
    }
}
