//! From sums over arcs to the figures of predicates, of pairs of caller and callee, and of contexts.

use std::collections::BTreeMap;

use super::books::{Books, CallArc, Figures, NEVER, NONE, Place, PlaceId, SHARED, SHARED_PORTS};
use crate::figures::centers::CenterFigures;
use crate::figures::contexts::ContextFigures;
use crate::figures::profile::Profile;
use crate::figures::{self, Caller, EdgeFigures, Port, PortCounts, PredicateFigures, SiteFigures};
use crate::trace::{Center, PredicateIndex, SiteIndex};

/// All that is summed over arcs. Sums by predicate and those by place are made at the same time.
pub(super) fn profile(books: &Books) -> Profile {
    let of_predicates = || {
        let by_site = by_site(books);
        let edges = edges(&by_site);
        (predicates(books), edges, sites(by_site))
    };
    let of_places = || {
        let by_place = by_place(books);
        (contexts(books, &by_place), centers(books, &by_place))
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
fn predicates(books: &Books) -> Vec<PredicateFigures> {
    let mut all = vec![PredicateFigures::default(); books.begin() as usize];
    for arc in &books.arcs {
        all[arc.predicate as usize].add(&predicate(arc));
    }
    all
}

fn predicate(arc: &CallArc) -> PredicateFigures {
    let figures = &arc.figures;
    let [_, failed, raised, open] = figures.outer_by;
    let [self_exited, self_failed, self_raised, self_open] = figures.self_by;
    PredicateFigures {
        ports: figures.ports,
        open_before: 0,
        pending_before: 0,
        self_ticks: self_exited + self_failed + self_raised + self_open,
        inclusive_ticks: figures.outer(),
        failed_ticks: failed,
        raised_ticks: raised,
        open_ticks: open,
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
type At = (Caller, PredicateIndex, Option<SiteIndex>);

/// By caller, callee and site: its figures, and the ticks that the caller's innermost boxes waited for boxes called there, modulo
/// 2⁶⁴. Those are right only in sums over the sites of a pair: a chunk does not tell by which of them a box of before was left.
fn by_site(books: &Books) -> BTreeMap<At, (SiteFigures, u64)> {
    let mut all: BTreeMap<_, (SiteFigures, u64)> = BTreeMap::new();
    for arc in &books.arcs {
        let figures = &arc.figures;
        let key = (caller(books, arc), arc.predicate, books.site(arc.callable));
        let (sum, spent) = all.entry(key).or_default();
        let served = figures.outer();
        sum.add(&SiteFigures {
            ports: figures.ports,
            served_ticks: served,
            undone_ticks: figures.undone,
        });
        *spent = spent
            .wrapping_add(served)
            .wrapping_add(figures.inner)
            .wrapping_sub(figures.less);
    }
    all
}

/// By caller and callee.
fn edges(
    by_site: &BTreeMap<At, (SiteFigures, u64)>,
) -> BTreeMap<(Caller, PredicateIndex), EdgeFigures> {
    let mut all: BTreeMap<_, EdgeFigures> = BTreeMap::new();
    for (&(caller, callee, _), (figures, spent)) in by_site {
        let edge = all.entry((caller, callee)).or_default();
        edge.ports.add(&figures.ports);
        edge.served_ticks = edge.served_ticks.saturating_add(figures.served_ticks);
        edge.spent_ticks = edge.spent_ticks.wrapping_add(*spent);
    }
    // An arc may stand for a moment in which nothing happened: where track was lost.
    all.retain(|_, figures| *figures != EdgeFigures::default());
    all
}

/// By caller, callee and site.
fn sites(by_site: BTreeMap<At, (SiteFigures, u64)>) -> BTreeMap<At, SiteFigures> {
    let figures = by_site
        .into_iter()
        .map(|(key, (figures, _))| (key, figures));
    figures
        .filter(|(_, figures)| *figures != SiteFigures::default())
        .collect()
}

/// Who calls by an arc.
fn caller(books: &Books, arc: &CallArc) -> Caller {
    match books.places[arc.from as usize].predicate {
        caller if caller == books.begin() => Caller::Root,
        caller => Caller::Predicate(caller),
    }
}

/// The call tree, in its order.
fn contexts(books: &Books, by_place: &[CenterFigures]) -> Vec<ContextFigures> {
    let rows = rows(books, by_place);
    // By place: whether it or one below has figures. A place is always after the one above.
    let mut used: Vec<bool> = rows.iter().map(ContextFigures::is_used).collect();
    let is_row = |id: usize, place: &Place| place.row as usize == id && place.above != NONE;
    for (id, place) in books.places.iter().enumerate().rev() {
        if is_row(id, place) {
            used[place.above as usize] |= used[id];
        }
    }
    // By place: those right below it, in order.
    let mut below = vec![Vec::new(); books.places.len()];
    for (id, place) in books.places.iter().enumerate() {
        if is_row(id, place) && used[id] {
            below[place.above as usize].push(place.row);
        }
    }
    for places in &mut below {
        places.sort_unstable_by_key(|place| {
            let row: &ContextFigures = &rows[*place as usize];
            (row.predicate, !row.recursive)
        });
    }
    let mut ordered: Vec<ContextFigures> = Vec::with_capacity(rows.len());
    let mut waiting: Vec<(u32, Option<u32>)> = Vec::new();
    let push = |waiting: &mut Vec<_>, places: &[u32], parent| {
        waiting.extend(places.iter().rev().map(|place| (*place, parent)));
    };
    push(&mut waiting, &below[0], None);
    while let Some((place, parent)) = waiting.pop() {
        let id = ordered.len() as u32;
        let depth = parent.map_or(0, |parent: u32| ordered[parent as usize].depth + 1);
        ordered.push(ContextFigures {
            parent,
            depth,
            ..rows[place as usize]
        });
        push(&mut waiting, &below[place as usize], Some(id));
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

/// By place, without what is below; all on the first place of each row.
fn rows(books: &Books, by_place: &[CenterFigures]) -> Vec<ContextFigures> {
    let row_of = |place: PlaceId| books.places[place as usize].row as usize;
    let mut rows: Vec<ContextFigures> = books
        .places
        .iter()
        .map(|place| ContextFigures {
            parent: None,
            predicate: place.predicate,
            depth: 0,
            recursive: place.context != place.row,
            ..ContextFigures::default()
        })
        .collect();
    for (place, figures) in books.places.iter().zip(by_place) {
        let row = &mut rows[place.row as usize];
        row.ports.add(&figures.ports);
        row.self_ticks += figures.self_ticks;
        figures::add_ports(&mut row.inside, &figures.inside);
        figures::add_ports(&mut row.outside, &figures.outside);
        row.hidden.add(&figures.hidden);
    }
    for arc in books.arcs.iter().filter(|arc| arc.place != NONE) {
        rows[row_of(arc.place)].undone_ticks += arc.figures.undone;
    }
    for row in &mut rows {
        row.inclusive_ticks = row.self_ticks;
    }
    rows
}

/// By cost centre and predicate.
fn centers(
    books: &Books,
    by_place: &[CenterFigures],
) -> BTreeMap<(Center, PredicateIndex), CenterFigures> {
    let mut all = BTreeMap::<_, CenterFigures>::new();
    for (place, figures) in books.places.iter().zip(by_place) {
        if place.above != NONE && *figures != CenterFigures::default() {
            let center = (place.center != NONE).then_some(place.center);
            let row = all.entry((center, place.predicate)).or_default();
            row.add(figures);
        }
    }
    all
}

/// What the boxes of each place did.
fn by_place(books: &Books) -> Vec<CenterFigures> {
    let mut all = vec![CenterFigures::default(); books.places.len()];
    for arc in books.arcs.iter().filter(|arc| arc.place != NONE) {
        let figures = &arc.figures;
        let here = &mut all[arc.place as usize];
        here.ports.add(&figures.ports);
        here.self_ticks += figures.self_by.iter().sum::<u64>();
        add_ports(&mut here.inside, figures, &figures.covered);
        // A box is cut from outside only.
        here.inside[Port::Cut as usize] = 0;
        let caller = &mut all[arc.from as usize];
        add_ports(&mut caller.outside, figures, &figures.followed);
    }
    for (place, hidden) in &books.hidden {
        all[*place as usize].hidden = *hidden;
    }
    for ((own, place), ticks) in &books.elsewhere {
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
