//! Screen 6: the events of a stream one by one, with the boxes at the cursor.
//!
//! Only a [`Page`] of events around the cursor is held; moving out of it reads another one.

mod reader;
#[cfg(test)]
mod tests;
mod view;

use std::mem::discriminant;
use std::sync::Arc;

use portmortem_analyzer::figures::PredicateIndex;
use portmortem_analyzer::index::Step;
use portmortem_analyzer::moment::OpenBox;
use portmortem_analyzer::stack::Stack;
use portmortem_tracer::format::Event;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Effect, Screen};
use crate::analysis::Analysis;
use crate::format::count;
use crate::keys::{self, Action, Binding};
use crate::theme::Theme;
use reader::{Found, MOST_SEARCHED, Page, Reader};

/// Boxes of a stack that are kept to be shown or copied.
const MOST_BOXES: usize = 300;

/// The screen.
#[derive(Debug, Default)]
pub(super) struct Events {
    reader: Option<Reader>,
    page: Option<Page>,
    /// The event of the page that the cursor is on.
    at: usize,
    active: Shown,
    choices: Shown,
    /// Streams and events from which there was a jump.
    history: Vec<(usize, u64)>,
    /// The first event of the page that is drawn, and where.
    first: usize,
    list: Rect,
}

/// The newest boxes of a stack, the newest first.
#[derive(Debug, Default)]
struct Shown {
    newest: Vec<OpenBox>,
    height: u64,
}

impl Shown {
    fn of(boxes: &Stack) -> Self {
        Self {
            newest: boxes.newest().take(MOST_BOXES).collect(),
            height: boxes.len() as u64,
        }
    }
}

/// What happens at a port, and not to the recording.
fn is_port(event: Event) -> bool {
    matches!(event, Event::Call { .. } | Event::Tail { .. } | Event::Redo) || leaves(event)
}

/// By which a box ends, for good or until it is re-entered.
fn leaves(event: Event) -> bool {
    matches!(
        event,
        Event::ExitDet | Event::ExitNondet | Event::Fail | Event::Exception
    )
}

impl Events {
    fn step(&self) -> Option<&Step> {
        self.page.as_ref()?.steps.get(self.at)
    }

    /// Reads the events around a number, and goes there.
    fn load(&mut self, number: u64) {
        let page = self.reader.as_ref().and_then(|reader| reader.page(number));
        let (page, at) = page.unzip();
        self.page = page;
        self.at = at.unwrap_or(0);
        // The cursor stays in the middle of the list until it moves.
        self.first = self
            .at
            .saturating_sub(usize::from(self.list.height.saturating_sub(1)) / 2);
        self.look();
    }

    /// The stacks at the cursor: the box that ends here is still there.
    fn look(&mut self) {
        (self.active, self.choices) = Default::default();
        let Some((page, step)) = self.page.as_ref().zip(self.step()) else {
            return;
        };
        let mut moment = page.before.clone();
        for step in &page.steps[..self.at] {
            moment.step(step.event, step.number);
        }
        let ends = leaves(step.event).then(|| Shown::of(moment.active()));
        moment.step(step.event, step.number);
        self.active = match ends {
            // After a gap the box that ends may never have been seen before.
            Some(ends) if ends.height > 0 => ends,
            Some(_) => Shown {
                newest: step.of.iter().map(|(of, _)| *of).collect(),
                height: step.of.iter().len() as u64,
            },
            None => Shown::of(moment.active()),
        };
        self.choices = Shown::of(moment.choices());
    }

    /// Up or down by some events.
    fn shift(&mut self, rows: isize) {
        let Some(number) = self.step().map(|step| step.number) else {
            return;
        };
        let inside = |screen: &Self| {
            let length = screen.page.as_ref().map_or(0, |page| page.steps.len());
            let to = screen.at.checked_add_signed(rows);
            to.filter(|&to| to < length)
        };
        if inside(self).is_none() {
            let row = self.at.saturating_sub(self.first);
            self.load(number);
            if self.at == 0 && rows < 0 {
                // The event before is one that stands for many lost ones.
                let reader = self.reader.as_ref();
                if let Some(before) = reader.and_then(|reader| reader.before(number)) {
                    return self.load(before);
                }
            }
            self.first = self.at.saturating_sub(row);
        }
        let length = self.page.as_ref().map_or(0, |page| page.steps.len());
        let to = self.at.saturating_add_signed(rows);
        self.at = to.min(length.saturating_sub(1));
        self.look();
    }

    fn page_rows(&self) -> isize {
        isize::from(self.list.height.max(2) as i16 - 1).min(reader::HALF as isize / 2)
    }

    /// To an event, so that Esc comes back.
    fn jump(&mut self, number: u64) -> Effect {
        let (Some(reader), Some(step)) = (&self.reader, self.step()) else {
            return Effect::Done;
        };
        let here = step.number;
        if here == number {
            return Effect::Done;
        }
        self.history.push((reader.stream, here));
        let page = self.page.as_ref();
        let steps = page.map_or(&[][..], |page| &page.steps);
        match steps.iter().rposition(|step| step.number == number) {
            Some(at) => {
                self.at = at;
                self.look();
            }
            None => self.load(number),
        }
        Effect::Step
    }

    fn jump_to(&mut self, found: Found, what: &str) -> Effect {
        match found {
            Found::At(number) => self.jump(number),
            Found::Nothing => Effect::Say(format!("there is no {what}")),
            Found::TooFar => Effect::Say(format!(
                "no {what} within {} events: not looked for any further",
                count(MOST_SEARCHED)
            )),
        }
    }

    fn search(&mut self, forward: bool, what: &str, is: impl Fn(&Step) -> bool) -> Effect {
        let (Some(reader), Some(step)) = (&self.reader, self.step()) else {
            return Effect::Done;
        };
        // What is on the page need not be read again.
        let steps = self.page.as_ref().map_or(&[][..], |page| &page.steps);
        let near = if forward {
            steps.iter().skip(self.at + 1).find(|step| is(step))
        } else {
            steps.iter().take(self.at).rfind(|step| is(step))
        };
        let found = match near {
            Some(near) => Found::At(near.number),
            None if forward => reader.forward(step.number, is),
            None => reader.backward(step.number, MOST_SEARCHED, is),
        };
        let which = if forward { "later" } else { "earlier" };
        self.jump_to(found, &format!("{which} {what}"))
    }

    fn same_predicate(&mut self, forward: bool) -> Effect {
        let Some(predicate) = self.predicate() else {
            return Effect::Say("no predicate here".to_owned());
        };
        self.search(forward, "event of this predicate", |step| {
            is_port(step.event) && step.of.is_some_and(|(of, _)| of.predicate == predicate)
        })
    }

    fn same_port(&mut self, forward: bool) -> Effect {
        let Some(event) = self.step().map(|step| step.event) else {
            return Effect::Done;
        };
        let what = view::port(event);
        self.search(forward, what, |step| {
            discriminant(&step.event) == discriminant(&event)
        })
    }

    /// To where this box ends.
    fn box_end(&mut self) -> Effect {
        let Some(&Step { event, of, .. }) = self.step() else {
            return Effect::Done;
        };
        let Some((of, _)) = of else {
            return Effect::Say("no box here".to_owned());
        };
        if leaves(event) && event != Event::ExitNondet {
            return Effect::Say("the box ends here".to_owned());
        }
        self.search(true, "end of this box", |step| {
            leaves(step.event) && step.of.is_some_and(|(other, _)| other.called == of.called)
        })
    }

    /// To the call of this box, or if that is here, of the one around it.
    fn box_call(&mut self) -> Effect {
        let Some(&Step { number, of, .. }) = self.step() else {
            return Effect::Done;
        };
        match of {
            None => Effect::Say("no box here".to_owned()),
            Some((of, _)) if of.called != number => self.jump(of.called),
            Some((OpenBox { caller, .. }, _)) => match caller {
                Some(caller) => self.jump(caller),
                None => Effect::Say("nobody traced is around this box".to_owned()),
            },
        }
    }

    /// From a redo to the failure that caused it.
    fn cause(&mut self) -> Effect {
        let (Some(reader), Some(step)) = (&self.reader, self.step()) else {
            return Effect::Done;
        };
        if step.event != Event::Redo {
            return Effect::Say("only a redo has a failure that caused it".to_owned());
        }
        let is_failure = |step: &Step| step.event == Event::Fail;
        let found = match reader.backward(step.number, MOST_SEARCHED, is_failure) {
            // The program asked for another solution.
            Found::Nothing | Found::TooFar => {
                reader.before(step.number).map_or(Found::Nothing, Found::At)
            }
            found @ Found::At(_) => found,
        };
        self.jump_to(found, "event before it")
    }

    fn other_stream(&mut self, forward: bool) -> Effect {
        let Some(reader) = &mut self.reader else {
            return Effect::Done;
        };
        let streams = reader.analysis.trace.streams().len();
        if streams < 2 {
            return Effect::Say("there is no other stream".to_owned());
        }
        let before = reader.stream;
        reader.stream = (before + if forward { 1 } else { streams - 1 }) % streams;
        let here = self.step().map_or(0, |step| step.number);
        self.history.push((before, here));
        self.load(0);
        Effect::Step
    }
}

impl Screen for Events {
    fn bindings(&self) -> &'static [Binding] {
        keys::EVENTS
    }

    fn follow(&mut self, analysis: &Arc<Analysis>) {
        let stream = self.reader.as_ref().map_or(0, |reader| reader.stream);
        let number = self.step().map_or(0, |step| step.number);
        self.reader = Some(Reader {
            analysis: Arc::clone(analysis),
            stream,
        });
        self.load(number);
    }

    fn act(&mut self, action: Action) -> Effect {
        match action {
            Action::Up => self.shift(-1),
            Action::Down => self.shift(1),
            Action::PageUp => self.shift(-self.page_rows()),
            Action::PageDown => self.shift(self.page_rows()),
            Action::Top => return self.jump(0),
            Action::Bottom => {
                let last = self.reader.as_ref().map_or(0, Reader::last);
                return self.jump(last);
            }
            Action::NextMatch => return self.same_predicate(true),
            Action::PreviousMatch => return self.same_predicate(false),
            Action::NextPort => return self.same_port(true),
            Action::PreviousPort => return self.same_port(false),
            Action::BoxEnd => return self.box_end(),
            Action::BoxCall => return self.box_call(),
            Action::Cause => return self.cause(),
            Action::NextStream => return self.other_stream(true),
            Action::PreviousStream => return self.other_stream(false),
            Action::Enter => return self.predicate().map_or(Effect::Done, Effect::Open),
            _ => return Effect::Unused,
        }
        Effect::Done
    }

    fn undo(&mut self) -> bool {
        let (Some((stream, number)), Some(reader)) = (self.history.pop(), &mut self.reader) else {
            return false;
        };
        reader.stream = stream;
        self.load(number);
        true
    }

    fn go_to(&mut self, text: &str) -> Effect {
        let digits: String = text
            .chars()
            .filter(|c| !matches!(c, ',' | '_' | ' ' | '#'))
            .collect();
        match digits.parse::<u64>() {
            Ok(number) => {
                let last = self.reader.as_ref().map_or(0, Reader::last);
                self.jump(number.min(last))
            }
            Err(_) => Effect::Say("that is not the number of an event".to_owned()),
        }
    }

    fn predicate(&self) -> Option<PredicateIndex> {
        self.step()?.of.map(|(of, _)| of.predicate)
    }

    fn status(&self) -> String {
        let Some(reader) = &self.reader else {
            return String::new();
        };
        let number = self.step().map_or(0, |step| step.number);
        let last = count(reader.last());
        format!("event {} of 0–{last}", count(number))
    }

    fn file_name(&self) -> &'static str {
        "events"
    }

    fn export(&self) -> Option<String> {
        view::csv(self.reader.as_ref()?, &self.page.as_ref()?.steps)
    }

    fn copy(&self) -> Option<String> {
        let reader = self.reader.as_ref()?;
        let boxes = self.active.newest.iter();
        Some(
            boxes
                .map(|open| reader.analysis.predicate(open.predicate).to_owned() + "\n")
                .collect(),
        )
    }

    fn click(&mut self, x: u16, y: u16) -> bool {
        if !self.list.contains((x, y).into()) {
            return false;
        }
        let at = self.first + usize::from(y - self.list.y);
        let length = self.page.as_ref().map_or(0, |page| page.steps.len());
        let again = at == self.at;
        if at < length {
            self.at = at;
            self.look();
        }
        again
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        self.draw_all(area, buf, theme);
    }
}
