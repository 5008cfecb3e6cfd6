//! Where the columns of a picture begin.

/// Where columns begin and end, each where the next one begins.
#[derive(Debug)]
pub(super) enum Edges {
    /// At these ticks; at the last one the last column ends.
    At(Vec<u64>),
    /// At all multiples of this power of two, from one column on without an end. Columns in which
    /// nothing changes are left out.
    Multiples { shift: u32, first: u64 },
}

/// So much longer columns become at a time, as a power of two.
pub(super) const STEP: u32 = 3;

impl Edges {
    /// Those of the multiples of a power of two, from the column on in which this tick lies.
    pub(super) fn multiples(shift: u32, tick: u64) -> Self {
        let first = tick >> shift;
        Self::Multiples { shift, first }
    }

    /// The number of the first column.
    pub(super) fn first(&self) -> u64 {
        match self {
            Self::At(_) => 0,
            Self::Multiples { first, .. } => *first,
        }
    }

    /// The number after that of the last column.
    pub(super) fn end(&self) -> u64 {
        match self {
            Self::At(ticks) => ticks.len().saturating_sub(1) as u64,
            Self::Multiples { shift, .. } => u64::MAX >> shift,
        }
    }

    /// Where a column begins; of those after the last one, where that ends.
    pub(super) fn begin(&self, column: u64) -> u64 {
        match self {
            Self::At(ticks) => {
                let at = usize::try_from(column).ok().and_then(|at| ticks.get(at));
                at.or(ticks.last()).copied().unwrap_or(0)
            }
            Self::Multiples { shift, .. } => column.min(u64::MAX >> shift) << shift,
        }
    }

    /// The next column to be painted after one, if nothing happens before a tick.
    pub(super) fn after(&self, column: u64, tick: u64) -> u64 {
        match self {
            Self::At(_) => column + 1,
            // What ends at that tick changes the column before.
            Self::Multiples { shift, .. } => (tick >> shift).saturating_sub(1).max(column + 1),
        }
    }

    /// Columns that are multiples become eight times as long. The number of the column that has a
    /// column of before.
    pub(super) fn coarsen(&mut self, column: u64) -> u64 {
        match self {
            Self::At(_) => column,
            Self::Multiples { shift, first } => {
                *shift += STEP;
                *first >>= STEP;
                column >> STEP
            }
        }
    }
}
