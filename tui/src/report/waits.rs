//! Who waited for whom: a line for each.

use portmortem_analyzer::Analysis;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::tables::{ROOT, Row, Table, WaitData, WaitRow};
use portmortem_analyzer::trace::names::printable;

use super::catalogue::{self, Printed};
use super::{page_width, shown_of, unit};
use crate::text_table::{TextColumn, render};

const fn printed(name: &str) -> Printed {
    Printed::of(Table::Waits, name)
}

const FIGURES: &[Printed] = &[
    printed("waited_ns").with_unit(),
    printed("waited_ns").share().dispensable(2),
    printed("waits"),
    printed("longest_ns").dispensable(1),
];

const LINE: Printed = printed("line");

/// The rows of the table `waits`, sorted by a column of it ([`catalogue::sort`]).
pub(crate) fn order(report: &Analysis, sort: usize) -> Vec<WaitData<'_>> {
    let mut waits = report.tables().wait_list();
    catalogue::sort::<WaitRow>(&mut waits, sort);
    waits
}

/// The first `top` of these waits, and a line on the rest; why there are none if that is so.
pub(crate) fn table(report: &Analysis, waits: &[WaitData], top: usize) -> String {
    if report.profile.waits.is_none() {
        return "  Who waited for whom is not known: the trace does not say what mutexes, queues and \
                threads\n  calls are about. Recordings with stubs do.\n"
            .to_owned();
    }
    if waits.is_empty() {
        return "  No thread waited.\n".to_owned();
    }
    let whole = waits.iter().map(|wait| WaitRow::new(wait).waited_ns);
    let whole = whole.fold(0, u64::saturating_add);
    let shown = &waits[..waits.len().min(top)];
    let rows: Vec<WaitRow> = shown.iter().map(WaitRow::new).collect();
    let unit = unit(report, Counted::All);
    let printed = |printed: &[Printed]| {
        catalogue::columns::<WaitRow>(shown, unit, whole, printed.iter().copied())
    };
    let texts = |text: &dyn Fn(&WaitRow) -> String| rows.iter().map(text).collect::<Vec<String>>();
    let who = |id: u32, name: &str| match name {
        "" => id.to_string(),
        name => format!("{id} {}", printable(name)),
    };
    let mut columns = printed(FIGURES);
    columns.extend([
        TextColumn::left("who", texts(&|row| who(row.stream, row.name))),
        TextColumn::left(
            "for whom",
            texts(&|row| match (row.awaited, row.kind) {
                (Some(id), _) => who(id, row.awaited_name.unwrap_or("")),
                (None, Some(_)) => "?".to_owned(),
                (None, None) => String::new(),
            }),
        ),
        TextColumn::left(
            "for what",
            texts(&|row| match (row.kind, row.object) {
                (Some(kind), Some(name)) => format!("{kind} {}", printable(address(name))),
                _ => String::new(),
            }),
        ),
    ]);
    columns.extend(printed(&[LINE]));
    let places = shown.iter().map(|wait| place(report, wait));
    columns.push(TextColumn::left("where", places.collect()));
    render(&columns, page_width()) + &shown_of(shown.len(), waits.len())
}

/// Of what has no name its address, without what it is: `0x55d0c8` of `<message_queue>(0x55d0c8)`.
fn address(name: &str) -> &str {
    let of_nameless = name
        .strip_prefix('<')
        .and_then(|rest| rest.split_once(">("));
    of_nameless.map_or(name, |(_, address)| address.trim_end_matches(')'))
}

/// The goal that waited, without modules: there is little room.
fn place(report: &Analysis, wait: &WaitData) -> String {
    let trace = &report.trace;
    let of = wait.kind.predicate;
    let predicate = of.map_or(ROOT.into(), |of| trace.local_name(of));
    let site = wait
        .kind
        .site
        .and_then(|site| trace.sites().get(site as usize));
    match site {
        Some(site) => format!("{} > {predicate}", trace.local_name(site.caller)),
        None => predicate.into_owned(),
    }
}
