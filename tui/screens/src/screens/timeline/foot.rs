//! What is under the cursor, in words.

use portmortem_analyzer::machine::WayOut;
use portmortem_analyzer::timeline::{Began, Ended, Segment, TimeColumn};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::runs::Shows;
use super::{TimelineScreen, format};
use crate::analysis::AnalysisView;
use crate::names::fitting;
use crate::theme::Theme;

impl TimelineScreen {
    /// Two lines: the box, and the column.
    pub(super) fn foot(&self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let Some(analysis) = self.analysis() else {
            return;
        };
        let time = |ticks: u64| format::time(analysis.ns(ticks));
        let line = match (self.run().map(|run| run.shows), self.cell()) {
            (Some(Shows::One(segment)), _) => vec![
                Span::styled(
                    format!(" {}", self.predicate_name(segment.predicate)),
                    theme.subject,
                ),
                Span::raw(format!("  {}", self.about_stay(&segment))),
            ],
            (Some(Shows::Many(longest)), Some(cell)) => {
                let name = longest.map_or("", |predicate| self.predicate_name(predicate));
                let ticks = cell.longest.map_or(0, |(_, ticks)| ticks);
                let stays = format::counted(cell.segments, "stay", "stays");
                vec![
                    Span::styled(format!(" {name}"), theme.subject),
                    Span::raw(format!(
                        "  longest {} of {}; {stays}, {} redone, {} fail",
                        time(ticks),
                        time(cell.ticks),
                        format::count(cell.redos),
                        format::count(cell.fails)
                    )),
                ]
            }
            (Some(Shows::NoBox), _) => {
                let text = self.about_no_box();
                vec![Span::styled(format!(" {text}"), theme.faint)]
            }
            _ => vec![Span::styled(
                format!(" {}", self.about_unknown()),
                theme.faint,
            )],
        };
        let mut line = Line::from(line);
        if let Some(name) = line.spans.first_mut() {
            name.content = fitting(&name.content, area.width.into()).into();
        }
        let head = line.spans.first().map_or(0, Span::width);
        if let Some(rest) = line.spans.get_mut(1) {
            let room = usize::from(area.width).saturating_sub(head);
            rest.content = format::shorten_words(&rest.content, room).into();
        }
        buf.set_line(area.x, area.y, &line, area.width);
        let window = self.stretch(self.position().band);
        let (at, begin) = (self.column_at(), self.position().cursor);
        let since = analysis.trace.clock().since_start_ns(begin);
        let cell = length(analysis, window.start_of(at + 1) - window.start_of(at));
        let mut parts = vec![format!(
            " {}.{:09} s · cell {cell}",
            since / 1_000_000_000,
            since % 1_000_000_000
        )];
        if let Some(column) = self.column() {
            parts.extend(about_column(analysis, column));
        }
        let text = format::fitting(parts.iter().map(String::as_str), area.width.into());
        buf.set_stringn(area.x, area.y + 1, text, area.width.into(), theme.text);
    }

    /// Why there is no box under the cursor.
    fn about_no_box(&self) -> &'static str {
        match self.column() {
            Some(column) if column.gap_ticks > 0 => "events were lost here",
            Some(column) if column.paused_ticks > 0 => "recording is paused here",
            _ if self.position().row > 0 => "no box at this depth",
            _ => "no recorded box is active",
        }
    }

    /// Why it is not known what is under the cursor.
    pub(super) fn about_unknown(&self) -> &'static str {
        match self.column() {
            Some(column) if column.folded => "events of then are not kept: no closer look",
            _ => "not read yet",
        }
    }

    /// What a box is in sight; of a wait first whom it is for.
    fn about_stay(&self, segment: &Segment) -> String {
        let about = self.about_box(segment);
        let wait = self
            .about_wait()
            .filter(|_| self.is_idle(segment.predicate));
        wait.map_or(about.clone(), |wait| format!("{wait}; {about}"))
    }

    fn about_box(&self, segment: &Segment) -> String {
        let time = |ticks: u64| self.analysis().map_or(0, |analysis| analysis.ns(ticks));
        let began = match segment.began {
            Began::Before => "from before",
            Began::Call => "called",
            Began::LastCall => "by a last call",
            Began::Redo => "redone",
            Began::Gap => "unknown since a gap",
        };
        let ended = match segment.ended {
            Ended::After => "goes on",
            Ended::By(WayOut::ExitDet) => "exits",
            Ended::By(WayOut::ExitNondet) => "exits ◇ and can be redone",
            Ended::By(WayOut::Fail) => "fails",
            Ended::By(WayOut::Exception) => "raises an exception",
            Ended::LastCall => "ends in a last call",
            Ended::By(WayOut::Lost) => "lost in a gap",
            Ended::By(WayOut::Open) => "open at the end",
        };
        let mut length = format::time(time(segment.to - segment.from));
        // The rest of it is not in sight, so how long it is is not known here.
        if segment.began == Began::Before || segment.ended == Ended::After {
            length += " of it in sight";
        }
        let of = format::count(segment.called);
        format!("{began}, {length}, {ended}; box of event {of}")
    }
}

/// A time; in ticks if it is so short that nanoseconds say little.
pub(super) fn length(analysis: &AnalysisView, ticks: u64) -> String {
    match analysis.ns(ticks) {
        ..10 => format::counted(ticks, "tick", "ticks"),
        ns => format::time(ns),
    }
}

fn about_column(analysis: &AnalysisView, column: &TimeColumn) -> Vec<String> {
    let counts = &column.counts;
    let mut parts = Vec::new();
    for (number, one, many) in [
        (counts.calls + counts.last_calls, "call", "calls"),
        (counts.exits, "exit", "exits"),
        (counts.redos, "redo", "redos"),
        (counts.fails, "fail", "fails"),
        (counts.exceptions, "exception", "exceptions"),
        (counts.cuts, "cut", "cut"),
        (column.blocks.into(), "new block", "new blocks"),
        (counts.lost, "LOST", "LOST"),
    ] {
        if number > 0 {
            parts.push(format!(" · {}", format::counted(number, one, many)));
        }
    }
    if counts.gaps > 0 && counts.lost == 0 {
        parts.push(" · EVENTS LOST".to_owned());
    }
    if column.paused_ticks > 0 {
        let paused = format::time(analysis.ns(column.paused_ticks));
        parts.push(format!(" · paused {paused}"));
    }
    if let Some(event) = column.first_event {
        parts.push(format!(" · event {}", format::count(event)));
    }
    parts
}
