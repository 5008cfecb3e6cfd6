//! Where counts and time are booked: per predicate and per caller–callee pair.
//!
//! Time is booked in stretches, not event by event. Every predicate on the active chain has one
//! *slot* to which its time goes at the moment: its own (self), or the edge to the child of its
//! innermost box. A port changes the slots of two predicates only, the box's and its parent's; each
//! change books the stretch that ends. So `self + Σ spent = inclusive` for every predicate, and since
//! a predicate's inclusive time and the served time of the edge it was entered by are booked
//! together when its last box leaves the chain, `Σ served = inclusive`.
//!
//! Two predicates exist only here: [`Accounts::unknown`], for boxes of before a gap, and
//! [`Accounts::root`], the caller of boxes without traced ancestor, always on the chain.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::chain::Member;
use crate::figures::{Caller, EdgeFigures, PredicateFigures, PredicateIndex};
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

    /// A box is opened.
    #[inline]
    pub(in crate::replay) fn count_call(
        &mut self,
        callee: PredicateIndex,
        edge: EdgeId,
        tail: bool,
    ) {
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
        *count = count.saturating_add(member.multiplicity);
        match way_out {
            WayOut::ExitDet | WayOut::ExitNondet => {
                let again = member.multiplicity - member.fresh;
                figures.exits_again = figures.exits_again.saturating_add(again);
            }
            WayOut::Fail => figures.fails_dry = figures.fails_dry.saturating_add(member.fresh),
            WayOut::Exception | WayOut::Open => {}
        }
    }

    /// `times` boxes called along an edge are left.
    #[inline]
    pub(in crate::replay) fn count_edge_way_out(
        &mut self,
        edge: EdgeId,
        times: u64,
        way_out: WayOut,
    ) {
        let figures = self.edge_figures(edge);
        let count = match way_out {
            WayOut::ExitDet | WayOut::ExitNondet => &mut figures.exits,
            WayOut::Fail => &mut figures.fails,
            WayOut::Exception | WayOut::Open => return,
        };
        *count = count.saturating_add(times);
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
        *sum = sum.saturating_add(stretch);
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
    /// again. `failed` says what to book the outermost activation as, if this ends it.
    #[inline]
    pub(in crate::replay) fn leave(
        &mut self,
        predicate: PredicateIndex,
        boxes: u64,
        slot: Slot,
        failed: bool,
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
        figures.inclusive_ticks = figures.inclusive_ticks.saturating_add(stretch);
        if failed {
            figures.failed_ticks = figures.failed_ticks.saturating_add(stretch);
        }
        let edge = account.served;
        let served = &mut self.edge_figures(edge).served_ticks;
        *served = served.saturating_add(stretch);
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
    pub(in crate::replay) fn into_profile(mut self) -> Profile {
        let root = self.root();
        self.predicates.truncate(root as usize);
        let mut edges = BTreeMap::new();
        for EdgeAccount {
            figures,
            caller,
            callee,
        } in self.edges
        {
            let caller = if caller == root {
                Caller::Root
            } else {
                Caller::Predicate(caller)
            };
            edges.insert((caller, callee), figures);
        }
        let predicates = self
            .predicates
            .into_iter()
            .map(|account| account.figures)
            .collect();
        Profile {
            predicates,
            edges,
            ..Profile::default()
        }
    }
}
