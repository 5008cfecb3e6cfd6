//! The parts of the screen, and what keys mean in the one that has the focus.

use std::sync::Arc;

use portmortem_analyzer::calls::figures::SlowCall;
use portmortem_analyzer::figures::PredicateFigures;
use portmortem_analyzer::trace::PredicateIndex;

use super::evidence::FindingShown;
use super::neighbours::Neighbours;
use super::slowest::Slowest;
use super::source::SourceView;
use crate::analysis::AnalysisView;
use crate::screen::calls::{call_event, slowest_call};
use crate::screen::{Effect, Place};
use crate::table::TableView;

/// The parts that keys can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum PredicatePart {
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
pub(super) struct PredicateView {
    pub(super) analysis: Arc<AnalysisView>,
    pub(super) subject: PredicateIndex,
    pub(super) part: PredicatePart,
    pub(super) table: TableView,
    /// How many rows of it are callers.
    pub(super) callers: usize,
    /// Once they are known.
    pub(super) slowest: Option<TableView>,
    pub(super) source: SourceView,
    /// What is advised about it, as far as that is known.
    pub(super) advised: FindingShown,
}

impl PredicateView {
    pub(super) fn new(analysis: &Arc<AnalysisView>, subject: PredicateIndex) -> Self {
        let rows = Neighbours::new(analysis, subject);
        let (itself, callers) = (rows.itself(), rows.callers());
        let mut table = TableView::new(Box::new(rows), Some("time_ns"));
        table.select(itself);
        let mut view = Self {
            analysis: Arc::clone(analysis),
            subject,
            part: PredicatePart::default(),
            table,
            callers,
            slowest: None,
            source: SourceView::of(analysis, subject),
            advised: FindingShown::default(),
        };
        view.list_slowest();
        view.list_advice();
        view
    }

    /// Shows the same predicate in another analysis.
    pub(super) fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        let rows = Neighbours::new(analysis, self.subject);
        self.callers = rows.callers();
        self.table.follow(Box::new(rows));
        self.analysis = Arc::clone(analysis);
        self.source.follow(analysis, self.subject);
        self.list_slowest();
        self.list_advice();
    }

    /// Takes what is advised about the predicate, if that is known.
    pub(super) fn list_advice(&mut self) {
        self.advised = FindingShown::of(&self.analysis, self.subject);
    }

    /// Lists the slowest calls, if they are known.
    pub(super) fn list_slowest(&mut self) {
        if self.analysis.known_calls().is_none() {
            self.slowest = None;
            self.part = match self.part {
                PredicatePart::Slowest => PredicatePart::Neighbours,
                part => part,
            };
            return;
        }
        let rows = Box::new(Slowest::new(&self.analysis, self.subject));
        match &mut self.slowest {
            Some(table) => table.follow(rows),
            None => self.slowest = Some(TableView::new(rows, Some("ns"))),
        }
    }

    /// Puts the cursor on a place in the predicate: the line, if the source can be read, or the row
    /// of what is called there.
    pub(super) fn go_to(&mut self, place: Place) {
        if let Some(line) = place.line
            && self.source.has(line)
        {
            self.source.go_to(line);
            self.part = PredicatePart::Source;
            return;
        }
        self.part = PredicatePart::Neighbours;
        if let Some(callee) = place.callee {
            let rows = 0..self.table.source().rows();
            // Of callers and callees the latter come last.
            let row = rows
                .rev()
                .find(|&row| self.table.source().predicate(row) == Some(callee));
            if let Some(row) = row {
                self.table.select(row);
            }
        }
    }

    /// The figures of the predicate; zeros if nothing of it is looked at.
    pub(super) fn figures(&self) -> PredicateFigures {
        let predicates = &self.analysis.profile.predicates;
        let figures = predicates.get(self.subject as usize);
        let counted = self.analysis.counted_of(self.subject);
        figures.map_or_else(PredicateFigures::default, |of| counted.predicate(of))
    }

    /// What is said where nothing of the predicate is looked at.
    pub(super) fn absence(&self) -> Option<String> {
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

    pub(super) fn next_part(&mut self) {
        self.part = match self.part {
            PredicatePart::Neighbours
                if self.slowest.as_ref().is_some_and(|table| table.rows() > 0) =>
            {
                PredicatePart::Slowest
            }
            PredicatePart::Neighbours | PredicatePart::Slowest if self.source.rows() > 0 => {
                PredicatePart::Source
            }
            _ => PredicatePart::Neighbours,
        };
    }

    /// The slow call under the cursor.
    pub(super) fn slow_call(&self) -> Option<&SlowCall> {
        let row = self.slowest.as_ref()?.row()?;
        let figures = self.analysis.known_calls()?.predicate(self.subject)?;
        figures.slowest.get(row)
    }

    /// The predicate that the cursor is on.
    pub(super) fn predicate(&self) -> PredicateIndex {
        match self.part {
            PredicatePart::Neighbours => self.table.predicate().unwrap_or(self.subject),
            PredicatePart::Slowest | PredicatePart::Source => self.subject,
        }
    }

    /// To the slowest call of what is under the cursor: times of calls are known.
    pub(super) fn go_to_slowest(&self) -> Effect {
        let call = match self.part {
            PredicatePart::Neighbours => return slowest_call(&self.analysis, self.predicate()),
            PredicatePart::Slowest => self.slow_call(),
            PredicatePart::Source => self.source.slowest(&self.analysis),
        };
        match call {
            Some(call) => call_event(&self.analysis, call),
            None => slowest_call(&self.analysis, self.subject),
        }
    }

    pub(super) fn enter(&self) -> Effect {
        match self.part {
            PredicatePart::Neighbours => match self.table.predicate() {
                Some(predicate) if predicate != self.subject => Effect::Open(predicate),
                _ => Effect::Done,
            },
            PredicatePart::Slowest => self.go_to_slowest(),
            PredicatePart::Source => match self.source.leads_to(self.subject) {
                Some(predicate) if predicate != self.subject => Effect::Open(predicate),
                Some(_) => Effect::Done,
                None => Effect::Say("no goal of this line is known to have called".to_owned()),
            },
        }
    }

    /// Opens an editor: at the goal that made the slow call; at the source of the caller or callee; or at the line that the cursor of the
    /// source is on.
    pub(super) fn edit(&self) -> Effect {
        let predicate = self.predicate();
        if predicate != self.subject {
            return edit(&self.analysis, predicate);
        }
        let site = match self.part {
            PredicatePart::Slowest => self.slow_call().and_then(|call| call.site),
            _ => None,
        };
        let site = site.and_then(|site| self.analysis.trace.sites().get(site as usize));
        if let Some(site) = site.filter(|site| site.line > 0)
            && let Some(file) = site.file.and_then(|file| self.analysis.trace.file(file))
        {
            return Effect::Edit(self.analysis.locate(file), site.line);
        }
        match self.source.place() {
            Some((file, line)) => Effect::Edit(self.analysis.locate(file), line),
            None => edit(&self.analysis, self.subject),
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
