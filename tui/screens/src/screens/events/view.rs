//! Drawing: the list of events, and the boxes at the cursor.

use portmortem_analyzer::export::csv::field;
use portmortem_analyzer::tables::{Cell, EventRow, Row, port};
use portmortem_analyzer::trace::names::printable;
use portmortem_analyzer::walk::Step;
use portmortem_tracer::format::{Arguments, Event};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::Events;
use super::reader::{Reader, Shown};
use crate::format::{count, counted, left, right, shorten};
use crate::theme::Theme;

fn style(event: Event, theme: &Theme) -> Style {
    let [call, exit, redo, fail, exception] = theme.ports;
    match event {
        Event::Call { .. } | Event::Tail { .. } => call,
        Event::ExitDet | Event::ExitNondet => exit,
        Event::Redo => redo,
        Event::Fail => fail,
        Event::Exception => exception,
        Event::Gap { .. } => theme.warning,
        Event::Cut { .. }
        | Event::Pause
        | Event::Resume
        | Event::Mark { .. }
        | Event::Clause { .. }
        | Event::Arguments(_) => theme.text,
    }
}

/// What an event is about: a predicate, mostly.
fn about(reader: &Reader, step: &Step) -> String {
    // What is hidden has no name, but a pause in it is a pause.
    let of = step.of.filter(|(of, _)| !reader.is_hidden(of));
    let name = of.map_or("", |(of, _)| reader.analysis.predicate(of.predicate));
    match step.event {
        Event::Cut { count } => {
            let boxes = counted(count.into(), "choicepoint", "choicepoints");
            format!("{boxes}, in {name}")
        }
        Event::Gap { lost: 0 } => "events were lost, unknown how many".to_owned(),
        Event::Gap { lost } => counted(lost, "event was lost", "events were lost"),
        Event::Mark { text } => printable(reader.analysis.trace.text(text).unwrap_or_default()),
        Event::Arguments(arguments) => format!("{name}, {}", arguments_text(arguments)),
        Event::Clause { clause } => {
            let trace = &reader.analysis.trace;
            match trace.clause_index(clause) {
                Some(at) => format!("{name}, clause {}", trace.clauses()[at as usize].number),
                None => name.to_owned(),
            }
        }
        _ => name.to_owned(),
    }
}

fn arguments_text(arguments: Arguments) -> String {
    match arguments {
        Arguments::Hash(hash) => format!("hash {hash:016x}"),
        Arguments::NotGround => "not ground".to_owned(),
        Arguments::TooLarge => "too large for a hash".to_owned(),
        Arguments::Integer { argument, value } => format!("argument {argument}: {value}"),
        Arguments::List { argument, length } => {
            let elements = counted(length, "element", "elements");
            format!("argument {argument}: {elements}")
        }
    }
}

/// The events as rows of the table `events`.
pub(super) fn csv<'s>(reader: &Reader, steps: impl Iterator<Item = &'s Step>) -> Option<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = EventRow::COLUMNS.iter().map(|column| column.name);
    writer.write_record(names).ok()?;
    for step in steps {
        let texts = |cells: &[Cell]| cells.iter().map(text).collect::<Vec<String>>();
        let texts = reader.row(step)?.with_cells(texts);
        writer.write_record(texts).ok()?;
    }
    String::from_utf8(writer.into_inner().ok()?).ok()
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Missing => String::new(),
        Cell::Text(text) => field(text).into_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Bool(is) => is.to_string(),
    }
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
        if self.stacks.is_none() {
            self.stacks = self.list.step().map(|step| reader.stacks(step));
        }
        let Some(both) = &self.stacks else { return };
        let boxes = |stack: &Shown| counted(stack.height, "box", "boxes");
        let title = format!("Active: {}, innermost first", boxes(&both.active));
        draw_stack(reader, &both.active, &title, chain, buf, theme);
        let title = format!("Can be re-entered: {}, newest first", boxes(&both.choices));
        draw_stack(reader, &both.choices, &title, choices, buf, theme);
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
        let title = format!(
            "{:>13} {:>14} {:<11} {:>6}  {stream}",
            "event", "seconds", "port", "depth"
        );
        buf.set_stringn(area.x, area.y, left(&title, room), room, theme.heading);
        let list = Rect {
            y: area.y + 1,
            height: area.height.saturating_sub(1),
            ..area
        };
        self.area = list;
        let rows = usize::from(list.height);
        let steps = &self.list.steps;
        if steps.is_empty() {
            let text = self.why_empty();
            buf.set_stringn(area.x + 1, list.y, text, room, theme.faint);
            return;
        }
        self.first = self.list.first(rows);
        let (at, steps) = (self.list.at, &self.list.steps);
        let shown = || steps.iter().skip(self.first).take(rows);
        let outermost = shown().filter_map(|step| Some(step.of?.1)).min();
        for ((y, step), row) in (list.y..list.bottom()).zip(shown()).zip(self.first..) {
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
            let style = if row == at {
                theme.cursor
            } else if reader.lists(step) {
                style(step.event, theme)
            } else {
                theme.faint
            };
            buf.set_stringn(list.x, y, line, room, style);
        }
    }

    pub(super) fn why_empty(&self) -> &'static str {
        if self.looks() {
            "looking for events to list; Esc stops"
        } else if self.stopped {
            "no event to list was found before the search was stopped"
        } else if self.reader.as_ref().is_some_and(Reader::lists_all) {
            "no events in this stream"
        } else {
            "no event of this stream is listed: all are hidden, or not what the filter says"
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
    // The last row is for how many more there are.
    let shown = if stack.height > rows as u64 || stack.height > stack.newest.len() as u64 {
        rows.saturating_sub(1)
    } else {
        rows
    };
    for (y, (around, open)) in (area.y + 1..).zip(stack.newest.iter().take(shown)) {
        let mut since = format!("  called at {}", count(open.called));
        if open.last_calls > 0 {
            since += &format!(", {}", counted(open.last_calls, "last call", "last calls"));
        }
        let depth = right(&count(*around), 7);
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
        let of_hidden = if reader.lists_all() {
            ""
        } else {
            ", those of hidden predicates with them"
        };
        let text = format!("        … {} more{of_hidden}", count(more));
        let y = area.y + 1 + shown.min(stack.newest.len()) as u16;
        if y < area.bottom() {
            buf.set_stringn(area.x, y, text, room, theme.faint);
        }
    }
}
