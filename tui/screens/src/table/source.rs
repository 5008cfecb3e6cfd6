//! What a table is over.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};

use portmortem_analyzer::tables::Cell;
use portmortem_analyzer::trace::PredicateIndex;
use rustc_hash::FxHasher;

use crate::condition::FieldKind;

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// Text that is never scrolled out and has all the room that is left. These columns are the last.
    Name,
    /// Numbers.
    Count,
    /// Nanoseconds.
    Time,
    /// Nanoseconds, drawn as a bar and a percentage of [`Source::whole`].
    Share,
    /// True or false.
    Bool,
}

impl Kind {
    /// Whether the largest should come first.
    #[must_use]
    pub fn is_number(self) -> bool {
        !matches!(self, Self::Text | Self::Name)
    }

    pub(super) fn field(self, whole: Option<u64>) -> FieldKind {
        match self {
            Self::Text | Self::Name => FieldKind::Text,
            Self::Count => FieldKind::Count,
            Self::Time | Self::Share => FieldKind::Time { whole },
            Self::Bool => FieldKind::Bool,
        }
    }
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name in conditions and files: that of the exported tables where there is one.
    pub name: &'static str,
    /// Its heading; the unit of times is added.
    pub heading: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What its cells are.
    pub kind: Kind,
    /// Shown until the user says otherwise.
    pub shown: bool,
}

impl Column {
    /// A column that is shown.
    #[must_use]
    pub const fn new(
        name: &'static str,
        heading: &'static str,
        kind: Kind,
        about: &'static str,
    ) -> Self {
        Self {
            name,
            heading,
            about,
            kind,
            shown: true,
        }
    }

    /// The same, to be shown only if the user asks for it.
    #[must_use]
    pub const fn hidden(self) -> Self {
        Self {
            shown: false,
            ..self
        }
    }
}

/// Rows, which never change. Texts are escaped already.
pub trait Source: Debug + Send + Sync {
    /// The columns.
    fn columns(&self) -> &'static [Column];

    /// How many rows there are.
    fn rows(&self) -> usize;

    /// A cell.
    fn cell(&self, row: usize, column: usize) -> Cell<'_>;

    /// What tells a row from all others, also in another analysis of the same trace.
    fn key(&self, row: usize) -> u64;

    /// What shares are of, in ns.
    fn whole(&self) -> u64 {
        0
    }

    /// The predicate that a row is about.
    fn predicate(&self, _row: usize) -> Option<PredicateIndex> {
        None
    }

    /// Rows of a lower group come first, whatever the table is sorted by.
    fn group(&self, _row: usize) -> u8 {
        0
    }

    /// Whether the row is what the list is about.
    fn is_subject(&self, _row: usize) -> bool {
        false
    }

    /// What is said before the name.
    fn sign(&self, _row: usize) -> &'static str {
        ""
    }

    /// What is said after the name.
    fn note(&self, _row: usize) -> &'static str {
        ""
    }

    /// Whether rows have parents.
    fn is_tree(&self) -> bool {
        false
    }

    /// The row above, which has a lower number.
    fn parent(&self, _row: usize) -> Option<usize> {
        None
    }

    /// How many rows are above.
    fn depth(&self, _row: usize) -> usize {
        0
    }
}

/// A key made of anything.
#[must_use]
pub fn key_of(what: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    what.hash(&mut hasher);
    hasher.finish()
}

/// The key of a row of a tree, from that of its parent.
#[must_use]
pub fn path_key(parent: Option<u64>, what: impl Hash) -> u64 {
    key_of((parent, what))
}
