//! Screen 7: what costs time, and what can be done about it; below the list the evidence of the finding that the cursor is on.
//!
//! Looking for it reads events, so a thread does, when the screen is shown for the first time.
//! Where the cursor is once the findings are there is a rule ([`Opening`]) that does not depend on
//! when that is.

use std::sync::Arc;
use std::time::Instant;

use portmortem_analyzer::advice::Finding;
use portmortem_analyzer::figures::whole::Whole;
use portmortem_analyzer::tables::Cell;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::names::printable;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::analysis::AnalysisView;
use crate::format::{percent, time};
use crate::keys::{Action, Binding, bind};
use crate::screen::{
    Clickable, Effect, Exportable, Navigable, Place, Pointing, Screen, Searchable, Spot, Tabular,
};
use crate::table::integer;
use crate::table::{CellKind, ListColumn, Source, TableView, key_of};
use crate::theme::Theme;
use crate::worker::{Received, poll_until, soon};

/// The screen.
#[derive(Debug, Default)]
pub(super) struct AdviceScreen {
    analysis: Option<Arc<AnalysisView>>,
    findings: Arc<Vec<Finding>>,
    table: Option<TableView>,
    /// A thread looks for the findings.
    is_sought: bool,
    opening: Opening,
}

/// Which row the cursor is put on as soon as the findings are there.
#[derive(Debug, Default)]
enum Opening {
    /// The costliest one.
    #[default]
    Costliest,
    /// The costliest one that is about a predicate, if there is one; else as it is.
    About(PredicateIndex),
    /// Where the user was.
    Left(Spot),
    /// The one that it was on, under other figures.
    Same,
}

const KEYS: &[Binding] = &[bind(
    &["enter"],
    Action::Enter,
    "go there",
    "go to the place: the line of the goal to be changed",
)];

impl AdviceScreen {
    /// Takes what was found; waits for it until some moment, or as long as it takes.
    fn take(&mut self, until: Option<Instant>) -> Effect {
        let Some(analysis) = self.analysis.as_ref().filter(|_| self.is_sought) else {
            return Effect::Unused;
        };
        let findings = match analysis.advice(until) {
            Received::NotYet => return Effect::Unused,
            Received::Ended => {
                self.is_sought = false;
                let text = "looking for advice broke off: a defect of Portmortem";
                return Effect::Say(text.to_owned());
            }
            Received::Value(findings) => findings,
        };
        self.is_sought = false;
        let rows = FindingRows {
            findings: Arc::clone(&findings),
            analysis: Arc::clone(analysis),
            whole: analysis.whole(),
        };
        self.findings = findings;
        TableView::fill(&mut self.table, Box::new(rows), "cost_ns");
        self.open();
        Effect::Done
    }

    /// Puts the cursor where it is to be, if the findings are there.
    fn open(&mut self) {
        if self.is_sought {
            return;
        }
        match std::mem::replace(&mut self.opening, Opening::Same) {
            Opening::Same => {}
            Opening::Costliest => {
                if let Some(table) = &mut self.table {
                    table.act(Action::Top);
                }
            }
            Opening::About(predicate) => {
                let findings = &self.findings;
                let is_it = |row: &u32| {
                    let finding = findings.get(*row as usize);
                    finding.is_some_and(|finding| finding.predicates.contains(&predicate))
                };
                if let Some(table) = &mut self.table
                    && let Some(row) = table.order().iter().copied().find(is_it)
                {
                    table.select(row as usize);
                }
            }
            Opening::Left(spot) => self.recall_list(&spot),
        }
    }

    /// Where the finding is that the cursor is on.
    fn place_here(&self) -> Option<Place> {
        let (finding, analysis) = (self.finding()?, self.analysis.as_ref()?);
        let at = &finding.place;
        let known = 0..analysis.trace.predicates().len() as PredicateIndex;
        let mut known = known.filter(|&index| analysis.predicate(index) == at.predicate);
        let callee = finding.predicates.first().copied();
        Some(Place {
            predicate: known.next().or(callee)?,
            line: at.line,
            callee,
        })
    }

    fn finding(&self) -> Option<&Finding> {
        self.findings.get(self.table.as_ref()?.row()?)
    }

    fn details(&self, theme: &Theme, room: usize) -> Vec<Line<'static>> {
        let (Some(finding), Some(analysis)) = (self.finding(), &self.analysis) else {
            return Vec::new();
        };
        let total = finding.whole_ticks(analysis.whole().work_ticks);
        let ns = analysis.ns(finding.cost_ticks);
        let cost = format!("{} %, {}", percent(finding.cost_ticks, total), time(ns));
        let mut place = printable(&finding.place.predicate);
        if let (Some(file), Some(line)) = (&finding.place.file, finding.place.line) {
            place = format!("{}:{line}, {place}", printable(file));
        }
        let mut lines = Vec::new();
        for (name, text) in [
            ("finding", finding.title.as_str()),
            ("place", &place),
            ("cost", &cost),
            ("evidence", &finding.evidence),
            ("change", &finding.remedy),
            ("sure", finding.certainty.name()),
        ] {
            let wrapped = textwrap::wrap(text, room.saturating_sub(11).max(1));
            for (at, text) in wrapped.into_iter().enumerate() {
                let name = if at == 0 { name } else { "" };
                lines.push(Line::from(vec![
                    Span::styled(format!(" {name:<10}"), theme.key),
                    Span::styled(text.into_owned(), theme.text),
                ]));
            }
        }
        lines
    }
}

impl Screen for AdviceScreen {
    fn bindings(&self) -> &'static [Binding] {
        if self.has_predicates() { KEYS } else { &[] }
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        self.analysis = Some(Arc::clone(analysis));
        analysis.start_advice();
        self.is_sought = true;
        self.take(Some(soon()));
    }

    fn poll(&mut self, wait: bool) -> Effect {
        self.take(poll_until(wait))
    }

    fn is_ready(&self) -> bool {
        !self.is_sought
    }

    fn act(&mut self, action: Action) -> Effect {
        match action {
            Action::Enter => self.place_here().map_or(Effect::Done, Effect::Place),
            Action::Edit => {
                let place = self.finding().map(|finding| &finding.place);
                let file = place.and_then(|place| Some((place.file.as_ref()?, place.line?)));
                match (file, &self.analysis) {
                    (Some((file, line)), Some(analysis)) => {
                        Effect::Edit(analysis.locate(file), line.max(1))
                    }
                    _ => Effect::Unused,
                }
            }
            _ => Effect::Unused,
        }
    }

    fn status(&self) -> String {
        if self.is_sought {
            return "looking for advice …".to_owned();
        }
        let table = self.table.as_ref();
        table.map_or_else(String::new, |table| table.how_many("finding"))
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let mut say = |text: &str| {
            let room = usize::from(area.width.saturating_sub(2));
            for (y, line) in (area.y + 1..area.bottom()).zip(textwrap::wrap(text, room.max(1))) {
                buf.set_stringn(area.x + 1, y, line, room, theme.text);
            }
        };
        if self.is_sought {
            return say("Looking for what costs time: the times of all calls are read.");
        }
        if self.findings.is_empty() {
            return say(
                "Nothing found that costs 1 % of the time or more. Screen 1 shows where the time went.",
            );
        }
        let details = self.details(theme, area.width.into());
        let rows = self.table.as_ref().map_or(0, TableView::rows) as u16 + 2;
        let wanted = (details.len() as u16).min(area.height * 2 / 3);
        let height = rows.min(area.height.saturating_sub(wanted)).max(2);
        if let Some(table) = &mut self.table {
            table.draw(Rect { height, ..area }, buf, theme);
        }
        for (y, line) in (area.y + height..area.bottom()).zip(&details) {
            buf.set_line(area.x, y, line, area.width);
        }
    }
}

impl Tabular for AdviceScreen {
    fn table(&self) -> Option<&TableView> {
        self.table.as_ref().filter(|_| !self.findings.is_empty())
    }

    fn table_mut(&mut self) -> Option<&mut TableView> {
        self.table.as_mut().filter(|_| !self.findings.is_empty())
    }
}

impl Searchable for AdviceScreen {
    fn looks_for_names(&self) -> bool {
        false
    }
}

impl Pointing for AdviceScreen {
    fn has_predicates(&self) -> bool {
        !self.findings.is_empty()
    }
}

impl Navigable for AdviceScreen {
    fn recall(&mut self, spot: &Spot) {
        self.opening = Opening::Left(spot.clone());
        self.open();
    }

    /// To the costliest finding that is about a predicate, if there is one.
    fn select(&mut self, predicate: PredicateIndex) -> Effect {
        self.opening = Opening::About(predicate);
        self.open();
        Effect::Done
    }
}

impl Exportable for AdviceScreen {
    fn is_empty(&self) -> bool {
        self.table().is_none_or(|table| table.rows() == 0)
    }

    fn file_name(&self) -> &'static str {
        "advice"
    }
}

impl Clickable for AdviceScreen {}

/// The findings.
#[derive(Debug)]
struct FindingRows {
    analysis: Arc<AnalysisView>,
    findings: Arc<Vec<Finding>>,
    whole: Whole,
}

const COLUMNS: &[ListColumn] = &[
    ListColumn::new(
        "share",
        "cost %",
        CellKind::Share,
        "What a change may save at most, as a share of the work. Waiting and collections are beside the work, and may be more.",
    ),
    ListColumn::new("cost_ns", "cost", CellKind::Time, "The same as a time."),
    ListColumn::new(
        "sure",
        "sure",
        CellKind::Text,
        "How far the trace proves it: counted, likely, to check.",
    ),
    ListColumn::new("finding", "finding", CellKind::Name, "What costs time."),
];

impl Source for FindingRows {
    fn columns(&self) -> &'static [ListColumn] {
        COLUMNS
    }

    fn rows(&self) -> usize {
        self.findings.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let finding = &self.findings[row];
        match column {
            0 | 1 => integer(self.analysis.ns(finding.cost_ticks)),
            2 => Cell::Text(finding.certainty.name()),
            _ => Cell::Text(&finding.title),
        }
    }

    fn key(&self, row: usize) -> u64 {
        key_of(&self.findings[row].title)
    }

    /// What is not known to be a fault of the program comes later, and what is none last.
    fn group(&self, row: usize) -> u8 {
        self.findings[row].rank()
    }

    /// Costs are of the times as recorded.
    fn whole(&self) -> u64 {
        self.analysis.ns(self.whole.work_ticks)
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        self.findings[row].predicates.first().copied()
    }
}
