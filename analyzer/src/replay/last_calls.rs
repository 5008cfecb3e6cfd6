//! Last calls: how a box becomes a chain of logical boxes, and how that is left.

use super::boxes::{ArenaBox, Group, GroupKey};
use super::chunk::Chunk;
use super::ledger::{NONE, WayOut, add};
use crate::trace::{Callable, PredicateIndex};

/// The box that a chain departed into last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Innermost {
    /// It is one of the chain.
    IsHere,
    /// It was closed before, and is not in the chain.
    WasClosed,
}

impl Chunk<'_> {
    /// The active box departs.
    #[inline(always)]
    pub(super) fn tail<const HIDES: bool>(&mut self, callable: Callable) {
        self.expect_active();
        self.last_failure.forget();
        let height = self.choices.height();
        let active = self.boxes.get_mut(self.active);
        if active.root != NONE {
            let check = &mut self.roots[active.root as usize].check;
            *check = (*check).max(height);
        } else if height > active.base || self.taken_below {
            // Boxes inside it were called by another logical box than will be active.
            active.moved = true;
            self.unusual |= !self.whole;
        }
        match &mut active.chain {
            Some(chain) if chain.again == callable => chain.depart_again(self.clock.now()),
            _ => self.depart_anew::<HIDES>(callable),
        }
    }

    #[inline(never)]
    fn depart_anew<const HIDES: bool>(&mut self, callable: Callable) {
        if HIDES && self.is_transparent(self.active, self.active, callable) {
            self.tail_hidden(self.ledger.callee(callable));
        } else {
            self.depart(callable);
        }
    }

    /// The active box departs, not as it did the last time.
    fn depart(&mut self, callable: Callable) {
        if let Some(chain) = &mut self.boxes.get_mut(self.active).chain {
            chain.settle();
        }
        let from = self.place();
        let (caller, route) = self.ledger.route(from, callable);
        self.ledger.routes.fetch(route.place);
        self.on_chain.leave_by(caller, route.arc);
        let called = self.ledger.called(callable);
        let entry = self.on_chain.entry(route.arc, called.predicate, callable);
        self.on_chain.enter(callable, entry);
        let active = self.boxes.get_mut(self.active);
        active.place = route.place;
        active.is_left_out = !called.is_work;
        if active.is_hidden() {
            // A hidden box departs: from here on it is the visible one.
            active.arc = entry.arc;
            active.waits = entry.waits;
            active.outermost = entry.outermost;
            active.since = self.clock.now();
            active.exited = false;
            active.then_fails = called.then_fails;
            return self.ledger.figures(route.arc).count_last_calls(1);
        }
        let own = std::mem::take(&mut active.own);
        // One that is the outermost of its goal is like no other.
        let again = if from == active.place && !entry.outermost {
            callable
        } else {
            NONE
        };
        let chain = self.boxes.chain(self.active);
        chain.depart(caller, entry, self.clock.now(), own);
        chain.again = again;
    }

    /// Books departures of a box that were only counted.
    pub(super) fn settle(&mut self, id: ArenaBox) {
        let Some(chain) = &mut self.boxes.get_mut(id).chain else {
            return;
        };
        chain.settle();
        for ((entry, _), group) in chain.groups.iter_mut() {
            let unbooked = std::mem::take(&mut group.unbooked);
            self.ledger.figures(entry.arc).count_last_calls(unbooked);
        }
    }

    /// Whether the active box departed, and it and the boxes it departed into can be left as
    /// [usual](super::ledger::Usual) ones.
    pub(super) fn is_usual_chain(&mut self) -> bool {
        let boxed = self.boxes.get(self.active);
        // All of its logical boxes were entered later.
        let is_all_work = self.clock.now().left_out == boxed.since.left_out;
        if !is_all_work || !self.is_usual(boxed) {
            return false;
        }
        let Some(chain) = &mut self.boxes.get_mut(self.active).chain else {
            return false;
        };
        chain.settle();
        let is_usual = |&((entry, _), group): &(GroupKey, Group)| {
            group.unbooked == group.boxes && entry.is_direct()
        };
        chain.groups.iter().all(is_usual)
    }

    /// Closes the active box and the boxes it departed into, if any, which are usual. The predicate
    /// of the one that was called.
    pub(super) fn close_usual_chain(
        &mut self,
        way_out: WayOut,
        innermost: Innermost,
    ) -> PredicateIndex {
        let now = self.clock.now();
        let boxed = self.boxes.get(self.active);
        let called = boxed.arc;
        let mut called_own = boxed.own;
        if let Some(chain) = &boxed.chain {
            called_own = chain.base_own;
            for (at, &((entry, _), group)) in chain.groups.iter().enumerate().rev() {
                let is_last = at == chain.last;
                let own = group.own + if is_last { boxed.own } else { 0 };
                let begun = group.entered.all;
                let lasted = now.all.wrapping_mul(group.boxes).wrapping_sub(begun);
                let chains = self.ledger.chains(entry.arc);
                chains.count(way_out, group.boxes, own, entry.of_outermost(lasted));
                let has_innermost = is_last && innermost == Innermost::IsHere;
                chains.cover(way_out, group.boxes - u64::from(has_innermost));
                let usual = &self.ledger.usual[entry.arc as usize];
                self.on_chain.leave(usual.predicate, usual.callable, entry);
            }
        }
        self.ledger.chains(called).cover(way_out, 1);
        self.close_called(way_out, called_own)
    }

    #[inline(never)]
    pub(super) fn leave_chain(&mut self, way_out: WayOut) {
        let now = self.clock.now();
        let boxed = self.boxes.get_mut(self.active);
        let Some(mut chain) = boxed.chain.take() else {
            return;
        };
        chain.settle();
        let own = std::mem::take(&mut boxed.own);
        if let Some((_, group)) = chain.groups.get_mut(chain.last) {
            group.own += own;
        }
        for (at, ((entry, _), group)) in chain.groups.iter_mut().enumerate().rev() {
            let entry = *entry;
            let figures = self.ledger.figures(entry.arc);
            figures.count_last_calls(std::mem::take(&mut group.unbooked));
            let covered = group.boxes - u64::from(at == chain.last);
            figures.count_shared_way_out(way_out, group.boxes, covered);
            figures.count_way_out(way_out, group.boxes, std::mem::take(&mut group.fresh));
            add(
                &mut figures.self_by[way_out.outcome()],
                std::mem::take(&mut group.own),
            );
            self.forget(entry);
            let entered = std::mem::take(&mut group.entered);
            let lasted = now.times(group.boxes).minus(entered);
            self.ledger.book_stretch(entry, way_out.outcome(), lasted);
        }
        // The box that was called, as if it were alone.
        let boxed = self.boxes.get_mut(self.active);
        boxed.own = std::mem::take(&mut chain.base_own);
        let (arc, root) = (boxed.arc, boxed.root);
        self.leave(way_out);
        if arc != NONE {
            self.ledger.figures(arc).count_shared_way_out(way_out, 0, 1);
        } else if root != NONE
            && let Some(first) = &mut self.roots[root as usize].first
        {
            first.departed = true;
        }
        self.boxes.get_mut(self.active).chain = Some(chain);
    }
}
