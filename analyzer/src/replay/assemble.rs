//! From sums over arcs to the figures of predicates, of pairs of caller and callee, and of contexts.

use std::collections::BTreeMap;

use super::books::{Arc, Books, Figures, NEVER, NONE, SHARED, SHARED_PORTS};
use crate::figures::contexts::ContextFigures;
use crate::figures::{Caller, EdgeFigures, Port, PortCounts, PredicateFigures};
use crate::trace::PredicateIndex;

/// By predicate, the unknown one last.
pub(super) fn predicates(books: &Books) -> Vec<PredicateFigures> {
    let mut all = vec![PredicateFigures::default(); books.begin() as usize];
    for arc in &books.arcs {
        all[arc.predicate as usize].add(&predicate(arc));
    }
    all
}

fn predicate(arc: &Arc) -> PredicateFigures {
    let figures = &arc.figures;
    let [_, failed, raised, open] = figures.outer_by;
    let [self_exited, self_failed, self_raised, self_open] = figures.self_by;
    PredicateFigures {
        calls: figures.calls,
        tail_calls: figures.tail_calls,
        exits_det: figures.exits_det,
        exits_nondet: figures.exits_nondet,
        exits_again: figures.exits_again,
        redos: figures.redos,
        fails: figures.fails,
        fails_dry: figures.fails_dry,
        exceptions: figures.exceptions,
        cuts: figures.cuts,
        open: figures.open,
        pending: figures.pending,
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

/// By caller and callee.
pub(super) fn edges(books: &Books) -> BTreeMap<(Caller, PredicateIndex), EdgeFigures> {
    let mut all: BTreeMap<_, EdgeFigures> = BTreeMap::new();
    let mut spent: BTreeMap<_, u64> = BTreeMap::new();
    for arc in &books.arcs {
        let caller = books.places[arc.from as usize].predicate;
        let caller = if caller == books.begin() {
            Caller::Root
        } else {
            Caller::Predicate(caller)
        };
        let figures = &arc.figures;
        let pair = (caller, arc.predicate);
        all.entry(pair).or_default().add(&EdgeFigures {
            calls: figures.calls,
            tail_calls: figures.tail_calls,
            exits: figures.exits_det + figures.exits_nondet,
            redos: figures.redos,
            fails: figures.fails,
            served_ticks: figures.outer(),
            spent_ticks: 0,
        });
        let sum = spent.entry(pair).or_default();
        *sum = sum
            .wrapping_add(figures.outer())
            .wrapping_add(figures.inner)
            .wrapping_sub(figures.less);
    }
    for (pair, ticks) in spent {
        all.entry(pair).or_default().spent_ticks = ticks;
    }
    // An arc may stand for a moment in which nothing happened: where track was lost.
    all.retain(|_, figures| *figures != EdgeFigures::default());
    all
}

/// The call tree, in its order.
pub(super) fn contexts(books: &Books) -> Vec<ContextFigures> {
    let rows = rows(books);
    // By place: whether it or one below has figures. A place is always after the one above.
    let mut used: Vec<bool> = rows.iter().map(ContextFigures::is_used).collect();
    for (place, row) in books.places.iter().enumerate().skip(1).rev() {
        used[row.above as usize] |= used[place];
    }
    // By place: those right below it, in order.
    let mut below = vec![Vec::new(); books.places.len()];
    for (place, row) in (0..).zip(&books.places).skip(1) {
        if used[place as usize] {
            below[row.above as usize].push(place);
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

/// By place, without what is below.
fn rows(books: &Books) -> Vec<ContextFigures> {
    let mut rows: Vec<ContextFigures> = (0..)
        .zip(&books.places)
        .map(|(id, place)| ContextFigures {
            parent: None,
            predicate: place.predicate,
            depth: 0,
            recursive: place.context != id,
            ..ContextFigures::default()
        })
        .collect();
    for arc in books.arcs.iter().filter(|arc| arc.place != NONE) {
        let row = &mut rows[arc.place as usize];
        let figures = &arc.figures;
        row.calls += figures.calls;
        row.exits += figures.exits_det + figures.exits_nondet;
        row.redos += figures.redos;
        row.fails += figures.fails;
        row.exceptions += figures.exceptions;
        row.self_ticks += figures.self_by.iter().sum::<u64>();
        row.undone_ticks += figures.undone;
        add_ports(&mut row.inside, figures, &figures.covered);
        let caller = &mut rows[arc.from as usize];
        add_ports(&mut caller.outside, figures, &figures.followed);
        // A box is cut from outside only.
        rows[arc.place as usize].inside[Port::Cut as usize] = 0;
    }
    for (place, hidden) in &books.hidden {
        rows[*place as usize].hidden = *hidden;
    }
    for row in &mut rows {
        row.inclusive_ticks = row.self_ticks;
    }
    rows
}

/// Adds the events that boxes entered by one arc had, each once: less those `counted` with another box
/// of the same chain.
fn add_ports(sum: &mut PortCounts, figures: &Figures, counted: &[u64; SHARED_PORTS]) {
    sum[Port::Call as usize] += figures.calls - figures.tail_calls;
    sum[Port::Tail as usize] += figures.tail_calls;
    for ((port, all), counted) in SHARED.iter().zip(figures.shared_ports()).zip(counted) {
        sum[*port as usize] += all - counted;
    }
}
