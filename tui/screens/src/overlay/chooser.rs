//! The choice of columns: which one to sort by, which are shown.

use super::OverlayAnswer;
use crate::table::{ListColumn, TableView};

/// The columns of the table below, and a cursor.
#[derive(Debug)]
pub struct Chooser {
    columns: &'static [ListColumn],
    cursor: usize,
    /// What is searched for, while it is typed.
    search: Option<String>,
}

impl Chooser {
    /// The choice for a table; the cursor is on the column that it is sorted by.
    #[must_use]
    pub fn new(table: &TableView) -> Self {
        Self {
            columns: table.source().columns(),
            cursor: table.sort().map_or(0, |(column, _)| column),
            search: None,
        }
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &'static [ListColumn] {
        self.columns
    }

    /// Where the cursor is.
    #[must_use]
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// What is searched for, while it is typed.
    #[must_use]
    pub fn search(&self) -> Option<&str> {
        self.search.as_deref()
    }

    /// A key while a text is typed: the cursor is on the first column with it in its name, or in
    /// what is said of it.
    fn key_of_search(&mut self, mut text: String, name: &str) {
        let mut letters = name.chars();
        match (name, letters.next(), letters.next()) {
            ("enter" | "esc", ..) => return,
            ("backspace", ..) => drop(text.pop()),
            ("space", ..) => text.push(' '),
            (_, Some(letter), None) => text.push(letter),
            _ => {}
        }
        let wanted = text.to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let columns = self.columns.iter();
        let named = columns
            .clone()
            .position(|column| has(column.name) || has(column.heading));
        let found = named.or_else(|| columns.clone().position(|column| has(column.about)));
        self.cursor = found.unwrap_or(self.cursor);
        self.search = Some(text);
    }

    pub(super) fn key(&mut self, name: &str, table: &mut TableView) -> OverlayAnswer {
        if let Some(text) = self.search.take() {
            self.key_of_search(text, name);
            return OverlayAnswer::Pending;
        }
        let last = self.columns.len().saturating_sub(1);
        match name {
            "up" | "k" => self.cursor = self.cursor.saturating_sub(1),
            "down" | "j" => self.cursor = (self.cursor + 1).min(last),
            "pgup" | "home" => self.cursor = 0,
            "pgdn" | "end" | "G" => self.cursor = last,
            "space" | "x" => table.show(self.cursor, !table.is_shown(self.cursor)),
            "r" => {
                table.act(crate::keys::Action::Reverse);
            }
            "enter" | "s" => {
                if table.sort().map(|(column, _)| column) == Some(self.cursor) {
                    return OverlayAnswer::Closed;
                }
                table.sort_anew(self.cursor);
                return OverlayAnswer::Closed;
            }
            "/" => self.search = Some(String::new()),
            "esc" | "q" => return OverlayAnswer::Closed,
            _ => {}
        }
        OverlayAnswer::Pending
    }
}
