//! Where the cursor goes, and which box is shown as all.

use portmortem_analyzer::trace::PredicateIndex;
use rustc_hash::{FxHashMap, FxHashSet};

use super::layout::PlacedBox;
use super::{Effect, FlameScreen, FrameSpot, Path};

impl FlameScreen {
    pub(super) fn select_largest(&mut self, predicate: PredicateIndex) {
        let nodes = (0..).zip(&self.tree.nodes);
        let of = nodes.filter(|(_, node)| node.predicate == Some(predicate));
        let largest = of.max_by_key(|(at, node)| (node.total, u32::MAX - at));
        let Some((largest, _)) = largest else { return };
        // What cannot be seen cannot be selected: the nearest box above it that is seen, or the one
        // that is shown as all.
        let placed = self.placed();
        let seen: FxHashSet<u32> = placed.iter().filter_map(|place| place.node).collect();
        let mut way = self.tree.way_up(largest);
        self.selected = way.find(|at| seen.contains(at)).unwrap_or(self.root);
    }

    /// To the box above, in what is shown.
    pub(super) fn up(&mut self) {
        if self.selected != self.root {
            let parent = self.tree.nodes[self.selected as usize].parent;
            self.selected = parent.unwrap_or(self.root);
        }
    }

    /// To the widest of the boxes below.
    pub(super) fn down(&mut self) {
        self.go(|flame, here, place| {
            (flame.parent(place)? == here.node? && place.depth > here.depth)
                .then(|| -i64::from(place.to - place.from))
        });
    }

    /// Down to the end, always to the widest box.
    pub(super) fn bottom(&mut self) {
        let placed = self.placed();
        let mut widest: FxHashMap<u32, &PlacedBox> = FxHashMap::default();
        for place in &placed {
            if let Some(parent) = self.parent(place) {
                let known = widest.entry(parent).or_insert(place);
                if place.to - place.from > known.to - known.from {
                    *known = place;
                }
            }
        }
        if !placed.iter().any(|place| place.node == Some(self.selected)) {
            self.selected = self.root;
        }
        // Each box is gone to once at most.
        while let Some(node) = widest.remove(&self.selected).and_then(|place| place.node) {
            self.selected = node;
        }
    }

    /// The way to a box from the one around all, which is left out.
    pub(super) fn path_of(&self, node: u32) -> Path {
        let path = self.tree.path(node).into_iter();
        path.filter_map(|at| self.tree.nodes.get(at as usize))
            .map(|node| (node.predicate, node.recursive))
            .collect()
    }

    /// The box at the end of a way, as far as there are boxes on it.
    fn at_end_of(&self, path: &Path) -> u32 {
        let mut at = 0;
        for step in path {
            let below = self.tree.below(at).iter();
            let mut found = below.filter(|&&node| {
                let node = &self.tree.nodes[node as usize];
                (node.predicate, node.recursive) == *step
            });
            match found.next() {
                Some(&node) => at = node,
                None => break,
            }
        }
        at
    }

    /// To where the user was.
    pub(super) fn go_back(&mut self, spot: &FrameSpot) {
        if self.tree.nodes.is_empty() {
            return;
        }
        self.root = self.at_end_of(&spot.root);
        self.selected = self.at_end_of(&spot.selected);
        self.first = spot.first;
        self.sum_up_found();
    }

    fn parent(&self, place: &PlacedBox) -> Option<u32> {
        self.tree.nodes.get(place.node? as usize)?.parent
    }

    pub(super) fn zoom(&mut self) -> Effect {
        if self.selected == self.root {
            return Effect::Done;
        }
        self.root = self.selected;
        self.sum_up_found();
        Effect::Step
    }

    /// To the box nearest to the middle of the selected one, of those that `is` accepts, by a distance.
    pub(super) fn go(&mut self, is: impl Fn(&Self, &PlacedBox, &PlacedBox) -> Option<i64>) {
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
