//! Which part of the call tree is looked at: only what runs in some boxes, and those boxes
//! themselves.
//!
//! The replay does it, exactly, and by the same means as [`crate::scope::hide`]: boxes outside are
//! transparent. What is looked at then has no traced caller, and time outside is untraced.

use crate::trace::PredicateIndex;

/// A place in the call tree below which everything is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FocusOn {
    /// Every box of a predicate.
    Predicate(PredicateIndex),
    /// The boxes of a context ([`crate::figures::contexts`]): distinct predicates in the order in
    /// which the first box of each came onto the active chain.
    Context(Vec<PredicateIndex>),
}

/// Places in the call tree, each looked for inside the one before; the default is all there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Focus {
    steps: Vec<FocusStep>,
}

/// A predicate to be met on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FocusStep {
    predicate: PredicateIndex,
    /// Boxes of any other predicates may lie in between.
    anywhere: bool,
    /// The first step of the same context.
    begin: usize,
}

/// How many steps a box has behind it on the way into the focus.
pub type FocusSteps = u32;

/// No box below gets there any more.
const ASTRAY: FocusSteps = FocusSteps::MAX;

impl Focus {
    /// The same, looking at a place inside only.
    #[must_use]
    pub fn within(mut self, place: &FocusOn) -> Self {
        let begin = self.steps.len();
        let (predicates, anywhere) = match place {
            FocusOn::Predicate(predicate) => (std::slice::from_ref(predicate), true),
            FocusOn::Context(path) => (&path[..], false),
        };
        self.steps
            .extend(predicates.iter().map(|&predicate| FocusStep {
                predicate,
                anywhere,
                begin,
            }));
        self
    }

    /// Whether nothing is left out.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.steps.is_empty()
    }

    /// Initial position of a box without a known caller: astray if its callers were `lost` and the
    /// focus begins with a context.
    pub(crate) fn start(&self, lost: bool) -> FocusSteps {
        match self.steps.first() {
            Some(step) if lost && !step.anywhere => ASTRAY,
            _ => 0,
        }
    }

    /// Whether a box is there.
    pub(crate) fn contains(&self, way: FocusSteps) -> bool {
        way as usize == self.steps.len()
    }

    /// Where a box of `predicate` is, called from or departed into by a box that is at `from`.
    /// `hidden`: it is part of that box.
    pub(crate) fn enter(
        &self,
        from: FocusSteps,
        predicate: PredicateIndex,
        hidden: bool,
    ) -> FocusSteps {
        let mut way = from;
        // The last box of a place is the first one of a place inside.
        while let Some(step) = self.steps.get(way as usize) {
            if step.predicate != predicate {
                return if step.anywhere || self.passes(step, way, predicate, hidden) {
                    way
                } else {
                    ASTRAY
                };
            }
            way += 1;
            let place_ends = self
                .steps
                .get(way as usize)
                .is_some_and(|next| next.begin == way as usize);
            if !place_ends {
                return way;
            }
        }
        way
    }

    /// Whether a box of another predicate than the next can lie on the way to a context: one that
    /// was met, or one that is part of its caller.
    fn passes(
        &self,
        next: &FocusStep,
        way: FocusSteps,
        predicate: PredicateIndex,
        hidden: bool,
    ) -> bool {
        let context = self.steps[next.begin..].iter();
        match context
            .take_while(|step| step.begin == next.begin)
            .position(|step| step.predicate == predicate)
        {
            Some(at) => next.begin + at < way as usize,
            None => hidden,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the last box of a chain of calls is.
    fn at(focus: &Focus, chain: &[PredicateIndex]) -> bool {
        let mut way = focus.start(false);
        for &predicate in chain {
            way = focus.enter(way, predicate, predicate == 9);
        }
        focus.contains(way)
    }

    #[test]
    fn a_predicate_is_met_anywhere() {
        let focus = Focus::default().within(&FocusOn::Predicate(2));
        assert!(at(&focus, &[2]) && at(&focus, &[1, 1, 2]) && at(&focus, &[1, 2, 3, 1]));
        assert!(!at(&focus, &[]) && !at(&focus, &[1, 3]));
        assert!(at(&Focus::default(), &[]));
    }

    #[test]
    fn a_context_is_met_by_its_own_way_only() {
        let focus = Focus::default().within(&FocusOn::Context(vec![1, 2, 3]));
        assert!(at(&focus, &[1, 2, 3]) && at(&focus, &[1, 2, 1, 2, 3, 4, 1]));
        assert!(at(&focus, &[1, 9, 2, 9, 3]));
        assert!(!at(&focus, &[1, 4, 2, 3]) && !at(&focus, &[2, 1, 2, 3]) && !at(&focus, &[1, 3]));
    }

    #[test]
    fn a_place_inside_begins_with_the_last_box() {
        let focus = Focus::default()
            .within(&FocusOn::Predicate(2))
            .within(&FocusOn::Context(vec![2, 3]));
        assert!(at(&focus, &[1, 2, 3]) && at(&focus, &[2, 2, 3, 5]));
        assert!(!at(&focus, &[1, 2, 5, 3]) && !at(&focus, &[3]));
        let twice = Focus::default()
            .within(&FocusOn::Predicate(2))
            .within(&FocusOn::Predicate(2));
        assert!(at(&twice, &[1, 2]));
    }
}
