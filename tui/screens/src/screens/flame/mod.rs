//! Screen 8: the flame graph of the call tree, drawn downwards (an icicle graph).

mod bindings;
mod build;
mod export;
mod folding;
mod layout;
mod moves;
#[cfg(test)]
mod tests;
mod tree;
mod view;

use std::sync::Arc;
use std::time::Instant;

use portmortem_analyzer::FocusOn;
use portmortem_analyzer::condition::{Condition, Field, FieldKind};
use portmortem_analyzer::tables::Cell;
use portmortem_analyzer::trace::PredicateIndex;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::analysis::AnalysisView;
use crate::format;
use crate::keys::{Action, Binding};
use crate::screen::{
    Clickable, Effect, Exportable, Navigable, Pointing, Screen, Searchable, Spot, Tabular,
};
use crate::theme::Theme;
use crate::worker::{Received, poll_until, soon};
use bindings::KEYS;
use build::Build;
use layout::PlacedBox;
use tree::{FlameShape, Measure, Tree};

/// A box: the predicates above it and its own, and which of them are recursive calls.
type Path = Vec<(Option<PredicateIndex>, bool)>;

/// Where the user is on it.
#[derive(Debug, Clone)]
struct FrameSpot {
    shape: FlameShape,
    root: Path,
    selected: Path,
    first: usize,
}

/// Of more boxes it is not summed up how much was found.
const MOST_SUMMED: usize = 200_000;

/// The screen.
#[derive(Debug)]
pub(super) struct FlameScreen {
    analysis: Option<Arc<AnalysisView>>,
    shape: FlameShape,
    tree: Tree,
    /// The tree that is to be shown instead.
    build: Option<Build>,
    /// What to select in it.
    wanted: Option<PredicateIndex>,
    /// The box that is shown as all.
    root: u32,
    selected: u32,
    /// Where to go back to in it.
    returns: Option<FrameSpot>,
    search: String,
    /// Why that is no condition.
    search_error: Option<String>,
    /// By predicate: whether it was searched for.
    found: Option<Vec<bool>>,
    /// Size of all that was, in what is shown; boxes inside others count once. Not summed up of very many.
    found_total: Option<u64>,
    /// Where the boxes were drawn last, and the first depth that was.
    area: Rect,
    first: usize,
}

impl Default for FlameScreen {
    fn default() -> Self {
        Self {
            analysis: None,
            shape: FlameShape::default(),
            tree: Tree::default(),
            build: None,
            wanted: None,
            root: 0,
            selected: 0,
            returns: None,
            search: String::new(),
            search_error: None,
            found: None,
            found_total: None,
            area: Rect::new(0, 0, 80, 20),
            first: 0,
        }
    }
}

const NAME: &[Field] = &[Field {
    name: "predicate",
    kind: FieldKind::Text,
}];

impl FlameScreen {
    /// Makes the tree again, of another shape.
    fn rebuild(&mut self, shape: FlameShape) -> Effect {
        if let Some(analysis) = &self.analysis {
            self.wanted = self.predicate().or(self.wanted);
            self.build = Some(Build::start(analysis, shape));
            self.take(Some(soon()));
        }
        Effect::Done
    }

    /// The shape of the tree to come, or of the one shown.
    fn coming(&self) -> FlameShape {
        self.build.as_ref().map_or(self.shape, |build| build.shape)
    }

    /// Shows the tree that was being made, if it is; waits for it until some moment, or as long as
    /// it takes.
    fn take(&mut self, until: Option<Instant>) -> Effect {
        let Some(build) = &self.build else {
            return Effect::Unused;
        };
        let tree = match build.tree(until) {
            Received::NotYet => return Effect::Unused,
            Received::Value(tree) => tree,
            // It will never come.
            Received::Ended => {
                self.build = None;
                return Effect::Done;
            }
        };
        self.shape = build.shape;
        self.tree = tree;
        self.build = None;
        self.root = 0;
        self.selected = 0;
        if let Some(spot) = self.returns.take() {
            self.go_back(&spot);
            self.wanted = None;
        }
        if let Some(predicate) = self.wanted {
            self.select_largest(predicate);
            if self.predicate() == Some(predicate) {
                self.wanted = None;
            }
        }
        self.sum_up_found();
        Effect::Done
    }

    fn placed(&self) -> Vec<PlacedBox> {
        layout::place(&self.tree, self.root, self.area.width)
    }

    fn predicate_of(&self, node: u32) -> Option<PredicateIndex> {
        self.tree.nodes.get(node as usize)?.predicate
    }

    fn name(&self, node: u32) -> &str {
        match (&self.analysis, self.predicate_of(node)) {
            (Some(analysis), Some(predicate)) => analysis.predicate(predicate),
            _ => "all",
        }
    }

    fn is_found(&self, node: u32) -> bool {
        let mut found = self.found.iter().zip(self.predicate_of(node));
        found.any(|(found, of)| found.get(of as usize) == Some(&true))
    }

    fn sum_up_found(&mut self) {
        self.found_total = None;
        let boxes = self.tree.nodes.len();
        if self.found.is_none() || boxes == 0 || boxes > MOST_SUMMED {
            return;
        }
        let mut pending = vec![self.root];
        let mut sum = 0_u64;
        while let Some(at) = pending.pop() {
            if self.is_found(at) {
                sum = sum.saturating_add(self.tree.nodes[at as usize].total);
            } else {
                pending.extend(self.tree.below(at));
            }
        }
        self.found_total = Some(sum);
    }

    fn size(&self, size: u64) -> String {
        match &self.analysis {
            Some(analysis) if self.shape.measure != Measure::Events => {
                format::time(analysis.ns(size))
            }
            _ => format::count(size),
        }
    }

    /// The same with what it is of, for what shares are of.
    fn whole(&self, size: u64) -> String {
        match self.shape.measure {
            Measure::Events => format::counted(size, "event", "events"),
            _ => self.size(size),
        }
    }
}

impl Screen for FlameScreen {
    fn bindings(&self) -> &'static [Binding] {
        KEYS
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        self.wanted = self.predicate().or(self.wanted);
        self.analysis = Some(Arc::clone(analysis));
        let shape = FlameShape {
            folds: !analysis.is_all(),
            ..self.coming()
        };
        // The other figures are not those of this analysis.
        self.tree = Tree::default();
        let search = std::mem::take(&mut self.search);
        self.set_filter(&search);
        self.rebuild(shape);
    }

    fn poll(&mut self, wait: bool) -> Effect {
        self.take(poll_until(wait))
    }

    fn is_ready(&self) -> bool {
        self.build.is_none() || !self.tree.nodes.is_empty()
    }

    fn progress(&self) -> Option<f64> {
        self.build.as_ref().map(Build::share)
    }

    fn act(&mut self, action: Action) -> Effect {
        if self.tree.nodes.is_empty() {
            return Effect::Unused;
        }
        match action {
            Action::Zoom => return self.zoom(),
            Action::Measure => {
                let shape = self.coming();
                let measure = shape.measure.next();
                return self.rebuild(FlameShape { measure, ..shape });
            }
            Action::Invert => {
                let shape = self.coming();
                let inverted = !shape.inverted;
                return self.rebuild(FlameShape { inverted, ..shape });
            }
            Action::Enter => return self.predicate().map_or(Effect::Done, Effect::Open),
            Action::Up => self.up(),
            Action::Down => self.down(),
            Action::Left => self.go(|_, here, place| {
                (place.depth == here.depth && place.to <= here.from)
                    .then(|| i64::from(here.from - place.to))
            }),
            Action::Right => self.go(|_, here, place| {
                (place.depth == here.depth && place.from >= here.to)
                    .then(|| i64::from(place.from - here.to))
            }),
            Action::Top => self.selected = self.root,
            Action::Bottom => self.bottom(),
            Action::NextMatch => self.next_found(true),
            Action::PreviousMatch => self.next_found(false),
            _ => return Effect::Unused,
        }
        Effect::Done
    }

    fn status(&self) -> String {
        let order = if self.shape.inverted {
            ", callers below"
        } else {
            ""
        };
        let found = match (self.found_total, self.tree.nodes.get(self.root as usize)) {
            (Some(found), Some(root)) => {
                format!("found {}%, ", format::percent(found, root.total))
            }
            _ => String::new(),
        };
        format!("{found}by {}{order}", self.shape.measure.name())
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        view::draw(self, area, buf, theme);
    }
}

impl Tabular for FlameScreen {}

impl Searchable for FlameScreen {
    fn filter_error(&self) -> Option<&str> {
        self.search_error.as_deref()
    }

    fn filter(&self) -> Option<&str> {
        Some(&self.search)
    }

    fn set_filter(&mut self, text: &str) {
        let text = text.trim();
        self.search = text.to_owned();
        let parsed = (!text.is_empty())
            .then(|| Condition::parse(text, NAME))
            .transpose();
        self.search_error = parsed.as_ref().err().map(ToString::to_string);
        let condition = parsed.unwrap_or_default();
        self.found = condition
            .zip(self.analysis.as_ref())
            .map(|(condition, analysis)| {
                let unknown = analysis.trace.unknown_predicate();
                let holds = |of| condition.holds(|_| Cell::Text(analysis.predicate(of)));
                (0..=unknown).map(holds).collect()
            });
        self.sum_up_found();
    }
}

impl Pointing for FlameScreen {
    fn predicate(&self) -> Option<PredicateIndex> {
        self.predicate_of(self.selected)
    }

    fn place(&self) -> Option<FocusOn> {
        if self.shape.inverted {
            return self.predicate().map(FocusOn::Predicate);
        }
        let row = (self.selected as usize).checked_sub(1)?;
        self.analysis.as_ref()?.place(row)
    }
}

impl Navigable for FlameScreen {
    fn spot(&self) -> Spot {
        let spot = self.returns.clone().unwrap_or_else(|| FrameSpot {
            shape: self.coming(),
            root: self.path_of(self.root),
            selected: self.path_of(self.selected),
            first: self.first,
        });
        self.spot_of_list().with(spot)
    }

    fn recall(&mut self, spot: &Spot) {
        self.recall_list(spot);
        let Some(own) = spot.own::<FrameSpot>() else {
            return;
        };
        // What is left out is the same on all screens.
        let shape = FlameShape {
            folds: self.coming().folds,
            ..own.shape
        };
        if shape != self.coming() {
            self.rebuild(shape);
        }
        self.wanted = None;
        if self.build.is_some() {
            self.returns = Some(own.clone());
        } else {
            self.go_back(own);
        }
    }

    fn select(&mut self, predicate: PredicateIndex) -> Effect {
        if self.tree.nodes.is_empty() {
            (self.wanted, self.returns) = (Some(predicate), None);
            return Effect::Done;
        }
        self.returns = None;
        self.select_largest(predicate);
        if self.predicate() == Some(predicate) || self.root == 0 {
            return Effect::Done;
        }
        // Its largest box is not in the one that is shown as if it were all.
        self.root = 0;
        self.sum_up_found();
        self.select_largest(predicate);
        Effect::Step
    }
}

impl Exportable for FlameScreen {
    fn file_name(&self) -> &'static str {
        "flame.svg"
    }

    /// A picture; as a text it is [`Exportable::export`].
    fn file(&self) -> Option<String> {
        export::picture(self)
    }

    /// Folded stacks. The first frame of all says what the size is.
    fn export(&self) -> Option<String> {
        export::stacks(self)
    }

    fn rows(&self) -> usize {
        self.tree.nodes.len()
    }

    /// The stack.
    fn copy(&self) -> Option<String> {
        let path = self.tree.path(self.selected);
        Some(
            path.iter()
                .map(|&node| self.name(node).to_owned() + "\n")
                .collect(),
        )
    }
}

impl Clickable for FlameScreen {
    fn click(&mut self, x: u16, y: u16) -> bool {
        if !self.area.contains((x, y).into()) {
            return false;
        }
        let depth = self.first + usize::from(y - self.area.y);
        let x = x - self.area.x;
        let placed = self.placed();
        let hit = placed
            .iter()
            .find(|place| place.depth == depth && (place.from..place.to).contains(&x));
        if let Some(node) = hit.and_then(|place| place.node) {
            if self.selected == node {
                return true;
            }
            self.selected = node;
        }
        false
    }

    fn enter(&self) -> Action {
        Action::Zoom
    }
}
