//! Where the user is in a list, whatever its rows are numbered.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::TableView;

/// Row, scroll and folds of a list, and the row that is shown as if it were all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListSpot {
    /// Key of the row under the cursor.
    row: Option<u64>,
    /// The first row on the screen, a place in the order.
    first: usize,
    /// Key of the row that is shown as if it were all.
    root: Option<u64>,
    /// Keys of rows that are unfolded.
    open: Arc<FxHashSet<u64>>,
}

impl TableView {
    /// Where the user is.
    #[must_use]
    pub fn spot(&self) -> ListSpot {
        ListSpot {
            row: self.row().map(|row| self.source.key(row)),
            first: self.first,
            root: self.root.map(|row| self.source.key(row as usize)),
            open: Arc::clone(&self.open),
        }
    }

    /// Goes back there, as far as the rows are there.
    pub fn recall(&mut self, spot: &ListSpot) {
        let root = self.root.map(|row| self.source.key(row as usize));
        if root != spot.root {
            let rows = 0..self.source.rows();
            let found = spot.root.and_then(|key| {
                let mut rows = rows.into_iter();
                rows.find(|&row| self.source.key(row) == key)
            });
            self.set_root(found.map(|row| row as u32));
        }
        if self.open != spot.open {
            self.open = Arc::clone(&spot.open);
            self.refresh();
        }
        if let Some(key) = spot.row {
            let is_it = |&row: &u32| self.source.key(row as usize) == key;
            match self.order.iter().position(is_it) {
                // Nothing has to be unfolded for it.
                Some(place) => (self.cursor, self.away) = (place, None),
                None => {
                    self.select_first(&[key]);
                }
            }
        }
        self.first = spot.first;
    }
}
