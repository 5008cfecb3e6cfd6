//! Two programs side by side: a line for each predicate, goal or test that changed.

use portmortem_analyzer::comparison::{ComparedGoal, Comparison, Figure, RowChange, Test};
use portmortem_analyzer::text::{TimeUnit, count, counted, difference, rounded, time};
use portmortem_analyzer::trace::names::printable;

use super::page_width;
use crate::text_table::{TextColumn, render};

/// What both sides are, in a line or more each: the work, and what is none. `names` are those of
/// their recordings.
pub(crate) fn headline(comparison: &Comparison, names: [&str; 2]) -> String {
    let [calls, times] = [Figure::Calls, comparison.time].map(|figure| comparison.all.get(figure));
    let net = match comparison.time {
        Figure::Net => "net ",
        _ => "",
    };
    let lines = (0..2).map(|side| {
        let spread = match comparison.recordings[side] {
            1 => String::new(),
            _ => format!(
                " ({} to {})",
                time(times[side].least),
                time(times[side].most)
            ),
        };
        let beside = comparison.left_out(side);
        let beside = match beside {
            0 => String::new(),
            ns => format!(", and {} that is no work", time(ns)),
        };
        let line = format!(
            "{} {}: {}, self {net}{}{spread}{beside}",
            ["before:", "after: "][side],
            printable(names[side]),
            counted(calls[side].median, "call", "calls"),
            time(times[side].median),
        );
        textwrap::fill(
            &line,
            textwrap::Options::new(page_width()).subsequent_indent("  "),
        ) + "\n"
    });
    lines.collect()
}

/// The first `top` of the predicates that changed, and a line on the rest.
pub(crate) fn predicates(comparison: &Comparison, top: usize) -> String {
    let layout = TableLayout::of_self_time(comparison, "predicate");
    table(
        &comparison.predicates,
        comparison,
        &layout,
        String::clone,
        top,
    )
}

/// The first `top` of the tests of plunit that changed, and a line on the rest.
pub(crate) fn tests(comparison: &Comparison, top: usize) -> String {
    let layout = TableLayout::of_self_time(comparison, "test");
    let name = |test: &Test| printable(&test.to_string());
    table(&comparison.tests, comparison, &layout, name, top)
}

/// The first `top` of the goals that changed, and a line on the rest.
pub(crate) fn goals(comparison: &Comparison, top: usize) -> String {
    let layout = TableLayout {
        time: Figure::Time,
        time_heading: "served",
        name_heading: "goal",
        // Names of goals are long.
        differences: &DIFFERENCES[1..],
    };
    table(
        &comparison.goals,
        comparison,
        &layout,
        ComparedGoal::to_string,
        top,
    )
}

/// What a table shows.
struct TableLayout {
    time: Figure,
    time_heading: &'static str,
    name_heading: &'static str,
    /// Counts whose differences are shown, with their headings and [`TextColumn::dispensable`].
    differences: &'static [(Figure, &'static str, u8)],
}

impl TableLayout {
    /// With self times, net where they were measured, and all counts.
    fn of_self_time(comparison: &Comparison, name_heading: &'static str) -> Self {
        Self {
            time: comparison.time,
            time_heading: match comparison.time {
                Figure::Net => "net self",
                _ => "self",
            },
            name_heading,
            differences: DIFFERENCES,
        }
    }
}

const DIFFERENCES: &[(Figure, &str, u8)] = &[
    (Figure::Exits, "±exits", 1),
    (Figure::Redos, "±redos", 0),
    (Figure::Fails, "±fails", 0),
    (Figure::Exceptions, "±exc.", 0),
    (Figure::Left, "±left", 2),
];

fn table<K>(
    changes: &[RowChange<K>],
    comparison: &Comparison,
    layout: &TableLayout,
    name: impl Fn(&K) -> String,
    top: usize,
) -> String {
    let &TableLayout {
        time, name_heading, ..
    } = layout;
    let shown = |change: &&RowChange<K>| !change.is_engine_work && change.is_change(time);
    let changed = changes.iter().filter(shown);
    let changed: Vec<&RowChange<K>> = changed.collect();
    let shown = &changed[..changed.len().min(top)];
    if changed.is_empty() {
        return format!("no {name_heading} changed\n");
    }
    let times = shown.iter().flat_map(|change| change.get(time));
    let unit = TimeUnit::for_longest(times.map(|time| time.median).max().unwrap_or(0));
    let cells = |cell: &dyn Fn(&RowChange<K>) -> String| {
        shown.iter().map(|change| cell(change)).collect::<Vec<_>>()
    };
    // A cell of one side; nothing is known of what was not called.
    let value = |figure: Figure, side: usize, text: &dyn Fn(u64) -> String| {
        cells(&|change| {
            let is_there = [&change.before, &change.after][side].is_some();
            match is_there {
                true => text(change.get(figure)[side].median),
                false => "–".to_owned(),
            }
        })
    };
    let mut columns = vec![
        TextColumn::right("calls", value(Figure::Calls, 0, &rounded)),
        TextColumn::right("to", value(Figure::Calls, 1, &rounded)),
    ];
    for &(figure, heading, rank) in layout.differences {
        let differs = |change: &&RowChange<K>| change.difference(figure) != 0;
        if figure == Figure::Exceptions && !shown.iter().any(differs) {
            continue;
        }
        let cell = |change: &RowChange<K>| difference(change.difference(figure));
        columns.push(TextColumn::right(heading, cells(&cell)).dispensable(rank));
    }
    columns.push(TextColumn::right(
        format!("{} {}", layout.time_heading, unit.name()),
        value(time, 0, &|ns| unit.format(ns)),
    ));
    columns.push(TextColumn::right(
        "to",
        value(time, 1, &|ns| unit.format(ns)),
    ));
    if comparison.recordings != [1, 1] {
        let spread = |change: &RowChange<K>| {
            let spreads = change.get(time).map(|side| side.most - side.least);
            unit.format(spreads[0].max(spreads[1]))
        };
        columns.push(TextColumn::right("noise", cells(&spread)).dispensable(3));
    }
    columns.push(TextColumn::goals(
        name_heading,
        cells(&|change| name(&change.key)),
    ));
    let mut text = render(&columns, page_width());
    let rest = &changed[shown.len()..];
    let by_time = rest.iter().filter(|change| !change.counts_differ()).count();
    if !rest.is_empty() {
        text.push_str(&format!(
            "  … and {} more by counts, {} by time alone; --top {} shows all\n",
            count((rest.len() - by_time) as u64),
            count(by_time as u64),
            changed.len(),
        ));
    }
    text
}
