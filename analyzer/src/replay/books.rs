//! Where the replay books counts and time: on the arcs between calling contexts.
//!
//! A *place* is where a box stands: a context (the distinct predicates on its chain, see
//! [`crate::figures::contexts`]), its own predicate, and its cost centre. An *arc* is a call from a place, by a
//! site or by none that is known; it leads to a place. A box books everything on the arc by which it was
//! entered, so an event touches one record. All tables are sums over arcs, made at the end.
//!
//! Time of a box `y` of `q`, entered by arc `a`, is booked when its activation ends:
//!
//! - no other box of `q` was on the chain (`a` *extends* its context): `outer`, which is served for the
//!   caller, and inclusive time of `q`;
//! - otherwise the innermost box of `q` above `y` waits for some child, entered by arc `w`: `inner` of `a` and
//!   `less` of `w`, because that time is no longer spent by that box in that child. For a direct recursive
//!   call `w` is `a`, and nothing need be booked.
//!
//! Time spent by the caller is then `outer + inner − less`, summed over arcs. Sums are taken modulo
//! 2⁶⁴, which the results fit in whatever happens in between.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::figures::contexts::HiddenFigures;
use crate::figures::{Port, PortTotals};
use crate::scope::Scope;
use crate::trace::{Callable, Center, PredicateIndex, SiteIndex};

/// No box, no arc, no place, no chain, no root.
pub(super) const NONE: u32 = u32::MAX;

/// A place, in one [`Books`].
pub(super) type PlaceId = u32;
/// An arc, in one [`Books`].
pub(super) type ArcId = u32;

/// How an activation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WayOut {
    ExitDet,
    ExitNondet,
    Fail,
    Exception,
    /// The stream ends.
    Open,
}

/// Outcomes that time is split by: exit, failure, exception, none.
pub(super) const OUTCOMES: usize = 4;

impl WayOut {
    /// Index of the outcome.
    #[inline]
    pub(super) fn outcome(self) -> usize {
        match self {
            Self::ExitDet | Self::ExitNondet => 0,
            Self::Fail => 1,
            Self::Exception => 2,
            Self::Open => 3,
        }
    }

    /// The box is gone and nothing inside may be re-entered.
    #[inline]
    pub(super) fn is_final(self) -> bool {
        matches!(self, Self::ExitDet | Self::Fail)
    }
}

/// Ports that a chain of last calls shares: see [`Figures::followed`]. Ways out come first, in the
/// order of [`WayOut`], all but the last.
pub(super) const SHARED_PORTS: usize = 6;
pub(super) const SHARED: [Port; SHARED_PORTS] = [
    Port::ExitDet,
    Port::ExitNondet,
    Port::Fail,
    Port::Exception,
    Port::Redo,
    Port::Cut,
];
pub(super) const REDO: usize = 4;
pub(super) const CUT: usize = 5;

impl WayOut {
    /// The event; none at the end.
    pub(super) fn port(self) -> Option<Port> {
        self.shared().map(|at| SHARED[at])
    }

    /// Index among the ports that a chain shares; `None` if it is no event.
    #[inline]
    fn shared(self) -> Option<usize> {
        match self {
            Self::ExitDet => Some(0),
            Self::ExitNondet => Some(1),
            Self::Fail => Some(2),
            Self::Exception => Some(3),
            Self::Open => None,
        }
    }
}

/// Counts and times of boxes entered by one arc. Times in ticks.
///
/// What most events touch comes first, for the sake of the cache. Arcs are not aligned to cache lines: that gained
/// nothing more on `mixed`, and cost a quarter more time where there are very many contexts.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Figures {
    pub(super) inner: u64,
    pub(super) less: u64,
    pub(super) self_by: [u64; OUTCOMES],
    pub(super) outer_by: [u64; OUTCOMES],
    pub(super) ports: PortTotals,
    pub(super) undone: u64,
    pub(super) lifetime: u64,
    /// Ports at which others than the outermost box of a chain were counted: with the outermost only,
    /// each event counts once.
    pub(super) followed: [u64; SHARED_PORTS],
    /// Ports at which others than the innermost box of a chain were counted.
    pub(super) covered: [u64; SHARED_PORTS],
}

/// Figures of usual boxes: those that exit once, determinately, or fail without an exit. They departed into no other
/// box, and no box of their predicate waits for them, unless by the same arc.
///
/// A usual box touches this one cache line of its arc. [`Books::finish`] adds it to [`Figures`].
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(super) struct Usual {
    /// As of the [`CallArc`].
    pub(super) predicate: PredicateIndex,
    place: PlaceId,
    /// Of all boxes, last calls left out.
    pub(super) calls: u64,
    pub(super) exits: Left,
    pub(super) fails: Left,
}

/// Boxes that were left in one way.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Left {
    pub(super) boxes: u64,
    /// Ticks while they were active themselves.
    pub(super) own: u64,
    /// Ticks while those were on the chain that are the outermost of their predicate.
    pub(super) outer: u64,
}

impl Figures {
    /// How often the boxes passed the ports that chains share.
    pub(super) fn shared_ports(&self) -> [u64; SHARED_PORTS] {
        let ports = &self.ports;
        [
            ports.exits_det,
            ports.exits_nondet,
            ports.fails,
            ports.exceptions,
            ports.redos,
            ports.cuts,
        ]
    }

    /// Counts boxes of a chain, at a port, that are neither its outermost nor (all of them)
    /// its innermost.
    pub(super) fn count_shared(&mut self, port: usize, followed: u64, covered: u64) {
        self.followed[port] += followed;
        self.covered[port] += covered;
    }

    /// As [`Figures::count_shared`], at a way out.
    pub(super) fn count_shared_way_out(&mut self, way_out: WayOut, followed: u64, covered: u64) {
        if let Some(port) = way_out.shared() {
            self.count_shared(port, followed, covered);
        }
    }

    /// Time of outermost activations.
    pub(super) fn outer(&self) -> u64 {
        self.outer_by
            .iter()
            .fold(0, |sum, part| sum.wrapping_add(*part))
    }

    /// Counts that `boxes` boxes, `fresh` of which had never exited, are left.
    #[inline]
    pub(super) fn count_way_out(&mut self, way_out: WayOut, boxes: u64, fresh: u64) {
        let ports = &mut self.ports;
        match way_out {
            WayOut::ExitDet => {
                ports.exits_det += boxes;
                ports.exits_again += boxes - fresh;
            }
            WayOut::ExitNondet => {
                ports.exits_nondet += boxes;
                ports.exits_again += boxes - fresh;
            }
            WayOut::Fail => {
                ports.fails += boxes;
                ports.fails_dry += fresh;
            }
            WayOut::Exception => ports.exceptions += boxes,
            WayOut::Open => ports.open += boxes,
        }
    }

    /// Adds figures of another part of the run.
    pub(super) fn add(&mut self, other: &Self) {
        self.add_counts(other, 1);
        for outcome in 0..OUTCOMES {
            add(&mut self.self_by[outcome], other.self_by[outcome]);
            add(&mut self.outer_by[outcome], other.outer_by[outcome]);
        }
        for port in 0..SHARED_PORTS {
            add(&mut self.followed[port], other.followed[port]);
            add(&mut self.covered[port], other.covered[port]);
        }
        add(&mut self.inner, other.inner);
        add(&mut self.less, other.less);
        add(&mut self.undone, other.undone);
    }

    /// Adds counts and lifetimes, `times` over: those of a box that stands for so many.
    pub(super) fn add_counts(&mut self, other: &Self, times: u64) {
        self.ports.add_times(&other.ports, times);
        add(&mut self.lifetime, other.lifetime.wrapping_mul(times));
    }
}

/// Adds modulo 2⁶⁴.
#[inline]
pub(super) fn add(sum: &mut u64, part: u64) {
    *sum = sum.wrapping_add(part);
}

/// A call from a place.
#[derive(Debug, Clone, Copy)]
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
    /// Greatest height of the choice stack with such a box on top, relative to where the chunk began.
    pub(super) height: i64,
    pub(super) figures: Figures,
}

/// The height of an arc no box of which was ever on the choice stack.
pub(super) const NEVER: i64 = i64::MIN;

/// Where boxes stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Of its boxes; for a place where a chunk begins, [`Books::begin`].
    pub(super) predicate: PredicateIndex,
    /// The cost centre of its boxes: that of the predicate, or else of where it was called. [`NONE`]: outside of all;
    /// [`Books::begin`]: that of the boxes that a chunk begins in.
    pub(super) center: PredicateIndex,
    /// The first place of the same context and predicate: places of a row of the call tree differ by centre only.
    pub(super) row: PlaceId,
    /// The last row of its context: its own, unless recursive.
    pub(super) context: PlaceId,
    /// The context without its last predicate; of a recursive place, its context. [`NONE`] where a chunk
    /// begins, or no box is active.
    pub(super) above: PlaceId,
}

/// The parts of an arc that a call needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    key: u64,
    pub(super) arc: ArcId,
    /// Where it leads, and the predicate there.
    pub(super) place: PlaceId,
    pub(super) predicate: PredicateIndex,
    /// The predicate of the place that it comes from.
    pub(super) caller: PredicateIndex,
}

/// Size of [`Books::recent`]: 96 KiB.
const RECENT_BITS: u32 = 12;
/// 2⁶⁴ over the golden ratio (Knuth, The Art of Computer Programming, volume 3, section 6.4).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Route {
    const NOWHERE: Self = Self {
        key: u64::MAX,
        arc: NONE,
        place: NONE,
        predicate: NONE,
        caller: NONE,
    };
}

/// Places, arcs and what is booked on them: of a chunk, or of everything joined so far.
///
/// A place without any above, called a *root*, is where a chunk begins, or stands for no box.
#[derive(Debug)]
pub(super) struct Books {
    pub(super) places: Vec<Place>,
    pub(super) arcs: Vec<CallArc>,
    /// By arc: counts and times that are not yet in its figures.
    pub(super) usual: Vec<Usual>,
    arc_ids: FxHashMap<u64, ArcId>,
    /// Arcs taken lately, by a hash of their keys: a call looks here before it looks into `arc_ids`.
    recent: Box<[Route; 1 << RECENT_BITS]>,
    place_ids: FxHashMap<u64, PlaceId>,
    /// Places of other centres than that of their row, by row and centre.
    center_ids: FxHashMap<u64, PlaceId>,
    /// By predicate: the cost centre that its boxes enter.
    centers: Arc<[Center]>,
    /// By site: the predicate that it calls.
    callees: Arc<[PredicateIndex]>,
    /// Self time, in ticks, that hidden boxes of another centre had on behalf of a box: from its place to theirs.
    pub(super) elsewhere: FxHashMap<(PlaceId, PlaceId), u64>,
    /// What hidden boxes did, by the place of the visible ones whose work that is.
    pub(super) hidden: FxHashMap<PlaceId, HiddenFigures>,
    begin: PredicateIndex,
    /// The predicate whose boxes are time without a processor, and the arcs that lead to it.
    waiting: Option<PredicateIndex>,
    waiting_arcs: Vec<ArcId>,
}

impl Books {
    /// Empty books.
    pub(super) fn new(scope: &Scope) -> Self {
        let Scope {
            centers, callees, ..
        } = scope;
        Self {
            places: Vec::new(),
            arcs: Vec::new(),
            usual: Vec::new(),
            arc_ids: FxHashMap::default(),
            recent: Box::new([Route::NOWHERE; 1 << RECENT_BITS]),
            place_ids: FxHashMap::default(),
            center_ids: FxHashMap::default(),
            centers: Arc::clone(centers),
            callees: Arc::clone(callees),
            elsewhere: FxHashMap::default(),
            hidden: FxHashMap::default(),
            begin: centers.len() as PredicateIndex,
            waiting: scope.waiting(),
            waiting_arcs: Vec::new(),
        }
    }

    /// Time without a processor that is booked so far, in ticks.
    pub(super) fn waited(&self) -> u64 {
        let ticks = |arc: &ArcId| {
            let usual = &self.usual[*arc as usize];
            let figures = &self.arcs[*arc as usize].figures;
            let left = [usual.exits.own, usual.fails.own];
            figures.self_by.into_iter().chain(left)
        };
        let all = self.waiting_arcs.iter().flat_map(ticks);
        all.fold(0, u64::wrapping_add)
    }

    /// Stands for the predicate of boxes that a chunk begins in, and for no box.
    pub(super) fn begin(&self) -> PredicateIndex {
        self.begin
    }

    /// A new root, in a centre.
    pub(super) fn root(&mut self, center: PredicateIndex) -> PlaceId {
        let place = self.places.len() as PlaceId;
        self.places.push(Place {
            predicate: self.begin,
            center,
            row: place,
            context: place,
            above: NONE,
        });
        place
    }

    /// The predicate that is called.
    pub(super) fn callee(&self, callable: Callable) -> PredicateIndex {
        self.site(callable)
            .map_or(callable, |site| self.callees[site as usize])
    }

    /// The site by which it is called, if that is known.
    pub(super) fn site(&self, callable: Callable) -> Option<SiteIndex> {
        callable.checked_sub(self.begin)
    }

    /// The arc by which a box at `from` calls a predicate, or a site of it.
    pub(super) fn arc(&mut self, from: PlaceId, callable: Callable) -> ArcId {
        self.route(from, callable).arc
    }

    /// As [`Books::arc`], with the other parts that a call needs.
    #[inline(always)]
    pub(super) fn route(&mut self, from: PlaceId, callable: Callable) -> &Route {
        let key = key(from, callable);
        let slot = (key.wrapping_mul(SPREAD) >> (64 - RECENT_BITS)) as usize;
        if self.recent[slot].key != key {
            self.recent[slot] = self.find_route(from, callable);
        }
        &self.recent[slot]
    }

    #[inline(never)]
    fn find_route(&mut self, from: PlaceId, callable: Callable) -> Route {
        let key = key(from, callable);
        let arc = match self.arc_ids.get(&key) {
            Some(arc) => *arc,
            None => self.new_arc(from, callable),
        };
        let Usual {
            place, predicate, ..
        } = self.usual[arc as usize];
        Route {
            key,
            arc,
            place,
            predicate,
            caller: self.places[from as usize].predicate,
        }
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
            figures: Figures::default(),
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
            figures: Figures::default(),
        });
        self.arc_ids.insert(key(from, callable), arc);
        if Some(predicate) == self.waiting {
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
        self.places.push(Place {
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
            self.places.push(Place { center, ..here });
        }
        place
    }

    /// Where the work of a hidden box of `predicate` is that is called at a place: there, in its own centre.
    pub(super) fn place_of_hidden(&mut self, from: PlaceId, predicate: PredicateIndex) -> PlaceId {
        self.place_in_center(from, self.center_below(from, predicate))
    }

    /// Where a box of a predicate of a context stands, called in a centre, from which nothing but that is known.
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

    fn push_arc(&mut self, arc: CallArc) -> ArcId {
        self.usual.push(Usual {
            predicate: arc.predicate,
            place: arc.place,
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
        self.hidden.entry(place).or_default()
    }

    /// Ends booking: adds the figures of usual boxes to those of their arcs, and frees the tables that find arcs and places.
    pub(super) fn finish(&mut self) {
        for (arc, usual) in self.arcs.iter_mut().zip(std::mem::take(&mut self.usual)) {
            let figures = &mut arc.figures;
            figures.ports.calls += usual.calls;
            for (way_out, left) in [(WayOut::ExitDet, usual.exits), (WayOut::Fail, usual.fails)] {
                figures.count_way_out(way_out, left.boxes, left.boxes);
                add(&mut figures.self_by[way_out.outcome()], left.own);
                add(&mut figures.outer_by[way_out.outcome()], left.outer);
            }
        }
        self.arc_ids = FxHashMap::default();
        self.place_ids = FxHashMap::default();
        self.center_ids = FxHashMap::default();
    }

    /// The figures of an arc.
    #[inline]
    pub(super) fn figures(&mut self, arc: ArcId) -> &mut Figures {
        &mut self.arcs[arc as usize].figures
    }

    /// Books `lasted` ticks that boxes entered by `arc` were on the chain together. Meanwhile those entered by
    /// `waits` were not the innermost of their predicate.
    #[inline]
    pub(super) fn book_stretch(&mut self, arc: ArcId, waits: ArcId, outcome: usize, lasted: u64) {
        if waits == NONE {
            add(&mut self.figures(arc).outer_by[outcome], lasted);
        } else if waits != arc {
            add(&mut self.figures(arc).inner, lasted);
            add(&mut self.figures(waits).less, lasted);
        }
    }
}

/// Names a predicate, or a site, seen from a place; no place is [`NONE`], so none has the key `u64::MAX`.
#[inline(always)]
fn key(place: PlaceId, callable: Callable) -> u64 {
    u64::from(place) << 32 | u64::from(callable)
}
