//! The call tree: figures by calling context.
//!
//! A *context* is the list of the distinct predicates on the active chain, in the order in which
//! the first box of each came onto it. So recursion is folded, mutual recursion too, and the tree
//! is no deeper than there are predicates; and yet it is exact: time in a context is time while its
//! predicate is on the chain, so the inclusive times of the contexts of a predicate sum to the
//! inclusive time of the predicate, to the tick.
//!
//! Boxes of a predicate that was on the chain already have a row of their own, a leaf below the
//! context that they run in: the *recursive* rows. Example: `main` calls `p`, that calls `q`, that
//! calls `p`, that calls `r`. Rows: `main`; `main p`; `main p q`; the recursive `p` below `main p
//! q`, with its calls and its own time; and `main p q r`, to whose caller the recursive row
//! belongs.

use bincode::{Decode, Encode};
use rustc_hash::FxHashMap;

use crate::figures::totals::has_totals;
use crate::figures::{Port, PortCounts, PortTotals, add_ports, take_ports};
use crate::trace::BoxKind;
use crate::trace::PredicateIndex;

/// What hidden boxes did: no more than is needed to know what recording them took of the time that
/// is now their callers'.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct HiddenFigures {
    /// Port events, a part of whose cost falls into the time of the hidden boxes.
    pub inside: PortCounts,
    /// Port events, a part of whose cost falls into the time of whoever called them.
    pub outside: PortCounts,
    /// Arguments of the predicates called.
    pub arguments: u64,
    /// Ticks of hidden garbage collections and stack shifts.
    pub engine_ticks: u64,
    /// Ticks of hidden waiting.
    pub waiting_ticks: u64,
    /// Ticks of hidden set-up.
    pub set_up_ticks: u64,
}

impl HiddenFigures {
    /// Adds the figures of another part of the run.
    pub fn add(&mut self, other: &Self) {
        add_ports(&mut self.inside, &other.inside);
        add_ports(&mut self.outside, &other.outside);
        self.arguments = self.arguments.saturating_add(other.arguments);
        self.engine_ticks = self.engine_ticks.saturating_add(other.engine_ticks);
        self.waiting_ticks = self.waiting_ticks.saturating_add(other.waiting_ticks);
        self.set_up_ticks = self.set_up_ticks.saturating_add(other.set_up_ticks);
    }

    /// An event of a hidden box, without what of it falls into the time of whoever called that.
    pub(crate) fn count_inside(&mut self, port: Port, kind: BoxKind) {
        // The engine's own work is not slowed down inside: its time has a share of its own. And a
        // box is cut from outside only.
        let BoxKind::Call { arity } = kind else {
            return;
        };
        if port != Port::Cut {
            self.inside[port as usize] += 1;
        }
        if matches!(port, Port::Call | Port::Tail) {
            self.arguments += u64::from(arity);
        }
    }

    /// Takes away the counts of a part of the run.
    pub(crate) fn take(&mut self, other: &Self) {
        take_ports(&mut self.inside, &other.inside);
        take_ports(&mut self.outside, &other.outside);
        self.arguments = self.arguments.saturating_sub(other.arguments);
    }
}

/// A row of the call tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct ContextFigures {
    /// The row above, an index into [`crate::Profile::contexts`]; `None` for boxes without traced
    /// ancestor.
    pub parent: Option<u32>,
    /// Whose boxes it counts.
    pub predicate: PredicateIndex,
    /// Rows above.
    pub depth: u32,
    /// A box of the predicate was on the chain already.
    pub recursive: bool,
    /// How often the boxes passed each port.
    pub ports: PortTotals,
    /// Port events as they were recorded, one for each physical box: where boxes counted here are
    /// entered or left, so that a part of the event's cost falls into their time.
    pub inside: PortCounts,
    /// The same where such boxes call others, get control back from them, or discard them.
    pub outside: PortCounts,
    /// What hidden boxes did whose work is that of boxes counted here.
    pub hidden: HiddenFigures,
    /// Ticks while a box counted here was the active one.
    pub self_ticks: u64,
    /// `self_ticks` and those of all rows below.
    pub inclusive_ticks: u64,
    /// Ticks thrown away by redos into boxes counted here (as in
    /// [`crate::figures::PredicateFigures::undone_ticks`]).
    pub undone_ticks: u64,
}

has_totals!(ContextFigures);

impl ContextFigures {
    /// Adds the figures of another part of the run, all but the inclusive time, which is a sum over
    /// the tree.
    pub fn add(&mut self, other: &Self) {
        self.ports.add(&other.ports);
        for (sum, part) in [
            (&mut self.self_ticks, other.self_ticks),
            (&mut self.undone_ticks, other.undone_ticks),
        ] {
            *sum = sum.saturating_add(part);
        }
        add_ports(&mut self.inside, &other.inside);
        add_ports(&mut self.outside, &other.outside);
        self.hidden.add(&other.hidden);
    }

    /// Takes away the counts of a part of the run.
    fn take(&mut self, other: &Self) {
        self.ports.take(&other.ports);
        take_ports(&mut self.inside, &other.inside);
        take_ports(&mut self.outside, &other.outside);
        self.hidden.take(&other.hidden);
    }

    pub(crate) fn is_used(&self) -> bool {
        let figures = Self {
            parent: None,
            predicate: 0,
            depth: 0,
            recursive: false,
            inclusive_ticks: 0,
            ..*self
        };
        figures != Self::default()
    }
}

/// A row of a [`ContextTree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// No row: no box is active. What is booked here is lost.
    pub const ROOT: Self = Self(0);
}

/// The call tree while it grows.
///
/// The order in which rows come and figures are booked leaves no trace in the result.
#[derive(Debug)]
pub struct ContextTree {
    /// Each after the one above it; the first is that of [`NodeId::ROOT`]. Parents are ids.
    nodes: Vec<ContextFigures>,
    ids: FxHashMap<(NodeId, PredicateIndex, bool), NodeId>,
}

impl Default for ContextTree {
    fn default() -> Self {
        Self {
            nodes: vec![ContextFigures::default()],
            ids: FxHashMap::default(),
        }
    }
}

impl ContextTree {
    /// The row of the boxes of `predicate` that a box of the row `caller` calls. `recursive`: there
    /// is a box of the predicate on the chain already.
    #[inline]
    pub fn row(&mut self, caller: NodeId, predicate: PredicateIndex, recursive: bool) -> NodeId {
        let parent = self.context(caller);
        let next = NodeId(self.nodes.len() as u32);
        let id = *self
            .ids
            .entry((parent, predicate, recursive))
            .or_insert(next);
        if id == next {
            self.nodes.push(ContextFigures {
                parent: Some(parent.0),
                predicate,
                recursive,
                ..ContextFigures::default()
            });
        }
        id
    }

    /// The row of the context that boxes of a row call from: it itself, or the one above if it is
    /// recursive.
    #[inline]
    #[must_use]
    pub fn context(&self, id: NodeId) -> NodeId {
        if self.nodes[id.0 as usize].recursive {
            self.parent(id)
        } else {
            id
        }
    }

    /// The row above.
    #[inline]
    #[must_use]
    pub fn parent(&self, id: NodeId) -> NodeId {
        self.nodes[id.0 as usize]
            .parent
            .map_or(NodeId::ROOT, NodeId)
    }

    /// The figures of a row, to be added to. Inclusive times are made at the end.
    #[inline]
    pub fn figures_mut(&mut self, id: NodeId) -> &mut ContextFigures {
        &mut self.nodes[id.0 as usize]
    }

    /// Adds rows that [`Self::into_rows`] made.
    pub fn merge(&mut self, rows: &[ContextFigures]) {
        self.each(rows, ContextFigures::add);
    }

    /// Takes away the counts of rows that [`Self::into_rows`] made.
    pub fn take(&mut self, rows: &[ContextFigures]) {
        self.each(rows, ContextFigures::take);
    }

    fn each(&mut self, rows: &[ContextFigures], change: fn(&mut ContextFigures, &ContextFigures)) {
        let mut ids: Vec<NodeId> = Vec::with_capacity(rows.len());
        for row in rows {
            let parent = row.parent.and_then(|at| ids.get(at as usize).copied());
            let parent = parent.unwrap_or(NodeId::ROOT);
            let id = self.row(parent, row.predicate, row.recursive);
            change(self.figures_mut(id), row);
            ids.push(id);
        }
    }

    /// The rows that have figures, and those above them, in the order of
    /// [`crate::Profile::contexts`].
    #[must_use]
    pub fn into_rows(mut self) -> Vec<ContextFigures> {
        let (first_below, next) = self.links();
        let mut rows: Vec<ContextFigures> = Vec::new();
        // Where each node is among the rows, once it is.
        let mut places: Vec<Option<u32>> = vec![None; self.nodes.len()];
        let mut stack = vec![first_below[0]];
        while let Some(at) = stack.pop() {
            // Below and beside a node there may be none.
            if at == 0 {
                continue;
            }
            let node = &self.nodes[at];
            let parent = places[self.parent(NodeId(at as u32)).0 as usize];
            places[at] = Some(rows.len() as u32);
            let depth = parent.map_or(0, |parent| rows[parent as usize].depth + 1);
            rows.push(ContextFigures {
                parent,
                depth,
                ..*node
            });
            stack.extend([next[at], first_below[at]]);
        }
        rows
    }

    /// By node: the first one to show below it, and the next one below the same; 0 for none.
    fn links(&mut self) -> (Vec<usize>, Vec<usize>) {
        let used = self.sum_up();
        let mut order: Vec<usize> = (1..self.nodes.len()).filter(|&at| used[at]).collect();
        order.sort_unstable_by_key(|&at| (self.nodes[at].predicate, !self.nodes[at].recursive));
        let mut first_below = vec![0; self.nodes.len()];
        let mut next = first_below.clone();
        for at in order.into_iter().rev() {
            let parent = self.parent(NodeId(at as u32)).0 as usize;
            next[at] = first_below[parent];
            first_below[parent] = at;
        }
        (first_below, next)
    }

    /// Makes the inclusive times. By node: whether it or one below it has figures.
    fn sum_up(&mut self) -> Vec<bool> {
        for node in &mut self.nodes {
            node.inclusive_ticks = node.self_ticks;
        }
        let mut used: Vec<bool> = self.nodes.iter().map(ContextFigures::is_used).collect();
        for at in (1..self.nodes.len()).rev() {
            let parent = self.parent(NodeId(at as u32)).0 as usize;
            let ticks = self.nodes[at].inclusive_ticks;
            let sum = &mut self.nodes[parent].inclusive_ticks;
            *sum = sum.saturating_add(ticks);
            used[parent] |= used[at];
        }
        used
    }
}

/// `from`, and what is above it in a tree, the nearest first.
///
/// What is above has a lower number, as in all trees of contexts. A parent that has not is none: so
/// the way ends, whatever `parent` says.
pub fn way_up<T: Copy + PartialOrd>(
    from: Option<T>,
    parent: impl Fn(T) -> Option<T>,
) -> impl Iterator<Item = T> {
    std::iter::successors(from, move |&at| parent(at).filter(|&above| above < at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_up_ends() {
        let parents = [Some(0), Some(0), Some(3), Some(2), None, Some(9)];
        let way = |from| way_up(Some(from), |at| parents[at]).collect::<Vec<_>>();
        assert_eq!(way(1), [1, 0]);
        assert_eq!(way(2), [2]);
        assert_eq!(way(3), [3, 2]);
        assert_eq!(way(4), [4]);
        assert_eq!(way(5), [5]);
        assert_eq!(way_up(None, |at: u32| Some(at)).count(), 0);
    }

    /// Calls and ticks in the contexts of these lists of callees, each called by the one before.
    fn tree(paths: &[(&[PredicateIndex], u64)]) -> ContextTree {
        let mut tree = ContextTree::default();
        for &(path, ticks) in paths {
            let mut id = NodeId::ROOT;
            for (at, predicate) in path.iter().enumerate() {
                id = tree.row(id, *predicate, path[..at].contains(predicate));
            }
            let figures = tree.figures_mut(id);
            figures.calls += 1;
            figures.self_ticks += ticks;
        }
        tree
    }

    /// Depth, predicate, recursive, self and inclusive time.
    fn shown(rows: &[ContextFigures]) -> Vec<(u32, PredicateIndex, bool, u64, u64)> {
        rows.iter()
            .map(|r| {
                (
                    r.depth,
                    r.predicate,
                    r.recursive,
                    r.self_ticks,
                    r.inclusive_ticks,
                )
            })
            .collect()
    }

    #[test]
    fn rows_are_in_order_and_summed_up() {
        let rows = tree(&[
            (&[1, 0, 1, 2], 1),
            (&[0], 2),
            (&[1, 2], 4),
            (&[1, 0], 8),
            (&[1, 0, 1], 16),
            (&[1, 1], 32),
        ])
        .into_rows();
        assert_eq!(
            shown(&rows),
            [
                (0, 0, false, 2, 2),
                (0, 1, false, 0, 61),
                (1, 0, false, 8, 25),
                (2, 1, true, 16, 16),
                (2, 2, false, 1, 1),
                (1, 1, true, 32, 32),
                (1, 2, false, 4, 4),
            ]
        );
        assert_eq!(
            rows.iter().map(|row| row.parent).collect::<Vec<_>>(),
            [None, None, Some(1), Some(2), Some(2), Some(1), Some(1)]
        );
    }

    #[test]
    fn rows_without_figures_are_left_out() {
        let mut tree = tree(&[(&[0, 1], 0)]);
        let empty = tree.row(NodeId::ROOT, 7, false);
        tree.row(empty, 8, false);
        let rows = tree.into_rows();
        assert_eq!(shown(&rows), [(0, 0, false, 0, 0), (1, 1, false, 0, 0)]);
        assert_eq!((rows[0].calls, rows[1].calls), (0, 1));
        assert_eq!(ContextTree::default().into_rows(), []);
    }

    #[test]
    fn the_order_of_merging_does_not_matter() {
        let a = tree(&[(&[2], 1), (&[2, 1, 2], 2), (&[0, 1], 4)]).into_rows();
        let b = tree(&[(&[0], 8), (&[2, 1], 16), (&[2, 1, 2], 32)]).into_rows();
        let merged = |parts: [&[ContextFigures]; 2]| {
            let mut tree = ContextTree::default();
            parts.into_iter().for_each(|part| tree.merge(part));
            tree.into_rows()
        };
        assert_eq!(merged([&a, &b]), merged([&b, &a]));
        assert_eq!(merged([&a, &[]]), a);
        assert_eq!(merged([&a, &b])[0].inclusive_ticks, 12);
    }
}
