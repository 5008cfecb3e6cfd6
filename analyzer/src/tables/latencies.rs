//! The tables `latencies` and `site_latencies`: how long one call takes, of a predicate and from a
//! goal.

use std::cmp::Reverse;

use super::Tables;
use super::row::{Row, rows};
use crate::calls::figures::CallFigures;
use crate::calls::growth::Trend;
use crate::calls::{Calls, Goal};
use crate::figures::Caller;
use crate::trace::SiteInfo;

/// Makes the rows of a table that ends with the figures of calls.
macro_rules! latency_rows {
    (
        $(#[$about:meta])*
        pub struct $row:ident<'t> of $of:ident: $subject:ty { $($head:tt)* }
    ) => {
        rows! {
            $(#[$about])*
            pub struct $row<'t> of $of: $subject {
                $($head)*
                /// Calls, last calls included. `calls = timed + departed + open`.
                "calls" Count calls: u64 = $of.figures.calls;
                /// Calls whose time is known. The columns `ns_0` to `ns_17179869184` add up to it.
                "timed" Count timed: u64 = $of.figures.timed;
                /// Last calls in a chain that had called the predicate before: their time is not
                /// known.
                "departed" Count departed: u64 = $of.figures.departed;
                /// Calls that had not ended at the end.
                "open" Count open: u64 = $of.figures.open;
                /// Activations that a redo began; they are in no other column.
                "redos" Count redos: u64 = $of.figures.redos;
                /// Mean time of a timed call, in ns: from the call to the exit, failure or
                /// exception that follows.
                "mean" Time mean_ns: Option<u64> = $of.ns($of.figures.mean_ticks());
                /// Time of the slowest call, in ns.
                "max" Time max_ns: Option<u64> = $of.ns($of.figures.max_ticks());
                /// How the time of outermost calls changed with their ordinal, without collections,
                /// loading, set-up and waiting: `constant`, `falling`, `sublinear`, `linear` or
                /// `superlinear`; empty if there are too few calls, or their times have no order.
                "growth" None growth: Option<&'t str> = $of.trend.verdict.name();
                /// Calls that `growth` is based on.
                "outermost" Count outermost: u64 = $of.trend.calls;
                /// Typical time of the first eighth of them, the very first ones left out, in ns.
                "first" Time first_ns: Option<u64> = $of.ns($of.trend.ends.map(|(first, _)| first));
                /// Typical time of the last eighth of them, in ns.
                "last" Time last_ns: Option<u64> = $of.ns($of.trend.ends.map(|(_, last)| last));
                /// Timed calls that took less than 128 ns.
                "< 128 ns" Count ns_0: u64 = $of.figures.histogram[0];
                /// Those of 128 ns to less than twice that.
                "≥ 128 ns" Count ns_128: u64 = $of.figures.histogram[1];
                /// Those of 256 ns to less than twice that.
                "≥ 256 ns" Count ns_256: u64 = $of.figures.histogram[2];
                /// Those of 512 ns to less than twice that.
                "≥ 512 ns" Count ns_512: u64 = $of.figures.histogram[3];
                /// Those of 1,024 ns to less than twice that.
                "≥ 1 µs" Count ns_1024: u64 = $of.figures.histogram[4];
                /// Those of 2,048 ns to less than twice that.
                "≥ 2 µs" Count ns_2048: u64 = $of.figures.histogram[5];
                /// Those of 4,096 ns to less than twice that.
                "≥ 4.1 µs" Count ns_4096: u64 = $of.figures.histogram[6];
                /// Those of 8,192 ns to less than twice that.
                "≥ 8.2 µs" Count ns_8192: u64 = $of.figures.histogram[7];
                /// Those of 16,384 ns to less than twice that.
                "≥ 16 µs" Count ns_16384: u64 = $of.figures.histogram[8];
                /// Those of 32,768 ns to less than twice that.
                "≥ 33 µs" Count ns_32768: u64 = $of.figures.histogram[9];
                /// Those of 65,536 ns to less than twice that.
                "≥ 66 µs" Count ns_65536: u64 = $of.figures.histogram[10];
                /// Those of 131,072 ns to less than twice that.
                "≥ 131 µs" Count ns_131072: u64 = $of.figures.histogram[11];
                /// Those of 262,144 ns to less than twice that.
                "≥ 262 µs" Count ns_262144: u64 = $of.figures.histogram[12];
                /// Those of 524,288 ns to less than twice that.
                "≥ 524 µs" Count ns_524288: u64 = $of.figures.histogram[13];
                /// Those of 1,048,576 ns to less than twice that.
                "≥ 1 ms" Count ns_1048576: u64 = $of.figures.histogram[14];
                /// Those of 2,097,152 ns to less than twice that.
                "≥ 2.1 ms" Count ns_2097152: u64 = $of.figures.histogram[15];
                /// Those of 4,194,304 ns to less than twice that.
                "≥ 4.2 ms" Count ns_4194304: u64 = $of.figures.histogram[16];
                /// Those of 8,388,608 ns to less than twice that.
                "≥ 8.4 ms" Count ns_8388608: u64 = $of.figures.histogram[17];
                /// Those of 16,777,216 ns to less than twice that.
                "≥ 17 ms" Count ns_16777216: u64 = $of.figures.histogram[18];
                /// Those of 33,554,432 ns to less than twice that.
                "≥ 34 ms" Count ns_33554432: u64 = $of.figures.histogram[19];
                /// Those of 67,108,864 ns to less than twice that.
                "≥ 67 ms" Count ns_67108864: u64 = $of.figures.histogram[20];
                /// Those of 134,217,728 ns to less than twice that.
                "≥ 134 ms" Count ns_134217728: u64 = $of.figures.histogram[21];
                /// Those of 268,435,456 ns to less than twice that.
                "≥ 268 ms" Count ns_268435456: u64 = $of.figures.histogram[22];
                /// Those of 536,870,912 ns to less than twice that.
                "≥ 537 ms" Count ns_536870912: u64 = $of.figures.histogram[23];
                /// Those of 1,073,741,824 ns to less than twice that.
                "≥ 1.1 s" Count ns_1073741824: u64 = $of.figures.histogram[24];
                /// Those of 2,147,483,648 ns to less than twice that.
                "≥ 2.1 s" Count ns_2147483648: u64 = $of.figures.histogram[25];
                /// Those of 4,294,967,296 ns to less than twice that.
                "≥ 4.3 s" Count ns_4294967296: u64 = $of.figures.histogram[26];
                /// Those of 8,589,934,592 ns to less than twice that.
                "≥ 8.6 s" Count ns_8589934592: u64 = $of.figures.histogram[27];
                /// Those of 17,179,869,184 ns and more.
                "≥ 17 s" Count ns_17179869184: u64 = $of.figures.histogram[28];
            }
        }
    };
}

latency_rows! {
    /// A row of the table `latencies`: one for every predicate that was called. Times are as
    /// recorded.
    pub struct LatencyRow<'t> of l: Latency<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = l.tables.name;
        /// Indicator of the predicate.
        "predicate" None predicate: &'t str = l.tables.trace.predicate_name(l.goal.callee);
    }
}

latency_rows! {
    /// A row of the table `site_latencies`: one for every goal that made a call, and one for the
    /// calls of each caller and callee that do not say which goal made them, as in `sites`. Times
    /// are as recorded.
    pub struct SiteLatencyRow<'t> of l: Latency<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = l.tables.name;
        /// Indicator of the predicate whose clause has the goal; of calls without a site, the
        /// predicate of the box that called, or `<root>`.
        "caller" None caller: &'t str = l.tables.caller(l.goal.caller);
        /// Number of the clause in its predicate, from 1. Empty: a call without a site.
        "clause" None clause: Option<u32> = l.info().map(|site| site.clause);
        /// Number of the goal in the clause, from 1.
        "goal" None goal: Option<u32> = l.info().map(|site| site.goal);
        /// Source file of the clause.
        "file" None file: Option<&'t str> = l.info().and_then(|site| l.tables.trace.file(site.file?));
        /// Line of the goal.
        "line" None line: Option<u32> = l.info().map(|site| site.line).filter(|&line| line != 0);
        /// Indicator of the callee.
        "callee" None callee: &'t str = l.tables.trace.predicate_name(l.goal.callee);
    }
}

impl<'t> Tables<'t> {
    /// The slowest call first; then by name. Reads the trace again, unless that was done.
    pub fn latencies(self) -> impl Iterator<Item = LatencyRow<'t>> {
        let predicates = self.calls().into_iter().flat_map(Calls::predicates);
        let of_all = |callee| Goal {
            callee,
            caller: Caller::Root,
            site: None,
        };
        let mut rows: Vec<_> = predicates
            .map(|(callee, figures)| LatencyRow::new(&self.latency(of_all(callee), figures)))
            .collect();
        rows.sort_by_key(|row| (Reverse(row.max_ns), row.predicate));
        rows.into_iter()
    }

    /// The slowest call first; then by caller, clause, goal and callee. Reads the trace again,
    /// unless that was done.
    pub fn site_latencies(self) -> impl Iterator<Item = SiteLatencyRow<'t>> {
        let goals = self.calls().into_iter().flat_map(Calls::goals);
        let mut rows: Vec<_> = goals
            .map(|(&goal, figures)| SiteLatencyRow::new(&self.latency(goal, figures)))
            .collect();
        rows.sort_by_key(|row| {
            let place = (row.caller, row.clause, row.goal, row.callee);
            (Reverse(row.max_ns), place)
        });
        rows.into_iter()
    }

    fn latency(self, goal: Goal, figures: &'t CallFigures) -> Latency<'t> {
        Latency {
            tables: self,
            goal,
            figures,
            trend: figures.trend(),
        }
    }
}

/// What rows of both tables are made of.
#[derive(Debug, Clone, Copy)]
pub struct Latency<'t> {
    tables: Tables<'t>,
    /// Of all calls of a predicate only the callee is told.
    goal: Goal,
    figures: &'t CallFigures,
    trend: Trend,
}

impl<'t> Latency<'t> {
    fn ns(&self, ticks: Option<u64>) -> Option<u64> {
        Some(self.tables.ns(ticks?))
    }

    fn info(&self) -> Option<&'t SiteInfo> {
        self.tables.trace.sites().get(self.goal.site? as usize)
    }
}
