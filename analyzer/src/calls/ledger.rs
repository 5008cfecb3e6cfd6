//! Where calls are booked: a row for each predicate, and one for each goal.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::behaviour::Behaviour;
use super::figures::{Bins, CallFigures, SlowCall};
use super::{Calls, Goal};
use crate::figures::Caller;
use crate::scope::Scope;
use crate::trace::{PredicateIndex, SiteIndex};

/// Place of a row: those of predicates by their index, the unknown one included, then those of
/// sites, then those of calls without.
pub(super) type RowId = u32;

/// The rows of some streams.
#[derive(Debug)]
pub(crate) struct CallLedger<'s> {
    pub(super) scope: &'s Scope,
    bins: &'s Bins,
    /// By site: the predicate whose clause it is in.
    callers: &'s [PredicateIndex],
    unknown: PredicateIndex,
    rows: Vec<CallRow>,
    /// The rows of calls without a site.
    without: FxHashMap<(Caller, PredicateIndex), RowId>,
}

/// The rows of a stream between two parts of it.
#[derive(Debug, Default)]
pub(crate) struct BooksAtRest {
    /// Those of predicates, the unknown one included; of sites; and of calls without.
    predicates: Vec<CallRow>,
    sites: Vec<CallRow>,
    others: Vec<CallRow>,
    without: Vec<(Caller, PredicateIndex)>,
}

impl BooksAtRest {
    /// The slowest call of each predicate.
    pub(super) fn slowest(&self) -> impl Iterator<Item = (PredicateIndex, SlowCall)> {
        let rows = (0..).zip(&self.predicates);
        rows.filter_map(|(of, row)| Some((of, *row.figures.slowest.first()?)))
    }
}

#[derive(Debug, Default)]
struct CallRow {
    figures: CallFigures,
    /// Outermost calls so far in the stream.
    ordinals: u64,
}

/// A call that has begun.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    pub(super) event: u64,
    pub(super) tick: u64,
    /// What called, if the call names no site.
    pub(super) caller: Caller,
    /// Ordinals in the rows of the predicate and the goal, if it is an outermost one.
    pub(super) ordinals: Option<[u64; 2]>,
}

/// The time of a call that has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallTime {
    pub(super) stream: u32,
    pub(super) ticks: u64,
    /// Less what the engine took for itself, and waiting.
    pub(super) own: u64,
}

impl<'s> CallLedger<'s> {
    /// `unknown` comes after all predicates.
    pub(crate) fn new(
        scope: &'s Scope,
        bins: &'s Bins,
        callers: &'s [PredicateIndex],
        unknown: PredicateIndex,
    ) -> Self {
        let rows = unknown as usize + 1 + callers.len();
        Self {
            scope,
            bins,
            callers,
            unknown,
            rows: std::iter::repeat_with(CallRow::default)
                .take(rows)
                .collect(),
            without: FxHashMap::default(),
        }
    }

    /// The same, with rows of before: more predicates and sites may have been declared since. No
    /// row is of the unknown predicate.
    pub(super) fn of_before(mut self, rest: BooksAtRest) -> Self {
        let first_site = self.first_site() as usize;
        for (row, of) in self.rows.iter_mut().zip(rest.predicates) {
            *row = of;
        }
        for (row, of) in self.rows[first_site..].iter_mut().zip(rest.sites) {
            *row = of;
        }
        let next = self.rows.len() as RowId;
        self.without = rest.without.into_iter().zip(next..).collect();
        self.rows.extend(rest.others);
        self
    }

    pub(super) fn at_rest(self) -> BooksAtRest {
        let sites = self.callers.len();
        let mut rows = self.rows.into_iter();
        let mut without: Vec<_> = self.without.into_iter().collect();
        without.sort_unstable_by_key(|&(_, row)| row);
        let predicates = rows.by_ref().take(self.unknown as usize).collect();
        // That of the unknown predicate, which has no calls.
        rows.next();
        BooksAtRest {
            predicates,
            sites: rows.by_ref().take(sites).collect(),
            others: rows.collect(),
            without: without.into_iter().map(|(of, _)| of).collect(),
        }
    }

    pub(super) fn unknown(&self) -> PredicateIndex {
        self.unknown
    }

    /// Ordinals begin anew.
    pub(super) fn begin_stream(&mut self) {
        self.rows.iter_mut().for_each(|row| row.ordinals = 0);
    }

    /// The row of the calls of a predicate from a site, or else by a caller.
    pub(super) fn goal(
        &mut self,
        predicate: PredicateIndex,
        site: Option<SiteIndex>,
        caller: Caller,
    ) -> RowId {
        if let Some(site) = site {
            return self.first_site() + site;
        }
        let next = self.rows.len() as RowId;
        let row = *self.without.entry((caller, predicate)).or_insert(next);
        if row == next {
            self.rows.push(CallRow::default());
        }
        row
    }

    fn first_site(&self) -> RowId {
        self.unknown + 1
    }

    /// Counts something in the rows of a predicate and a goal.
    pub(super) fn count(&mut self, rows: [RowId; 2], count: impl Fn(&mut CallFigures)) {
        for row in rows {
            count(&mut self.rows[row as usize].figures);
        }
    }

    /// The next ordinals of a predicate and a goal.
    pub(super) fn next_ordinals(&mut self, rows: [RowId; 2]) -> [u64; 2] {
        rows.map(|row| {
            let ordinals = &mut self.rows[row as usize].ordinals;
            *ordinals += 1;
            *ordinals - 1
        })
    }

    /// Books a call that has ended.
    pub(super) fn end(&mut self, rows: [RowId; 2], begun: &Begun, took: CallTime) {
        let site = rows[1].checked_sub(self.first_site());
        let site = site.filter(|&site| (site as usize) < self.callers.len());
        let caller = site.map_or(begun.caller, |site| {
            Caller::Predicate(self.callers[site as usize])
        });
        let call = SlowCall {
            ticks: took.ticks,
            stream: took.stream,
            event: begun.event,
            tick: begun.tick,
            caller,
            site,
        };
        for (at, row) in rows.into_iter().enumerate() {
            let figures = &mut self.rows[row as usize].figures;
            figures.time(call, self.bins);
            if let Some(ordinals) = begun.ordinals {
                figures.growth.add(ordinals[at], took.own);
            }
        }
    }

    pub(crate) fn into_calls(self) -> Calls {
        let is_used = |row: &CallRow| row.figures != CallFigures::default();
        let first_site = self.first_site() as usize;
        let called = &self.scope.called;
        let mut goals = BTreeMap::new();
        let mut rows = self.rows.into_iter();
        let predicates = rows.by_ref().take(self.unknown as usize + 1);
        let predicates = predicates.map(|row| row.figures).collect();
        for ((site, &caller), row) in (0..).zip(self.callers).zip(rows.by_ref()) {
            if is_used(&row) {
                let goal = Goal {
                    callee: called[first_site + site as usize].predicate,
                    caller: Caller::Predicate(caller),
                    site: Some(site),
                };
                goals.insert(goal, row.figures);
            }
        }
        let mut without: Vec<_> = self.without.into_iter().collect();
        without.sort_unstable_by_key(|&(_, row)| row);
        for (((caller, callee), _), row) in without.into_iter().zip(rows) {
            if is_used(&row) {
                let goal = Goal {
                    callee,
                    caller,
                    site: None,
                };
                goals.insert(goal, row.figures);
            }
        }
        Calls {
            predicates,
            goals,
            behaviour: Behaviour::default(),
            tables: BTreeMap::new(),
        }
    }
}
