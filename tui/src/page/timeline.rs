//! The timeline: of the streams with the most work, which predicate was at which depth when.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use portmortem_analyzer::timeline::{Blocks, DepthCell, Program, Reader, TimeColumn, TimeRange};
use portmortem_analyzer::trace::StreamInfo;
use portmortem_analyzer::{Analysis, Progress};
use serde::Serialize;

use super::PageStep;
use super::names::PageNames;

/// Columns of time.
const COLUMNS: u32 = 480;

/// Depths that are shown.
const ROWS: u32 = 20;

/// Streams that are shown.
const MOST_STREAMS: usize = 6;

/// So many events are read beside slices of an index before all are read.
const MOST_BESIDE: u64 = 20_000_000;

/// How much of a column a box was there is told in so many steps.
const STEPS: u64 = 4;

/// No box was at that depth.
const NO_BOX: i64 = -1;
/// It is not known which box was there: events were lost, or too many predicates were there.
const UNKNOWN: i64 = -2;

/// Streams side by side.
#[derive(Debug, Serialize)]
pub(super) struct PageTimeline {
    /// What is shown, since the beginning of the trace: where the program runs.
    from_ns: u64,
    to_ns: u64,
    columns: u32,
    steps: u64,
    /// Those with the most work first.
    streams: Vec<ShownStream>,
    /// How many others there are, and their work.
    others: usize,
    others_ns: u64,
}

/// A stream.
#[derive(Debug, Serialize)]
struct ShownStream {
    title: String,
    /// Time of its boxes without waiting.
    worked_ns: u64,
    /// Most frames that were open at once.
    depth: u64,
    /// By depth, from the outermost: pairs of a value and the number of columns that have it. A
    /// value is the number of a predicate times the steps, and how much of the column it was there;
    /// or one of those below 0.
    rows: Vec<Vec<i64>>,
    /// By column.
    events: Vec<u64>,
    fails: Vec<u64>,
}

impl PageTimeline {
    /// `step` shows how far reading is.
    pub(super) fn of(analysis: &Analysis, names: &mut PageNames, step: PageStep) -> Self {
        let figures = &analysis.profile.streams;
        let worked = |at: usize| {
            figures[at]
                .self_ticks
                .saturating_sub(figures[at].waiting_ticks)
        };
        let mut streams: Vec<usize> = (0..figures.len())
            .filter(|&at| analysis.scope.has_stream(figures[at].stream))
            .collect();
        streams.sort_by_key(|&at| (Reverse(worked(at)), at));
        let others = streams.split_off(streams.len().min(MOST_STREAMS));
        let ticks = range(analysis, &[&streams[..], &others].concat());
        let blocks = Blocks::of(&analysis.trace);
        let reader = Reader::new(&analysis.trace, &blocks, analysis.trail(), &analysis.scope);
        let reader = reader.with_slices(analysis.pyramids());
        let shown = streams.into_iter().map(|stream| {
            let columns = picture(analysis, &reader, stream, &ticks, step);
            ShownStream {
                title: title(analysis.trace.streams().get(stream)),
                worked_ns: analysis.ns(worked(stream)),
                depth: figures[stream].max_depth,
                rows: rows(&columns, &ticks, names),
                events: columns.iter().map(|column| column.counts.events).collect(),
                fails: columns.iter().map(|column| column.counts.fails).collect(),
            }
        });
        let clock = analysis.trace.clock();
        let others_worked = others.iter().map(|&at| worked(at));
        let others_worked = others_worked.fold(0, u64::saturating_add);
        Self {
            streams: shown.collect(),
            from_ns: clock.since_start_ns(ticks.start),
            to_ns: clock.since_start_ns(ticks.end),
            columns: COLUMNS,
            steps: STEPS,
            others_ns: analysis.ns(others_worked),
            others: others.len(),
        }
    }
}

fn title(stream: Option<&StreamInfo>) -> String {
    stream.map_or_else(|| "unknown".to_owned(), StreamInfo::title)
}

/// Ticks in which the program runs; all of them if only a part of the time is looked at.
fn range(analysis: &Analysis, streams: &[usize]) -> Range<u64> {
    let figures = || streams.iter().map(|&at| &analysis.profile.streams[at]);
    let from = figures().map(|stream| stream.first_tick).min().unwrap_or(0);
    let last = figures().map(|stream| stream.last_tick).max().unwrap_or(0);
    let whole = from..last.saturating_add(1).max(from.saturating_add(1));
    if analysis.filters.window().is_some() {
        return whole;
    }
    let program = Program::of(&analysis.trace, &analysis.profile.streams);
    let inside = program.and_then(|program| program.within(&whole));
    inside.unwrap_or(whole)
}

/// What a stream did: from slices of an index if there are some, else from its events.
fn picture(
    analysis: &Analysis,
    reader: &Reader,
    stream: usize,
    ticks: &Range<u64>,
    step: PageStep,
) -> Vec<TimeColumn> {
    let slices = analysis.pyramids();
    let slices = slices.filter(|_| !analysis.scope.has_transparent());
    let column = (ticks.end - ticks.start) / u64::from(COLUMNS);
    let stretch = TimeRange {
        stream,
        from: ticks.start,
        to: ticks.end,
        columns: COLUMNS,
        grain: slices.map_or(1, |slices| slices.grain(stream, column)),
        first_row: 0,
        rows: ROWS,
    };
    if let Some(columns) = reader.summed(&stretch, MOST_BESIDE)
        && columns.iter().all(TimeColumn::is_done)
    {
        return columns;
    }
    let picture = Mutex::new(vec![TimeColumn::default(); COLUMNS as usize]);
    step(&|progress: &Progress| {
        reader.read(&stretch, progress, |first, columns| {
            let mut picture = picture.lock().unwrap_or_else(PoisonError::into_inner);
            for (place, column) in picture.iter_mut().skip(first as usize).zip(columns) {
                *place = column;
            }
        });
    });
    picture.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The rows down to the deepest that has anything.
fn rows(columns: &[TimeColumn], ticks: &Range<u64>, names: &mut PageNames) -> Vec<Vec<i64>> {
    let deepest = columns.iter().map(|column| column.cells.len()).max();
    let length = ((ticks.end - ticks.start) / u64::from(COLUMNS)).max(1);
    let row = |row: usize| {
        let mut runs: Vec<i64> = Vec::new();
        for column in columns {
            let value = match column.cell(row) {
                None => UNKNOWN,
                Some(cell) => value(&cell, length, names),
            };
            match runs[..] {
                [.., last, ref mut many] if last == value => *many += 1,
                _ => runs.extend([value, 1]),
            }
        }
        runs
    };
    (0..deepest.unwrap_or(0)).map(row).collect()
}

fn value(cell: &DepthCell, length: u64, names: &mut PageNames) -> i64 {
    let longest = cell.longest.map(|(predicate, _)| predicate);
    let predicate = longest.or_else(|| cell.first.map(|first| first.predicate));
    let Some(predicate) = predicate.filter(|_| cell.segments > 0) else {
        return NO_BOX;
    };
    let steps = (u128::from(cell.ticks) * u128::from(STEPS)).div_ceil(u128::from(length));
    let steps = (steps as u64).clamp(1, STEPS);
    (names.id(predicate) as u64 * STEPS + steps - 1) as i64
}
