//! Help: all keys that do something here, from the tables that they are dispatched from. Typing searches.

use ratatui::crossterm::event::KeyEvent;
use tui_input::Input;

use super::{Answer, prompt};
use crate::keys::Binding;

/// Help on the screen below.
#[derive(Debug)]
pub struct Help {
    tables: Vec<(&'static str, &'static [Binding])>,
    search: Input,
    first: usize,
}

/// A line of help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelpLine {
    /// Name of a table of bindings.
    Heading(&'static str),
    /// Keys and what they do.
    Keys(String, &'static str),
}

impl Help {
    /// Help on these keys.
    #[must_use]
    pub fn new(tables: Vec<(&'static str, &'static [Binding])>) -> Self {
        Self {
            tables,
            search: Input::default(),
            first: 0,
        }
    }

    /// What is searched for.
    #[must_use]
    pub fn search(&self) -> &Input {
        &self.search
    }

    /// First line shown, when `height` of them fit.
    pub fn first(&mut self, height: usize) -> usize {
        self.first = self.first.min(self.lines().len().saturating_sub(height));
        self.first
    }

    /// The lines that have what is searched for.
    #[must_use]
    pub fn lines(&self) -> Vec<HelpLine> {
        let wanted = self.search.value().to_lowercase();
        let mut lines = Vec::new();
        for (heading, table) in &self.tables {
            let found: Vec<HelpLine> = table
                .iter()
                .map(|binding| (binding.keys.join(" "), binding.about))
                .filter(|(keys, about)| {
                    keys.to_lowercase().contains(&wanted) || about.to_lowercase().contains(&wanted)
                })
                .map(|(keys, about)| HelpLine::Keys(keys, about))
                .collect();
            if !found.is_empty() {
                lines.push(HelpLine::Heading(heading));
                lines.extend(found);
            }
        }
        lines
    }

    pub(super) fn key(&mut self, name: &str, event: &KeyEvent) -> Answer {
        match name {
            "esc" | "f1" => return Answer::Closed,
            "enter" if self.search.value().is_empty() => return Answer::Closed,
            "?" | "q" if self.search.value().is_empty() => return Answer::Closed,
            "up" => self.first = self.first.saturating_sub(1),
            "down" => self.first += 1,
            "pgup" => self.first = self.first.saturating_sub(10),
            "pgdn" => self.first += 10,
            _ => {
                if let Some(request) = prompt::request(name, event) {
                    self.search.handle(request);
                    self.first = 0;
                }
            }
        }
        Answer::Pending
    }
}
