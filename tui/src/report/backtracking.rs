//! Who fails into whom (Debray 1988, section 3.3): one line for each backtrack edge.

use std::cmp::Reverse;

use portmortem_analyzer::Analysis;
use portmortem_analyzer::figures::BacktrackFigures;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::text::{count, percent};

use super::{page_width, unit};
use crate::text_table::{Column, render};

/// The edges that threw away the most work, and a line on the rest; nothing if there are none.
pub(crate) fn table(report: &Analysis, top: usize) -> String {
    let mut edges: Vec<_> = report.profile.backtracks.iter().collect();
    edges.sort_by_key(|((failed, resumed), edge)| {
        let names = [
            report.caller(*failed),
            report.trace.predicate_name(*resumed),
        ];
        (Reverse(edge.undone_ticks), Reverse(edge.count), names)
    });
    let shown = &edges[..edges.len().min(top)];
    if shown.is_empty() {
        return String::new();
    }
    let unit = unit(report, Counted::Work);
    let total = report.whole().work_ticks;
    let numbers = |cell: &dyn Fn(&BacktrackFigures) -> String| -> Vec<String> {
        shown.iter().map(|(_, edge)| cell(edge)).collect()
    };
    let counts: Vec<u64> = shown.iter().map(|(_, edge)| edge.count).collect();
    let names = shown.iter().map(|((failed, resumed), _)| {
        let resumed = report.trace.predicate_name(*resumed);
        format!("{} > {resumed}", report.caller(*failed))
    });
    let mut columns = vec![
        Column::right(
            format!("undone {}", unit.name()),
            numbers(&|edge| unit.format(report.ns(edge.undone_ticks))),
        ),
        Column::right("%", numbers(&|edge| percent(edge.undone_ticks, total))),
    ];
    if shown.iter().any(|(_, edge)| edge.collected_ticks > 0) {
        let collected = numbers(&|edge| unit.format(report.ns(edge.collected_ticks)));
        columns.push(Column::right("collected", collected));
    }
    columns.extend([
        Column::counts("times", &counts),
        Column::goals("what failed > what was re-entered", names.collect()),
    ]);
    let mut text = render(&columns, page_width());
    let more = (edges.len() - shown.len()) as u64;
    if more > 0 {
        let rest = edges[shown.len()..].iter();
        let undone = rest.map(|(_, edge)| edge.undone_ticks);
        let undone = undone.fold(0, u64::saturating_add);
        text.push_str(&format!(
            "  … and {} more with {} % of the work\n",
            count(more),
            percent(undone, total)
        ));
    }
    text
}
