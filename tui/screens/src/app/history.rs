//! Where the user was: each step leads to another place, and Esc goes back exactly one.
//!
//! A place has all that is needed to come back to it: forgetting one leaves the others whole.

use std::sync::Arc;

use super::App;
use crate::analysis::AnalysisView;
use crate::screen::{Effect, Spot};
use crate::screens::{SCREENS, ScreenId};
use portmortem_analyzer::condition::Condition;
use portmortem_analyzer::{Filter, Filters};

/// More places are not kept: those after the first are forgotten then.
const MOST: usize = 90;

/// A screen, where the user is on it, and what is looked at.
#[derive(Debug, Clone)]
pub(super) struct HistoryPlace {
    screen: usize,
    spot: Spot,
    /// The name that the screen was told to look for, and the one that all are.
    told: String,
    name: String,
    filters: Filters,
    /// The figures of these filters, if they were there.
    analysis: Option<Arc<AnalysisView>>,
    crumb: String,
}

/// What the steps so far lead through.
#[derive(Debug, Default)]
pub(super) struct History {
    places: Vec<HistoryPlace>,
}

impl History {
    fn push(&mut self, place: HistoryPlace) {
        if self.places.len() >= MOST {
            self.places.remove(1);
        }
        self.places.push(place);
    }

    /// Places are of another trace, in which nothing is where it was.
    pub(super) fn clear(&mut self) {
        self.places.clear();
    }

    /// The trace has other figures now.
    pub(super) fn forget_figures(&mut self) {
        let places = self.places.iter_mut();
        places.for_each(|place| place.analysis = None);
    }
}

impl App {
    /// Where the user is.
    pub(super) fn here(&self) -> HistoryPlace {
        let slot = &self.screens[self.shown];
        HistoryPlace {
            screen: self.shown,
            spot: slot.screen.spot(),
            told: slot.name.clone(),
            name: self.name.clone(),
            filters: self.filters.clone(),
            analysis: self.analysis.clone(),
            crumb: self.crumb(),
        }
    }

    /// A step led away from a place.
    pub(super) fn step_from(&mut self, place: HistoryPlace) {
        self.history.push(place);
    }

    /// The places so far, the first one first, and where the user is.
    pub(crate) fn crumbs(&self) -> (Vec<&str>, String) {
        let places = self.history.places.iter();
        (places.map(|place| &*place.crumb).collect(), self.crumb())
    }

    /// The digit of the screen, and what the cursor is on.
    fn crumb(&self) -> String {
        let (entry, screen) = (SCREENS[self.shown], self.shown());
        let subject = || {
            let analysis = self.analysis.as_ref()?;
            Some(analysis.short_name(screen.predicate()?).into_owned())
        };
        let filter = screen.filter().filter(|filter| !filter.is_empty());
        let what = match filter {
            Some(filter) if entry.id != ScreenId::Events => Some(format!("/{filter}")),
            _ => screen.crumb().or_else(subject),
        };
        let what = what.unwrap_or_else(|| entry.name.to_lowercase());
        let newest = self.filters.filters().last();
        let scope = newest.map_or_else(String::new, |filter| {
            format!(" ({})", filter.label(&self.trace))
        });
        let crumb = format!("{} {what}{scope}", entry.digit);
        portmortem_analyzer::trace::names::printable(&crumb)
    }

    /// Goes back one place.
    pub(super) fn undo(&mut self) {
        match self.history.places.pop() {
            Some(place) => self.go_back(place),
            None if self.analysis.is_none() => self.requests.push(super::Request::Quit),
            None => self.say("nothing to undo; q quits"),
        }
    }

    fn go_back(&mut self, place: HistoryPlace) {
        // What it was asked for elsewhere is not awaited here.
        self.ahead.clear();
        if self.job.is_some() && self.filters != place.filters {
            self.say("stopped: what was to be looked at is given up");
        }
        let stays = self.shown == place.screen;
        self.shown = place.screen;
        self.name = place.name;
        self.screens[place.screen].name = place.told;
        self.returns = None;
        if self.filters == place.filters {
            self.show_at(place.screen);
        } else {
            self.filters = place.filters;
            let fits = |analysis: &Arc<AnalysisView>| {
                analysis.filters == self.filters && Arc::ptr_eq(&analysis.trace, &self.trace)
            };
            match place.analysis.filter(fits) {
                Some(analysis) => {
                    self.job = None;
                    self.set_analysis(&analysis);
                }
                None => {
                    self.analyse();
                    self.returns = Some((place.screen, place.spot.clone()));
                }
            }
        }
        if stays {
            self.shown_mut().undo();
        }
        self.shown_mut().recall(&place.spot);
    }

    /// The figures are there of a place that was gone back to.
    pub(super) fn return_to(&mut self) {
        if let Some((screen, spot)) = self.returns.take()
            && screen == self.shown
        {
            self.shown_mut().recall(&spot);
        }
    }

    /// Looks for the name on the screen shown, unless that has a filter of its own.
    pub(super) fn look_for_name(&mut self) {
        let (name, shown) = (self.name.clone(), self.shown);
        let slot = &mut self.screens[shown];
        let has_own = |filter: &str| filter != slot.name;
        let looks = slot.screen.looks_for_names();
        if slot.name == name || !looks || slot.screen.filter().is_none_or(has_own) {
            return;
        }
        slot.screen.set_filter(&name);
        slot.name = name;
    }

    /// Looks at less, on all screens.
    pub(super) fn look_at(&mut self, filter: Filter) {
        self.say(format!("{}; Esc takes it away", filter.label(&self.trace)));
        self.step_from(self.here());
        self.filters.push(filter);
        self.analyse();
    }

    /// Sets the filter of the screen shown, so that Esc takes it away. Names are looked for on all
    /// screens.
    pub(super) fn commit_filter(&mut self, text: &str, before: &str) {
        let screen = self.shown;
        let here = self.asked.take().filter(|asked| asked.screen == screen);
        let here = here.unwrap_or_else(|| self.here());
        let view = self.shown_mut();
        view.set_filter(text);
        if let Some(problem) = view.filter_error().map(str::to_owned) {
            view.set_filter(before);
            return self.say(problem);
        }
        if let Some(table) = view.table_mut() {
            table.stay();
        }
        let changed = view.filter().filter(|filter| *filter != before);
        let changed = changed.map(str::to_owned);
        let is_step = changed.is_some();
        if let Some(now) = changed {
            let slot = &mut self.screens[screen];
            let is_name = now.is_empty() || Condition::is_of_names(&now);
            if is_name && before == slot.name && slot.screen.looks_for_names() {
                self.name.clone_from(&now);
                slot.name = now;
            }
            self.step_from(here);
        }
        // Going to what is found belongs to the same step.
        let before = self.here();
        match self.shown_mut().search() {
            Effect::Step if is_step => {}
            Effect::StepSaying(text) if is_step => self.say(text),
            effect => {
                self.arriving = is_step;
                self.effect(effect, before);
            }
        }
    }
}
