//! A question answered with a line of text.

use portmortem_analyzer::Window;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_input::{Input, InputRequest};

use super::OverlayAnswer;
use crate::keys::Action;
use crate::screen::Searchable;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// A filter for the table; it is tried out while it is typed.
    Filter {
        /// The filter until now.
        before: String,
    },
    /// A pattern of predicates to hide.
    Hide,
    /// A range of time.
    Window {
        /// The one that the screen shows, and how it is written.
        shown: Option<(Window, String)>,
    },
    /// Where to write the view.
    Export,
}

/// The question, and what was typed so far.
#[derive(Debug)]
pub struct Prompt {
    question: Question,
    input: Input,
}

impl Prompt {
    /// A question with a first answer to change.
    #[must_use]
    pub fn new(question: Question, text: String) -> Self {
        Self {
            question,
            input: Input::new(text),
        }
    }

    /// What is asked, in a word or two.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self.question {
            Question::Filter { .. } => "filter: ",
            Question::Hide => "hide (module:name/arity, * and ?): ",
            Question::Window { .. } => "time (1.5ms..2s, ..2s, 2s..): ",
            Question::Export => "write to: ",
        }
    }

    /// Whether a filter is asked for.
    #[must_use]
    pub fn is_filter(&self) -> bool {
        matches!(self.question, Question::Filter { .. })
    }

    /// What was typed.
    #[must_use]
    pub fn input(&self) -> &Input {
        &self.input
    }

    pub(super) fn key(
        &mut self,
        name: &str,
        event: &KeyEvent,
        screen: &mut dyn Searchable,
    ) -> OverlayAnswer {
        match name {
            "esc" => {
                if let Question::Filter { before } = &self.question {
                    screen.set_filter(before);
                }
                return OverlayAnswer::Closed;
            }
            // What is no condition is said beside it.
            "enter" if self.is_filter() && screen.filter_error().is_some() => {
                return OverlayAnswer::Pending;
            }
            "enter" => {
                return OverlayAnswer::Text(self.question.clone(), self.input.value().to_owned());
            }
            "up" | "down" => {
                let action = if name == "up" {
                    Action::Up
                } else {
                    Action::Down
                };
                if let (true, Some(table)) = (self.is_filter(), screen.table_mut()) {
                    table.act(action);
                }
                return OverlayAnswer::Pending;
            }
            _ => {}
        }
        if let Some(request) = request(name, event) {
            self.input.handle(request);
            if self.is_filter() {
                screen.set_filter(self.input.value());
            }
        }
        OverlayAnswer::Pending
    }
}

/// What a key does to a line of text, as in a shell.
pub(super) fn request(name: &str, event: &KeyEvent) -> Option<InputRequest> {
    let request = match name {
        "backspace" | "ctrl-h" => InputRequest::DeletePrevChar,
        "del" | "ctrl-d" => InputRequest::DeleteNextChar,
        "left" | "ctrl-b" => InputRequest::GoToPrevChar,
        "right" | "ctrl-f" => InputRequest::GoToNextChar,
        "home" | "ctrl-a" => InputRequest::GoToStart,
        "end" | "ctrl-e" => InputRequest::GoToEnd,
        "ctrl-w" => InputRequest::DeletePrevWord,
        "ctrl-u" => InputRequest::DeleteLine,
        "ctrl-k" => InputRequest::DeleteTillEnd,
        "ctrl-left" | "alt-b" => InputRequest::GoToPrevWord,
        "ctrl-right" | "alt-f" => InputRequest::GoToNextWord,
        _ => match event.code {
            KeyCode::Char(c)
                if !c.is_control()
                    && !event
                        .modifiers
                        .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) =>
            {
                InputRequest::InsertChar(c)
            }
            _ => return None,
        },
    };
    Some(request)
}
