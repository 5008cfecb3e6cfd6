//! What a table is over.

use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};

use portmortem_analyzer::condition::FieldKind;
use portmortem_analyzer::tables::{self, Cell, OF_CALLS, Unit};
use portmortem_analyzer::trace::PredicateIndex;
use rustc_hash::FxHasher;

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Text.
    Text,
    /// Text that is never scrolled out and has all the room that is left. These columns are the last.
    Name,
    /// Numbers.
    Count,
    /// How much larger a number is than another one.
    Difference,
    /// Nanoseconds.
    Time,
    /// How many nanoseconds more a time is than another one.
    Delta,
    /// Nanoseconds, drawn as a bar and a percentage of [`Source::whole`].
    Share,
    /// True or false.
    Bool,
}

impl CellKind {
    /// Whether the largest should come first.
    #[must_use]
    pub fn is_number(self) -> bool {
        !matches!(self, Self::Text | Self::Name)
    }

    pub(super) fn field(self, whole: Option<u64>) -> FieldKind {
        match self {
            Self::Text | Self::Name => FieldKind::Text,
            Self::Count | Self::Difference => FieldKind::Count,
            Self::Time | Self::Delta | Self::Share => FieldKind::Time { whole },
            Self::Bool => FieldKind::Bool,
        }
    }
}

/// A column of a list: one of the catalogue ([`portmortem_analyzer::tables`]), and how it is shown.
#[derive(Debug, Clone, Copy)]
pub struct ListColumn {
    /// Its name in conditions, and in files if times are as recorded.
    pub name: &'static str,
    /// Its heading; the unit of times is added.
    pub heading: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What its cells are.
    pub kind: CellKind,
    /// Shown until the user says otherwise.
    pub shown: bool,
    /// Where there is no room for all, those of a higher rank are left out first; of the same rank, the last ones.
    pub rank: u8,
    /// Not drawn where it is zero in all rows, unless the user asks for it.
    pub unless_zero: bool,
    /// On narrower screens it is not drawn, unless the user asks for it.
    pub least_width: u16,
    /// Its times have a unit of their own: they are not to be compared with those of other columns.
    pub own_unit: bool,
    /// Its place in the catalogue.
    place: usize,
    /// What is shown of it where times are net.
    net: Net,
}

/// What is shown of a column where times are net.
#[derive(Debug, Clone, Copy)]
enum Net {
    /// The same: it has no time of boxes.
    Same,
    /// This column of the catalogue, which has this name.
    Times(usize, &'static str),
    /// Nothing: net times of this kind are not known.
    Unknown,
}

impl ListColumn {
    /// A column of the catalogue.
    #[must_use]
    pub const fn of(table: tables::Table, name: &'static str) -> Self {
        let place = table.place(name);
        let column = &table.all_columns()[place];
        let net = match (column.unit, table.net_of(place)) {
            (Unit::Time, Some(net)) => Net::Times(net, table.all_columns()[net].name),
            (Unit::Time, None) => Net::Unknown,
            _ => Net::Same,
        };
        let kind = match (column.kind, column.unit) {
            (_, Unit::Time | Unit::Clock) => CellKind::Time,
            (tables::Kind::Text, _) => CellKind::Text,
            (tables::Kind::Integer, _) => CellKind::Count,
            (tables::Kind::Bool, _) => CellKind::Bool,
        };
        Self {
            place,
            net,
            ..Self::new(name, column.title, kind, column.help)
        }
    }

    /// These columns of a table and, before the last of them, all others that have figures of their own: hidden until the user
    /// says otherwise. The trace is the same in all rows, and net times are shown instead of recorded ones.
    #[must_use]
    pub fn and_others(table: tables::Table, chosen: &[Self]) -> Vec<Self> {
        let columns = table.all_columns();
        let is_net = |at| (0..columns.len()).any(|recorded| table.net_of(recorded) == Some(at));
        let is_other = |at: &usize| {
            columns[*at].name != "trace"
                && !is_net(*at)
                && chosen.iter().all(|column| column.place != *at)
        };
        let others = (0..columns.len()).filter(is_other);
        let mut all = chosen.to_vec();
        let end = chosen.len().saturating_sub(1);
        all.splice(
            end..end,
            others.map(|at| Self::of(table, columns[at].name).hidden()),
        );
        all
    }

    /// The same, named and shown otherwise.
    #[must_use]
    pub const fn shown_as(
        self,
        name: &'static str,
        heading: &'static str,
        kind: CellKind,
        about: &'static str,
    ) -> Self {
        Self {
            name,
            heading,
            about,
            kind,
            ..self
        }
    }

    /// The same as the name of its rows: it is never scrolled out.
    #[must_use]
    pub const fn name(self) -> Self {
        Self {
            kind: CellKind::Name,
            ..self
        }
    }

    /// A column that is in no table.
    #[must_use]
    pub const fn new(
        name: &'static str,
        heading: &'static str,
        kind: CellKind,
        about: &'static str,
    ) -> Self {
        Self {
            name,
            heading,
            about,
            kind,
            shown: true,
            rank: 0,
            unless_zero: false,
            least_width: 0,
            own_unit: false,
            place: usize::MAX,
            net: Net::Same,
        }
    }

    /// The same; in files its net times have this name.
    #[must_use]
    pub const fn net_name(self, name: &'static str) -> Self {
        Self {
            net: Net::Times(self.place, name),
            ..self
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

    /// The same; where there is no room for all, it is left out before those of a lower rank.
    #[must_use]
    pub const fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// The same, not drawn where it is zero in all rows.
    #[must_use]
    pub const fn unless_zero(self) -> Self {
        Self {
            unless_zero: true,
            ..self
        }
    }

    /// The same, drawn on screens of this width.
    #[must_use]
    pub const fn from_width(self, least_width: u16) -> Self {
        Self {
            least_width,
            ..self
        }
    }

    /// The same, with a unit of its own.
    #[must_use]
    pub const fn own_unit(self) -> Self {
        Self {
            own_unit: true,
            ..self
        }
    }

    /// Whether the events are read again for it.
    #[must_use]
    pub fn is_of_calls(&self) -> bool {
        OF_CALLS.contains(&self.name)
    }

    /// Its cell in a row, of which `cell` has all cells of the catalogue; with recorded or net times.
    pub fn cell<'c>(&self, net: bool, cell: impl FnOnce(usize) -> Cell<'c>) -> Cell<'c> {
        match self.net {
            Net::Times(place, _) if net => cell(place),
            Net::Unknown if net => Cell::Missing,
            _ => cell(self.place),
        }
    }

    /// Its name in files: it says which times are in it.
    #[must_use]
    pub fn file_name(&self, net: bool) -> String {
        match (self.net, self.kind) {
            (Net::Times(..), CellKind::Share) if net => match self.name.strip_suffix("share") {
                Some(of) => format!("{of}comp_share"),
                None => format!("{}_comp", self.name),
            },
            (Net::Times(_, name), _) if net => name.to_owned(),
            _ => self.name.to_owned(),
        }
    }
}

/// Rows, which never change. Texts are escaped where they are drawn.
pub trait Source: Debug + Send + Sync {
    /// The columns.
    fn columns(&self) -> &'static [ListColumn];

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

    /// Whether times are net.
    fn is_net(&self) -> bool {
        false
    }

    /// Whether a row is not shown, whatever the filter is. Then none below it is.
    fn is_left_out(&self, _row: usize) -> bool {
        false
    }

    /// The predicate that a row is about.
    fn predicate(&self, _row: usize) -> Option<PredicateIndex> {
        None
    }

    /// The second predicate of a row, if it is a pair.
    fn other(&self, _row: usize) -> Option<PredicateIndex> {
        None
    }

    /// Rows of a lower group come first, whatever the table is sorted by.
    fn group(&self, _row: usize) -> u8 {
        0
    }

    /// Whether rows of a group are in the opposite order.
    fn is_reversed(&self, _group: u8) -> bool {
        false
    }

    /// The name of a row as it is drawn, where that is shorter than its cell.
    fn short_name(&self, _row: usize) -> Option<Cow<'_, str>> {
        None
    }

    /// What is said beside the heading of names.
    fn about_names(&self) -> Option<String> {
        None
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

/// The number as tables have it.
pub(crate) fn integer(number: u64) -> Cell<'static> {
    Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}
