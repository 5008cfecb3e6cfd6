//! The figures of a window: what was counted up to its end less what was counted until it began.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::centers::CenterFigures;
use super::clauses::ClauseFigures;
use super::contexts::{ContextFigures, ContextTree};
use super::profile::Profile;
use super::{BacktrackFigures, Caller, EdgeFigures, PredicateFigures, SiteFigures, StreamFigures};
use crate::trace::PredicateIndex;

type RowPairs<T> = BTreeMap<(Caller, PredicateIndex), T>;

impl Profile {
    /// Takes away what was counted until the window began. `before` has no times.
    pub(crate) fn since(mut self, before: &Self) -> Self {
        for (figures, before) in self.predicates.iter_mut().zip(&before.predicates) {
            since_predicate(figures, before);
        }
        less(&mut self.edges, &before.edges, since_edge);
        self.edges.retain(|_, left| *left != EdgeFigures::default());
        for (key, before) in &before.sites {
            if let Some(figures) = self.sites.get_mut(key) {
                figures.ports.take(&before.ports);
            }
        }
        self.sites.retain(|_, left| *left != SiteFigures::default());
        less(&mut self.backtracks, &before.backtracks, since_backtrack);
        self.backtracks
            .retain(|_, left| *left != BacktrackFigures::default());
        less(&mut self.cuts, &before.cuts, |cuts, before| {
            *cuts = cuts.saturating_sub(*before);
        });
        self.cuts.retain(|_, left| *left != 0);
        for (key, before) in &before.centers {
            if let Some(figures) = self.centers.get_mut(key) {
                figures.take(before);
            }
        }
        self.centers
            .retain(|_, left| *left != CenterFigures::default());
        for (key, before) in &before.clauses {
            if let Some(figures) = self.clauses.get_mut(key) {
                figures.take(before);
            }
        }
        self.clauses
            .retain(|_, left| *left != ClauseFigures::default());
        self.contexts = since_contexts(&self.contexts, &before.contexts);
        let streams: FxHashMap<u32, &StreamFigures> = before
            .streams
            .iter()
            .map(|stream| (stream.stream, stream))
            .collect();
        for stream in &mut self.streams {
            if let Some(before) = streams.get(&stream.stream) {
                take(&mut stream.events, before.events);
                take(&mut stream.lost_events, before.lost_events);
                stream.events_before = before.numbers().end;
            }
        }
        self
    }
}

fn take(count: &mut u64, before: u64) {
    *count = count.saturating_sub(before);
}

fn less<T>(pairs: &mut RowPairs<T>, before: &RowPairs<T>, since: impl Fn(&mut T, &T)) {
    for (pair, before) in before {
        if let Some(figures) = pairs.get_mut(pair) {
            since(figures, before);
        }
    }
}

fn since_predicate(figures: &mut PredicateFigures, before: &PredicateFigures) {
    figures.ports.take(&before.ports);
    figures.open_before = before.open;
    figures.pending_before = before.pending;
}

fn since_edge(figures: &mut EdgeFigures, before: &EdgeFigures) {
    figures.ports.take(&before.ports);
}

fn since_backtrack(figures: &mut BacktrackFigures, before: &BacktrackFigures) {
    take(&mut figures.count, before.count);
}

fn since_contexts(rows: &[ContextFigures], before: &[ContextFigures]) -> Vec<ContextFigures> {
    let mut tree = ContextTree::default();
    tree.merge(rows);
    tree.take(before);
    tree.into_rows()
}
