//! Screen 6: the events of a stream one by one, with the boxes at the cursor.
//!
//! Only some events around the cursor are held ([`list`]). What has to be looked for is looked for by threads
//! ([`search`]): a key waits for them [a moment](soon), which mostly is enough, and then goes on.

mod asked;
pub(super) mod jumps;
mod list;
pub(super) mod reader;
mod reasons;
pub(super) mod search;
mod stacks;
#[cfg(test)]
mod tests;
mod took;
mod view;

use std::sync::Arc;
use std::time::Instant;

use portmortem_analyzer::Window;
use portmortem_analyzer::machine::{Class, Note};
use portmortem_analyzer::moment::OpenBox;
use portmortem_analyzer::timeline::Program;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::walk::Step;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::analysis::AnalysisView;
use crate::format::count;
use crate::keys::{self, Action, Binding};
use crate::screen::range::MarkedRange;
use crate::screen::{
    Clickable, Effect, EventTarget, Exportable, Navigable, Pointing, Screen, Searchable, Spot,
    Tabular,
};
use crate::theme::Theme;
use crate::worker::{poll_until, soon};
use asked::AskedCondition;
use jumps::{Jump, Then};
use list::EventList;
use reader::{EventReader, ShownStacks};
use reasons::SoughtReason;
use search::SearchResult;
use stacks::KeyedList;
use took::ActivationTimes;

/// So many names of predicates are looked through while a key waits.
const MOST_NAMES: usize = 5000;

/// The screen.
#[derive(Debug, Default)]
pub(super) struct EventsScreen {
    reader: Option<EventReader>,
    list: EventList,
    /// Where the cursor was last.
    place: u64,
    /// Where the program of the trace runs, as far as that is known.
    program: Option<Arc<Program>>,
    /// What is looked for.
    jump: Option<Jump>,
    /// Why an event happened, which is looked for.
    reason: Option<SoughtReason>,
    /// It was given up.
    stopped: bool,
    filter: String,
    filter_error: Option<String>,
    /// Both stacks at the cursor, if they were drawn since it moved.
    stacks: Option<ShownStacks>,
    /// Which of the lists beside the events the keys are for, and where in it the cursor is.
    part: KeyedList,
    row: usize,
    took: ActivationTimes,
    /// By site: file and line of the goal, once they are shown.
    places: Vec<String>,
    range: MarkedRange,
    /// Where the events were drawn, and the first one of them.
    area: Rect,
    first: usize,
}

/// Where the user is on it.
#[derive(Debug, Clone)]
struct EventSpot {
    stream: usize,
    step: Option<Step>,
    /// Events that are drawn above it.
    above: usize,
    place: u64,
    part: KeyedList,
    row: usize,
}

/// What happens at a port, and not to the recording.
fn is_port(step: &Step) -> bool {
    match step.class() {
        Class::Enter(_) | Class::Depart(_) | Class::Leave(_) | Class::ReEnter => true,
        Class::Cut(_) | Class::Lose(_) | Class::Pause(_) | Class::Note(_) => false,
    }
}

/// What the program or the recorder says, whatever box is active.
fn is_of_recording(step: &Step) -> bool {
    matches!(step.class(), Class::Note(Note::Mark(_)) | Class::Pause(_))
}

/// By which a box ends, for good or until it is re-entered.
pub(super) fn leaves(step: &Step) -> bool {
    step.class().way_out().is_some()
}

impl EventsScreen {
    fn step(&self) -> Option<&Step> {
        self.list.step()
    }

    fn of(&self) -> Option<OpenBox> {
        self.step()?.of.map(|(of, _)| of)
    }

    fn clear(&mut self) {
        self.list = EventList::default();
        self.stacks = None;
    }

    /// The number of the event with which the program begins in a stream.
    fn begin(&self, stream: usize) -> u64 {
        let program = self.program.as_ref();
        let first = program.and_then(|program| *program.first_events.get(stream)?);
        first.unwrap_or(0)
    }

    /// The cursor moved.
    fn moved(&mut self) {
        self.stacks = None;
        (self.part, self.row) = (KeyedList::Events, 0);
        if let Some(step) = self.step() {
            self.place = step.number;
        }
    }

    /// Lists the events around one, which is listed in any case.
    fn load(&mut self, stream: usize, step: Step) {
        let begin = self.begin(stream);
        let middle = usize::from(self.area.height.saturating_sub(1)) / 2;
        let is_begin = step.number == begin && begin > 0;
        self.load_at(stream, step, if is_begin { 0 } else { middle });
    }

    /// The same, drawn in a row.
    fn load_at(&mut self, stream: usize, step: Step, row: usize) {
        if let Some(reader) = &mut self.reader {
            reader.stream = stream;
            let until = soon();
            self.list = EventList::around(step, row, reader, Some(until));
        }
        self.moved();
    }

    /// To an event, so that Esc comes back.
    fn go(&mut self, stream: usize, step: Step) -> Effect {
        let Some(before) = self.reader.as_ref().map(|reader| reader.stream) else {
            return Effect::Done;
        };
        let here = self.step().copied();
        if (before, here) == (stream, Some(step)) {
            return Effect::Done;
        }
        let known = self.list.steps.iter().position(|other| *other == step);
        match known.filter(|_| before == stream) {
            Some(at) => {
                self.list.at = at;
                self.shift(0);
            }
            None => self.load(stream, step),
        }
        match here {
            Some(_) => Effect::Step,
            None => Effect::Done,
        }
    }

    /// Up or down by some events.
    fn shift(&mut self, rows: isize) {
        if let Some(reader) = &self.reader {
            self.list.shift(rows, reader, soon());
            self.moved();
        }
    }

    fn page_rows(&self) -> isize {
        isize::from(self.area.height.max(2) as i16 - 1).max(1)
    }

    fn other_stream(&mut self, forward: bool) -> Effect {
        let Some(reader) = &self.reader else {
            return Effect::Done;
        };
        let streams = reader.analysis.trace.streams().len();
        if streams < 2 {
            return Effect::Say("there is no other stream".to_owned());
        }
        let next = (reader.stream + if forward { 1 } else { streams - 1 }) % streams;
        self.stream(next)
    }

    /// To where the program begins in a stream, which may have no events.
    fn stream(&mut self, stream: usize) -> Effect {
        let here = self.step().copied();
        let Some(reader) = &mut self.reader else {
            return Effect::Done;
        };
        self.reason = None;
        reader.stream = stream;
        let effect = self.list_around(self.begin(stream));
        match here {
            Some(_) => Effect::Step,
            None => effect,
        }
    }

    /// What was found within a moment.
    fn soon(&mut self) -> Effect {
        match self.take(Some(soon())) {
            Effect::Unused => Effect::Done,
            effect => effect,
        }
    }

    /// Takes what was found; waits for it until some moment.
    fn take(&mut self, until: Option<Instant>) -> Effect {
        if let Some(effect) = self.take_reason(until) {
            return effect;
        }
        let listed = self.list.take(until);
        let Some(jump) = &self.jump else {
            return if listed { Effect::Done } else { Effect::Unused };
        };
        match jump.search.next(until) {
            None if listed => Effect::Done,
            None => Effect::Unused,
            Some(found) => {
                let Some(jump) = self.jump.take() else {
                    return Effect::Done;
                };
                let first = match found {
                    SearchResult::Steps(stream, steps) => steps.first().map(|step| (stream, *step)),
                    SearchResult::End(_) => None,
                };
                match first {
                    Some((stream, step)) => self.arrive(&jump, stream, step),
                    // The list itself says that it is empty.
                    None if matches!(jump.then, Then::List) => Effect::Done,
                    None => Effect::Say(format!("there is no {}", jump.what)),
                }
            }
        }
    }

    /// Marks an end of a range of time at the cursor.
    fn mark(&mut self, end: bool) -> Effect {
        let (Some(reader), Some(step)) = (&self.reader, self.list.step()) else {
            return Effect::Done;
        };
        let tick = step.tick.saturating_add(u64::from(end));
        self.range.mark(end, tick, &reader.analysis)
    }

    /// Whether something is looked for that takes long.
    fn looks(&self) -> bool {
        let all = self.reader.as_ref().is_none_or(EventReader::lists_all);
        self.jump.is_some() || self.reason.is_some() || !all && self.list.share().is_some()
    }
}

impl Screen for EventsScreen {
    fn bindings(&self) -> &'static [Binding] {
        keys::EVENTS
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        let stream = self.reader.as_ref().map_or(0, |reader| reader.stream);
        self.took = ActivationTimes::default();
        self.places.clear();
        self.reason = None;
        if self.reader.is_none() && analysis.filters.window().is_none() {
            let program = Program::of(&analysis.trace, &analysis.profile.streams);
            self.program = program.map(Arc::new);
            self.place = self.begin(stream);
        }
        self.reader = Some(EventReader::new(analysis, stream));
        let filter = std::mem::take(&mut self.filter);
        self.set_filter(&filter);
    }

    fn act(&mut self, action: Action) -> Effect {
        if let Some(effect) = self.act_on_stack(action) {
            return effect;
        }
        match action {
            Action::Up => self.shift(-1),
            Action::Down => self.shift(1),
            Action::PageUp => self.shift(-self.page_rows()),
            Action::PageDown => self.shift(self.page_rows()),
            Action::Top => return self.end_of_stream(false),
            Action::Bottom => return self.end_of_stream(true),
            Action::NextMatch => return self.next_match(true),
            Action::PreviousMatch => return self.next_match(false),
            Action::NextOfPredicate => return self.same_predicate(true),
            Action::PreviousOfPredicate => return self.same_predicate(false),
            Action::NextPort => return self.same_port(true),
            Action::PreviousPort => return self.same_port(false),
            Action::BoxEnd => return self.other_end(),
            Action::BoxCall => return self.box_call(),
            Action::Cause => return self.explain(),
            Action::RangeBegin => return self.mark(false),
            Action::RangeEnd => return self.mark(true),
            Action::NextTable => self.next_part(),
            Action::NextStream => return self.other_stream(true),
            Action::PreviousStream => return self.other_stream(false),
            Action::Enter => return self.predicate().map_or(Effect::Done, Effect::Open),
            Action::Back if self.looks() => {
                self.jump = None;
                self.reason = None;
                self.stopped = true;
                self.list.stop();
                return Effect::Say("not looked for any further".to_owned());
            }
            _ => return Effect::Unused,
        }
        Effect::Done
    }

    fn poll(&mut self, wait: bool) -> Effect {
        let until = poll_until(wait);
        match self.take(until) {
            Effect::Unused if self.took.poll(wait) => Effect::Done,
            effect => effect,
        }
    }

    fn progress(&self) -> Option<f64> {
        let jump = self.jump.as_ref().map(|jump| jump.search.share());
        jump.or_else(|| self.list.share()).filter(|_| self.looks())
    }

    fn status(&self) -> String {
        match (&self.reader, self.step()) {
            (Some(reader), Some(step)) => {
                let (first, last) = (count(reader.numbers().start), count(reader.last()));
                format!("event {} of {first}–{last}", count(step.number))
            }
            _ => String::new(),
        }
    }

    fn smallest(&self) -> (u16, u16) {
        (30, 6)
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        self.draw_all(area, buf, theme);
    }
}

impl Tabular for EventsScreen {}

impl Searchable for EventsScreen {
    fn filter(&self) -> Option<&str> {
        Some(&self.filter)
    }

    fn set_filter(&mut self, text: &str) {
        let text = text.trim();
        self.filter = text.to_owned();
        let trace = self.reader.as_ref().map(|reader| &*reader.analysis.trace);
        let parsed = (!text.is_empty()).then(|| AskedCondition::parse(text, trace));
        self.filter_error = None;
        let condition = match parsed {
            None => None,
            Some(Ok(condition)) => Some(condition),
            // What is listed stays as it is.
            Some(Err(error)) => {
                self.filter_error = Some(error.to_string());
                return;
            }
        };
        if let Some(reader) = &mut self.reader {
            reader.set_condition(condition);
            self.list_around(self.place);
        }
    }

    fn search(&mut self) -> Effect {
        let reader = self.reader.as_ref();
        // Of more predicates the thread tells.
        let reader = reader.filter(|reader| reader.analysis.trace.predicates().len() < MOST_NAMES);
        if reader.is_some_and(EventReader::lists_nothing) {
            return Effect::Say("no predicate has that name, and no event can be so".to_owned());
        }
        Effect::Done
    }

    fn filter_error(&self) -> Option<&str> {
        self.filter_error.as_deref()
    }

    fn filter_hint(&self) -> &'static str {
        "a word, ~regex, or: port = fail and took > 1ms"
    }

    fn looks_for_names(&self) -> bool {
        false
    }
}

impl Pointing for EventsScreen {
    fn predicate(&self) -> Option<PredicateIndex> {
        let selected = self.selected().or_else(|| self.of());
        selected.map(|of| of.predicate)
    }

    fn event(&self) -> Option<EventTarget> {
        Some(EventTarget::At {
            stream: self.reader.as_ref()?.stream,
            number: self.step()?.number,
        })
    }

    fn call_here(&self) -> Option<u64> {
        let step = self.step()?;
        let is_call = matches!(step.class(), Class::Enter(_) | Class::Depart(_));
        match (self.selected(), step.of) {
            (Some(selected), _) => Some(selected.called),
            (None, Some((of, _))) if !is_call => Some(of.called),
            _ => Some(step.number),
        }
    }

    fn window(&self) -> Option<Window> {
        self.range.window(&self.reader.as_ref()?.analysis)
    }
}

impl Navigable for EventsScreen {
    fn spot(&self) -> Spot {
        let spot = self.spot_of_list();
        let Some(reader) = &self.reader else {
            return spot;
        };
        spot.with(EventSpot {
            stream: reader.stream,
            step: self.step().copied(),
            above: self.list.at.saturating_sub(self.first),
            place: self.place,
            part: self.part,
            row: self.row,
        })
    }

    fn recall(&mut self, spot: &Spot) {
        self.recall_list(spot);
        let (Some(reader), Some(own)) = (&mut self.reader, spot.own::<EventSpot>()) else {
            return;
        };
        reader.stream = own.stream;
        (self.jump, self.reason) = (None, None);
        match own.step {
            Some(step) => self.load_at(own.stream, step, own.above),
            None => {
                self.list_around(own.place);
            }
        }
        self.place = own.place;
        (self.part, self.row) = (own.part, own.row);
    }

    fn crumb(&self) -> Option<String> {
        self.step().map(|step| count(step.number))
    }

    fn show_event(&mut self, target: EventTarget) -> Effect {
        match target {
            EventTarget::At { stream, number } => self.go_to_event(stream, number),
            EventTarget::FirstOf(predicate) => self.first_of(predicate),
            EventTarget::Mark(text) => self.next_mark(text),
        }
    }

    fn show_time(&mut self, tick: u64) -> Effect {
        self.go_to_time(tick)
    }
}

impl Exportable for EventsScreen {
    fn file_name(&self) -> &'static str {
        "events"
    }

    fn export(&self) -> Option<String> {
        view::csv(self.reader.as_ref()?, self.list.steps.iter())
    }

    fn copy(&self) -> Option<String> {
        let reader = self.reader.as_ref()?;
        let boxes = reader.stacks(self.step()?).active.newest;
        let names = boxes
            .iter()
            .map(|(_, open)| reader.analysis.predicate(open.predicate).to_owned() + "\n");
        Some(names.collect())
    }
}

impl Clickable for EventsScreen {
    fn click(&mut self, x: u16, y: u16) -> bool {
        if !self.area.contains((x, y).into()) {
            return false;
        }
        let at = self.first + usize::from(y - self.area.y);
        let again = at == self.list.at;
        if at < self.list.steps.len() {
            (self.part, self.row) = (KeyedList::Events, 0);
            self.list.at = at;
            self.shift(0);
        }
        again
    }
}
