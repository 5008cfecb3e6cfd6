//! Who fails into whom (Debray 1988, section 3.3): one line for each backtrack edge.

use portmortem_analyzer::Analysis;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::tables::{BacktrackRow, Row, Table};
use portmortem_analyzer::text::{count, percent};

use super::catalogue::{self, Printed};
use super::{page_width, unit};
use crate::text_table::{TextColumn, render};

const fn printed(name: &str) -> Printed {
    Printed::of(Table::Backtracks, name)
}

const TIMES: &[Printed] = &[
    printed("undone_ns").with_unit(),
    printed("undone_ns").share(),
];

const COLLECTED: Printed = printed("collected_ns");

const COUNT: Printed = printed("count");

/// The edges that threw away the most work, and a line on the rest; nothing if there are none.
pub(crate) fn table(report: &Analysis, top: usize) -> String {
    let edges = report.tables().backtrack_list();
    let shown = &edges[..edges.len().min(top)];
    if shown.is_empty() {
        return String::new();
    }
    let whole = report.ns(report.whole().work_ticks);
    let collects = shown.iter().any(|edge| edge.figures.collected_ticks > 0);
    let printed = TIMES
        .iter()
        .chain(collects.then_some(&COLLECTED))
        .chain([&COUNT]);
    let unit = unit(report, Counted::Work);
    let mut columns = catalogue::columns::<BacktrackRow>(shown, unit, whole, printed.copied());
    let names = shown.iter().map(|edge| {
        let row = BacktrackRow::new(edge);
        format!("{} > {}", row.failed, row.resumed)
    });
    columns.push(TextColumn::goals(
        "what failed > what was re-entered",
        names.collect(),
    ));
    let mut text = render(&columns, page_width());
    let more = (edges.len() - shown.len()) as u64;
    if more > 0 {
        let rest = edges[shown.len()..].iter();
        let undone = rest.map(|edge| edge.figures.undone_ticks);
        let undone = report.ns(undone.fold(0, u64::saturating_add));
        text.push_str(&format!(
            "  … and {} more with {} % of the work\n",
            count(more),
            percent(undone, whole)
        ));
    }
    text
}
