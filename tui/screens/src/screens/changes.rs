//! Screen 0: what changed since another recording: predicates or goals, both sides beside each other.
//!
//! Both recordings are compared as a whole, by a thread, when the screen is shown for the first time.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use portmortem_analyzer::comparison::{
    ComparedGoal, Comparison, Figure, Measured, Recorded, RowChange,
};
use portmortem_analyzer::tables::Cell;
use portmortem_analyzer::trace::{PredicateIndex, Trace, TraceError};
use portmortem_analyzer::{Analysis, Filters};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rustc_hash::FxHashMap;

use crate::analysis::AnalysisView;
use crate::format::{count, fitting, time};
use crate::keys::{Action, Binding, bind};
use crate::screen::parts::draw_parts;
use crate::screen::{
    Clickable, Effect, Exportable, Navigable, Pointing, Screen, Searchable, Spot, Tabular,
};
use crate::table::integer;
use crate::table::{CellKind, ListColumn, Source, TableView, key_of};
use crate::theme::Theme;
use crate::worker::{Received, Worker, poll_until, soon};

/// The screen.
#[derive(Debug, Default)]
pub(super) struct ChangesScreen {
    analysis: Option<Arc<AnalysisView>>,
    /// Predicates, then goals.
    tables: Vec<TableView>,
    shown: usize,
    /// The comparison while a thread makes it.
    made: Option<Worker<Result<(Comparison, Totals), TraceError>>>,
    /// The sums of both sides, in words.
    totals: Vec<String>,
    /// Why there is none.
    problem: Option<String>,
}

const PARTS: [&str; 2] = ["predicates", "goals"];

const KEYS: &[Binding] = &[
    bind(
        &["enter"],
        Action::Enter,
        "go there",
        "go into the predicate; of a goal, into what it calls",
    ),
    bind(
        &["t"],
        Action::NextTable,
        "next part",
        "predicates that changed; goals that changed",
    ),
];

/// The sums of the recordings of both sides, those before first.
#[derive(Debug, Clone, Default)]
struct Totals {
    work_ns: [Vec<u64>; 2],
    calls: [Vec<u64>; 2],
    events: [Vec<u64>; 2],
}

impl Totals {
    /// With a recording of a side.
    fn add(&mut self, side: usize, of: &Analysis) {
        let figures = of.profile.predicates.iter();
        let calls = figures.fold(0_u64, |sum, figures| sum.saturating_add(figures.calls));
        self.work_ns[side].push(of.ns(of.work(None).ticks));
        self.calls[side].push(calls);
        self.events[side].push(of.events());
    }

    /// In words, the most important first.
    fn texts(&self) -> Vec<String> {
        let of_side = |side: &Vec<u64>| Measured::of(side.clone());
        let [before, after] = self.work_ns.each_ref().map(of_side);
        let runs = self.work_ns.each_ref().map(Vec::len);
        let change = change(before.median, after.median);
        let verdict = match before.median.cmp(&after.median) {
            Ordering::Equal => "the same".to_owned(),
            _ if !after.is_apart_from(before) => format!("{change} within the noise"),
            Ordering::Greater => format!("{change} better"),
            Ordering::Less => format!("{change} worse"),
        };
        let counts = |what: &str, sides: &[Vec<u64>; 2]| {
            let [before, after] = sides.each_ref().map(|side| count(of_side(side).median));
            format!(" · {what} {before} → {after}")
        };
        let (before, after, noise) = (
            time(before.median),
            time(after.median),
            time(before.noise().max(after.noise())),
        );
        let mut parts = vec![
            format!("work {before} → {after} {verdict}"),
            counts("calls", &self.calls),
            counts("events", &self.events),
        ];
        match runs {
            [1, 1] => parts.push(" · noise unknown: one run each".to_owned()),
            [runs, others] => {
                parts.insert(1, format!(" · noise {noise} ({runs} and {others} runs)"));
            }
        }
        parts
    }
}

/// How much more or less that is, in percent: `−93 %`; by how many times where that says more.
fn change(before: u64, after: u64) -> String {
    let ratio = after as f64 / before.max(1) as f64;
    match ratio {
        ratio if ratio >= 2.0 => format!("×{ratio:.1}"),
        ratio if ratio >= 1.0 => format!("+{:.0} %", (ratio - 1.0) * 100.0),
        ratio => format!("−{:.0} %", (1.0 - ratio) * 100.0),
    }
}

/// Compares the recordings at `before` with what is shown and further recordings of it.
fn compare(
    before: &[PathBuf],
    beside: &[PathBuf],
    after: &Analysis,
) -> Result<(Comparison, Totals), TraceError> {
    let whole = |path: &Path| {
        let trace = Trace::open(path)?;
        Analysis::of(trace, path, Filters::default(), &AtomicU64::new(0))
    };
    let mut totals = Totals::default();
    let mut sides = [Vec::new(), Vec::new()];
    let mut add = |side: usize, of: &Analysis| {
        totals.add(side, of);
        sides[side].push(Recorded::of(of));
    };
    for path in before {
        add(0, &whole(path)?);
    }
    match after.filters.is_everything() {
        true => add(1, after),
        false => add(1, &whole(&after.path)?),
    }
    for path in beside {
        add(1, &whole(path)?);
    }
    let [before, after] = &sides;
    let comparison = Comparison::of(before, after);
    Ok((comparison, totals))
}

impl ChangesScreen {
    /// Takes the comparison; waits for it until some moment, or as long as it
    /// takes.
    fn take(&mut self, until: Option<Instant>) -> Effect {
        let (Some(made), Some(analysis)) = (&self.made, &self.analysis) else {
            return Effect::Unused;
        };
        let found = match made.next(until) {
            Received::NotYet => return Effect::Unused,
            Received::Ended => Err("comparing broke off: a defect of Portmortem".to_owned()),
            Received::Value(compared) => compared.map_err(|error| error.to_string()),
        };
        self.made = None;
        match found {
            Err(problem) => self.problem = Some(problem),
            Ok((comparison, totals)) => {
                self.totals = totals.texts();
                let predicates = (0..).map(|index| (analysis.predicate(index), index));
                let known = analysis.trace.predicates().len();
                let indices: FxHashMap<&str, PredicateIndex> = predicates.take(known).collect();
                let index = |name: &str| indices.get(name).copied();
                let rows = |changes: Vec<ChangeRow>| -> Box<dyn Source> {
                    let time = comparison.time;
                    Box::new(ChangeRows {
                        rows: changes,
                        time,
                    })
                };
                let time = comparison.time;
                let of_predicate = |change: &RowChange<String>| {
                    ChangeRow::of(change, change.key.clone(), index(&change.key))
                };
                let of_goal = |change: &RowChange<ComparedGoal>| {
                    let name = change.key.to_string();
                    ChangeRow::of(change, name, index(&change.key.callee))
                };
                let changed = comparison.predicates.iter();
                let changed = changed.filter(|of| !of.is_engine_work && of.is_change(time));
                let predicates = rows(changed.map(of_predicate).collect());
                let changed = comparison.goals.iter();
                let changed = changed.filter(|of| !of.is_engine_work && of.is_change(Figure::Time));
                let goals = rows(changed.map(of_goal).collect());
                // In the order of the comparison: what a predicate does differently itself comes first.
                let tables = [predicates, goals].into_iter();
                self.tables = tables.map(|rows| TableView::new(rows, None)).collect();
            }
        }
        Effect::Done
    }
}

impl Screen for ChangesScreen {
    fn bindings(&self) -> &'static [Binding] {
        if self.has_predicates() { KEYS } else { &[] }
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        let known = self.analysis.replace(Arc::clone(analysis));
        // Filters and net times change nothing about the recordings.
        if known.is_some_and(|known| Arc::ptr_eq(&known.trace, &analysis.trace)) {
            return;
        }
        if analysis.before.is_empty() {
            return;
        }
        let after = Arc::clone(analysis);
        self.made = Some(Worker::start(0, move |task| {
            task.found(compare(&after.before, &after.beside, &after));
        }));
        self.problem = None;
        self.take(Some(soon()));
    }

    fn poll(&mut self, wait: bool) -> Effect {
        self.take(poll_until(wait))
    }

    fn is_ready(&self) -> bool {
        self.made.is_none()
    }

    fn act(&mut self, action: Action) -> Effect {
        match action {
            Action::NextTable if !self.tables.is_empty() => {
                self.shown = (self.shown + 1) % self.tables.len();
                Effect::Done
            }
            Action::Enter if self.table().and_then(TableView::row).is_some() => {
                match self.predicate() {
                    Some(predicate) => Effect::Open(predicate),
                    None => Effect::Say("it was called only in the recording before".to_owned()),
                }
            }
            _ => Effect::Unused,
        }
    }

    fn status(&self) -> String {
        if self.made.is_some() {
            return "comparing …".to_owned();
        }
        let one = ["changed predicate", "changed goal"][self.shown];
        self.table()
            .map_or_else(String::new, |table| table.how_many(one))
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let mut say = |text: &str| {
            let room = usize::from(area.width.saturating_sub(2)).max(1);
            for (y, line) in (area.y + 1..area.bottom()).zip(textwrap::wrap(text, room)) {
                buf.set_stringn(area.x + 1, y, line, room, theme.text);
            }
        };
        if let Some(problem) = &self.problem {
            return say(problem);
        }
        if self.made.is_some() {
            return say("Comparing with the recording before.");
        }
        if self.tables.is_empty() {
            return say(
                "Another recording can be compared with this one: portmortem tui AFTER.pmt --before \
                 BEFORE.pmt. Several of a side, with commas between, tell what is noise.",
            );
        }
        let room = usize::from(area.width.saturating_sub(2));
        let totals = fitting(self.totals.iter().map(String::as_str), room);
        buf.set_stringn(area.x + 1, area.y, totals, room, theme.text);
        let area = Rect {
            y: area.y + 1,
            height: area.height.saturating_sub(1),
            ..area
        };
        let below = draw_parts(PARTS.into_iter(), self.shown, area, buf, theme);
        if let Some(table) = self.table_mut() {
            table.draw(below, buf, theme);
        }
    }
}

impl Tabular for ChangesScreen {
    fn table(&self) -> Option<&TableView> {
        self.tables.get(self.shown)
    }

    fn table_mut(&mut self) -> Option<&mut TableView> {
        self.tables.get_mut(self.shown)
    }
}

impl Searchable for ChangesScreen {}

impl Pointing for ChangesScreen {
    fn has_predicates(&self) -> bool {
        !self.tables.is_empty()
    }
}

impl Navigable for ChangesScreen {
    fn spot(&self) -> Spot {
        Spot {
            part: self.shown,
            ..self.spot_of_list()
        }
    }

    fn recall(&mut self, spot: &Spot) {
        self.shown = spot.part;
        self.recall_list(spot);
    }
}

impl Exportable for ChangesScreen {
    fn is_empty(&self) -> bool {
        self.table().is_none_or(|table| table.rows() == 0)
    }

    fn file_name(&self) -> &'static str {
        ["changes", "changed-goals"][self.shown]
    }
}

impl Clickable for ChangesScreen {}

/// Something that changed.
#[derive(Debug)]
struct ChangeRow {
    name: String,
    predicate: Option<PredicateIndex>,
    change: RowChange<()>,
}

impl ChangeRow {
    fn of<K>(change: &RowChange<K>, name: String, predicate: Option<PredicateIndex>) -> Self {
        Self {
            name,
            predicate,
            change: RowChange {
                key: (),
                before: change.before,
                after: change.after,
                own: change.own,
                is_engine_work: change.is_engine_work,
            },
        }
    }

    /// What was measured of a side; nothing if it was not called there.
    fn side(&self, figure: Figure, side: usize) -> Cell<'static> {
        let is_there = [&self.change.before, &self.change.after][side].is_some();
        match is_there {
            true => integer(self.change.get(figure)[side].median),
            false => Cell::Missing,
        }
    }

    /// How much longer it takes; what was not called took no time.
    fn delta(&self, time: Figure) -> Cell<'static> {
        let ns = i64::try_from(self.change.difference(time));
        ns.map_or(Cell::Missing, Cell::Integer)
    }

    /// How much recordings of the same side differ: of both sides the larger difference.
    fn noise(&self, time: Figure) -> Cell<'static> {
        let sides = self.change.get(time).into_iter();
        integer(sides.map(Measured::noise).max().unwrap_or(0))
    }

    /// What that means, in a word.
    fn verdict(&self, time: Figure) -> &'static str {
        let difference = self.change.difference(time);
        match (&self.change.before, &self.change.after) {
            (None, _) => "new",
            (_, None) => "gone",
            _ if difference == 0 => "same",
            _ if !self.change.is_beyond_noise(time) => "noise",
            _ if difference < 0 => "better",
            _ => "worse",
        }
    }

    fn difference(&self, figure: Figure) -> Cell<'static> {
        let difference = self.change.difference(figure);
        i64::try_from(difference).map_or(Cell::Missing, Cell::Integer)
    }
}

#[derive(Debug)]
struct ChangeRows {
    rows: Vec<ChangeRow>,
    /// Which time is compared.
    time: Figure,
}

const fn difference(name: &'static str, heading: &'static str, about: &'static str) -> ListColumn {
    ListColumn::new(name, heading, CellKind::Difference, about)
}

const COLUMNS: &[ListColumn] = &[
    ListColumn::new(
        "delta_ns",
        "Δ",
        CellKind::Delta,
        "How much longer it takes itself; of goals how much more work is served.",
    ),
    ListColumn::new(
        "before_ns",
        "before",
        CellKind::Time,
        "Self time before, net if it was measured on both sides; of goals the work served.",
    ),
    ListColumn::new("after_ns", "after", CellKind::Time, "The same after."),
    ListColumn::new(
        "verdict",
        "is",
        CellKind::Text,
        "Better: it takes less time. Worse, new, gone, same; noise: recordings of a side differ as much.",
    ),
    ListColumn::new(
        "noise_ns",
        "noise",
        CellKind::Time,
        "How much recordings of the same side differ: the larger of both sides.",
    )
    .rank(2)
    .unless_zero(),
    ListColumn::new("calls_before", "calls", CellKind::Count, "Calls before.").rank(2),
    ListColumn::new("calls_after", "to", CellKind::Count, "Calls after.").rank(2),
    difference("redos", "±redos", "How many redos there are more.").rank(5),
    difference("fails", "±fails", "How many failures there are more.").rank(4),
    difference("left", "±left", "How many choicepoints more were left.").rank(6),
    difference("exits", "±exits", "How many exits there are more.").hidden(),
    difference("exceptions", "±exc.", "How many exceptions more left it.").hidden(),
    ListColumn::new("name", "changed", CellKind::Name, "Predicate or goal."),
];

impl Source for ChangeRows {
    fn columns(&self) -> &'static [ListColumn] {
        COLUMNS
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let row = &self.rows[row];
        match COLUMNS[column].name {
            "delta_ns" => row.delta(self.time),
            "before_ns" => row.side(self.time, 0),
            "after_ns" => row.side(self.time, 1),
            "verdict" => Cell::Text(row.verdict(self.time)),
            "noise_ns" => row.noise(self.time),
            "calls_before" => row.side(Figure::Calls, 0),
            "calls_after" => row.side(Figure::Calls, 1),
            "redos" => row.difference(Figure::Redos),
            "fails" => row.difference(Figure::Fails),
            "left" => row.difference(Figure::Left),
            "exits" => row.difference(Figure::Exits),
            "exceptions" => row.difference(Figure::Exceptions),
            _ => Cell::Text(&row.name),
        }
    }

    fn key(&self, row: usize) -> u64 {
        key_of(&self.rows[row].name)
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        self.rows[row].predicate
    }
}
