//! What ran in which cost centre, and symbolic costs: a line for each centre, then for each predicate.

use portmortem_analyzer::Analysis;
use portmortem_analyzer::costs::{Component, Costs};
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::tables::{CenterRow, Row, Table};
use portmortem_analyzer::trace::PredicateIndex;

use super::catalogue::{self, Printed};
use super::{page_width, unit};
use crate::text_table::{TextColumn, render};

const fn printed(name: &str) -> Printed {
    Printed::of(Table::Centers, name)
}

const TIMES: &[Printed] = &[printed("self_ns").with_unit(), printed("self_ns").share()];

const NET: Printed = printed("self_comp_ns");

const COUNTS: &[Printed] = &[
    printed("entered"),
    printed("calls"),
    printed("redos"),
    printed("fails"),
    printed("cost_center"),
];

/// Time and counts of each cost centre, the most time first; nothing if the program has none.
pub(super) fn centers(report: &Analysis, counted: Counted) -> String {
    if !report.trace.has_centers() {
        return String::new();
    }
    let centers = report.tables_of(counted).center_list();
    if centers.is_empty() {
        return String::new();
    }
    let whole = centers.iter().map(|center| CenterRow::new(center).self_ns);
    let whole = whole.fold(0, u64::saturating_add);
    let net = Some(NET).filter(|net| catalogue::is_known::<CenterRow>(&centers, *net));
    let printed = TIMES
        .iter()
        .copied()
        .chain(net)
        .chain(COUNTS.iter().copied());
    let columns = catalogue::columns::<CenterRow>(&centers, unit(report, counted), whole, printed);
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
    let mut columns: Vec<TextColumn> = SHOWN
        .iter()
        .map(|component| {
            let sums = rows.iter();
            let sums = sums.map(|(_, sums)| sums.get(component).copied().unwrap_or(0));
            TextColumn::counts(component.name(), &sums.collect::<Vec<u64>>())
        })
        .collect();
    let names = rows
        .iter()
        .map(|&(index, _)| report.trace.predicate_name(index).to_owned());
    columns.push(TextColumn::left("symbolic costs of", names.collect()));
    render(&columns, page_width())
}
