//! Screen 0: what changed since another recording: predicates or goals, both sides beside each other.
//!
//! Both recordings are compared as a whole, by a thread, when the screen is shown for the first time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use portmortem_analyzer::comparison::{Change, Comparison, Figure, Goal, Recorded};
use portmortem_analyzer::tables::Cell;
use portmortem_analyzer::trace::{PredicateIndex, Trace, TraceError};
use portmortem_analyzer::{Analysis, Filters};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rustc_hash::FxHashMap;

use super::{Effect, Screen, Spot, draw_parts, how_many, integer};
use crate::analysis::AnalysisView;
use crate::keys::{Action, Binding, bind};
use crate::received::receive;
use crate::table::{Column, Kind, Source, Table, key_of};
use crate::theme::Theme;

/// How long a key waits for the comparison, before it is drawn that it is made.
const PATIENCE: Duration = Duration::from_millis(10);

/// The screen.
#[derive(Debug, Default)]
pub(super) struct Changes {
    analysis: Option<Arc<AnalysisView>>,
    /// Predicates, then goals.
    tables: Vec<Table>,
    shown: usize,
    /// The comparison while a thread makes it.
    made: Option<Receiver<Result<Comparison, TraceError>>>,
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

/// Compares the recording at `before` with what is shown.
fn compare(before: &Path, after: &Analysis) -> Result<Comparison, TraceError> {
    let whole = |path: &Path| {
        let trace = Trace::open(path)?;
        Analysis::of(trace, path, Filters::default(), &AtomicU64::new(0))
    };
    let before = Recorded::of(&whole(before)?);
    let after = if after.filters.is_everything() {
        Recorded::of(after)
    } else {
        Recorded::of(&whole(&after.path)?)
    };
    Ok(Comparison::of(&[before], &[after]))
}

impl Changes {
    /// Takes the comparison; waits so long for it, or until it is there.
    fn take(&mut self, wait: Option<Duration>) -> Effect {
        let (Some(made), Some(analysis)) = (&self.made, &self.analysis) else {
            return Effect::Unused;
        };
        let found = match receive(made, wait) {
            Err(RecvTimeoutError::Timeout) => return Effect::Unused,
            Err(RecvTimeoutError::Disconnected) => {
                Err("comparing broke off: a defect of Portmortem".to_owned())
            }
            Ok(compared) => compared.map_err(|error| error.to_string()),
        };
        self.made = None;
        match found {
            Err(problem) => self.problem = Some(problem),
            Ok(comparison) => {
                let predicates = (0..).map(|index| (analysis.predicate(index), index));
                let known = analysis.trace.predicates().len();
                let indices: FxHashMap<&str, PredicateIndex> = predicates.take(known).collect();
                let index = |name: &str| indices.get(name).copied();
                let rows = |changes: Vec<Row>| -> Box<dyn Source> {
                    let time = comparison.time;
                    Box::new(Rows {
                        rows: changes,
                        time,
                    })
                };
                let time = comparison.time;
                let of_predicate = |change: &Change<String>| {
                    Row::of(change, change.key.clone(), index(&change.key))
                };
                let of_goal = |change: &Change<Goal>| {
                    let name = change.key.to_string();
                    Row::of(change, name, index(&change.key.callee))
                };
                let changed = comparison.predicates.iter().filter(|of| of.is_change(time));
                let predicates = rows(changed.map(of_predicate).collect());
                let changed = comparison.goals.iter();
                let changed = changed.filter(|of| of.is_change(Figure::Time));
                let goals = rows(changed.map(of_goal).collect());
                // In the order of the comparison: what a predicate does differently itself comes first.
                let tables = [predicates, goals].into_iter();
                self.tables = tables.map(|rows| Table::new(rows, None)).collect();
            }
        }
        Effect::Done
    }
}

impl Screen for Changes {
    fn bindings(&self) -> &'static [Binding] {
        if self.has_predicates() { KEYS } else { &[] }
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        let known = self.analysis.replace(Arc::clone(analysis));
        // Filters and net times change nothing about the recordings.
        if known.is_some_and(|known| Arc::ptr_eq(&known.trace, &analysis.trace)) {
            return;
        }
        let Some(before) = analysis.before.clone() else {
            return;
        };
        let (sender, made) = channel();
        let after = Arc::clone(analysis);
        let make = move || {
            // Nobody wants it any more if there is another analysis.
            let _ = sender.send(compare(&before, &after));
        };
        // If there is no thread for it, there is no comparison.
        let _ = thread::Builder::new().spawn(make);
        self.made = Some(made);
        self.problem = None;
        self.take(Some(PATIENCE));
    }

    fn poll(&mut self, wait: bool) -> Effect {
        self.take((!wait).then_some(Duration::ZERO))
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
            Action::Enter if self.table().and_then(Table::row).is_some() => {
                match self.predicate() {
                    Some(predicate) => Effect::Open(predicate),
                    None => Effect::Say("it was called only in the recording before".to_owned()),
                }
            }
            _ => Effect::Unused,
        }
    }

    fn spot(&self) -> Spot {
        Spot {
            part: self.shown,
            ..Spot::of(self)
        }
    }

    fn recall(&mut self, spot: &Spot) {
        self.shown = spot.part;
        spot.recall(self);
    }

    fn table(&self) -> Option<&Table> {
        self.tables.get(self.shown)
    }

    fn table_mut(&mut self) -> Option<&mut Table> {
        self.tables.get_mut(self.shown)
    }

    fn is_empty(&self) -> bool {
        self.table().is_none_or(|table| table.rows() == 0)
    }

    fn has_predicates(&self) -> bool {
        !self.tables.is_empty()
    }

    fn status(&self) -> String {
        if self.made.is_some() {
            return "comparing …".to_owned();
        }
        let one = ["changed predicate", "changed goal"][self.shown];
        self.table()
            .map_or_else(String::new, |table| how_many(table, one))
    }

    fn file_name(&self) -> &'static str {
        ["changes", "changed-goals"][self.shown]
    }

    fn smallest(&self) -> (u16, u16) {
        super::SMALLEST_LIST
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
                "Another recording can be compared with this one: portmortem tui AFTER.pmt --before BEFORE.pmt",
            );
        }
        let below = draw_parts(PARTS.into_iter(), self.shown, area, buf, theme);
        if let Some(table) = self.table_mut() {
            table.draw(below, buf, theme);
        }
    }
}

/// Something that changed.
#[derive(Debug)]
struct Row {
    name: String,
    predicate: Option<PredicateIndex>,
    change: Change<()>,
}

impl Row {
    fn of<K>(change: &Change<K>, name: String, predicate: Option<PredicateIndex>) -> Self {
        Self {
            name,
            predicate,
            change: Change {
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
        let is_time = matches!(figure, Figure::Time | Figure::Net);
        match is_there && (is_time || !self.change.is_engine_work) {
            true => integer(self.change.get(figure)[side].median),
            false => Cell::Missing,
        }
    }

    fn difference(&self, figure: Figure) -> Cell<'static> {
        let difference = self.change.difference(figure);
        match i64::try_from(difference) {
            Ok(difference) if !self.change.is_engine_work => Cell::Integer(difference),
            _ => Cell::Missing,
        }
    }
}

#[derive(Debug)]
struct Rows {
    rows: Vec<Row>,
    /// Which time is compared.
    time: Figure,
}

const fn difference(name: &'static str, heading: &'static str, about: &'static str) -> Column {
    Column::new(name, heading, Kind::Difference, about)
}

const COLUMNS: &[Column] = &[
    Column::new("calls_before", "calls", Kind::Count, "Calls before."),
    Column::new("calls_after", "to", Kind::Count, "Calls after."),
    difference("redos", "±redos", "How many redos there are more."),
    difference("fails", "±fails", "How many failures there are more."),
    difference("left", "±left", "How many choicepoints more were left."),
    Column::new(
        "before_ns",
        "self",
        Kind::Time,
        "Self time before, net if it was measured on both sides; of goals the time served.",
    ),
    Column::new("after_ns", "to", Kind::Time, "The same after."),
    difference("exits", "±exits", "How many exits there are more.").hidden(),
    difference("exceptions", "±exc.", "How many exceptions more left it.").hidden(),
    Column::new("name", "changed", Kind::Name, "Predicate or goal."),
];

impl Source for Rows {
    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let row = &self.rows[row];
        match column {
            0 => row.side(Figure::Calls, 0),
            1 => row.side(Figure::Calls, 1),
            2 => row.difference(Figure::Redos),
            3 => row.difference(Figure::Fails),
            4 => row.difference(Figure::Left),
            5 => row.side(self.time, 0),
            6 => row.side(self.time, 1),
            7 => row.difference(Figure::Exits),
            8 => row.difference(Figure::Exceptions),
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
