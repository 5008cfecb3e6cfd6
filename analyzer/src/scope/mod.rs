//! What of a trace is looked at, and where each box stands in that.

pub(crate) mod called;
pub mod duration;
pub mod filters;
pub mod focus;
pub mod hide;
mod marks;
pub mod window;

use std::sync::Arc;

use crate::trace::{BoxKind, Callable, Center, PredicateIndex, PredicateInfo, Trace};

use called::Called;
pub use filters::{Filter, Filters};
use focus::FocusSteps;
pub use focus::{Focus, FocusOn};
pub use hide::Hide;
pub use window::Window;

/// What of a trace is looked at; the default is everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// By predicate, the unknown one included: boxes that are part of their caller.
    pub(crate) hidden: Vec<bool>,
    /// By predicate: what its boxes are.
    pub(crate) kinds: Vec<BoxKind>,
    /// By predicate, the unknown one included: the cost centre that its boxes enter.
    pub(crate) centers: Arc<[Center]>,
    /// By [`Callable`].
    pub(crate) called: Arc<[Called]>,
    /// By predicate: whether its boxes collect solutions. The unknown one does not.
    pub(crate) collectors: Arc<[bool]>,
    pub(crate) focus: Focus,
    pub(crate) window: Option<Window>,
    /// Numbers of streams; all if there are none.
    pub(crate) streams: Vec<u32>,
}

impl Scope {
    /// What a user asked for.
    #[must_use]
    pub fn of(trace: &Trace, filters: &Filters) -> Self {
        let hiding = Self::hiding(trace, &filters.hide());
        hiding.within(filters.focus(), filters.window(), filters.streams())
    }

    /// The same, where else it is: of the part that the trace is, if it is one.
    pub(crate) fn within(self, focus: Focus, window: Option<Window>, streams: Vec<u32>) -> Self {
        Self {
            focus,
            window: match (self.window, window) {
                (Some(part), Some(window)) => Some(part.and(window)),
                (part, window) => part.or(window),
            },
            streams: if streams.is_empty() {
                self.streams
            } else {
                streams
            },
            ..self
        }
    }

    /// Everything but these predicates; of a part of a trace, of that.
    pub(crate) fn hiding(trace: &Trace, hide: &Hide) -> Self {
        let part = trace.part();
        let kinds = BoxKind::by_predicate(trace);
        Self {
            hidden: hide.mask(trace),
            centers: trace.centers().collect(),
            called: called::all(
                &kinds,
                trace
                    .sites()
                    .iter()
                    .map(|site| (site.callee, site.then_fails)),
            ),
            collectors: trace
                .predicates()
                .iter()
                .map(PredicateInfo::is_collector)
                .collect(),
            kinds,
            window: part.map(Window::of_part),
            streams: part.map_or_else(Vec::new, |part| part.streams.clone()),
            ..Self::default()
        }
    }

    /// Whether a call of this is one after which its caller's clause fails.
    #[inline(always)]
    pub(crate) fn fails_after(&self, callable: Callable) -> bool {
        self.called[callable as usize].then_fails
    }

    /// The same, until the window begins.
    pub(crate) fn before(&self, window: Window) -> Self {
        Self {
            window: Some(window.before()),
            ..self.clone()
        }
    }

    /// Whether a box of `predicate` is looked at: it is in the focus, for which it is known how far
    /// along its path the box is, and not hidden.
    #[inline]
    #[must_use]
    pub fn shows(&self, way: FocusSteps, predicate: PredicateIndex) -> bool {
        self.contains(way) && !self.hides(predicate)
    }

    /// Whether a box is in the focus.
    pub(crate) fn contains(&self, way: FocusSteps) -> bool {
        self.focus.contains(way)
    }

    /// Whether boxes of a predicate are part of their callers.
    #[inline]
    #[must_use]
    pub fn hides(&self, predicate: PredicateIndex) -> bool {
        self.hidden.get(predicate as usize) == Some(&true)
    }

    /// Whether only a part of the call tree is looked at.
    #[must_use]
    pub fn is_focused(&self) -> bool {
        !self.focus.is_everything()
    }

    /// Whether a stream is looked at.
    #[must_use]
    pub fn has_stream(&self, id: u32) -> bool {
        self.streams.is_empty() || self.streams.contains(&id)
    }

    /// Whether some boxes are transparent. Then what a box does may belong to an earlier box, and a
    /// stream cannot be cut.
    #[must_use]
    pub fn has_transparent(&self) -> bool {
        self.hidden.contains(&true) || self.is_focused()
    }

    /// How far along the path of the focus a box of `predicate` is: called from or departed into by
    /// one that is at `from`, or without a known caller; callers may have been `lost`.
    pub(crate) fn enter(
        &self,
        from: Option<FocusSteps>,
        lost: bool,
        predicate: PredicateIndex,
    ) -> FocusSteps {
        let from = from.unwrap_or_else(|| self.focus.start(lost));
        self.focus.enter(from, predicate, self.hides(predicate))
    }

    /// What boxes of a predicate are.
    pub(crate) fn kind_of(&self, predicate: PredicateIndex) -> BoxKind {
        BoxKind::of(&self.kinds, predicate)
    }

    /// The predicates whose boxes are time without a processor.
    pub(crate) fn waiting(&self) -> Vec<PredicateIndex> {
        (0..)
            .zip(self.kinds.iter())
            .filter(|&(_, kind)| *kind == BoxKind::Waiting)
            .map(|(predicate, _)| predicate)
            .collect()
    }

    /// Whether the window has begun.
    pub(crate) fn has_begun(&self, tick: u64) -> bool {
        self.window.is_none_or(|window| tick >= window.from)
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

/// Which boxes of a stream are looked at. Boxes are named by their place in an arena, which may be
/// used again.
#[derive(Debug)]
pub(crate) struct Sight<'s> {
    scope: &'s Scope,
    focused: bool,
    /// By box, if there is a focus.
    ways: Vec<FocusSteps>,
}

impl<'s> Sight<'s> {
    pub(crate) fn new(scope: &'s Scope) -> Self {
        Self {
            scope,
            focused: scope.is_focused(),
            ways: Vec::new(),
        }
    }

    /// `id` is a box without a known caller. Its callers were `lost`, or there are none.
    pub(crate) fn begin(&mut self, id: u32, lost: bool) {
        if self.focused {
            self.put(id, self.scope.focus.start(lost));
        }
    }

    /// Whether a box of `predicate` called by `caller` is transparent; it will be `id`. A box that
    /// departs is both.
    #[inline]
    pub(crate) fn call(&mut self, caller: u32, id: u32, predicate: PredicateIndex) -> bool {
        let hidden = self.scope.hidden[predicate as usize];
        if !self.focused {
            return hidden;
        }
        let focus = &self.scope.focus;
        let way = focus.enter(self.way_of(caller), predicate, hidden);
        self.put(id, way);
        !self.scope.shows(way, predicate)
    }

    /// Where a box is. Every box was put here when it was called.
    fn way_of(&self, id: u32) -> FocusSteps {
        self.ways[id as usize]
    }

    #[cold]
    fn put(&mut self, id: u32, way: FocusSteps) {
        let at = id as usize;
        if at >= self.ways.len() {
            self.ways.resize(at + 1, self.scope.focus.start(false));
        }
        self.ways[at] = way;
    }
}
