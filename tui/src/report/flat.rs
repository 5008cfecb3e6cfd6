//! The flat profile: one line for each predicate.

use std::cmp::Reverse;

use portmortem_analyzer::figures::PredicateFigures;
use portmortem_analyzer::figures::net_times::Times;
use portmortem_analyzer::trace::PredicateIndex;

use super::{Report, WIDTH};
use crate::cli::SortColumn;
use crate::text_table::{Column, count, percent, render};

/// The predicates that ran, in the order asked for: largest first, names alphabetically.
pub(crate) fn order(report: &Report, sort: SortColumn) -> Vec<PredicateIndex> {
    let figures = |index: PredicateIndex| &report.profile.predicates[index as usize];
    let mut order: Vec<PredicateIndex> = (0..report.profile.predicates.len() as PredicateIndex)
        .filter(|&index| figures(index).is_used())
        .collect();
    order.sort_by_key(|&index| report.trace.predicate_name(index).to_owned());
    if sort != SortColumn::Name {
        order.sort_by_key(|&index| Reverse(key(figures(index), sort)));
    }
    order
}

fn key(figures: &PredicateFigures, sort: SortColumn) -> u64 {
    match sort {
        SortColumn::SelfTime => figures.self_ticks,
        SortColumn::Inclusive => figures.inclusive_ticks,
        SortColumn::Calls => figures.calls,
        SortColumn::Exits => figures.exits(),
        SortColumn::Redos => figures.redos,
        SortColumn::Fails => figures.fails,
        SortColumn::Exceptions => figures.exceptions,
        SortColumn::Cuts => figures.cuts,
        SortColumn::Undone => figures.undone_ticks,
        SortColumn::Name => 0,
    }
}

/// The table of the first `top` of `order`, and a line on the rest.
pub(crate) fn table(report: &Report, order: &[PredicateIndex], top: usize) -> String {
    let shown = &order[..order.len().min(top)];
    let unit = report.unit();
    let total = report.profile.total_ticks();
    let cells = |cell: &dyn Fn(&PredicateFigures) -> String| -> Vec<String> {
        shown
            .iter()
            .map(|&index| cell(&report.profile.predicates[index as usize]))
            .collect()
    };
    let counts = |heading, value: fn(&PredicateFigures) -> u64| {
        let figures = |&index: &PredicateIndex| &report.profile.predicates[index as usize];
        let values: Vec<u64> = shown.iter().map(figures).map(value).collect();
        Column::counts(heading, &values)
    };
    let mut columns = vec![
        Column::right(
            format!("self {}", unit.name),
            cells(&|f| unit.format(report.ns(f.self_ticks))),
        ),
        Column::right("%", cells(&|f| percent(f.self_ticks, total))).dispensable(1),
        Column::right(
            // In the same unit.
            "incl.",
            cells(&|f| unit.format(report.ns(f.inclusive_ticks))),
        ),
    ];
    if let Some(compensation) = &report.profile.net {
        let net = |ticks: &dyn Fn(&Times) -> u64| -> Column {
            let cell = |index: &PredicateIndex| {
                let times = compensation.predicates.get(*index as usize);
                times.map_or_else(String::new, |times| unit.format(report.ns(ticks(times))))
            };
            // In the unit of the column before.
            Column::right("net", shown.iter().map(cell).collect())
        };
        columns.insert(2, net(&|times| times.self_ticks));
        let recorded = columns.pop().map(|column| column.dispensable(2));
        columns.extend(recorded);
        columns.push(net(&|times| times.inclusive_ticks));
    }
    columns.extend([
        counts("calls", |f| f.calls),
        counts("exits", |f| f.exits()),
        counts("redos", |f| f.redos),
        counts("fails", |f| f.fails),
    ]);
    if shown
        .iter()
        .any(|&index| report.profile.predicates[index as usize].exceptions > 0)
    {
        columns.push(counts("exc.", |f| f.exceptions));
    }
    let names = shown
        .iter()
        .map(|&index| report.trace.predicate_name(index).to_owned())
        .collect();
    columns.push(Column::left("predicate", names));
    let mut text = render(&columns, WIDTH);
    if order.len() > shown.len() {
        let rest: u64 = order[shown.len()..]
            .iter()
            .map(|&index| report.profile.predicates[index as usize].self_ticks)
            .sum();
        text.push_str(&format!(
            "  … and {} more predicates with {} % of the time; --top {} shows all\n",
            count((order.len() - shown.len()) as u64),
            percent(rest, total),
            order.len()
        ));
    }
    text
}
