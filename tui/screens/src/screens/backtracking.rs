//! Screen 4: who fails into whom, who leaves choicepoints, who cuts them, who raises exceptions.
//! Four tables, one at a time.
//! What only the events tell is found by threads.
//! Times are as recorded: no others are known of these.

mod exceptions;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use portmortem_analyzer::figures::{BacktrackFigures, Caller};
use portmortem_analyzer::listing::{self, Thrown};
use portmortem_analyzer::tables::{
    self, BacktrackRow, Cell, ChoicepointRow, CutRow, Row, SiteNames,
};
use portmortem_analyzer::trace::PredicateIndex;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::analysis::AnalysisView;
use crate::keys::{Action, Binding, bind};
use crate::screen::parts::draw_parts;
use crate::screen::{
    Clickable, Effect, EventTarget, Exportable, Navigable, Pointing, Screen, Searchable, Spot,
    Tabular,
};
use crate::table::{CellKind, ListColumn, Source, TableView, key_of};
use crate::theme::Theme;
use crate::worker::{Received, Worker, poll_until, soon};
use exceptions::Exceptions;

/// The screen.
#[derive(Debug, Default)]
pub(super) struct BacktrackingScreen {
    tables: Vec<TableView>,
    shown: usize,
    /// The cursor is on what was resumed, not on what failed; on what cut, not on what was cut; on
    /// what caught, not on what raised.
    other_side: bool,
    analysis: Option<Arc<AnalysisView>>,
    /// The exceptions, while a thread looks for them, or before one does.
    thrown: Sought<Vec<Thrown>>,
    /// A failure of a pair, to be gone to.
    failure: Option<Worker<Option<(u32, u64)>>>,
}

/// What a thread looks for.
#[derive(Debug, Default)]
enum Sought<T> {
    #[default]
    NotYet,
    By(Worker<T>),
    Over,
}

/// Which table is that of exceptions.
const THROWN: usize = 3;

/// Name of each table, what its rows are, the file that it is exported to, the column it is sorted by.
const TABLES: [(&str, &str, &str, &str); 4] = [
    ("who fails into whom", "pair", "backtracks", "undone_ns"),
    ("choicepoints", "predicate", "choicepoints", "left"),
    ("cut by whom", "pair", "cuts", "count"),
    ("exceptions", "kind", "exceptions", "ns"),
];

const KEYS: &[Binding] = &[
    bind(
        &["t"],
        Action::NextTable,
        "next table",
        "who fails into whom; choicepoints; cuts; exceptions",
    ),
    bind(
        &["i"],
        Action::Invert,
        "other side",
        "the other predicate of a pair: keys are about it then",
    ),
    bind(
        &["enter"],
        Action::Enter,
        "",
        "go into the predicate on the side of the cursor",
    ),
];

impl BacktrackingScreen {
    /// What both sides of a row are, if it has two.
    fn sides(&self) -> Option<[&'static str; 2]> {
        match self.shown {
            0 => Some(["failed", "resumed"]),
            2 => Some(["cut", "cutter"]),
            THROWN => Some(["raised", "caught"]),
            _ => None,
        }
    }

    /// Looks for the exceptions, if they are shown and that was not done.
    fn look_for_thrown(&mut self) {
        let (Some(analysis), THROWN, Sought::NotYet) = (&self.analysis, self.shown, &self.thrown)
        else {
            return;
        };
        let of = Arc::clone(analysis);
        self.thrown = Sought::By(Worker::start(0, move |task| {
            let raised = of.profile.predicates.iter().any(|of| of.exceptions > 0);
            task.found(match raised {
                true => listing::thrown(&of.trace, of.trail(), of.filters.window()),
                false => Vec::new(),
            });
        }));
        self.take_thrown(Some(soon()));
    }

    /// Takes the exceptions; waits for them until some moment, or as long as it takes.
    fn take_thrown(&mut self, until: Option<Instant>) -> Effect {
        let (Sought::By(worker), Some(analysis)) = (&self.thrown, &self.analysis) else {
            return Effect::Unused;
        };
        let found = match worker.next(until) {
            Received::NotYet => return Effect::Unused,
            Received::Value(found) => found,
            Received::Ended => Vec::new(),
        };
        if let Some(table) = self.tables.get_mut(THROWN) {
            table.follow(Box::new(Exceptions::new(analysis, found)));
        }
        self.thrown = Sought::Over;
        Effect::Done
    }

    /// Looks for a failure of the pair that the cursor is on.
    fn look_for_failure(&mut self) -> Effect {
        let (Some(analysis), Some(table)) = (&self.analysis, self.table()) else {
            return Effect::Unused;
        };
        let pair = table
            .row()
            .map(|row| (table.predicate(), table.source().other(row)));
        let Some((Some(failed), Some(resumed))) = pair else {
            return Effect::Unused;
        };
        let of = Arc::clone(analysis);
        self.failure = Some(Worker::start(0, move |task| {
            let window = of.filters.window();
            let (trace, trail) = (&of.trace, of.trail());
            task.found(listing::failure_into(trace, trail, window, failed, resumed));
        }));
        match self.take_failure(Some(soon())) {
            Effect::Unused => Effect::Say("looking for a failure of this pair".to_owned()),
            effect => effect,
        }
    }

    /// Goes to the failure, if it is found.
    fn take_failure(&mut self, until: Option<Instant>) -> Effect {
        let Some(received) = self.failure.as_ref().map(|worker| worker.next(until)) else {
            return Effect::Unused;
        };
        let found = match received {
            Received::NotYet => return Effect::Unused,
            Received::Value(found) => found,
            Received::Ended => None,
        };
        self.failure = None;
        match found.and_then(|(stream, number)| self.event_at(stream, number)) {
            Some(target) => Effect::Event(target),
            None => Effect::Say("no event of this pair is known".to_owned()),
        }
    }

    fn event_at(&self, stream: u32, number: u64) -> Option<EventTarget> {
        let mut streams = self.analysis.as_ref()?.trace.streams().iter();
        let stream = streams.position(|info| info.id == stream)?;
        Some(EventTarget::At { stream, number })
    }

    /// The predicate on the side of the cursor.
    fn on_side(&self) -> Option<PredicateIndex> {
        let table = self.table()?;
        match self.sides().filter(|_| self.other_side) {
            Some(_) => table.source().other(table.row()?),
            None => table.predicate(),
        }
    }
}

impl Screen for BacktrackingScreen {
    fn bindings(&self) -> &'static [Binding] {
        KEYS
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        self.analysis = Some(Arc::clone(analysis));
        (self.thrown, self.failure) = (Sought::NotYet, None);
        let sources: [Box<dyn Source>; 4] = [
            Box::new(Backtracks::new(analysis)),
            Box::new(Choicepoints::new(analysis)),
            Box::new(Cuts::new(analysis)),
            Box::new(Exceptions::new(analysis, Vec::new())),
        ];
        let sorted = TABLES.map(|(_, _, _, sorted)| sorted);
        if self.tables.is_empty() {
            let made = sources.into_iter().zip(sorted);
            self.tables = made
                .map(|(source, by)| TableView::new(source, Some(by)))
                .collect();
        } else {
            for (table, source) in self.tables.iter_mut().zip(sources) {
                table.follow(source);
            }
        }
        self.look_for_thrown();
    }

    fn poll(&mut self, wait: bool) -> Effect {
        let until = poll_until(wait);
        match self.take_thrown(until) {
            Effect::Unused => self.take_failure(until),
            effect => effect,
        }
    }

    fn is_ready(&self) -> bool {
        self.failure.is_none() && !matches!(self.thrown, Sought::By(_))
    }

    fn act(&mut self, action: Action) -> Effect {
        match action {
            Action::NextTable if !self.tables.is_empty() => {
                self.shown = (self.shown + 1) % self.tables.len();
                self.look_for_thrown();
                Effect::Done
            }
            Action::Exceptions if !self.tables.is_empty() => {
                self.shown = THROWN;
                self.look_for_thrown();
                Effect::Done
            }
            Action::SlowestCall if self.shown == 0 => self.look_for_failure(),
            Action::Back if self.failure.take().is_some() => {
                Effect::Say("not looked for any further".to_owned())
            }
            Action::Invert if self.sides().is_some() => {
                self.other_side = !self.other_side;
                Effect::Done
            }
            Action::Invert => Effect::Say("there are no pairs here".to_owned()),
            Action::Enter => self.predicate().map_or(Effect::Done, Effect::Open),
            _ => Effect::Unused,
        }
    }

    fn status(&self) -> String {
        let what = TABLES[self.shown].1;
        let Some(table) = self.table() else {
            return String::new();
        };
        let side = self
            .sides()
            .map(|sides| sides[usize::from(self.other_side)]);
        let side = side.map_or_else(String::new, |side| format!(", cursor on {side}"));
        table.how_many(what) + &side
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let names = TABLES.iter().map(|(name, ..)| *name);
        let below = draw_parts(names, self.shown, area, buf, theme);
        if let Some(table) = self.table_mut() {
            table.draw(below, buf, theme);
        }
    }
}

impl Tabular for BacktrackingScreen {
    fn table(&self) -> Option<&TableView> {
        self.tables.get(self.shown)
    }

    fn table_mut(&mut self) -> Option<&mut TableView> {
        self.tables.get_mut(self.shown)
    }
}

impl Searchable for BacktrackingScreen {}

impl Pointing for BacktrackingScreen {
    fn predicate(&self) -> Option<PredicateIndex> {
        self.on_side()
    }

    /// Of exceptions the costliest of a kind.
    fn event_of_box(&self) -> Option<EventTarget> {
        let table = self.table().filter(|_| self.shown == THROWN)?;
        let (stream, number) = exceptions::costliest(table)?;
        self.event_at(stream, number)
    }
}

impl Navigable for BacktrackingScreen {
    fn spot(&self) -> Spot {
        Spot {
            part: self.shown,
            ..self.spot_of_list().with(self.other_side)
        }
    }

    fn recall(&mut self, spot: &Spot) {
        self.shown = spot.part;
        self.look_for_thrown();
        if let Some(other) = spot.own() {
            self.other_side = *other;
        }
        self.recall_list(spot);
    }
}

impl Exportable for BacktrackingScreen {
    fn file_name(&self) -> &'static str {
        TABLES[self.shown].2
    }
}

impl Clickable for BacktrackingScreen {}

/// Pairs of what failed and what was re-entered.
#[derive(Debug)]
struct Backtracks {
    analysis: Arc<AnalysisView>,
    pairs: Vec<((Caller, PredicateIndex), BacktrackFigures)>,
    /// By predicate: where it fails most often, and the clause and goal.
    places: BTreeMap<PredicateIndex, (String, String)>,
}

const fn of_backtracks(name: &'static str) -> ListColumn {
    ListColumn::of(tables::Table::Backtracks, name)
}

/// From this width on there is more to see of a row.
const WIDE: u16 = 160;

const BACKTRACKS: &[ListColumn] = &[
    of_backtracks("undone_ns").shown_as(
        "share",
        "of undone",
        CellKind::Share,
        "Undone time, of all that was undone.",
    ),
    of_backtracks("undone_ns"),
    of_backtracks("collected_ns").rank(3).unless_zero(),
    of_backtracks("count").rank(1),
    ListColumn::new(
        "line",
        "fails at",
        CellKind::Text,
        "The goal that calls what failed: the one of which most calls failed.",
    )
    .unless_zero(),
    ListColumn::new(
        "clause",
        "clause",
        CellKind::Text,
        "Clause and goal there: #2.4 is goal 4 of clause 2.",
    )
    .rank(2)
    .unless_zero()
    .from_width(WIDE),
    of_backtracks("failed")
        .shown_as(
            "predicate",
            "failed",
            CellKind::Text,
            "What failed; the same as failed.",
        )
        .hidden(),
    of_backtracks("failed").name(),
    of_backtracks("resumed").name(),
];

impl Backtracks {
    fn new(analysis: &Arc<AnalysisView>) -> Self {
        let pairs = analysis.profile.backtracks.iter();
        Self {
            pairs: pairs.map(|(&pair, &figures)| (pair, figures)).collect(),
            places: failing_places(analysis),
            analysis: Arc::clone(analysis),
        }
    }
}

/// By predicate, file and line of the goal of which most calls failed, and which goal it is.
fn failing_places(analysis: &AnalysisView) -> BTreeMap<PredicateIndex, (String, String)> {
    let mut most = BTreeMap::<PredicateIndex, (u64, u32)>::new();
    for goal in analysis.tables().site_list() {
        if let Some(site) = goal.site.filter(|_| goal.figures.fails > 0) {
            let known = most.entry(goal.callee).or_default();
            if known.0 < goal.figures.fails {
                *known = (goal.figures.fails, site);
            }
        }
    }
    let names = SiteNames::of(&analysis.trace);
    let names: Vec<&str> = names.names().map(|(place, _)| place).collect();
    let place = |site: u32| {
        let goal = analysis.trace.sites().get(site as usize)?;
        let clause = format!("#{}.{}", goal.clause, goal.goal);
        let place = names.get(site as usize)?;
        Some(((*place).to_owned(), clause))
    };
    let most = most.into_iter();
    most.filter_map(|(predicate, (_, site))| Some((predicate, place(site)?)))
        .collect()
}

impl Source for Backtracks {
    fn columns(&self) -> &'static [ListColumn] {
        BACKTRACKS
    }

    fn rows(&self) -> usize {
        self.pairs.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let (pair, figures) = self.pairs[row];
        let name = BACKTRACKS[column].name;
        if matches!(name, "line" | "clause") {
            let failed = pair.0.predicate();
            let place = failed.and_then(|failed| self.places.get(&failed));
            return place.map_or(Cell::Missing, |(place, clause)| {
                Cell::Text(if name == "line" { place } else { clause })
            });
        }
        let of = self.analysis.tables().backtrack(pair, figures);
        BACKTRACKS[column].cell(false, |at| BacktrackRow::cell(&of, at))
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.pairs[row].0)
    }

    fn whole(&self) -> u64 {
        let undone = self.pairs.iter().map(|(_, figures)| figures.undone_ticks);
        self.analysis.ns(undone.fold(0, u64::saturating_add))
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        match self.pairs[row].0 {
            (Caller::Predicate(failed), _) => Some(failed),
            (Caller::Root, resumed) => Some(resumed),
        }
    }

    fn other(&self, row: usize) -> Option<PredicateIndex> {
        Some(self.pairs[row].0.1)
    }
}

/// Predicates that left choicepoints.
#[derive(Debug)]
struct Choicepoints {
    analysis: Arc<AnalysisView>,
    predicates: Vec<PredicateIndex>,
    /// Where each is from.
    places: Vec<String>,
}

const fn of_choicepoints(name: &'static str) -> ListColumn {
    ListColumn::of(tables::Table::Choicepoints, name)
}

const CHOICEPOINTS: &[ListColumn] = &[
    of_choicepoints("left").shown_as(
        "left",
        "boxes left",
        CellKind::Count,
        "Boxes that exited and left a choicepoint; all boxes of a chain of last calls share one.",
    ),
    of_choicepoints("redone"),
    of_choicepoints("cut"),
    of_choicepoints("pending"),
    of_choicepoints("never_used"),
    of_choicepoints("lifetime_ns"),
    of_choicepoints("max_height"),
    ListColumn::new(
        "line",
        "line",
        CellKind::Text,
        "File and line of the first clause.",
    )
    .rank(2)
    .unless_zero()
    .from_width(WIDE),
    of_choicepoints("predicate").name(),
];

impl Choicepoints {
    fn new(analysis: &Arc<AnalysisView>) -> Self {
        let figures = (0..).zip(&analysis.profile.predicates);
        let left = figures.filter(|(_, figures)| figures.exits_nondet > 0);
        let predicates: Vec<PredicateIndex> = left.map(|(index, _)| index).collect();
        let places = predicates.iter().map(|index| analysis.first_line(*index));
        Self {
            places: places.collect(),
            predicates,
            analysis: Arc::clone(analysis),
        }
    }
}

impl Source for Choicepoints {
    fn columns(&self) -> &'static [ListColumn] {
        CHOICEPOINTS
    }

    fn rows(&self) -> usize {
        self.predicates.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        if CHOICEPOINTS[column].name == "line" {
            let place = &self.places[row];
            return match place.is_empty() {
                true => Cell::Missing,
                false => Cell::Text(place),
            };
        }
        let of = self.analysis.tables().predicate(self.predicates[row]);
        CHOICEPOINTS[column].cell(false, |at| ChoicepointRow::cell(&of, at))
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.predicates[row])
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        Some(self.predicates[row])
    }
}

/// Pairs of what cut and what lost its choicepoints.
#[derive(Debug)]
struct Cuts {
    analysis: Arc<AnalysisView>,
    pairs: Vec<((Caller, PredicateIndex), u64)>,
}

const fn of_cuts(name: &'static str) -> ListColumn {
    ListColumn::of(tables::Table::Cuts, name)
}

const CUTS: &[ListColumn] = &[
    of_cuts("count"),
    of_cuts("cutter").name(),
    of_cuts("predicate").name(),
];

impl Cuts {
    fn new(analysis: &Arc<AnalysisView>) -> Self {
        let pairs = analysis.profile.cuts.iter();
        Self {
            pairs: pairs.map(|(&pair, &count)| (pair, count)).collect(),
            analysis: Arc::clone(analysis),
        }
    }
}

impl Source for Cuts {
    fn columns(&self) -> &'static [ListColumn] {
        CUTS
    }

    fn rows(&self) -> usize {
        self.pairs.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let (pair, count) = self.pairs[row];
        let of = self.analysis.tables().cut(pair, count);
        CUTS[column].cell(false, |at| CutRow::cell(&of, at))
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.pairs[row].0)
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        let ((_, of), _) = self.pairs[row];
        Some(of)
    }

    fn other(&self, row: usize) -> Option<PredicateIndex> {
        match self.pairs[row].0.0 {
            Caller::Predicate(cutter) => Some(cutter),
            Caller::Root => None,
        }
    }
}
