//! Screen 2: one predicate: its callers, itself, its callees; how long its calls took, and the slowest of them; its box with the ports; its
//! source, with the figures of its goals and clauses. `t` moves between the parts, and each has a cursor.

mod layout;
mod neighbours;
mod ports;
mod slowest;
mod source;
mod view;

use std::sync::Arc;

use portmortem_analyzer::calls::figures::SlowCall;
use portmortem_analyzer::figures::PredicateFigures;
use portmortem_analyzer::trace::PredicateIndex;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Effect, EventTarget, Screen, call_event, calls_lost, first_event, slowest_call};
use crate::analysis::AnalysisView;
use crate::call_times::{Answer, Wanted};
use crate::keys::{self, Action, Binding, bind};
use crate::table::Table;
use crate::theme::Theme;
use neighbours::Neighbours;
use slowest::Slowest;
use source::SourceView;

/// The events of a longer trace are not read again unless the user asks for the times of single calls.
const MOST_UNASKED: u64 = 100_000_000;

/// The screen.
#[derive(Debug, Default)]
pub(super) struct Predicate {
    view: Option<View>,
    /// What was shown before, and where the cursor was.
    history: Vec<Before>,
    /// Times of single calls.
    calls: Wanted,
    /// The user asked for them.
    is_asked: bool,
    /// The slowest call of what is under the cursor is to be shown as soon as it is known.
    wants_slowest: bool,
}

/// Where the cursor was.
#[derive(Debug)]
struct Before {
    subject: PredicateIndex,
    part: Part,
    row: Option<usize>,
    line: Option<u32>,
}

/// The parts that keys can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    /// Callers and callees.
    #[default]
    Neighbours,
    /// The slowest calls.
    Slowest,
    /// The source.
    Source,
}

/// What is shown of a predicate.
#[derive(Debug)]
struct View {
    analysis: Arc<AnalysisView>,
    subject: PredicateIndex,
    part: Part,
    table: Table,
    /// How many rows of it are callers.
    callers: usize,
    /// Once they are known.
    slowest: Option<Table>,
    source: SourceView,
}

const ENTER: Binding = bind(
    &["enter"],
    Action::Enter,
    "go there",
    "go to the caller, the callee, the slow call",
);

const NEXT_PART: Binding = bind(
    &["t"],
    Action::NextTable,
    "next part",
    "callers and callees; slowest calls; source",
);

const KEYS: &[Binding] = &[ENTER, NEXT_PART, keys::SLOWEST_CALL, keys::FIRST_CALL];

const SOURCE_KEYS: &[Binding] = &[
    ENTER,
    NEXT_PART,
    keys::SLOWEST_CALL,
    keys::FIRST_CALL,
    keys::UP,
    keys::DOWN,
    keys::PAGE_UP,
    keys::PAGE_DOWN,
    bind(&["home", "gg"], Action::Top, "", "to the first line"),
    bind(&["end", "G"], Action::Bottom, "", "to the last line"),
];

impl View {
    fn new(analysis: &Arc<AnalysisView>, subject: PredicateIndex) -> Self {
        let rows = Neighbours::new(analysis, subject);
        let (itself, callers) = (rows.itself(), rows.callers());
        let mut table = Table::new(Box::new(rows), Some("time_ns"));
        table.select(itself);
        let mut view = Self {
            analysis: Arc::clone(analysis),
            subject,
            part: Part::default(),
            table,
            callers,
            slowest: None,
            source: SourceView::of(analysis, subject),
        };
        view.list_slowest();
        view
    }

    /// Shows the same predicate in another analysis.
    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        let rows = Neighbours::new(analysis, self.subject);
        self.callers = rows.callers();
        self.table.follow(Box::new(rows));
        self.analysis = Arc::clone(analysis);
        self.source.follow(analysis, self.subject);
        self.list_slowest();
    }

    /// Lists the slowest calls, if they are known.
    fn list_slowest(&mut self) {
        if self.analysis.known_calls().is_none() {
            self.slowest = None;
            self.part = match self.part {
                Part::Slowest => Part::Neighbours,
                part => part,
            };
            return;
        }
        let rows = Box::new(Slowest::new(&self.analysis, self.subject));
        match &mut self.slowest {
            Some(table) => table.follow(rows),
            None => self.slowest = Some(Table::new(rows, Some("ns"))),
        }
    }

    /// The figures of the predicate; zeros if nothing of it is looked at.
    fn figures(&self) -> PredicateFigures {
        let predicates = &self.analysis.profile.predicates;
        let figures = predicates.get(self.subject as usize);
        figures.copied().unwrap_or_default()
    }

    /// What is said where nothing of the predicate is looked at.
    fn absence(&self) -> Option<String> {
        if self.figures().is_used() {
            return None;
        }
        let name = self.analysis.predicate(self.subject);
        let filters = self.analysis.filters.filters().iter();
        let filters: Vec<String> = filters
            .map(|filter| filter.label(&self.analysis.trace))
            .collect();
        Some(if filters.is_empty() {
            format!("{name} was never called")
        } else {
            let filters = filters.join("; ");
            format!("nothing of {name} is looked at ({filters}); Esc takes that away")
        })
    }

    fn next_part(&mut self) {
        self.part = match self.part {
            Part::Neighbours if self.slowest.as_ref().is_some_and(|table| table.rows() > 0) => {
                Part::Slowest
            }
            Part::Neighbours | Part::Slowest if self.source.rows() > 0 => Part::Source,
            _ => Part::Neighbours,
        };
    }

    /// The slow call under the cursor.
    fn slow_call(&self) -> Option<&SlowCall> {
        let row = self.slowest.as_ref()?.row()?;
        let figures = self.analysis.known_calls()?.predicate(self.subject)?;
        figures.slowest.get(row)
    }

    /// The predicate that the cursor is on.
    fn predicate(&self) -> PredicateIndex {
        match self.part {
            Part::Neighbours => self.table.predicate().unwrap_or(self.subject),
            Part::Slowest | Part::Source => self.subject,
        }
    }

    /// To the slowest call of what is under the cursor: times of calls are known.
    fn go_to_slowest(&self) -> Effect {
        let call = match self.part {
            Part::Neighbours => return slowest_call(&self.analysis, self.predicate()),
            Part::Slowest => self.slow_call(),
            Part::Source => self.source.slowest(&self.analysis),
        };
        match call {
            Some(call) => call_event(&self.analysis, call),
            None => slowest_call(&self.analysis, self.subject),
        }
    }

    fn enter(&self) -> Effect {
        match self.part {
            Part::Neighbours => match self.table.predicate() {
                Some(predicate) if predicate != self.subject => Effect::Open(predicate),
                _ => Effect::Done,
            },
            Part::Slowest => self.go_to_slowest(),
            Part::Source => match self.source.callee() {
                Some(callee) if callee != self.subject => Effect::Open(callee),
                Some(_) => Effect::Done,
                None => Effect::Say("no goal of this line is known to have called".to_owned()),
            },
        }
    }

    /// Opens an editor: at the goal that made the slow call; at the source of the caller or callee; or at the line that the cursor of the
    /// source is on.
    fn edit(&self) -> Effect {
        let predicate = self.predicate();
        if predicate != self.subject {
            return edit(&self.analysis, predicate);
        }
        let site = match self.part {
            Part::Slowest => self.slow_call().and_then(|call| call.site),
            _ => None,
        };
        let site = site.and_then(|site| self.analysis.trace.sites().get(site as usize));
        if let Some(site) = site.filter(|site| site.line > 0)
            && let Some(file) = site.file.and_then(|file| self.analysis.trace.file(file))
        {
            return Effect::Edit(self.analysis.locate(file), site.line);
        }
        match (self.analysis.source(self.subject), self.source.line()) {
            (Some((file, _)), Some(line)) => Effect::Edit(self.analysis.locate(file), line),
            _ => edit(&self.analysis, self.subject),
        }
    }
}

impl Predicate {
    /// Whether the times of single calls are to be found.
    fn wants_calls(&self) -> bool {
        let Some(view) = &self.view else { return false };
        self.is_asked || view.analysis.events() <= MOST_UNASKED
    }

    fn show_slowest(&mut self) -> Effect {
        let Some(view) = &self.view else {
            return Effect::Unused;
        };
        if self.calls.is_over() || view.analysis.known_calls().is_some() {
            return view.go_to_slowest();
        }
        (self.is_asked, self.wants_slowest) = (true, true);
        self.poll(false)
    }
}

impl Screen for Predicate {
    fn bindings(&self) -> &'static [Binding] {
        match &self.view {
            Some(view) if view.part == Part::Source => SOURCE_KEYS,
            _ => KEYS,
        }
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        self.calls = Wanted::default();
        (self.is_asked, self.wants_slowest) = (false, false);
        match &mut self.view {
            Some(view) => view.follow(analysis),
            None => {
                let predicates = 0..analysis.profile.predicates.len() as PredicateIndex;
                let hottest = predicates
                    .rev()
                    .max_by_key(|&index| analysis.predicate_times(index).self_ticks);
                self.view = hottest.map(|index| View::new(analysis, index));
            }
        }
    }

    fn poll(&mut self, wait: bool) -> Effect {
        if !self.wants_calls() {
            return Effect::Unused;
        }
        let Some(view) = &mut self.view else {
            return Effect::Unused;
        };
        match self.calls.ask(&view.analysis, wait) {
            Answer::Nothing => Effect::Unused,
            Answer::Begun => Effect::Done,
            Answer::Lost => {
                self.wants_slowest = false;
                calls_lost()
            }
            Answer::Found => {
                view.list_slowest();
                if std::mem::take(&mut self.wants_slowest) {
                    view.go_to_slowest()
                } else {
                    Effect::Done
                }
            }
        }
    }

    fn is_ready(&self) -> bool {
        !self.wants_slowest
    }

    fn progress(&self) -> Option<f64> {
        let share = self.view.as_ref()?.analysis.calls_share();
        share.filter(|_| self.wants_calls())
    }

    fn act(&mut self, action: Action) -> Effect {
        // Only keys that leave do not wait: with them, what was asked for is not wanted any more.
        if std::mem::take(&mut self.wants_slowest) && action == Action::Back {
            return Effect::Done;
        }
        let Some(view) = &mut self.view else {
            return Effect::Unused;
        };
        match action {
            Action::Enter => view.enter(),
            Action::FirstEvent => first_event(Some(view.predicate())),
            Action::SlowestCall => self.show_slowest(),
            Action::Edit => view.edit(),
            Action::NextTable => {
                view.next_part();
                self.is_asked = true;
                Effect::Done
            }
            _ if view.part == Part::Source && view.source.act(action) => Effect::Done,
            _ => Effect::Unused,
        }
    }

    fn undo(&mut self) -> bool {
        let (Some(view), Some(before)) = (&mut self.view, self.history.pop()) else {
            return false;
        };
        let analysis = Arc::clone(&view.analysis);
        *view = View::new(&analysis, before.subject);
        if let Some(row) = before.row {
            view.table.select(row);
        }
        if let Some(line) = before.line {
            view.source.go_to(line);
        }
        if before.part == Part::Source {
            view.part = Part::Source;
        }
        true
    }

    fn table(&self) -> Option<&Table> {
        let view = self.view.as_ref()?;
        match view.part {
            Part::Neighbours => Some(&view.table),
            Part::Slowest => view.slowest.as_ref(),
            Part::Source => None,
        }
    }

    fn table_mut(&mut self) -> Option<&mut Table> {
        let view = self.view.as_mut()?;
        match view.part {
            Part::Neighbours => Some(&mut view.table),
            Part::Slowest => view.slowest.as_mut(),
            Part::Source => None,
        }
    }

    fn predicate(&self) -> Option<PredicateIndex> {
        self.view.as_ref().map(View::predicate)
    }

    fn event(&self) -> Option<EventTarget> {
        let view = self
            .view
            .as_ref()
            .filter(|view| view.part == Part::Slowest)?;
        match call_event(&view.analysis, view.slow_call()?) {
            Effect::Event(target) => Some(target),
            _ => None,
        }
    }

    fn select(&mut self, predicate: PredicateIndex) -> Effect {
        let Some(view) = &mut self.view else {
            return Effect::Done;
        };
        if view.subject == predicate {
            return Effect::Done;
        }
        self.history.push(Before {
            subject: view.subject,
            part: view.part,
            row: view.table.row(),
            line: view.source.line(),
        });
        let analysis = Arc::clone(&view.analysis);
        *view = View::new(&analysis, predicate);
        Effect::Step
    }

    fn status(&self) -> String {
        self.view.as_ref().map_or_else(String::new, |view| {
            view.analysis.predicate(view.subject).to_owned()
        })
    }

    fn file_name(&self) -> &'static str {
        match self.view.as_ref().map(|view| view.part) {
            Some(Part::Slowest) => "slowest",
            Some(Part::Source) => "source.txt",
            _ => "neighbours",
        }
    }

    fn export(&self) -> Option<String> {
        let view = self.view.as_ref()?;
        match view.part {
            Part::Source => Some(view.source.text(&view.analysis)),
            _ => Some(self.table()?.csv(None)),
        }
    }

    fn copy(&self) -> Option<String> {
        let view = self.view.as_ref()?;
        if view.part == Part::Source {
            return view.source.text_here();
        }
        let table = self.table()?;
        Some(table.csv(Some(table.row()?)))
    }

    fn rows(&self) -> usize {
        match &self.view {
            Some(view) if view.part == Part::Source => view.source.rows(),
            _ => self.table().map_or(0, Table::rows),
        }
    }

    fn click(&mut self, x: u16, y: u16) -> bool {
        let Some(view) = &mut self.view else {
            return false;
        };
        if let Some(again) = view.source.click(x, y) {
            return std::mem::replace(&mut view.part, Part::Source) == Part::Source && again;
        }
        let part = match &view.slowest {
            Some(table) if table.is_at(x, y) => Part::Slowest,
            _ if view.table.is_at(x, y) => Part::Neighbours,
            _ => return false,
        };
        let was_there = std::mem::replace(&mut view.part, part) == part;
        self.table_mut().is_some_and(|table| table.click(x, y)) && was_there
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        if let Some(view) = &mut self.view {
            view::draw(view, area, buf, theme);
        }
    }
}

/// Opens the source of a predicate, if it is known.
pub(crate) fn edit(analysis: &AnalysisView, predicate: PredicateIndex) -> Effect {
    match analysis.source(predicate) {
        Some((file, line)) => Effect::Edit(analysis.locate(file), line.max(1)),
        None => Effect::Say(format!(
            "the trace does not say where {} is from",
            analysis.predicate(predicate)
        )),
    }
}
