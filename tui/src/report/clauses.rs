//! The clauses that were entered: a line for each, and one for boxes of their predicates while no clause of them is known.

use std::cmp::Reverse;

use portmortem_analyzer::Analysis;
use portmortem_analyzer::advice::record_hint;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::tables::{ClauseData, ClauseRow, Table};
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::names::printable;

use super::catalogue::{self, Printed};
use super::{page_width, shown_of, unit};
use crate::text_table::{TextColumn, render};

const fn printed(name: &str) -> Printed {
    Printed::of(Table::Clauses, name)
}

const FIGURES: &[Printed] = &[
    printed("failed_ns").with_unit(),
    printed("failed_ns").share().dispensable(2),
    printed("self_ns").dispensable(1),
    printed("entered"),
    printed("failed"),
    printed("exits"),
    printed("left"),
];

const LINE: Printed = printed("line").dispensable(3);

/// The rows of the table `clauses`, or those of them whose predicate was `chosen`, sorted by a column
/// of it ([`catalogue::sort`]), and where that is equal by self time.
pub(crate) fn order<'t>(
    report: &'t Analysis,
    chosen: Option<&[PredicateIndex]>,
    sort: usize,
) -> Vec<ClauseData<'t>> {
    let mut clauses = report.tables().clause_list();
    if let Some(chosen) = chosen {
        clauses.retain(|clause| chosen.contains(&clause.predicate));
    }
    clauses.sort_by_key(|clause| Reverse(clause.figures.self_ticks));
    catalogue::sort::<ClauseRow>(&mut clauses, sort);
    clauses
}

/// The first `top` of these clauses, and a line on the rest; how to record them if the trace says nothing of clauses.
pub(crate) fn table(report: &Analysis, clauses: &[ClauseData], top: usize) -> String {
    if report.trace.clauses().is_empty() {
        let hint = record_hint(&report.trace, "; record it with --clauses");
        return format!("  The trace does not say which clauses were entered{hint}.\n");
    }
    let shown = &clauses[..clauses.len().min(top)];
    let unit = unit(report, Counted::Work);
    let whole = report.ns(report.work(None).ticks);
    let printed = |printed: &[Printed]| {
        catalogue::columns::<ClauseRow>(shown, unit, whole, printed.iter().copied())
    };
    let unused = shown.iter().map(|clause| clause.figures.left_unused());
    let names = shown.iter().map(|clause| name(report, clause));
    let mut columns = printed(FIGURES);
    columns.push(TextColumn::counts("unused", &unused.collect::<Vec<_>>()));
    columns.extend(printed(&[LINE]));
    columns.push(TextColumn::left("clause", names.collect()));
    render(&columns, page_width()) + &shown_of(shown.len(), clauses.len())
}

/// Which clause of which predicate it is, and its file if that is not the predicate's.
fn name(report: &Analysis, clause: &ClauseData) -> String {
    let predicate = report.predicate(clause.predicate);
    let Some(info) = clause.info() else {
        return format!("{predicate} none");
    };
    let number = info.number;
    let usual = report.source(clause.predicate).map(|(file, _)| file);
    match clause.file().filter(|&file| Some(file) != usual) {
        Some(file) => format!("{predicate} #{number} {}", printable(file)),
        None => format!("{predicate} #{number}"),
    }
}
