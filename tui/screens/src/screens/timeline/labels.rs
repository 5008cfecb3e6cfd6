//! Names over cells that are too narrow for names of their own: in each part of a row the predicate that is there longest.

use std::ops::Range;

use portmortem_analyzer::trace::PredicateIndex;

use super::pictures::Picture;
use super::runs::{CellRun, Shows};

/// A run of fewer cells has no name of its own.
const NAMED: usize = 5;

/// A name over fewer cells would say little.
const LEAST: u32 = 8;

/// So many cells are named together, if no predicate is the longest in all of them.
const TOGETHER: u32 = 16;

/// A name, and the cells it is written over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) columns: Range<u32>,
    pub(super) predicate: PredicateIndex,
}

/// The names over a row, which counts from the first one of the picture's window.
pub(super) fn labels(picture: &Picture, row: usize, runs: &[CellRun]) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::new();
    let crowds = runs.chunk_by(|run, next| is_narrow(run) && is_narrow(next));
    for crowd in crowds.filter(|crowd| crowd.iter().all(is_narrow)) {
        let mut begin = None;
        for run in crowd {
            let is_one_name = matches!(run.shows, Shows::Many(Some(_)));
            if is_one_name && run.columns.len() as u32 >= LEAST {
                if let Some(begin) = begin.take() {
                    together(picture, row, begin..run.columns.start, &mut labels);
                }
                if let Some(predicate) = run.shows.predicate() {
                    add(&mut labels, run.columns.clone(), predicate);
                }
            } else {
                begin.get_or_insert(run.columns.start);
            }
        }
        if let (Some(begin), Some(last)) = (begin, crowd.last()) {
            together(picture, row, begin..last.columns.end, &mut labels);
        }
    }
    labels
}

fn is_narrow(run: &CellRun) -> bool {
    match run.shows {
        Shows::Many(_) => true,
        Shows::One(_) => run.columns.len() < NAMED,
        Shows::Unknown | Shows::NoBox => false,
    }
}

/// Names for some cells of which none belongs to a run with a name.
fn together(picture: &Picture, row: usize, columns: Range<u32>, labels: &mut Vec<Label>) {
    let mut at = columns.start;
    while columns.end - at >= LEAST {
        // What is left over at the end goes with the last part.
        let end = if columns.end - at < TOGETHER + LEAST {
            columns.end
        } else {
            at + TOGETHER
        };
        if let Some(predicate) = longest(picture, row, at..end) {
            add(labels, at..end, predicate);
        }
        at = end;
    }
}

/// The same name goes on, or another one begins.
fn add(labels: &mut Vec<Label>, columns: Range<u32>, predicate: PredicateIndex) {
    match labels.last_mut() {
        Some(last) if last.predicate == predicate && last.columns.end == columns.start => {
            last.columns.end = columns.end;
        }
        _ => labels.push(Label { columns, predicate }),
    }
}

/// The predicate that is the longest in cells with the most ticks of it; of several the one declared first.
fn longest(picture: &Picture, row: usize, columns: Range<u32>) -> Option<PredicateIndex> {
    let columns = picture
        .columns
        .get(columns.start as usize..columns.end as usize)?;
    let each = columns
        .iter()
        .filter_map(|column| column.cell(row)?.longest);
    let mut sums: Vec<(PredicateIndex, u64)> = Vec::new();
    for (predicate, ticks) in each {
        match sums.iter_mut().find(|(other, _)| *other == predicate) {
            Some((_, sum)) => *sum += ticks,
            None => sums.push((predicate, ticks)),
        }
    }
    let most = sums
        .into_iter()
        .max_by_key(|(predicate, ticks)| (*ticks, std::cmp::Reverse(*predicate)));
    most.map(|(predicate, _)| predicate)
}
