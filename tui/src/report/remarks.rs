//! What a reader must know beside the figures: what the trace is, what was lost, what is distorted.

use portmortem_analyzer::Analysis;
use portmortem_analyzer::advice::record_hint;
use portmortem_analyzer::figures::whole::Whole;
use portmortem_analyzer::remarks;
use portmortem_analyzer::text::{TimeUnit, counted, shorten, time};
use portmortem_analyzer::trace::names::printable;

/// More damaged places, violations or notes than this are only counted.
const MOST_LISTED: usize = 8;

/// What the trace is, in one or two lines.
pub(crate) fn headline(report: &Analysis) -> String {
    let header = report.trace.header();
    let events = report.events();
    let streams = report.profile.streams.len();
    let ns = report
        .trace
        .clock()
        .duration_ns(report.profile.total_ticks());
    let command = printable(&header.command.join(" "));
    let what = format!(
        "{}, {}: {} in {}, {} traced",
        printable(&header.engine),
        remarks::ending(&report.trace),
        counted(events, "event", "events"),
        counted(streams as u64, "stream", "streams"),
        TimeUnit::for_longest(ns).with_unit(ns),
    );
    let filters = report.filters.filters().iter();
    let scope: String = filters
        .map(|filter| textwrap::fill(&filter.label(&report.trace), super::page_width()) + "\n")
        .collect();
    let waiting = remarks::waiting(report).map_or_else(String::new, |share| {
        textwrap::fill(&format!("waiting: {share}"), super::page_width()) + "\n"
    });
    format!(
        "{}\n{}\n{}\n{waiting}{scope}",
        shorten(&command, super::page_width()),
        textwrap::fill(&what, super::page_width()),
        textwrap::fill(&remarks::recording_share(report), super::page_width())
    )
}

/// What of the time was work, and what is beside it; `None` if all was work.
pub(crate) fn work(report: &Analysis) -> Option<String> {
    let net = report.profile.net.as_ref();
    let whole = match net.filter(|_| report.net_is_measured()) {
        Some(net) => Whole::net(&report.trace, net),
        None => report.whole(),
    };
    let left_out = remarks::left_out(report, &whole)?;
    let [work, all] = [whole.work_ticks, whole.all_ticks()].map(|ticks| time(report.ns(ticks)));
    let text = format!("work: {work} of {all}; left out (--all shows it): {left_out}");
    Some(textwrap::fill(&text, super::page_width()) + "\n")
}

/// What was lost or distorted: one line each, nothing if nothing is to be said.
///
/// The second value says whether parts of the trace are missing (exit status 3).
pub(crate) fn remarks(report: &Analysis) -> (Vec<String>, bool) {
    let mut lines = losses(report);
    let lost = !lines.is_empty();
    mode(report, &mut lines);
    let notes = report.trace.notes();
    lines.extend(
        notes
            .iter()
            .take(MOST_LISTED)
            .map(|note| format!("note: {}", printable(note))),
    );
    if notes.len() > MOST_LISTED {
        lines.push(format!("… and {} more notes", notes.len() - MOST_LISTED));
    }
    (lines, lost)
}

/// Remarks as a list for people, within the width of a report.
pub(crate) fn as_list(remarks: &[String]) -> String {
    let wrap = textwrap::Options::new(super::page_width())
        .initial_indent("- ")
        .subsequent_indent("  ");
    remarks
        .iter()
        .map(|remark| textwrap::fill(remark, &wrap) + "\n")
        .collect()
}

/// What was lost, or does not add up: one line each.
pub(crate) fn losses(report: &Analysis) -> Vec<String> {
    let mut lines = remarks::losses(report, MOST_LISTED);
    lines.extend(remarks::defects(report, MOST_LISTED));
    lines
}

fn mode(report: &Analysis, lines: &mut Vec<String>) {
    let mode = report.trace.header().mode;
    if mode.byrd {
        let how = record_hint(&report.trace, "recorded with --byrd: ");
        lines.push(format!(
            "{how}every exit can be redone, so redos and fails are Debray's, not what the engine does by itself"
        ));
    }
    lines.extend(remarks::folded(report));
    let counts = if report.profile.lost_events() > 0 {
        "counts are exact for what was recorded"
    } else {
        "counts are exact"
    };
    lines.push(if report.net_is_measured() {
        format!(
            "net times are without the recorder's own: their sum is measured, shared by mean costs of each port; {counts}"
        )
    } else {
        format!("times are as recorded and include the recorder's own, most where calls are cheapest; {counts}")
    });
}
