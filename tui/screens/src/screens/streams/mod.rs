//! Screen 7: threads and engines, a row each; and cost centres, if the program has some.

mod centers;

use std::sync::Arc;

use portmortem_analyzer::tables::Cell;
use portmortem_analyzer::trace::names::printable;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Effect, EventTarget, Screen, how_many, integer};
use crate::analysis::Analysis;
use crate::keys::{Action, Binding, bind};
use crate::table::{Column, Kind, Source, Table, key_of};
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

    fn follow(&mut self, analysis: &Arc<Analysis>) {
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

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        if let Some(table) = self.table_mut() {
            table.draw(area, buf, theme);
        }
    }
}

impl Streams {
    fn follow_centers(&mut self, analysis: &Arc<Analysis>) {
        if analysis.centers.is_empty() {
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

/// Streams: rows of the analyser's table, with escaped names.
#[derive(Debug)]
struct Rows {
    rows: Vec<(Vec<u64>, &'static str, String)>,
}

const COLUMNS: &[Column] = &[
    Column::new("stream", "stream", Kind::Count, "number of the stream"),
    Column::new("kind", "kind", Kind::Text, "thread or engine"),
    Column::new("events", "events", Kind::Count, "events read"),
    Column::new(
        "lost_events",
        "lost",
        Kind::Count,
        "events known to be lost",
    ),
    Column::new(
        "self_ns",
        "traced",
        Kind::Time,
        "time while a traced box was active",
    ),
    Column::new("untraced_ns", "untraced", Kind::Time, "time while none was"),
    Column::new("paused_ns", "paused", Kind::Time, "time in pauses"),
    Column::new(
        "gap_ns",
        "gaps",
        Kind::Time,
        "time in which events were lost",
    ),
    Column::new(
        "first_ns",
        "from",
        Kind::Time,
        "its beginning, since that of the trace",
    ),
    Column::new("last_ns", "to", Kind::Time, "its end, or last event"),
    Column::new(
        "max_depth",
        "depth",
        Kind::Count,
        "most frames open at once",
    ),
    Column::new(
        "max_choices",
        "choices",
        Kind::Count,
        "most frames that could be re-entered at once",
    ),
    Column::new("name", "name", Kind::Name, "its name in the engine"),
];

impl Rows {
    fn new(analysis: &Analysis) -> Self {
        let rows = analysis.tables().streams().map(|row| {
            let numbers = vec![
                row.stream.into(),
                0,
                row.events,
                row.lost_events,
                row.self_ns,
                row.untraced_ns,
                row.paused_ns,
                row.gap_ns,
                row.first_ns,
                row.last_ns,
                row.max_depth,
                row.max_choices,
            ];
            let kind = if row.kind == "engine" {
                "engine"
            } else {
                "thread"
            };
            (numbers, kind, printable(row.name))
        });
        Self {
            rows: rows.collect(),
        }
    }
}

impl Source for Rows {
    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let (numbers, kind, name) = &self.rows[row];
        match COLUMNS[column].name {
            "kind" => Cell::Text(kind),
            "name" => Cell::Text(name),
            _ => integer(numbers[column]),
        }
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.rows[row].0[0])
    }
}
