//! Which boxes are wide enough to be seen, and where.

use super::tree::Tree;

/// A box, or several that are too small to be seen each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlacedBox {
    /// Which; `None` for the sum of small ones.
    pub(super) node: Option<u32>,
    /// How many boxes are above, from the one that is shown as all.
    pub(super) depth: usize,
    /// From this cell.
    pub(super) from: u16,
    /// To before this one.
    pub(super) to: u16,
}

/// The boxes below `root`, it included, that are at least a cell wide; by depth, then from left to right.
pub(super) fn place(tree: &Tree, root: u32, width: u16) -> Vec<PlacedBox> {
    let Some(whole) = tree.nodes.get(root as usize).map(|node| node.total) else {
        return Vec::new();
    };
    let mut placed = Vec::new();
    let mut level = vec![(root, 0_u64)];
    let mut depth = 0;
    // Cells are cut where the exact places are, so that boxes stay below theirs at any width.
    let cell = |place: u64| {
        let exact = u128::from(place) * u128::from(width) / u128::from(whole.max(1));
        u16::try_from(exact).unwrap_or(u16::MAX)
    };
    if whole > 0 && width > 0 {
        placed.push(PlacedBox {
            node: Some(root),
            depth,
            from: 0,
            to: width,
        });
    }
    while !level.is_empty() && whole > 0 {
        depth += 1;
        let mut next = Vec::new();
        for (node, begin) in level {
            let end = begin.saturating_add(tree.nodes[node as usize].total);
            let mut at = begin;
            let mut rest = None;
            for &below in tree.below(node) {
                let total = tree.nodes[below as usize].total;
                let until = at.saturating_add(total).min(end);
                let (from, to) = (cell(at), cell(until));
                // The largest come first: those after one that is less than half a cell are dust.
                if u128::from(total) * u128::from(width) * 2 < u128::from(whole) {
                    rest = Some(at);
                    break;
                }
                if to > from {
                    placed.push(PlacedBox {
                        node: Some(below),
                        depth,
                        from,
                        to,
                    });
                    next.push((below, at));
                }
                at = until;
            }
            if let Some(begin) = rest {
                let own = tree.nodes[node as usize].own;
                let (from, to) = (cell(begin), cell(end.saturating_sub(own)));
                if to > from {
                    placed.push(PlacedBox {
                        node: None,
                        depth,
                        from,
                        to,
                    });
                }
            }
        }
        level = next;
    }
    placed
}
