//! Threads and engines, a row each, and the sums of all of them. Times are as recorded: no others
//! are known of streams.

use std::sync::Arc;

use portmortem_analyzer::figures::StreamFigures;
use portmortem_analyzer::tables::{self, Cell, Row, StreamRow};

use crate::analysis::AnalysisView;
use crate::format::{count, counted, time};
use crate::table::{CellKind, ListColumn, Source, key_of};

/// Streams: rows of the analyser's table.
#[derive(Debug)]
pub(super) struct Streams {
    analysis: Arc<AnalysisView>,
}

const fn of(name: &'static str) -> ListColumn {
    ListColumn::of(tables::Table::Streams, name)
}

const COLUMNS: &[ListColumn] = &[
    of("stream"),
    of("kind"),
    of("work_ns").shown_as(
        "work_share",
        "work %",
        CellKind::Share,
        "Work of the stream, of the work of all.",
    ),
    of("work_ns"),
    of("events"),
    of("lost_events").unless_zero(),
    of("self_ns"),
    of("waiting_ns"),
    of("untraced_ns"),
    of("paused_ns").unless_zero(),
    of("gap_ns").unless_zero(),
    of("first_ns"),
    of("last_ns"),
    of("max_depth"),
    of("max_choices"),
    of("name").name(),
];

impl Streams {
    pub(super) fn new(analysis: &Arc<AnalysisView>) -> Self {
        Self {
            analysis: Arc::clone(analysis),
        }
    }
}

/// The sums of all streams in words, the most important first: each with what separates it from
/// the one before.
pub(super) fn sums(analysis: &AnalysisView) -> Vec<String> {
    let streams = &analysis.profile.streams;
    let sum = |of: fn(&StreamFigures) -> u64| {
        let each = streams.iter().map(of);
        each.fold(0, u64::saturating_add)
    };
    let mut parts = vec![format!(
        "{}: work {}",
        counted(streams.len() as u64, "stream", "streams"),
        time(analysis.ns(sum(|of| of.work_ticks)))
    )];
    for (name, ticks) in [
        ("traced", sum(|of| of.self_ticks)),
        ("waiting", sum(|of| of.waiting_ticks)),
        ("untraced", sum(|of| of.untraced_ticks)),
        ("paused", sum(|of| of.paused_ticks)),
        ("gaps", sum(|of| of.gap_ticks)),
    ] {
        if ticks > 0 {
            parts.push(format!(" · {name} {}", time(analysis.ns(ticks))));
        }
    }
    parts.push(format!(" · {} events", count(sum(|of| of.events))));
    match sum(|of| of.lost_events) {
        0 => {}
        lost => parts.push(format!(" · {} LOST", count(lost))),
    }
    if analysis.is_net() {
        parts.push(" · as recorded".to_owned());
    }
    parts
}

impl Source for Streams {
    fn columns(&self) -> &'static [ListColumn] {
        COLUMNS
    }

    fn rows(&self) -> usize {
        self.analysis.profile.streams.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let of = self.analysis.tables().stream(row);
        COLUMNS[column].cell(false, |at| StreamRow::cell(&of, at))
    }

    fn whole(&self) -> u64 {
        let streams = self.analysis.profile.streams.iter();
        let work = streams.map(|stream| stream.work_ticks);
        self.analysis.ns(work.fold(0, u64::saturating_add))
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.analysis.profile.streams[row].stream)
    }
}
