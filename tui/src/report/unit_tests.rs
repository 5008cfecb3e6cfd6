//! The tests of plunit that ran: a line for each.

use portmortem_analyzer::Analysis;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::tables::{Row, Table, TestRow, UnitTest};

use super::catalogue::{self, Printed};
use super::{page_width, shown_of, unit};
use crate::text_table::render;

const fn printed(name: &str) -> Printed {
    Printed::of(Table::Tests, name)
}

const TIMES: &[Printed] = &[
    printed("self_ns").with_unit(),
    printed("self_ns").share().dispensable(1),
];

const NET: Printed = printed("self_comp_ns");

const COUNTS: &[Printed] = &[
    printed("runs"),
    printed("calls"),
    printed("redos"),
    printed("choicepoints"),
    printed("collections").dispensable(2),
    printed("line"),
    printed("test"),
];

/// The rows of the table `tests`, sorted by a column of it ([`catalogue::sort`]), equal ones in the
/// order in which they ran.
pub(crate) fn order(report: &Analysis, sort: usize, counted: Counted) -> Vec<UnitTest<'_>> {
    let mut tests = report.tables_of(counted).test_list();
    catalogue::sort::<TestRow>(&mut tests, sort);
    tests
}

/// The first `top` of these tests, and a line on the rest; how to record them if there are none.
pub(crate) fn table(report: &Analysis, tests: &[UnitTest], top: usize, counted: Counted) -> String {
    if tests.is_empty() {
        return "  The trace has no tests; record them with --tests.\n".to_owned();
    }
    let whole = tests.iter().map(|test| TestRow::new(test).self_ns);
    let whole = whole.fold(0, u64::saturating_add);
    let shown = &tests[..tests.len().min(top)];
    let net = Some(NET).filter(|net| catalogue::is_known::<TestRow>(shown, *net));
    let printed = TIMES
        .iter()
        .copied()
        .chain(net)
        .chain(COUNTS.iter().copied());
    let columns = catalogue::columns::<TestRow>(shown, unit(report, counted), whole, printed);
    render(&columns, page_width()) + &shown_of(shown.len(), tests.len())
}
