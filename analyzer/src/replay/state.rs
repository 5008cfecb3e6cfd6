//! The state of a stream between two chunks, and how a chunk changes it.

mod kept;

use std::sync::Arc;

use bincode::{Decode, Encode};

use super::boxes::{ArenaBox, Boxes, Chain, PhysicalBox, RootId, entries, logical};
use super::choices::{Live, Reason, Taken};
use super::chunk::Chunk;
use super::clock::Ticks;
use super::goals::GoalBoxes;
use super::ledger::{ArcId, Entry, Ledger, NONE, PlaceId, Renaming, add};
use crate::figures::{Caller, StreamFigures};
use crate::moment::OpenBox;
use crate::moment::checkpoint::StacksChange;
use crate::moment::stack::Packed;
use crate::trace::{Callable, PredicateIndex};
pub(super) use kept::MOST;

/// The state between two chunks of a stream.
#[derive(Debug, Clone, Encode, Decode)]
pub(super) struct State {
    pub(super) boxes: Boxes,
    pub(super) active: ArenaBox,
    pub(super) choices: Vec<Redoable>,
    pub(super) goals: GoalBoxes,
    pub(super) depth: i64,
    pub(super) max_depth: i64,
    pub(super) max_height: i64,
    pub(super) first_tick: u64,
    pub(super) tick: u64,
    pub(super) now: Ticks,
    pub(super) paused: bool,
    pub(super) paused_ticks: u64,
    /// Work that is not undone, modulo 2⁶⁴.
    pub(super) live: u64,
    pub(super) blame: Blame,
    /// In that many boxes of what happens between two ports, each right inside the one before: what it was before them.
    pub(super) held: Option<(u32, Blame)>,
    /// Time without a processor that was booked when the stream began, or was taken up again.
    waited_before: u64,
    /// Such time of the stream itself, until it was put away last.
    waited: u64,
}

/// What is blamed for a redo that comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(super) enum Blame {
    /// The box that is active then, for this reason.
    Active(Reason),
    /// The box that failed, if that was the last port; or what was to blame some redos ago.
    Known(Caller, Reason),
}

/// Nothing failed.
pub(super) const NOTHING_FAILED: Blame = Blame::Active(Reason::WasActive);

/// An entry of the choice stack.
#[derive(Debug, Clone, Copy, Encode, Decode)]
pub(super) struct Redoable {
    pub(super) id: ArenaBox,
    pub(super) pushed: u64,
    pub(super) live: u64,
}

/// Around the outermost boxes: no box. Its own time is untraced.
pub(super) const NO_BOX: ArenaBox = 0;
/// Where no box is active.
pub(super) const TOP: PlaceId = 0;

/// What the places, arcs and roots of a chunk are in the trace.
#[derive(Debug)]
pub(super) struct InTrace {
    /// By root.
    pub(super) boxes: Vec<ArenaBox>,
    pub(super) places: Vec<PlaceId>,
    pub(super) arcs: Vec<ArcId>,
    /// By arc: what its boxes wait for if no other box of their predicate is on the chain in the chunk.
    pub(super) waits: Vec<ArcId>,
    /// By arc: whether a box of its goal is on the chain that the chunk does not know.
    pub(super) nested: Vec<bool>,
    /// The outermost root is no box.
    pub(super) ends_in_no_box: bool,
    /// Where the chunk begins: number of its first event, time, height of the choice stack.
    pub(super) first: u64,
    pub(super) begin: Ticks,
    pub(super) height: i64,
}

impl InTrace {
    /// Work of the chunk that was really some, in ticks.
    pub(super) fn work(&self, chunk: &Chunk, live: &Live) -> u64 {
        if self.ends_in_no_box && live.level == chunk.levels.len() as u32 {
            live.ticks.wrapping_sub(live.idle)
        } else {
            live.ticks
        }
    }
}

impl State {
    /// A stream begins at `tick`, when so much waiting had been booked.
    pub(super) fn new(tick: u64, waited_before: u64) -> Self {
        let mut boxes = Boxes::default();
        let no_box = PhysicalBox {
            place: TOP,
            ..PhysicalBox::EMPTY
        };
        let active = boxes.put(no_box).unwrap_or(NO_BOX);
        Self {
            boxes,
            active,
            choices: Vec::new(),
            goals: GoalBoxes::default(),
            depth: 0,
            max_depth: 0,
            max_height: 0,
            first_tick: tick,
            tick,
            now: Ticks::default(),
            paused: false,
            paused_ticks: 0,
            live: 0,
            blame: NOTHING_FAILED,
            held: None,
            waited_before,
            waited: 0,
        }
    }

    /// The stream is put away, when so much waiting has been booked.
    pub(super) fn put_away(&mut self, waited: u64) {
        self.waited = self.waited(waited);
    }

    /// It goes on, when so much waiting has been booked.
    pub(super) fn take_up(&mut self, waited: u64) {
        self.waited_before = waited;
    }

    /// Time without a processor of the stream, when so much has been booked.
    fn waited(&self, waited: u64) -> u64 {
        let since = waited.wrapping_sub(self.waited_before);
        self.waited.wrapping_add(since)
    }

    /// Goals have other numbers.
    pub(super) fn renumber(&mut self, numbers: Renaming) {
        self.goals.renumber(numbers);
    }

    pub(super) fn height(&self) -> i64 {
        self.choices.len() as i64
    }

    pub(super) fn advance(&mut self, tick: u64) {
        let stretch = tick.saturating_sub(self.tick);
        self.tick += stretch;
        if self.paused {
            self.paused_ticks += stretch;
            return;
        }
        let active = self.boxes.get_mut(self.active);
        active.own += stretch;
        let stretch = Ticks::new(stretch, active.is_left_out);
        self.now.add(stretch);
        if self.active != NO_BOX {
            add(&mut self.live, stretch.work());
        }
    }

    /// Which boxes the roots of a chunk are: of the active chain, and of the choice stack.
    pub(super) fn find_roots(&self, chunk: &Chunk) -> Option<Vec<ArenaBox>> {
        let mut found = vec![NONE; chunk.roots.len()];
        let mut active = self.active;
        for root in &chunk.levels {
            if active == NONE {
                return None;
            }
            found[*root as usize] = active;
            active = self.boxes.get(active).parent;
        }
        let mut left = self.choices.len();
        for taken in chunk.choices.taken() {
            let count = match taken {
                Taken::Redo { .. } => 1,
                Taken::Cut { count, .. } => *count as usize,
            };
            left = left.checked_sub(count)?;
            let Taken::Redo { root, .. } = taken else {
                continue;
            };
            let id = self.choices[left].id;
            let parent = chunk.boxes.get(chunk.roots[*root as usize].id).parent;
            let parent = chunk.boxes.get(parent);
            if parent.root == NONE || found[parent.root as usize] != self.boxes.get(id).parent {
                return None;
            }
            found[*root as usize] = id;
        }
        Some(found)
    }

    /// Whether a box of a goal is on the chain of a root of the chunk.
    pub(super) fn is_on_chain(
        &self,
        ledger: &Ledger,
        chunk: &Chunk,
        boxes: &[ArenaBox],
        mut root: RootId,
        goal: Callable,
    ) -> bool {
        loop {
            if let Ok(level) = chunk.levels.binary_search(&root) {
                return self.goals.has(goal, self.depth - level as i64);
            }
            // It was re-entered, by another root.
            let boxed = self.boxes.get(boxes[root as usize]);
            let is_goal = |(arc, _): (ArcId, u64)| ledger.arcs[arc as usize].callable == goal;
            if logical(boxed).any(is_goal) {
                return true;
            }
            let parent = chunk.boxes.get(chunk.roots[root as usize].id).parent;
            root = chunk.boxes.get(parent).root;
        }
    }

    /// By which arc the innermost box of a predicate was left, seen from a box that calls along
    /// `way`.
    pub(super) fn waiting(
        &self,
        ledger: &Ledger,
        root: ArenaBox,
        predicate: PredicateIndex,
        way: ArcId,
    ) -> ArcId {
        let (mut id, mut way) = (root, way);
        while id != NO_BOX && id != NONE {
            let boxed = self.boxes.get(id);
            if ledger.places[boxed.place as usize].predicate == predicate {
                return way;
            }
            let departed = boxed.chain.as_ref().and_then(|c| c.rest.find(predicate));
            if let Some(arc) = departed {
                return *arc;
            }
            way = boxed.arc;
            id = boxed.parent;
        }
        NONE
    }

    /// Those of the stream, when so much waiting has been booked.
    pub(super) fn figures(&self, waited: u64) -> StreamFigures {
        let untraced = self.boxes.get(NO_BOX).own;
        StreamFigures {
            first_tick: self.first_tick,
            last_tick: self.tick,
            self_ticks: self.now.all - untraced,
            untraced_ticks: untraced,
            paused_ticks: self.paused_ticks,
            waiting_ticks: self.waited(waited),
            work_ticks: self.now.work().wrapping_sub(untraced),
            max_depth: self.max_depth.unsigned_abs(),
            max_choices: self.max_height.unsigned_abs(),
            ..StreamFigures::default()
        }
    }

    /// Becomes the state at the end of the chunk.
    pub(super) fn hand_over(&mut self, chunk: &Chunk, meaning: &InTrace, ledger: &Ledger) {
        let kept = LeftBoxes::of(self, chunk, meaning);
        let translate = Translate { meaning, ledger };
        for id in kept.order {
            translate.hand_over(self, chunk, &kept.ids, id);
        }
        let mut inside = i64::MAX;
        for (root, id) in chunk.roots.iter().zip(&meaning.boxes) {
            if !kept.roots[chunk.boxes.get(root.id).root as usize] && *id != NO_BOX {
                inside = inside.min(self.boxes.get(*id).base);
                self.boxes.release(*id);
            }
        }
        self.forget_callers(inside);
        for choice in chunk.choices.left() {
            let live = self.live.wrapping_add(meaning.work(chunk, &choice.live));
            self.choices.push(Redoable {
                id: kept.ids[choice.id as usize],
                pushed: meaning.begin.all + choice.pushed,
                live,
            });
        }
        add(&mut self.live, meaning.work(chunk, &chunk.live()));
        self.active = kept.ids[chunk.active as usize];
        self.enter_goals(chunk, meaning, ledger);
        self.max_depth = self.max_depth.max(self.depth + chunk.max_depth);
        self.depth += chunk.depth;
        self.max_height = self
            .max_height
            .max(meaning.height + chunk.choices.max_height());
        self.now = meaning.begin.plus(chunk.clock.now());
        self.tick = chunk.clock.tick();
        self.paused = chunk.clock.is_paused();
        self.paused_ticks += chunk.clock.paused_ticks();
    }

    /// Goals of the active chain, from the outermost root on: it may have departed.
    fn enter_goals(&mut self, chunk: &Chunk, meaning: &InTrace, ledger: &Ledger) {
        let Some(outermost) = chunk.levels.last() else {
            return;
        };
        let outermost = meaning.boxes[*outermost as usize];
        let base = self.depth - (chunk.levels.len() as i64 - 1);
        self.goals.leave(base);
        let mut entered = Vec::new();
        let mut depth = self.depth + chunk.depth;
        let mut id = self.active;
        while id != NO_BOX && id != NONE {
            let boxed = self.boxes.get(id);
            let entries = entries(boxed).filter(|(entry, _)| entry.outermost);
            entered.extend(entries.map(|(entry, _)| (depth, entry.arc)));
            if id == outermost {
                break;
            }
            (id, depth) = (boxed.parent, depth - 1);
        }
        for (depth, arc) in entered.into_iter().rev() {
            let goal = ledger.arcs[arc as usize].callable;
            self.goals.enter(depth, goal);
        }
    }

    /// Entries of the choice stack from this height on are inside of a box that is gone. They are
    /// about to be cut, too: the chunk ends between the parts of one cut, or between an exception
    /// and its cut.
    pub(super) fn forget_callers(&mut self, height: i64) {
        let from = usize::try_from(height).unwrap_or(0);
        for choice in self.choices.iter().skip(from) {
            self.boxes.get_mut(choice.id).parent = NONE;
        }
    }

    /// What the chunk, just handed over, left on the stacks. Its outermost root counts as pushed again, because
    /// it may have departed; the root that is no box does not count.
    pub(super) fn change(&self, chunk: &Chunk, meaning: &InTrace, ledger: &Ledger) -> StacksChange {
        let outermost = chunk
            .levels
            .last()
            .map(|root| meaning.boxes[*root as usize]);
        let mut change = StacksChange {
            paused: self.paused,
            ..StacksChange::default()
        };
        change.active.popped = chunk.levels.len() as u64 - u64::from(meaning.ends_in_no_box);
        change.choices.popped = chunk.choices.popped();
        let mut pushed = Vec::new();
        let mut id = self.active;
        while id != NO_BOX && id != NONE {
            pushed.push(self.open_box(ledger, id));
            if Some(id) == outermost {
                break;
            }
            id = self.boxes.get(id).parent;
        }
        change.active.pushed = Arc::new(Packed::new(pushed.into_iter().rev()));
        let kept = self.choices.len() - chunk.choices.left().len();
        let new = self.choices[kept..].iter();
        let pushed = Packed::new(new.map(|choice| self.open_box(ledger, choice.id)));
        change.choices.pushed = Arc::new(pushed);
        change
    }

    fn open_box(&self, ledger: &Ledger, id: ArenaBox) -> OpenBox {
        let boxed = self.boxes.get(id);
        let caller = boxed.parent;
        OpenBox {
            called: boxed.called,
            caller: (caller != NO_BOX && caller != NONE).then(|| self.boxes.get(caller).called),
            predicate: ledger.places[boxed.place as usize].predicate,
            called_as: ledger.arcs[boxed.arc as usize].predicate,
            last_calls: boxed
                .chain
                .iter()
                .flat_map(|chain| chain.groups.iter())
                .fold(0, |sum, (_, group)| sum + group.boxes),
            way: 0,
        }
    }
}

/// The boxes that a chunk leaves, and what they are called from then on.
struct LeftBoxes {
    /// By box of the chunk.
    ids: Vec<ArenaBox>,
    /// Boxes of the chunk.
    order: Vec<ArenaBox>,
    /// By root.
    roots: Vec<bool>,
}

impl LeftBoxes {
    fn of(state: &mut State, chunk: &Chunk, meaning: &InTrace) -> Self {
        let mut kept = Self {
            ids: vec![NONE; chunk.boxes.len()],
            order: Vec::new(),
            roots: vec![false; chunk.roots.len()],
        };
        let mut active = chunk.active;
        while active != NONE {
            kept.keep(state, chunk, meaning, active);
            active = chunk.boxes.get(active).parent;
        }
        for choice in chunk.choices.left() {
            kept.keep(state, chunk, meaning, choice.id);
        }
        kept
    }

    fn keep(&mut self, state: &mut State, chunk: &Chunk, meaning: &InTrace, id: ArenaBox) {
        let root = chunk.boxes.get(id).root;
        let here = if root == NONE {
            state.boxes.put(PhysicalBox::EMPTY).unwrap_or(NO_BOX)
        } else {
            self.roots[root as usize] = true;
            meaning.boxes[root as usize]
        };
        self.ids[id as usize] = here;
        self.order.push(id);
    }
}

/// Puts the boxes of a chunk into the terms of the trace.
struct Translate<'c> {
    meaning: &'c InTrace,
    ledger: &'c Ledger,
}

impl Translate<'_> {
    fn hand_over(&self, state: &mut State, chunk: &Chunk, ids: &[ArenaBox], id: ArenaBox) {
        let from = chunk.boxes.get(id);
        let to = state.boxes.get_mut(ids[id as usize]);
        if from.root != NONE {
            if from.parent != NONE && ids[from.parent as usize] == NONE {
                to.parent = NONE;
            }
            return self.root(chunk, from, to);
        }
        let Entry {
            arc,
            waits,
            outermost,
        } = self.entry(from.entry());
        *to = PhysicalBox {
            parent: kept_parent(chunk, ids, from),
            arc,
            waits,
            outermost,
            place: self.meaning.places[from.place as usize],
            base: self.meaning.height + from.base,
            root: NONE,
            exited: from.exited,
            then_fails: from.then_fails,
            kind: from.kind,
            moved: false,
            chain: from
                .chain
                .as_ref()
                .map(|chain| Box::new(self.chain(chain, NONE))),
            called: self.meaning.first + from.called,
            is_left_out: from.is_left_out,
            since: self.meaning.begin.plus(from.since),
            own: from.own,
        };
    }

    /// A box of before the chunk goes on.
    fn root(&self, chunk: &Chunk, from: &PhysicalBox, to: &mut PhysicalBox) {
        let root = &chunk.roots[from.root as usize];
        if root.later != NONE {
            // Its activation is a later one.
            to.exited = true;
            to.since = self.meaning.begin.plus(from.since);
            if let Some(chain) = &mut to.chain {
                for (_, group) in chain.groups.iter_mut() {
                    group.entered = to.since.times(group.boxes);
                    group.fresh = 0;
                }
            }
        }
        let Some(chain) = &from.chain else {
            to.own += from.own;
            return;
        };
        let departed = self.ledger.places[to.place as usize].predicate;
        let more = self.chain(chain, departed);
        to.place = self.meaning.places[from.place as usize];
        to.is_left_out = from.is_left_out;
        let own = std::mem::take(&mut to.own) + more.base_own;
        let all = to.chain.get_or_insert_default();
        match all.groups.get_mut(all.last) {
            None => all.base_own += own,
            Some((_, group)) => group.own += own,
        }
        for (key, group) in more.groups.iter() {
            let sum = all.groups.entry(*key);
            sum.boxes += group.boxes;
            sum.fresh += group.fresh;
            sum.entered.add(group.entered);
            sum.own += group.own;
        }
        for (predicate, arc) in more.rest.iter() {
            *all.rest.entry(*predicate) = *arc;
        }
        if let Some((key, _)) = more.groups.get(more.last) {
            all.last = all.groups.position(*key).unwrap_or(0);
        }
        to.own = from.own;
    }

    /// A chain in the terms of the trace; `root`: the predicate of the root that departed first.
    fn chain(&self, chain: &Chain, root: PredicateIndex) -> Chain {
        let mut here = Chain {
            base_own: chain.base_own,
            ..Chain::default()
        };
        for (at, ((entry, _), group)) in chain.groups.iter().enumerate() {
            let key = (self.entry(*entry), 0);
            if at == chain.last {
                here.last = here.groups.add(key);
            }
            let sum = here.groups.entry(key);
            sum.boxes += group.boxes;
            sum.fresh += group.fresh;
            let begin = self.meaning.begin.times(group.boxes);
            sum.entered.add(group.entered.plus(begin));
            sum.own += group.own;
        }
        for (predicate, arc) in chain.rest.iter() {
            let predicate = if *predicate == self.ledger.begin() {
                root
            } else {
                *predicate
            };
            *here.rest.entry(predicate) = self.meaning.arcs[*arc as usize];
        }
        here
    }

    fn entry(&self, of: Entry) -> Entry {
        let arc = of.arc as usize;
        Entry {
            arc: self.meaning.arcs[arc],
            waits: if of.waits == NONE {
                self.meaning.waits[arc]
            } else {
                self.meaning.arcs[of.waits as usize]
            },
            outermost: of.outermost && !self.meaning.nested[arc],
        }
    }
}

/// The caller of a box that a chunk made and hands on; [`NONE`] if that was cut. The box is about
/// to be cut, too: then a chunk ends between the parts of one cut.
fn kept_parent(chunk: &Chunk, ids: &[ArenaBox], from: &PhysicalBox) -> ArenaBox {
    let parent = chunk.boxes.get(from.parent);
    // Another box may have the room of one that was cut: one called later.
    if parent.called <= from.called {
        ids[from.parent as usize]
    } else {
        NONE
    }
}
