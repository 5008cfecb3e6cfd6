//! The flat profile: one line for each predicate, with columns of the catalogue ([`portmortem_analyzer::tables`]).

use std::cmp::Ordering;

use portmortem_analyzer::Analysis;
use portmortem_analyzer::Tables;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::tables::{Cell, Kind, PredicateRow, Row, Table, Unit};
use portmortem_analyzer::text::{count, percent};
use portmortem_analyzer::trace::PredicateIndex;

use super::{page_width, unit};
use crate::text_table::{Column, render};

/// A column of the catalogue, by its place in it, as it is printed.
struct Printed {
    place: usize,
    /// Instead of its title.
    heading: Option<&'static str>,
    /// As a share of what counts ([`Analysis::counted_ticks`]).
    share: bool,
    /// Whether the heading names the unit.
    unit: bool,
    /// [`Column::dispensable`].
    rank: u8,
}

const fn printed(name: &str) -> Printed {
    Printed {
        place: place(name),
        heading: None,
        share: false,
        unit: false,
        rank: 0,
    }
}

const fn headed(name: &str, heading: &'static str, rank: u8) -> Printed {
    Printed {
        heading: Some(heading),
        rank,
        ..printed(name)
    }
}

const fn place(name: &str) -> usize {
    Table::Predicates.place(name)
}

/// What is printed unless a user asks for other columns. All times are in the unit of the first.
const RECORDED: &[Printed] = &[
    Printed {
        unit: true,
        ..printed("self_ns")
    },
    Printed {
        share: true,
        ..headed("self_ns", "%", 1)
    },
    headed("inclusive_ns", "incl.", 0),
];

/// The same where net times are measured.
const NET: &[Printed] = &[
    Printed {
        unit: true,
        ..headed("self_comp_ns", "net self", 0)
    },
    Printed {
        share: true,
        ..headed("self_comp_ns", "%", 1)
    },
    headed("inclusive_comp_ns", "incl.", 0),
    headed("self_ns", "recorded", 3),
    headed("inclusive_ns", "incl.", 2),
];

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
        let name = PredicateRow::cell(&of, place("predicate"));
        (PredicateRow::cell(&of, sort), name, index)
    };
    let mut order: Vec<_> = match chosen {
        Some(chosen) => chosen.iter().copied().map(key).collect(),
        None => tables.used_predicates().map(key).collect(),
    };
    order.sort_by(|a, b| compare(a.0, b.0).then_with(|| compare(a.1, b.1)));
    order.into_iter().map(|(_, _, index)| index).collect()
}

pub(super) fn compare(a: Cell, b: Cell) -> Ordering {
    match (a, b) {
        (Cell::Integer(a), Cell::Integer(b)) => b.cmp(&a),
        (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
        (Cell::Bool(a), Cell::Bool(b)) => b.cmp(&a),
        (a, b) => (a == Cell::Missing).cmp(&(b == Cell::Missing)),
    }
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
    let columns = match columns {
        [] => usual(report, shown, counted),
        asked => asked
            .iter()
            .map(|&place| column(report, shown, &of_user(place), counted))
            .collect(),
    };
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
fn usual(report: &Analysis, shown: &[PredicateIndex], counted: Counted) -> Vec<Column> {
    let raised = |&index: &PredicateIndex| report.profile.predicates[index as usize].exceptions > 0;
    let raised = shown.iter().any(raised);
    let times = if report.net_is_measured() {
        NET
    } else {
        RECORDED
    };
    times
        .iter()
        .chain(COUNTS)
        .filter(|printed| raised || PredicateRow::ALL[printed.place].name != "exceptions")
        .map(|printed| column(report, shown, printed, counted).dispensable(printed.rank))
        .collect()
}

fn of_user(place: usize) -> Printed {
    Printed {
        place,
        heading: None,
        share: false,
        unit: true,
        rank: 0,
    }
}

fn column(
    report: &Analysis,
    shown: &[PredicateIndex],
    printed: &Printed,
    counted: Counted,
) -> Column {
    let about = &PredicateRow::ALL[printed.place];
    let is_time = matches!(about.unit, Unit::Time | Unit::Clock);
    let unit = unit(report, counted);
    let heading = match printed.heading.unwrap_or(about.title) {
        title if printed.unit && is_time => format!("{title} {}", unit.name()),
        title => title.to_owned(),
    };
    let tables = report.tables_of(counted);
    let cell =
        |&index: &PredicateIndex| PredicateRow::cell(&tables.predicate(index), printed.place);
    let cells = shown.iter().map(cell);
    if about.unit == Unit::Count {
        let counts = cells.map(|cell| match cell {
            Cell::Integer(count) => Some(count.max(0) as u64),
            _ => None,
        });
        return Column::some_counts(heading, &counts.collect::<Vec<_>>());
    }
    let total = report.ns(if printed.share {
        let net = report.profile.net.as_ref();
        report.counted_ticks(counted, net.filter(|_| about.name == "self_comp_ns"))
    } else {
        0
    });
    let texts = cells.map(|cell| match cell {
        Cell::Integer(part) if printed.share => percent(part.max(0) as u64, total),
        Cell::Integer(ns) if is_time => unit.format(ns.max(0) as u64),
        Cell::Integer(number) => number.to_string(),
        Cell::Text(text) => portmortem_analyzer::trace::names::printable(text),
        Cell::Bool(true) => "yes".to_owned(),
        Cell::Bool(false) => "no".to_owned(),
        Cell::Missing if is_time => String::new(),
        Cell::Missing => "–".to_owned(),
    });
    if about.kind == Kind::Text {
        Column::left(heading, texts.collect())
    } else {
        Column::right(heading, texts.collect())
    }
}
