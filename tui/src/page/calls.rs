//! The call graph around each predicate of the table: who calls it, and what it calls.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use portmortem_analyzer::Analysis;
use portmortem_analyzer::figures::Caller;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::tables::{Edge, EdgeRow, Row};
use portmortem_analyzer::trace::PredicateIndex;
use serde::Serialize;

use super::names::PageNames;

/// More callers or callees than these are summed up.
const MOST_NEIGHBOURS: usize = 12;

/// By row of the table.
#[derive(Debug, Serialize)]
pub(super) struct PageCalls(Vec<Around>);

/// What is around a predicate.
#[derive(Debug, Default, Serialize)]
struct Around {
    /// Times are those served for the caller; they add up to the inclusive time.
    callers: PageNeighbours,
    /// Times are those spent in the callee; with self time they add up to the inclusive time.
    callees: PageNeighbours,
    /// Calls of itself.
    recursive: Option<Neighbour>,
}

#[derive(Debug, Default, Serialize)]
struct PageNeighbours {
    /// The one with the most time first.
    shown: Vec<Neighbour>,
    /// How many others there are, and their sum.
    others: Option<(usize, Neighbour)>,
}

/// A caller or callee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Neighbour {
    ns: u64,
    calls: u64,
    exits: u64,
    redos: u64,
    fails: u64,
    /// `None`: no recorded box called.
    id: Option<usize>,
}

impl PageCalls {
    /// Of the first `rows` predicates that have a number.
    pub(super) fn of(analysis: &Analysis, rows: usize, names: &mut PageNames) -> Self {
        let mut callers = BTreeMap::<usize, Vec<_>>::new();
        let mut callees = BTreeMap::<usize, Vec<_>>::new();
        let row_of =
            |names: &PageNames, of: PredicateIndex| names.known(of).filter(|&id| id < rows);
        for &(caller, callee) in analysis.profile.edges.keys() {
            if let Some(row) = row_of(names, callee) {
                callers.entry(row).or_default().push((caller, callee));
            }
            if let Caller::Predicate(by) = caller
                && by != callee
                && let Some(row) = row_of(names, by)
            {
                callees.entry(row).or_default().push((caller, callee));
            }
        }
        let edges = PageEdges { analysis };
        let mut around: Vec<Around> = Vec::new();
        around.resize_with(rows, Around::default);
        for (row, pairs) in callers {
            let (own, others): (Vec<_>, Vec<_>) = pairs
                .into_iter()
                .partition(|&(caller, callee)| caller == Caller::Predicate(callee));
            let own = own.first().map(|&pair| edges.served(pair));
            around[row].recursive = own;
            let others = others.into_iter().map(|pair| (pair.0, edges.served(pair)));
            around[row].callers = PageNeighbours::of(others, names);
        }
        for (row, pairs) in callees {
            let callee = |pair: (Caller, PredicateIndex)| {
                let spent = edges.spent(pair);
                let shows = Counted::Work.shows(&analysis.trace, pair.1, spent.ns);
                shows.then_some((Caller::Predicate(pair.1), spent))
            };
            let others = pairs.into_iter().filter_map(callee);
            around[row].callees = PageNeighbours::of(others, names);
        }
        Self(around)
    }
}

/// The edges of a trace, of work and net where that is measured.
#[derive(Debug, Clone, Copy)]
struct PageEdges<'a> {
    analysis: &'a Analysis,
}

impl PageEdges<'_> {
    fn served(self, pair: (Caller, PredicateIndex)) -> Neighbour {
        self.neighbour(pair, |row| (row.served_ns, row.served_comp_ns))
    }

    fn spent(self, pair: (Caller, PredicateIndex)) -> Neighbour {
        self.neighbour(pair, |row| (row.spent_ns, row.spent_comp_ns))
    }

    fn neighbour(
        self,
        pair: (Caller, PredicateIndex),
        times: fn(&EdgeRow) -> (u64, Option<u64>),
    ) -> Neighbour {
        let figures = self.analysis.profile.edges.get(&pair);
        let tables = self.analysis.tables_of(Counted::Work);
        let edge: Edge = tables.edge(pair, figures.copied().unwrap_or_default());
        let row = EdgeRow::new(&edge);
        let (recorded, net) = times(&row);
        let net = net.filter(|_| self.analysis.net_is_measured());
        Neighbour {
            ns: net.unwrap_or(recorded),
            calls: row.calls,
            exits: row.exits,
            redos: row.redos,
            fails: row.fails,
            id: None,
        }
    }
}

impl PageNeighbours {
    fn of(all: impl Iterator<Item = (Caller, Neighbour)>, names: &mut PageNames) -> Self {
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|(of, neighbour)| (Reverse((neighbour.ns, neighbour.calls)), *of));
        let rest = match all.len() > MOST_NEIGHBOURS {
            true => all.split_off(MOST_NEIGHBOURS - 1),
            false => Vec::new(),
        };
        let named = all.into_iter().map(|(of, neighbour)| Neighbour {
            id: match of {
                Caller::Root => None,
                Caller::Predicate(of) => Some(names.id(of)),
            },
            ..neighbour
        });
        let shown = named.collect();
        let many = rest.len();
        let others = rest.into_iter().map(|(_, neighbour)| neighbour);
        Self {
            shown,
            others: others.reduce(Neighbour::and).map(|sum| (many, sum)),
        }
    }
}

impl Neighbour {
    fn and(self, more: Self) -> Self {
        Self {
            ns: self.ns.saturating_add(more.ns),
            calls: self.calls.saturating_add(more.calls),
            exits: self.exits.saturating_add(more.exits),
            redos: self.redos.saturating_add(more.redos),
            fails: self.fails.saturating_add(more.fails),
            id: None,
        }
    }
}
