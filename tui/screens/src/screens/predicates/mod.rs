//! Screen 1: what happened, then all predicates, all goals, or the slowest calls, a row each.

mod goals;
mod slow;
mod summary;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use portmortem_analyzer::tables::{self, Cell, PredicateRow, Row};
use portmortem_analyzer::trace::PredicateIndex;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::analysis::AnalysisView;
use crate::format::shorten;
use crate::keys::{Action, Binding, bind};
use crate::screen::calls::calls_lost;
use crate::screen::parts::draw_parts;
use crate::screen::{
    Clickable, Effect, EventTarget, Exportable, Navigable, Place, Pointing, Screen, Searchable,
    Spot, Tabular,
};
use crate::table::{CellKind, ListColumn, Source, TableView, key_of};
use crate::theme::Theme;
use crate::wanted_calls::{CallsAnswer, WantedCalls};
use goals::GoalRows;
use slow::SlowCalls;
use summary::Summary;

/// The screen.
#[derive(Debug, Default)]
pub(super) struct PredicatesScreen {
    analysis: Option<Arc<AnalysisView>>,
    summary: Summary,
    table: Option<TableView>,
    /// The goals of clauses, once they were shown.
    goals: Option<TableView>,
    /// The slowest calls, once they were shown.
    slow: Option<TableView>,
    shown: PredicatesPart,
    cumulative: bool,
    /// Times of single calls, for columns that need them.
    calls: WantedCalls,
}

/// What is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum PredicatesPart {
    #[default]
    Predicates,
    Goals,
    Slow,
}

const NEXT_PART: Binding = bind(
    &["t"],
    Action::NextTable,
    "next list",
    "predicates; goals of their clauses; the slowest calls",
);

const KEYS: &[Binding] = &[
    NEXT_PART,
    bind(
        &["c"],
        Action::Cumulative,
        "cumulative",
        "by self time, or by inclusive time",
    ),
];

const GOAL_KEYS: &[Binding] = &[
    NEXT_PART,
    bind(
        &["enter"],
        Action::Enter,
        "its line",
        "go to the line of the goal",
    ),
];

const SLOW_KEYS: &[Binding] = &[
    NEXT_PART,
    bind(
        &["enter"],
        Action::Enter,
        "its event",
        "show the call among the events",
    ),
];

/// Each with its name, what its rows are, and the file that it is exported to.
const PARTS: [(PredicatesPart, &str, &str, &str); 3] = [
    (
        PredicatesPart::Predicates,
        "predicates",
        "predicate",
        "predicates",
    ),
    (PredicatesPart::Goals, "goals", "goal", "goals"),
    (PredicatesPart::Slow, "slow calls", "call", "slow-calls"),
];

impl PredicatesScreen {
    /// Lists what is shown, if that was not done.
    fn list_shown(&mut self) {
        let Some(analysis) = &self.analysis else {
            return;
        };
        match self.shown {
            PredicatesPart::Goals if self.goals.is_none() => self.list_goals(),
            PredicatesPart::Slow if self.slow.is_none() => {
                let rows = Box::new(SlowCalls::new(analysis));
                self.slow = Some(TableView::new(rows, Some("ns")));
            }
            _ => {}
        }
    }

    /// Lists the goals, if they are shown.
    fn list_goals(&mut self) {
        if let Some(analysis) = self
            .analysis
            .as_ref()
            .filter(|_| self.shown == PredicatesPart::Goals)
        {
            TableView::fill(
                &mut self.goals,
                Box::new(GoalRows::new(analysis)),
                "served_ns",
            );
        }
    }

    /// The slow calls, as far as they are known now.
    fn list_slow(&mut self) {
        if let (Some(table), Some(analysis)) = (&mut self.slow, &self.analysis) {
            table.follow(Box::new(SlowCalls::new(analysis)));
        }
    }

    /// The call that the cursor is on, if calls are shown.
    fn slow_call(&self) -> Option<EventTarget> {
        let table = self
            .slow
            .as_ref()
            .filter(|_| self.shown == PredicatesPart::Slow)?;
        slow::event(table, self.analysis.as_ref()?)
    }

    /// Where the goal is that the cursor is on.
    fn place_here(&self) -> Option<Place> {
        let (table, analysis) = (self.goals.as_ref()?, self.analysis.as_ref()?);
        goals::place(table, analysis)
    }
}

impl Screen for PredicatesScreen {
    fn bindings(&self) -> &'static [Binding] {
        match self.shown {
            PredicatesPart::Predicates => KEYS,
            PredicatesPart::Goals => GOAL_KEYS,
            PredicatesPart::Slow => SLOW_KEYS,
        }
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        self.summary = Summary::of(analysis);
        TableView::fill(
            &mut self.table,
            Box::new(PredicateRows::new(analysis)),
            "self_ns",
        );
        self.analysis = Some(Arc::clone(analysis));
        self.calls = WantedCalls::default();
        self.goals = self
            .goals
            .take()
            .filter(|_| self.shown == PredicatesPart::Goals);
        self.list_goals();
        self.list_slow();
    }

    fn poll(&mut self, wait: bool) -> Effect {
        let (Some(table), Some(analysis)) = (&mut self.table, &self.analysis) else {
            return Effect::Unused;
        };
        let is_wanted = match (self.shown, analysis.events() <= MOST_UNASKED) {
            (PredicatesPart::Slow, _) => true,
            (_, true) => table.shows_calls(),
            (_, false) => table.asks_for_calls(),
        };
        if !is_wanted {
            return Effect::Unused;
        }
        match self.calls.ask(analysis, wait) {
            CallsAnswer::Nothing => Effect::Unused,
            CallsAnswer::Begun => Effect::Done,
            CallsAnswer::Lost => calls_lost(),
            CallsAnswer::Found => {
                table.follow(Box::new(PredicateRows::new(analysis)));
                self.list_slow();
                Effect::Done
            }
        }
    }

    fn is_ready(&self) -> bool {
        let depends = self.table.as_ref().is_some_and(TableView::depends_on_calls);
        self.calls.is_over() || !(depends || self.shown == PredicatesPart::Slow)
    }

    fn progress(&self) -> Option<f64> {
        let analysis = self.analysis.as_ref()?;
        let wants = self.shown == PredicatesPart::Slow || self.table.as_ref()?.shows_calls();
        analysis.calls_share().filter(|_| wants)
    }

    fn act(&mut self, action: Action) -> Effect {
        match action {
            Action::NextTable => {
                let at = PARTS.iter().position(|(part, ..)| *part == self.shown);
                self.shown = PARTS[at.map_or(0, |at| at + 1) % PARTS.len()].0;
                self.list_shown();
                return Effect::Done;
            }
            Action::Enter if self.shown == PredicatesPart::Goals => {
                return self.place_here().map_or(Effect::Done, Effect::Place);
            }
            Action::Enter if self.shown == PredicatesPart::Slow => {
                return self.slow_call().map_or(Effect::Done, Effect::Event);
            }
            _ if self.shown != PredicatesPart::Predicates => return Effect::Unused,
            _ => {}
        }
        let Some(table) = &mut self.table else {
            return Effect::Unused;
        };
        match action {
            Action::Enter => table.predicate().map_or(Effect::Done, Effect::Open),
            Action::Cumulative => {
                self.cumulative = !self.cumulative;
                let (now, before) = if self.cumulative {
                    (INCLUSIVE_SHARE, SELF_SHARE)
                } else {
                    (SELF_SHARE, INCLUSIVE_SHARE)
                };
                table.show(before, false);
                table.show(now, true);
                table.sort_by_name(if self.cumulative {
                    "inclusive_ns"
                } else {
                    "self_ns"
                });
                Effect::Done
            }
            _ => Effect::Unused,
        }
    }

    fn status(&self) -> String {
        let one = PARTS[self.shown as usize].2;
        if self.shown != PredicatesPart::Predicates {
            let table = self.table();
            return table.map_or_else(String::new, |table| table.how_many(one));
        }
        let what = if self.cumulative {
            "cumulative"
        } else {
            "plain"
        };
        self.table.as_ref().map_or_else(String::new, |table| {
            format!("{}, {what}", table.how_many(one))
        })
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let below = self.summary.draw(area, buf, theme);
        let names = PARTS.iter().map(|(_, name, ..)| *name);
        let below = draw_parts(names, self.shown as usize, below, buf, theme);
        if self.shown == PredicatesPart::Slow && !self.calls.is_over() {
            let text =
                "looking for the slowest calls: the index does not have them, all events are read";
            let room = usize::from(below.width.saturating_sub(2));
            buf.set_stringn(below.x + 2, below.y, shorten(text, room), room, theme.faint);
            return;
        }
        if let Some(table) = self.table_mut() {
            table.draw(below, buf, theme);
        }
    }
}

impl Tabular for PredicatesScreen {
    fn table(&self) -> Option<&TableView> {
        match self.shown {
            PredicatesPart::Predicates => self.table.as_ref(),
            PredicatesPart::Goals => self.goals.as_ref(),
            PredicatesPart::Slow => self.slow.as_ref(),
        }
    }

    fn table_mut(&mut self) -> Option<&mut TableView> {
        match self.shown {
            PredicatesPart::Predicates => self.table.as_mut(),
            PredicatesPart::Goals => self.goals.as_mut(),
            PredicatesPart::Slow => self.slow.as_mut(),
        }
    }
}

impl Searchable for PredicatesScreen {}

impl Pointing for PredicatesScreen {
    fn event(&self) -> Option<EventTarget> {
        self.slow_call()
    }
}

impl Navigable for PredicatesScreen {
    fn spot(&self) -> Spot {
        Spot {
            part: self.shown as usize,
            ..self.spot_of_list()
        }
    }

    fn recall(&mut self, spot: &Spot) {
        self.shown = PARTS
            .get(spot.part)
            .map_or(PredicatesPart::Predicates, |(part, ..)| *part);
        self.list_shown();
        self.recall_list(spot);
    }

    /// Where a predicate is to be gone to, it is among the predicates.
    fn select(&mut self, predicate: PredicateIndex) -> Effect {
        let before = std::mem::replace(&mut self.shown, PredicatesPart::Predicates);
        if let Some(table) = &mut self.table {
            table.select_predicate(predicate);
        }
        match before {
            PredicatesPart::Predicates => Effect::Done,
            PredicatesPart::Goals | PredicatesPart::Slow => Effect::Step,
        }
    }
}

impl Exportable for PredicatesScreen {
    fn file_name(&self) -> &'static str {
        PARTS[self.shown as usize].3
    }
}

impl Clickable for PredicatesScreen {}

/// Predicates that were called.
#[derive(Debug)]
struct PredicateRows {
    analysis: Arc<AnalysisView>,
    used: Vec<PredicateIndex>,
    /// Where each is from; empty if that is not known.
    places: Vec<String>,
}

/// From these widths on there is more to see of each.
const WIDE: u16 = 120;
const WIDEST: u16 = 140;

/// The events of a longer trace are not read again unless the user asks for a column that needs it.
const MOST_UNASKED: u64 = 20_000_000;

const SELF_SHARE: usize = 0;
const INCLUSIVE_SHARE: usize = 1;

const fn of(name: &'static str) -> ListColumn {
    ListColumn::of(tables::Table::Predicates, name)
}

const CHOSEN: &[ListColumn] = &[
    of("self_ns").shown_as(
        "self_share",
        "self %",
        CellKind::Share,
        "Self time, of all work; with w of all time.",
    ),
    of("inclusive_ns")
        .shown_as(
            "inclusive_share",
            "incl %",
            CellKind::Share,
            "Work in its boxes, of all work; with w inclusive time, of all time.",
        )
        .hidden(),
    of("self_ns"),
    of("inclusive_ns").rank(1),
    of("calls").rank(1),
    of("exits").rank(4),
    of("redos").rank(3).unless_zero(),
    of("fails").rank(2),
    of("determinism").rank(2),
    of("exceptions").rank(4).unless_zero(),
    of("undone_ns").rank(5).unless_zero(),
    of("failed_ns").rank(6).unless_zero(),
    of("cuts").rank(7).unless_zero(),
    of("pending").rank(7).unless_zero(),
    of("open").rank(7).unless_zero(),
    of("mean_ns").rank(5).from_width(WIDEST),
    of("max_ns").rank(5).from_width(WIDEST),
    of("tail_calls").rank(8).unless_zero(),
    of("exits_det").rank(9).unless_zero(),
    of("exits_nondet").rank(9).unless_zero(),
    of("events").rank(10),
    ListColumn::new(
        "place",
        "line",
        CellKind::Text,
        "File and line of the first clause.",
    )
    .rank(6)
    .unless_zero()
    .from_width(WIDE),
    of("predicate").name(),
];

static COLUMNS: LazyLock<Vec<ListColumn>> =
    LazyLock::new(|| ListColumn::and_others(tables::Table::Predicates, CHOSEN));

impl PredicateRows {
    fn new(analysis: &Arc<AnalysisView>) -> Self {
        let predicates = &analysis.profile.predicates;
        let used = (0..predicates.len() as PredicateIndex)
            .filter(|&index| predicates[index as usize].is_used());
        let used: Vec<PredicateIndex> = used.collect();
        let place = |index: &PredicateIndex| analysis.first_line(*index);
        Self {
            places: used.iter().map(place).collect(),
            used,
            analysis: Arc::clone(analysis),
        }
    }
}

impl Source for PredicateRows {
    fn columns(&self) -> &'static [ListColumn] {
        &COLUMNS
    }

    fn rows(&self) -> usize {
        self.used.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        if column == INCLUSIVE_SHARE {
            return Cell::Integer(self.analysis.inside_predicate(self.used[row]) as i64);
        }
        let column = &COLUMNS[column];
        if column.name == "place" {
            let place = &self.places[row];
            return match place.is_empty() {
                true => Cell::Missing,
                false => Cell::Text(place),
            };
        }
        let of = self.analysis.tables().predicate(self.used[row]);
        // Times of single calls are known as they were recorded, and never otherwise.
        let is_net = self.is_net() && !column.is_of_calls();
        column.cell(is_net, |at| PredicateRow::cell(&of, at))
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.used[row])
    }

    fn is_left_out(&self, row: usize) -> bool {
        self.analysis.leaves_out(self.used[row])
    }

    fn whole(&self) -> u64 {
        self.analysis.total_ns()
    }

    fn is_net(&self) -> bool {
        self.analysis.is_net()
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        Some(self.used[row])
    }

    fn short_name(&self, row: usize) -> Option<Cow<'_, str>> {
        self.analysis.module()?;
        Some(self.analysis.short_name(self.used[row]))
    }

    fn about_names(&self) -> Option<String> {
        self.analysis.module().map(|module| format!("of {module}"))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use portmortem_analyzer::Filters;
    use portmortem_analyzer::trace::Trace;

    use super::*;

    fn screen() -> PredicatesScreen {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/scan.pmt");
        let trace = Arc::new(Trace::open(&path).unwrap());
        let mut screen = PredicatesScreen::default();
        screen.follow(&Arc::new(AnalysisView::part(
            trace,
            &path,
            Filters::default(),
        )));
        screen
    }

    fn known(screen: &PredicatesScreen) -> bool {
        let analysis = screen.analysis.as_ref().unwrap();
        analysis.known_calls().is_some()
    }

    /// Drawing never reads the events; keys wait for them only where rows depend on them.
    #[test]
    fn events_are_read_again_only_where_that_is_asked_for() {
        let mut screen = screen();
        let area = Rect::new(0, 0, 200, 60);
        let mut buffer = Buffer::empty(area);
        assert_eq!(screen.poll(true), Effect::Unused);
        screen.set_filter("lookup");
        let table = screen.table.as_mut().unwrap();
        table.set_filter("");
        let columns = table.source().columns();
        let max = columns.iter().position(|column| column.name == "max_ns");
        table.show(max.unwrap(), true);
        screen.draw(area, &mut buffer, &Theme::plain());
        assert!(screen.is_ready() && !known(&screen));
        screen.set_filter("max > 1us");
        screen.draw(area, &mut buffer, &Theme::plain());
        assert!(!screen.is_ready() && !known(&screen));
        assert_eq!(screen.table().map(TableView::rows), Some(0));
        assert_eq!(screen.poll(true), Effect::Done);
        assert!(screen.is_ready() && known(&screen));
        assert!(screen.table().map(TableView::rows) > Some(0));
        assert_eq!(screen.poll(true), Effect::Unused);
    }

    /// Which columns need the events, the analyser says.
    #[test]
    fn columns_of_calls_are_missing_until_they_are_known() {
        let mut screen = screen();
        let missing = |screen: &PredicatesScreen| -> Vec<&str> {
            let source = screen.table().unwrap().source();
            let columns = source.columns().iter().enumerate();
            let missing = columns.filter(|(at, _)| {
                (0..source.rows()).all(|row| source.cell(row, *at) == Cell::Missing)
            });
            missing.map(|(_, column)| column.name).collect()
        };
        let before = missing(&screen);
        for column in tables::OF_CALLS {
            assert!(before.contains(&column), "{before:?}");
        }
        screen.set_filter("max > 1us");
        screen.poll(true);
        let after = missing(&screen);
        // The sample has no tables.
        let mut found = before.clone();
        found.retain(|column| !after.contains(column));
        assert_eq!(found, ["mean_ns", "max_ns", "growth"]);
    }
}
