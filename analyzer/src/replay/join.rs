//! Chunk after chunk becomes the replay of the whole trace.
//!
//! The state of the stream at the beginning of a chunk tells which box each of its roots is, and so the context
//! of its places. Then its ledger is added to those of the trace. The boxes that it leaves on the active chain
//! and the choice stack are the state at the beginning of the next one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::assemble;
use super::boxes::{ArenaBox, RootId, logical};
use super::choices::{Failed, Reason, RedoCause, Resumed, Taken, Who};
use super::chunk::{Before, Chunk, First};
use super::clock::Ticks;
use super::ledger::{
    ArcId, CUT, Figures, Ledger, NEVER, NONE, OUTCOMES, PlaceId, Renaming, WayOut, add,
};
use super::roots::{book_later, leave};
use super::state::{Blame, InTrace, NO_BOX, NOTHING_FAILED, Redoable, State};
use crate::figures::profile::Profile;
use crate::figures::{BacktrackFigures, Caller, StreamFigures};
use crate::moment::checkpoint::StacksChange;
use crate::scope::Scope;
use crate::trace::PredicateIndex;

/// Why a replay in chunks cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GiveUp {
    /// Something came that needs streams as a whole: a gap, damage, an event that cannot happen.
    Unusual,
    /// Streams together last longer than 64 bits can say.
    Long,
    /// Boxes live so long that most would be handed from chunk to chunk: a stream in one piece is faster.
    Deep,
}
use GiveUp::Unusual;

/// [`State::blame`] and [`State::held`].
type BlameBefore = (Blame, Option<(u32, Blame)>);

/// Pairs of a caller and a callee, as they are numbered now.
fn renumbered<T>(
    of: BTreeMap<(Caller, PredicateIndex), T>,
    numbers: Renaming,
) -> BTreeMap<(Caller, PredicateIndex), T> {
    let pairs = of.into_iter();
    pairs
        .map(|((caller, callee), of)| ((numbers.caller(caller), numbers.callable(callee)), of))
        .collect()
}

/// The ledger of the trace, and the stream that is being put together.
#[derive(Debug, Clone)]
pub(super) struct Join {
    pub(super) ledger: Ledger,
    /// By predicate: whether its boxes collect solutions.
    collectors: Arc<[bool]>,
    pub(super) backtracks: BTreeMap<(Caller, PredicateIndex), BacktrackFigures>,
    pub(super) cuts: BTreeMap<(Caller, PredicateIndex), u64>,
    state: State,
}

impl Join {
    /// Nothing joined yet.
    pub(super) fn new(scope: &Scope) -> Self {
        let mut ledger = Ledger::new(scope);
        ledger.root(NONE);
        Self {
            ledger,
            collectors: Arc::clone(&scope.collectors),
            backtracks: BTreeMap::new(),
            cuts: BTreeMap::new(),
            state: State::new(0, 0),
        }
    }

    /// The figures of all that was joined, with those of its streams.
    pub(super) fn into_profile(mut self, streams: Vec<StreamFigures>) -> Profile {
        self.ledger.finish();
        Profile {
            backtracks: self.backtracks,
            cuts: self.cuts,
            streams,
            ..assemble::profile(&self.ledger)
        }
    }

    /// A stream begins at `tick`.
    pub(super) fn begin_stream(&mut self, tick: u64) {
        self.state = State::new(tick, self.ledger.waited());
    }

    /// The state of the stream, so that another one can begin.
    pub(super) fn put_away(&mut self) -> State {
        let mut state = std::mem::replace(&mut self.state, State::new(0, 0));
        state.put_away(self.ledger.waited());
        state
    }

    /// A stream goes on that was put away.
    pub(super) fn take_up(&mut self, mut state: State) {
        state.take_up(self.ledger.waited());
        self.state = state;
    }

    /// Whether all predicates that boxes were of are declared.
    pub(super) fn knows_all(&self) -> bool {
        self.ledger.knows_all()
    }

    /// Names were declared since ([`Ledger::renumber`]). No stream is in hand.
    pub(super) fn renumber(&mut self, scope: &Scope) -> Renaming {
        self.collectors = Arc::clone(&scope.collectors);
        let numbers = self.ledger.renumber(scope);
        self.backtracks = renumbered(std::mem::take(&mut self.backtracks), numbers);
        self.cuts = renumbered(std::mem::take(&mut self.cuts), numbers);
        numbers
    }

    /// What the next chunk, whose roots are these, has to know, and could not when it was replayed.
    pub(super) fn not_foreseen(&self, roots: &[ArenaBox]) -> Before {
        let is_left_out = |&(_, id): &(RootId, &ArenaBox)| self.state.boxes.get(*id).is_left_out;
        Before {
            paused: self.state.paused,
            left_out: (0..)
                .zip(roots)
                .filter(is_left_out)
                .map(|(root, _)| root)
                .collect(),
        }
    }

    /// Adds what a chunk of whole streams booked.
    pub(super) fn add_streams(&mut self, mut chunk: Chunk) {
        if chunk.roots.is_empty() {
            return;
        }
        self.state = State::new(0, 0);
        let meaning = if self.ledger.take_over(&mut chunk.ledger) {
            self.same(&chunk)
        } else {
            self.book_arcs(&chunk, vec![NO_BOX], 0)
        };
        self.book_pairs(&chunk, &meaning);
    }

    /// The terms of the trace are those of a chunk of whole streams, whose ledger was taken over.
    fn same(&self, chunk: &Chunk) -> InTrace {
        InTrace {
            boxes: vec![NO_BOX],
            places: (0..self.ledger.places.len() as PlaceId).collect(),
            arcs: (0..self.ledger.arcs.len() as ArcId).collect(),
            waits: vec![NONE; self.ledger.arcs.len()],
            nested: vec![false; self.ledger.arcs.len()],
            ends_in_no_box: !chunk.levels.is_empty(),
            first: 0,
            begin: Ticks::default(),
            height: 0,
        }
    }

    /// Adds the next chunk of the stream, whose first event was the one of this number, at `tick`.
    /// Its roots are these boxes. Returns how the stacks changed, if `change` asks for it.
    pub(super) fn add_part(
        &mut self,
        chunk: &Chunk,
        roots: Vec<ArenaBox>,
        first: u64,
        tick: u64,
        change: bool,
    ) -> Result<Option<StacksChange>, GiveUp> {
        if chunk.unusual || tick < self.state.tick {
            return Err(Unusual);
        }
        self.state.advance(tick);
        let meaning = self.book_arcs(chunk, roots, first);
        self.book_pairs(chunk, &meaning);
        self.take_choices(chunk, &meaning);
        let (blame, held) = self.blame(chunk, chunk.last_failure.now(), &meaning);
        self.book_roots(chunk, &meaning)?;
        (self.state.blame, self.state.held) = (blame, held);
        self.state.hand_over(chunk, &meaning, &self.ledger);
        Ok(change.then(|| self.state.change(chunk, &meaning, &self.ledger)))
    }

    /// The stream ends at `tick`: its figures, but for its id and the number of events.
    pub(super) fn finish_stream(&mut self, tick: u64) -> StreamFigures {
        self.state.advance(tick);
        let now = self.state.now;
        let mut active = self.state.active;
        while active != NO_BOX {
            let boxed = self.state.boxes.get_mut(active);
            active = boxed.parent;
            leave(&mut self.ledger, boxed, WayOut::Open, now, (0, false));
        }
        for choice in std::mem::take(&mut self.state.choices) {
            for (arc, boxes) in logical(self.state.boxes.get(choice.id)) {
                let figures = self.ledger.figures(arc);
                figures.ports.pending += boxes;
                add(
                    &mut figures.lifetime,
                    (now.all - choice.pushed).wrapping_mul(boxes),
                );
            }
        }
        self.state.figures(self.ledger.waited())
    }

    /// Which boxes the roots of a chunk are.
    pub(super) fn find_roots(&self, chunk: &Chunk) -> Result<Vec<ArenaBox>, GiveUp> {
        self.state.find_roots(chunk).ok_or(Unusual)
    }

    /// Books what was booked on arcs from places.
    fn book_arcs(&mut self, chunk: &Chunk, boxes: Vec<ArenaBox>, first: u64) -> InTrace {
        let ends_in_no_box = chunk
            .levels
            .last()
            .is_some_and(|root| boxes[*root as usize] == NO_BOX);
        let height = self.state.height();
        let mut places = vec![NONE; chunk.ledger.places.len()];
        // By place: the root of the chunk that it is below, and the arc from there on the way to it.
        let mut origins = vec![(NONE, NONE); places.len()];
        for ((root, at), id) in chunk.roots.iter().zip(0..).zip(&boxes) {
            if root.place != NONE {
                places[root.place as usize] = self.state.boxes.get(*id).place;
                origins[root.place as usize] = (at, NONE);
            }
        }
        let mut arcs = Vec::with_capacity(chunk.ledger.arcs.len());
        let mut waits = Vec::with_capacity(chunk.ledger.arcs.len());
        let mut nested = Vec::with_capacity(chunk.ledger.arcs.len());
        for (of, arc) in chunk.ledger.arcs.iter().enumerate() {
            if arc.from == NONE {
                arcs.push(NONE);
                waits.push(NONE);
                nested.push(false);
                continue;
            }
            let from = self.place_here(chunk, &mut places, arc.from);
            let id = self.ledger.arc(from, arc.callable);
            let context = chunk.ledger.places[arc.from as usize].context;
            let (root, way) = origins[context as usize];
            let way = if way == NONE { id } else { way };
            if places[arc.place as usize] == NONE {
                places[arc.place as usize] = self.ledger.arcs[id as usize].place;
                origins[arc.place as usize] = (root, way);
            }
            let is_nested = !self.ledger.arcs[id as usize].extends
                && (self.state).is_on_chain(&self.ledger, chunk, &boxes, root, arc.callable);
            let root = boxes[root as usize];
            let of = (&chunk.ledger, of as ArcId);
            waits.push(self.book_arc(of, (id, is_nested), (root, way), height));
            nested.push(is_nested);
            arcs.push(id);
        }
        for (place, hidden) in chunk.ledger.all_hidden() {
            let place = self.place_here(chunk, &mut places, place);
            self.ledger.hidden(place).add(hidden);
        }
        for ((own, place), ticks) in &chunk.ledger.elsewhere {
            let own = self.place_here(chunk, &mut places, *own);
            let place = self.place_here(chunk, &mut places, *place);
            let spent = self.ledger.elsewhere.entry((own, place)).or_default();
            add(spent, *ticks);
        }
        InTrace {
            boxes,
            places,
            arcs,
            waits,
            nested,
            ends_in_no_box,
            first,
            begin: self.state.now,
            height,
        }
    }

    /// What a place of a chunk is here. No arc may lead to it, if only its centre differs: then it is of a hidden box,
    /// which enters that centre.
    fn place_here(&mut self, chunk: &Chunk, places: &mut [PlaceId], id: PlaceId) -> PlaceId {
        if places[id as usize] == NONE {
            let place = &chunk.ledger.places[id as usize];
            let row = places[place.row as usize];
            // Hidden boxes are in whole streams only, which begin outside of all centres.
            let center = match place.center {
                center if center == self.ledger.begin() => NONE,
                center => center,
            };
            places[id as usize] = self.ledger.place_in_center(row, center);
        }
        places[id as usize]
    }

    /// Books what was booked on an arc that is `id` here; what its outermost boxes wait for. If it
    /// is nested, boxes of its goal are on the chain.
    fn book_arc(
        &mut self,
        (ledger, of): (&Ledger, ArcId),
        (id, is_nested): (ArcId, bool),
        (root, way): (ArenaBox, ArcId),
        height: i64,
    ) -> ArcId {
        let arc = &ledger.arcs[of as usize];
        let here = &mut self.ledger.arcs[id as usize];
        if arc.height != NEVER {
            here.height = here.height.max(height + arc.height);
        }
        let extends = here.extends;
        if is_nested {
            self.ledger.figures(id).add(&Figures {
                outer_by: [Ticks::default(); OUTCOMES],
                ..ledger.total(of)
            });
        } else {
            self.ledger.add_arc(id, ledger, of);
        }
        if extends || !arc.extends {
            return NONE;
        }
        // The outermost of their predicate in the chunk, but not in the trace.
        let lasted = ledger.total(of).outer();
        let waits = (self.state).waiting(&self.ledger, root, arc.predicate, way);
        if waits != id && waits != NONE {
            self.ledger.figures(id).inner.add(lasted);
            self.ledger.figures(waits).less.add(lasted);
        }
        waits
    }

    /// Books backtracks and cuts.
    fn book_pairs(&mut self, chunk: &Chunk, meaning: &InTrace) {
        for ((cause, resumed), edge) in chunk.thrown_away.backtracks() {
            let resumed = match resumed {
                Resumed::By(arc) => meaning.arcs[*arc as usize],
                Resumed::Root(root) => {
                    let id = meaning.boxes[*root as usize];
                    self.state.boxes.get(id).arc
                }
            };
            // Time of no box is not work, so it cannot be undone.
            let mut undone = edge.undone;
            if meaning.ends_in_no_box && edge.idle.level == chunk.levels.len() as u32 {
                undone = undone.wrapping_sub(edge.idle.ticks);
            }
            let cause = self.cause(*cause, meaning);
            self.book_backtracks(cause, resumed, edge.count, undone);
        }
        for ((by, cut), count) in chunk.thrown_away.cuts() {
            let by = self.who(*by, meaning);
            match cut {
                Who::Outer(root) => self.book_cut(by, meaning.boxes[*root as usize], *count),
                _ => {
                    if let Caller::Predicate(cut) = self.who(*cut, meaning) {
                        *self.cuts.entry((by, cut)).or_default() += count;
                    }
                }
            }
        }
    }

    /// Books how often boxes of an arc were re-entered, and what work that threw away.
    fn book_backtracks(
        &mut self,
        (who, reason): (Caller, Reason),
        resumed: ArcId,
        count: u64,
        ticks: u64,
    ) {
        let collector = who
            .predicate()
            .and_then(|who| self.collectors.get(who as usize));
        let predicate = self.ledger.arcs[resumed as usize].predicate;
        let sum = self.backtracks.entry((who, predicate)).or_default();
        sum.count += count;
        let is_collected = match reason {
            Reason::Drove => true,
            Reason::WasActive => collector == Some(&true),
            Reason::Failed | Reason::CalledRoot(_) => false,
        };
        if is_collected {
            add(&mut sum.collected_ticks, ticks);
        } else {
            add(&mut sum.undone_ticks, ticks);
            add(&mut self.ledger.figures(resumed).undone, ticks);
        }
    }

    /// Books in the table of cuts that a box was cut.
    fn book_cut(&mut self, by: Caller, id: ArenaBox, count: u64) {
        for (arc, boxes) in logical(self.state.boxes.get(id)) {
            let predicate = self.ledger.arcs[arc as usize].predicate;
            *self.cuts.entry((by, predicate)).or_default() += boxes * count;
        }
    }

    fn who(&self, who: Who, meaning: &InTrace) -> Caller {
        let root = match who {
            Who::Predicate(predicate) => return Caller::Predicate(predicate),
            Who::Before => return self.before().0,
            Who::After {
                left,
                exited,
                active,
            } => return self.after(left, exited, active, meaning).0,
            Who::Inner(root) => return self.inner(meaning.boxes[root as usize]),
            Who::Outer(root) => meaning.boxes[root as usize],
        };
        if root == NO_BOX {
            return Caller::Root;
        }
        let arc = self.state.boxes.get(root).arc;
        Caller::Predicate(self.ledger.arcs[arc as usize].predicate)
    }

    /// Who is to blame for a redo that is the first port of the chunk.
    fn before(&self) -> (Caller, Reason) {
        self.blamed(self.state.blame, self.state.active)
    }

    /// The same when so many boxes in which the chunk began have exited, the root `exited` last: `active` had called that.
    fn after(
        &self,
        left: u32,
        exited: RootId,
        active: RootId,
        meaning: &InTrace,
    ) -> (Caller, Reason) {
        let (blame, _) = self.left(left, exited, meaning);
        self.blamed(blame, meaning.boxes[active as usize])
    }

    fn blamed(&self, blame: Blame, active: ArenaBox) -> (Caller, Reason) {
        match blame {
            Blame::Active(reason) => (self.inner(active), reason),
            Blame::Known(who, reason) => (who, reason),
        }
    }

    /// [`State::blame`] and [`State::held`] when so many boxes in which the chunk began have exited, the root `exited` last.
    fn left(&self, left: u32, exited: RootId, meaning: &InTrace) -> BlameBefore {
        match self.state.held {
            Some((count, blame)) if count == left => (blame, None),
            Some((count, blame)) if count > left => (NOTHING_FAILED, Some((count - left, blame))),
            _ => (Blame::Active(self.after_exit(exited, meaning)), None),
        }
    }

    /// What the box that called a root has to do with a redo right after the root's exit.
    fn after_exit(&self, root: RootId, meaning: &InTrace) -> Reason {
        let boxed = meaning.boxes.get(root as usize);
        Reason::after_exit(boxed.is_some_and(|id| self.state.boxes.get(*id).then_fails))
    }

    /// [`State::blame`] and [`State::held`] when it is this in a chunk.
    fn blame(&self, chunk: &Chunk, failed: Failed, meaning: &InTrace) -> BlameBefore {
        match failed {
            Failed::Nothing => (NOTHING_FAILED, None),
            Failed::Driver => (Blame::Active(Reason::Drove), None),
            Failed::Exited(root) => (Blame::Active(self.after_exit(root, meaning)), None),
            Failed::AsBefore => (self.state.blame, self.state.held),
            Failed::Known(cause) => {
                let (who, reason) = self.cause(cause, meaning);
                (Blame::Known(who, reason), None)
            }
            Failed::Left(left) => self.left(left, chunk.level_left(left), meaning),
            Failed::Held(count) => {
                // What is held is not itself held.
                let (blame, held) = match chunk.last_failure.held() {
                    Failed::Held(_) => (NOTHING_FAILED, None),
                    held => self.blame(chunk, held, meaning),
                };
                let (around, blame) = held.unwrap_or((0, blame));
                (NOTHING_FAILED, Some((around + count, blame)))
            }
        }
    }

    fn cause(&self, cause: RedoCause, meaning: &InTrace) -> (Caller, Reason) {
        let reason = match (cause.who, cause.reason) {
            (Who::Before, _) => return self.before(),
            (
                Who::After {
                    left,
                    exited,
                    active,
                },
                _,
            ) => return self.after(left, exited, active, meaning),
            (_, Reason::CalledRoot(root)) => self.after_exit(root, meaning),
            (_, reason) => reason,
        };
        (self.who(cause.who, meaning), reason)
    }

    /// The predicate of the innermost logical box of a box.
    fn inner(&self, id: ArenaBox) -> Caller {
        if id == NO_BOX {
            return Caller::Root;
        }
        let place = self.state.boxes.get(id).place;
        Caller::Predicate(self.ledger.places[place as usize].predicate)
    }

    /// Takes those entries off the choice stack that the chunk took.
    fn take_choices(&mut self, chunk: &Chunk, meaning: &InTrace) {
        let begin = meaning.begin.all;
        // The lowest entry inside of a box that was cut.
        let mut inside = i64::MAX;
        for taken in chunk.choices.taken() {
            match *taken {
                Taken::Redo {
                    root,
                    now,
                    live,
                    cause,
                } => {
                    let Some(choice) = self.state.choices.pop() else {
                        return;
                    };
                    add(&mut self.state.live, meaning.work(chunk, &live));
                    let undone = self.state.live.wrapping_sub(choice.live);
                    self.state.live = choice.live;
                    let id = meaning.boxes[root as usize];
                    let arc = self.state.boxes.get(id).arc;
                    let cause = self.cause(cause, meaning);
                    self.book_backtracks(cause, arc, 1, undone);
                    self.end_choice(&choice, begin + now, |_, _, _| {});
                }
                Taken::Cut { count, now, by } => {
                    let by = self.who(by, meaning);
                    for _ in 0..count {
                        let Some(choice) = self.state.choices.pop() else {
                            return;
                        };
                        self.end_choice(&choice, begin + now, |figures, boxes, outermost| {
                            figures.ports.cuts += boxes;
                            if !outermost {
                                figures.count_shared(CUT, boxes, 0);
                            }
                        });
                        self.book_cut(by, choice.id, 1);
                        inside = inside.min(self.state.boxes.get(choice.id).base);
                        self.state.boxes.release(choice.id);
                    }
                }
            }
        }
        self.state.forget_callers(inside);
    }

    fn end_choice(&mut self, choice: &Redoable, now: u64, count: impl Fn(&mut Figures, u64, bool)) {
        for (at, (arc, boxes)) in logical(self.state.boxes.get(choice.id)).enumerate() {
            let figures = self.ledger.figures(arc);
            add(
                &mut figures.lifetime,
                now.wrapping_sub(choice.pushed).wrapping_mul(boxes),
            );
            count(figures, boxes, at == 0);
        }
    }

    /// Books what the roots did.
    fn book_roots(&mut self, chunk: &Chunk, meaning: &InTrace) -> Result<(), GiveUp> {
        let (begin, height) = (meaning.begin, meaning.height);
        for (root, id) in chunk.roots.iter().zip(&meaning.boxes) {
            let boxed = self.state.boxes.get_mut(*id);
            if root.check != NEVER && (*id == NO_BOX || height + root.check > boxed.base) {
                return Err(Unusual);
            }
            if let Some(First {
                way_out,
                now,
                own,
                departed,
            }) = root.first
            {
                if *id == NO_BOX {
                    return Err(Unusual);
                }
                leave(
                    &mut self.ledger,
                    boxed,
                    way_out,
                    begin.plus(now),
                    (own, departed),
                );
            }
            if root.later != NONE {
                let later = &chunk.ledger.arcs[root.later as usize];
                let figures = chunk.ledger.total(root.later);
                let height = (later.height != NEVER).then(|| height + later.height);
                book_later(&mut self.ledger, boxed, &figures, height);
            }
        }
        Ok(())
    }
}
