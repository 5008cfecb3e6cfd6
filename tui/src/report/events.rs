//! Events as text: a line each, with why it happened; below it, the boxes there.

use portmortem_analyzer::listing::BoxHistory;
use portmortem_analyzer::machine::WayOut;
use portmortem_analyzer::moment::OpenBox;
use portmortem_analyzer::tables::{Listed, ListedRow, Row, SiteNames};
use portmortem_analyzer::text::{count, counted, shorten, time, width};
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::names::printable;

/// Boxes are indented by no more levels than these.
const MOST_INDENTED: u64 = 12;

/// Cells before the predicate.
const BEFORE: usize = 46;

/// Lines of events, one after the other.
#[derive(Debug)]
pub(crate) struct Lines<'t> {
    trace: &'t Trace,
    width: usize,
    /// The stream of the last line.
    stream: Option<u32>,
}

impl<'t> Lines<'t> {
    /// Of a trace, so many cells wide.
    pub(crate) fn new(trace: &'t Trace, width: usize) -> Self {
        Self {
            trace,
            width,
            stream: None,
        }
    }

    /// The lines of an event; before the first one of a stream, headings.
    pub(crate) fn of(&mut self, event: &Listed, stack: &[(u64, OpenBox)]) -> String {
        let row = ListedRow::new(event);
        let mut text = String::new();
        if self.stream != Some(row.stream) {
            text += &self.headings(row.stream);
            self.stream = Some(row.stream);
        }
        let indent = row.depth.unwrap_or(0).min(MOST_INDENTED) as usize;
        let what = row.predicate.unwrap_or_default();
        let mut line = format!(
            "{:>10}  {}  {:<11}  {}  {:indent$}{what}",
            row.seq,
            right(&time(row.ns), 8),
            row.port,
            right(&row.took_ns.map_or_else(String::new, time), 9),
            "",
        );
        let why = match (row.port, row.count) {
            ("gap", Some(lost)) if self.trace.are_not_kept(row.stream, row.seq) => {
                format!("{} before are not kept", counted(lost, "event", "events"))
            }
            _ => why(&row),
        };
        let fits = width(&line) + 2 + width(&why) <= self.width;
        if fits && !why.is_empty() {
            line = format!("{line}  {why}");
        }
        text += &shorten(line.trim_end(), self.width);
        text.push('\n');
        if !fits && !why.is_empty() {
            let line = format!("{:BEFORE$}{why}", "");
            let line = match width(&line) > self.width {
                true => format!("{:12}{why}", ""),
                false => line,
            };
            text += &shorten(&line, self.width);
            text.push('\n');
        }
        for (depth, of) in stack {
            let indent = (*depth).min(MOST_INDENTED) as usize;
            let name = self.trace.predicate_name(of.predicate);
            let line = format!(
                "{:12}box {:<10}  depth {:<8}  {:indent$}{name}",
                "", of.called, depth, ""
            );
            text += &shorten(&line, self.width);
            text.push('\n');
        }
        if let Some((depth, _)) = stack.last().filter(|(depth, _)| *depth > 0) {
            text += &format!("{:12}… and {} more around them\n", "", count(*depth));
        }
        text
    }

    fn headings(&self, stream: u32) -> String {
        let columns = format!(
            "{:>10}  {:>8}  {:<11}  {:>9}  predicate\n",
            "event", "at", "port", "took"
        );
        let known = self.trace.streams();
        match known.iter().find(|info| info.id == stream) {
            Some(info) if known.len() > 1 => {
                let before = if self.stream.is_some() { "\n" } else { "" };
                format!("{before}{}\n{columns}", shorten(&info.title(), self.width))
            }
            _ => columns,
        }
    }
}

fn right(text: &str, cells: usize) -> String {
    format!("{}{text}", " ".repeat(cells.saturating_sub(width(text))))
}

/// What led to an event, or what comes of it.
fn why(row: &ListedRow) -> String {
    let at = |event: Option<u64>| event.map_or_else(String::new, |event| format!(" at {event}"));
    let cause = row.cause.map(|cause| (cause, at(row.cause_event)));
    match (row.port, cause) {
        ("fail", Some((cause, at))) => format!("after {cause} failed{at}"),
        ("redo", Some((cause, at))) if row.cause_event.is_some() => {
            with_outcome(row, format!("{cause} failed{at}"))
        }
        ("redo", Some((cause, _))) => with_outcome(row, format!("{cause} backtracked")),
        ("exception", cause) => {
            let raised = cause.map_or_else(String::new, |(cause, at)| {
                format!("left {cause} first{at}, ")
            });
            match row.caught {
                Some(caught) => format!("{raised}caught in {caught}"),
                None => format!("{raised}not caught"),
            }
        }
        ("call" | "tail" | "redo", _) => {
            let site = row.site.filter(|_| row.port != "redo");
            with_outcome(row, site.unwrap_or_default().to_owned())
        }
        ("cut", _) => {
            let lost = row.count.unwrap_or(0);
            counted(
                lost,
                "box lost its choicepoints",
                "boxes lost their choicepoints",
            )
        }
        ("gap", _) => format!(
            "{} lost",
            counted(row.count.unwrap_or(0), "event", "events")
        ),
        ("mark" | "sync", _) => printable(row.text.unwrap_or_default()),
        ("clause", _) => row
            .clause
            .map_or_else(String::new, |clause| format!("clause {clause}")),
        _ => String::new(),
    }
}

fn with_outcome(row: &ListedRow, text: String) -> String {
    match row.outcome {
        Some(outcome) if text.is_empty() => format!("→ {outcome}"),
        Some(outcome) => format!("{text} → {outcome}"),
        None => text,
    }
}

/// What became of a box, in lines of a name and a value.
pub(crate) fn history(trace: &Trace, sites: &SiteNames, history: &BoxHistory) -> String {
    let ns = |ticks| trace.clock().duration_ns(ticks);
    let of = history.called.of.map(|(of, _)| of);
    let name = of.map_or("", |of| trace.predicate_name(of.called_as));
    let caller = of.and_then(|of| of.caller);
    let site = history
        .called
        .site
        .and_then(|site| sites.names().nth(site as usize));
    let ended = match history.outcome {
        WayOut::ExitNondet if history.was_cut => {
            format!("exited; its choicepoints were cut at {}", history.last)
        }
        WayOut::ExitNondet if history.is_pending => {
            "exited; can still be redone at the end".to_owned()
        }
        WayOut::ExitNondet => "exited, and can be redone".to_owned(),
        WayOut::ExitDet => format!("exited at {}", history.last),
        WayOut::Fail => format!("failed at {}", history.last),
        WayOut::Exception => format!("left by an exception at {}", history.last),
        WayOut::Open => "still open at the end".to_owned(),
        WayOut::Lost => format!("not known: events were lost before {}", history.last),
    };
    let lines = [
        ("box", format!("{} of {name}", history.called.number)),
        (
            "called",
            format!(
                "at {}",
                time(trace.clock().since_start_ns(history.called.tick))
            ),
        ),
        (
            "by",
            caller.map_or_else(
                || "no recorded box".to_owned(),
                |caller| format!("box {caller}"),
            ),
        ),
        (
            "goal",
            site.map_or_else(String::new, |(place, goal)| format!("{goal} ({place})")),
        ),
        ("calls", counted(history.calls, "box", "boxes")),
        ("redos", count(history.redos)),
        ("took", time(ns(history.ticks))),
        ("end", ended),
    ];
    let lines = lines.iter().filter(|(_, value)| !value.is_empty());
    lines
        .map(|(name, value)| format!("  {name:<8}{}\n", shorten(value, 68)))
        .collect()
}
