//! The flat profile: one line for each predicate, with columns of the catalogue ([`portmortem_analyzer::tables`]).

use portmortem_analyzer::Analysis;
use portmortem_analyzer::Tables;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::tables::{PredicateRow, Row, Table};
use portmortem_analyzer::text::{count, percent};
use portmortem_analyzer::trace::PredicateIndex;

use super::catalogue::{self, Printed, compare};
use super::{page_width, unit};
use crate::text_table::render;

const fn printed(name: &str) -> Printed {
    Printed::of(Table::Predicates, name)
}

/// What is printed unless a user asks for other columns. All times are in the unit of the first.
const RECORDED: &[Printed] = &[
    printed("self_ns").with_unit(),
    printed("self_ns").share().dispensable(1),
    printed("inclusive_ns").headed("incl."),
];

/// The same where net times are measured.
const NET: &[Printed] = &[
    printed("self_comp_ns").headed("net self").with_unit(),
    printed("self_comp_ns").share().dispensable(1),
    printed("inclusive_comp_ns").headed("incl."),
    printed("self_ns").headed("recorded").dispensable(3),
    printed("inclusive_ns").headed("incl.").dispensable(2),
];

const NAME: usize = Table::Predicates.place("predicate");

/// What follows the times.
const COUNTS: &[Printed] = &[
    printed("calls"),
    printed("exits"),
    printed("redos"),
    printed("fails"),
    printed("exceptions"),
    printed("predicate"),
];

/// The predicates that ran, or those of them that were `chosen`, sorted by a column of the catalogue: numbers the
/// largest first, texts alphabetically; what is not known comes last. Equal ones are in the order of their names.
pub(crate) fn order(
    tables: Tables,
    chosen: Option<&[PredicateIndex]>,
    sort: usize,
) -> Vec<PredicateIndex> {
    let key = |index: PredicateIndex| {
        let of = tables.predicate(index);
        let name = PredicateRow::cell(&of, NAME);
        (PredicateRow::cell(&of, sort), name, index)
    };
    let mut order: Vec<_> = match chosen {
        Some(chosen) => chosen.iter().copied().map(key).collect(),
        None => tables.used_predicates().map(key).collect(),
    };
    order.sort_by(|a, b| compare(a.0, b.0).then_with(|| compare(a.1, b.1)));
    order.into_iter().map(|(_, _, index)| index).collect()
}

/// The table of the first `top` of `order` with these columns, or the usual ones, and a line on the rest.
pub(crate) fn table(
    report: &Analysis,
    columns: &[usize],
    order: &[PredicateIndex],
    top: usize,
    counted: Counted,
) -> String {
    let shown = &order[..order.len().min(top)];
    let printed = match columns {
        [] => usual(report, shown),
        asked => {
            let asked = asked.iter();
            asked.map(|&at| Printed::at(at).with_unit()).collect()
        }
    };
    let tables = report.tables_of(counted);
    let rows: Vec<_> = shown.iter().map(|&index| tables.predicate(index)).collect();
    let is_net = printed.iter().any(|printed| printed.place == NET[0].place);
    let net = report.profile.net.as_ref().filter(|_| is_net);
    let whole = report.ns(report.counted_ticks(counted, net));
    let unit = unit(report, counted);
    let columns = catalogue::columns::<PredicateRow>(&rows, unit, whole, printed);
    let mut text = render(&columns, page_width());
    if order.len() > shown.len() {
        let self_ticks = |&index: &PredicateIndex| {
            let figures = &report.profile.predicates[index as usize];
            figures.self_ticks
        };
        let rest = order[shown.len()..].iter().map(self_ticks);
        let rest = rest.fold(0, u64::saturating_add);
        text.push_str(&format!(
            "  … and {} more predicates with {} % of the {}; --top {} shows all\n",
            count((order.len() - shown.len()) as u64),
            percent(rest, report.counted_ticks(counted, None)),
            if counted == Counted::Work {
                "work"
            } else {
                "time"
            },
            order.len()
        ));
    }
    text
}

/// The usual columns: net times first if they are measured, exceptions if there were some.
fn usual(report: &Analysis, shown: &[PredicateIndex]) -> Vec<Printed> {
    let raised = |&index: &PredicateIndex| report.profile.predicates[index as usize].exceptions > 0;
    let raised = shown.iter().any(raised);
    let times = match report.net_is_measured() {
        true => NET,
        false => RECORDED,
    };
    let all = times.iter().chain(COUNTS).copied();
    all.filter(|printed| raised || PredicateRow::ALL[printed.place].name != "exceptions")
        .collect()
}
