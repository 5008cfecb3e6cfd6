//! The table `cycles`: which predicates call each other in turn.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::Tables;
use super::row::{Row, rows};
use crate::figures::Caller;
use crate::figures::profile::Profile;
use crate::trace::PredicateIndex;

rows! {
    /// A row of the table `cycles`: one for every predicate that calls itself through others.
    pub struct CycleRow<'t> of c: InCycle<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = c.tables.name;
        /// Number of the cycle, from 1: all predicates with this number call each other, directly
        /// or through each other. Mercury's deep profiler calls that a clique.
        "cycle" None cycle: u64 = c.cycle;
        /// Indicator.
        "predicate" None predicate: &'t str = c.tables.trace.predicate_name(c.predicate);
    }
}

impl<'t> Tables<'t> {
    /// By cycle, in the order of its first predicate in the trace; then in the order of the trace.
    pub fn cycles(self) -> impl Iterator<Item = CycleRow<'t>> {
        let numbered = (1..).zip(cycles(self.profile, self.trace.unknown_predicate()));
        numbered.flat_map(move |(cycle, predicates)| {
            predicates.into_iter().map(move |predicate| {
                CycleRow::new(&InCycle {
                    tables: self,
                    cycle,
                    predicate,
                })
            })
        })
    }
}

/// What a row of the table is made of.
#[derive(Debug, Clone, Copy)]
pub struct InCycle<'t> {
    tables: Tables<'t>,
    cycle: u64,
    predicate: PredicateIndex,
}

/// The strongly connected components of the call graph that have more than one predicate.
///
/// What stands for all unknown predicates is left out: that one of them calls and another is called
/// is no cycle. Kosaraju's algorithm because petgraph's other one recurses on the machine stack.
fn cycles(profile: &Profile, unknown: PredicateIndex) -> Vec<Vec<PredicateIndex>> {
    let calls = profile.edges.keys().filter_map(|&pair| match pair {
        (Caller::Predicate(caller), callee) => Some((caller, callee)),
        (Caller::Root, _) => None,
    });
    let graph: DiGraph<(), ()> =
        DiGraph::from_edges(calls.filter(|&(a, b)| a != unknown && b != unknown));
    let mut cycles: Vec<Vec<PredicateIndex>> = kosaraju_scc(&graph)
        .into_iter()
        .filter(|component| component.len() > 1)
        .map(in_order)
        .collect();
    cycles.sort_unstable();
    cycles
}

fn in_order(component: Vec<NodeIndex>) -> Vec<PredicateIndex> {
    let mut predicates: Vec<_> = component
        .into_iter()
        .map(|node| node.index() as PredicateIndex)
        .collect();
    predicates.sort_unstable();
    predicates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::EdgeFigures;

    fn calls(pairs: &[(PredicateIndex, PredicateIndex)]) -> Profile {
        let mut profile = Profile::default();
        for &(caller, callee) in pairs {
            let pair = (Caller::Predicate(caller), callee);
            profile.edges.insert(pair, EdgeFigures::default());
        }
        let from_root = (Caller::Root, 0);
        profile.edges.insert(from_root, EdgeFigures::default());
        profile
    }

    #[test]
    fn recursion_through_others_is_a_cycle() {
        let graph = [
            (0, 1),
            (1, 1),
            (5, 3),
            (3, 4),
            (4, 5),
            (4, 2),
            (2, 0),
            (7, 6),
            (6, 7),
            (0, 5),
        ];
        assert_eq!(
            cycles(&calls(&graph), 9),
            [vec![0, 2, 3, 4, 5], vec![6, 7]],
            "0 calls 5, 5 calls 3, that calls 4, that calls 2, that calls 0"
        );
        assert_eq!(cycles(&calls(&[(0, 0), (0, 1)]), 9), [] as [Vec<u32>; 0]);
        assert_eq!(cycles(&Profile::default(), 0), [] as [Vec<u32>; 0]);
    }

    #[test]
    fn what_is_not_known_is_in_no_cycle() {
        let graph = [(0, 2), (2, 1), (1, 0), (0, 1)];
        assert_eq!(cycles(&calls(&graph), 2), [[0, 1]]);
    }

    #[test]
    fn a_long_cycle_needs_no_stack() {
        let around: Vec<_> = (0..300_000).map(|p| (p, (p + 1) % 300_000)).collect();
        let found = cycles(&calls(&around), u32::MAX);
        assert_eq!((found.len(), found[0].len()), (1, 300_000));
    }
}
