//! The state of a stream that was read from a file: whether it can be gone on from.

use super::{Blame, NO_BOX, State};
use crate::figures::Caller;
use crate::replay::boxes::{ArenaBox, PhysicalBox, entries};
use crate::replay::ledger::{ArcId, Ledger, NONE};

/// More boxes, entries or ticks no stream has.
pub(in crate::replay) const MOST: u64 = 1 << 56;

impl State {
    /// Whether all is there that it speaks of, every walk ends, and no sum can be too large.
    pub(in crate::replay) fn is_sound(&self, ledger: &Ledger) -> bool {
        self.has_sound_stacks(ledger) && self.has_sound_times() && self.has_sound_blame(ledger)
    }

    /// Every box is on one of the stacks once or is free, and so are its callers, as far as they
    /// are known.
    fn has_sound_stacks(&self, ledger: &Ledger) -> bool {
        let many = self.boxes.len();
        let has_box = |id: ArenaBox| (id as usize) < many;
        let choices = self.choices.iter().map(|choice| choice.id);
        if !self.boxes.are_sound() || !choices.clone().chain([NO_BOX, self.active]).all(has_box) {
            return false;
        }
        let mut stacks = choices.collect::<Vec<_>>();
        let mut active = self.active;
        while active != NO_BOX {
            stacks.push(active);
            active = self.boxes.get(active).parent;
            if active == NONE {
                return false;
            }
        }
        stacks.push(NO_BOX);
        let mut is_used = vec![false; many];
        let free = self.boxes.free();
        let is_new = |&id: &ArenaBox| {
            !free[id as usize] && !std::mem::replace(&mut is_used[id as usize], true)
        };
        if !stacks.iter().all(is_new) {
            return false;
        }
        let lasted = self.tick.saturating_sub(self.first_tick);
        stacks.into_iter().all(|id| {
            let boxed = self.boxes.get(id);
            let parent = boxed.parent;
            (id == NO_BOX || boxed.arc != NONE)
                && (parent == NONE || is_used[parent as usize])
                && is_box(ledger, boxed, lasted)
        })
    }

    fn has_sound_times(&self) -> bool {
        let Some(lasted) = self.tick.checked_sub(self.first_tick) else {
            return false;
        };
        let heights = [self.depth, self.max_depth, self.max_height];
        lasted < MOST
            && heights.iter().all(|of| of.unsigned_abs() < MOST)
            && self.depth >= 0
            && self.paused_ticks <= lasted
            && self.now.all <= lasted
            && self.boxes.get(NO_BOX).own <= self.now.all
            && self
                .choices
                .iter()
                .all(|choice| choice.pushed <= self.now.all)
    }

    fn has_sound_blame(&self, ledger: &Ledger) -> bool {
        let held = self.held.iter().map(|(_, blame)| blame);
        held.chain([&self.blame]).all(|blame| match blame {
            Blame::Known(Caller::Predicate(who), _) => *who < ledger.begin(),
            Blame::Known(Caller::Root, _) | Blame::Active(_) => true,
        })
    }
}

/// Whether a box is at a place, and was entered by arcs, that are there.
fn is_box(ledger: &Ledger, boxed: &PhysicalBox, lasted: u64) -> bool {
    let arcs = ledger.arcs.len() as ArcId;
    let is_arc = |arc: ArcId| arc < arcs;
    let is_none_or_arc = |arc: ArcId| arc == NONE || is_arc(arc);
    let chain = boxed.chain.iter();
    let groups = chain.clone().flat_map(|chain| chain.groups.iter());
    is_none_or_arc(boxed.arc)
        && is_none_or_arc(boxed.waits)
        && (boxed.place as usize) < ledger.places.len()
        && boxed.own <= lasted
        && boxed.base.unsigned_abs() < MOST
        && boxed.called < MOST
        && entries(boxed).all(|(entry, _)| is_arc(entry.arc) && is_none_or_arc(entry.waits))
        && groups.clone().all(|(_, group)| {
            group.fresh <= group.boxes
                && (1..MOST).contains(&group.boxes)
                && group.unbooked == 0
                && group.own <= lasted
        })
        && chain.clone().all(|chain| {
            chain.base_own <= lasted
                && chain.run.0 == 0
                && chain.last < chain.groups.len()
                && chain.rest.iter().all(|(_, arc)| is_arc(*arc))
        })
}
