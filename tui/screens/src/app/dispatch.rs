//! From keys and clicks to what they do.

use portmortem_analyzer::scope::filters::window_text;
use portmortem_analyzer::{Filter, Window};
use ratatui::crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};

use super::targets::Target;
use super::{App, Request};
use crate::keys::{self, Action, KeyMeaning};
use crate::names::stream_title;
use crate::overlay::{
    Chooser, Offered, Overlay, OverlayAnswer, Palette, PaletteChoice, Prompt, Question,
};
use crate::screen::{Effect, EventTarget};
use crate::screens::{SCREENS, predicate_source};

/// More rows are not copied.
const MOST_COPIED: usize = 10_000;

impl App {
    /// A key was pressed.
    pub fn key(&mut self, event: &KeyEvent) {
        let Some(name) = keys::name(event) else {
            return;
        };
        self.message = None;
        // What was asked for is given up, but what threads look for may still arrive.
        if self.slowest_of.take().is_some() {
            self.say("stopped: the slowest call is not looked for any further");
            if name == "esc" {
                return;
            }
        }
        if self.comparing.take().is_some() {
            self.say("not compared any further");
            if name == "esc" {
                return;
            }
        }
        if name == "ctrl-c" {
            self.requests.push(Request::Quit);
        } else if name == "ctrl-z" {
            self.requests.push(Request::Suspend);
        } else if self.overlay.is_some() {
            self.key_on_overlay(&name, event);
        } else if self.waits(&name) {
            self.typed.hold(*event);
        } else {
            self.key_on_screen(&name);
        }
    }

    /// Whether a key waits until the screen has made what it may act on. Keys that leave the screen do not, unless
    /// others came before them.
    fn waits(&self, name: &str) -> bool {
        let leaves = || {
            let KeyMeaning::Action(action) = keys::meaning(name, &[keys::EVERYWHERE]) else {
                return false;
            };
            matches!(
                action,
                Action::Quit
                    | Action::Back
                    | Action::Palette
                    | Action::Show(_)
                    | Action::NextScreen
                    | Action::PreviousScreen
                    | Action::Redraw
                    | Action::Suspend
                    | Action::Theme
            )
        };
        !self.shown().is_ready() && (self.typed.holds_any() || !leaves())
    }

    /// Does what the keys ask for that waited, as far as they need not wait again.
    pub(super) fn keys_ahead(&mut self) {
        if self.shown().is_ready() {
            for event in self.typed.release() {
                self.key(&event);
            }
        }
    }

    fn key_on_screen(&mut self, name: &str) {
        let tables: Vec<_> = self
            .bindings()
            .into_iter()
            .map(|(_, table)| table)
            .collect();
        if let Some(action) = self.typed.action(name, &tables) {
            self.act(action);
        }
    }

    /// Does what a key means.
    pub fn act(&mut self, action: Action) {
        self.history.expect_arrival(false);
        let before = self.here();
        let effect = self.shown_mut().act(action);
        if effect != Effect::Unused {
            return self.effect(effect, before);
        }
        if self
            .shown_mut()
            .table_mut()
            .is_some_and(|table| table.act(action))
        {
            return;
        }
        match action {
            Action::Quit => self.requests.push(Request::Quit),
            Action::Back => self.undo(),
            Action::Palette => {
                let palette = Palette::new(self.palette(), self.analysis.as_ref());
                self.overlay = Some(Overlay::Palette(palette));
            }
            Action::Show(digit) => match SCREENS.iter().position(|entry| entry.digit == digit) {
                Some(at) => self.turn_to(at, false),
                None => self.say(format!("there is no screen {digit}")),
            },
            Action::TakeTo(digit) => {
                if let Some(at) = SCREENS.iter().position(|entry| entry.digit == digit) {
                    self.turn_to(at, true);
                }
            }
            Action::Exceptions => self.show_exceptions(),
            Action::NextScreen => {
                self.turn_to((self.screens.place() + 1) % SCREENS.len(), false);
            }
            Action::PreviousScreen => {
                let before = self.screens.place() + SCREENS.len() - 1;
                self.turn_to(before % SCREENS.len(), false);
            }
            Action::Reload => {
                self.say("reading the trace again");
                self.reload();
            }
            Action::Suspend => self.requests.push(Request::Suspend),
            Action::Redraw => self.requests.push(Request::Redraw),
            Action::Theme => {
                let text = self.settings.turn_theme();
                self.say(text);
            }
            _ => self.act_on_shown(action),
        }
    }

    /// Actions that need figures.
    fn act_on_shown(&mut self, action: Action) {
        let Some(analysis) = self.analysis.clone() else {
            return;
        };
        let predicate = self.shown().predicate();
        match (action, predicate) {
            (Action::Filter, _) => {
                if let Some(filter) = self.shown().filter() {
                    let before = filter.to_owned();
                    self.history.filter_was_asked_for(self.here());
                    let prompt = Prompt::new(
                        Question::Filter {
                            before: before.clone(),
                        },
                        before,
                    );
                    self.overlay = Some(Overlay::Prompt(prompt));
                }
            }
            (Action::Columns, _) => {
                if let Some(table) = self.shown().table() {
                    self.overlay = Some(Overlay::Chooser(Chooser::new(table)));
                }
            }
            (Action::HidePattern, _) => {
                self.overlay = Some(Overlay::Prompt(Prompt::new(Question::Hide, String::new())));
            }
            (Action::Hide, Some(predicate)) => {
                if predicate == analysis.trace.unknown_predicate() {
                    self.say("boxes that nothing is known of cannot be hidden");
                } else {
                    self.look_at(Filter::HideOne(predicate));
                }
            }
            (Action::Focus, _) => match self.shown().place() {
                Some(place) => self.look_at(Filter::Focus(place)),
                None => self.say("no predicate here"),
            },
            (Action::Net, _) => self.toggle_net(),
            (Action::Whole, _) => self.toggle_all(),
            (Action::Window, _) => {
                let shown = self.shown().window();
                let text =
                    shown.map_or_else(String::new, |shown| window_text(shown, &analysis.trace));
                let question = Question::Window {
                    shown: shown.zip(Some(text.clone())),
                };
                self.overlay = Some(Overlay::Prompt(Prompt::new(question, text)));
            }
            (Action::Edit, Some(predicate)) => {
                let effect = predicate_source(&analysis, predicate);
                self.effect(effect, self.here());
            }
            (Action::Copy, _) => match self.shown().copy() {
                Some(text) => self.copy(text),
                None => self.say("nothing to copy here"),
            },
            (Action::CopyAll, _) if self.shown().is_empty() => self.say("nothing to copy here"),
            (Action::Export, _) if self.shown().is_empty() => self.say("nothing to export here"),
            (Action::CopyAll, _) if self.shown().rows() > MOST_COPIED => {
                self.say("too much for a clipboard; e writes it as a file");
            }
            (Action::CopyAll, _) => match self.shown().export() {
                Some(text) => self.copy(text),
                None => self.say("nothing to copy here"),
            },
            (Action::Export, _) => {
                let file = self.shown().file_name();
                let extension = if file.contains('.') { "" } else { ".csv" };
                let name = format!("{}-{file}{extension}", analysis.name);
                let prompt = Prompt::new(Question::Export, name);
                self.overlay = Some(Overlay::Prompt(prompt));
            }
            (Action::SlowestCall, _) => self.show_slowest(),
            (Action::Compare, _) => self.compare(),
            (Action::FirstEvent, Some(predicate)) => {
                self.go_to_event(EventTarget::FirstOf(predicate));
            }
            (Action::FirstEvent | Action::Hide | Action::Edit, None) => {
                self.say("no predicate here")
            }
            _ => {}
        }
    }

    fn key_on_overlay(&mut self, name: &str, event: &KeyEvent) {
        let Some(mut overlay) = self.overlay.take() else {
            return;
        };
        match overlay.key(name, event, self.shown_mut()) {
            OverlayAnswer::Pending => self.overlay = Some(overlay),
            OverlayAnswer::Closed => {}
            OverlayAnswer::Chosen(choice) => self.choose(choice),
            OverlayAnswer::Text(Question::Filter { before }, text) => {
                self.commit_filter(&text, &before)
            }
            OverlayAnswer::Text(Question::Hide, text) => {
                if !text.trim().is_empty() {
                    self.look_at(Filter::Hide(text.trim().to_owned()));
                }
            }
            OverlayAnswer::Text(Question::Window { shown }, text) => {
                self.look_at_window(shown, &text)
            }
            OverlayAnswer::Text(Question::Export, path) => {
                let path = path.trim();
                match self.shown().file() {
                    _ if path.is_empty() => {}
                    Some(text) => self.requests.push(Request::Write(path.into(), text)),
                    None => self.say("there is nothing to write"),
                }
            }
        }
    }

    fn palette(&self) -> Offered {
        let streams = self.recording.trace().streams();
        Offered {
            here: self.offered(),
            elsewhere: self.offered_elsewhere(),
            stream: stream_title(streams.get(self.stream())),
            moments: self.moments_are_shown(),
        }
    }

    fn choose(&mut self, choice: PaletteChoice) {
        match choice {
            PaletteChoice::Act(action) => self.act(action),
            PaletteChoice::Press(screen, key) => {
                self.turn_to(screen, false);
                // As a key it waits for what the screen makes.
                if let Some(key) = keys::key(key) {
                    self.key(&key);
                }
            }
            PaletteChoice::Event(number) => {
                let stream = self.stream();
                self.go_to_event(EventTarget::At { stream, number });
            }
            PaletteChoice::Time(ns) => self.go_to_time(ns),
            PaletteChoice::Mark(text) => self.go_to_mark(text),
            PaletteChoice::Stream(stream) => self.go_to_stream(stream),
            PaletteChoice::Predicate(predicate) => self.open(predicate),
        }
    }

    /// Looks only at a range of time: the one that was shown, unless another text was typed.
    fn look_at_window(&mut self, shown: Option<(Window, String)>, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let window = match shown {
            Some((window, before)) if before == text => Ok(window),
            _ => Window::parse(text, self.recording.trace()),
        };
        match window {
            Ok(window) => self.look_at(Filter::Window(window)),
            Err(error) => self.say(error.to_string()),
        }
    }

    /// Something happened to the mouse.
    pub fn mouse(&mut self, event: &MouseEvent) {
        let action = match event.kind {
            MouseEventKind::ScrollUp => Action::Up,
            MouseEventKind::ScrollDown => Action::Down,
            MouseEventKind::ScrollLeft => Action::ScrollLeft,
            MouseEventKind::ScrollRight => Action::ScrollRight,
            MouseEventKind::Down(MouseButton::Left) => return self.click(event.column, event.row),
            MouseEventKind::Drag(MouseButton::Left) => return self.drag(event.column),
            _ => return,
        };
        if self.overlay.is_some() {
            return;
        }
        let before = self.here();
        if matches!(action, Action::Up | Action::Down) {
            let effect = self.shown_mut().scroll(event.column, action == Action::Up);
            if effect != Effect::Unused {
                self.history.expect_arrival(false);
                return self.effect(effect, before);
            }
        }
        for _ in 0..3 {
            self.act(action);
        }
    }

    /// The mouse was dragged from where it was pressed.
    fn drag(&mut self, x: u16) {
        if let (Some(from), None) = (self.targets.dragged_from(), &self.overlay) {
            self.shown_mut().drag(from, x);
        }
    }

    fn click(&mut self, x: u16, y: u16) {
        self.message = None;
        self.targets.press(x, y);
        if let Some(Overlay::Palette(_)) = self.overlay {
            self.overlay = None;
        }
        if self.overlay.is_some() {
            return;
        }
        match self.targets.at(x, y) {
            Some(Target::Screen(at)) => self.turn_to(at, false),
            Some(Target::Back(steps)) => (0..steps).for_each(|_| self.undo()),
            Some(Target::Key(name)) => {
                // As a key it waits for what the screen makes.
                if let Some(key) = keys::key(name) {
                    self.key(&key);
                }
            }
            Some(Target::Nothing) => {}
            None if self.shown_mut().click(x, y) => self.act(self.shown().enter()),
            None => {}
        }
    }
}
