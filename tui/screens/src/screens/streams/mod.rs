//! Screen 7: threads and engines, a row each; and cost centres, if the program has some.

mod centers;

use std::sync::Arc;

use portmortem_analyzer::tables::{self, Cell, Row, StreamRow};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Effect, EventTarget, Screen, how_many};
use crate::analysis::AnalysisView;
use crate::keys::{Action, Binding, bind};
use crate::table::{Column, Source, Table, key_of};
use crate::theme::Theme;
use centers::Centers;

/// The screen.
#[derive(Debug, Default)]
pub(super) struct Streams {
    table: Option<Table>,
    centers: Option<Table>,
    /// The second table is shown.
    shows_centers: bool,
}

const KEYS: &[Binding] = &[
    bind(
        &["enter"],
        Action::Enter,
        "go there",
        "show the events of the stream; go into the centre",
    ),
    bind(
        &["t"],
        Action::NextTable,
        "next table",
        "threads and engines; cost centres",
    ),
];

impl Screen for Streams {
    fn bindings(&self) -> &'static [Binding] {
        KEYS
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        Table::fill(&mut self.table, Box::new(Rows::new(analysis)), "stream");
        self.follow_centers(analysis);
        if let Some(table) = &mut self.table
            && table.sort() == Some((0, true))
        {
            table.act(Action::Reverse);
        }
    }

    fn act(&mut self, action: Action) -> Effect {
        let row = self.table().and_then(Table::row);
        match (action, row) {
            (Action::NextTable, _) if self.centers.is_none() => {
                Effect::Say("the program has no cost centres".to_owned())
            }
            (Action::NextTable, _) => {
                self.shows_centers = !self.shows_centers;
                Effect::Done
            }
            (Action::Enter, Some(_)) if self.shows_centers => {
                self.predicate().map_or(Effect::Done, Effect::Open)
            }
            (Action::Enter, Some(stream)) => Effect::Event(EventTarget::At { stream, number: 0 }),
            _ => Effect::Unused,
        }
    }

    fn table(&self) -> Option<&Table> {
        let centers = self.centers.as_ref().filter(|_| self.shows_centers);
        centers.or(self.table.as_ref())
    }

    fn table_mut(&mut self) -> Option<&mut Table> {
        if self.shows_centers {
            self.centers.as_mut()
        } else {
            self.table.as_mut()
        }
    }

    fn status(&self) -> String {
        let one = if self.shows_centers {
            "cost centre"
        } else {
            "stream"
        };
        self.table()
            .map_or_else(String::new, |table| how_many(table, one))
    }

    fn file_name(&self) -> &'static str {
        if self.shows_centers {
            "centers"
        } else {
            "streams"
        }
    }

    fn smallest(&self) -> (u16, u16) {
        super::SMALLEST_LIST
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        if let Some(table) = self.table_mut() {
            table.draw(area, buf, theme);
        }
    }
}

impl Streams {
    fn follow_centers(&mut self, analysis: &Arc<AnalysisView>) {
        if !analysis.trace.has_centers() {
            (self.centers, self.shows_centers) = (None, false);
            return;
        }
        Table::fill(
            &mut self.centers,
            Box::new(Centers::new(analysis)),
            "self_ns",
        );
    }
}

/// Streams: rows of the analyser's table.
#[derive(Debug)]
struct Rows {
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

impl Rows {
    fn new(analysis: &Arc<AnalysisView>) -> Self {
        Self {
            analysis: Arc::clone(analysis),
        }
    }
}

impl Source for Rows {
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
