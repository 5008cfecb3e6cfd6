//! The tests of plunit that ran: a line for each.

use portmortem_analyzer::Analysis;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::tables::{Row, TestRow, UnitTest};
use portmortem_analyzer::text::percent;
use portmortem_analyzer::trace::names::printable;

use super::flat::compare;
use super::{page_width, shown_of, unit};
use crate::text_table::{Column, render};

/// The rows of the table `tests`, sorted by a column of it: numbers the largest first, texts
/// alphabetically; what is not known comes last, and equal ones are in the order in which they ran.
pub(crate) fn order(report: &Analysis, sort: usize, counted: Counted) -> Vec<UnitTest<'_>> {
    let mut tests = report.tables_of(counted).test_list();
    tests.sort_by(|a, b| compare(TestRow::cell(a, sort), TestRow::cell(b, sort)));
    tests
}

/// The first `top` of these tests, and a line on the rest; how to record them if there are none.
pub(crate) fn table(report: &Analysis, tests: &[UnitTest], top: usize, counted: Counted) -> String {
    if tests.is_empty() {
        return "  The trace has no tests; record them with --tests.\n".to_owned();
    }
    let rows: Vec<TestRow> = tests.iter().map(TestRow::new).collect();
    let total = rows.iter().map(|row| row.self_ns);
    let total = total.fold(0, u64::saturating_add);
    let shown = &rows[..rows.len().min(top)];
    let unit = unit(report, counted);
    let cells = |cell: &dyn Fn(&TestRow) -> String| shown.iter().map(cell).collect::<Vec<String>>();
    let counts = |heading, value: fn(&TestRow) -> u64| {
        Column::counts(heading, &shown.iter().map(value).collect::<Vec<u64>>())
    };
    let net: Option<Vec<String>> = shown
        .iter()
        .map(|row| Some(unit.format(row.self_comp_ns?)))
        .collect();
    let mut columns = vec![
        Column::right(
            format!("self {}", unit.name()),
            cells(&|row| unit.format(row.self_ns)),
        ),
        Column::right("%", cells(&|row| percent(row.self_ns, total))).dispensable(1),
    ];
    columns.extend(net.map(|net| Column::right("net", net)));
    columns.extend([
        counts("runs", |row| row.runs),
        counts("calls", |row| row.calls),
        counts("redos", |row| row.redos),
        counts("left", |row| row.choicepoints),
        counts("collections", |row| row.collections).dispensable(2),
        Column::right(
            "line",
            cells(&|row| row.line.map_or_else(String::new, |line| line.to_string())),
        ),
        Column::left("test", cells(&|row| printable(row.test))),
    ]);
    let table = render(&columns, page_width());
    format!("{table}{}", shown_of(shown.len(), rows.len()))
}
