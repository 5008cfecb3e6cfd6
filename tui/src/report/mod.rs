//! The profile as text for people, as wide as the terminal.
//!
//! First what the trace is, then the flat profile, then who calls the hottest predicates and whom they call, then
//! who fails into whom, then cost centres and symbolic costs if there are any, then what was lost or distorted.

mod advice;
mod annotation;
mod arguments;
mod backtracking;
mod calls;
mod catalogue;
mod clauses;
mod comparison;
mod costs;
mod events;
mod flat;
mod neighbours;
mod remarks;
mod sites;
mod unit_tests;
mod values;
mod waits;

use std::env;
use std::io::{self, IsTerminal};

use portmortem_analyzer::Analysis;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::text::{TimeUnit, count};
use portmortem_analyzer::trace::{PredicateIndex, PredicateInfo};
use rustix::termios::tcgetwinsize;

pub(crate) use advice::{fill, finding, findings, object as finding_object, whole};
pub(crate) use annotation::listing;
pub(crate) use clauses::{order as clause_order, table as clause_table};
pub(crate) use comparison::{
    goals as compared_goals, headline as compared_headline, predicates as compared_predicates,
    tests as compared_tests,
};
pub(crate) use events::{Lines, history as history_of_box};
pub(crate) use flat::order;
pub(crate) use remarks::{as_list, headline, losses, remarks, work};
pub(crate) use sites::{order as site_order, table as site_table};
pub(crate) use unit_tests::{order as test_order, table as test_table};
pub(crate) use waits::{order as wait_order, table as wait_table};

/// The width of reports where there is no terminal; they are never narrower.
const LEAST_WIDTH: usize = 80;

/// The width that reports are laid out for.
#[must_use]
pub(crate) fn page_width() -> usize {
    chosen_width().unwrap_or(LEAST_WIDTH)
}

/// The width that `COLUMNS` says, or else that of the terminal that standard output is; but no less than that of any report.
/// `None` if there is neither: the same is printed everywhere then.
pub(crate) fn chosen_width() -> Option<usize> {
    let said = env::var("COLUMNS").ok().and_then(|said| said.parse().ok());
    let width = said.or_else(terminal_width);
    width.map(|width| width.max(LEAST_WIDTH))
}

fn terminal_width() -> Option<usize> {
    let out = io::stdout();
    let columns = || tcgetwinsize(&out).map_or(0, |size| usize::from(size.ws_col));
    out.is_terminal().then(columns)
}

/// The line below a table of which not all `rows` are shown.
fn shown_of(shown: usize, rows: usize) -> String {
    match rows - shown {
        0 => String::new(),
        more => format!(
            "  … and {} more; --top {rows} shows all\n",
            count(more as u64)
        ),
    }
}

/// Backtrack edges that an overview shows.
const BACKTRACKS: usize = 5;

/// The flat profile of the first `top` of these predicates, then callers and callees of the first three, then
/// failures by what they resumed.
pub(crate) fn overview(
    analysis: &Analysis,
    columns: &[usize],
    order: &[PredicateIndex],
    top: usize,
    counted: Counted,
) -> String {
    let order = order.iter().copied();
    let order: Vec<_> = order
        .filter(|&index| counted.has(&analysis.trace, index))
        .collect();
    let mut tables = vec![flat::table(analysis, columns, &order, top, counted)];
    // What the recorder did is of interest to those who ask for it.
    let infos = analysis.trace.predicates();
    let is_set_up = |index: PredicateIndex| {
        let info = infos.get(index as usize);
        info.is_some_and(PredicateInfo::is_set_up)
    };
    let hottest = order.iter().filter(|&&index| !is_set_up(index));
    let hottest = hottest.take(3.min(top));
    tables.extend(hottest.map(|&index| neighbours::block(analysis, index, counted)));
    tables.push(backtracking::table(analysis, top.min(BACKTRACKS)));
    tables.push(costs::centers(analysis, counted));
    // These are of the whole trace.
    if analysis.filters.is_everything() {
        tables.push(costs::symbolic(analysis, &order, top));
    }
    tables.retain(|table| !table.is_empty());
    tables.join("\n")
}

/// Callers, itself, callees, and the time of one call of some predicates; before them a line for each with the columns asked for.
pub(crate) fn predicates(
    analysis: &Analysis,
    columns: &[usize],
    indices: &[PredicateIndex],
    counted: Counted,
) -> String {
    let lines =
        (!columns.is_empty()).then(|| flat::table(analysis, columns, indices, usize::MAX, counted));
    let blocks = indices.iter().flat_map(|&index| {
        [
            neighbours::block(analysis, index, counted),
            calls::block(analysis, index),
        ]
    });
    let blocks = blocks.filter(|block| !block.is_empty());
    let all: Vec<String> = lines.into_iter().chain(blocks).collect();
    all.join("\n")
}

/// One unit for all times of a report.
fn unit(analysis: &Analysis, counted: Counted) -> TimeUnit {
    let figures = analysis.profile.predicates.iter();
    let longest = figures.map(|figures| counted.predicate(figures).inclusive_ticks);
    TimeUnit::for_longest(analysis.ns(longest.max().unwrap_or(0)))
}
