//! The table `slowest`: the slowest calls of each predicate.

use std::cmp::Reverse;

use super::Tables;
use super::row::{Row, rows};
use crate::calls::Calls;
use crate::calls::figures::SlowCall;
use crate::trace::{PredicateIndex, SiteInfo};

rows! {
    /// A row of the table `slowest`: the ten slowest calls of every predicate.
    pub struct SlowestRow<'t> of s: Slow<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = s.tables.name;
        /// Indicator of the predicate.
        "predicate" None predicate: &'t str = s.tables.trace.predicate_name(s.predicate);
        /// 1 for its slowest call; of equal ones the first in the trace comes first.
        "rank" None rank: u64 = s.rank;
        /// Number of the stream.
        "stream" None stream: u32 = s.call.stream;
        /// Number of the call in its stream: `seq` of the table `events`.
        "event" None event: u64 = s.call.event;
        /// When it was called, in ns since the beginning of the trace.
        "at" Clock at_ns: u64 = s.tables.trace.clock().since_start_ns(s.call.tick);
        /// Time of the call, in ns: up to the exit, failure or exception that follows.
        "took" Time ns: u64 = s.tables.ns(s.call.ticks);
        /// Indicator of the predicate whose clause has the goal that called; of a call without a
        /// site, the predicate of the box that called, or `<root>`.
        "caller" None caller: &'t str = s.tables.caller(s.call.caller);
        /// Number of the clause in its predicate, from 1. Empty: a call without a site.
        "clause" None clause: Option<u32> = s.info().map(|site| site.clause);
        /// Number of the goal in the clause, from 1.
        "goal" None goal: Option<u32> = s.info().map(|site| site.goal);
        /// Line of the goal.
        "line" None line: Option<u32> = s.info().map(|site| site.line).filter(|&line| line != 0);
    }
}

impl<'t> Tables<'t> {
    /// The predicate with the slowest call first, then by name and rank. Reads the trace again,
    /// unless that was done.
    pub fn slowest(self) -> impl Iterator<Item = SlowestRow<'t>> {
        let predicates = self.calls().into_iter().flat_map(Calls::predicates);
        let mut predicates: Vec<_> = predicates.collect();
        predicates.sort_by_key(|&(predicate, figures)| {
            let name = self.trace.predicate_name(predicate);
            (Reverse(figures.max_ticks()), name, predicate)
        });
        predicates
            .into_iter()
            .flat_map(move |(predicate, figures)| {
                let calls = (1..).zip(&figures.slowest);
                calls.map(move |(rank, &call)| {
                    SlowestRow::new(&Slow {
                        tables: self,
                        predicate,
                        rank,
                        call,
                    })
                })
            })
    }
}

impl<'t> Tables<'t> {
    /// The slowest calls of a predicate, the slowest first: what rows are made of. Reads the trace
    /// again, unless that was done.
    #[must_use]
    pub fn slowest_of(self, predicate: PredicateIndex) -> Vec<Slow<'t>> {
        let figures = self.calls().and_then(|calls| calls.predicate(predicate));
        let calls = figures.map_or(&[][..], |figures| &figures.slowest);
        (1..)
            .zip(calls)
            .map(|(rank, &call)| Slow {
                tables: self,
                predicate,
                rank,
                call,
            })
            .collect()
    }
}

/// What a row of the table is made of.
#[derive(Debug, Clone, Copy)]
pub struct Slow<'t> {
    tables: Tables<'t>,
    predicate: PredicateIndex,
    rank: u64,
    /// The call.
    pub call: SlowCall,
}

impl<'t> Slow<'t> {
    fn info(&self) -> Option<&'t SiteInfo> {
        self.tables.trace.sites().get(self.call.site? as usize)
    }
}
