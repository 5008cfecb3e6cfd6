//! The choice of columns: which one to sort by, which are shown.

use super::Answer;
use crate::table::{Column, Table};

/// The columns of the table below, and a cursor.
#[derive(Debug)]
pub struct Chooser {
    columns: &'static [Column],
    cursor: usize,
}

impl Chooser {
    /// The choice for a table; the cursor is on the column that it is sorted by.
    #[must_use]
    pub fn new(table: &Table) -> Self {
        Self {
            columns: table.source().columns(),
            cursor: table.sort().map_or(0, |(column, _)| column),
        }
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &'static [Column] {
        self.columns
    }

    /// Where the cursor is.
    #[must_use]
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    pub(super) fn key(&mut self, name: &str, table: &mut Table) -> Answer {
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
                    return Answer::Closed;
                }
                table.sort_by(self.cursor);
                return Answer::Closed;
            }
            "esc" | "q" => return Answer::Closed,
            _ => {}
        }
        Answer::Pending
    }
}
