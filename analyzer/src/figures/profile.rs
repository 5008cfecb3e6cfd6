//! What the replay of a trace found, and how the parts of several replays become one.

use std::collections::BTreeMap;

use crate::figures::arguments::ArgumentsOfPredicates;
use crate::figures::centers::CenterFigures;
use crate::figures::clauses::Clauses;
use crate::figures::contexts::{ContextFigures, ContextTree};
use crate::figures::net_times::NetTimes;
use crate::figures::values::Values;
use crate::figures::waits::Waits;
use crate::figures::{
    BacktrackFigures, Caller, EdgeFigures, PredicateFigures, SiteFigures, StreamFigures,
};
use crate::trace::damage::Damage;
use crate::trace::{Center, PredicateIndex, PredicateInfo, SiteIndex, Trace};

/// How many violations a profile lists; the rest is only counted.
pub const MAX_VIOLATIONS: usize = 1000;

/// Everything the replay of a trace found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profile {
    /// By [`PredicateIndex`]; the last row stands for boxes whose predicate is unknown: called
    /// before a gap, or of a predicate that the trace does not name. Its time after a gap is that
    /// during which no box called since was active: a box called before the gap was, or none.
    pub predicates: Vec<PredicateFigures>,
    /// By caller and callee.
    pub edges: BTreeMap<(Caller, PredicateIndex), EdgeFigures>,
    /// By caller, callee and site. Rows of a pair of caller and callee sum to that of `edges`.
    pub sites: BTreeMap<(Caller, PredicateIndex, Option<SiteIndex>), SiteFigures>,
    /// The call tree. Each row comes before those below it; rows below the same one are ordered by
    /// predicate, the recursive one first, and each is followed by its own.
    pub contexts: Vec<ContextFigures>,
    /// By what failed and what was re-entered.
    pub backtracks: BTreeMap<(Caller, PredicateIndex), BacktrackFigures>,
    /// Boxes that lost their choicepoints to a cut, by the innermost visible box that was active
    /// and by the predicate of the box that was cut. Sums to
    /// [`PortTotals::cuts`](super::PortTotals::cuts).
    pub cuts: BTreeMap<(Caller, PredicateIndex), u64>,
    /// By cost centre and predicate. Rows of a predicate sum to its own. Where the predicate is a
    /// centre itself, or declared to be in one, `calls` is how often that was entered.
    pub centers: BTreeMap<(Center, PredicateIndex), CenterFigures>,
    /// By predicate and clause, if the trace says which clauses boxes entered. Rows of a predicate
    /// sum to its own.
    pub clauses: Clauses,
    /// By predicate, if the trace says what calls were made with.
    pub arguments: ArgumentsOfPredicates,
    /// What arguments were at calls and exits, if the trace says it.
    pub values: Values,
    /// Who waited for whom; `None` if that is not known: the trace does not say it, or it is still
    /// being recorded, or events were folded.
    pub waits: Option<Waits>,
    /// By stream id.
    pub streams: Vec<StreamFigures>,
    /// Events that the trace still has, if others were folded into the figures and are gone.
    pub kept_events: Option<u64>,
    /// Events that cannot happen where they stand; by stream and event, the first
    /// [`MAX_VIOLATIONS`].
    pub violations: Vec<Violation>,
    /// How many there are in all.
    pub violation_count: u64,
    /// All damage of the trace, that of event blocks included, by offset.
    pub damage: Vec<Damage>,
    /// Times without the recorder, if the trace says what recording cost and no predicate is
    /// hidden.
    pub net: Option<NetTimes>,
}

/// An event that cannot happen in the state it meets: the engine, or its recorder, misbehaved.
///
/// The replay goes on as if unknown boxes had been there, so the conservation laws hold all the
/// same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    /// Stream id.
    pub stream: u32,
    /// Number of the event in its stream, from 0.
    pub event: u64,
    /// Where the event is in the file.
    pub offset: u64,
    /// What is wrong.
    pub what: ViolationKind,
}

/// What cannot happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ViolationKind {
    /// An exit, failure, exception or last call while no box is active.
    #[error("a port of the active box, and no box is active")]
    NoActiveBox,
    /// A redo while no box can be re-entered.
    #[error("a redo, and no box can be re-entered")]
    NothingToRedo,
    /// A cut of more boxes than can be re-entered.
    #[error("a cut of {missing} boxes more than can be re-entered")]
    NothingToCut {
        /// How many too many.
        missing: u64,
    },
    /// A redo of a box that another box than the active one had called. After a gap the box that
    /// called may be unknown; then it may be the active one.
    #[error("a redo of a box that the active one had not called")]
    RedoElsewhere,
    /// A final way out of a box, and boxes inside it can still be re-entered.
    #[error("a deterministic exit or a failure, with {choices} boxes inside still re-enterable")]
    ChoicesLeft {
        /// How many.
        choices: u64,
    },
    /// More boxes at once than can be numbered.
    #[error("too many boxes at once; the replay lost track")]
    TooManyBoxes,
}

impl Profile {
    /// Tables that began to be filled in boxes of a predicate. None if none did.
    #[must_use]
    pub fn tables_filled(&self, trace: &Trace, predicate: PredicateIndex) -> Option<u64> {
        let caller = Caller::Predicate(predicate);
        let called = (caller, PredicateIndex::MIN)..=(caller, PredicateIndex::MAX);
        let is_filling = |callee: PredicateIndex| {
            let info = trace.predicates().get(callee as usize);
            info.is_some_and(PredicateInfo::is_filling)
        };
        let mut edges = self.edges.range(called);
        let (_, filling) = edges.find(|((_, callee), _)| is_filling(*callee))?;
        Some(filling.ports.calls)
    }

    /// Adds what another replay of the same trace found in other streams. The order of merging does
    /// not matter.
    pub fn merge(&mut self, other: Self) {
        if self.predicates.len() < other.predicates.len() {
            self.predicates
                .resize(other.predicates.len(), PredicateFigures::default());
        }
        for (sum, part) in self.predicates.iter_mut().zip(&other.predicates) {
            sum.add(part);
        }
        for (pair, part) in &other.edges {
            self.edges.entry(*pair).or_default().add(part);
        }
        for (key, part) in &other.sites {
            self.sites.entry(*key).or_default().add(part);
        }
        self.merge_contexts(other.contexts);
        for (pair, part) in &other.backtracks {
            let sum = self.backtracks.entry(*pair).or_default();
            sum.count = sum.count.saturating_add(part.count);
            sum.undone_ticks = sum.undone_ticks.saturating_add(part.undone_ticks);
            sum.collected_ticks = sum.collected_ticks.saturating_add(part.collected_ticks);
        }
        for (pair, part) in &other.cuts {
            let sum = self.cuts.entry(*pair).or_default();
            *sum = sum.saturating_add(*part);
        }
        for (key, part) in &other.centers {
            self.centers.entry(*key).or_default().add(part);
        }
        for (key, part) in &other.clauses {
            self.clauses.entry(*key).or_default().add(part);
        }
        self.streams.extend(other.streams);
        self.violations.extend(other.violations);
        self.violation_count = self.violation_count.saturating_add(other.violation_count);
        self.damage.extend(other.damage);
        self.net = None;
        self.settle();
    }

    fn merge_contexts(&mut self, other: Vec<ContextFigures>) {
        if self.contexts.is_empty() {
            self.contexts = other;
        } else if !other.is_empty() {
            let mut tree = ContextTree::default();
            tree.merge(&self.contexts);
            tree.merge(&other);
            self.contexts = tree.into_rows();
        }
    }

    /// Puts the lists into their order.
    pub(crate) fn settle(&mut self) {
        self.streams.sort_unstable_by_key(|stream| stream.stream);
        self.violations
            .sort_by_key(|violation| (violation.stream, violation.event));
        self.violations.truncate(MAX_VIOLATIONS);
        self.damage.sort_by_key(|damage| damage.offset);
    }

    /// Nothing was lost or damaged, and every event can happen where it stands.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        let lost = |stream: &StreamFigures| stream.lost_events > 0 || stream.gap_ticks > 0;
        self.violation_count == 0 && self.damage.is_empty() && !self.streams.iter().any(lost)
    }

    /// Events lost in all streams, as far as known.
    #[must_use]
    pub fn lost_events(&self) -> u64 {
        self.streams
            .iter()
            .fold(0, |sum, stream| sum.saturating_add(stream.lost_events))
    }

    /// Ticks that boxes ran, in all streams together: what percentages are of.
    #[must_use]
    pub fn total_ticks(&self) -> u64 {
        self.streams
            .iter()
            .fold(0, |sum, stream| sum.saturating_add(stream.self_ticks))
    }
}
