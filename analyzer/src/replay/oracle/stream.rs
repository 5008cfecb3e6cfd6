//! One stream, event by event: what each port changes and what it books.

use portmortem_tracer::format::{Dialect, Event};

use super::accounts::{Accounts, Slot, WayOut};
use super::chain::{Chain, Departure, Member};
use super::state::{Context, NOBODY, State};
use crate::compensation::BoxKind;
use crate::contexts::NodeId;
use crate::figures::{Port, PredicateIndex, StreamFigures};
use crate::profile::ViolationKind;
use crate::replay::scope::{Scope, Sight};

/// The replay of one stream.
#[derive(Debug)]
pub(in crate::replay) struct StreamReplay<'w> {
    pub(in crate::replay) accounts: &'w mut Accounts,
    pub(in crate::replay) state: &'w mut State,
    scope: &'w Scope,
    /// Which boxes are transparent.
    sight: Sight<'w>,
    pub(super) dialect: Dialect,
    /// Tick of the last event.
    tick: u64,
    /// Ticks so far that do not belong to nobody.
    pub(super) now: u64,
    /// Ticks so far while a box was active.
    pub(super) work: u64,
    /// How much of that was thrown away by backtracking.
    pub(super) undone: u64,
    paused: bool,
    /// The innermost visible logical box.
    pub(in crate::replay) context: Context,
    /// What the context is when no box is active: nobody traced, or after a gap who knows.
    pub(in crate::replay) bottom: Context,
    /// What the next redo is blamed on, if not on the context.
    pub(super) failure: Option<PredicateIndex>,
    pub(super) figures: StreamFigures,
    /// The window has not begun: what is greatest there does not matter.
    pub(super) early: bool,
    /// Violations of the last event. Places are added by who knows them.
    pub(in crate::replay) violations: Vec<ViolationKind>,
}

impl<'w> StreamReplay<'w> {
    /// A stream that begins at `tick`. Only what is in scope is booked, except that what happens before a window
    /// is counted.
    pub(in crate::replay) fn new(
        accounts: &'w mut Accounts,
        state: &'w mut State,
        scope: &'w Scope,
        dialect: Dialect,
        tick: u64,
    ) -> Self {
        let tick = scope.nearest(tick);
        accounts.begin_stream(0);
        let root = Context {
            predicate: accounts.root(),
            row: NodeId::ROOT,
            owner: NOBODY,
        };
        Self {
            accounts,
            state,
            sight: Sight::new(scope),
            scope,
            dialect,
            tick,
            now: 0,
            work: 0,
            undone: 0,
            paused: false,
            context: root,
            bottom: root,
            failure: None,
            figures: StreamFigures {
                first_tick: tick,
                ..StreamFigures::default()
            },
            early: scope.window.is_some(),
            violations: Vec::new(),
        }
    }

    /// Replays the next event. Ticks never go backwards.
    #[inline]
    pub(in crate::replay) fn step(&mut self, event: Event, tick: u64) {
        if self.early && self.scope.window.is_some_and(|window| tick >= window.from) {
            self.window_begins();
        }
        let tick = self.scope.nearest(tick);
        if let Event::Gap { lost } = event {
            return self.gap(lost, tick);
        }
        self.advance(tick);
        match event {
            Event::Call { predicate } => self.call(predicate),
            Event::Tail { predicate } => self.tail(predicate),
            Event::ExitDet => self.way_out(WayOut::ExitDet),
            Event::ExitNondet => self.way_out(WayOut::ExitNondet),
            Event::Redo => self.redo(),
            Event::Fail => self.way_out(WayOut::Fail),
            Event::Exception => self.way_out(WayOut::Exception),
            Event::Cut { count } => self.cut(count),
            Event::Pause => self.paused = true,
            Event::Resume => self.paused = false,
            Event::Gap { .. } | Event::Mark { .. } => {}
        }
    }

    /// Violations of the last event.
    #[inline]
    pub(in crate::replay) fn violations(&mut self) -> std::vec::Drain<'_, ViolationKind> {
        self.violations.drain(..)
    }

    /// The stream ends at `tick`. The figures have everything but its id and the number of events.
    pub(in crate::replay) fn finish(mut self, tick: u64) -> StreamFigures {
        if self.early {
            self.window_begins();
        }
        self.advance(self.scope.nearest(tick));
        self.leave_all();
        let bottom = self.bottom.predicate;
        if bottom == self.accounts.unknown() {
            self.accounts
                .leave(bottom, 1, Slot::OWN, WayOut::Open, self.now);
        }
        self.accounts.end_stream(self.now);
        self.figures.last_tick = self.tick;
        self.figures.self_ticks = self.work;
        self.figures
    }

    #[cold]
    fn window_begins(&mut self) {
        self.early = false;
        self.figures.max_depth = self.state.depth();
        self.figures.max_choices = self.state.choices();
    }

    /// Time passes, and belongs to whoever was active until now.
    #[inline]
    fn advance(&mut self, tick: u64) {
        let stretch = tick.saturating_sub(self.tick);
        self.tick += stretch;
        if self.paused {
            self.figures.paused_ticks += stretch;
            return;
        }
        self.now += stretch;
        let Context {
            predicate,
            row,
            owner,
        } = self.context;
        if predicate == self.accounts.root() {
            self.figures.untraced_ticks += stretch;
            return;
        }
        self.work += stretch;
        if owner == NOBODY {
            // Somebody of before the gap, who stays open.
            self.accounts.spend(predicate, row, stretch, WayOut::Open);
        } else {
            self.state.get_mut(owner).chain.spend(stretch);
        }
        let active = self.state.active().map(|id| &self.state.get(id).chain);
        if active.is_some_and(|chain| chain.hidden() == Some(BoxKind::EngineWork)) {
            self.accounts.hidden(row).engine_ticks += stretch;
        }
    }

    pub(in crate::replay) fn call(&mut self, predicate: PredicateIndex) {
        self.failure = None;
        if !self.state.has_room() {
            return self.too_many_boxes();
        }
        let lost = self.bottom.predicate == self.accounts.unknown();
        let (caller, id) = (self.state.active(), self.state.next());
        if self.sight.call(caller, lost, id, predicate) {
            let kind = self.scope.kind_of(predicate);
            self.accounts
                .hidden(self.context.row)
                .count_port(Port::Call, kind);
            self.state.open(self.context, Chain::Hidden(kind));
        } else {
            let caller = self.context.predicate;
            let row = self.accounts.row(self.context.row, predicate);
            let edge = self.accounts.edge(caller, predicate);
            self.accounts.count_call(predicate, edge, row, false);
            self.accounts
                .count_port(Port::Call, Some(row), self.context.row, 1);
            self.accounts.turn(caller, Slot::edge(edge), self.now);
            let saved = self.accounts.enter(predicate, edge, 1, Slot::OWN, self.now);
            self.context = Context {
                predicate,
                row,
                owner: self.state.next(),
            };
            self.state
                .open(self.context, Chain::one(predicate, edge, row, saved));
        }
        self.figures.max_depth = self.figures.max_depth.max(self.state.depth());
    }

    fn tail(&mut self, predicate: PredicateIndex) {
        let Some(active) = self.active_or_unknown() else {
            return;
        };
        self.failure = None;
        if self.sight.depart(active, predicate) {
            let kind = self.scope.kind_of(predicate);
            let hidden = self.accounts.hidden(self.context.row);
            return hidden.count_port(Port::Tail, kind);
        }
        let caller = self.context.predicate;
        let row = self.accounts.row(self.context.row, predicate);
        let edge = self.accounts.edge(caller, predicate);
        self.accounts.count_call(predicate, edge, row, true);
        self.accounts
            .count_port(Port::Tail, Some(row), self.context.row, 1);
        self.accounts.turn(caller, Slot::edge(edge), self.now);
        self.context = Context {
            predicate,
            row,
            owner: active,
        };
        let physical = self.state.get_mut(active);
        physical.context = self.context;
        match physical.chain.depart(predicate, edge, row) {
            Departure::First(member) => {
                let saved = self.accounts.enter(predicate, edge, 1, Slot::OWN, self.now);
                physical.chain.save(member, saved);
            }
            Departure::Again => self.accounts.enter_again(predicate, self.now),
        }
    }

    pub(in crate::replay) fn way_out(&mut self, way_out: WayOut) {
        if self.active_or_unknown().is_none() {
            return;
        }
        if matches!(way_out, WayOut::ExitDet | WayOut::Fail) {
            let choices = self.state.choices_inside();
            if choices > 0 {
                self.violations.push(ViolationKind::ChoicesLeft { choices });
            }
        }
        self.leave_active(way_out);
        if way_out == WayOut::ExitNondet {
            self.push_choice();
        } else {
            self.state.close();
        }
    }

    /// Books that the logical boxes of the active box are left; it is for the caller to move it.
    #[inline]
    fn leave_active(&mut self, way_out: WayOut) {
        let Some(active) = self.state.active() else {
            return;
        };
        let parent = self.state.get(active).parent;
        self.context = if parent == NOBODY {
            self.bottom
        } else {
            self.state.get(parent).context
        };
        let chain = &mut self.state.get_mut(active).chain;
        let inside = chain.innermost_row();
        let row = self.context.row;
        match (way_out.port(), chain.hidden()) {
            (None, _) => {}
            (Some(port), Some(kind)) => self.accounts.hidden(row).count_port(port, kind),
            (Some(port), None) => self.accounts.count_port(port, inside, row, 1),
        }
        let outermost = chain.member(0).map(|member| member.predicate);
        self.failure = outermost.filter(|_| way_out == WayOut::Fail);
        for at in 0..chain.members() {
            let Some(member) = chain.member(at) else {
                break;
            };
            self.accounts.count_way_out(&member, way_out);
            let Member {
                predicate,
                multiplicity,
                saved,
                ..
            } = member;
            self.accounts
                .leave(predicate, multiplicity, saved, way_out, self.now);
        }
        let mut at = 0;
        while let Some(pair) = chain.pair(at) {
            self.accounts.count_pair_way_out(&pair, way_out);
            at += 1;
        }
        if at > 0 {
            chain.left();
            self.accounts
                .turn(self.context.predicate, Slot::OWN, self.now);
        }
    }

    fn gap(&mut self, lost: u64, tick: u64) {
        let stretch = tick.saturating_sub(self.tick);
        self.tick += stretch;
        self.figures.gap_ticks += stretch;
        self.figures.lost_events = self.figures.lost_events.saturating_add(lost);
        self.paused = false;
        self.lose_track();
    }

    /// From here on nothing is known of what is active or can be re-entered. Whoever it is stands at
    /// the bottom as one unknown box, for the time; its calls are counted when there is evidence.
    fn lose_track(&mut self) {
        self.leave_all();
        self.failure = None;
        let (before, unknown) = (self.bottom.predicate, self.accounts.unknown());
        if before != unknown {
            let edge = self.accounts.edge(before, unknown);
            self.bottom = Context {
                predicate: unknown,
                row: self.accounts.row(NodeId::ROOT, unknown),
                owner: NOBODY,
            };
            self.context = self.bottom;
            self.accounts.turn(before, Slot::edge(edge), self.now);
            self.accounts.enter(unknown, edge, 1, Slot::OWN, self.now);
        }
    }

    /// Boxes that are active count as open, those on the choice stack as pending.
    fn leave_all(&mut self) {
        while self.state.active().is_some() {
            self.leave_active(WayOut::Open);
            self.state.close();
        }
        self.leave_choices();
    }

    #[cold]
    fn too_many_boxes(&mut self) {
        self.violations.push(ViolationKind::TooManyBoxes);
        self.lose_track();
    }
}
