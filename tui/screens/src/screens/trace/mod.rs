//! Screen 9: what the trace is, its streams, and its cost centres if the program has some. One part at a time.

mod about;
mod centers;
mod streams;
mod waits;

use std::sync::Arc;

use portmortem_analyzer::trace::PredicateIndex;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::analysis::AnalysisView;
use crate::format::fitting;
use crate::keys::{Action, Binding, bind};
use crate::screen::parts::draw_parts;
use crate::screen::{
    Clickable, Effect, EventTarget, Exportable, Navigable, Pointing, Screen, Searchable, Spot,
    Tabular,
};
use crate::table::TableView;
use crate::theme::Theme;
use about::About;
use centers::Centers;
use streams::Streams;
use waits::WaitRows;

/// With fewer rows the sums of streams are left out.
const LEAST_ROWS: u16 = 3;

/// The screen.
#[derive(Debug, Default)]
pub(super) struct TraceScreen {
    about: About,
    streams: Option<TableView>,
    /// The sums of all streams, in words.
    sums: Vec<String>,
    centers: Option<TableView>,
    waits: Option<TableView>,
    /// What waits are of.
    analysis: Option<Arc<AnalysisView>>,
    shown: TracePart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TracePart {
    #[default]
    About,
    Streams,
    Waits,
    Centers,
}

const KEYS: &[Binding] = &[
    bind(
        &["t"],
        Action::NextTable,
        "next part",
        "the recording; its streams; waits; its cost centres",
    ),
    bind(
        &["enter"],
        Action::Enter,
        "go there",
        "show the events of the stream or wait; go into the centre",
    ),
];

impl TraceScreen {
    fn parts(&self) -> Vec<(TracePart, &'static str)> {
        let parts = [
            (true, TracePart::About, "recording"),
            (true, TracePart::Streams, "streams"),
            (self.waits.is_some(), TracePart::Waits, "waits"),
            (self.centers.is_some(), TracePart::Centers, "cost centres"),
        ];
        let there = parts.into_iter().filter(|(is_there, ..)| *is_there);
        there.map(|(_, part, name)| (part, name)).collect()
    }

    fn at(&self) -> usize {
        let parts = self.parts();
        let found = parts.iter().position(|(part, _)| *part == self.shown);
        found.unwrap_or(0)
    }
}

impl Screen for TraceScreen {
    fn bindings(&self) -> &'static [Binding] {
        match self.shown {
            // There is no row to go into.
            TracePart::About => &KEYS[..1],
            TracePart::Streams | TracePart::Waits | TracePart::Centers => KEYS,
        }
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        self.about.follow(analysis);
        self.sums = streams::sums(analysis);
        let is_new = self.streams.is_none();
        TableView::fill(
            &mut self.streams,
            Box::new(Streams::new(analysis)),
            "stream",
        );
        if let Some(table) = self.streams.as_mut().filter(|_| is_new) {
            // In the order of their numbers.
            table.act(Action::Reverse);
        }
        if analysis.trace.has_centers() {
            let rows = Box::new(Centers::new(analysis));
            TableView::fill(&mut self.centers, rows, "self_ns");
        } else {
            self.centers = None;
        }
        match WaitRows::new(analysis) {
            Some(rows) => TableView::fill(&mut self.waits, Box::new(rows), "waited_ns"),
            None => self.waits = None,
        }
        self.analysis = Some(Arc::clone(analysis));
        self.shown = self.parts()[self.at()].0;
    }

    fn act(&mut self, action: Action) -> Effect {
        let row = self.table().and_then(TableView::row);
        match (action, self.shown, row) {
            (Action::NextTable, ..) => {
                let parts = self.parts();
                self.shown = parts[(self.at() + 1) % parts.len()].0;
                Effect::Done
            }
            (Action::Enter, TracePart::Streams, Some(stream)) => {
                Effect::Event(EventTarget::At { stream, number: 0 })
            }
            (Action::Enter, TracePart::Centers, Some(_)) => {
                self.predicate().map_or(Effect::Done, Effect::Open)
            }
            (Action::Enter, TracePart::Waits, Some(_)) => {
                self.event().map_or(Effect::Done, Effect::Event)
            }
            (_, TracePart::About, _) => self.about.act(action),
            _ => Effect::Unused,
        }
    }

    fn status(&self) -> String {
        let one = match self.shown {
            TracePart::About => return String::new(),
            TracePart::Streams => "stream",
            TracePart::Waits => "row",
            TracePart::Centers => "cost centre",
        };
        self.table()
            .map_or_else(String::new, |table| table.how_many(one))
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let parts = self.parts();
        let names = parts.iter().map(|(_, name)| *name);
        let mut below = draw_parts(names, self.at(), area, buf, theme);
        if self.shown == TracePart::Streams && below.height > LEAST_ROWS {
            let room = usize::from(area.width.saturating_sub(2));
            let sums = fitting(self.sums.iter().map(String::as_str), room);
            buf.set_stringn(below.x + 1, below.y, sums, room, theme.text);
            below.y += 1;
            below.height -= 1;
        }
        match self.table_mut() {
            Some(table) => table.draw(below, buf, theme),
            None => self.about.draw(below, buf, theme),
        }
    }
}

impl Tabular for TraceScreen {
    fn table(&self) -> Option<&TableView> {
        match self.shown {
            TracePart::About => None,
            TracePart::Streams => self.streams.as_ref(),
            TracePart::Waits => self.waits.as_ref(),
            TracePart::Centers => self.centers.as_ref(),
        }
    }

    fn table_mut(&mut self) -> Option<&mut TableView> {
        match self.shown {
            TracePart::About => None,
            TracePart::Streams => self.streams.as_mut(),
            TracePart::Waits => self.waits.as_mut(),
            TracePart::Centers => self.centers.as_mut(),
        }
    }
}

impl Searchable for TraceScreen {}

impl Pointing for TraceScreen {
    fn event(&self) -> Option<EventTarget> {
        match self.shown {
            TracePart::Streams => {
                let stream = self.table()?.row()?;
                Some(EventTarget::At { stream, number: 0 })
            }
            TracePart::Waits => waits::event(self.table()?, self.analysis.as_ref()?),
            TracePart::About | TracePart::Centers => None,
        }
    }

    fn has_predicates(&self) -> bool {
        self.shown == TracePart::Centers
    }
}

impl Navigable for TraceScreen {
    fn spot(&self) -> Spot {
        Spot {
            part: self.at(),
            ..self.spot_of_list()
        }
    }

    fn recall(&mut self, spot: &Spot) {
        if let Some((part, _)) = self.parts().get(spot.part) {
            self.shown = *part;
        }
        self.recall_list(spot);
    }

    /// A name is no reason to turn to another part.
    fn select(&mut self, _: PredicateIndex) -> Effect {
        Effect::Done
    }
}

impl Exportable for TraceScreen {
    fn file_name(&self) -> &'static str {
        match self.shown {
            TracePart::About => "info.txt",
            TracePart::Streams => "streams",
            TracePart::Waits => "waits",
            TracePart::Centers => "centers",
        }
    }

    fn export(&self) -> Option<String> {
        match self.table() {
            Some(table) => Some(table.csv(None)),
            None => Some(self.about.text()),
        }
    }

    fn copy(&self) -> Option<String> {
        match self.table() {
            Some(table) => Some(table.csv(Some(table.row()?))),
            None => Some(self.about.text()),
        }
    }
}

impl Clickable for TraceScreen {}
