//! The replay of a chunk of a stream, from a state that need not be known.
//!
//! Boxes of before the chunk are *roots*: the one active at its beginning, the callers that control returns to,
//! and re-entered boxes of the choice stack. A root books on an arc of its own; boxes called below it book on
//! arcs from a place of its own. [`super::join`] names the roots, in work proportional to roots and arcs, not
//! to events.

use portmortem_tracer::format::Dialect;
use rustc_hash::FxHashMap;

use super::boxes::{ArenaBox, Boxes, PhysicalBox, RootId};
use super::choice_stack::ChoiceStack;
use super::clock::{ChunkClock, Ticks};
use super::last_failure::LastFailure;
use super::ledger::{ArcId, Entry, Ledger, NEVER, NONE, PlaceId, WayOut};
use super::on_chain::OnChain;
use super::routes::Route;
use super::thrown_away::ThrownAway;
use crate::figures::StreamFigures;
use crate::figures::profile::ViolationKind;
use crate::machine::Class;
use crate::scope::{Scope, Sight};
use crate::trace::{BoxKind, Callable};

/// A box of before the chunk.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) id: ArenaBox,
    /// Where its boxes call from; [`NONE`] if they called none.
    pub(super) place: PlaceId,
    /// How the activation ended that was on at the beginning of the chunk.
    pub(super) first: Option<First>,
    /// What became of it after that.
    pub(super) later: ArcId,
    /// Greatest height of the choice stack, relative to the beginning of the chunk, at a moment when
    /// nothing inside the box may be re-enterable.
    pub(super) check: i64,
}

/// The end of the activation of a root that was on at the beginning of the chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct First {
    pub(super) way_out: WayOut,
    pub(super) now: Ticks,
    /// Ticks of it in the chunk, of the logical box that was innermost at the beginning.
    pub(super) own: u64,
    /// It departed in the chunk: another logical box was innermost at the end.
    pub(super) departed: bool,
}

/// What a part of a stream has to be told of what came before it, if that matters.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Before {
    /// Time does not count when it begins.
    pub(super) paused: bool,
    /// Roots that are no work, so that their time is left out.
    pub(super) left_out: Vec<RootId>,
}

/// Events that cannot happen where they stand.
#[derive(Debug, Default)]
pub(super) struct Violations {
    /// The first ones, each with the number of the event in the chunk.
    pub(super) listed: Vec<(u64, ViolationKind)>,
    pub(super) count: u64,
}

/// Which boxes were moved: the number of the event that called it, and of the one that moved it.
pub(super) type Moves = FxHashMap<ArenaBox, (u64, u64)>;

/// The state of a stream in a chunk, and its ledger.
#[derive(Debug)]
pub(super) struct Chunk<'c> {
    pub(super) scope: &'c Scope,
    pub(super) sight: Sight<'c>,
    /// Some boxes are transparent.
    pub(super) hides: bool,
    /// The window has not begun: what is greatest there does not matter.
    pub(super) early: bool,
    pub(super) ledger: Ledger,
    pub(super) boxes: Boxes,
    pub(super) roots: Vec<Root>,
    /// Roots of the chain that was active at the beginning, innermost first.
    pub(super) levels: Vec<RootId>,
    pub(super) choices: ChoiceStack,
    pub(super) thrown_away: ThrownAway,
    pub(super) on_chain: OnChain,
    pub(super) active: ArenaBox,
    /// Boxes on the active chain, relative to the beginning.
    pub(super) depth: i64,
    pub(super) max_depth: i64,
    pub(super) clock: ChunkClock,
    /// Events so far.
    pub(super) events: u64,
    /// Roots that are no work, as far as that was told when the chunk began.
    left_out: Vec<RootId>,
    pub(super) last_failure: LastFailure,
    /// The state at the beginning is known: no box was active.
    pub(super) whole: bool,
    /// Stands for no box in a whole stream; after a gap, an unknown box.
    pub(super) bottom: ArenaBox,
    /// Time without a processor that was booked when the stream began.
    waited_before: u64,
    pub(super) lost_events: u64,
    /// Entries of the choice stack were taken that were there before the active box.
    pub(super) taken_below: bool,
    pub(super) moves: Moves,
    /// Events of whole streams that cannot happen where they stand.
    pub(super) violations: Violations,
    /// Something came that needs the stream as a whole; the rest is of no use.
    pub(super) unusual: bool,
}

impl<'c> Chunk<'c> {
    /// Nothing yet.
    pub(super) fn new(scope: &'c Scope) -> Self {
        Self {
            scope,
            sight: Sight::new(scope),
            hides: scope.has_transparent(),
            early: false,
            ledger: Ledger::new(scope),
            boxes: Boxes::default(),
            roots: Vec::new(),
            levels: Vec::new(),
            choices: ChoiceStack::default(),
            thrown_away: ThrownAway::default(),
            on_chain: OnChain::new(scope),
            active: NONE,
            depth: 0,
            max_depth: 0,
            clock: ChunkClock::default(),
            events: 0,
            left_out: Vec::new(),
            last_failure: LastFailure::NONE,
            waited_before: 0,
            whole: false,
            bottom: NONE,
            lost_events: 0,
            taken_below: false,
            moves: Moves::default(),
            violations: Violations::default(),
            unusual: false,
        }
    }

    /// Begins at `tick` in the middle of a stream.
    pub(super) fn begin_part(&mut self, tick: u64, before: &Before) {
        self.clock = ChunkClock::starting(tick, before.paused);
        self.left_out.clone_from(&before.left_out);
        self.last_failure = LastFailure::AS_BEFORE;
        self.active = self.new_level();
    }

    /// Begins a whole stream at `tick`. What was booked before stays; the last stream must be
    /// finished.
    pub(super) fn begin_stream(&mut self, tick: u64) {
        self.whole = true;
        self.early = self.scope.window.is_some();
        self.clock = ChunkClock::starting(self.scope.nearest(tick), false);
        self.waited_before = self.ledger.waited();
        self.thrown_away.begin_stream();
        self.last_failure = LastFailure::NONE;
        self.choices.forget_heights();
        (self.depth, self.max_depth, self.lost_events) = (0, 0, 0);
        self.taken_below = false;
        self.moves.clear();
        self.boxes.clear();
        if self.roots.is_empty() {
            self.active = self.new_level();
            self.place();
        } else {
            let root = PhysicalBox {
                root: 0,
                place: self.roots[0].place,
                ..PhysicalBox::EMPTY
            };
            self.active = self.boxes.put(root).unwrap_or(NONE);
        }
        self.bottom = self.active;
        self.sight.begin(self.active, false);
    }

    #[cold]
    pub(super) fn window_begins(&mut self) {
        self.early = false;
        self.max_depth = self.depth;
        self.choices.forget_heights();
    }

    /// Ends a whole stream at `tick`: its figures, but for its id and the number of events.
    pub(super) fn finish_stream(&mut self, first_tick: u64, tick: u64) -> StreamFigures {
        if self.early {
            self.window_begins();
        }
        self.advance(self.scope.nearest(tick));
        self.leave_all();
        self.leave_bottom();
        let untraced = self.boxes.get(self.active).own;
        StreamFigures {
            first_tick: self.scope.nearest(first_tick),
            last_tick: self.clock.tick(),
            self_ticks: self.clock.now().all - untraced,
            untraced_ticks: untraced,
            paused_ticks: self.clock.paused_ticks(),
            waiting_ticks: self.ledger.waited().wrapping_sub(self.waited_before),
            work_ticks: self.clock.now().work().wrapping_sub(untraced),
            gap_ticks: self.clock.gap_ticks(),
            lost_events: self.lost_events,
            max_depth: self.max_depth.unsigned_abs(),
            max_choices: self.choices.max_height().unsigned_abs(),
            ..StreamFigures::default()
        }
    }

    /// How many boxes of before it met, and how many it leaves.
    pub(super) fn moved(&self) -> u64 {
        let left = self.depth + self.levels.len() as i64;
        self.roots.len() as u64 + self.choices.left().len() as u64 + left.unsigned_abs()
    }

    /// Replays what an event does; `HIDES`: some boxes are transparent.
    #[inline(always)]
    pub(super) fn happen<const HIDES: bool>(&mut self, dialect: Dialect, class: Class) {
        self.port::<HIDES>(class);
        self.events += 1;
        if dialect == Dialect::InnermostRedo && matches!(class, Class::ReEnter) {
            self.redo_around();
        }
    }

    #[inline(always)]
    fn port<const HIDES: bool>(&mut self, class: Class) {
        match class {
            Class::Enter(callable) => self.call::<HIDES>(callable),
            Class::Depart(callable) => self.tail::<HIDES>(callable),
            Class::Leave(WayOut::ExitDet) => self.exit_det(),
            Class::Leave(WayOut::ExitNondet) => self.exit_nondet(),
            Class::Leave(WayOut::Fail) => self.fail(),
            Class::Leave(WayOut::Exception) => self.exception(),
            Class::ReEnter => self.redo(),
            Class::Cut(count) => self.cut(count),
            Class::Pause(paused) => self.clock.pause(paused),
            // No event is one of these two ways out.
            Class::Leave(WayOut::Open | WayOut::Lost) | Class::Lose(_) | Class::Note(_) => {}
        }
    }

    /// Time passes, and belongs to the box that was active until now.
    #[inline]
    pub(super) fn advance(&mut self, tick: u64) {
        let stretch = self.clock.go_to(tick);
        if self.hides {
            self.pass::<true>(stretch);
        } else {
            self.pass::<false>(stretch);
        }
    }

    #[inline(always)]
    pub(super) fn pass<const HIDES: bool>(&mut self, stretch: u64) {
        if !self.clock.pass(stretch) {
            return;
        }
        let id = if HIDES {
            self.note_engine_work(stretch);
            let visible = self.visible(self.active);
            self.note_center(visible, stretch);
            visible
        } else {
            self.active
        };
        let active = self.boxes.get_mut(id);
        active.own += stretch;
        if active.is_left_out {
            self.clock.leave_out(stretch);
        }
    }

    /// The place of the active box.
    #[inline]
    pub(super) fn place(&mut self) -> PlaceId {
        let place = self.boxes.get(self.active).place;
        if place == NONE {
            self.root_place()
        } else {
            place
        }
    }

    #[cold]
    fn root_place(&mut self) -> PlaceId {
        let place = self.ledger.root(self.ledger.begin());
        let active = self.boxes.get_mut(self.active);
        active.place = place;
        self.roots[active.root as usize].place = place;
        place
    }

    #[inline(always)]
    pub(super) fn call<const HIDES: bool>(&mut self, callable: Callable) {
        let from = self.place();
        let parent = self.active;
        let base = self.choices.height();
        let id = self.boxes.next();
        let mut kind = BoxKind::Call { arity: 0 };
        let mut then_fails = false;
        let mut is_left_out = false;
        let (entry, place) = if HIDES && self.is_transparent(parent, id, callable) {
            let predicate = self.ledger.callee(callable);
            let place = self.ledger.place_of_hidden(from, predicate);
            kind = self.call_hidden((from, place), predicate);
            let between_ports = || self.scope.kind_of(predicate).is_between_ports();
            self.last_failure.call(between_ports);
            let entry = Entry {
                arc: NONE,
                waits: self.visible(parent),
                outermost: false,
            };
            (entry, place)
        } else {
            let (caller, Route { arc, place, .. }) = self.ledger.route(from, callable);
            self.ledger.routes.fetch(place);
            let called = self.ledger.called(callable);
            let predicate = called.predicate;
            self.ledger.usual[arc as usize].calls += 1;
            self.on_chain.leave_by(caller, arc);
            let entry = self.on_chain.entry(arc, predicate, callable);
            self.on_chain.enter(callable, entry);
            let between_ports = || self.scope.kind_of(predicate).is_between_ports();
            self.last_failure.call(between_ports);
            then_fails = called.then_fails;
            is_left_out = !called.is_work;
            (entry, place)
        };
        self.depth += 1;
        self.max_depth = self.max_depth.max(self.depth);
        let Some((id, made)) = self.boxes.add() else {
            return self.too_many_boxes(entry);
        };
        made.parent = parent;
        made.arc = entry.arc;
        made.waits = entry.waits;
        made.outermost = entry.outermost;
        made.place = place;
        made.base = base;
        made.root = NONE;
        made.exited = false;
        made.then_fails = then_fails;
        made.kind = kind;
        made.moved = false;
        made.is_left_out = is_left_out;
        made.called = self.events;
        made.since = self.clock.now();
        made.own = 0;
        self.active = id;
    }

    /// Nothing more comes in this chunk.
    pub(super) fn end_part(&mut self) {
        if self.unusual {
            return;
        }
        let mut active = self.active;
        while active != NONE {
            self.settle(active);
            active = self.boxes.get(active).parent;
        }
    }

    /// The caller of the box that is left; one of before the chunk, if need be.
    #[inline]
    pub(super) fn parent(&mut self, left: ArenaBox) -> ArenaBox {
        let parent = self.boxes.get(left).parent;
        if parent == NONE {
            self.outer_level(left)
        } else {
            parent
        }
    }

    #[cold]
    fn outer_level(&mut self, left: ArenaBox) -> ArenaBox {
        let parent = self.new_level();
        if left != NONE {
            self.boxes.get_mut(left).parent = parent;
        }
        parent
    }

    fn new_level(&mut self) -> ArenaBox {
        let id = self.new_root(PhysicalBox::EMPTY);
        self.levels.push(self.roots.len() as RootId - 1);
        self.thrown_away.begin_level();
        id
    }

    pub(super) fn new_root(&mut self, boxed: PhysicalBox) -> ArenaBox {
        let root = self.roots.len() as RootId;
        let is_left_out = self.left_out.contains(&root);
        let id = self.boxes.put(PhysicalBox {
            root,
            is_left_out,
            ..boxed
        });
        let id = id.unwrap_or_else(|| {
            self.unusual = true;
            self.active
        });
        self.roots.push(Root {
            id,
            place: NONE,
            first: None,
            later: boxed.arc,
            check: NEVER,
        });
        id
    }
}
