//! Screen 2: one predicate: its callers, itself, its callees; its box with the ports; its source, with the figures of its goals and clauses.

mod details;
mod neighbours;
mod source;

use std::collections::BTreeMap;
use std::sync::Arc;

use portmortem_analyzer::figures::SiteFigures;
use portmortem_analyzer::figures::clauses::ClauseFigures;
use portmortem_analyzer::trace::PredicateIndex;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Effect, Screen, ScreenId, first_event};
use crate::analysis::AnalysisView;
use crate::keys::{self, Action, Binding, bind};
use crate::table::Table;
use crate::theme::Theme;
use neighbours::Neighbours;
use source::Listing;

/// The screen.
#[derive(Debug, Default)]
pub(super) struct Predicate {
    view: Option<View>,
    /// What was shown before, and where the cursor was.
    history: Vec<(PredicateIndex, Option<usize>)>,
}

/// What is shown of a predicate.
#[derive(Debug)]
struct View {
    analysis: Arc<AnalysisView>,
    subject: PredicateIndex,
    table: Table,
    listing: Listing,
    /// By line of the source.
    goals: BTreeMap<u32, SiteFigures>,
    /// By the line where they begin: numbers of clauses, and what came of them.
    clauses: BTreeMap<u32, Vec<(u32, ClauseFigures)>>,
}

const KEYS: &[Binding] = &[
    bind(
        &["enter"],
        Action::Enter,
        "go there",
        "go to the caller or callee; Esc goes back",
    ),
    bind(
        &["t"],
        Action::Tree,
        "call tree",
        "show it in the call tree, where it takes most time",
    ),
    keys::FIRST_EVENT,
];

impl View {
    fn new(analysis: &Arc<AnalysisView>, subject: PredicateIndex) -> Self {
        let rows = Neighbours::new(analysis, subject);
        let itself = rows.itself();
        let mut table = Table::new(Box::new(rows), Some("time_ns"));
        table.select(itself);
        Self {
            analysis: Arc::clone(analysis),
            subject,
            table,
            listing: Listing::of(analysis, subject),
            goals: source::goals(analysis, subject),
            clauses: source::clauses(analysis, subject),
        }
    }
}

impl Screen for Predicate {
    fn bindings(&self) -> &'static [Binding] {
        KEYS
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        match &mut self.view {
            Some(view) => {
                view.analysis = Arc::clone(analysis);
                view.goals = source::goals(analysis, view.subject);
                view.clauses = source::clauses(analysis, view.subject);
                view.table
                    .follow(Box::new(Neighbours::new(analysis, view.subject)));
            }
            None => {
                let figures = (0..).zip(&analysis.profile.predicates);
                let hottest = figures.max_by_key(|(_, figures)| figures.self_ticks);
                self.view = hottest.map(|(index, _)| View::new(analysis, index));
            }
        }
    }

    fn act(&mut self, action: Action) -> Effect {
        let Some(view) = &self.view else {
            return Effect::Unused;
        };
        match action {
            Action::Enter => match view.table.predicate() {
                Some(predicate) if predicate != view.subject => Effect::Open(predicate),
                _ => Effect::Done,
            },
            Action::FirstEvent => first_event(self.predicate()),
            Action::Tree => Effect::Go(ScreenId::CallTree, Some(view.subject)),
            Action::Edit => {
                // The row under the cursor may be another predicate; the source shown is this one's.
                let predicate = view.table.predicate().unwrap_or(view.subject);
                edit(&view.analysis, predicate)
            }
            _ => Effect::Unused,
        }
    }

    fn undo(&mut self) -> bool {
        let (Some(view), Some((subject, row))) = (&mut self.view, self.history.pop()) else {
            return false;
        };
        let analysis = Arc::clone(&view.analysis);
        *view = View::new(&analysis, subject);
        if let Some(row) = row {
            view.table.select(row);
        }
        true
    }

    fn table(&self) -> Option<&Table> {
        self.view.as_ref().map(|view| &view.table)
    }

    fn table_mut(&mut self) -> Option<&mut Table> {
        self.view.as_mut().map(|view| &mut view.table)
    }

    fn predicate(&self) -> Option<PredicateIndex> {
        let view = self.view.as_ref()?;
        view.table.predicate().or(Some(view.subject))
    }

    fn select(&mut self, predicate: PredicateIndex) -> Effect {
        let Some(view) = &mut self.view else {
            return Effect::Done;
        };
        if view.subject == predicate {
            return Effect::Done;
        }
        self.history.push((view.subject, view.table.row()));
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
        "neighbours"
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        if let Some(view) = &mut self.view {
            details::draw(view, area, buf, theme);
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
