//! The slowest calls of a predicate as a list, and all of its calls as a histogram. Times are as recorded.

use std::borrow::Cow;
use std::sync::Arc;

use portmortem_analyzer::calls::figures::{CallFigures, SlowCall, bin_begin_ns};
use portmortem_analyzer::sentences::{place, shown_bins};
use portmortem_analyzer::tables::{self, Cell, Row as _, SlowestRow};
use portmortem_analyzer::trace::PredicateIndex;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::analysis::AnalysisView;
use crate::format::{bar, left, right, rounded, time};
use crate::table::{CellKind, ListColumn, Source, key_of};
use crate::theme::Theme;

/// The calls.
#[derive(Debug)]
pub(super) struct Slowest {
    analysis: Arc<AnalysisView>,
    calls: Vec<SlowCall>,
    /// Where each was called from.
    places: Vec<String>,
    predicate: PredicateIndex,
}

const fn of(name: &'static str) -> ListColumn {
    ListColumn::of(tables::Table::Slowest, name)
}

const fn columns_with(stream: ListColumn) -> [ListColumn; 5] {
    [
        of("ns"),
        of("at_ns").own_unit(),
        stream,
        of("event"),
        ListColumn::new(
            "called_from",
            "called from",
            CellKind::Name,
            "The goal that made the call, or the predicate that called.",
        ),
    ]
}

/// Of a trace with several streams, and with one.
const COLUMNS: &[ListColumn] = &columns_with(of("stream"));
const OF_ONE_STREAM: &[ListColumn] = &columns_with(of("stream").hidden());

impl Slowest {
    pub(super) fn new(analysis: &Arc<AnalysisView>, predicate: PredicateIndex) -> Self {
        let rows = analysis.tables().slowest_of(predicate);
        let calls: Vec<SlowCall> = rows.iter().map(|row| row.call).collect();
        let place = |call: &SlowCall| place(analysis, call.caller, call.site);
        Self {
            places: calls.iter().map(place).collect(),
            calls,
            analysis: Arc::clone(analysis),
            predicate,
        }
    }
}

impl Source for Slowest {
    fn columns(&self) -> &'static [ListColumn] {
        match self.analysis.trace.streams().len() {
            0 | 1 => OF_ONE_STREAM,
            _ => COLUMNS,
        }
    }

    fn rows(&self) -> usize {
        self.calls.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        if COLUMNS[column].kind == CellKind::Name {
            return Cell::Text(&self.places[row]);
        }
        let rows = self.analysis.tables().slowest_of(self.predicate);
        rows.get(row).map_or(Cell::Missing, |row| {
            COLUMNS[column].cell(false, |at| SlowestRow::cell(row, at))
        })
    }

    fn key(&self, row: usize) -> u64 {
        let call = self.calls[row];
        key_of((call.stream, call.event))
    }

    fn short_name(&self, row: usize) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(&self.places[row]))
    }
}

/// Draws how the times of the calls are spread: a line for each power of two if there is room, else a column of one line.
pub(super) fn draw_histogram(
    analysis: &AnalysisView,
    figures: &CallFigures,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) {
    let is_net = analysis.is_net();
    let ns = |ticks| analysis.ns(ticks);
    let room = usize::from(area.width);
    let mut y = area.y;
    let mut line = |text: String, style| {
        if y < area.bottom() {
            buf.set_stringn(area.x, y, text, room, style);
            y += 1;
        }
    };
    let time_of =
        |ticks: Option<u64>| ticks.map_or_else(|| "–".to_owned(), |ticks| time(ns(ticks)));
    let (mean, max) = (time_of(figures.mean_ticks()), time_of(figures.max_ticks()));
    line(
        left(&format!("mean {mean}, max {max}"), room),
        theme.heading,
    );
    let bins = shown_bins(&figures.histogram);
    let most = figures.histogram.iter().copied().max().unwrap_or(0);
    let growth = figures.trend().verdict.name().unwrap_or("unknown");
    let recorded = if is_net { ", as recorded" } else { "" };
    let lines = usize::from(area.height).saturating_sub(1);
    if bins.len() < lines {
        for bin in bins {
            let text = bin.map_or_else(
                || right("…", 8),
                |bin| {
                    let calls = figures.histogram[bin];
                    let bar = bar(calls, most, room.saturating_sub(18));
                    format!(
                        "{} {} {bar}",
                        right(&time(bin_begin_ns(bin)), 8),
                        right(&rounded(calls), 7)
                    )
                },
            );
            line(text, theme.text);
        }
    } else if let (Some(first), Some(last)) = (bins.first(), bins.last()) {
        let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
        line(columns(&figures.histogram[first..=last], most), theme.bar);
        let (from, to) = (time(bin_begin_ns(first)), time(bin_begin_ns(last)));
        line(format!("calls from {from} to {to}"), theme.text);
    }
    line(format!("growth: {growth}{recorded}"), theme.text);
}

/// A column of up to eight eighths for each number; none is a space.
fn columns(numbers: &[u64], most: u64) -> String {
    const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let column = |&number: &u64| match number {
        0 => ' ',
        _ => {
            EIGHTHS[(u128::from(number) * 8)
                .div_ceil(most.max(1).into())
                .clamp(1, 8) as usize
                - 1]
        }
    };
    numbers.iter().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_zero_is_seen() {
        assert_eq!(columns(&[0, 1, 500, 1000], 1000), " ▁▄█");
        assert_eq!(columns(&[u64::MAX, 0], u64::MAX), "█ ");
    }
}
