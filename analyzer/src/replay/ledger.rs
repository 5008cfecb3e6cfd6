//! Where the replay books counts and time: on the arcs between calling contexts.
//!
//! A *place* is where a box stands: a context (the distinct predicates on its chain, see
//! [`crate::figures::contexts`]), its own predicate, and its cost centre. An *arc* is a call from a
//! place, by a site or by none that is known; it leads to a place. A box books everything on the
//! arc by which it was entered, so an event touches one record. All tables are sums over arcs, made
//! at the end.
//!
//! Time of a box `y` of `q`, entered by arc `a`, is booked when its activation ends:
//!
//! - no other box that was called so, by the same site or likewise by none, was on the chain:
//!   `outer`, which is served there. If no box of `q` was on the chain at all (`a` *extends* its
//!   context), it is served for the caller, too, and inclusive time of `q`;
//! - a box of `q` was on the chain: the innermost one above `y` waits for some child, entered by
//!   arc `w`. The time is `inner` of `a` and `less` of `w`, because it is no longer spent by that
//!   box in that child. For a direct recursive call `w` is `a`, and nothing need be booked.
//!
//! Time spent by the caller is then `outer + inner − less`, summed over arcs, with `outer` of those
//! that extend. Sums are taken modulo 2⁶⁴, which the results fit in whatever happens in between.
//! All are by both clocks ([`Ticks`]).

mod kept;

use std::sync::Arc;

use bincode::{Decode, Encode};
use rustc_hash::FxHashMap;

pub(super) use super::arc_table::{ArcId, NONE, PlaceId};
use super::arc_table::{ArcTable, key};
pub(super) use super::booked::{
    CUT, Figures, OUTCOMES, REDO, SHARED, SHARED_PORTS, Usual, UsualChains, WayOut, add,
};
use super::clock::Ticks;
use super::routes::{Route, Routes};
use crate::figures::Caller;
use crate::figures::contexts::HiddenFigures;
use crate::scope::Scope;
use crate::scope::called::Called;
use crate::trace::{Callable, Center, PredicateIndex, SiteIndex};
pub(super) use kept::KeptBooks;

/// A call from a place.
#[derive(Debug, Clone, Copy, Encode, Decode)]
#[repr(C)]
pub(super) struct CallArc {
    pub(super) predicate: PredicateIndex,
    /// The predicate called, or a site of it.
    pub(super) callable: Callable,
    /// Where it leads.
    pub(super) place: PlaceId,
    /// Where it comes from.
    pub(super) from: PlaceId,
    /// Its boxes are the outermost of their predicate.
    pub(super) extends: bool,
    /// Greatest height of the choice stack with such a box on top, relative to where the chunk
    /// began.
    pub(super) height: i64,
    /// Its record of all figures, and that of usual chains; [`NONE`]: nothing is booked there.
    figures: u32,
    chains: u32,
}

impl CallArc {
    /// Those times of outermost activations of goals that are of outermost activations of their
    /// predicate.
    pub(super) fn served(&self, figures: &Figures) -> [Ticks; OUTCOMES] {
        if self.extends {
            figures.outer_by
        } else {
            [Ticks::default(); OUTCOMES]
        }
    }
}

/// How boxes were entered, as far as their time depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub(super) struct Entry {
    pub(super) arc: ArcId,
    /// By which arc the innermost other box of their predicate was left; [`NONE`]: there is none.
    pub(super) waits: ArcId,
    /// No other box of their goal is on the chain.
    pub(super) outermost: bool,
}

impl Entry {
    /// No box of its predicate waits for it, unless by the same arc.
    #[inline(always)]
    pub(super) fn is_direct(self) -> bool {
        self.waits == NONE || self.waits == self.arc
    }

    /// So much of some ticks is of an outermost box of its goal.
    #[inline(always)]
    pub(super) fn of_outermost(self, ticks: u64) -> u64 {
        if self.outermost { ticks } else { 0 }
    }
}

/// How numbers of names change when predicates are declared: what stands for no predicate is
/// numbered after them, and goals after that ([`Callable`]).
#[derive(Debug, Clone, Copy)]
pub(super) struct Renaming {
    /// What stood for no predicate. The unknown one comes directly before it.
    begin: u32,
    /// So many predicates are new.
    by: u32,
}

impl Renaming {
    /// The number of what had this one.
    pub(super) fn callable(self, before: Callable) -> Callable {
        match before {
            NONE => NONE,
            before if before + 1 >= self.begin => before + self.by,
            before => before,
        }
    }

    /// The same of what calls.
    pub(super) fn caller(self, before: Caller) -> Caller {
        match before {
            Caller::Predicate(of) => Caller::Predicate(self.callable(of)),
            other => other,
        }
    }
}

/// The height of an arc no box of which was ever on the choice stack.
pub(super) const NEVER: i64 = i64::MIN;

/// Where boxes stand.
#[derive(Debug, Clone, Copy, Encode, Decode)]
pub(super) struct BoxPlace {
    /// Of its boxes; for a place where a chunk begins, [`Ledger::begin`].
    pub(super) predicate: PredicateIndex,
    /// The cost centre of its boxes: that of the predicate, or else of where it was called.
    /// [`NONE`]: outside of all; [`Ledger::begin`]: that of the boxes that a chunk begins in.
    pub(super) center: PredicateIndex,
    /// The first place of the same context and predicate: places of a row of the call tree differ
    /// by centre only.
    pub(super) row: PlaceId,
    /// The last row of its context: its own, unless recursive.
    pub(super) context: PlaceId,
    /// The context without its last predicate; of a recursive place, its context. [`NONE`] where a
    /// chunk begins, or no box is active.
    pub(super) above: PlaceId,
}

/// Places, arcs and what is booked on them: of a chunk, or of everything joined so far.
///
/// A place without any above, called a *root*, is where a chunk begins, or stands for no box.
#[derive(Debug, Clone)]
pub(super) struct Ledger {
    pub(super) places: Vec<BoxPlace>,
    pub(super) arcs: Vec<CallArc>,
    /// By arc: what usual boxes did.
    pub(super) usual: Vec<Usual>,
    /// What all others did: of the few arcs that have any, so that the many take little memory.
    figures: Vec<Figures>,
    chains: Vec<UsualChains>,
    arc_ids: ArcTable,
    pub(super) routes: Routes,
    place_ids: FxHashMap<u64, PlaceId>,
    /// Places of other centres than that of their row, by row and centre.
    center_ids: FxHashMap<u64, PlaceId>,
    /// By predicate: the cost centre that its boxes enter.
    centers: Arc<[Center]>,
    /// By [`Callable`].
    called: Arc<[Called]>,
    /// Self time, in ticks, that hidden boxes of another centre had on behalf of a box: from its
    /// place to theirs.
    pub(super) elsewhere: FxHashMap<(PlaceId, PlaceId), u64>,
    /// What hidden boxes did, by the place of the visible ones whose work that is.
    hidden: Vec<HiddenFigures>,
    begin: PredicateIndex,
    /// The predicates whose boxes are time without a processor, and the arcs that lead to them.
    waiting: Vec<PredicateIndex>,
    waiting_arcs: Vec<ArcId>,
}

impl Ledger {
    /// An empty ledger.
    pub(super) fn new(scope: &Scope) -> Self {
        let Scope {
            centers, called, ..
        } = scope;
        Self {
            places: Vec::new(),
            arcs: Vec::new(),
            usual: Vec::new(),
            figures: Vec::new(),
            chains: Vec::new(),
            arc_ids: ArcTable::default(),
            routes: Routes::default(),
            place_ids: FxHashMap::default(),
            center_ids: FxHashMap::default(),
            centers: Arc::clone(centers),
            called: Arc::clone(called),
            elsewhere: FxHashMap::default(),
            hidden: Vec::new(),
            begin: centers.len() as PredicateIndex,
            waiting: scope.waiting(),
            waiting_arcs: Vec::new(),
        }
    }

    /// Time without a processor that is booked so far, in ticks.
    pub(super) fn waited(&self) -> u64 {
        let all = self.waiting_arcs.iter();
        all.flat_map(|arc| self.total(*arc).self_by)
            .fold(0, u64::wrapping_add)
    }

    /// Stands for the predicate of boxes that a chunk begins in, and for no box.
    pub(super) fn begin(&self) -> PredicateIndex {
        self.begin
    }

    /// A new root, in a centre.
    pub(super) fn root(&mut self, center: PredicateIndex) -> PlaceId {
        let place = self.places.len() as PlaceId;
        self.push_place(BoxPlace {
            predicate: self.begin,
            center,
            row: place,
            context: place,
            above: NONE,
        });
        place
    }

    /// What is known of all that is called so.
    #[inline(always)]
    pub(super) fn called(&self, callable: Callable) -> Called {
        self.called[callable as usize]
    }

    /// The predicate that is called.
    pub(super) fn callee(&self, callable: Callable) -> PredicateIndex {
        self.called(callable).predicate
    }

    /// The site by which it is called, if that is known.
    pub(super) fn site(&self, callable: Callable) -> Option<SiteIndex> {
        callable.checked_sub(self.begin)
    }

    /// The arc by which a box at `from` calls a predicate, or a site of it.
    pub(super) fn arc(&mut self, from: PlaceId, callable: Callable) -> ArcId {
        self.route(from, callable).1.arc
    }

    /// As [`Ledger::arc`], with the predicate of `from`.
    #[inline(always)]
    pub(super) fn route(&mut self, from: PlaceId, callable: Callable) -> (PredicateIndex, Route) {
        match self.routes.get(from, callable) {
            (caller, Some(route)) => (caller, route),
            (caller, None) => match self.routes.get_shared(from, callable) {
                Some(route) => (caller, route),
                None => (caller, self.find_route(from, callable)),
            },
        }
    }

    #[inline(never)]
    fn find_route(&mut self, from: PlaceId, callable: Callable) -> Route {
        let arc = match self.arc_ids.get(from, callable) {
            Some(arc) => arc,
            None => self.new_arc(from, callable),
        };
        let place = self.arcs[arc as usize].place;
        self.routes.set(from, callable, arc, place)
    }

    /// An arc for what boxes of before the chunk do in it; it comes from and leads to no place.
    pub(super) fn loose_arc(&mut self) -> ArcId {
        self.push_arc(CallArc {
            predicate: self.begin,
            callable: NONE,
            place: NONE,
            from: NONE,
            extends: true,
            height: NEVER,
            figures: NONE,
            chains: NONE,
        })
    }

    #[cold]
    fn new_arc(&mut self, from: PlaceId, callable: Callable) -> ArcId {
        let predicate = self.callee(callable);
        let caller = self.places[from as usize];
        let center = self.center_below(from, predicate);
        let place = self.place_below(caller.context, predicate, center);
        let reached = &self.places[place as usize];
        let extends = reached.context == reached.row;
        let arc = self.push_arc(CallArc {
            predicate,
            callable,
            place,
            from,
            extends,
            height: NEVER,
            figures: NONE,
            chains: NONE,
        });
        self.arc_ids.insert(from, callable, arc);
        if self.waiting.contains(&predicate) {
            self.waiting_arcs.push(arc);
        }
        arc
    }

    /// The centre of boxes of `predicate` that are called at a place.
    fn center_below(&self, from: PlaceId, predicate: PredicateIndex) -> PredicateIndex {
        let declared = self.centers[predicate as usize];
        declared.unwrap_or(self.places[from as usize].center)
    }

    /// Where boxes of `predicate` and a centre stand that are called in a context.
    pub(super) fn place_below(
        &mut self,
        context: PlaceId,
        predicate: PredicateIndex,
        center: PredicateIndex,
    ) -> PlaceId {
        let below = key(context, predicate);
        if let Some(row) = self.place_ids.get(&below) {
            return self.place_in_center(*row, center);
        }
        let place = self.places.len() as PlaceId;
        let recursive = self.contains(context, predicate);
        self.push_place(BoxPlace {
            predicate,
            center,
            row: place,
            context: if recursive { context } else { place },
            above: context,
        });
        self.place_ids.insert(below, place);
        place
    }

    /// The same place in a centre.
    pub(super) fn place_in_center(&mut self, place: PlaceId, center: PredicateIndex) -> PlaceId {
        let here = self.places[place as usize];
        if here.center == center {
            return place;
        }
        if self.places[here.row as usize].center == center {
            return here.row;
        }
        let key = key(here.row, center);
        let next = self.places.len() as PlaceId;
        let place = *self.center_ids.entry(key).or_insert(next);
        if place == next {
            self.push_place(BoxPlace { center, ..here });
        }
        place
    }

    /// Where the work of a hidden box of `predicate` is that is called at a place: there, in its
    /// own centre.
    pub(super) fn place_of_hidden(&mut self, from: PlaceId, predicate: PredicateIndex) -> PlaceId {
        self.place_in_center(from, self.center_below(from, predicate))
    }

    /// Where a box of a predicate of a context stands, called in a centre, from which nothing but
    /// that is known.
    pub(super) fn place_in(
        &mut self,
        context: PlaceId,
        predicate: PredicateIndex,
        center: PredicateIndex,
    ) -> PlaceId {
        if self.places[context as usize].predicate == predicate {
            self.place_in_center(context, center)
        } else {
            self.place_below(context, predicate, center)
        }
    }

    fn push_place(&mut self, place: BoxPlace) {
        self.routes.add_place(place.predicate);
        self.places.push(place);
    }

    fn push_arc(&mut self, arc: CallArc) -> ArcId {
        self.usual.push(Usual {
            predicate: arc.predicate,
            callable: arc.callable,
            ..Usual::default()
        });
        self.arcs.push(arc);
        self.arcs.len() as ArcId - 1
    }

    /// Whether a predicate is in a context.
    fn contains(&self, mut context: PlaceId, predicate: PredicateIndex) -> bool {
        loop {
            let place = &self.places[context as usize];
            if place.above == NONE {
                return false;
            }
            if place.predicate == predicate {
                return true;
            }
            context = place.above;
        }
    }

    /// What hidden boxes did whose work is that of boxes at a place.
    pub(super) fn hidden(&mut self, place: PlaceId) -> &mut HiddenFigures {
        let at = place as usize;
        if at >= self.hidden.len() {
            self.hidden.resize_with(at + 1, HiddenFigures::default);
        }
        &mut self.hidden[at]
    }

    /// The same of all places where they did something.
    pub(super) fn all_hidden(&self) -> impl Iterator<Item = (PlaceId, &HiddenFigures)> {
        let all = (0..).zip(&self.hidden);
        all.filter(|(_, hidden)| **hidden != HiddenFigures::default())
    }

    /// Whether no box is of an unknown predicate, which is numbered after the others.
    pub(super) fn knows_all(&self) -> bool {
        let unknown = self.begin.checked_sub(1);
        let mut places = self.places.iter();
        places.all(|place| Some(place.predicate) != unknown)
    }

    /// Names were declared since: predicates, which are numbered after those of before, and goals.
    /// `scope` has all.
    pub(super) fn renumber(&mut self, scope: &Scope) -> Renaming {
        let numbers = Renaming {
            begin: self.begin,
            by: scope.centers.len() as u32 - self.begin,
        };
        self.begin += numbers.by;
        self.centers = Arc::clone(&scope.centers);
        self.called = Arc::clone(&scope.called);
        self.waiting = scope.waiting();
        if numbers.by == 0 {
            return numbers;
        }
        self.routes = Routes::default();
        for place in &mut self.places {
            place.predicate = numbers.callable(place.predicate);
            place.center = numbers.callable(place.center);
            self.routes.add_place(place.predicate);
        }
        self.find_places_again();
        self.arc_ids = ArcTable::default();
        for ((arc, usual), id) in self.arcs.iter_mut().zip(&mut self.usual).zip(0..) {
            arc.predicate = numbers.callable(arc.predicate);
            arc.callable = numbers.callable(arc.callable);
            (usual.predicate, usual.callable) = (arc.predicate, arc.callable);
            if arc.from != NONE {
                self.arc_ids.insert(arc.from, arc.callable, id);
            }
        }
        numbers
    }

    /// Makes the tables that find places, of the places.
    fn find_places_again(&mut self) {
        self.place_ids = FxHashMap::default();
        self.center_ids = FxHashMap::default();
        for (place, id) in self.places.iter().zip(0..) {
            if place.above != NONE && place.row == id {
                let below = key(place.above, place.predicate);
                self.place_ids.insert(below, id);
            } else if place.row != id {
                self.center_ids.insert(key(place.row, place.center), id);
            }
        }
    }

    /// Takes over the ledger of whole streams, if nothing is booked here yet. Returns false if they
    /// have cost centres: then places say where the streams begin.
    pub(super) fn take_over(&mut self, other: &mut Self) -> bool {
        let is_outside = |place: &BoxPlace| place.center == self.begin;
        if !self.arcs.is_empty() || !other.places.iter().all(is_outside) {
            return false;
        }
        for place in &mut other.places {
            place.center = NONE;
        }
        std::mem::swap(self, other);
        true
    }

    /// Ends booking: frees the tables that find arcs and places.
    pub(super) fn finish(&mut self) {
        self.routes = Routes::default();
        self.arc_ids = ArcTable::default();
        self.place_ids = FxHashMap::default();
        self.center_ids = FxHashMap::default();
    }

    /// The figures of an arc, without those of usual boxes and chains.
    #[inline]
    pub(super) fn figures(&mut self, arc: ArcId) -> &mut Figures {
        let at = &mut self.arcs[arc as usize].figures;
        if *at == NONE {
            *at = push_default(&mut self.figures);
        }
        &mut self.figures[*at as usize]
    }

    /// The figures of usual chains of an arc.
    #[inline]
    pub(super) fn chains(&mut self, arc: ArcId) -> &mut UsualChains {
        let at = &mut self.arcs[arc as usize].chains;
        if *at == NONE {
            *at = push_default(&mut self.chains);
        }
        &mut self.chains[*at as usize]
    }

    /// As [`Ledger::figures`], if anything was booked.
    #[inline]
    pub(super) fn find_figures(&self, arc: &CallArc) -> Option<&Figures> {
        self.figures.get(arc.figures as usize)
    }

    /// All that was booked on an arc.
    pub(super) fn total(&self, arc: ArcId) -> Figures {
        let at = &self.arcs[arc as usize];
        let mut total = self.find_figures(at).copied().unwrap_or_default();
        self.usual[arc as usize].book(&mut total);
        if let Some(chains) = self.chains.get(at.chains as usize) {
            chains.book(&mut total);
        }
        total
    }

    /// All arcs, each with all that was booked on it.
    pub(super) fn totals(&self) -> impl Iterator<Item = (&CallArc, Figures)> {
        let total = |(id, arc)| (arc, self.total(id as ArcId));
        self.arcs.iter().enumerate().map(total)
    }

    /// Adds what was booked on an arc of another ledger.
    pub(super) fn add_arc(&mut self, id: ArcId, from: &Self, of: ArcId) {
        let arc = &from.arcs[of as usize];
        self.usual[id as usize].add(&from.usual[of as usize]);
        if let Some(figures) = from.find_figures(arc) {
            self.figures(id).add(figures);
        }
        if let Some(chains) = from.chains.get(arc.chains as usize) {
            self.chains(id).add(chains);
        }
    }

    /// Books `lasted` ticks that boxes were on the chain together.
    #[inline]
    pub(super) fn book_stretch(&mut self, entry: Entry, outcome: usize, lasted: Ticks) {
        let Entry {
            arc,
            waits,
            outermost,
        } = entry;
        if outermost {
            self.figures(arc).outer_by[outcome].add(lasted);
        }
        if waits != NONE && waits != arc {
            self.figures(arc).inner.add(lasted);
            self.figures(waits).less.add(lasted);
        }
    }
}

#[cold]
fn push_default<T: Default>(all: &mut Vec<T>) -> u32 {
    all.push(T::default());
    all.len() as u32 - 1
}
