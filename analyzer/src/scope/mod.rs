//! What of a trace is looked at, and where each box stands in that.

pub mod duration;
pub mod focus;
pub mod hide;
pub mod window;

use std::sync::Arc;

use crate::trace::{BoxKind, Center, PredicateIndex, Trace};

use focus::Way;
pub use focus::{Focus, FocusOn};
pub use hide::Hide;
pub use window::Window;

/// What of a trace is looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// By predicate, the unknown one included: boxes that are part of their caller.
    pub(crate) hidden: Vec<bool>,
    /// By predicate: what its boxes are.
    pub(crate) kinds: Vec<BoxKind>,
    /// By predicate, the unknown one included: the cost centre that its boxes enter.
    pub(crate) centers: Arc<[Center]>,
    pub(crate) focus: Focus,
    pub(crate) window: Option<Window>,
}

impl Scope {
    pub(crate) fn new(trace: &Trace, hide: &Hide, focus: &Focus, window: Option<Window>) -> Self {
        Self {
            hidden: hide.mask(trace),
            kinds: BoxKind::by_predicate(trace),
            centers: trace.centers().collect(),
            focus: focus.clone(),
            window,
        }
    }

    /// The same, until the window begins.
    pub(crate) fn before(&self, window: Window) -> Self {
        Self {
            window: Some(window.before()),
            ..self.clone()
        }
    }

    /// Whether some boxes are transparent. Then what a box does may be somebody else's who came before, and a
    /// stream cannot be cut.
    pub(crate) fn has_transparent(&self) -> bool {
        self.hidden.contains(&true) || !self.focus.is_everything()
    }

    /// What boxes of a predicate are.
    pub(crate) fn kind_of(&self, predicate: PredicateIndex) -> BoxKind {
        BoxKind::of(&self.kinds, predicate)
    }

    /// Whether the window is over.
    pub(crate) fn is_over(&self, tick: u64) -> bool {
        self.window.is_some_and(|window| tick >= window.until)
    }

    /// When something happened, as far as it is looked at.
    pub(crate) fn nearest(&self, tick: u64) -> u64 {
        self.window.map_or(tick, |window| window.nearest(tick))
    }
}

/// Which boxes of a stream are looked at. Boxes are named by their place in an arena, which may be used again.
#[derive(Debug)]
pub(crate) struct Sight<'s> {
    scope: &'s Scope,
    focused: bool,
    /// By box, if there is a focus.
    ways: Vec<Way>,
}

impl<'s> Sight<'s> {
    pub(crate) fn new(scope: &'s Scope) -> Self {
        Self {
            scope,
            focused: !scope.focus.is_everything(),
            ways: Vec::new(),
        }
    }

    /// `id` is a box without a known caller. Its callers were `lost`, or there are none.
    pub(crate) fn begin(&mut self, id: u32, lost: bool) {
        if self.focused {
            self.put(id, self.scope.focus.start(lost));
        }
    }

    /// Whether a box of `predicate` called by `caller` is transparent; it will be `id`.
    #[inline(always)]
    pub(crate) fn call(&mut self, caller: u32, id: u32, predicate: PredicateIndex) -> bool {
        let hidden = self.scope.hidden[predicate as usize];
        if !self.focused {
            return hidden;
        }
        let focus = &self.scope.focus;
        let way = focus.enter(self.way_of(caller), predicate, hidden);
        self.put(id, way);
        hidden || !self.scope.focus.contains(way)
    }

    /// Whether a box is transparent into which the box `id` departs.
    #[inline(always)]
    pub(crate) fn depart(&mut self, id: u32, predicate: PredicateIndex) -> bool {
        let hidden = self.scope.hidden[predicate as usize];
        if !self.focused {
            return hidden;
        }
        let way = self.scope.focus.enter(self.way_of(id), predicate, hidden);
        self.put(id, way);
        hidden || !self.scope.focus.contains(way)
    }

    /// Where a box is. Every box was put here when it was called.
    fn way_of(&self, id: u32) -> Way {
        self.ways[id as usize]
    }

    #[cold]
    fn put(&mut self, id: u32, way: Way) {
        let at = id as usize;
        if at >= self.ways.len() {
            self.ways.resize(at + 1, self.scope.focus.start(false));
        }
        self.ways[at] = way;
    }
}
