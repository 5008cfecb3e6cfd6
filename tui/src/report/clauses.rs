//! The clauses that were entered: a line for each, and one for boxes of their predicates while no clause of them is known.

use portmortem_analyzer::Analysis;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::tables::{Clause, ClauseRow, Row};
use portmortem_analyzer::text::percent;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::names::printable;

use super::flat::compare;
use super::{page_width, shown_of, unit};
use crate::text_table::{Column, render};

/// The rows of the table `clauses`, or those of them whose predicate was `chosen`, sorted by a column of it, and where that is equal by
/// self time: numbers the largest first, texts alphabetically; what is not known comes last.
pub(crate) fn order<'t>(
    report: &'t Analysis,
    chosen: Option<&[PredicateIndex]>,
    sort: usize,
) -> Vec<Clause<'t>> {
    let mut clauses = report.tables().clause_list();
    if let Some(chosen) = chosen {
        clauses.retain(|clause| chosen.contains(&clause.predicate));
    }
    clauses.sort_by(|a, b| {
        compare(ClauseRow::cell(a, sort), ClauseRow::cell(b, sort))
            .then(b.figures.self_ticks.cmp(&a.figures.self_ticks))
    });
    clauses
}

/// The first `top` of these clauses, and a line on the rest; how to record them if the trace says nothing of clauses.
pub(crate) fn table(report: &Analysis, clauses: &[Clause], top: usize) -> String {
    if report.trace.clauses().is_empty() {
        return "  The trace does not say which clauses were entered; record it with --clauses.\n"
            .to_owned();
    }
    let shown = &clauses[..clauses.len().min(top)];
    let unit = unit(report, Counted::Work);
    let total = report.work(None).ticks;
    let cells = |cell: &dyn Fn(&Clause) -> String| shown.iter().map(cell).collect::<Vec<_>>();
    let counts = |heading, value: fn(&Clause) -> u64| {
        Column::counts(heading, &shown.iter().map(value).collect::<Vec<u64>>())
    };
    let time = |ticks| unit.format(report.ns(ticks));
    let columns = [
        Column::right(
            format!("failed {}", unit.name()),
            cells(&|clause| time(clause.figures.failed_ticks)),
        ),
        Column::right(
            "%",
            cells(&|clause| percent(clause.figures.failed_ticks, total)),
        )
        .dispensable(2),
        Column::right("self", cells(&|clause| time(clause.figures.self_ticks))).dispensable(1),
        counts("entered", |clause| clause.figures.entered),
        counts("in vain", |clause| clause.figures.failed),
        counts("exits", |clause| clause.figures.exits),
        counts("left", |clause| clause.figures.left),
        counts("unused", |clause| clause.figures.left_unused()),
        Column::right(
            "line",
            cells(&|clause| {
                clause
                    .line()
                    .map_or_else(String::new, |line| line.to_string())
            }),
        )
        .dispensable(3),
        Column::left("clause", cells(&|clause| name(report, clause))),
    ];
    render(&columns, page_width()) + &shown_of(shown.len(), clauses.len())
}

/// Which clause of which predicate it is, and its file if that is not the predicate's.
fn name(report: &Analysis, clause: &Clause) -> String {
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
