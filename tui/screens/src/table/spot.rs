//! Where the user is in a list, whatever its rows are numbered.

use super::Table;

/// Row and scroll of a list, and the row that is shown as if it were all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListSpot {
    /// Key of the row under the cursor.
    row: Option<u64>,
    /// The first row on the screen, a place in the order.
    first: usize,
    /// Key of the row that is shown as if it were all.
    root: Option<u64>,
}

impl Table {
    /// Where the user is.
    #[must_use]
    pub fn spot(&self) -> ListSpot {
        ListSpot {
            row: self.row().map(|row| self.source.key(row)),
            first: self.first,
            root: self.root.map(|row| self.source.key(row as usize)),
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
        if let Some(row) = spot.row {
            self.select_first(&[row]);
        }
        self.first = spot.first;
    }
}
