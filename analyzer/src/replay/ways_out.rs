//! Ways out of a box: exits, failure, exception.

use super::boxes::{PhysicalBox, RootId};
use super::choices::{Choice, RedoCause, Who};
use super::chunk::{Chunk, First};
use super::last_calls::Innermost;
use super::ledger::{Entry, NONE, WayOut, add};
use crate::trace::PredicateIndex;

impl Chunk<'_> {
    /// The active box fails, and that may be why another is re-entered.
    #[inline(always)]
    pub(super) fn fail(&mut self) {
        self.expect_active();
        // What failed is written where it stays: put together elsewhere and copied it waits for its
        // own stores.
        match self.close_usual(WayOut::Fail) {
            Some(predicate) => self
                .last_failure
                .known(RedoCause::failed(Who::Predicate(predicate))),
            None => match self.fail_unusual() {
                Some(who) => self.last_failure.known(RedoCause::failed(who)),
                None => self.last_failure.forget(),
            },
        }
    }

    #[inline(never)]
    fn exit_unusual(&mut self) {
        if self.is_usual_chain() {
            self.close_usual_chain(WayOut::ExitDet, Innermost::IsHere);
        } else {
            self.close(WayOut::ExitDet);
        }
    }

    #[inline(never)]
    fn fail_unusual(&mut self) -> Option<Who> {
        if self.is_usual_chain() {
            let predicate = self.close_usual_chain(WayOut::Fail, Innermost::IsHere);
            return Some(Who::Predicate(predicate));
        }
        let active = self.boxes.get(self.active);
        let who = if active.root != NONE {
            Some(Who::Outer(active.root))
        } else if active.arc == NONE {
            None
        } else {
            let predicate = self.ledger.arcs[active.arc as usize].predicate;
            Some(Who::Predicate(predicate))
        };
        self.close(WayOut::Fail);
        who
    }

    /// The active box exits, and nothing inside can be re-entered.
    #[inline(always)]
    pub(super) fn exit_det(&mut self) {
        self.expect_active();
        let failed = self
            .last_failure
            .after_exit_det(|| self.failed_after_exit());
        if self.close_usual(WayOut::ExitDet).is_none() {
            self.exit_unusual();
        }
        self.last_failure.set(failed);
    }

    /// The active box is left by an exception.
    pub(super) fn exception(&mut self) {
        self.expect_active();
        self.close(WayOut::Exception);
    }

    /// Whether a box is a [usual](super::ledger::Usual) one if it is left now, for good. Those that
    /// it departed into are left aside.
    #[inline(always)]
    pub(super) fn is_usual(&self, boxed: &PhysicalBox) -> bool {
        !boxed.exited
            && boxed.root == NONE
            && boxed.arc != NONE
            && boxed.entry().is_direct()
            && self.choices.height() <= boxed.base
            && (!boxed.outermost || self.clock.now().left_out == boxed.since.left_out)
    }

    /// Closes the active box, if it is a usual one and departed into no other; its predicate.
    #[inline(always)]
    fn close_usual(&mut self, way_out: WayOut) -> Option<PredicateIndex> {
        let boxed = self.boxes.get(self.active);
        if boxed.chain.is_some() || !self.is_usual(boxed) {
            return None;
        }
        Some(self.close_called(way_out, boxed.own))
    }

    /// Closes the active box, which is a usual one, or was called in a usual chain; its predicate.
    #[inline(always)]
    pub(super) fn close_called(&mut self, way_out: WayOut, own: u64) -> PredicateIndex {
        let left = self.active;
        let boxed = self.boxes.get(left);
        let (parent, entry) = (boxed.parent, boxed.entry());
        let lasted = self.clock.now().all - boxed.since.all;
        let usual = &mut self.ledger.usual[entry.arc as usize];
        usual.count(way_out, own, entry.of_outermost(lasted));
        let predicate = usual.predicate;
        self.on_chain.leave(predicate, usual.callable, entry);
        self.active = parent;
        self.depth -= 1;
        self.boxes.release(left);
        predicate
    }

    /// The active box is left for good.
    #[inline(never)]
    fn close(&mut self, way_out: WayOut) {
        self.last_failure.forget();
        let left = self.active;
        self.leave(way_out);
        let boxed = self.boxes.get(left);
        let (root, base) = (boxed.root, boxed.base);
        self.active = self.parent(left);
        self.depth -= 1;
        if root == NONE {
            if way_out.is_final() && self.choices.height() > base {
                self.choices_left(base);
            }
            self.boxes.release(left);
        } else {
            self.root_closed(root, way_out);
        }
    }

    #[cold]
    fn root_closed(&mut self, root: RootId, way_out: WayOut) {
        if way_out.is_final() {
            let height = self.choices.height();
            let check = &mut self.roots[root as usize].check;
            *check = (*check).max(height);
        }
    }

    #[inline(always)]
    pub(super) fn exit_nondet(&mut self) {
        self.expect_active();
        self.last_failure.set(self.failed_after_exit());
        let left = self.active;
        let live = self.live();
        self.leave(WayOut::ExitNondet);
        self.active = self.parent(left);
        self.depth -= 1;
        let height = self.choices.push(Choice {
            id: left,
            pushed: self.clock.now().all,
            live,
        });
        let boxed = self.boxes.get(left);
        if boxed.arc != NONE && !self.early {
            let arc = &mut self.ledger.arcs[boxed.arc as usize];
            arc.height = arc.height.max(height);
            if let Some(chain) = &boxed.chain {
                for ((entry, _), _) in chain.groups.iter() {
                    let arc = &mut self.ledger.arcs[entry.arc as usize];
                    arc.height = arc.height.max(height);
                }
            }
        }
    }

    /// Books that the logical boxes of the active box are left.
    #[inline(always)]
    pub(super) fn leave(&mut self, way_out: WayOut) {
        let now = self.clock.now();
        let boxed = self.boxes.get_mut(self.active);
        if boxed.chain.is_some() {
            return self.leave_chain(way_out);
        }
        if boxed.arc == NONE {
            return self.leave_unbooked(way_out);
        }
        let own = std::mem::take(&mut boxed.own);
        let entry = boxed.entry();
        let fresh = u64::from(!std::mem::replace(&mut boxed.exited, true));
        let since = boxed.since;
        let figures = self.ledger.figures(entry.arc);
        figures.count_way_out(way_out, 1, fresh);
        add(&mut figures.self_by[way_out.outcome()], own);
        self.forget(entry);
        let lasted = now.minus(since);
        self.ledger.book_stretch(entry, way_out.outcome(), lasted);
    }

    /// A box that was entered so is no longer on the chain.
    #[inline(always)]
    pub(super) fn forget(&mut self, entry: Entry) {
        let usual = &self.ledger.usual[entry.arc as usize];
        self.on_chain.leave(usual.predicate, usual.callable, entry);
    }

    /// A hidden box, of which nothing is booked, or a root in the activation that it began the chunk with.
    #[cold]
    fn leave_unbooked(&mut self, way_out: WayOut) {
        let now = self.clock.now();
        let boxed = self.boxes.get_mut(self.active);
        if boxed.is_hidden() {
            if let Some(port) = way_out.port() {
                self.pass_hidden(self.active, port);
            }
            return;
        }
        let own = std::mem::take(&mut boxed.own);
        boxed.exited = true;
        let root = &mut self.roots[boxed.root as usize];
        if way_out == WayOut::ExitNondet {
            root.later = self.ledger.loose_arc();
            boxed.arc = root.later;
        }
        root.first = Some(First {
            way_out,
            now,
            own,
            departed: false,
        });
    }
}
