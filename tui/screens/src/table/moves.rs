//! What keys and clicks do to a table.

use std::sync::Arc;

use portmortem_analyzer::tables::Cell;

use crate::keys::Action;

use super::TableView;

impl TableView {
    /// Does what lists do with an action; `false` if that is nothing.
    pub fn act(&mut self, action: Action) -> bool {
        let page = usize::from(self.layout.rows.height).max(2) - 1;
        let last = self.order.len().saturating_sub(1);
        let away = self.away.take();
        match action {
            Action::Up => self.cursor = self.cursor.saturating_sub(1),
            Action::Down => self.cursor = (self.cursor + 1).min(last),
            Action::PageUp => self.cursor = self.cursor.saturating_sub(page),
            Action::PageDown => self.cursor = (self.cursor + page).min(last),
            Action::Top => self.cursor = 0,
            Action::Bottom => self.cursor = last,
            Action::Left if self.source.is_tree() => self.fold_or_up(),
            Action::Right if self.source.is_tree() => self.unfold_or_down(),
            Action::Left | Action::ScrollLeft => self.scrolled = self.scrolled.saturating_sub(1),
            Action::Right | Action::ScrollRight => {
                self.scrolled += usize::from(self.layout.more);
            }
            Action::Reverse => {
                if let Some((_, descending)) = &mut self.sort {
                    *descending = !*descending;
                }
                self.refresh();
                self.go_to_the_top();
            }
            Action::SortLeft => self.sort_beside(false),
            Action::SortRight => self.sort_beside(true),
            Action::NextMatch => self.next_where(true, Self::is_found),
            Action::PreviousMatch => self.next_where(false, Self::is_found),
            Action::Mark => self.mark(),
            Action::NextMark => self.next_where(true, Self::is_marked),
            Action::Toggle if self.source.is_tree() => self.toggle(),
            Action::OpenAll if self.source.is_tree() => self.open_all(),
            Action::CloseAll if self.source.is_tree() => {
                self.open = Arc::default();
                self.refresh();
            }
            _ => {
                self.away = away;
                return false;
            }
        }
        true
    }

    /// Unfolds the way from the cursor down to where most of a column is, always the largest row below.
    pub fn open_hottest(&mut self, column: usize) {
        let Some(mut row) = self.row() else { return };
        loop {
            let below = self.shape.below(row).iter().map(|&row| row as usize);
            let size = |row: usize| match self.source.cell(row, column) {
                Cell::Integer(size) => size,
                _ => 0,
            };
            // Of equals the first.
            let Some(next) = below
                .rev()
                .max_by_key(|&row| size(row))
                .filter(|&row| size(row) > 0)
            else {
                break;
            };
            Arc::make_mut(&mut self.open).insert(self.source.key(row));
            row = next;
        }
        self.refresh();
        self.select(row);
    }

    /// Whether this place is in its heading or rows, as they were drawn last.
    #[must_use]
    pub fn is_at(&self, x: u16, y: u16) -> bool {
        let place = (x, y).into();
        self.layout.heading.contains(place) || self.layout.rows.contains(place)
    }

    /// What a click at this place does; `true` if the row under the cursor was clicked again.
    pub fn click(&mut self, x: u16, y: u16) -> bool {
        if self.layout.heading.contains((x, y).into()) {
            let hit = self
                .layout
                .columns
                .iter()
                .find(|(cells, _)| cells.contains(&x));
            match hit.map(|&(_, column)| column) {
                Some(column) if self.sort.is_some_and(|(sorted, _)| sorted == column) => {
                    self.act(Action::Reverse);
                }
                Some(column) => self.sort_anew(column),
                None => {}
            }
        } else if self.layout.rows.contains((x, y).into()) {
            let place = self.first + usize::from(y - self.layout.rows.y);
            if place < self.order.len() {
                self.away = None;
                return std::mem::replace(&mut self.cursor, place) == place;
            }
        }
        false
    }

    fn mark(&mut self) {
        if let Some(row) = self.row() {
            let key = self.source.key(row);
            if !self.marks.remove(&key) {
                self.marks.insert(key);
            }
        }
    }

    /// To the next place where `is` holds, round the end.
    fn next_where(&mut self, forward: bool, is: impl Fn(&Self, usize) -> bool) {
        let count = self.order.len();
        let places = (1..=count).map(|step| {
            let step = if forward { step } else { count - step };
            (self.cursor + step) % count
        });
        let found = places
            .into_iter()
            .find(|&place| is(self, self.order[place] as usize));
        self.cursor = found.unwrap_or(self.cursor);
    }

    fn sort_beside(&mut self, right: bool) {
        let shown: Vec<usize> = (0..self.shown.len()).filter(|&at| self.shown[at]).collect();
        let now = self
            .sort
            .and_then(|(column, _)| shown.iter().position(|&at| at == column));
        let next = match (now, right) {
            (Some(at), true) => (at + 1) % shown.len(),
            (Some(at), false) => (at + shown.len() - 1) % shown.len(),
            (None, _) => 0,
        };
        if let Some(&column) = shown.get(next) {
            self.sort_anew(column);
        }
    }

    /// Sorts by a column as a user does: what comes first then is what was asked for.
    pub fn sort_anew(&mut self, column: usize) {
        self.sort_by(column);
        self.go_to_the_top();
    }

    /// To the first row of a list. In a tree rows are only sorted among those of one caller: the
    /// cursor stays.
    fn go_to_the_top(&mut self) {
        if !self.source.is_tree() {
            self.away = None;
            self.cursor = 0;
        }
    }
}
