//! Threads and engines, a row each.

use std::sync::Arc;

use portmortem_analyzer::tables::{self, Cell, Row, StreamRow};

use crate::analysis::AnalysisView;
use crate::table::{Column, Source, key_of};

/// Streams: rows of the analyser's table.
#[derive(Debug)]
pub(super) struct Streams {
    analysis: Arc<AnalysisView>,
}

const fn of(name: &'static str) -> Column {
    Column::of(tables::Table::Streams, name)
}

const COLUMNS: &[Column] = &[
    of("stream"),
    of("kind"),
    of("events"),
    of("lost_events"),
    of("self_ns"),
    of("waiting_ns"),
    of("untraced_ns"),
    of("paused_ns"),
    of("gap_ns"),
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

impl Source for Streams {
    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn rows(&self) -> usize {
        self.analysis.profile.streams.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let of = self.analysis.tables().stream(row);
        COLUMNS[column].cell(false, |at| StreamRow::cell(&of, at))
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.analysis.profile.streams[row].stream)
    }
}
