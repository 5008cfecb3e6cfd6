//! The tables that every front end shows: names and units of `interface.md`, one struct a row.
//!
//! This is the one catalogue of columns: a row's `rows!` says name, title, unit, help, type and
//! value of each, and reports, screens, conditions and files read it. Field names are column names.
//! Whether times are recorded or net is a parameter: [`Table::net_of`] leads from a column to the
//! one with its net times. Times are integer nanoseconds, each converted on its own, so that sums
//! of rows may be off by rounding; sums of ticks in the [`Profile`] are not. Rows are made when
//! they are asked for, one at a time: no table is ever held whole here.

mod arguments;
mod centers;
mod choices;
mod clauses;
mod contexts;
mod cycles;
mod edges;
mod events;
mod latencies;
mod listed;
mod predicates;
mod row;
mod sites;
mod slowest;
mod streams;
#[cfg(test)]
mod tests;
mod unit_tests;
mod values;
mod waits;

use crate::calls::{Calls, CallsOnRequest};
use crate::figures::Caller;
use crate::figures::counted::Counted;
use crate::figures::profile::Profile;
use crate::figures::work::Work;
use crate::trace::Trace;

pub use arguments::{ArgumentRow, SizeRow};
pub use centers::{CenterRow, CostData, CostRow, InCenter, OUTSIDE};
pub use choices::{BacktrackData, BacktrackRow, ChoicepointRow, CutData, CutRow};
pub use clauses::{ClauseData, ClauseRow};
pub use contexts::{ContextData, ContextRow};
pub use cycles::{CycleRow, InCycle};
pub use edges::{Edge, EdgeRow};
pub(crate) use events::texts;
pub use events::{EventAt, EventRow};
pub use latencies::{Latency, LatencyRow, SiteLatencyRow};
pub use listed::{EventFacts, Listed, ListedRow, PredicateMoment, SiteNames};
pub use predicates::{OF_CALLS, PredicateData, PredicateRow};
pub use row::{Cell, Column, Kind, Row, Unit, is_called};
pub use sites::{SiteData, SiteRow};
pub use slowest::{Slow, SlowestRow};
pub use streams::{StreamData, StreamRow};
pub use unit_tests::{TestRow, UnitTest};
pub use values::{ValuePairRow, ValueRow};
pub use waits::{WaitData, WaitRow};

/// The caller of boxes without traced ancestor.
pub const ROOT: &str = "<root>";

/// Lists all tables: name, what a table has a row for, its rows, and the function of [`Tables`]
/// that makes them.
macro_rules! tables {
    ($( $(#[doc = $doc:literal])* $table:ident $name:literal $about:literal $row:ident $rows:ident; )*) => {
        /// A table by its name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Table {
            $( $(#[doc = $doc])* $table, )*
        }

        impl Table {
            /// All tables, [`Self::Events`] last.
            pub const ALL: &[Self] = &[$( Self::$table ),*];

            /// Its name, as users write it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $( Self::$table => $name, )* }
            }

            /// What it has a row for.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $( Self::$table => $about, )* }
            }

            /// Its columns in files.
            #[must_use]
            pub const fn columns(self) -> &'static [Column] {
                match self { $( Self::$table => $row::COLUMNS, )* }
            }

            /// All its columns: those in files, then those that are shown only where a user asks
            /// for them.
            #[must_use]
            pub const fn all_columns(self) -> &'static [Column] {
                match self { $( Self::$table => $row::ALL, )* }
            }
        }

        impl<'t> Tables<'t> {
            /// Hands the cells of each row of a table to `take`, which has as many as the table has
            /// columns.
            ///
            /// # Errors
            /// The first one of `take`; no more rows are made then.
            pub fn rows<E>(
                self,
                table: Table,
                take: impl FnMut(&[Cell<'t>]) -> Result<(), E>,
            ) -> Result<(), E> {
                match table { $( Table::$table => hand_out(self.$rows(), take), )* }
            }
        }
    };
}

tables! {
    /// [`Tables::predicates`].
    Predicates "predicates" "a row per predicate that was called" PredicateRow predicates;
    /// [`Tables::edges`].
    Edges "edges" "a row per caller and callee" EdgeRow edges;
    /// [`Tables::sites`].
    Sites "sites" "a row per goal of a clause that made calls" SiteRow sites;
    /// [`Tables::clauses`].
    Clauses "clauses" "a row per clause that was entered, if that was recorded" ClauseRow clauses;
    /// [`Tables::arguments`].
    Arguments "arguments" "a row per predicate whose arguments were recorded" ArgumentRow arguments;
    /// [`Tables::sizes`].
    Sizes "sizes" "a row per argument that had a size, if arguments were recorded" SizeRow sizes;
    /// [`Tables::values`].
    Values "argument_values" "a row per argument of a goal whose values were recorded" ValueRow values;
    /// [`Tables::value_pairs`].
    ValuePairs "value_pairs" "a row per given argument and result of a goal, if values were recorded" ValuePairRow value_pairs;
    /// [`Tables::contexts`].
    Contexts "contexts" "a row per calling context: the call tree, recursion folded" ContextRow contexts;
    /// [`Tables::backtracks`].
    Backtracks "backtracks" "a row per predicate that failed and predicate re-entered" BacktrackRow backtracks;
    /// [`Tables::cuts`].
    Cuts "cuts" "a row per predicate that cut and predicate whose choicepoints it cut" CutRow cuts;
    /// [`Tables::choicepoints`].
    Choicepoints "choicepoints" "a row per predicate that left choicepoints" ChoicepointRow choicepoints;
    /// [`Tables::cycles`].
    Cycles "cycles" "a row per predicate that calls itself through others" CycleRow cycles;
    /// [`Tables::streams`].
    Streams "streams" "a row per thread and engine" StreamRow streams;
    /// [`Tables::waits`].
    Waits "waits" "a row per thread, place where it waited, and whom it waited for" WaitRow waits;
    /// [`Tables::centers`].
    Centers "centers" "a row per cost centre" CenterRow centers;
    /// [`Tables::tests`].
    Tests "tests" "a row per test of plunit, with `record --tests`" TestRow tests;
    /// [`Tables::costs`].
    Costs "costs" "a row per cost centre, predicate and symbolic cost" CostRow costs;
    /// [`Tables::latencies`].
    Latencies "latencies" "a row per predicate: how long one call takes" LatencyRow latencies;
    /// [`Tables::site_latencies`].
    SiteLatencies "site_latencies" "a row per goal of a clause: how long one call takes" SiteLatencyRow site_latencies;
    /// [`Tables::slowest`].
    Slowest "slowest" "a row for each of the ten slowest calls of a predicate" SlowestRow slowest;
    /// [`Tables::events`]. As large as the trace, where the others are as large as the program.
    Events "events" "a row per event: large" EventRow events;
}

impl Table {
    /// The place of a column among [`Self::all_columns`], by its name. At compile time it is an
    /// error if there is none.
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
    calls: Option<&'t CallsOnRequest>,
    /// Where the work was done, if that alone counts.
    work: Option<&'t Work>,
}

impl<'t> Tables<'t> {
    /// The tables of a profile of `trace`, which is called `name` in them. Times of single calls
    /// are missing.
    #[must_use]
    pub fn new(name: &'t str, trace: &'t Trace, profile: &'t Profile) -> Self {
        Self {
            name,
            trace,
            profile,
            calls: None,
            work: None,
        }
    }

    /// The same with the times of single calls, which are found when a table or column needs them.
    #[must_use]
    pub fn with_calls(self, calls: &'t CallsOnRequest) -> Self {
        Self {
            calls: Some(calls),
            ..self
        }
    }

    /// The same; inclusive times and times of calls are of work alone, done as `work` says.
    /// Files have all time.
    #[must_use]
    pub fn of_work(self, work: &'t Work) -> Self {
        Self {
            work: Some(work),
            ..self
        }
    }

    fn counted(self) -> Counted {
        self.work.map_or(Counted::All, |_| Counted::Work)
    }

    fn calls(self) -> Option<&'t Calls> {
        Some(self.calls?.get(self.trace))
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
