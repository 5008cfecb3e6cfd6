//! From sums over arcs to the figures of predicates, of pairs of caller and callee, and of contexts.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::clock::Ticks;
use super::ledger::{
    BoxPlace, CallArc, Figures, Ledger, NEVER, NONE, PlaceId, SHARED, SHARED_PORTS, add,
};
use crate::figures::centers::CenterFigures;
use crate::figures::contexts::ContextFigures;
use crate::figures::profile::Profile;
use crate::figures::{Caller, EdgeFigures, Port, PortCounts, PredicateFigures, SiteFigures};
use crate::trace::{Center, PredicateIndex, SiteIndex};

/// All that is summed over arcs. Sums by predicate and those by place are made at the same time.
pub(super) fn profile(ledger: &Ledger) -> Profile {
    let of_predicates = || {
        let by_site = by_site(ledger);
        let edges = edges(&by_site);
        (predicates(ledger), edges, sites(by_site))
    };
    let of_places = || {
        let by_place = by_place(ledger);
        (contexts(ledger, &by_place), centers(ledger, &by_place))
    };
    let ((predicates, edges, sites), (contexts, centers)) = rayon::join(of_predicates, of_places);
    Profile {
        predicates,
        edges,
        sites,
        contexts,
        centers,
        ..Profile::default()
    }
}

/// By predicate, the unknown one last.
fn predicates(ledger: &Ledger) -> Vec<PredicateFigures> {
    let mut all = vec![PredicateFigures::default(); ledger.begin() as usize];
    for (arc, figures) in ledger.totals() {
        all[arc.predicate as usize].add(&predicate(arc, &figures));
    }
    all
}

fn predicate(arc: &CallArc, figures: &Figures) -> PredicateFigures {
    let served = arc.served(figures);
    let [_, failed, raised, open] = served;
    let inclusive: Ticks = served.into_iter().sum();
    let [self_exited, self_failed, self_raised, self_open] = figures.self_by;
    PredicateFigures {
        ports: figures.ports,
        open_before: 0,
        pending_before: 0,
        self_ticks: self_exited + self_failed + self_raised + self_open,
        inclusive_ticks: inclusive.all,
        inclusive_work_ticks: inclusive.work(),
        failed_ticks: failed.all,
        failed_work_ticks: failed.work(),
        raised_ticks: raised.all,
        raised_work_ticks: raised.work(),
        open_ticks: open.all,
        open_work_ticks: open.work(),
        self_failed_ticks: self_failed,
        self_raised_ticks: self_raised,
        self_open_ticks: self_open,
        undone_ticks: figures.undone,
        lifetime_ticks: figures.lifetime,
        max_height: if arc.height == NEVER {
            0
        } else {
            arc.height.unsigned_abs()
        },
    }
}

/// A caller, a callee, and the goal that calls if that is known.
type CallPlace = (Caller, PredicateIndex, Option<SiteIndex>);

/// What was done at a site.
#[derive(Default)]
struct AtSite {
    figures: SiteFigures,
    /// Of outermost activations of the callee.
    served: Ticks,
    /// Ticks that the caller's innermost boxes waited for boxes called there, modulo 2⁶⁴. They are
    /// right only in sums over the sites of a pair: a chunk does not tell by which of them a box
    /// of before was left.
    spent: Ticks,
}

/// By caller, callee and site.
fn by_site(ledger: &Ledger) -> BTreeMap<CallPlace, AtSite> {
    let mut all: FxHashMap<_, AtSite> = FxHashMap::default();
    for (arc, figures) in ledger.totals() {
        let key = (
            caller(ledger, arc),
            arc.predicate,
            ledger.site(arc.callable),
        );
        let sum = all.entry(key).or_default();
        let at_site = figures.outer();
        sum.figures.add(&SiteFigures {
            ports: figures.ports,
            served_ticks: at_site.all,
            served_work_ticks: at_site.work(),
            self_ticks: figures.self_by.iter().sum(),
            undone_ticks: figures.undone,
        });
        let served = arc.served(&figures).into_iter().sum();
        sum.served.add(served);
        let spent = served.plus(figures.inner).minus(figures.less);
        sum.spent.add(spent);
    }
    all.into_iter().collect()
}

/// By caller and callee.
fn edges(by_site: &BTreeMap<CallPlace, AtSite>) -> BTreeMap<(Caller, PredicateIndex), EdgeFigures> {
    let mut all: BTreeMap<_, EdgeFigures> = BTreeMap::new();
    for (&(caller, callee, _), at_site) in by_site {
        let edge = all.entry((caller, callee)).or_default();
        edge.ports.add(&at_site.figures.ports);
        add(&mut edge.served_ticks, at_site.served.all);
        add(&mut edge.served_work_ticks, at_site.served.work());
        add(&mut edge.spent_ticks, at_site.spent.all);
        add(&mut edge.spent_work_ticks, at_site.spent.work());
    }
    // An arc may stand for a moment in which nothing happened: where track was lost.
    all.retain(|_, figures| *figures != EdgeFigures::default());
    all
}

/// By caller, callee and site.
fn sites(by_site: BTreeMap<CallPlace, AtSite>) -> BTreeMap<CallPlace, SiteFigures> {
    let figures = by_site
        .into_iter()
        .map(|(key, at_site)| (key, at_site.figures));
    figures
        .filter(|(_, figures)| *figures != SiteFigures::default())
        .collect()
}

/// Who calls by an arc.
fn caller(ledger: &Ledger, arc: &CallArc) -> Caller {
    match ledger.places[arc.from as usize].predicate {
        caller if caller == ledger.begin() => Caller::Root,
        caller => Caller::Predicate(caller),
    }
}

/// The call tree, in its order.
fn contexts(ledger: &Ledger, by_place: &[CenterFigures]) -> Vec<ContextFigures> {
    let rows = TreeRows::of(ledger, by_place);
    let below = rows.below();
    let mut ordered: Vec<ContextFigures> = Vec::with_capacity(below.rows.len());
    let mut waiting: Vec<(PlaceId, Option<u32>)> = Vec::new();
    let push = |waiting: &mut Vec<_>, above, parent| {
        let rows = below.of(above).iter().rev();
        waiting.extend(rows.map(|row| (*row, parent)));
    };
    push(&mut waiting, 0, None);
    while let Some((place, parent)) = waiting.pop() {
        let id = ordered.len() as u32;
        let depth = parent.map_or(0, |parent: u32| ordered[parent as usize].depth + 1);
        ordered.push(ContextFigures {
            parent,
            depth,
            ..rows.figures(place)
        });
        push(&mut waiting, place, Some(id));
    }
    for id in (0..ordered.len()).rev() {
        let ContextFigures {
            parent,
            inclusive_ticks,
            ..
        } = ordered[id];
        if let Some(parent) = parent {
            ordered[parent as usize].inclusive_ticks += inclusive_ticks;
        }
    }
    ordered
}

/// The rows of the call tree, each by its first place.
struct TreeRows<'b> {
    ledger: &'b Ledger,
    by_place: &'b [CenterFigures],
    /// By place: ticks thrown away.
    undone: Vec<u64>,
    /// The other places of rows that have several.
    more: FxHashMap<PlaceId, Vec<PlaceId>>,
}

impl<'b> TreeRows<'b> {
    fn of(ledger: &'b Ledger, by_place: &'b [CenterFigures]) -> Self {
        let mut undone = vec![0; ledger.places.len()];
        for arc in ledger.arcs.iter().filter(|arc| arc.place != NONE) {
            let figures = ledger.find_figures(arc);
            undone[arc.place as usize] += figures.map_or(0, |figures| figures.undone);
        }
        let mut more: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for (id, place) in ledger.places.iter().enumerate() {
            if place.row as usize != id {
                more.entry(place.row).or_default().push(id as PlaceId);
            }
        }
        Self {
            ledger,
            by_place,
            undone,
            more,
        }
    }

    /// Those that have figures, or one of whose rows below has, by what they are below.
    fn below(&self) -> Below {
        let places = &self.ledger.places;
        let mut used = vec![false; places.len()];
        for (id, place) in places.iter().enumerate() {
            let is_used = self.undone[id] > 0 || self.by_place[id] != CenterFigures::default();
            used[place.row as usize] |= is_used;
        }
        let is_row = |id: usize, place: &BoxPlace| place.row as usize == id && place.above != NONE;
        // A place is always after the one above.
        for (id, place) in places.iter().enumerate().rev() {
            if is_row(id, place) {
                used[place.above as usize] |= used[id];
            }
        }
        let mut begins = vec![0; places.len() + 1];
        let is_shown = |(id, place): &(usize, &BoxPlace)| is_row(*id, place) && used[*id];
        for (_, place) in places.iter().enumerate().filter(is_shown) {
            begins[place.above as usize + 1] += 1;
        }
        let mut sum = 0;
        for begin in &mut begins {
            sum += *begin;
            *begin = sum;
        }
        let mut rows = vec![NONE; sum as usize];
        let mut next = begins.clone();
        for (id, place) in places.iter().enumerate().filter(is_shown) {
            let at = &mut next[place.above as usize];
            rows[*at as usize] = id as PlaceId;
            *at += 1;
        }
        let mut below = Below { begins, rows };
        for above in 0..places.len() as PlaceId {
            below.of_mut(above).sort_unstable_by_key(|row| {
                let place = &places[*row as usize];
                (place.predicate, place.context == place.row)
            });
        }
        below
    }

    /// A row, without what is below.
    fn figures(&self, row: PlaceId) -> ContextFigures {
        let mut sum = self.of_place(row);
        for place in self.more.get(&row).into_iter().flatten() {
            sum.add(&self.of_place(*place));
        }
        sum.inclusive_ticks = sum.self_ticks;
        sum
    }

    fn of_place(&self, id: PlaceId) -> ContextFigures {
        let place = &self.ledger.places[id as usize];
        let figures = &self.by_place[id as usize];
        ContextFigures {
            parent: None,
            predicate: place.predicate,
            depth: 0,
            recursive: place.context != place.row,
            ports: figures.ports,
            inside: figures.inside,
            outside: figures.outside,
            hidden: figures.hidden,
            self_ticks: figures.self_ticks,
            inclusive_ticks: 0,
            undone_ticks: self.undone[id as usize],
        }
    }
}

/// Rows of the call tree, by the place that they are right below.
struct Below {
    /// By place: where its rows begin, which is where those of the one before end.
    begins: Vec<u32>,
    rows: Vec<PlaceId>,
}

impl Below {
    fn range(&self, above: PlaceId) -> Range<usize> {
        let above = above as usize;
        self.begins[above] as usize..self.begins[above + 1] as usize
    }

    /// In their order.
    fn of(&self, above: PlaceId) -> &[PlaceId] {
        &self.rows[self.range(above)]
    }

    fn of_mut(&mut self, above: PlaceId) -> &mut [PlaceId] {
        let range = self.range(above);
        &mut self.rows[range]
    }
}

/// By cost centre and predicate.
fn centers(
    ledger: &Ledger,
    by_place: &[CenterFigures],
) -> BTreeMap<(Center, PredicateIndex), CenterFigures> {
    let mut all = BTreeMap::<_, CenterFigures>::new();
    for (place, figures) in ledger.places.iter().zip(by_place) {
        if place.above != NONE && *figures != CenterFigures::default() {
            let center = (place.center != NONE).then_some(place.center);
            let row = all.entry((center, place.predicate)).or_default();
            row.add(figures);
        }
    }
    all
}

/// What the boxes of each place did.
fn by_place(ledger: &Ledger) -> Vec<CenterFigures> {
    let mut all = vec![CenterFigures::default(); ledger.places.len()];
    for (arc, figures) in ledger.totals().filter(|(arc, _)| arc.place != NONE) {
        let here = &mut all[arc.place as usize];
        here.ports.add(&figures.ports);
        here.self_ticks += figures.self_by.iter().sum::<u64>();
        add_ports(&mut here.inside, &figures, &figures.covered);
        // A box is cut from outside only.
        here.inside[Port::Cut as usize] = 0;
        let caller = &mut all[arc.from as usize];
        add_ports(&mut caller.outside, &figures, &figures.followed);
    }
    for (place, hidden) in ledger.all_hidden() {
        all[place as usize].hidden = *hidden;
    }
    for ((own, place), ticks) in &ledger.elsewhere {
        all[*own as usize].self_ticks -= ticks;
        all[*place as usize].self_ticks += ticks;
    }
    all
}

/// Adds the events that boxes entered by one arc had, each once: less those `counted` with another box
/// of the same chain.
fn add_ports(sum: &mut PortCounts, figures: &Figures, counted: &[u64; SHARED_PORTS]) {
    sum[Port::Call as usize] += figures.ports.calls - figures.ports.tail_calls;
    sum[Port::Tail as usize] += figures.ports.tail_calls;
    for ((port, all), counted) in SHARED.iter().zip(figures.shared_ports()).zip(counted) {
        sum[*port as usize] += all - counted;
    }
}
