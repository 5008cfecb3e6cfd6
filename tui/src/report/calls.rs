//! How long one call of a predicate takes: mean, slowest, how that changed over the run, how the times are spread, and the slowest calls.

use std::cmp::Reverse;

use portmortem_analyzer::Analysis;
use portmortem_analyzer::calls::Goal;
use portmortem_analyzer::calls::figures::{CallFigures, SlowCall, bin_begin_ns};
use portmortem_analyzer::calls::growth::{Trend, Verdict};
use portmortem_analyzer::figures::Caller;
use portmortem_analyzer::text::{bar, count, counted, time};
use portmortem_analyzer::trace::{PredicateIndex, SiteIndex};

use super::WIDTH;
use crate::text_table::{Column, render};

/// Goals whose trend is told.
const MOST_GOALS: usize = 5;

/// Width of the bars of a histogram.
const BAR: usize = 40;

/// What is known of the calls of a predicate; empty if none of them was looked at.
pub(crate) fn block(report: &Analysis, index: PredicateIndex) -> String {
    let Some(figures) = report.calls().predicate(index) else {
        return String::new();
    };
    let mut lines = vec![summary(report, figures)];
    lines.extend(trends(report, index, figures));
    let mut text: String = lines.iter().map(|line| wrapped(line)).collect();
    if figures.timed > 0 {
        text.push('\n');
        text.push_str(&histogram(figures));
        text.push('\n');
        text.push_str(&slowest(report, figures));
    }
    text
}

fn wrapped(line: &str) -> String {
    let wrap = textwrap::Options::new(WIDTH);
    let wrap = wrap.initial_indent("  ").subsequent_indent("    ");
    textwrap::fill(line, wrap) + "\n"
}

fn summary(report: &Analysis, figures: &CallFigures) -> String {
    let mut parts = Vec::new();
    if let (Some(mean), Some(max)) = (figures.mean_ticks(), figures.max_ticks()) {
        parts.push(format!(
            "a call takes {} in the mean, {} at most",
            time(report.ns(mean)),
            time(report.ns(max))
        ));
    }
    parts.push(format!("{} timed", counted(figures.timed, "call", "calls")));
    for (calls, what) in [
        (figures.departed, "repeated last calls not timed"),
        (figures.open, "did not end"),
    ] {
        if calls > 0 {
            parts.push(format!("{} {what}", count(calls)));
        }
    }
    parts.join("; ")
}

/// How the time of a call changed: of all calls, and of the goals where it is certain.
fn trends(report: &Analysis, index: PredicateIndex, figures: &CallFigures) -> Vec<String> {
    let goals = report.calls().goals_of(index);
    let mut goals: Vec<(&Goal, &CallFigures)> = goals.collect();
    goals.sort_by_key(|&(goal, figures)| (Reverse(figures.ticks), *goal));
    let only = match goals[..] {
        [(goal, _)] => at(report, goal),
        _ => String::new(),
    };
    let subject = format!("{}{only}", report.predicate(index));
    let all = figures.trend();
    let mut lines = vec![sentence(report, &subject, &all).unwrap_or_else(|| {
        let why = match all.ends {
            Some(_) => "their times have no clear order",
            None => "too few calls",
        };
        let calls = counted(all.calls, "outermost call", "outermost calls");
        format!("whether the time of a call grows is unknown: {calls}, {why}")
    })];
    if only.is_empty() {
        let changed = goals.into_iter().filter_map(|(goal, figures)| {
            let trend = figures.trend();
            let changed = trend.verdict.grows() || trend.verdict == Verdict::Falling;
            let subject = format!("{}{}", report.predicate(index), at(report, goal));
            changed
                .then(|| sentence(report, &subject, &trend))
                .flatten()
        });
        lines.extend(changed.take(MOST_GOALS));
    }
    lines
}

/// The verdict on a trend of the calls of `subject`, with its figures; `None` if it is unknown.
pub(crate) fn sentence(report: &Analysis, subject: &str, trend: &Trend) -> Option<String> {
    let (first, last) = trend.ends?;
    let (first, last) = (time(report.ns(first)), time(report.ns(last)));
    let calls = count(trend.calls);
    let of = format!("the time of a call of {subject}");
    Some(match trend.verdict {
        Verdict::Unknown => return None,
        Verdict::Constant => format!("{of} did not change: {last}, over {calls} calls"),
        Verdict::Falling => format!("{of} fell from {first} to {last} over {calls} calls"),
        Verdict::Sublinear | Verdict::Linear | Verdict::Superlinear => {
            let class = match trend.verdict {
                Verdict::Sublinear => "slower than linear",
                Verdict::Superlinear => "faster than linear",
                _ => "about linear",
            };
            format!("{of} grew from {first} to {last} over {calls} calls ({class})")
        }
    })
}

/// Where a goal is, after the name of what it calls.
fn at(report: &Analysis, goal: &Goal) -> String {
    match goal.site {
        Some(_) => format!(" at {}", place(report, goal.caller, goal.site)),
        None => format!(" by {}", report.caller(goal.caller)),
    }
}

/// The goal that made a call, or what called.
fn place(report: &Analysis, caller: Caller, site: Option<SiteIndex>) -> String {
    let name = report.caller(caller);
    let info = site.and_then(|site| report.trace.sites().get(site as usize));
    match info {
        None => name.to_owned(),
        Some(info) if info.line == 0 => {
            format!("clause {}, goal {} of {name}", info.clause, info.goal)
        }
        Some(info) => format!("line {} of {name}", info.line),
    }
}

/// A line for each power of two, from the first with calls to the last; `…` for several in a row that have none.
fn histogram(figures: &CallFigures) -> String {
    let calls = figures.histogram;
    let mut shown: Vec<Option<usize>> = Vec::new();
    let bins = (0..).zip(&calls);
    let mut last = None;
    for (bin, _) in bins.filter(|&(_, &calls)| calls > 0) {
        match last {
            Some(last) if bin - last == 2 => shown.push(Some(bin - 1)),
            Some(last) if bin - last > 2 => shown.push(None),
            _ => {}
        }
        shown.push(Some(bin));
        last = Some(bin);
    }
    let most = calls.iter().copied().max().unwrap_or(0);
    let cells = |cell: &dyn Fn(usize) -> String, none: &str| {
        let shown = shown.iter();
        shown
            .map(|bin| bin.map_or_else(|| none.to_owned(), cell))
            .collect()
    };
    let values: Vec<_> = shown.iter().map(|bin| Some(calls[(*bin)?])).collect();
    let columns = [
        Column::right("from", cells(&|bin| time(bin_begin_ns(bin)), "…")),
        Column::some_counts("calls", &values),
        Column::left("", cells(&|bin| bar(calls[bin], most, BAR), "")),
    ];
    render(&columns, WIDTH)
}

/// The slowest calls, with their events.
fn slowest(report: &Analysis, figures: &CallFigures) -> String {
    let calls = &figures.slowest;
    let cells = |cell: &dyn Fn(&SlowCall) -> String| calls.iter().map(cell).collect();
    let since = |call: &SlowCall| report.trace.clock().since_start_ns(call.tick);
    let columns = [
        Column::right("slowest", cells(&|call| time(report.ns(call.ticks)))),
        Column::right("at", cells(&|call| time(since(call)))),
        Column::right("stream", cells(&|call| call.stream.to_string())),
        Column::right("event", cells(&|call| call.event.to_string())),
        Column::left(
            "called from",
            cells(&|call| place(report, call.caller, call.site)),
        ),
    ];
    render(&columns, WIDTH)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::AtomicU64;

    use portmortem_analyzer::{Filters, Trace};
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn analysis(name: &str) -> Analysis {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../traces")
            .join(name);
        let trace = Trace::open(&path).unwrap();
        Analysis::of(trace, &path, Filters::default(), &AtomicU64::new(0)).unwrap()
    }

    #[test]
    fn a_trend_is_a_sentence() {
        let report = analysis("queens.pmt");
        let tick = |ns: u64| (0..).find(|&ticks| report.ns(ticks) >= ns).unwrap();
        let trend = |verdict| Trend {
            verdict,
            ends: Some((tick(1200), tick(310))),
            calls: 2000,
            ticks: 0,
        };
        let said = |verdict| sentence(&report, "p/1 at line 4 of q/2", &trend(verdict));
        assert_eq!(
            said(Verdict::Linear).unwrap(),
            "the time of a call of p/1 at line 4 of q/2 grew from 1.200 µs to 310 ns over 2,000 calls (about linear)"
        );
        assert!(
            said(Verdict::Falling)
                .unwrap()
                .contains("fell from 1.200 µs to 310 ns")
        );
        assert!(
            said(Verdict::Constant)
                .unwrap()
                .ends_with("did not change: 310 ns, over 2,000 calls")
        );
        assert_eq!(said(Verdict::Unknown), None);
    }

    #[test]
    fn every_predicate_of_the_samples_fits_the_page() {
        let mut some = 0;
        for name in [
            "queens.pmt",
            "parser.pmt",
            "threads_exceptions.pmt",
            "metainterp.pmt",
        ] {
            let report = analysis(name);
            for index in report.tables().used_predicates() {
                let text = block(&report, index);
                let too_wide = text.lines().find(|line| line.width() > WIDTH);
                assert_eq!(too_wide, None, "{name}");
                let figures = report.calls().predicate(index).unwrap();
                assert!(
                    text.contains("calls timed") || text.contains("1 call timed"),
                    "{text}"
                );
                some += figures.slowest.len();
            }
        }
        assert!(some > 100);
    }
}
