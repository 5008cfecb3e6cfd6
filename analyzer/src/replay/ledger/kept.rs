//! Books as bytes: what cannot be found again from the rest.

use bincode::enc::Encoder;
use bincode::error::EncodeError;
use bincode::{Decode, Encode};

use super::{ArcId, BoxPlace, CallArc, Figures, Ledger, NONE, Renaming, Usual, UsualChains};
use crate::scope::Scope;
use crate::trace::Callable;

/// More than this is counted in no trace, nor do its streams have more ticks together.
const MOST: u64 = 1 << 60;

impl Encode for Ledger {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.places.encode(encoder)?;
        self.arcs.encode(encoder)?;
        self.usual.encode(encoder)?;
        self.figures.encode(encoder)?;
        self.chains.encode(encoder)
    }
}

/// Books, as they are read.
#[derive(Debug, Decode)]
pub(in crate::replay) struct KeptBooks {
    places: Vec<BoxPlace>,
    arcs: Vec<CallArc>,
    usual: Vec<Usual>,
    figures: Vec<Figures>,
    chains: Vec<UsualChains>,
}

impl KeptBooks {
    /// The same, ready to be [renumbered](Ledger::renumber): of so many predicates and `sites`,
    /// which `scope` has, too. `None` if one part speaks of another that is not there.
    pub(in crate::replay) fn open(
        self,
        scope: &Scope,
        predicates: u32,
        sites: u32,
    ) -> Option<Ledger> {
        let begin = predicates.checked_add(1)?;
        if !self.is_sound(scope, begin, sites) {
            return None;
        }
        let mut ledger = Ledger {
            begin,
            ..Ledger::new(scope)
        };
        for place in self.places {
            ledger.push_place(place);
        }
        ledger.find_places_again();
        for (arc, id) in self.arcs.iter().zip(0..) {
            if arc.from != NONE {
                ledger.arc_ids.insert(arc.from, arc.callable, id);
            }
            if ledger.waiting.contains(&arc.predicate) {
                ledger.waiting_arcs.push(id);
            }
        }
        ledger.arcs = self.arcs;
        ledger.usual = self.usual;
        ledger.figures = self.figures;
        ledger.chains = self.chains;
        has_sound_sums(&ledger).then_some(ledger)
    }

    fn is_sound(&self, scope: &Scope, begin: u32, sites: u32) -> bool {
        let Some(by) = (scope.centers.len() as u32).checked_sub(begin) else {
            return false;
        };
        let numbers = Renaming { begin, by };
        let goals = begin.saturating_add(sites);
        let places = self.places.len() as u32;
        let is_place = |(place, id): (&BoxPlace, u32)| {
            let has_center = place.center == NONE || place.center < begin;
            let is_there = match place.above {
                NONE => place.predicate == begin && (place.row, place.context) == (id, id),
                // So a walk up ends.
                above => place.predicate < begin && above < id,
            };
            is_there && has_center && place.row <= id && place.context <= id
        };
        let figures = self.figures.len() as u32;
        let chains = self.chains.len() as u32;
        let callee = |callable: Callable| {
            let called = scope.called.get(numbers.callable(callable) as usize)?;
            Some(called.predicate)
        };
        let is_arc = |(arc, usual): (&CallArc, &Usual)| {
            arc.predicate < begin
                && arc.callable < goals
                && arc.from < places
                && arc.place < places
                && (arc.figures == NONE || arc.figures < figures)
                && (arc.chains == NONE || arc.chains < chains)
                && (usual.predicate, usual.callable) == (arc.predicate, arc.callable)
                && callee(arc.callable) == Some(numbers.callable(arc.predicate))
        };
        self.arcs.len() == self.usual.len()
            && places > 0
            && self.places.iter().zip(0..).all(is_place)
            && self.arcs.iter().zip(&self.usual).all(is_arc)
    }
}

/// Whether no figure is less than a part of it, and no sum of what was booked is too large.
fn has_sound_sums(ledger: &Ledger) -> bool {
    let sums = (0..ledger.arcs.len() as ArcId).try_fold((0_u64, 0_u64), |(counts, ticks), arc| {
        let figures = checked_total(ledger, arc)?;
        let ports = &figures.ports;
        let parts = figures.followed.iter().zip(&figures.covered);
        let mut parts = figures.shared_ports().into_iter().zip(parts);
        let is_sound = ports.tail_calls <= ports.calls
            && parts.all(|(all, (&followed, &covered))| followed <= all && covered <= all);
        let counted = ports.each().into_iter().map(|(_, count)| count);
        let counts = counted.fold(counts, u64::saturating_add);
        let lasted = figures.self_by.into_iter().chain([figures.undone]);
        let ticks = lasted.fold(ticks, u64::saturating_add);
        is_sound.then_some((counts, ticks))
    });
    sums.is_some_and(|(counts, ticks)| counts < MOST && ticks < MOST)
}

/// All that was booked on an arc, if its parts are so small that they can be added.
fn checked_total(ledger: &Ledger, arc: ArcId) -> Option<Figures> {
    let at = &ledger.arcs[arc as usize];
    let usual = &ledger.usual[arc as usize];
    let chains = ledger.chains.get(at.chains as usize);
    let apart = ledger.find_figures(at);
    let ports = apart.iter().flat_map(|figures| figures.ports.each());
    let shared = apart
        .iter()
        .flat_map(|figures| figures.followed.into_iter().chain(figures.covered));
    let counts = ports.map(|(_, count)| count).chain(shared);
    let counts = counts.chain(chains.into_iter().flat_map(UsualChains::counts));
    let mut counts = counts.chain([usual.calls, usual.exits.boxes, usual.fails.boxes]);
    counts.all(|count| count < MOST).then(|| ledger.total(arc))
}
