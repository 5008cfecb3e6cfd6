//! From sums over arcs to the figures of predicates, of pairs of caller and callee, and of contexts.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::clock::Ticks;
use super::ledger::{
    BoxPlace, CallArc, Figures, Ledger, NEVER, NONE, PlaceId, SHARED, SHARED_PORTS, add,
};
use crate::figures::centers::CenterFigures;
use crate::figures::contexts::{ContextFigures, HiddenFigures};
use crate::figures::profile::Profile;
use crate::figures::{
    Caller, EdgeFigures, Port, PortCounts, PortTotals, PredicateFigures, SiteFigures,
};
use crate::large_pages;
use crate::trace::{Center, PredicateIndex, SiteIndex};

/// All that is summed over arcs. The call tree, the largest part, is made beside the others.
pub(super) fn profile(ledger: &Ledger) -> Profile {
    let of_predicates = || {
        let by_site = by_site(ledger);
        let edges = edges(&by_site);
        (predicates(ledger), edges, sites(by_site), centers(ledger))
    };
    let (tables, contexts) = rayon::join(of_predicates, || contexts(ledger));
    let (predicates, edges, sites, centers) = tables;
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

/// What boxes of places did, in a table that is made of it.
struct BookedRow<'r> {
    ports: &'r mut PortTotals,
    self_ticks: &'r mut u64,
    inside: &'r mut PortCounts,
    outside: &'r mut PortCounts,
    hidden: &'r mut HiddenFigures,
}

/// A table of what boxes of places did.
trait BookedRows {
    /// The row of a place; none if no box stands there.
    fn row(&mut self, place: PlaceId) -> Option<BookedRow<'_>>;
}

/// Fills a table: with all that was booked, each once.
fn fill(rows: &mut impl BookedRows, ledger: &Ledger) {
    for (arc, figures) in ledger.totals().filter(|(arc, _)| arc.place != NONE) {
        if let Some(row) = rows.row(arc.place) {
            row.ports.add(&figures.ports);
            *row.self_ticks += figures.self_by.iter().sum::<u64>();
            // A box is cut from outside only.
            let cuts = row.inside[Port::Cut as usize];
            add_ports(row.inside, &figures, &figures.covered);
            row.inside[Port::Cut as usize] = cuts;
        }
        if let Some(caller) = rows.row(arc.from) {
            add_ports(caller.outside, &figures, &figures.followed);
        }
    }
    for (place, hidden) in ledger.all_hidden() {
        if let Some(row) = rows.row(place) {
            row.hidden.add(hidden);
        }
    }
    for ((own, place), ticks) in &ledger.elsewhere {
        if let Some(row) = rows.row(*own) {
            *row.self_ticks -= ticks;
        }
        if let Some(row) = rows.row(*place) {
            *row.self_ticks += ticks;
        }
    }
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

/// The call tree, in its order.
fn contexts(ledger: &Ledger) -> Vec<ContextFigures> {
    let mut tree = CallTree::of(ledger);
    fill(&mut tree, ledger);
    for arc in ledger.arcs.iter().filter(|arc| arc.place != NONE) {
        if let Some(figures) = ledger.find_figures(arc)
            && let Some(row) = tree.find(arc.place)
        {
            row.undone_ticks += figures.undone;
        }
    }
    let mut rows = without_empty(tree.rows);
    for id in (0..rows.len()).rev() {
        let ContextFigures {
            parent, self_ticks, ..
        } = rows[id];
        rows[id].inclusive_ticks += self_ticks;
        if let Some(parent) = parent {
            rows[parent as usize].inclusive_ticks += rows[id].inclusive_ticks;
        }
    }
    rows
}

/// Rows of the call tree, in its order.
struct CallTree {
    rows: Vec<ContextFigures>,
    /// By place: its row. [`NONE`] where a chunk begins.
    row_of: Vec<u32>,
}

impl CallTree {
    /// The rows of all places, with nothing in them.
    fn of(ledger: &Ledger) -> Self {
        let places = &ledger.places;
        let below = Below::all(places);
        let mut rows: Vec<ContextFigures> = large_pages::with_capacity(below.rows.len());
        let mut row_of = vec![NONE; places.len()];
        let outermost = below.of(0).iter().rev();
        let mut waiting: Vec<(PlaceId, Option<u32>)> = outermost.map(|row| (*row, None)).collect();
        while let Some((id, parent)) = waiting.pop() {
            let at = rows.len() as u32;
            let place = &places[id as usize];
            rows.push(ContextFigures {
                parent,
                predicate: place.predicate,
                depth: parent.map_or(0, |parent| rows[parent as usize].depth + 1),
                recursive: place.context != place.row,
                ..ContextFigures::default()
            });
            row_of[id as usize] = at;
            waiting.extend(below.of(id).iter().rev().map(|row| (*row, Some(at))));
        }
        // Places of a row differ by centre only.
        for (id, place) in places.iter().enumerate() {
            row_of[id] = row_of[place.row as usize];
        }
        Self { rows, row_of }
    }

    fn find(&mut self, place: PlaceId) -> Option<&mut ContextFigures> {
        self.rows.get_mut(self.row_of[place as usize] as usize)
    }
}

impl BookedRows for CallTree {
    fn row(&mut self, place: PlaceId) -> Option<BookedRow<'_>> {
        self.find(place).map(|row| BookedRow {
            ports: &mut row.ports,
            self_ticks: &mut row.self_ticks,
            inside: &mut row.inside,
            outside: &mut row.outside,
            hidden: &mut row.hidden,
        })
    }
}

/// Without rows in which, and below which, nothing happened: where track was lost, there may be
/// some.
fn without_empty(rows: Vec<ContextFigures>) -> Vec<ContextFigures> {
    let mut used = vec![false; rows.len()];
    for (id, row) in rows.iter().enumerate().rev() {
        let empty = ContextFigures {
            parent: row.parent,
            predicate: row.predicate,
            depth: row.depth,
            recursive: row.recursive,
            ..ContextFigures::default()
        };
        used[id] |= *row != empty;
        if let Some(parent) = row.parent {
            used[parent as usize] |= used[id];
        }
    }
    if !used.contains(&false) {
        return rows;
    }
    let mut next = 0;
    let mut number = vec![NONE; rows.len()];
    for (number, _) in number.iter_mut().zip(&used).filter(|(_, used)| **used) {
        (*number, next) = (next, next + 1);
    }
    let rows = rows.into_iter().zip(used).filter(|(_, used)| *used);
    rows.map(|(row, _)| ContextFigures {
        parent: row.parent.map(|parent| number[parent as usize]),
        ..row
    })
    .collect()
}

/// Rows of the call tree, by the place that they are right below.
struct Below {
    /// By place: where its rows begin, which is where those of the one before end.
    begins: Vec<u32>,
    rows: Vec<PlaceId>,
}

impl Below {
    fn all(places: &[BoxPlace]) -> Self {
        let is_row = |(id, place): &(PlaceId, &BoxPlace)| place.row == *id && place.above != NONE;
        let mut begins = vec![0; places.len() + 1];
        for (_, place) in (0..).zip(places).filter(is_row) {
            begins[place.above as usize + 1] += 1;
        }
        let mut sum = 0;
        for begin in &mut begins {
            sum += *begin;
            *begin = sum;
        }
        let mut rows = vec![NONE; sum as usize];
        let mut next = begins.clone();
        for (id, place) in (0..).zip(places).filter(is_row) {
            let at = &mut next[place.above as usize];
            rows[*at as usize] = id;
            *at += 1;
        }
        let mut below = Self { begins, rows };
        for above in 0..places.len() as PlaceId {
            let range = below.range(above);
            below.rows[range].sort_unstable_by_key(|row| {
                let place = &places[*row as usize];
                (place.predicate, place.context == place.row)
            });
        }
        below
    }

    fn range(&self, above: PlaceId) -> Range<usize> {
        let above = above as usize;
        self.begins[above] as usize..self.begins[above + 1] as usize
    }

    /// In their order.
    fn of(&self, above: PlaceId) -> &[PlaceId] {
        &self.rows[self.range(above)]
    }
}

/// By cost centre and predicate.
fn centers(ledger: &Ledger) -> BTreeMap<(Center, PredicateIndex), CenterFigures> {
    let mut rows = CenterRows {
        places: &ledger.places,
        rows: FxHashMap::default(),
    };
    fill(&mut rows, ledger);
    let rows = rows.rows.into_iter();
    let rows = rows.filter(|(_, figures)| *figures != CenterFigures::default());
    rows.map(|((center, predicate), figures)| {
        let center = (center != NONE).then_some(center);
        ((center, predicate), figures)
    })
    .collect()
}

/// By cost centre, which may be [`NONE`], and predicate.
struct CenterRows<'l> {
    places: &'l [BoxPlace],
    rows: FxHashMap<(PredicateIndex, PredicateIndex), CenterFigures>,
}

impl BookedRows for CenterRows<'_> {
    fn row(&mut self, place: PlaceId) -> Option<BookedRow<'_>> {
        let place = &self.places[place as usize];
        (place.above != NONE).then(|| {
            let row = self.rows.entry((place.center, place.predicate));
            let row = row.or_default();
            BookedRow {
                ports: &mut row.ports,
                self_ticks: &mut row.self_ticks,
                inside: &mut row.inside,
                outside: &mut row.outside,
                hidden: &mut row.hidden,
            }
        })
    }
}
