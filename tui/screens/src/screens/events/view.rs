//! Drawing: the list of events, and the boxes at the cursor.

use portmortem_analyzer::export::csv::field;
use portmortem_analyzer::listing::Lasted;
use portmortem_analyzer::machine::{Class, Note, WayOut};
use portmortem_analyzer::tables::{Cell, EventRow, Row, SiteNames};
use portmortem_analyzer::trace::StreamInfo;
use portmortem_analyzer::trace::names::printable;
use portmortem_analyzer::walk::Step;
use portmortem_tracer::format::{Arguments, SyncRole, ValueKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::reader::EventReader;
use super::stacks::{self, KeyedList};
use super::took::KnownTime;
use super::{EventsScreen, is_port};
use crate::format::{count, counted, left, right, shorten, time, width};
use crate::names::fitting;
use crate::theme::Theme;

/// Cells of a time, and of a port.
const TIME: usize = 9;
const PORT: usize = 11;

/// From so many cells on, it is said when each event was.
const WIDE: usize = 94;

/// On narrower lists these are left out, the first ones first: the time since the event before, the
/// depth, the time that it took, the port.
const NARROW: [usize; 4] = [72, 56, 48, 36];

/// From so many cells on, it is said how boxes end, and where the goals are that called them.
const WIDEST: usize = 118;

/// Cells of how a box ends, and most of those of the place of a goal.
const ENDS: usize = 6;
const PLACE: usize = 20;

/// From so many cells on, the list has this part of the width, in thirds.
const SPACIOUS: u16 = 180;
const THIRDS: u16 = 2;

/// From so many cells on, boxes are beside the events, in so many of them at least.
const SIDE_BY_SIDE: u16 = 120;
const BESIDE: u16 = 35;

/// Rows around those in sight that it is looked up for how long activations took.
const AROUND: usize = 100;

fn style(class: Class, theme: &Theme) -> Style {
    let [call, exit, redo, fail, exception] = theme.ports;
    match class {
        Class::Enter(_) | Class::Depart(_) => call,
        Class::Leave(WayOut::ExitDet | WayOut::ExitNondet) => exit,
        Class::ReEnter => redo,
        Class::Leave(WayOut::Fail) => fail,
        Class::Leave(WayOut::Exception) => exception,
        Class::Leave(WayOut::Lost) | Class::Lose(_) => theme.warning,
        Class::Leave(WayOut::Open) | Class::Cut(_) | Class::Pause(_) | Class::Note(_) => theme.text,
    }
}

/// What an event is about: a predicate, mostly.
fn about(reader: &EventReader, step: &Step) -> String {
    // What is hidden has no name, but a pause in it is a pause.
    let of = step.of.filter(|(of, _)| !reader.is_hidden(of));
    let name = of.map_or("", |(of, _)| reader.analysis.predicate(of.predicate));
    match step.class() {
        Class::Cut(count) => {
            let boxes = counted(count.into(), "choicepoint", "choicepoints");
            match name {
                "" => boxes,
                _ => format!("{boxes}, in {name}"),
            }
        }
        Class::Lose(lost) if reader.is_not_kept(step) => {
            format!("{} before are not kept", counted(lost, "event", "events"))
        }
        Class::Lose(0) => "events were lost, unknown how many".to_owned(),
        Class::Lose(lost) => counted(lost, "event was lost", "events were lost"),
        Class::Note(note) => said(reader, name, note),
        Class::Enter(_) | Class::Depart(_) | Class::Leave(_) | Class::ReEnter | Class::Pause(_) => {
            name.to_owned()
        }
    }
}

/// What a note says of a box with this name.
fn said(reader: &EventReader, name: &str, note: Note) -> String {
    let trace = &reader.analysis.trace;
    match note {
        Note::Mark(text) => printable(trace.text(text).unwrap_or_default()),
        Note::Clause(clause) => match trace.clause_index(clause) {
            Some(at) => format!("{name}, clause {}", trace.clauses()[at as usize].number),
            None => name.to_owned(),
        },
        Note::Arguments(arguments) => format!("{name}, {}", arguments_text(arguments)),
        Note::Table(table) => {
            let of = trace.predicate_index(table.predicate);
            let name = trace.predicate_name(of.unwrap_or(trace.unknown_predicate()));
            let answers = counted(table.answers.into(), "answer", "answers");
            format!("{name}, {answers}")
        }
        Note::Value(value) => {
            let at = if value.when == 0 { "" } else { " at an exit" };
            let what = value_text(value.kind, value.size);
            format!("{name}, argument {}{at}: {what}", value.argument)
        }
        Note::Sync(call) => {
            let shared = printable(trace.shared(call.shared).unwrap_or_default());
            format!("{name} {} {shared}", does(call.role))
        }
    }
}

/// What a call does with something that threads share.
fn does(role: SyncRole) -> &'static str {
    match role {
        SyncRole::Holds | SyncRole::Locks => "locks",
        SyncRole::Unlocks => "unlocks",
        SyncRole::Receives => "receives from",
        SyncRole::Sends => "sends to",
        SyncRole::Joins => "joins",
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

fn value_text(kind: ValueKind, size: u32) -> String {
    let cells = counted(size.into(), "cell", "cells");
    match kind {
        ValueKind::Unbound => "unbound".to_owned(),
        ValueKind::Ground => format!("ground, {cells}"),
        ValueKind::NotGround => format!("not ground, {cells}"),
        ValueKind::Unknown => "not known".to_owned(),
        ValueKind::Fresh => format!("{cells} made since the call"),
    }
}

/// The events as rows of the table `events`.
pub(super) fn csv<'s>(
    reader: &EventReader,
    steps: impl Iterator<Item = &'s Step>,
) -> Option<String> {
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

fn since_start(reader: &EventReader, step: &Step) -> u64 {
    reader.analysis.trace.clock().since_start_ns(step.tick)
}

/// How wide the columns before the name are.
#[derive(Debug, Clone, Copy)]
struct Columns {
    number: usize,
    /// None where there is little room.
    seconds: Option<usize>,
    since: bool,
    took: bool,
    port: bool,
    ends: bool,
    depth: Option<usize>,
    place: Option<usize>,
}

impl Columns {
    fn of(reader: &EventReader, places: &[String], room: usize) -> Self {
        let figures = reader.analysis.profile.streams.get(reader.stream);
        let last = figures.map_or(0, |figures| figures.last_tick);
        let deepest = figures.map_or(0, |figures| figures.max_depth.saturating_sub(1));
        let last = reader.analysis.trace.clock().since_start_ns(last);
        Self {
            number: count(reader.last()).len().max(6),
            seconds: (room >= WIDE).then(|| seconds(last).len()),
            since: room >= NARROW[0],
            depth: (room >= NARROW[1]).then(|| count(deepest).len().max(5)),
            took: room >= NARROW[2],
            port: room >= NARROW[3],
            ends: room >= WIDEST,
            place: Some(widest(places)).filter(|width| room >= WIDEST && *width > 0),
        }
    }

    fn heads(self) -> String {
        let heads = [
            "event", "seconds", "Δ", "took", "port", "ends", "depth", "goal at",
        ];
        self.line(heads)
    }

    /// Cells beside each other, as far as their columns are shown.
    fn line(self, [number, seconds, since, took, port, ends, depth, place]: [&str; 8]) -> String {
        let mut line = right(number, self.number);
        let mut add = |cell: Option<String>| {
            if let Some(cell) = cell {
                line += " ";
                line += &cell;
            }
        };
        add(self.seconds.map(|width| right(seconds, width)));
        add(self.since.then(|| right(since, TIME)));
        add(self.took.then(|| right(took, TIME)));
        add(self.port.then(|| left(port, PORT)));
        add(self.ends.then(|| left(ends, ENDS)));
        add(self.depth.map(|width| right(depth, width)));
        add(self.place.map(|width| left(&ending(place, width), width)));
        line
    }

    /// An event; `before` is the one in the row above, and `took` what is known of how long its activation took.
    fn row(
        self,
        reader: &EventReader,
        step: &Step,
        before: Option<&Step>,
        took: Option<KnownTime>,
        places: &[String],
    ) -> String {
        let ns = |ticks| reader.analysis.trace.clock().duration_ns(ticks);
        let since = before.map(|before| time(ns(step.tick.saturating_sub(before.tick))));
        let lasted = match took {
            Some(KnownTime::Took(lasted)) => Some(lasted),
            _ => None,
        };
        let enters = !super::leaves(step);
        let ends = lasted.filter(|_| enters).map_or("", |of| end(of.outcome));
        let site = step.site.or(lasted.and_then(|lasted| lasted.site));
        let place = site.and_then(|site| places.get(site as usize));
        let took = match took {
            None => String::new(),
            Some(KnownTime::Took(Lasted {
                ticks,
                outcome: WayOut::Open,
                ..
            })) => format!("≥{}", time(ns(ticks))),
            Some(KnownTime::Took(lasted)) => time(ns(lasted.ticks)),
            Some(KnownTime::NotYet) => "…".to_owned(),
            Some(KnownTime::No) => "–".to_owned(),
        };
        let depth = step.of.map_or_else(String::new, |(_, depth)| count(depth));
        self.line([
            &count(step.number),
            &seconds(since_start(reader, step)),
            &since.unwrap_or_default(),
            &took,
            step.kind().name(),
            ends,
            &depth,
            place.map_or("", String::as_str),
        ])
    }
}

/// How an activation ends, in a short word.
fn end(outcome: WayOut) -> &'static str {
    match outcome {
        WayOut::ExitDet => "exit",
        WayOut::ExitNondet => "exit ◇",
        WayOut::Fail => "fail",
        WayOut::Exception => "exc.",
        WayOut::Open => "open",
        WayOut::Lost => "lost",
    }
}

/// The place, or its end where there is no room for all: the line stays.
fn ending(place: &str, room: usize) -> String {
    let cut = width(place).saturating_sub(room);
    if cut == 0 {
        return place.to_owned();
    }
    let rest: String = place.chars().skip(cut + 1).collect();
    format!("…{rest}")
}

/// Cells of the widest place of a goal, as far as there is room for it.
fn widest(places: &[String]) -> usize {
    let widths = places.iter().map(|place| width(place));
    widths.max().unwrap_or(0).min(PLACE)
}

/// To the nanosecond: events are close to each other wherever they are.
fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

impl EventsScreen {
    pub(super) fn draw_all(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let [mut list, mut stacks] = [area, area];
        if area.width >= SIDE_BY_SIDE {
            // What fits without the boxes beside it fits with them.
            list.width = match area.width {
                SPACIOUS.. => area.width / 3 * THIRDS,
                width => (width * 3 / 5).max(SIDE_BY_SIDE - BESIDE),
            };
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
        let row = |part| Some(self.row).filter(|_| self.part == part);
        for (stack, name, order, part, area) in [
            (
                &both.active,
                "Active",
                "innermost",
                KeyedList::Active,
                chain,
            ),
            (
                &both.choices,
                "Can be re-entered",
                "newest",
                KeyedList::Choices,
                choices,
            ),
        ] {
            let boxes = counted(stack.height, "box", "boxes");
            let title = format!("{name}: {boxes}, {order} first");
            stacks::draw(reader, stack, &title, row(part), area, buf, theme);
        }
    }

    fn draw_list(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let Some(reader) = &self.reader else { return };
        let room = usize::from(area.width).saturating_sub(1);
        if room >= WIDEST && self.places.is_empty() {
            let names = SiteNames::of(&reader.analysis.trace);
            self.places = names.names().map(|(place, _)| place.to_owned()).collect();
        }
        let places = &self.places;
        let columns = Columns::of(reader, places, room);
        let when = self.list.step().filter(|_| columns.seconds.is_none());
        let when = when.map(|step| time(since_start(reader, step)));
        let name = reader.info().map(StreamInfo::title);
        let streams = reader.analysis.trace.streams().len();
        let heads = columns.heads() + "  ";
        // What matters less comes last: the only stream, how many there are.
        let parts = match streams {
            1 => vec![when, name],
            _ => vec![name, when, Some(format!("of {streams} streams"))],
        };
        let mut title = heads.clone();
        for part in parts.into_iter().flatten() {
            let separator = if title == heads { "" } else { ", " };
            if title == heads || width(&title) + width(separator) + width(&part) <= room {
                title += separator;
                title += &part;
            }
        }
        buf.set_stringn(area.x, area.y, left(&title, room), room, theme.heading);
        let marked = self.range.line(&reader.analysis);
        let list = Rect {
            y: area.y + 1,
            height: area.height.saturating_sub(1 + u16::from(marked.is_some())),
            ..area
        };
        if let Some(text) = marked {
            let text = format!(" {text}");
            buf.set_stringn(area.x, list.bottom(), shorten(&text, room), room, theme.key);
        }
        self.area = list;
        let rows = usize::from(list.height);
        let steps = &self.list.steps;
        if steps.is_empty() {
            let text = self.why_empty();
            buf.set_stringn(area.x + 1, list.y, text, room, theme.faint);
            return;
        }
        self.first = self.list.first(rows);
        let first = self.first.saturating_sub(AROUND);
        let numbers: Vec<u64> = self
            .list
            .steps
            .iter()
            .skip(first)
            .take(rows + 2 * AROUND)
            .filter(|step| is_port(step))
            .map(|step| step.number)
            .collect();
        self.took.look_for(reader, &numbers);
        let (at, steps) = (self.list.at, &self.list.steps);
        let shown = || steps.iter().skip(self.first).take(rows);
        let outermost = shown().filter_map(|step| Some(step.of?.1)).min();
        let mut before = self.first.checked_sub(1).and_then(|at| steps.get(at));
        for ((y, step), row) in (list.y..list.bottom()).zip(shown()).zip(self.first..) {
            let depth = step.of.map(|(_, depth)| depth);
            let took = match is_port(step) {
                true => Some(self.took.get(step.number)),
                false => None,
            };
            let head = columns.row(reader, step, before, took, places) + "  ";
            before = Some(step);
            let rest = room.saturating_sub(width(&head));
            let inside = depth
                .zip(outermost)
                .map_or(0, |(depth, least)| depth - least);
            let indent = usize::try_from(inside * 2).unwrap_or(rest).min(rest / 2);
            let text = fitting(&about(reader, step), rest - indent);
            let line = left(&format!("{head}{:indent$}{text}", ""), room);
            let style = if row == at && self.part == KeyedList::Events {
                theme.cursor
            } else if row == at {
                theme.subject
            } else if reader.lists(step) {
                style(step.class(), theme)
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
        } else if self
            .reader
            .as_ref()
            .is_none_or(|reader| reader.numbers().is_empty())
        {
            "no events in this stream"
        } else if self.reader.as_ref().is_some_and(EventReader::lists_all) {
            "only waiting, loading, collections and set-up in this stream; w shows them"
        } else if self
            .reader
            .as_ref()
            .is_some_and(EventReader::is_known_to_list_nothing)
        {
            "no predicate has that name, and no event can be so"
        } else {
            "no event of this stream is listed: all are hidden, or not what the filter says"
        }
    }
}
