//! One stream, event by event: what each port changes and what it books.

use portmortem_tracer::format::{Dialect, Event};

use super::accounts::{Accounts, Slot, WayOut};
use super::chain::{Chain, Departure, Member};
use super::state::{BoxId, Choice, NOBODY, State};
use crate::figures::{PredicateFigures, PredicateIndex, StreamFigures};
use crate::profile::ViolationKind;

/// The replay of one stream.
#[derive(Debug)]
pub(in crate::replay) struct StreamReplay<'w> {
    pub(in crate::replay) accounts: &'w mut Accounts,
    pub(in crate::replay) state: &'w mut State,
    /// By predicate: transparent ones.
    hidden: &'w [bool],
    dialect: Dialect,
    /// Tick of the last event.
    tick: u64,
    /// Ticks so far that do not belong to nobody.
    now: u64,
    /// Ticks so far while a box was active.
    work: u64,
    /// How much of that was thrown away by backtracking.
    undone: u64,
    paused: bool,
    /// The innermost visible logical box is of this predicate.
    pub(in crate::replay) context: PredicateIndex,
    /// What the context is when no box is active: nobody traced, or after a gap who knows.
    pub(in crate::replay) bottom: PredicateIndex,
    figures: StreamFigures,
    /// Violations of the last event. Places are added by who knows them.
    pub(in crate::replay) violations: Vec<ViolationKind>,
}

impl<'w> StreamReplay<'w> {
    /// A stream that begins at `tick`.
    pub(in crate::replay) fn new(
        accounts: &'w mut Accounts,
        state: &'w mut State,
        hidden: &'w [bool],
        dialect: Dialect,
        tick: u64,
    ) -> Self {
        accounts.begin_stream(0);
        let root = accounts.root();
        Self {
            accounts,
            state,
            hidden,
            dialect,
            tick,
            now: 0,
            work: 0,
            undone: 0,
            paused: false,
            context: root,
            bottom: root,
            figures: StreamFigures {
                first_tick: tick,
                ..StreamFigures::default()
            },
            violations: Vec::new(),
        }
    }

    /// Replays the next event. Ticks never go backwards.
    #[inline]
    pub(in crate::replay) fn step(&mut self, event: Event, tick: u64) {
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
        self.advance(tick);
        self.leave_all();
        if self.bottom == self.accounts.unknown() {
            self.accounts
                .leave(self.bottom, 1, Slot::OWN, false, self.now);
        }
        self.accounts.end_stream(self.now);
        self.figures.last_tick = self.tick;
        self.figures.self_ticks = self.work;
        self.figures
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
        if self.context == self.accounts.root() {
            self.figures.untraced_ticks += stretch;
        } else {
            self.work += stretch;
        }
    }

    pub(in crate::replay) fn call(&mut self, predicate: PredicateIndex) {
        if !self.state.has_room() {
            return self.too_many_boxes();
        }
        if self.hidden[predicate as usize] {
            self.state.open(self.context, Chain::Hidden);
        } else {
            let caller = self.context;
            let edge = self.accounts.edge(caller, predicate);
            self.accounts.count_call(predicate, edge, false);
            self.accounts.turn(caller, Slot::edge(edge), self.now);
            let saved = self.accounts.enter(predicate, edge, 1, Slot::OWN, self.now);
            self.state
                .open(predicate, Chain::one(predicate, edge, saved));
            self.context = predicate;
        }
        self.figures.max_depth = self.figures.max_depth.max(self.state.depth());
    }

    fn tail(&mut self, predicate: PredicateIndex) {
        let Some(active) = self.active_or_unknown() else {
            return;
        };
        if self.hidden[predicate as usize] {
            return;
        }
        let caller = self.context;
        let edge = self.accounts.edge(caller, predicate);
        self.accounts.count_call(predicate, edge, true);
        self.accounts.turn(caller, Slot::edge(edge), self.now);
        let physical = self.state.get_mut(active);
        physical.context = predicate;
        match physical.chain.depart(predicate, edge) {
            Departure::First(member) => {
                let saved = self.accounts.enter(predicate, edge, 1, Slot::OWN, self.now);
                physical.chain.save(member, saved);
            }
            Departure::Again => self.accounts.enter_again(predicate, self.now),
        }
        self.context = predicate;
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
            self.state.push_choice(self.work, self.undone);
            self.figures.max_choices = self.figures.max_choices.max(self.state.choices());
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
        let failed = way_out == WayOut::Fail;
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
                .leave(predicate, multiplicity, saved, failed, self.now);
        }
        let mut at = 0;
        while let Some((edge, times)) = chain.pair(at) {
            self.accounts.count_edge_way_out(edge, times, way_out);
            at += 1;
        }
        if at > 0 {
            chain.exited();
            self.accounts.turn(self.context, Slot::OWN, self.now);
        }
    }

    fn redo(&mut self) {
        if self.state.top_choice().is_none() && !self.unknown_exited() {
            return;
        }
        let mut entered = self.reenter();
        if self.dialect == Dialect::InnermostRedo {
            // The event means the innermost box on the way; those around it were re-entered with it.
            while let Some(choice) = self.state.top_choice()
                && Some(self.state.get(choice.id).parent) == entered
            {
                entered = self.reenter();
            }
        }
    }

    /// Enters the newest box of the choice stack again.
    fn reenter(&mut self) -> Option<BoxId> {
        let choice = self.state.top_choice()?;
        let caller = self.context;
        let called_by = self.state.get(choice.id).parent;
        if called_by != self.state.active().unwrap_or(NOBODY) {
            self.violations.push(ViolationKind::RedoElsewhere);
        }
        self.state.reenter();
        let physical = self.state.get_mut(choice.id);
        let Some(first) = physical.chain.member(0) else {
            physical.context = caller;
            return Some(choice.id);
        };
        self.context = physical.context;
        self.charge_undone(first.predicate, &choice);
        let chain = &mut self.state.get_mut(choice.id).chain;
        let mut edge = first.entered;
        if self.accounts.caller(edge) != caller {
            // Only after a violation: the caller waits for a box that somebody else had called.
            edge = self.accounts.edge(caller, first.predicate);
        }
        self.accounts.turn(caller, Slot::edge(edge), self.now);
        for at in 0..chain.members() {
            let Some(member) = chain.member(at) else {
                break;
            };
            let Member {
                predicate,
                entered,
                multiplicity,
                rest,
                ..
            } = member;
            let redos = &mut self.accounts.figures(predicate).redos;
            *redos = redos.saturating_add(multiplicity);
            let saved = self
                .accounts
                .enter(predicate, entered, multiplicity, rest, self.now);
            chain.save(at, saved);
        }
        let mut at = 0;
        while let Some((edge, times)) = chain.pair(at) {
            let redos = &mut self.accounts.edge_figures(edge).redos;
            *redos = redos.saturating_add(times);
            at += 1;
        }
        self.figures.max_depth = self.figures.max_depth.max(self.state.depth());
        Some(choice.id)
    }

    /// All that ran since the box exited is thrown away; what an inner redo has charged already is
    /// in the running total (Debray 1988, section 3.3: who keeps being re-entered).
    fn charge_undone(&mut self, predicate: PredicateIndex, choice: &Choice) {
        let since = self.work.saturating_sub(choice.work);
        let charged = self.undone.saturating_sub(choice.undone);
        let undone = since.saturating_sub(charged);
        self.undone += undone;
        let sum = &mut self.accounts.figures(predicate).undone_ticks;
        *sum = sum.saturating_add(undone);
    }

    fn cut(&mut self, count: u32) {
        for cut in 0..count {
            let Some(chain) = self.state.discard_choice() else {
                return self.unknown_cut(u64::from(count - cut));
            };
            self.count_on_choices(&chain, |figures| &mut figures.cuts);
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
        let unknown = self.accounts.unknown();
        if self.bottom != unknown {
            let edge = self.accounts.edge(self.bottom, unknown);
            self.accounts.turn(self.bottom, Slot::edge(edge), self.now);
            self.accounts.enter(unknown, edge, 1, Slot::OWN, self.now);
            self.bottom = unknown;
            self.context = unknown;
        }
    }

    /// Boxes that are active count as open, those on the choice stack as pending.
    fn leave_all(&mut self) {
        while self.state.active().is_some() {
            self.leave_active(WayOut::Open);
            self.state.close();
        }
        while let Some(chain) = self.state.discard_choice() {
            self.count_on_choices(&chain, |figures| &mut figures.pending);
        }
    }

    fn count_on_choices(
        &mut self,
        chain: &Chain,
        count: impl Fn(&mut PredicateFigures) -> &mut u64,
    ) {
        for member in (0..chain.members()).filter_map(|at| chain.member(at)) {
            let count = count(self.accounts.figures(member.predicate));
            *count = count.saturating_add(member.multiplicity);
        }
    }

    #[cold]
    fn too_many_boxes(&mut self) {
        self.violations.push(ViolationKind::TooManyBoxes);
        self.lose_track();
    }
}
