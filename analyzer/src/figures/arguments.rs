//! The figures of arguments: how many different calls a predicate had, and how large its arguments
//! were.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};

use crate::trace::PredicateIndex;

/// By predicate: those whose arguments were recorded, and which were called.
pub type ArgumentsOfPredicates = BTreeMap<PredicateIndex, ArgumentFigures>;

/// Which argument, from 1, and what its size is.
pub type Sized = (u8, SizeKind);

/// What the arguments of a predicate's calls were. Two calls are the same if the hashes of their
/// arguments are: of `n` different calls some two have the same hash with a probability of about
/// `n²` / 2⁶⁵.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct ArgumentFigures {
    /// Calls whose arguments were ground or unbound, so that they have a hash.
    pub hashed: u64,
    /// Calls with an argument that was neither, or was a variable with attributes.
    pub not_ground: u64,
    /// Calls with more arguments than the recorder looks at, or cyclic ones.
    pub too_large: u64,
    /// Different ones among those of `hashed`; if `cut_short`, at least so many.
    pub distinct: u64,
    /// How often the call came that came most often; if `cut_short`, at least so often.
    pub most_repeated: u64,
    /// There were more different calls than can be told apart: see
    /// [`crate::arguments::MOST_DISTINCT`].
    pub cut_short: bool,
    /// Sizes of arguments.
    pub sizes: BTreeMap<Sized, SizeFigures>,
}

/// What is taken for the size of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub enum SizeKind {
    /// The value of an integer of at most 64 bits.
    Integer,
    /// The number of elements of a proper list.
    List,
}

impl SizeKind {
    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::List => "list",
        }
    }
}

/// The sizes of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct SizeFigures {
    /// Calls with such an argument.
    pub calls: u64,
    /// The least size.
    pub least: i64,
    /// The greatest size.
    pub greatest: i64,
}

impl SizeFigures {
    /// Of one call.
    #[must_use]
    pub fn of(size: i64) -> Self {
        Self {
            calls: 1,
            least: size,
            greatest: size,
        }
    }

    /// Counts a call.
    pub fn add(&mut self, size: i64) {
        self.calls = self.calls.saturating_add(1);
        self.least = self.least.min(size);
        self.greatest = self.greatest.max(size);
    }

    /// With those of other calls.
    pub(crate) fn and(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }
}

impl ArgumentFigures {
    /// Calls that came before with the same arguments; if `cut_short`, at most so many.
    #[must_use]
    pub fn repeated(&self) -> u64 {
        self.hashed.saturating_sub(self.distinct)
    }

    /// Whether it can be said of calls.
    #[must_use]
    pub(crate) fn is_sound(&self) -> bool {
        let some = self.hashed > 0;
        self.distinct <= self.hashed
            && self.most_repeated <= self.repeated().saturating_add(1)
            && (self.distinct > 0) == some
            && (self.most_repeated > 0) == some
            && self.sizes.values().all(|size| size.least <= size.greatest)
    }
}
