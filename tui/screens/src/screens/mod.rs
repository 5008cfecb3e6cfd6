//! The screens: state that can be tested without a terminal, and a `draw` over it.

mod advice;
mod backtracking;
mod call_tree;
mod changes;
mod events;
mod flame;
mod predicate;
mod predicates;
mod range;
mod spot;
mod timeline;
mod trace;

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use portmortem_analyzer::calls::figures::SlowCall;
use portmortem_analyzer::trace::{PredicateIndex, StreamInfo};
use portmortem_analyzer::{FocusOn, Window};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::analysis::AnalysisView;
use crate::format::{shorten, width};
use crate::keys::{Action, Binding};
use crate::table::Table;
use crate::theme::Theme;
pub(crate) use predicate::edit as predicate_source;
pub use spot::Spot;

/// A screen by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScreenId {
    /// All predicates.
    Predicates,
    /// One predicate, its callers and callees.
    Predicate,
    /// Calling contexts.
    CallTree,
    /// Failures, redos, choicepoints, cuts.
    Backtracking,
    /// Calling contexts as boxes.
    Flame,
    /// The boxes over time.
    Timeline,
    /// The events of a stream.
    Events,
    /// What costs time and what to do about it.
    Advice,
    /// What the trace is, and its streams.
    Trace,
    /// What changed since another recording.
    Changes,
}

/// A screen as the program lists it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Which.
    pub id: ScreenId,
    /// Its key.
    pub digit: char,
    /// Its name.
    pub name: &'static str,
    /// The same where there is little room.
    pub short: &'static str,
    make: fn() -> Box<dyn Screen>,
}

impl Entry {
    /// The screen, with nothing to show yet.
    #[must_use]
    pub fn make(&self) -> Box<dyn Screen> {
        (self.make)()
    }
}

/// All screens, by their digits.
pub const SCREENS: &[Entry] = &[
    Entry {
        id: ScreenId::Predicates,
        digit: '1',
        name: "Predicates",
        short: "Preds",
        make: || Box::new(predicates::Predicates::default()),
    },
    Entry {
        id: ScreenId::Predicate,
        digit: '2',
        name: "Predicate",
        short: "Pred",
        make: || Box::new(predicate::Predicate::default()),
    },
    Entry {
        id: ScreenId::CallTree,
        digit: '3',
        name: "Call tree",
        short: "Tree",
        make: || Box::new(call_tree::CallTree::default()),
    },
    Entry {
        id: ScreenId::Backtracking,
        digit: '4',
        name: "Backtracking",
        short: "Back",
        make: || Box::new(backtracking::Backtracking::default()),
    },
    Entry {
        id: ScreenId::Timeline,
        digit: '5',
        name: "Timeline",
        short: "Time",
        make: || Box::<timeline::Timeline>::default(),
    },
    Entry {
        id: ScreenId::Events,
        digit: '6',
        name: "Events",
        short: "Events",
        make: || Box::new(events::Events::default()),
    },
    Entry {
        id: ScreenId::Advice,
        digit: '7',
        name: "Advice",
        short: "Advice",
        make: || Box::<advice::Advice>::default(),
    },
    Entry {
        id: ScreenId::Flame,
        digit: '8',
        name: "Flame graph",
        short: "Flame",
        make: || Box::<flame::Flame>::default(),
    },
    Entry {
        id: ScreenId::Trace,
        digit: '9',
        name: "Trace",
        short: "Trace",
        make: || Box::<trace::TraceScreen>::default(),
    },
    Entry {
        id: ScreenId::Changes,
        digit: '0',
        name: "Changes",
        short: "Diff",
        make: || Box::<changes::Changes>::default(),
    },
];

/// The least columns and rows of a screen that is a list.
const SMALLEST_LIST: (u16, u16) = (20, 2);

/// What an action on a screen leads to, beyond the screen itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it is done.
    Done,
    /// The screen has no use for the action.
    Unused,
    /// Done: the user is at another place. Esc goes back to where they were ([`Screen::spot`]).
    Step,
    /// The same, with something to show on the line at the bottom.
    StepSaying(String),
    /// Show this on the line at the bottom.
    Say(String),
    /// Go into a predicate.
    Open(PredicateIndex),
    /// Go to a place in a predicate.
    Place(Place),
    /// Show an event on the screen of events.
    Event(EventTarget),
    /// Put this on the clipboard.
    Copy(String),
    /// Open an editor.
    Edit(PathBuf, u32),
}

/// A place in a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Whose clause it is in.
    pub predicate: PredicateIndex,
    /// The line in its source.
    pub line: Option<u32>,
    /// What is called there.
    pub callee: Option<PredicateIndex>,
}

/// An event to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventTarget {
    /// The one of this number, or the next one if that was lost or is hidden.
    At {
        /// Its stream, by its place in the trace.
        stream: usize,
        /// Its number in the stream.
        number: u64,
    },
    /// The first one of a predicate.
    FirstOf(PredicateIndex),
    /// The next mark with the text of this id, or the first one if there is none.
    Mark(u32),
}

/// A screen. Its state knows nothing of terminals; only [`Screen::draw`] does.
pub trait Screen: Debug {
    /// Keys of its own, beside [`crate::keys::EVERYWHERE`] and, if it has a table,
    /// [`crate::keys::LISTS`].
    fn bindings(&self) -> &'static [Binding];

    /// Shows another analysis: the first one, or one of another part of the trace.
    fn follow(&mut self, analysis: &Arc<AnalysisView>);

    /// Does what a key asks for. What it has no use for goes to its table, then to the program.
    fn act(&mut self, action: Action) -> Effect;

    /// Takes what its threads found, if it has some; waits for it if told to. [`Effect::Unused`] if there was
    /// nothing.
    fn poll(&mut self, _wait: bool) -> Effect {
        Effect::Unused
    }

    /// Whether it has something that keys can act on. Until its threads have made that, keys wait.
    fn is_ready(&self) -> bool {
        true
    }

    /// How much is done of what its threads do, from 0 to 1, if that takes long.
    fn progress(&self) -> Option<f64> {
        None
    }

    /// Where the user is on it.
    fn spot(&self) -> Spot {
        Spot::of(self)
    }

    /// Goes back to where the user was.
    fn recall(&mut self, spot: &Spot) {
        spot.recall(self);
    }

    /// Forgets the last [`Effect::Step`] if it keeps them; `false` if there is none.
    fn undo(&mut self) -> bool {
        false
    }

    /// Where the cursor is, in a word, if that is no predicate.
    fn crumb(&self) -> Option<String> {
        None
    }

    /// The list that the cursor is in, if there is one.
    fn table(&self) -> Option<&Table> {
        None
    }

    /// The same, to change it.
    fn table_mut(&mut self) -> Option<&mut Table> {
        None
    }

    /// What the view is filtered or searched by, empty if by nothing; `None` if that makes no sense here.
    fn filter(&self) -> Option<&str> {
        self.table().map(Table::filter)
    }

    /// Whether a name that is looked for on other screens is looked for here, too. Not where that would hide what a user came for.
    fn looks_for_names(&self) -> bool {
        true
    }

    /// Filters or searches by something else.
    fn set_filter(&mut self, text: &str) {
        if let Some(table) = self.table_mut() {
            table.set_filter(text);
        }
    }

    /// The filter was confirmed: a screen on which that is a search goes to what it finds.
    fn search(&mut self) -> Effect {
        Effect::Done
    }

    /// Why the filter is no condition: it cannot be confirmed then.
    fn filter_error(&self) -> Option<&str> {
        self.table()?.filter_error()
    }

    /// What a filter may be.
    fn filter_hint(&self) -> &'static str {
        "a word, ~regex, or: fails > 1k and self > 1ms"
    }

    /// The predicate that the cursor is on.
    fn predicate(&self) -> Option<PredicateIndex> {
        self.table()?.predicate()
    }

    /// The event that the cursor is at, where a row is one moment of the execution.
    fn event(&self) -> Option<EventTarget> {
        None
    }

    /// The event of what the cursor is on: of a box its call, wherever that is.
    fn event_of_box(&self) -> Option<EventTarget> {
        self.event()
    }

    /// The event that called the box here, where that is another one than [`Self::event_of_box`].
    fn call_here(&self) -> Option<u64> {
        None
    }

    /// Where in the call tree the cursor is.
    fn place(&self) -> Option<FocusOn> {
        self.predicate().map(FocusOn::Predicate)
    }

    /// The range of time that is shown or marked.
    fn window(&self) -> Option<Window> {
        None
    }

    /// Goes to a predicate.
    fn select(&mut self, predicate: PredicateIndex) -> Effect {
        if let Some(table) = self.table_mut() {
            table.select_predicate(predicate);
        }
        Effect::Done
    }

    /// Goes to a place in a predicate.
    fn show_place(&mut self, place: Place) -> Effect {
        self.select(place.predicate)
    }

    /// Goes to an event.
    fn show_event(&mut self, _target: EventTarget) -> Effect {
        Effect::Unused
    }

    /// Goes to a tick.
    fn show_time(&mut self, _tick: u64) -> Effect {
        Effect::Unused
    }

    /// What is shown, in a few words, for the right of the title.
    fn status(&self) -> String {
        String::new()
    }

    /// What the file that the view is exported to is called, without extension.
    fn file_name(&self) -> &'static str;

    /// The view as a text.
    fn export(&self) -> Option<String> {
        Some(self.table()?.csv(None))
    }

    /// What [`Action::Export`] writes, where that is not the text that is copied.
    fn file(&self) -> Option<String> {
        self.export()
    }

    /// How many rows [`Screen::export`] has at most.
    fn rows(&self) -> usize {
        self.table().map_or(0, Table::rows)
    }

    /// The row that the cursor is on, to be copied.
    fn copy(&self) -> Option<String> {
        let table = self.table()?;
        Some(table.csv(Some(table.row()?)))
    }

    /// Whether there is nothing that could be copied or exported.
    fn is_empty(&self) -> bool {
        self.table().is_some_and(|table| table.rows() == 0)
    }

    /// Whether rows can be predicates: keys that act on one are not offered elsewhere.
    fn has_predicates(&self) -> bool {
        true
    }

    /// A click; `true` if that is as good as Enter.
    fn click(&mut self, x: u16, y: u16) -> bool {
        self.table_mut().is_some_and(|table| table.click(x, y))
    }

    /// The wheel was turned at a column. [`Effect::Unused`]: as the arrows.
    fn scroll(&mut self, _x: u16, _up: bool) -> Effect {
        Effect::Unused
    }

    /// The mouse was dragged from a column to another one.
    fn drag(&mut self, _from: u16, _to: u16) {}

    /// What a second click on the same thing does.
    fn enter(&self) -> Action {
        Action::Enter
    }

    /// The least columns and rows that it can be drawn in.
    fn smallest(&self) -> (u16, u16) {
        SMALLEST_LIST
    }

    /// Draws it, in an area that is not smaller.
    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme);
}

/// The names of the parts of a screen, that of the one shown in brackets; the area that is left.
/// Where there is no room for all, the others are named by their first words, or not at all.
fn draw_parts<'n>(
    names: impl Iterator<Item = &'n str>,
    shown: usize,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) -> Rect {
    let names: Vec<&str> = names.collect();
    let with = |other: &dyn Fn(&str) -> String| -> Vec<String> {
        let names = names.iter().enumerate();
        let text = |(at, name): (usize, &&str)| match at == shown {
            true => format!("[{name}]"),
            false => format!(" {} ", other(name)),
        };
        names.map(text).collect()
    };
    let first_word = |name: &str| match name.split_once(' ') {
        Some((first, _)) => format!("{first}…"),
        None => name.to_owned(),
    };
    let kinds = [
        with(&str::to_owned),
        with(&first_word),
        with(&|_| "…".to_owned()),
    ];
    let room = usize::from(area.width.saturating_sub(2));
    let cells = |texts: &Vec<String>| texts.iter().map(|text| width(text) + 1).sum::<usize>();
    let last = kinds.len() - 1;
    let kind = kinds.iter().position(|texts| cells(texts) <= room);
    let mut x = area.x + 1;
    for (at, text) in kinds[kind.unwrap_or(last)].iter().enumerate() {
        let style = if at == shown {
            theme.subject
        } else {
            theme.text
        };
        let room = usize::from(area.right().saturating_sub(x));
        (x, _) = buf.set_stringn(x, area.y, shorten(text, room), room, style);
        x = x.saturating_add(1).min(area.right());
    }
    Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(1),
        ..area
    }
}

/// To the slowest call of a predicate, of those whose times are known.
pub(crate) fn slowest_call(analysis: &AnalysisView, predicate: PredicateIndex) -> Effect {
    let figures = analysis
        .known_calls()
        .and_then(|calls| calls.predicate(predicate));
    match figures.and_then(|figures| figures.slowest.first()) {
        Some(call) => call_event(analysis, call),
        None => Effect::Say(format!(
            "the time of no call of {} is known; V shows its first event",
            analysis.predicate(predicate)
        )),
    }
}

/// To the event of a call.
pub(crate) fn call_event(analysis: &AnalysisView, call: &SlowCall) -> Effect {
    match event_of(analysis, call.stream, call.event) {
        Some(target) => Effect::Event(target),
        None => Effect::Say("the trace has no such stream".to_owned()),
    }
}

/// An event by the id of its stream and its number; `None` if the trace has no such stream.
pub(crate) fn event_of(analysis: &AnalysisView, stream: u32, number: u64) -> Option<EventTarget> {
    let stream = analysis.trace.stream_place(stream)?;
    Some(EventTarget::At { stream, number })
}

/// What is said if times of single calls were not found.
pub(crate) fn calls_lost() -> Effect {
    Effect::Say("the times of single calls were not found: a defect of Portmortem".to_owned())
}

/// What a stream is called, also one that is not in the trace.
pub(crate) fn stream_title(stream: Option<&StreamInfo>) -> String {
    stream.map_or_else(|| "the stream".to_owned(), StreamInfo::title)
}

/// `12 of 340 predicates`, `1 predicate`
pub(crate) fn how_many(table: &Table, one: &str) -> String {
    let many = format!("{one}s");
    let all = crate::format::counted(table.source().rows() as u64, one, &many);
    if table.filter().is_empty() {
        all
    } else {
        format!("{} of {all}", crate::format::count(table.found() as u64))
    }
}

/// File and line of the first clause of a predicate; empty if they are not known.
pub(crate) fn place_of(analysis: &AnalysisView, index: PredicateIndex) -> String {
    let place = analysis.source(index).map(|(file, line)| {
        let name = file.rsplit('/').next().unwrap_or(file);
        format!("{name}:{line}")
    });
    place.unwrap_or_default()
}

/// The number as tables have it.
pub(crate) fn integer(number: u64) -> portmortem_analyzer::tables::Cell<'static> {
    portmortem_analyzer::tables::Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}
