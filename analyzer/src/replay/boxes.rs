//! The boxes of a chunk: those made in it, and those of before that it touches.
//!
//! Boxes lie in an arena with parent links, so to go back is to move one pointer. One that is neither
//! on the active chain nor on the choice stack is used again for the next.

mod kept;

use bincode::{Decode, Encode};

use super::clock::Ticks;
use super::ledger::{ArcId, Entry, NONE, PlaceId};
use super::small_map::SmallMap;
use crate::trace::{BoxKind, Callable, PredicateIndex};

/// A box in one arena.
pub(super) type ArenaBox = u32;
/// A box of before the chunk, by the order in which it was met.
pub(super) type RootId = u32;

/// A box for which the engine keeps one frame.
#[derive(Debug, Clone, Encode, Decode)]
pub(super) struct PhysicalBox {
    /// Its caller. [`NONE`]: unknown.
    pub(super) parent: ArenaBox,
    /// The arc it was entered by. [`NONE`]: hidden, or a root in the activation it began the chunk with.
    pub(super) arc: ArcId,
    /// By which arc the innermost other box of its predicate was left, if there is one: its time is no
    /// longer spent there. Of a hidden box: the visible box whose work it does.
    pub(super) waits: ArcId,
    /// No other box of its goal is on the chain; of a root, as if it were so.
    pub(super) outermost: bool,
    /// Of its innermost logical box. [`NONE`]: of a root, not needed yet.
    pub(super) place: PlaceId,
    /// Height of the choice stack when it was called: what is above was left inside it.
    pub(super) base: i64,
    pub(super) root: RootId,
    /// It has exited before.
    pub(super) exited: bool,
    /// Its caller's clause fails once it has exited. Not known of a root.
    pub(super) then_fails: bool,
    /// Of a hidden box: what it is.
    pub(super) kind: BoxKind,
    /// Boxes inside it may have been called from another place than where it is now: after events
    /// that cannot happen.
    pub(super) moved: bool,
    /// The rest of its chain of last calls.
    pub(super) chain: Option<Box<Chain>>,
    /// Number of the event by which it was called, in the chunk or in the stream.
    pub(super) called: u64,
    /// Its innermost visible logical box is no work.
    pub(super) is_left_out: bool,
    /// Begin of its activation.
    pub(super) since: Ticks,
    /// Ticks of this activation while its innermost logical box was active itself, since the last departure.
    pub(super) own: u64,
}

impl PhysicalBox {
    /// A box that nothing is known of yet.
    pub(super) const EMPTY: Self = Self {
        parent: NONE,
        arc: NONE,
        waits: NONE,
        outermost: true,
        place: NONE,
        base: 0,
        root: NONE,
        exited: false,
        then_fails: false,
        kind: BoxKind::Call { arity: 0 },
        moved: false,
        chain: None,
        called: 0,
        is_left_out: false,
        since: Ticks {
            all: 0,
            left_out: 0,
        },
        own: 0,
    };

    /// How it was entered, if it is visible.
    #[inline(always)]
    pub(super) fn entry(&self) -> Entry {
        Entry {
            arc: self.arc,
            waits: self.waits,
            outermost: self.outermost,
        }
    }

    /// It is as if it were part of its caller.
    #[inline]
    pub(super) fn is_hidden(&self) -> bool {
        self.arc == NONE && self.root == NONE
    }
}

/// How many predicates had departed before: so it is known which were in the chain. Not known of a
/// chain that was handed from chunk to chunk.
pub(super) type DepartedBefore = u32;

/// What the boxes of a group have in common. Only one box of a goal can be the outermost.
pub(super) type GroupKey = (Entry, DepartedBefore);

/// Logical boxes of a chain that were entered alike.
#[derive(Debug, Clone, Copy, Default, Encode, Decode)]
pub(super) struct Group {
    pub(super) boxes: u64,
    /// Those of them that never exited.
    pub(super) fresh: u64,
    /// Those of them whose call is not booked yet. None of a box that is on the choice stack, or
    /// was handed on.
    pub(super) unbooked: u64,
    /// The sum of the begins of their activations.
    pub(super) entered: Ticks,
    /// Ticks of the activation while the innermost box was one of them.
    pub(super) own: u64,
}

impl Group {
    /// A box is departed into at `now`.
    #[inline(always)]
    fn of_one(now: Ticks) -> Self {
        Self {
            boxes: 1,
            fresh: 1,
            unbooked: 1,
            entered: now,
            own: 0,
        }
    }

    /// Boxes are departed into; `entered`: the sum of the times.
    #[inline]
    fn enter(&mut self, boxes: u64, entered: Ticks) {
        self.boxes += boxes;
        self.fresh += boxes;
        self.unbooked += boxes;
        self.entered.add(entered);
    }
}

/// The boxes that a box departed into by last calls.
///
/// They share the fate of the physical box, so groups stand for them, in the order of their first boxes. A loop
/// of ten million last calls is one group.
#[derive(Debug, Clone, Encode, Decode)]
pub(super) struct Chain {
    pub(super) groups: SmallMap<GroupKey, Group>,
    /// By which arc the innermost box of a predicate departed.
    pub(super) rest: SmallMap<PredicateIndex, ArcId>,
    /// The group of the innermost box.
    pub(super) last: usize,
    /// Like [`Group::own`], of the box that was called.
    pub(super) base_own: u64,
    /// A departure into this is one like the last: from and to the same place.
    pub(super) again: Callable,
    /// Such departures that are not yet in the group, and the sum of their times.
    pub(super) run: (u64, Ticks),
}

impl Default for Chain {
    fn default() -> Self {
        Self {
            groups: SmallMap::default(),
            rest: SmallMap::default(),
            last: 0,
            base_own: 0,
            again: NONE,
            run: (0, Ticks::default()),
        }
    }
}

impl Chain {
    fn clear(&mut self) {
        self.groups.clear();
        self.rest.clear();
        (self.last, self.base_own, self.again) = (0, 0, NONE);
        self.run = (0, Ticks::default());
    }

    /// A departure like the last.
    #[inline]
    pub(super) fn depart_again(&mut self, now: Ticks) {
        self.run.0 += 1;
        self.run.1.add(now);
    }

    /// Puts repeated departures into their group.
    #[inline]
    pub(super) fn settle(&mut self) {
        let (boxes, entered) = std::mem::take(&mut self.run);
        if let Some((_, group)) = self.groups.get_mut(self.last) {
            group.enter(boxes, entered);
        }
    }

    /// A departure of a box of `from` at `now`, after `own` ticks as the active one. The chain is settled.
    #[inline(always)]
    pub(super) fn depart(&mut self, from: PredicateIndex, entry: Entry, now: Ticks, own: u64) {
        let key = (entry, self.rest.len() as DepartedBefore);
        match self.groups.get_mut(self.last) {
            None => self.base_own += own,
            Some((last, group)) => {
                group.own += own;
                if *last == key {
                    return group.enter(1, now);
                }
            }
        }
        self.last = match self.groups.position(key) {
            None => self.groups.push(key, Group::of_one(now)),
            Some(known) => {
                if let Some((_, group)) = self.groups.get_mut(known) {
                    group.enter(1, now);
                }
                known
            }
        };
        self.rest.set(from, entry.arc);
    }
}

/// How the logical boxes of a box were entered, with how many they are; nothing if it is hidden.
pub(super) fn entries(boxed: &PhysicalBox) -> impl Iterator<Item = (Entry, u64)> {
    let base = (boxed.arc != NONE).then_some((boxed.entry(), 1));
    let groups = boxed.chain.iter().flat_map(|chain| chain.groups.iter());
    let departed = groups.map(|&((entry, _), group)| (entry, group.boxes));
    base.into_iter().chain(departed)
}

/// The arcs of the logical boxes of a box, with how many they are; nothing if it is hidden.
pub(super) fn logical(boxed: &PhysicalBox) -> impl Iterator<Item = (ArcId, u64)> {
    entries(boxed).map(|(entry, boxes)| (entry.arc, boxes))
}

/// All boxes of a chunk.
#[derive(Debug, Clone)]
pub(super) struct Boxes {
    boxes: Vec<PhysicalBox>,
    /// The first box to be used again; the others follow by parent links. [`NONE`]: there is none.
    free: ArenaBox,
    /// Chains to be used again, too: empty, with their memory.
    #[allow(
        clippy::vec_box,
        reason = "they are handed to boxes, which hold them by pointer"
    )]
    spare: Vec<Box<Chain>>,
}

impl Default for Boxes {
    fn default() -> Self {
        Self {
            boxes: Vec::new(),
            free: NONE,
            spare: Vec::new(),
        }
    }
}

impl Boxes {
    /// A new box, to be filled in; `None` if there are more than can be numbered.
    ///
    /// Set its fields one by one where they are. A box put together elsewhere and copied waits for its own
    /// stores, which took a fifth of the replay.
    #[inline(always)]
    pub(super) fn add(&mut self) -> Option<(ArenaBox, &mut PhysicalBox)> {
        let id = match self.free {
            NONE => self.grow()?,
            free => free,
        };
        let made = &mut self.boxes[id as usize];
        self.free = made.parent;
        Some((id, made))
    }

    /// The id of the box to be added next, if there is room.
    #[inline(always)]
    pub(super) fn next(&self) -> ArenaBox {
        match self.free {
            NONE => self.boxes.len() as ArenaBox,
            free => free,
        }
    }

    #[cold]
    fn grow(&mut self) -> Option<ArenaBox> {
        let id = self.boxes.len() as ArenaBox;
        if id >= NONE - 1 {
            return None;
        }
        self.boxes.push(PhysicalBox::EMPTY);
        Some(id)
    }

    /// A copy of a box; as [`Boxes::add`].
    pub(super) fn put(&mut self, made: PhysicalBox) -> Option<ArenaBox> {
        let (id, place) = self.add()?;
        *place = made;
        Some(id)
    }

    /// The box will not be asked for again.
    #[inline(always)]
    pub(super) fn release(&mut self, id: ArenaBox) {
        let freed = &mut self.boxes[id as usize];
        freed.parent = self.free;
        self.free = id;
        if freed.chain.is_some() {
            self.release_chain(id);
        }
    }

    #[inline(never)]
    fn release_chain(&mut self, id: ArenaBox) {
        if let Some(mut chain) = self.boxes[id as usize].chain.take() {
            chain.clear();
            self.spare.push(chain);
        }
    }

    /// The chain of a box; an empty one if it had none.
    pub(super) fn chain(&mut self, id: ArenaBox) -> &mut Chain {
        let spare = &mut self.spare;
        self.boxes[id as usize]
            .chain
            .get_or_insert_with(|| spare.pop().unwrap_or_default())
    }

    #[inline]
    pub(super) fn get(&self, id: ArenaBox) -> &PhysicalBox {
        &self.boxes[id as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: ArenaBox) -> &mut PhysicalBox {
        &mut self.boxes[id as usize]
    }

    /// How many there were at once, at most.
    pub(super) fn len(&self) -> usize {
        self.boxes.len()
    }

    pub(super) fn clear(&mut self) {
        self.boxes.clear();
        self.free = NONE;
    }
}
