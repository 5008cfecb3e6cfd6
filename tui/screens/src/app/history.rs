//! Where the user was, where to go back to, and what the newest step still leads to.
//!
//! A place has all that is needed to come back to it: forgetting one leaves the others whole.

use std::sync::Arc;

use portmortem_analyzer::Filters;

use super::slots::NameSought;
use crate::analysis::AnalysisView;
use crate::screen::{Effect, Spot};

/// More places are not kept: those after the first are forgotten then.
const MOST: usize = 90;

/// A screen, where the user is on it, and what is looked at.
#[derive(Debug, Clone)]
pub(super) struct HistoryPlace {
    pub(super) screen: usize,
    pub(super) spot: Spot,
    pub(super) sought: NameSought,
    pub(super) filters: Filters,
    /// The figures of these filters, if they were there.
    pub(super) analysis: Option<Arc<AnalysisView>>,
    pub(super) crumb: String,
}

/// What the steps so far lead through.
#[derive(Debug, Default)]
pub(super) struct History {
    places: Vec<HistoryPlace>,
    /// Where a filter was asked for.
    asked: Option<HistoryPlace>,
    /// Where to go back to when its figures are there.
    returns: Option<(usize, Spot)>,
    /// The newest step led to an event that is still looked for.
    arriving: bool,
}

impl History {
    /// A step led away from a place.
    pub(super) fn leave(&mut self, place: HistoryPlace) {
        if self.places.len() >= MOST {
            self.places.remove(1);
        }
        self.places.push(place);
    }

    /// Takes the newest place, to go back to it.
    pub(super) fn take_newest(&mut self) -> Option<HistoryPlace> {
        self.places.pop()
    }

    /// What the places so far are called, the first one first.
    pub(super) fn crumbs(&self) -> Vec<&str> {
        let places = self.places.iter();
        places.map(|place| &*place.crumb).collect()
    }

    /// The trace was read again and has other figures. Unless predicates are where they were, no
    /// place means anything in it.
    pub(super) fn trace_was_read_again(&mut self, same_predicates: bool) {
        if !same_predicates {
            self.places.clear();
        }
        let places = self.places.iter_mut();
        places.for_each(|place| place.analysis = None);
        (self.asked, self.returns) = (None, None);
    }

    /// A filter is asked for: setting it will be a step from this place.
    pub(super) fn filter_was_asked_for(&mut self, place: HistoryPlace) {
        self.asked = Some(place);
    }

    /// Takes the place where the filter of a screen was asked for.
    pub(super) fn take_asked(&mut self, screen: usize) -> Option<HistoryPlace> {
        self.asked.take().filter(|asked| asked.screen == screen)
    }

    /// To this spot of a screen the user goes back as soon as its figures are there; without one
    /// nothing is waited for.
    pub(super) fn return_later(&mut self, to: Option<(usize, Spot)>) {
        self.returns = to;
    }

    /// The figures are there: takes the spot of a screen to go back to now.
    pub(super) fn take_return(&mut self, shown: usize) -> Option<Spot> {
        let (screen, spot) = self.returns.take()?;
        (screen == shown).then_some(spot)
    }

    /// Whether what a thread finds from now on belongs to the newest step.
    pub(super) fn expect_arrival(&mut self, expected: bool) {
        self.arriving = expected;
    }

    /// What is left of an effect that a thread brought: it is no step of its own if the newest one
    /// led there.
    pub(super) fn arrive(&mut self, effect: Effect) -> Effect {
        let rest = match effect {
            Effect::Step if self.arriving => Effect::Done,
            Effect::StepSaying(text) if self.arriving => Effect::Say(text),
            effect => return effect,
        };
        self.arriving = false;
        rest
    }
}
