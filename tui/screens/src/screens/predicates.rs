//! Screen 1: all predicates, a row each.

use std::sync::Arc;

use portmortem_analyzer::figures::{Determinism, PredicateFigures};
use portmortem_analyzer::tables::Cell;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::names::printable;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rustc_hash::FxHashMap;

use super::{Effect, Screen, first_event, how_many, integer};
use crate::analysis::Analysis;
use crate::keys::{self, Action, Binding, bind};
use crate::table::{Column, Kind, Source, Table, key_of};
use crate::theme::Theme;

/// The screen.
#[derive(Debug, Default)]
pub(super) struct Predicates {
    table: Option<Table>,
    cumulative: bool,
}

const KEYS: &[Binding] = &[
    bind(
        &["c"],
        Action::Cumulative,
        "cumulative",
        "by self time, or by inclusive time",
    ),
    keys::FIRST_EVENT,
];

impl Screen for Predicates {
    fn bindings(&self) -> &'static [Binding] {
        KEYS
    }

    fn follow(&mut self, analysis: &Arc<Analysis>) {
        Table::fill(&mut self.table, Box::new(Rows::new(analysis)), "self_ns");
    }

    fn act(&mut self, action: Action) -> Effect {
        let Some(table) = &mut self.table else {
            return Effect::Unused;
        };
        match action {
            Action::Enter => table.predicate().map_or(Effect::Done, Effect::Open),
            Action::FirstEvent => first_event(table.predicate()),
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

    fn table(&self) -> Option<&Table> {
        self.table.as_ref()
    }

    fn table_mut(&mut self) -> Option<&mut Table> {
        self.table.as_mut()
    }

    fn status(&self) -> String {
        let what = if self.cumulative {
            "cumulative"
        } else {
            "plain"
        };
        self.table.as_ref().map_or_else(String::new, |table| {
            format!("{}, {what}", how_many(table, "predicate"))
        })
    }

    fn file_name(&self) -> &'static str {
        "predicates"
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        if let Some(table) = &mut self.table {
            table.draw(area, buf, theme);
        }
    }
}

/// Predicates that were called.
#[derive(Debug)]
struct Rows {
    analysis: Arc<Analysis>,
    used: Vec<PredicateIndex>,
    /// Paths by their numbers, escaped.
    files: FxHashMap<u32, String>,
}

const SELF_SHARE: usize = 0;
const INCLUSIVE_SHARE: usize = 1;

const COLUMNS: &[Column] = &[
    Column::new(
        "self_share",
        "self %",
        Kind::Share,
        "self time, of all time",
    ),
    Column::new(
        "inclusive_share",
        "incl %",
        Kind::Share,
        "inclusive time, of all time",
    )
    .hidden(),
    Column::new(
        "self_ns",
        "self",
        Kind::Time,
        "time in the predicate itself",
    ),
    Column::new(
        "inclusive_ns",
        "incl",
        Kind::Time,
        "time in it and all it calls, recursion once",
    ),
    Column::new("calls", "calls", Kind::Count, "boxes opened"),
    Column::new("exits", "exits", Kind::Count, "exits of both kinds"),
    Column::new("redos", "redos", Kind::Count, "re-entries by backtracking"),
    Column::new("fails", "fails", Kind::Count, "final failures"),
    Column::new("determinism", "det", Kind::Text, "determinism, as observed"),
    Column::new(
        "undone_ns",
        "undone",
        Kind::Time,
        "time of work thrown away by redos into it",
    ),
    Column::new(
        "failed_ns",
        "failed",
        Kind::Time,
        "inclusive time that ended in failure",
    ),
    Column::new(
        "events",
        "events",
        Kind::Count,
        "port events: a cost that is the same on every run",
    ),
    Column::new(
        "exceptions",
        "exc.",
        Kind::Count,
        "boxes left by an exception",
    ),
    Column::new(
        "tail_calls",
        "last calls",
        Kind::Count,
        "calls that took over their caller's frame",
    ),
    Column::new(
        "exits_det",
        "det exits",
        Kind::Count,
        "exits that left no choicepoint",
    ),
    Column::new(
        "exits_nondet",
        "nondet ex.",
        Kind::Count,
        "exits that left a choicepoint",
    ),
    Column::new("cuts", "cut", Kind::Count, "choicepoints cut"),
    Column::new(
        "pending",
        "pending",
        Kind::Count,
        "choicepoints left at the end",
    ),
    Column::new("open", "open", Kind::Count, "boxes still active at the end"),
    Column::new(
        "raised_ns",
        "raised",
        Kind::Time,
        "inclusive time that ended in an exception",
    )
    .hidden(),
    Column::new(
        "open_ns",
        "in open",
        Kind::Time,
        "inclusive time that did not end",
    )
    .hidden(),
    Column::new(
        "self_failed_ns",
        "self failed",
        Kind::Time,
        "self time that ended in failure",
    )
    .hidden(),
    Column::new(
        "self_raised_ns",
        "self raised",
        Kind::Time,
        "self time that ended in an exception",
    )
    .hidden(),
    Column::new(
        "lifetime_ns",
        "lifetime",
        Kind::Time,
        "how long its choicepoints lived",
    )
    .hidden(),
    Column::new(
        "max_height",
        "height",
        Kind::Count,
        "most choicepoints at once, its own on top",
    )
    .hidden(),
    Column::new("file", "file", Kind::Text, "source file").hidden(),
    Column::new("line", "line", Kind::Count, "line of the first clause").hidden(),
    Column::new("predicate", "predicate", Kind::Name, "module:name/arity"),
];

impl Rows {
    fn new(analysis: &Arc<Analysis>) -> Self {
        let predicates = &analysis.profile.predicates;
        let used: Vec<PredicateIndex> = (0..predicates.len() as PredicateIndex)
            .filter(|&index| predicates[index as usize].is_used())
            .collect();
        let mut files = FxHashMap::default();
        for info in analysis.trace.predicates() {
            let file = info.declared.file;
            if let Some((id, path)) = file.and_then(|id| Some((id, analysis.trace.file(id)?))) {
                files.entry(id).or_insert_with(|| printable(path));
            }
        }
        Self {
            files,
            used,
            analysis: Arc::clone(analysis),
        }
    }

    fn declared(&self, row: usize) -> Option<&portmortem_tracer::format::Predicate> {
        let predicates = self.analysis.trace.predicates();
        Some(&predicates.get(self.used[row] as usize)?.declared)
    }
}

impl Source for Rows {
    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn rows(&self) -> usize {
        self.used.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let analysis = &*self.analysis;
        let index = self.used[row];
        let figures = &analysis.profile.predicates[index as usize];
        let times = || analysis.predicate_times(index);
        let ns = |ticks| analysis.recorded(ticks).map_or(Cell::Missing, integer);
        match COLUMNS[column].name {
            "self_share" | "self_ns" => integer(analysis.ns(times().self_ticks)),
            "inclusive_share" | "inclusive_ns" => integer(analysis.ns(times().inclusive_ticks)),
            "calls" => integer(figures.calls),
            "exits" => integer(figures.exits()),
            "redos" => integer(figures.redos),
            "fails" => integer(figures.fails),
            "determinism" => figures
                .determinism(analysis.trace.header().mode.byrd)
                .map_or(Cell::Missing, |seen| Cell::Text(Determinism::name(seen))),
            "undone_ns" => ns(figures.undone_ticks),
            "failed_ns" => ns(figures.failed_ticks),
            "events" => integer(events(figures)),
            "exceptions" => integer(figures.exceptions),
            "tail_calls" => integer(figures.tail_calls),
            "exits_det" => integer(figures.exits_det),
            "exits_nondet" => integer(figures.exits_nondet),
            "cuts" => integer(figures.cuts),
            "pending" => integer(figures.pending),
            "open" => integer(figures.open),
            "raised_ns" => ns(figures.raised_ticks),
            "open_ns" => ns(figures.open_ticks),
            "self_failed_ns" => ns(figures.self_failed_ticks),
            "self_raised_ns" => ns(figures.self_raised_ticks),
            "lifetime_ns" => ns(figures.lifetime_ticks),
            "max_height" => integer(figures.max_height),
            "file" => self
                .declared(row)
                .and_then(|declared| self.files.get(&declared.file?))
                .map_or(Cell::Missing, |file| Cell::Text(file)),
            "line" => self
                .declared(row)
                .filter(|declared| declared.line > 0)
                .map_or(Cell::Missing, |declared| integer(declared.line.into())),
            _ => Cell::Text(analysis.predicate(index)),
        }
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.used[row])
    }

    fn whole(&self) -> u64 {
        self.analysis.total_ns()
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        Some(self.used[row])
    }
}

/// Port events of the boxes of a predicate.
fn events(figures: &PredicateFigures) -> u64 {
    [
        figures.exits(),
        figures.redos,
        figures.fails,
        figures.exceptions,
    ]
    .iter()
    .fold(figures.calls, |sum, &count| sum.saturating_add(count))
}
