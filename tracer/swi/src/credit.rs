//! What may be spent on looking at the arguments of calls, in a whole recording: an engine has a
//! credit at first, and gets more for each call. So what is passed on from call to call takes no
//! quadratic time, and what a call may spend depends on the calls before alone.

/// What may still be spent; there may be a debt by what one call has spent.
#[derive(Debug)]
struct Credit<const PER_CALL: i64>(i64);

/// What an engine has at first, and has never more of.
const MOST: i64 = 1 << 24;

impl<const PER_CALL: i64> Credit<PER_CALL> {
    /// One more call is looked at: whether it may spend as much as it needs.
    fn of_call(&mut self) -> bool {
        self.0 = self.0.saturating_add(PER_CALL).min(MOST);
        self.0 > 0
    }

    fn spend(&mut self, spent: u64) {
        self.0 = self.0.saturating_sub_unsigned(spent);
    }
}

/// What an engine may spend on the lengths of lists, in elements, and on hashes, in cells.
#[derive(Debug)]
pub(crate) struct Credits {
    lists: Credit<{ 1 << 11 }>,
    hashes: Credit<{ Self::FEW_CELLS as i64 }>,
}

impl Credits {
    /// A hash of so many cells is always made.
    pub(crate) const FEW_CELLS: usize = 64;

    pub(crate) fn new() -> Self {
        Self {
            lists: Credit(MOST),
            hashes: Credit(MOST),
        }
    }

    /// One more call has lists: whether they may be counted.
    pub(crate) fn counts_lists(&mut self) -> bool {
        self.lists.of_call()
    }

    /// So many elements were counted.
    pub(crate) fn spend_elements(&mut self, elements: u64) {
        self.lists.spend(elements);
    }

    /// One more call is hashed: of how many cells at most, if a hash has no more than `most`.
    pub(crate) fn cells(&mut self, most: usize) -> usize {
        if self.hashes.of_call() {
            most
        } else {
            Self::FEW_CELLS
        }
    }

    /// So many cells were hashed.
    pub(crate) fn spend_cells(&mut self, cells: usize) {
        self.hashes.spend(cells as u64);
    }
}

/// What may be spent on the values of arguments, in cells: of one goal, or of all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueCredit(usize);

impl ValueCredit {
    /// So many cells of a value are always looked at.
    const FEW_CELLS: usize = 16;

    pub(crate) const OF_GOAL: Self = Self(1 << 18);
    pub(crate) const OF_ALL: Self = Self(1 << 20);

    /// At how many cells of one more value may be looked, if that is no more than `most`.
    pub(crate) fn cells(self, all: Self, most: usize) -> usize {
        most.min(self.0.min(all.0)).max(Self::FEW_CELLS)
    }

    /// So many cells were looked at.
    pub(crate) fn spend(&mut self, cells: usize) {
        self.0 = self.0.saturating_sub(cells);
    }
}
