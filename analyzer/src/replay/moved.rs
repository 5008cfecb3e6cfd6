//! Boxes that are re-entered elsewhere than where they were called, after events that cannot happen:
//! from then on they are where they are re-entered.

use rustc_hash::{FxHashMap, FxHashSet};

use super::boxes::{ArenaBox, Chain, DepartedBefore, PhysicalBox};
use super::chunk::Chunk;
use super::ledger::{ArcId, BoxPlace, CallArc, Entry, NONE};
use crate::trace::PredicateIndex;

impl Chunk<'_> {
    /// Whether a box was moved since `parent` was called; not to one before whose room `parent` now has.
    #[cold]
    pub(super) fn is_moved_below(&self, id: ArenaBox, parent: &PhysicalBox) -> bool {
        let called = self.boxes.get(id).called;
        let is_later = |&(of, at): &(u64, u64)| of == called && parent.called <= at;
        self.moves.get(&id).is_some_and(is_later)
    }

    /// A box that exited, and is about to be re-entered, is as if the active one had called it.
    pub(super) fn move_below_active(&mut self, id: ArenaBox) {
        let from = self.place();
        let visible = self.visible(self.active);
        let boxed = self.boxes.get_mut(id);
        boxed.moved = true;
        boxed.parent = self.active;
        self.moves.insert(id, (boxed.called, self.events));
        if boxed.arc == NONE {
            boxed.waits = visible;
            let center = self.ledger.places[boxed.place as usize].center;
            let place = self.ledger.place_in_center(from, center);
            self.boxes.get_mut(id).place = place;
            return;
        }
        let caller = self.ledger.places[from as usize].predicate;
        let CallArc {
            predicate,
            callable,
            ..
        } = self.ledger.arcs[boxed.arc as usize];
        let chain = boxed.chain.take();
        let arc = self.ledger.arc(from, callable);
        self.on_chain.leave_by(caller, arc);
        let entry = self.on_chain.entry(arc, predicate, callable);
        let mut place = self.ledger.arcs[arc as usize].place;
        let chain = chain.map(|chain| {
            let moved = self.move_chain(&chain, arc);
            if let Some(((innermost, _), _)) = moved.groups.get(moved.last) {
                place = self.ledger.arcs[innermost.arc as usize].place;
            }
            Box::new(moved)
        });
        let boxed = self.boxes.get_mut(id);
        boxed.chain = chain;
        boxed.arc = entry.arc;
        boxed.waits = entry.waits;
        boxed.outermost = entry.outermost;
        boxed.place = place;
    }

    /// A chain as it is if its outermost box was called by `first`.
    ///
    /// What the boxes of the chain wait for is known by predicate only. That is enough: while they are
    /// active together only the last departure of each predicate has any time, and the others add up
    /// to nothing.
    fn move_chain(&mut self, chain: &Chain, first: ArcId) -> Chain {
        let arcs = self.moved_arcs(chain, first);
        let mut last = FxHashMap::default();
        let mut followed: FxHashMap<PredicateIndex, Vec<(ArcId, u64)>> = FxHashMap::default();
        for ((key, group), arc) in chain.groups.iter().zip(&arcs) {
            last.insert(key.0.arc, *arc);
            let departures = followed.entry(self.caller(*arc)).or_default();
            departures.push((*arc, group.boxes));
        }
        let mut moved = Chain::default();
        for (predicate, arc) in chain.rest.iter() {
            *moved.rest.entry(*predicate) = last[arc];
        }
        let innermost = arcs[chain.last];
        let active = self.ledger.arcs[innermost as usize].predicate;
        for (predicate, arc) in moved.rest.iter() {
            let departures = followed.get_mut(predicate).into_iter().flatten();
            // After its last departure no box of the predicate followed.
            if let Some((_, boxes)) = departures.rev().find(|(of, _)| of == arc)
                && *predicate != active
            {
                *boxes -= 1;
            }
        }
        let CallArc {
            predicate,
            callable,
            ..
        } = self.ledger.arcs[first as usize];
        let mut met = FxHashSet::from_iter([predicate]);
        let mut goals = FxHashSet::from_iter([callable]);
        for (((_, stage), group), arc) in chain.groups.iter().zip(&arcs) {
            let CallArc {
                predicate,
                callable,
                ..
            } = self.ledger.arcs[*arc as usize];
            let entry = self.on_chain.entry(*arc, predicate, callable);
            let mut outermost = goals.insert(callable) && entry.outermost;
            let mut enter = |waits, boxes: u64| {
                let first = u64::from(std::mem::take(&mut outermost));
                for (outermost, boxes) in [(true, first), (false, boxes - first)] {
                    let entry = Entry {
                        arc: *arc,
                        waits,
                        outermost,
                    };
                    add(&mut moved, entry, *stage, boxes);
                }
            };
            let mut boxes = group.boxes;
            if met.insert(predicate) {
                enter(entry.waits, 1);
                boxes -= 1;
            }
            let departures = followed.entry(predicate).or_default();
            while boxes > 0
                && let Some((waits, left)) = departures.pop()
            {
                let now = boxes.min(left);
                boxes -= now;
                if now > 0 {
                    enter(waits, now);
                }
                if left > now {
                    departures.push((waits, left - now));
                }
            }
        }
        let at = moved
            .groups
            .iter()
            .rposition(|(key, _)| key.0.arc == innermost);
        moved.last = at.unwrap_or(0);
        moved
    }

    /// By which arcs the departures of a chain are, by group, if its outermost box was called by `first`.
    fn moved_arcs(&mut self, chain: &Chain, first: ArcId) -> Vec<ArcId> {
        let mut place = self.ledger.arcs[first as usize].place;
        let mut arcs = Vec::with_capacity(chain.groups.len());
        for ((entry, _), _) in chain.groups.iter() {
            let old = entry.arc;
            let caller = self.caller(old);
            let callable = self.ledger.arcs[old as usize].callable;
            let BoxPlace {
                context, center, ..
            } = self.ledger.places[place as usize];
            let from = self.ledger.place_in(context, caller, center);
            let arc = self.ledger.arc(from, callable);
            place = self.ledger.arcs[arc as usize].place;
            arcs.push(arc);
        }
        arcs
    }

    /// The predicate of the box that calls by an arc.
    fn caller(&self, arc: ArcId) -> PredicateIndex {
        let from = self.ledger.arcs[arc as usize].from;
        self.ledger.places[from as usize].predicate
    }
}

fn add(chain: &mut Chain, entry: Entry, stage: DepartedBefore, boxes: u64) {
    if boxes > 0 {
        chain.groups.entry((entry, stage)).boxes += boxes;
    }
}
