//! The table of predicates: those with the most time, and the sums of all others.

use std::collections::HashSet;

use portmortem_analyzer::Analysis;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::tables::{Cell, PredicateRow, Row, Table, Unit};
use portmortem_analyzer::trace::PredicateIndex;
use serde::Serialize;
use serde_json::Value;

use super::names::PageNames;
use crate::report::order;

/// The columns, by their names in the catalogue: those of files, and some that are made on request.
const COLUMNS: [&str; 27] = [
    "predicate",
    "file",
    "line",
    "calls",
    "tail_calls",
    "exits",
    "exits_det",
    "exits_nondet",
    "redos",
    "fails",
    "exceptions",
    "cuts",
    "open",
    "pending",
    "events",
    "self_ns",
    "inclusive_ns",
    "self_comp_ns",
    "inclusive_comp_ns",
    "failed_ns",
    "self_failed_ns",
    "undone_ns",
    "max_height",
    "mean_ns",
    "max_ns",
    "growth",
    "determinism",
];

/// Columns whose numbers add up to something.
const SUMS: [&str; 15] = [
    "calls",
    "tail_calls",
    "exits",
    "exits_det",
    "exits_nondet",
    "redos",
    "fails",
    "exceptions",
    "cuts",
    "open",
    "pending",
    "events",
    "self_ns",
    "self_comp_ns",
    "undone_ns",
];

/// The table. A predicate has the number of its row.
#[derive(Debug, Serialize)]
pub(super) struct PagePredicates {
    columns: Vec<PageColumn>,
    /// By row: a cell for each column.
    pub(super) rows: Vec<Vec<Value>>,
    rest: Rest,
}

#[derive(Debug, Serialize)]
struct PageColumn {
    name: &'static str,
    title: &'static str,
    /// Its numbers are times in ns.
    is_time: bool,
    help: &'static str,
}

/// All predicates that have no row.
#[derive(Debug, Serialize)]
struct Rest {
    predicates: usize,
    /// By column: the sum, where that means something.
    sums: Vec<Option<i64>>,
}

impl PagePredicates {
    /// The `top` predicates with the most self time and the `top` with the most inclusive time, net
    /// where that is measured.
    pub(super) fn of(analysis: &Analysis, top: usize, names: &mut PageNames) -> Self {
        let places = COLUMNS.map(|name| Table::Predicates.place(name));
        let tables = analysis.tables_of(Counted::Work);
        let all = |sort| -> Vec<PredicateIndex> {
            let mut order = order(tables, None, Table::Predicates.place(sort));
            order.retain(|&index| Counted::Work.has(&analysis.trace, index));
            order
        };
        let [by_self, by_inclusive] = match analysis.net_is_measured() {
            true => ["self_comp_ns", "inclusive_comp_ns"],
            false => ["self_ns", "inclusive_ns"],
        }
        .map(all);
        let first = |order: &[PredicateIndex]| order[..order.len().min(top)].to_vec();
        let shown = [first(&by_self), first(&by_inclusive)].concat();
        let shown: HashSet<PredicateIndex> = shown.into_iter().collect();
        let (mut rows, mut predicates) = (Vec::new(), 0);
        let mut sums = COLUMNS.map(|name| SUMS.contains(&name).then_some(0_i64));
        for index in by_self {
            let of = tables.predicate(index);
            let cells = places.map(|at| PredicateRow::cell(&of, at));
            if shown.contains(&index) {
                names.id(index);
                rows.push(cells.map(value).to_vec());
                continue;
            }
            predicates += 1;
            for (sum, cell) in sums.iter_mut().zip(cells) {
                *sum = match (*sum, cell) {
                    (Some(sum), Cell::Integer(number)) => Some(sum.saturating_add(number)),
                    _ => None,
                };
            }
        }
        Self {
            columns: places.map(PageColumn::of).into(),
            rows,
            rest: Rest {
                predicates,
                sums: sums.to_vec(),
            },
        }
    }
}

impl PageColumn {
    fn of(place: usize) -> Self {
        let column = &PredicateRow::ALL[place];
        Self {
            name: column.name,
            title: column.title,
            is_time: column.unit == Unit::Time,
            help: column.help,
        }
    }
}

fn value(cell: Cell) -> Value {
    match cell {
        Cell::Missing => Value::Null,
        Cell::Text(text) => text.into(),
        Cell::Integer(number) => number.into(),
        Cell::Bool(is) => is.into(),
    }
}
