//! Where counts and time are booked: per predicate, per caller–callee pair and per row of the call
//! tree.
//!
//! Time is booked in stretches, not event by event. Every predicate on the active chain has one
//! *slot* to which its time goes at the moment: its own (self), or the edge to the child of its
//! innermost box. A port changes the slots of two predicates only, the box's and its parent's; each
//! change books the stretch that ends. So `self + Σ spent = inclusive` for every predicate, and since
//! a predicate's inclusive time and the served time of the edge it was entered by are booked
//! together when its last box leaves the chain, `Σ served = inclusive`.
//!
//! How an activation ends is known at its end, and only then is its time booked by outcome and on the
//! call tree: that is kept apart, in [`super::chain`].
//!
//! Two predicates exist only here: [`Accounts::unknown`], for boxes of before a gap, and
//! [`Accounts::root`], the caller of boxes without traced ancestor, always on the chain.

use rustc_hash::FxHashMap;

use super::chain::{Member, Pair};
use crate::contexts::{ContextTree, HiddenFigures, NodeId};
use crate::figures::{
    BacktrackFigures, Caller, EdgeFigures, Port, PredicateFigures, PredicateIndex,
};
use crate::profile::Profile;

/// An edge of the call graph, by the order in which edges were met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::replay) struct EdgeId(pub(super) u32);

/// Where the time of a predicate goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::replay) struct Slot(u32);

impl Slot {
    /// To its own.
    pub(in crate::replay) const OWN: Self = Self(u32::MAX);

    /// To the edge to a callee.
    #[inline]
    pub(in crate::replay) fn edge(edge: EdgeId) -> Self {
        Self(edge.0)
    }
}

/// How a box is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::replay) enum WayOut {
    ExitDet,
    ExitNondet,
    Fail,
    Exception,
    /// The trace ends or loses track.
    Open,
}

impl WayOut {
    /// The event; none at the end.
    pub(super) fn port(self) -> Option<Port> {
        match self {
            Self::ExitDet => Some(Port::ExitDet),
            Self::ExitNondet => Some(Port::ExitNondet),
            Self::Fail => Some(Port::Fail),
            Self::Exception => Some(Port::Exception),
            Self::Open => None,
        }
    }

    /// Which of these an activation belongs to that ends so; to none if it exits.
    fn of<T>(self, failed: T, raised: T, open: T) -> Option<T> {
        match self {
            Self::ExitDet | Self::ExitNondet => None,
            Self::Fail => Some(failed),
            Self::Exception => Some(raised),
            Self::Open => Some(open),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Account {
    figures: PredicateFigures,
    /// Boxes on the active chain.
    active: u64,
    /// Since when that is not 0.
    since: u64,
    /// By which edge the outermost of them was entered.
    served: EdgeId,
    slot: Slot,
    /// Since when time goes there.
    slot_since: u64,
}

#[derive(Debug, Clone, Copy)]
struct EdgeAccount {
    figures: EdgeFigures,
    caller: PredicateIndex,
    callee: PredicateIndex,
}

/// The books of one worker: any number of streams, one after the other.
///
/// Between streams no box is active. Times are in ticks of the stream's own clock, which stands
/// still while time belongs to nobody.
#[derive(Debug)]
pub(in crate::replay) struct Accounts {
    predicates: Vec<Account>,
    edges: Vec<EdgeAccount>,
    places: FxHashMap<u64, EdgeId>,
    pub(in crate::replay) contexts: ContextTree,
    /// By what failed and what was re-entered.
    backtracks: FxHashMap<(PredicateIndex, PredicateIndex), BacktrackFigures>,
    /// By who was active and what was cut.
    cuts: FxHashMap<(PredicateIndex, PredicateIndex), u64>,
}

impl Accounts {
    /// Books for this many predicates, the unknown one not counted.
    pub(in crate::replay) fn new(predicates: usize) -> Self {
        let account = Account {
            figures: PredicateFigures::default(),
            active: 0,
            since: 0,
            served: EdgeId(0),
            slot: Slot::OWN,
            slot_since: 0,
        };
        Self {
            predicates: vec![account; predicates + 2],
            edges: Vec::new(),
            places: FxHashMap::default(),
            contexts: ContextTree::default(),
            backtracks: FxHashMap::default(),
            cuts: FxHashMap::default(),
        }
    }

    /// Boxes whose predicate is unknown.
    pub(in crate::replay) fn unknown(&self) -> PredicateIndex {
        self.predicates.len() as PredicateIndex - 2
    }

    /// Nobody traced.
    pub(in crate::replay) fn root(&self) -> PredicateIndex {
        self.predicates.len() as PredicateIndex - 1
    }

    #[inline]
    pub(in crate::replay) fn figures(
        &mut self,
        predicate: PredicateIndex,
    ) -> &mut PredicateFigures {
        &mut self.predicates[predicate as usize].figures
    }

    /// The edge from caller to callee.
    #[inline]
    pub(in crate::replay) fn edge(
        &mut self,
        caller: PredicateIndex,
        callee: PredicateIndex,
    ) -> EdgeId {
        let key = u64::from(caller) << 32 | u64::from(callee);
        *self.places.entry(key).or_insert_with(|| {
            let figures = EdgeFigures::default();
            self.edges.push(EdgeAccount {
                figures,
                caller,
                callee,
            });
            EdgeId(self.edges.len() as u32 - 1)
        })
    }

    #[inline]
    pub(in crate::replay) fn edge_figures(&mut self, edge: EdgeId) -> &mut EdgeFigures {
        &mut self.edges[edge.0 as usize].figures
    }

    pub(in crate::replay) fn caller(&self, edge: EdgeId) -> PredicateIndex {
        self.edges[edge.0 as usize].caller
    }

    /// The row of the boxes of `callee` that a box of the row `caller` calls.
    #[inline]
    pub(in crate::replay) fn row(&mut self, caller: NodeId, callee: PredicateIndex) -> NodeId {
        let recursive = self.is_on_chain(callee);
        self.contexts.row(caller, callee, recursive)
    }

    #[inline]
    pub(in crate::replay) fn is_on_chain(&self, predicate: PredicateIndex) -> bool {
        self.predicates[predicate as usize].active > 0
    }

    /// `count` events of a port: between boxes of the row `inside`, if the event is theirs, and their
    /// caller's.
    #[inline]
    pub(in crate::replay) fn count_port(
        &mut self,
        port: Port,
        inside: Option<NodeId>,
        outside: NodeId,
        count: u64,
    ) {
        if let Some(inside) = inside {
            add(
                &mut self.contexts.figures_mut(inside).inside[port as usize],
                count,
            );
        }
        add(
            &mut self.contexts.figures_mut(outside).outside[port as usize],
            count,
        );
    }

    /// What hidden boxes did whose work is that of boxes of a row.
    pub(in crate::replay) fn hidden(&mut self, row: NodeId) -> &mut HiddenFigures {
        &mut self.contexts.figures_mut(row).hidden
    }

    /// A box is opened.
    #[inline]
    pub(in crate::replay) fn count_call(
        &mut self,
        callee: PredicateIndex,
        edge: EdgeId,
        row: NodeId,
        tail: bool,
    ) {
        self.contexts.figures_mut(row).calls += 1;
        let figures = self.figures(callee);
        figures.calls += 1;
        figures.tail_calls += u64::from(tail);
        let figures = self.edge_figures(edge);
        figures.calls += 1;
        figures.tail_calls += u64::from(tail);
    }

    /// The boxes of a member are left.
    #[inline]
    pub(in crate::replay) fn count_way_out(&mut self, member: &Member, way_out: WayOut) {
        let figures = self.figures(member.predicate);
        let count = match way_out {
            WayOut::ExitDet => &mut figures.exits_det,
            WayOut::ExitNondet => &mut figures.exits_nondet,
            WayOut::Fail => &mut figures.fails,
            WayOut::Exception => &mut figures.exceptions,
            WayOut::Open => &mut figures.open,
        };
        add(count, member.multiplicity);
        match way_out {
            WayOut::ExitDet | WayOut::ExitNondet => {
                let again = member.multiplicity - member.fresh;
                add(&mut figures.exits_again, again);
            }
            WayOut::Fail => add(&mut figures.fails_dry, member.fresh),
            WayOut::Exception | WayOut::Open => {}
        }
    }

    /// The boxes of a pair are left.
    #[inline]
    pub(in crate::replay) fn count_pair_way_out(&mut self, pair: &Pair, way_out: WayOut) {
        let edge = &mut self.edges[pair.edge.0 as usize].figures;
        let row = self.contexts.figures_mut(pair.row);
        match way_out {
            WayOut::ExitDet | WayOut::ExitNondet => {
                add(&mut edge.exits, pair.multiplicity);
                add(&mut row.exits, pair.multiplicity);
            }
            WayOut::Fail => {
                add(&mut edge.fails, pair.multiplicity);
                add(&mut row.fails, pair.multiplicity);
            }
            WayOut::Exception => add(&mut row.exceptions, pair.multiplicity),
            WayOut::Open => {}
        }
        self.spend(pair.predicate, pair.row, pair.ticks, way_out);
    }

    /// Books own time of boxes of a row, by how it ended.
    #[inline]
    pub(in crate::replay) fn spend(
        &mut self,
        predicate: PredicateIndex,
        row: NodeId,
        ticks: u64,
        way_out: WayOut,
    ) {
        add(&mut self.contexts.figures_mut(row).self_ticks, ticks);
        let figures = self.figures(predicate);
        if let Some(sum) = way_out.of(
            &mut figures.self_failed_ticks,
            &mut figures.self_raised_ticks,
            &mut figures.self_open_ticks,
        ) {
            add(sum, ticks);
        }
    }

    /// The boxes of a pair are re-entered.
    #[inline]
    pub(in crate::replay) fn count_pair_redo(&mut self, pair: &Pair) {
        add(&mut self.edge_figures(pair.edge).redos, pair.multiplicity);
        let row = self.contexts.figures_mut(pair.row);
        add(&mut row.redos, pair.multiplicity);
    }

    /// The boxes of a member are on the choice stack no more, after so long.
    #[inline]
    pub(in crate::replay) fn count_choice(
        &mut self,
        member: &Member,
        lifetime: u64,
        count: impl FnOnce(&mut PredicateFigures) -> &mut u64,
    ) {
        let figures = self.figures(member.predicate);
        let ticks = lifetime.saturating_mul(member.multiplicity);
        add(&mut figures.lifetime_ticks, ticks);
        add(count(figures), member.multiplicity);
    }

    /// A redo, because of what failed, throws away what ran since a box exited.
    #[inline]
    pub(in crate::replay) fn count_undone(
        &mut self,
        failed: PredicateIndex,
        outermost: &Pair,
        ticks: u64,
    ) {
        let resumed = outermost.predicate;
        add(&mut self.figures(resumed).undone_ticks, ticks);
        let row = self.contexts.figures_mut(outermost.row);
        add(&mut row.undone_ticks, ticks);
        let backtrack = self.backtracks.entry((failed, resumed)).or_default();
        backtrack.count += 1;
        add(&mut backtrack.undone_ticks, ticks);
    }

    /// A cut by whoever is active discards boxes.
    #[inline]
    pub(in crate::replay) fn count_cut(
        &mut self,
        context: PredicateIndex,
        victim: PredicateIndex,
        boxes: u64,
    ) {
        add(self.cuts.entry((context, victim)).or_default(), boxes);
    }

    /// From `now` on the time of a predicate on the chain goes to `slot`.
    #[inline]
    pub(in crate::replay) fn turn(&mut self, predicate: PredicateIndex, slot: Slot, now: u64) {
        let account = &mut self.predicates[predicate as usize];
        let stretch = now - account.slot_since;
        let sum = match account.slot {
            Slot::OWN => &mut account.figures.self_ticks,
            Slot(edge) => &mut self.edges[edge as usize].figures.spent_ticks,
        };
        add(sum, stretch);
        account.slot = slot;
        account.slot_since = now;
    }

    /// `boxes` boxes of a predicate come onto the chain, the first by `edge`; its time now goes to
    /// `slot`. Returns where it went before.
    #[inline]
    pub(in crate::replay) fn enter(
        &mut self,
        predicate: PredicateIndex,
        edge: EdgeId,
        boxes: u64,
        slot: Slot,
        now: u64,
    ) -> Slot {
        let account = &mut self.predicates[predicate as usize];
        account.active += boxes;
        if account.active == boxes {
            account.since = now;
            account.served = edge;
            account.slot = slot;
            account.slot_since = now;
            return Slot::OWN;
        }
        let before = account.slot;
        self.turn(predicate, slot, now);
        before
    }

    /// One more box of a predicate that is on the chain already, and is now the active one.
    #[inline]
    pub(in crate::replay) fn enter_again(&mut self, predicate: PredicateIndex, now: u64) {
        self.predicates[predicate as usize].active += 1;
        self.turn(predicate, Slot::OWN, now);
    }

    /// `boxes` boxes of a predicate leave the chain; if others stay there, its time goes to `slot`
    /// again. If this ends the outermost activation, its time is booked by the way out.
    #[inline]
    pub(in crate::replay) fn leave(
        &mut self,
        predicate: PredicateIndex,
        boxes: u64,
        slot: Slot,
        way_out: WayOut,
        now: u64,
    ) {
        self.turn(predicate, slot, now);
        let account = &mut self.predicates[predicate as usize];
        account.active -= boxes;
        if account.active > 0 {
            return;
        }
        let stretch = now - account.since;
        let figures = &mut account.figures;
        add(&mut figures.inclusive_ticks, stretch);
        if let Some(sum) = way_out.of(
            &mut figures.failed_ticks,
            &mut figures.raised_ticks,
            &mut figures.open_ticks,
        ) {
            add(sum, stretch);
        }
        let edge = account.served;
        add(&mut self.edge_figures(edge).served_ticks, stretch);
    }

    /// A stream begins: nobody traced is active.
    pub(in crate::replay) fn begin_stream(&mut self, now: u64) {
        let root = self.root();
        self.enter(root, EdgeId(0), 1, Slot::OWN, now);
    }

    /// A stream ended, and every box was left.
    pub(in crate::replay) fn end_stream(&mut self, now: u64) {
        let root = self.root();
        self.turn(root, Slot::OWN, now);
        self.predicates[root as usize].active = 0;
    }

    /// The figures, without those of streams.
    pub(in crate::replay) fn into_profile(self) -> Profile {
        let root = self.root();
        let caller = |predicate| {
            if predicate == root {
                Caller::Root
            } else {
                Caller::Predicate(predicate)
            }
        };
        let figures = self.predicates.iter().map(|account| account.figures);
        let edges = self.edges.iter();
        let backtracks = self.backtracks.into_iter();
        let cuts = self.cuts.into_iter();
        Profile {
            predicates: figures.take(root as usize).collect(),
            edges: edges
                .map(|edge| ((caller(edge.caller), edge.callee), edge.figures))
                .collect(),
            contexts: self.contexts.into_rows(),
            backtracks: backtracks
                .map(|((failed, resumed), figures)| ((caller(failed), resumed), figures))
                .collect(),
            cuts: cuts
                .map(|((context, victim), boxes)| ((caller(context), victim), boxes))
                .collect(),
            ..Profile::default()
        }
    }
}

/// Sums stay where 64 bits end.
#[inline]
fn add(sum: &mut u64, part: u64) {
    *sum = sum.saturating_add(part);
}
