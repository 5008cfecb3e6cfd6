//! What the events are filtered by: a condition on the events themselves, or on what is only known
//! once their boxes have ended, or of the goals that called these.

use std::sync::OnceLock;

use portmortem_analyzer::condition::{ConditionError, EventCondition, ListedCondition};
use portmortem_analyzer::listing::Wanted;
use portmortem_analyzer::tables::{EventRow, SiteNames};
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::walk::Step;

/// A condition, and whether it is known that it holds for no event of the trace.
#[derive(Debug)]
pub(in crate::screens) struct AskedCondition {
    condition: On,
    holds_nowhere: OnceLock<bool>,
}

#[derive(Debug)]
enum On {
    /// Each event tells by itself whether it holds.
    Event(EventCondition),
    /// That depends on how a box ends, or on the goal that called it.
    Box(Box<ListedCondition>, SiteNames),
}

impl AskedCondition {
    /// Reads a condition; without a trace only one on events themselves.
    ///
    /// # Errors
    /// As [`ListedCondition::parse`].
    pub(super) fn parse(text: &str, trace: Option<&Trace>) -> Result<Self, ConditionError> {
        let condition = match (EventCondition::parse(text), trace) {
            (Ok(condition), _) => On::Event(condition),
            (Err(ConditionError::UnknownColumn { .. }), Some(trace)) => {
                let sites = SiteNames::of(trace);
                let condition = ListedCondition::parse(text, trace, &sites)?;
                On::Box(Box::new(condition), sites)
            }
            (Err(error), _) => return Err(error),
        };
        Ok(Self {
            condition,
            holds_nowhere: OnceLock::new(),
        })
    }

    /// Whether names alone tell that it holds for no event. That takes long if there are very many
    /// predicates.
    pub(super) fn holds_nowhere(&self, trace: &Trace) -> bool {
        *self.holds_nowhere.get_or_init(|| match &self.condition {
            On::Event(condition) => !condition.may_hold(trace),
            On::Box(..) => false,
        })
    }

    /// The same, if that was found out.
    pub(super) fn is_known_to_hold_nowhere(&self) -> bool {
        self.holds_nowhere.get() == Some(&true)
    }

    /// Whether it holds for an event, as far as the event tells; with its predicate's name, or
    /// without.
    pub(super) fn may_hold(&self, step: &Step, row: &EventRow, named: bool) -> bool {
        match (&self.condition, named) {
            (On::Event(condition), true) => condition.holds(row),
            (On::Event(condition), false) => condition.holds(&EventRow {
                predicate: None,
                ..*row
            }),
            (On::Box(condition, _), true) => condition.quick(step) != Some(false),
            (On::Box(condition, _), false) => {
                condition.quick(&Step { of: None, ..*step }) != Some(false)
            }
        }
    }

    /// The condition on boxes, if it is one, and what goals are called.
    pub(super) fn on_boxes(&self) -> Option<(&ListedCondition, &SiteNames)> {
        match &self.condition {
            On::Event(_) => None,
            On::Box(condition, sites) => Some((condition, sites)),
        }
    }
}
