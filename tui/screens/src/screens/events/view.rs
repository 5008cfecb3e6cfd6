//! Drawing: the list of events, and the boxes at the cursor.

use portmortem_analyzer::index::Step;
use portmortem_analyzer::names::printable;
use portmortem_tracer::format::Event;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::reader::Reader;
use super::{Events, Shown};
use crate::format::{count, counted, left, right, shorten};
use crate::table::first_row;
use crate::theme::Theme;

/// As the exported table has it.
pub(super) fn port(event: Event) -> &'static str {
    match event {
        Event::Call { .. } => "call",
        Event::Tail { .. } => "tail",
        Event::ExitDet => "exit_det",
        Event::ExitNondet => "exit_nondet",
        Event::Redo => "redo",
        Event::Fail => "fail",
        Event::Exception => "exception",
        Event::Cut { .. } => "cut",
        Event::Pause => "pause",
        Event::Resume => "resume",
        Event::Gap { .. } => "gap",
        Event::Mark { .. } => "mark",
    }
}

fn style(event: Event, theme: &Theme) -> Style {
    let [call, exit, redo, fail, exception] = theme.ports;
    match event {
        Event::Call { .. } | Event::Tail { .. } => call,
        Event::ExitDet | Event::ExitNondet => exit,
        Event::Redo => redo,
        Event::Fail => fail,
        Event::Exception => exception,
        Event::Gap { .. } => theme.warning,
        Event::Cut { .. } | Event::Pause | Event::Resume | Event::Mark { .. } => theme.text,
    }
}

/// What an event is about: a predicate, mostly.
fn about(reader: &Reader, step: &Step) -> String {
    let of = step.of.map(|(of, _)| of.predicate);
    let name = of.map_or("", |predicate| reader.analysis.predicate(predicate));
    match step.event {
        Event::Cut { count } => {
            let boxes = counted(count.into(), "choicepoint", "choicepoints");
            format!("{boxes}, in {name}")
        }
        Event::Gap { lost: 0 } => "events were lost, unknown how many".to_owned(),
        Event::Gap { lost } => counted(lost, "event was lost", "events were lost"),
        Event::Mark { text } => printable(reader.analysis.trace.text(text).unwrap_or_default()),
        _ => name.to_owned(),
    }
}

/// The events as rows.
pub(super) fn csv(reader: &Reader, steps: &[Step]) -> Option<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer
        .write_record(["seq", "ns", "port", "about", "depth", "box"])
        .ok()?;
    for step in steps {
        let of = step.of;
        writer
            .write_record([
                step.number.to_string(),
                since_start(reader, step).to_string(),
                port(step.event).to_owned(),
                about(reader, step),
                of.map_or_else(String::new, |(_, depth)| depth.to_string()),
                of.map_or_else(String::new, |(of, _)| of.called.to_string()),
            ])
            .ok()?;
    }
    String::from_utf8(writer.into_inner().ok()?).ok()
}

fn since_start(reader: &Reader, step: &Step) -> u64 {
    reader.analysis.trace.clock().since_start_ns(step.tick)
}

/// To the nanosecond: events are close to each other wherever they are.
fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

impl Events {
    pub(super) fn draw_all(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let [mut list, mut stacks] = [area, area];
        if area.width >= 120 {
            list.width = area.width * 3 / 5;
            stacks.x += list.width + 1;
            stacks.width -= list.width + 1;
        } else {
            list.height = area.height * 3 / 5;
            stacks.y += list.height;
            stacks.height -= list.height;
        }
        self.draw_list(list, buf, theme);
        let Some(reader) = &self.reader else { return };
        let chain = Rect {
            height: stacks.height * 3 / 5,
            ..stacks
        };
        let choices = Rect {
            y: chain.bottom(),
            height: stacks.height - chain.height,
            ..stacks
        };
        let boxes = |stack: &Shown| counted(stack.height, "box", "boxes");
        let title = format!("Active: {}, innermost first", boxes(&self.active));
        draw_stack(reader, &self.active, &title, chain, buf, theme);
        let title = format!("Can be re-entered: {}, newest first", boxes(&self.choices));
        draw_stack(reader, &self.choices, &title, choices, buf, theme);
    }

    fn draw_list(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let Some(reader) = &self.reader else { return };
        let info = reader.info();
        let stream = info.map_or_else(String::new, |info| {
            let name = printable(info.name());
            let streams = reader.analysis.trace.streams().len();
            format!("stream {} of {streams} {name}", reader.stream + 1)
        });
        let room = usize::from(area.width).saturating_sub(1);
        let hidden = if reader.analysis.hidden.is_empty() {
            ""
        } else {
            " (hidden ones, too)"
        };
        let title = format!(
            "{:>13} {:>14} {:<11} {:>6}  {stream}{hidden}",
            "event", "seconds", "port", "depth"
        );
        buf.set_stringn(area.x, area.y, left(&title, room), room, theme.heading);
        let list = Rect {
            y: area.y + 1,
            height: area.height.saturating_sub(1),
            ..area
        };
        self.list = list;
        let steps = self.page.as_ref().map_or(&[][..], |page| &page.steps);
        if steps.is_empty() {
            let text = "no events in this stream";
            buf.set_stringn(area.x + 1, list.y, text, room, theme.faint);
            return;
        }
        self.first = first_row(self.first, self.at, list.height.into(), steps.len());
        let shown = || steps.iter().skip(self.first).take(list.height.into());
        let outermost = shown().filter_map(|step| Some(step.of?.1)).min();
        for ((y, step), at) in (list.y..list.bottom()).zip(shown()).zip(self.first..) {
            let depth = step.of.map(|(_, depth)| depth);
            let head = format!(
                "{} {} {:<11} {}  ",
                right(&count(step.number), 13),
                right(&seconds(since_start(reader, step)), 14),
                port(step.event),
                right(&depth.map_or_else(String::new, count), 6),
            );
            let rest = room.saturating_sub(head.len());
            let inside = depth
                .zip(outermost)
                .map_or(0, |(depth, least)| depth - least);
            let indent = usize::try_from(inside * 2).unwrap_or(rest).min(rest / 2);
            let text = shorten(&about(reader, step), rest - indent);
            let line = left(&format!("{head}{:indent$}{text}", ""), room);
            let style = if at == self.at {
                theme.cursor
            } else {
                style(step.event, theme)
            };
            buf.set_stringn(list.x, y, line, room, style);
        }
    }
}

fn draw_stack(
    reader: &Reader,
    stack: &Shown,
    title: &str,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) {
    let room = usize::from(area.width);
    buf.set_stringn(area.x, area.y, left(title, room), room, theme.heading);
    let rows = usize::from(area.height.saturating_sub(1));
    let shown = if stack.height > rows as u64 {
        rows.saturating_sub(1)
    } else {
        rows
    };
    for ((y, open), at) in (area.y + 1..).zip(stack.newest.iter().take(shown)).zip(0..) {
        let mut since = format!("  called at {}", count(open.called));
        if open.last_calls > 0 {
            since += &format!(", {}", counted(open.last_calls, "last call", "last calls"));
        }
        let depth = right(&count(stack.height - 1 - at), 7);
        let name_room = room.saturating_sub(depth.len() + since.len() + 2);
        let name = shorten(reader.analysis.predicate(open.predicate), name_room);
        let (x, _) = buf.set_stringn(area.x, y, depth, room, theme.faint);
        let (x, _) = buf.set_stringn(x + 1, y, name, name_room, theme.text);
        let rest = usize::from(area.right().saturating_sub(x));
        buf.set_stringn(x, y, since, rest, theme.faint);
    }
    let more = stack
        .height
        .saturating_sub(shown.min(stack.newest.len()) as u64);
    if more > 0 && rows > 0 {
        let text = format!("        … {} more", count(more));
        let y = area.y + 1 + shown.min(stack.newest.len()) as u16;
        if y < area.bottom() {
            buf.set_stringn(area.x, y, text, room, theme.faint);
        }
    }
}
