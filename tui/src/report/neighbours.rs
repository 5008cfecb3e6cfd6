//! One predicate between its callers and its callees, as in figure 3 of the SWI-Prolog manual, section 4.41.2.
//!
//! The callers' times add up to the inclusive time of the predicate; so do its own time and the callees'.

use std::cmp::Reverse;

use portmortem_analyzer::Analysis;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::figures::{Caller, EdgeFigures};
use portmortem_analyzer::text::{count, percent, shorten};
use portmortem_analyzer::trace::names::file_line;
use portmortem_analyzer::trace::{PredicateIndex, SiteIndex};

use unicode_width::UnicodeWidthStr;

use super::{arguments, page_width, unit, values};
use crate::text_table::{TextColumn, render};

/// More callers or callees than this are summed up in one line.
const MOST_NEIGHBOURS: usize = 12;

/// A line of the block.
#[derive(Debug, Clone)]
struct NeighbourLine {
    mark: &'static str,
    name: String,
    figures: EdgeFigures,
    ticks: Option<u64>,
}

/// The whole block.
pub(crate) fn block(report: &Analysis, index: PredicateIndex, counted: Counted) -> String {
    let counted = counted.on_page_of(&report.trace, index);
    let figures = counted.predicate(&report.profile.predicates[index as usize]);
    let mut lines = callers(report, index, counted);
    lines.push(NeighbourLine {
        mark: "",
        name: report.trace.predicate_name(index).to_owned(),
        figures: EdgeFigures {
            ports: figures.ports,
            ..EdgeFigures::default()
        },
        ticks: Some(figures.self_ticks),
    });
    lines.extend(callees(report, index, counted));
    format!(
        "{}{}",
        title(report, index, counted),
        table(report, &lines, counted, figures.inclusive_ticks)
    )
}

/// The predicate's own figures that have no column.
fn title(report: &Analysis, index: PredicateIndex, counted: Counted) -> String {
    let recorded = &report.profile.predicates[index as usize];
    let figures = counted.predicate(recorded);
    let unit = unit(report, counted);
    let mut more = String::new();
    if let Some((file, line)) = report.source(index) {
        more.push_str(&format!("  {}", file_line(file, line)));
    }
    let byrd = report.trace.header().mode.byrd;
    if let Some(determinism) = figures.determinism(byrd) {
        more.push_str(&format!("  {}", determinism.name()));
    }
    let name = report.trace.predicate_name(index);
    // A file may have a long name, too.
    let more = shorten(&more, page_width() / 2);
    let mut text = format!("{}{more}\n", shorten(name, page_width() - more.width()));
    let time = |ticks| unit.with_unit(report.ns(ticks));
    let elapsed = match recorded.inclusive_ticks - figures.inclusive_ticks {
        0 => String::new(),
        _ => format!(" ({} with what is no work)", time(recorded.inclusive_ticks)),
    };
    text.push_str(&format!(
        "  inclusive {}{elapsed}, self {}\n  in activations that failed {}, undone by redos into it {}\n",
        time(figures.inclusive_ticks),
        time(figures.self_ticks),
        time(figures.failed_ticks),
        time(figures.undone_ticks)
    ));
    let parts: Vec<String> = [
        (figures.exits_det, "exits det"),
        (figures.exits_nondet, "exits nondet"),
        (figures.cuts, "cut"),
        (figures.tail_calls, "by last call"),
        (figures.exceptions, "left by exception"),
        (figures.open, "open at the end"),
        (figures.pending, "pending at the end"),
    ]
    .iter()
    .filter(|(value, _)| *value > 0)
    .map(|(value, what)| format!("{} {what}", count(*value)))
    .collect();
    if !parts.is_empty() {
        let wrap = textwrap::Options::new(page_width());
        let wrap = wrap.initial_indent("  ").subsequent_indent("  ");
        text.push_str(&textwrap::fill(&parts.join(", "), wrap));
        text.push('\n');
    }
    if let Some(known) = report.arguments().get(&index) {
        text.push_str(&arguments::lines(figures.calls, known));
    }
    if let Some(known) = report.values().of(index) {
        text.push_str(&values::lines(&known));
    }
    text
}

fn callers(report: &Analysis, index: PredicateIndex, counted: Counted) -> Vec<NeighbourLine> {
    let edges = report.profile.edges.iter();
    let callers = edges.filter(|((_, callee), _)| *callee == index);
    let lines = callers.map(|(&(caller, _), edge)| {
        let recursive = caller == Caller::Predicate(index);
        let name = if recursive {
            "<recursive>".to_owned()
        } else {
            report.caller(caller).to_owned()
        };
        let edge = counted.edge(edge);
        let line = NeighbourLine {
            mark: "<",
            name,
            figures: edge,
            ticks: (!recursive).then_some(edge.served_ticks),
        };
        with_sites(report, (caller, index), line, counted, !recursive)
    });
    summed_up(lines.collect(), "<")
}

fn callees(report: &Analysis, index: PredicateIndex, counted: Counted) -> Vec<NeighbourLine> {
    let me = Caller::Predicate(index);
    let edges = &report.profile.edges;
    let callees = edges.range((me, 0)..=(me, PredicateIndex::MAX));
    let others = callees.filter(|((_, callee), _)| *callee != index);
    let others = others.map(|(&(_, callee), edge)| (callee, counted.edge(edge)));
    let others =
        others.filter(|(callee, edge)| counted.shows(&report.trace, *callee, edge.spent_ticks));
    let lines = others.map(|(callee, edge)| {
        let line = NeighbourLine {
            mark: ">",
            name: report.predicate(callee).to_owned(),
            figures: edge,
            ticks: Some(edge.spent_ticks),
        };
        // Of sites it is known what they served. Where each of the two calls the other, that is not what was spent there.
        let is_spent = edge.served_ticks == edge.spent_ticks;
        with_sites(report, (me, callee), line, counted, is_spent)
    });
    summed_up(lines.collect(), ">")
}

/// The line of an edge, and below it one for each of its sites, with their time if that is known. A single site is named in the
/// line itself.
fn with_sites(
    report: &Analysis,
    (caller, callee): (Caller, PredicateIndex),
    mut line: NeighbourLine,
    counted: Counted,
    timed: bool,
) -> Vec<NeighbourLine> {
    let key = |site| (caller, callee, site);
    let sites = &report.profile.sites;
    let sites = sites.range(key(None)..=key(Some(SiteIndex::MAX)));
    let goals: Vec<_> = sites.map(|(key, figures)| (key.2, figures)).collect();
    match goals[..] {
        [] | [(None, _)] => vec![line],
        [(Some(site), _)] => {
            let goal = goal(report, caller, site);
            line.name.push_str("  ");
            line.name.push_str(&goal);
            vec![line]
        }
        _ => {
            let below = goals.into_iter().map(|(site, figures)| NeighbourLine {
                mark: "",
                name: site.map_or_else(
                    || "  no site".to_owned(),
                    |site| format!("  {}", goal(report, caller, site)),
                ),
                figures: EdgeFigures {
                    ports: figures.ports,
                    ..EdgeFigures::default()
                },
                ticks: timed.then_some(counted.site(figures).served_ticks),
            });
            let below = below.map(|line| vec![line]).collect();
            [vec![line], summed_up(below, "")].concat()
        }
    }
}

/// Where a goal is, seen from the caller: its line, or which goal of which clause it is.
fn goal(report: &Analysis, caller: Caller, site: SiteIndex) -> String {
    let info = &report.trace.sites()[site as usize];
    let place = match info.line {
        0 => format!("clause {}, goal {}", info.clause, info.goal),
        line => format!("line {line}"),
    };
    if caller == Caller::Predicate(info.caller) {
        place
    } else {
        format!("{place} of {}", report.predicate(info.caller))
    }
}

/// The largest, each with what is below it, and one line for all others.
fn summed_up(mut groups: Vec<Vec<NeighbourLine>>, mark: &'static str) -> Vec<NeighbourLine> {
    groups.sort_by_key(|group| Reverse((group[0].ticks, group[0].figures.calls)));
    let rest = if groups.len() > MOST_NEIGHBOURS {
        groups.split_off(MOST_NEIGHBOURS - 1)
    } else {
        Vec::new()
    };
    let mut lines = groups.concat();
    if !rest.is_empty() {
        let mut figures = EdgeFigures::default();
        rest.iter().for_each(|group| figures.add(&group[0].figures));
        let ticks = rest.iter().filter_map(|group| group[0].ticks);
        let ticks = ticks.fold(0, u64::saturating_add);
        lines.push(NeighbourLine {
            mark,
            name: format!("… {} others", rest.len()),
            figures,
            ticks: Some(ticks),
        });
    }
    lines
}

fn table(report: &Analysis, lines: &[NeighbourLine], counted: Counted, whole: u64) -> String {
    let unit = unit(report, counted);
    let cells =
        |cell: &dyn Fn(&NeighbourLine) -> String| lines.iter().map(cell).collect::<Vec<_>>();
    let counts = |heading, value: fn(&EdgeFigures) -> u64| {
        let values: Vec<u64> = lines.iter().map(|line| value(&line.figures)).collect();
        TextColumn::counts(heading, &values)
    };
    let none = || "–".to_owned();
    let time = |line: &NeighbourLine| {
        line.ticks
            .map_or_else(none, |ticks| unit.format(report.ns(ticks)))
    };
    let columns = [
        TextColumn::right(unit.name(), cells(&time)),
        TextColumn::right(
            "%",
            cells(&|line| line.ticks.map_or_else(none, |t| percent(t, whole))),
        ),
        counts("calls", |edge| edge.calls),
        counts("exits", |edge| edge.exits()),
        counts("redos", |edge| edge.redos),
        counts("fails", |edge| edge.fails),
        TextColumn::left("", cells(&|line| line.mark.to_owned())),
        TextColumn::left("", cells(&|line| line.name.clone())),
    ];
    render(&columns, page_width())
}
