//! The goals of clauses that made calls: a line for each, and one for the calls of each caller and callee that do not say their goal.

use portmortem_analyzer::Analysis;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::tables::{Row, SiteData, SiteRow, Table};
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::names::file_line;

use super::catalogue::{self, Printed};
use super::{page_width, shown_of, unit};
use crate::text_table::{TextColumn, render};

const fn printed(name: &str) -> Printed {
    Printed::of(Table::Sites, name)
}

const COLUMNS: &[Printed] = &[
    printed("served_ns").with_unit(),
    printed("served_ns").share().dispensable(2),
    printed("calls"),
    printed("exits"),
    printed("redos"),
    printed("fails"),
];

const UNDONE: Printed = printed("undone_ns");

/// The rows of the table `sites`, or those of them whose caller or callee was `chosen`, sorted by a
/// column of it ([`catalogue::sort`]).
pub(crate) fn order<'t>(
    report: &'t Analysis,
    chosen: Option<&[PredicateIndex]>,
    sort: usize,
    counted: Counted,
) -> Vec<SiteData<'t>> {
    let mut sites = report.tables_of(counted).site_list();
    sites.retain(|site| counted.shows(&report.trace, site.callee, site.figures.served_ticks));
    if let Some(chosen) = chosen {
        sites.retain(|site| {
            let caller = site.caller.predicate();
            chosen.contains(&site.callee) || caller.is_some_and(|caller| chosen.contains(&caller))
        });
    }
    catalogue::sort::<SiteRow>(&mut sites, sort);
    sites
}

/// The first `top` of these sites, in the order of a column, and a line on the rest.
pub(crate) fn table(
    report: &Analysis,
    sites: &[SiteData],
    sort: usize,
    counted: Counted,
    top: usize,
) -> String {
    // What the order is by is shown.
    let rank_of_undone = u8::from(SiteRow::ALL[sort].name != "undone_ns");
    let shown = &sites[..sites.len().min(top)];
    let unit = unit(report, counted);
    let whole = report.ns(report.counted_ticks(counted, None));
    let printed = COLUMNS
        .iter()
        .copied()
        .chain([UNDONE.dispensable(rank_of_undone)]);
    let mut columns = catalogue::columns::<SiteRow>(shown, unit, whole, printed);
    let goals = shown.iter().map(|site| {
        let callee = report.predicate(site.callee);
        format!("{}: {} > {callee}", place(site), report.caller(site.caller))
    });
    columns.push(TextColumn::goals("goal", goals.collect()));
    render(&columns, page_width()) + &shown_of(shown.len(), sites.len())
}

/// `file:line` of a goal, the file without its directories; which goal of which clause it is where that is not known.
fn place(site: &SiteData) -> String {
    let Some(info) = site.info() else {
        return "no site".to_owned();
    };
    match (site.file(), site.line()) {
        (Some(file), Some(line)) => file_line(file, line),
        (None, Some(line)) => format!("line {line}"),
        (_, None) => format!("clause {}, goal {}", info.clause, info.goal),
    }
}
