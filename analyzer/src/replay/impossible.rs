//! Gaps, and events that cannot happen where they stand, in a stream that is replayed as a whole.
//!
//! A box without a recorded call is a box of the unknown predicate. It gets the call that it must have had, and
//! from then on it is like any other. So the conservation laws hold. After a gap such boxes are expected;
//! without one before they are violations.

use super::boxes::{ArenaBox, PhysicalBox, logical};
use super::choices::{RedoCause, Who};
use super::chunk::Chunk;
use super::ledger::{Entry, NONE, WayOut, add};
use crate::figures::profile::{MAX_VIOLATIONS, ViolationKind};
use crate::trace::PredicateIndex;

impl Chunk<'_> {
    #[cold]
    fn violation(&mut self, what: ViolationKind) {
        self.violations.count += 1;
        if self.violations.listed.len() < MAX_VIOLATIONS {
            self.violations.listed.push((self.events, what));
        }
    }

    /// As [`Self::violation`], except after a gap, where such things are expected.
    fn suspect(&mut self, what: ViolationKind) {
        if !self.is_after_gap() {
            self.violation(what);
        }
    }

    /// Whether events were lost, so that an unknown box stands at the bottom.
    fn is_after_gap(&self) -> bool {
        self.boxes.get(self.bottom).arc != NONE
    }

    /// The predicate of boxes of before a gap.
    fn unknown(&self) -> PredicateIndex {
        self.ledger.begin() - 1
    }

    /// A port of the active box is next. If no box is active, there must have been one.
    #[inline(always)]
    pub(super) fn expect_active(&mut self) {
        if self.active == self.bottom {
            self.unknown_active();
        }
    }

    fn call_unknown(&mut self) {
        if self.hides {
            self.call::<true>(self.unknown());
        } else {
            self.call::<false>(self.unknown());
        }
    }

    #[cold]
    fn unknown_active(&mut self) {
        self.suspect(ViolationKind::NoActiveBox);
        self.call_unknown();
    }

    /// A redo while the choice stack is empty.
    #[cold]
    pub(super) fn redo_unknown(&mut self, cause: RedoCause) {
        self.suspect(ViolationKind::NothingToRedo);
        self.call_unknown();
        self.exit_nondet();
        if let Some(choice) = self.choices.pop() {
            self.reenter(&choice, cause);
        }
        self.last_failure.known(cause);
    }

    /// A cut of `count` boxes more than there are.
    #[cold]
    pub(super) fn cut_unknown(&mut self, count: u32, by: Who) {
        let count = u64::from(count);
        self.suspect(ViolationKind::NothingToCut { missing: count });
        let from = self.place();
        let arc = self.ledger.arc(from, self.unknown());
        let figures = self.ledger.figures(arc);
        figures.ports.calls += count;
        figures.ports.exits_nondet += count;
        figures.ports.cuts += count;
        // Each is the only box on the choice stack, for the moment that it is known.
        let height = self.choices.height() + 1;
        self.choices.reach(height);
        if !self.early {
            let arc = &mut self.ledger.arcs[arc as usize];
            arc.height = arc.height.max(height);
        }
        let cut = Who::Predicate(self.unknown());
        self.thrown_away.cut(by, cut, count);
    }

    /// A box is left for good, and boxes inside it can still be re-entered.
    #[cold]
    pub(super) fn choices_left(&mut self, base: i64) {
        self.unusual |= !self.whole;
        let choices = (self.choices.height() - base).unsigned_abs();
        self.violation(ViolationKind::ChoicesLeft { choices });
    }

    /// A box is re-entered that another one than the active box had called (`elsewhere`), or that was
    /// called where the active box no longer is. From here on the active box is its caller.
    #[cold]
    pub(super) fn redo_elsewhere(&mut self, id: ArenaBox, elsewhere: bool) {
        self.unusual |= !self.whole;
        if self.unusual {
            return;
        }
        if elsewhere {
            self.taken_below = true;
            // What the box at the bottom called may have been called by any box of before a gap.
            match self.boxes.get(id).parent == self.bottom {
                true => self.suspect(ViolationKind::RedoElsewhere),
                false => self.violation(ViolationKind::RedoElsewhere),
            }
        }
        self.move_below_active(id);
    }

    /// Events were lost in the `stretch` of time before this one.
    #[cold]
    pub(super) fn gap(&mut self, lost: u64, stretch: u64) {
        self.unusual |= !self.whole;
        if self.unusual {
            return;
        }
        self.clock.skip(stretch);
        self.lost_events = self.lost_events.saturating_add(lost);
        self.lose_track();
    }

    /// A box was called that has no number.
    #[cold]
    pub(super) fn too_many_boxes(&mut self, entry: Entry) {
        self.unusual |= !self.whole;
        if self.unusual {
            return;
        }
        if entry.arc != NONE {
            self.ledger.figures(entry.arc).ports.open += 1;
            self.forget(entry);
        }
        self.violation(ViolationKind::TooManyBoxes);
        self.lose_track();
    }

    /// From here on it is not known what is active, nor what can be re-entered. Time while no known
    /// box is active is that of an unknown one, whose calls are counted when there is evidence.
    fn lose_track(&mut self) {
        self.leave_all();
        self.last_failure.forget();
        if self.is_after_gap() {
            return;
        }
        let from = self.place();
        let arc = self.ledger.arc(from, self.unknown());
        let unknown = PhysicalBox {
            parent: self.active,
            arc,
            place: self.ledger.arcs[arc as usize].place,
            root: 0,
            called: self.events,
            since: self.clock.now(),
            ..PhysicalBox::EMPTY
        };
        self.bottom = self.boxes.put(unknown).unwrap_or(self.bottom);
        let entry = self.boxes.get(self.bottom).entry();
        self.on_chain.enter(self.unknown(), entry);
        self.active = self.bottom;
        self.sight.begin(self.bottom, true);
    }

    /// Boxes that are active count as open, those on the choice stack as pending.
    pub(super) fn leave_all(&mut self) {
        while self.active != self.bottom {
            self.leave(WayOut::Open);
            let left = self.active;
            self.active = self.boxes.get(left).parent;
            self.boxes.release(left);
        }
        self.depth = 0;
        for choice in self.choices.take_all() {
            let lived = self.clock.now().all - choice.pushed;
            for (arc, boxes) in logical(self.boxes.get(choice.id)) {
                let figures = self.ledger.figures(arc);
                figures.ports.pending += boxes;
                add(&mut figures.lifetime, lived.wrapping_mul(boxes));
            }
            self.boxes.release(choice.id);
        }
    }

    /// Books the time of the unknown box that is active since a gap when no other is.
    pub(super) fn leave_bottom(&mut self) {
        let bottom = self.boxes.get(self.bottom);
        let (entry, own, parent) = (bottom.entry(), bottom.own, bottom.parent);
        let lasted = self.clock.now().minus(bottom.since);
        if entry.arc == NONE {
            return;
        }
        let outcome = WayOut::Open.outcome();
        add(&mut self.ledger.figures(entry.arc).self_by[outcome], own);
        self.ledger.book_stretch(entry, outcome, lasted);
        let unknown = self.unknown();
        self.on_chain.leave(unknown, unknown, entry);
        (self.active, self.bottom) = (parent, parent);
    }
}
