//! The times of single calls in words, as reports and screens say them.

use std::cmp::Reverse;

use crate::Analysis;
use crate::calls::Goal;
use crate::calls::figures::{CallFigures, Histogram};
use crate::calls::growth::{Trend, Verdict};
use crate::figures::Caller;
use crate::text::{count, counted, time};
use crate::trace::{PredicateIndex, SiteIndex};

/// Goals whose trend is told.
const MOST_GOALS: usize = 5;

/// Mean and slowest call, and how many were timed.
#[must_use]
pub fn summary(analysis: &Analysis, figures: &CallFigures) -> String {
    let mut parts = Vec::new();
    if let (Some(mean), Some(max)) = (figures.mean_ticks(), figures.max_ticks()) {
        parts.push(format!(
            "a call takes {} in the mean, {} at most",
            time(analysis.ns(mean)),
            time(analysis.ns(max))
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

/// How the time of a call changed: of all calls of a predicate, and of the goals where it is
/// certain. `analysis` knows the calls.
#[must_use]
pub fn trends(analysis: &Analysis, index: PredicateIndex, figures: &CallFigures) -> Vec<String> {
    let goals = analysis.calls().goals_of(index);
    let mut goals: Vec<(&Goal, &CallFigures)> = goals.collect();
    goals.sort_by_key(|&(goal, figures)| (Reverse(figures.ticks), *goal));
    let only = match goals[..] {
        [(goal, _)] => at(analysis, goal),
        _ => String::new(),
    };
    let subject = format!("{}{only}", analysis.predicate(index));
    let all = figures.trend();
    let mut lines = vec![sentence(analysis, &subject, &all).unwrap_or_else(|| {
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
            let subject = format!("{}{}", analysis.predicate(index), at(analysis, goal));
            changed
                .then(|| sentence(analysis, &subject, &trend))
                .flatten()
        });
        lines.extend(changed.take(MOST_GOALS));
    }
    lines
}

/// The verdict on a trend of the calls of `subject`, with its figures; `None` if it is unknown.
#[must_use]
pub fn sentence(analysis: &Analysis, subject: &str, trend: &Trend) -> Option<String> {
    let (first, last) = trend.ends?;
    let (first, last) = (time(analysis.ns(first)), time(analysis.ns(last)));
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
fn at(analysis: &Analysis, goal: &Goal) -> String {
    match goal.site {
        Some(_) => format!(" at {}", place(analysis, goal.caller, goal.site)),
        None => format!(" by {}", analysis.caller(goal.caller)),
    }
}

/// The goal that made a call, or what called.
#[must_use]
pub fn place(analysis: &Analysis, caller: Caller, site: Option<SiteIndex>) -> String {
    let name = analysis.caller(caller);
    let info = site.and_then(|site| analysis.trace.sites().get(site as usize));
    match info {
        None => name.to_owned(),
        Some(info) if info.line == 0 => {
            format!("clause {}, goal {} of {name}", info.clause, info.goal)
        }
        Some(info) => format!("line {} of {name}", info.line),
    }
}

/// The bins of a histogram to show: from the first with calls to the last; `None` for several in a
/// row that have none.
#[must_use]
pub fn shown_bins(calls: &Histogram) -> Vec<Option<usize>> {
    let mut shown: Vec<Option<usize>> = Vec::new();
    let mut last = None;
    for (bin, _) in (0..).zip(calls).filter(|&(_, &calls)| calls > 0) {
        match last {
            Some(last) if bin - last == 2 => shown.push(Some(bin - 1)),
            Some(last) if bin - last > 2 => shown.push(None),
            _ => {}
        }
        shown.push(Some(bin));
        last = Some(bin);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_is_a_sentence() {
        let report = Analysis::of_sample("queens.pmt");
        let tick = |ns: u64| (0..).find(|&ticks| report.ns(ticks) >= ns).unwrap();
        let trend = |verdict| Trend {
            verdict,
            ends: Some((tick(1200), tick(310))),
            calls: 2000,
            grown_ticks: 0,
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
    fn empty_bins_are_shown_once() {
        let mut calls = [0; crate::calls::figures::BINS];
        assert_eq!(shown_bins(&calls), []);
        for bin in [2, 3, 5, 9] {
            calls[bin] = 1;
        }
        let shown = [Some(2), Some(3), Some(4), Some(5), None, Some(9)];
        assert_eq!(shown_bins(&calls), shown);
    }
}
