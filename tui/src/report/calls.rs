//! How long one call of a predicate takes: mean, slowest, how that changed over the run, how the times are spread, and the slowest calls.

use portmortem_analyzer::Analysis;
use portmortem_analyzer::calls::figures::{CallFigures, SlowCall, bin_begin_ns};
use portmortem_analyzer::sentences::{place, shown_bins, summary, trends};
use portmortem_analyzer::text::{bar, time};
use portmortem_analyzer::trace::PredicateIndex;

use super::page_width;
use crate::text_table::{TextColumn, render};

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
    let wrap = textwrap::Options::new(page_width());
    let wrap = wrap.initial_indent("  ").subsequent_indent("    ");
    textwrap::fill(line, wrap) + "\n"
}

/// A line for each power of two, from the first with calls to the last; `…` for several in a row that have none.
fn histogram(figures: &CallFigures) -> String {
    let calls = figures.histogram;
    let shown = shown_bins(&calls);
    let most = calls.iter().copied().max().unwrap_or(0);
    let cells = |cell: &dyn Fn(usize) -> String, none: &str| {
        let shown = shown.iter();
        shown
            .map(|bin| bin.map_or_else(|| none.to_owned(), cell))
            .collect()
    };
    let values: Vec<_> = shown.iter().map(|bin| Some(calls[(*bin)?])).collect();
    let columns = [
        TextColumn::right("from", cells(&|bin| time(bin_begin_ns(bin)), "…")),
        TextColumn::some_counts("calls", &values),
        TextColumn::left("", cells(&|bin| bar(calls[bin], most, BAR), "")),
    ];
    render(&columns, page_width())
}

/// The slowest calls, with their events.
fn slowest(report: &Analysis, figures: &CallFigures) -> String {
    let calls = &figures.slowest;
    let cells = |cell: &dyn Fn(&SlowCall) -> String| calls.iter().map(cell).collect();
    let since = |call: &SlowCall| report.trace.clock().since_start_ns(call.tick);
    let columns = [
        TextColumn::right("slowest", cells(&|call| time(report.ns(call.ticks)))),
        TextColumn::right("at", cells(&|call| time(since(call)))),
        TextColumn::right("stream", cells(&|call| call.stream.to_string())),
        TextColumn::right("event", cells(&|call| call.event.to_string())),
        TextColumn::left(
            "called from",
            cells(&|call| place(report, call.caller, call.site)),
        ),
    ];
    render(&columns, page_width())
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
                let too_wide = text.lines().find(|line| line.width() > page_width());
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
