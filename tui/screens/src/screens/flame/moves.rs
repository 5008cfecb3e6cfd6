//! Where the cursor goes, and which box is shown as all.

use portmortem_analyzer::trace::PredicateIndex;

use super::layout::Placed;
use super::{Effect, Flame};

impl Flame {
    pub(super) fn select_largest(&mut self, predicate: PredicateIndex) {
        let nodes = (0..).zip(&self.tree.nodes);
        let of = nodes.filter(|(_, node)| node.predicate == Some(predicate));
        let largest = of.max_by_key(|(at, node)| (node.total, u32::MAX - at));
        if let Some((at, _)) = largest {
            self.selected = at;
        }
        // What cannot be seen cannot be selected.
        let placed = self.placed();
        while !placed.iter().any(|place| place.node == Some(self.selected))
            && self.selected != self.root
        {
            self.selected = self.tree.nodes[self.selected as usize].parent;
        }
    }

    pub(super) fn zoom(&mut self) -> Effect {
        if self.selected == self.root {
            return Effect::Done;
        }
        self.zooms.push((self.root, self.selected));
        self.root = self.selected;
        self.sum_up_found();
        Effect::Step
    }

    /// To the box nearest to the middle of the selected one, of those that `is` accepts, by a distance.
    pub(super) fn go(&mut self, is: impl Fn(&Self, &Placed, &Placed) -> Option<i64>) {
        let placed = self.placed();
        let here = placed
            .iter()
            .find(|place| place.node == Some(self.selected));
        let Some(here) = here.or(placed.first()) else {
            return;
        };
        let near = placed.iter().filter(|place| place.node.is_some());
        let near = near.filter_map(|place| Some((is(self, here, place)?, place)));
        if let Some((_, place)) = near.min_by_key(|(distance, _)| *distance) {
            self.selected = place.node.unwrap_or(self.root);
        }
    }

    pub(super) fn next_found(&mut self, forward: bool) {
        let placed = self.placed();
        let mut found: Vec<u32> = placed.iter().filter_map(|place| place.node).collect();
        found.retain(|&node| node == self.selected || self.is_found(node));
        let Some(at) = found.iter().position(|&node| node == self.selected) else {
            return;
        };
        let step = if forward { 1 } else { found.len() - 1 };
        self.selected = found[(at + step) % found.len()];
    }
}
