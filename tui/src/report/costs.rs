//! What ran in which cost centre, and symbolic costs: a line for each centre, then for each predicate.

use portmortem_analyzer::Analysis;
use portmortem_analyzer::costs::{Component, Costs};
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::tables::CenterRow;
use portmortem_analyzer::text::percent;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::names::printable;

use super::{page_width, unit};
use crate::text_table::{Column, render};

/// Time and counts of each cost centre, the most time first; nothing if the program has none.
pub(super) fn centers(report: &Analysis, counted: Counted) -> String {
    if !report.trace.has_centers() {
        return String::new();
    }
    let rows: Vec<CenterRow> = report.tables_of(counted).centers().collect();
    if rows.is_empty() {
        return String::new();
    }
    let unit = unit(report, counted);
    let total = rows.iter().map(|row| row.self_ns);
    let total = total.fold(0, u64::saturating_add);
    let numbers =
        |cell: &dyn Fn(&CenterRow) -> String| -> Vec<String> { rows.iter().map(cell).collect() };
    let counts = |heading, value: fn(&CenterRow) -> u64| {
        Column::counts(heading, &rows.iter().map(value).collect::<Vec<u64>>())
    };
    let names = rows.iter().map(|row| printable(row.cost_center));
    let net: Option<Vec<String>> = rows
        .iter()
        .map(|row| Some(unit.format(row.self_comp_ns?)))
        .collect();
    let mut columns = vec![
        Column::right(
            format!("self {}", unit.name()),
            numbers(&|row| unit.format(row.self_ns)),
        ),
        Column::right("%", numbers(&|row| percent(row.self_ns, total))),
    ];
    columns.extend(net.map(|net| Column::right("net", net)));
    columns.extend([
        counts("entered", |row| row.entered),
        counts("calls", |row| row.calls),
        counts("redos", |row| row.redos),
        counts("fails", |row| row.fails),
        Column::left("cost centre", names.collect()),
    ]);
    render(&columns, page_width())
}

/// What is shown of symbolic costs; the tables have the rest.
const SHOWN: [Component; 6] = [
    Component::Calls,
    Component::Choices,
    Component::Tried,
    Component::Bound,
    Component::Cells,
    Component::Updates,
];

/// The symbolic costs of the `top` predicates whose clauses were counted, in the order of the flat profile; nothing if the recording was not a symbolic
/// one.
pub(super) fn symbolic(report: &Analysis, order: &[PredicateIndex], top: usize) -> String {
    let costs = Costs::of(&report.trace);
    if !costs.is_symbolic() {
        return String::new();
    }
    let rows: Vec<_> = order
        .iter()
        .filter(|&&index| costs.counted_calls(index) > 0)
        .take(top)
        .map(|&index| (index, costs.of_predicate(index)))
        .collect();
    let mut columns: Vec<Column> = SHOWN
        .iter()
        .map(|component| {
            let sums = rows.iter();
            let sums = sums.map(|(_, sums)| sums.get(component).copied().unwrap_or(0));
            Column::counts(component.name(), &sums.collect::<Vec<u64>>())
        })
        .collect();
    let names = rows
        .iter()
        .map(|&(index, _)| report.trace.predicate_name(index).to_owned());
    columns.push(Column::left("symbolic costs of", names.collect()));
    render(&columns, page_width())
}
