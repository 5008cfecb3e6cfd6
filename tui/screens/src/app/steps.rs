//! Steps: each leads to another place, and Esc goes back exactly one.

use std::sync::Arc;

use portmortem_analyzer::Filter;
use portmortem_analyzer::trace::names::printable;

use super::App;
use super::history::HistoryPlace;
use crate::analysis::AnalysisView;
use crate::screen::Effect;
use crate::screens::ScreenId;

impl App {
    /// Where the user is.
    pub(super) fn here(&self) -> HistoryPlace {
        HistoryPlace {
            screen: self.screens.place(),
            spot: self.shown().spot(),
            sought: self.screens.sought(),
            filters: self.filters.clone(),
            analysis: self.analysis.clone(),
            crumb: self.crumb(),
        }
    }

    /// A step led away from a place.
    pub(super) fn step_from(&mut self, place: HistoryPlace) {
        self.history.leave(place);
    }

    /// The places so far, the first one first, and where the user is.
    pub(crate) fn crumbs(&self) -> (Vec<&str>, String) {
        (self.history.crumbs(), self.crumb())
    }

    /// The digit of the screen, and what the cursor is on.
    fn crumb(&self) -> String {
        let (entry, screen) = (self.screens.entry(), self.shown());
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
            format!(" ({})", filter.label(self.recording.trace()))
        });
        let crumb = format!("{} {what}{scope}", entry.digit);
        printable(&crumb)
    }

    /// Goes back one place.
    pub(super) fn undo(&mut self) {
        match self.history.take_newest() {
            Some(place) => self.go_back(place),
            None if self.analysis.is_none() => self.requests.push(super::Request::Quit),
            None => self.say("nothing to undo; q quits"),
        }
    }

    fn go_back(&mut self, place: HistoryPlace) {
        // What it was asked for elsewhere is not awaited here.
        self.typed.release();
        if self.job.is_some() && self.filters != place.filters {
            self.say("stopped: what was to be looked at is given up");
        }
        let stays = self.screens.place() == place.screen;
        self.screens.go_back(place.screen, place.sought);
        self.history.return_later(None);
        if self.filters == place.filters {
            self.show_at(place.screen);
        } else {
            self.filters = place.filters;
            let fits = |analysis: &Arc<AnalysisView>| {
                analysis.filters == self.filters
                    && Arc::ptr_eq(&analysis.trace, self.recording.trace())
            };
            match place.analysis.filter(fits) {
                Some(analysis) => {
                    self.job = None;
                    self.set_analysis(&analysis);
                }
                None => {
                    self.analyse();
                    let to = (place.screen, place.spot.clone());
                    self.history.return_later(Some(to));
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
        if let Some(spot) = self.history.take_return(self.screens.place()) {
            self.shown_mut().recall(&spot);
        }
    }

    /// Looks at less, on all screens.
    pub(super) fn look_at(&mut self, filter: Filter) {
        let label = filter.label(self.recording.trace());
        self.say(format!("{label}; Esc takes it away"));
        self.step_from(self.here());
        self.filters.push(filter);
        self.analyse();
    }

    /// Sets the filter of the screen shown, so that Esc takes it away. Names are looked for on all
    /// screens.
    pub(super) fn commit_filter(&mut self, text: &str, before: &str) {
        let here = self.history.take_asked(self.screens.place());
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
            self.screens.filter_was_set(before, now);
            self.step_from(here);
        }
        // Going to what is found belongs to the same step.
        let before = self.here();
        match self.shown_mut().search() {
            Effect::Step if is_step => {}
            Effect::StepSaying(text) if is_step => self.say(text),
            effect => {
                self.history.expect_arrival(is_step);
                self.effect(effect, before);
            }
        }
    }
}
