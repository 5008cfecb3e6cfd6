//! Callers, the predicate, callees (SWI-Prolog manual 4.41.2, figure 3): times of the callers add up to the
//! inclusive time of the predicate, and so do its own time and those of the callees. As gprof has it, the largest caller is next to the
//! predicate: callers are in the opposite order.

use std::borrow::Cow;
use std::sync::Arc;

use portmortem_analyzer::figures::{Caller, EdgeFigures};
use portmortem_analyzer::tables::{self, Cell, EdgeRow, Row as _};
use portmortem_analyzer::trace::PredicateIndex;

use crate::analysis::AnalysisView;
use crate::table::integer;
use crate::table::{CellKind, ListColumn, Source, key_of};

/// The rows.
#[derive(Debug)]
pub(super) struct Neighbours {
    analysis: Arc<AnalysisView>,
    subject: PredicateIndex,
    rows: Vec<NeighbourRow>,
}

/// What a row is, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Relation {
    Caller,
    Recursive,
    Subject,
    Itself,
    Callee,
}

#[derive(Debug)]
struct NeighbourRow {
    role: Relation,
    who: Caller,
    edge: EdgeFigures,
}

const fn of(name: &'static str) -> ListColumn {
    ListColumn::of(tables::Table::Edges, name)
}

const COLUMNS: &[ListColumn] = &[
    ListColumn::new(
        "share",
        "%",
        CellKind::Share,
        "Time, of the inclusive time of the predicate.",
    )
    .net_name("comp_share"),
    ListColumn::new(
        "time_ns",
        "time",
        CellKind::Time,
        "Of callers: time served. Of callees: time spent in them.",
    )
    .net_name("time_comp_ns"),
    of("calls"),
    of("exits").rank(1),
    of("redos").rank(2).unless_zero(),
    of("fails").unless_zero(),
    of("tail_calls").hidden(),
    ListColumn::new(
        "role",
        "",
        CellKind::Text,
        "Called by, total, in itself, calls.",
    )
    .hidden(),
    ListColumn::new(
        "predicate",
        "predicate",
        CellKind::Name,
        "Caller or callee.",
    ),
];

impl Neighbours {
    pub(super) fn new(analysis: &Arc<AnalysisView>, subject: PredicateIndex) -> Self {
        let edges = &analysis.profile.edges;
        let me = Caller::Predicate(subject);
        let callers = edges.iter().filter(|((_, callee), _)| *callee == subject);
        let callers = callers.map(|(&(who, _), &edge)| NeighbourRow {
            role: if who == me {
                Relation::Recursive
            } else {
                Relation::Caller
            },
            who,
            edge,
        });
        let callees = edges.range((me, 0)..=(me, PredicateIndex::MAX));
        let callees = callees.filter(|((_, callee), _)| *callee != subject);
        let counted = analysis.counted_of(subject);
        let callees = callees.filter(|((_, callee), edge)| {
            counted.shows(&analysis.trace, *callee, counted.edge(edge).spent_ticks)
        });
        let callees = callees.map(|(&(_, callee), &edge)| NeighbourRow {
            role: Relation::Callee,
            who: Caller::Predicate(callee),
            edge,
        });
        let figures = analysis.profile.predicates.get(subject as usize);
        let total = figures.map_or_else(EdgeFigures::default, |figures| EdgeFigures {
            ports: figures.ports,
            ..EdgeFigures::default()
        });
        let own = [Relation::Subject, Relation::Itself].map(|role| NeighbourRow {
            role,
            who: me,
            edge: total,
        });
        Self {
            rows: callers.chain(own).chain(callees).collect(),
            analysis: Arc::clone(analysis),
            subject,
        }
    }

    /// How many rows are before that of the predicate itself: its callers.
    pub(super) fn callers(&self) -> usize {
        let is_caller =
            |row: &&NeighbourRow| matches!(row.role, Relation::Caller | Relation::Recursive);
        self.rows.iter().filter(is_caller).count()
    }

    /// The row of the predicate itself.
    pub(super) fn itself(&self) -> usize {
        let found = self
            .rows
            .iter()
            .position(|row| row.role == Relation::Subject);
        found.unwrap_or(0)
    }

    /// The time of a row; recursive calls have none.
    fn time(&self, row: &NeighbourRow) -> Cell<'_> {
        let ns = |ticks| integer(self.analysis.ns(ticks));
        let own = self.analysis.predicate_times(self.subject);
        match row.role {
            Relation::Caller => self.edge(row, of("served_ns")),
            Relation::Recursive => Cell::Missing,
            Relation::Subject => ns(own.inclusive_ticks),
            Relation::Itself => ns(own.self_ticks),
            Relation::Callee => self.edge(row, of("spent_ns")),
        }
    }

    fn edge(&self, row: &NeighbourRow, column: ListColumn) -> Cell<'_> {
        let me = Caller::Predicate(self.subject);
        let pair = match row.who {
            Caller::Predicate(callee) if row.role == Relation::Callee => (me, callee),
            who => (who, self.subject),
        };
        let tables = self
            .analysis
            .tables_of(self.analysis.counted_of(self.subject));
        let of = tables.edge(pair, row.edge);
        column.cell(self.is_net(), |at| EdgeRow::cell(&of, at))
    }

    /// A count: of the predicate itself it is its own, and none is only of the time in itself.
    fn count(&self, row: &NeighbourRow, column: ListColumn) -> Cell<'_> {
        match row.role {
            Relation::Itself => Cell::Missing,
            _ => self.edge(row, column),
        }
    }
}

impl Source for Neighbours {
    fn columns(&self) -> &'static [ListColumn] {
        COLUMNS
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let row = &self.rows[row];
        match COLUMNS[column].name {
            "share" | "time_ns" => self.time(row),
            "role" => Cell::Text(match row.role {
                Relation::Caller | Relation::Recursive => "called by",
                Relation::Subject => "= total",
                Relation::Itself => "in itself",
                Relation::Callee => "calls",
            }),
            "predicate" => Cell::Text(match row.role {
                Relation::Recursive => "<recursive>",
                Relation::Itself => "in itself",
                _ => self.analysis.caller(row.who),
            }),
            _ => self.count(row, COLUMNS[column]),
        }
    }

    fn key(&self, row: usize) -> u64 {
        let row = &self.rows[row];
        key_of((row.role, row.who))
    }

    fn whole(&self) -> u64 {
        let times = self.analysis.predicate_times(self.subject);
        self.analysis.ns(times.inclusive_ticks)
    }

    fn is_net(&self) -> bool {
        self.analysis.is_net()
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        match self.rows[row].who {
            Caller::Predicate(index) => Some(index),
            Caller::Root => None,
        }
    }

    fn is_reversed(&self, group: u8) -> bool {
        group == Relation::Caller as u8
    }

    fn short_name(&self, row: usize) -> Option<Cow<'_, str>> {
        self.analysis.module()?;
        let row = &self.rows[row];
        match (row.role, row.who) {
            (Relation::Recursive | Relation::Itself, _) | (_, Caller::Root) => None,
            (_, Caller::Predicate(index)) => Some(self.analysis.short_name(index)),
        }
    }

    fn about_names(&self) -> Option<String> {
        self.analysis.module().map(|module| format!("of {module}"))
    }

    fn group(&self, row: usize) -> u8 {
        self.rows[row].role as u8
    }

    fn sign(&self, row: usize) -> &'static str {
        match self.rows[row].role {
            Relation::Caller | Relation::Recursive => "< ",
            Relation::Subject => "",
            Relation::Itself | Relation::Callee => "> ",
        }
    }

    fn is_subject(&self, row: usize) -> bool {
        self.rows[row].role == Relation::Subject
    }
}
