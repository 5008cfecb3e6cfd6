//! The tables that every front end shows: names and units of `interface.md`, one struct a row.
//!
//! This is the one catalogue of columns: a row's `rows!` says name, title, unit, help, type and value of each, and reports,
//! screens, conditions and files read it. Field names are column names. Whether times are recorded or net is a parameter:
//! [`Table::net_of`] leads from a column to the one with its net times. Times are integer nanoseconds, each converted on its own, so that
//! sums of rows may be off by rounding; sums of ticks in the [`Profile`] are not. Rows are made when
//! they are asked for, one at a time: no table is ever held whole here.

mod centers;
mod choices;
mod contexts;
mod cycles;
mod edges;
mod events;
mod predicates;
mod row;
mod streams;
#[cfg(test)]
mod tests;

use crate::figures::Caller;
use crate::figures::profile::Profile;
use crate::trace::Trace;

pub use centers::{CenterRow, Cost, CostRow, InCenter, OUTSIDE};
pub use choices::{Backtrack, BacktrackRow, ChoicepointRow, Cut, CutRow};
pub use contexts::{Context, ContextRow};
pub use cycles::{CycleRow, InCycle};
pub use edges::{Edge, EdgeRow};
pub use events::{EventAt, EventRow, port};
pub use predicates::{Predicate, PredicateRow};
pub use row::{Cell, Column, Kind, Row, Unit, is_called};
pub use streams::{Stream, StreamRow};

/// The caller of boxes without traced ancestor.
pub const ROOT: &str = "<root>";

/// A table by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Table {
    /// [`Tables::predicates`].
    Predicates,
    /// [`Tables::edges`].
    Edges,
    /// [`Tables::contexts`].
    Contexts,
    /// [`Tables::backtracks`].
    Backtracks,
    /// [`Tables::cuts`].
    Cuts,
    /// [`Tables::choicepoints`].
    Choicepoints,
    /// [`Tables::cycles`].
    Cycles,
    /// [`Tables::streams`].
    Streams,
    /// [`Tables::centers`].
    Centers,
    /// [`Tables::costs`].
    Costs,
    /// [`Tables::events`]. As large as the trace, where the others are as large as the program.
    Events,
}

impl Table {
    /// All tables, [`Self::Events`] last.
    pub const ALL: &[Self] = &[
        Self::Predicates,
        Self::Edges,
        Self::Contexts,
        Self::Backtracks,
        Self::Cuts,
        Self::Choicepoints,
        Self::Cycles,
        Self::Streams,
        Self::Centers,
        Self::Costs,
        Self::Events,
    ];

    /// Its name, as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Predicates => "predicates",
            Self::Edges => "edges",
            Self::Contexts => "contexts",
            Self::Backtracks => "backtracks",
            Self::Cuts => "cuts",
            Self::Choicepoints => "choicepoints",
            Self::Cycles => "cycles",
            Self::Streams => "streams",
            Self::Centers => "centers",
            Self::Costs => "costs",
            Self::Events => "events",
        }
    }

    /// What it has a row for.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Predicates => "a row per predicate that was called",
            Self::Edges => "a row per caller and callee",
            Self::Contexts => "a row per calling context: the call tree, recursion folded",
            Self::Backtracks => "a row per predicate that failed and predicate re-entered",
            Self::Cuts => "a row per predicate that cut and predicate whose choicepoints it cut",
            Self::Choicepoints => "a row per predicate that left choicepoints",
            Self::Cycles => "a row per predicate that calls itself through others",
            Self::Streams => "a row per thread and engine",
            Self::Centers => "a row per cost centre",
            Self::Costs => "a row per cost centre, predicate and symbolic cost",
            Self::Events => "a row per event: large",
        }
    }

    /// Its columns in files.
    #[must_use]
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Predicates => PredicateRow::COLUMNS,
            Self::Edges => EdgeRow::COLUMNS,
            Self::Contexts => ContextRow::COLUMNS,
            Self::Backtracks => BacktrackRow::COLUMNS,
            Self::Cuts => CutRow::COLUMNS,
            Self::Choicepoints => ChoicepointRow::COLUMNS,
            Self::Cycles => CycleRow::COLUMNS,
            Self::Streams => StreamRow::COLUMNS,
            Self::Centers => CenterRow::COLUMNS,
            Self::Costs => CostRow::COLUMNS,
            Self::Events => EventRow::COLUMNS,
        }
    }

    /// All its columns: those in files, then those that are shown only where a user asks for them.
    #[must_use]
    pub const fn all_columns(self) -> &'static [Column] {
        match self {
            Self::Predicates => PredicateRow::ALL,
            Self::Centers => CenterRow::ALL,
            _ => self.columns(),
        }
    }

    /// The place of a column among [`Self::all_columns`], by its name. At compile time it is an error if there is none.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub const fn place(self, name: &str) -> usize {
        let columns = self.all_columns();
        let mut at = 0;
        while !row::is_same(columns[at].name.as_bytes(), name.as_bytes()) {
            at += 1;
        }
        at
    }

    /// The place of the column that a user calls so ([`Column::is_called`]).
    #[must_use]
    pub fn find(self, name: &str) -> Option<usize> {
        let mut columns = self.all_columns().iter();
        columns.position(|column| column.is_called(name))
    }

    /// The place of the column that has the net times of the one at a place, if there is one.
    #[must_use]
    pub const fn net_of(self, recorded: usize) -> Option<usize> {
        let columns = self.all_columns();
        let mut at = 0;
        while at < columns.len() {
            if columns[at].is_net_of(columns[recorded].name) {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// The table of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|table| table.name() == name)
    }
}

/// The tables of a trace: a view of its profile.
#[derive(Debug, Clone, Copy)]
pub struct Tables<'t> {
    name: &'t str,
    trace: &'t Trace,
    profile: &'t Profile,
}

impl<'t> Tables<'t> {
    /// The tables of a profile of `trace`, which is called `name` in them.
    #[must_use]
    pub fn new(name: &'t str, trace: &'t Trace, profile: &'t Profile) -> Self {
        Self {
            name,
            trace,
            profile,
        }
    }

    /// Hands the cells of each row of a table to `take`, which has as many as the table has columns.
    ///
    /// # Errors
    /// The first one of `take`; no more rows are made then.
    pub fn rows<E>(
        self,
        table: Table,
        take: impl FnMut(&[Cell<'t>]) -> Result<(), E>,
    ) -> Result<(), E> {
        match table {
            Table::Predicates => hand_out(self.predicates(), take),
            Table::Edges => hand_out(self.edges(), take),
            Table::Contexts => hand_out(self.contexts(), take),
            Table::Backtracks => hand_out(self.backtracks(), take),
            Table::Cuts => hand_out(self.cuts(), take),
            Table::Choicepoints => hand_out(self.choicepoints(), take),
            Table::Cycles => hand_out(self.cycles(), take),
            Table::Streams => hand_out(self.streams(), take),
            Table::Centers => hand_out(self.centers(), take),
            Table::Costs => hand_out(self.costs(), take),
            Table::Events => hand_out(self.events(), take),
        }
    }

    fn ns(self, ticks: u64) -> u64 {
        self.trace.clock().duration_ns(ticks)
    }

    fn caller(self, caller: Caller) -> &'t str {
        match caller {
            Caller::Root => ROOT,
            Caller::Predicate(index) => self.trace.predicate_name(index),
        }
    }
}

fn hand_out<'t, R: Row<'t>, E>(
    mut rows: impl Iterator<Item = R>,
    mut take: impl FnMut(&[Cell<'t>]) -> Result<(), E>,
) -> Result<(), E> {
    rows.try_for_each(|row| row.with_cells(&mut take))
}
