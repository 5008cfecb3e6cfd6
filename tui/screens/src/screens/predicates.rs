//! Screen 1: all predicates, a row each.

use std::sync::{Arc, LazyLock};

use portmortem_analyzer::tables::{self, Cell, PredicateRow, Row};
use portmortem_analyzer::trace::PredicateIndex;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Effect, Screen, first_event, how_many};
use crate::analysis::AnalysisView;
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

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
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
    analysis: Arc<AnalysisView>,
    used: Vec<PredicateIndex>,
}

const SELF_SHARE: usize = 0;
const INCLUSIVE_SHARE: usize = 1;

const fn of(name: &'static str) -> Column {
    Column::of(tables::Table::Predicates, name)
}

const CHOSEN: &[Column] = &[
    of("self_ns").shown_as(
        "self_share",
        "self %",
        Kind::Share,
        "Self time, of all time.",
    ),
    of("inclusive_ns")
        .shown_as(
            "inclusive_share",
            "incl %",
            Kind::Share,
            "Inclusive time, of all time.",
        )
        .hidden(),
    of("self_ns"),
    of("inclusive_ns"),
    of("calls"),
    of("exits"),
    of("redos"),
    of("fails"),
    of("determinism"),
    of("undone_ns"),
    of("failed_ns"),
    of("events"),
    of("exceptions"),
    of("tail_calls"),
    of("exits_det"),
    of("exits_nondet"),
    of("cuts"),
    of("pending"),
    of("open"),
    of("predicate").name(),
];

static COLUMNS: LazyLock<Vec<Column>> =
    LazyLock::new(|| Column::and_others(tables::Table::Predicates, CHOSEN));

impl Rows {
    fn new(analysis: &Arc<AnalysisView>) -> Self {
        let predicates = &analysis.profile.predicates;
        let used = (0..predicates.len() as PredicateIndex)
            .filter(|&index| predicates[index as usize].is_used());
        Self {
            used: used.collect(),
            analysis: Arc::clone(analysis),
        }
    }
}

impl Source for Rows {
    fn columns(&self) -> &'static [Column] {
        &COLUMNS
    }

    fn rows(&self) -> usize {
        self.used.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let of = self.analysis.tables().predicate(self.used[row]);
        COLUMNS[column].cell(self.is_net(), |at| PredicateRow::cell(&of, at))
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.used[row])
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
}
