//! What Esc undoes: one stack of steps, of which those of the screen shown and those of all screens count.

use std::sync::Arc;

use super::App;
use crate::analysis::AnalysisView;
use crate::condition::Condition;
use portmortem_analyzer::Filter;

/// Something that can be undone.
#[derive(Debug)]
pub(super) enum Step {
    /// Another filter on the table of a screen.
    Filter {
        /// Whose.
        screen: usize,
        /// The filter before.
        before: String,
    },
    /// A name that is looked for on all screens.
    Name {
        /// The one before.
        before: String,
    },
    /// Something that the screen undoes itself.
    Local {
        /// Which.
        screen: usize,
    },
    /// From one screen into another.
    Enter {
        /// Where Esc goes back to.
        from: usize,
        /// Where it counts.
        to: usize,
        /// Whether that screen has something to undo itself.
        moved: bool,
    },
    /// Less is looked at.
    Scope {
        /// The analysis before, if there was one.
        before: Option<Arc<AnalysisView>>,
    },
}

impl Step {
    /// `follows`: the screen shown looks for the name that all look for.
    fn counts_on(&self, shown: usize, follows: bool) -> bool {
        match self {
            Self::Name { .. } => follows,
            Self::Filter { screen, .. } | Self::Local { screen } => *screen == shown,
            Self::Enter { to, .. } => *to == shown,
            Self::Scope { .. } => true,
        }
    }
}

impl App {
    /// Undoes the last step that counts here.
    pub(super) fn undo(&mut self) {
        let shown = self.shown;
        let slot = &self.screens[shown];
        let follows = slot.screen.filter() == Some(&*slot.name);
        let mut steps = self.steps.iter();
        let last = steps.rposition(|step| step.counts_on(shown, follows));
        let Some(at) = last else {
            if self.analysis.is_none() {
                self.requests.push(super::Request::Quit);
            } else {
                self.say("nothing to undo; q quits");
            }
            return;
        };
        match self.steps.remove(at) {
            Step::Filter { before, .. } => {
                self.shown_mut().set_filter(&before);
                self.look_for_name();
            }
            Step::Name { before } => {
                self.name = before;
                self.look_for_name();
            }
            Step::Local { .. } => {
                // A step that other figures have made meaningless is none.
                if !self.shown_mut().undo() {
                    self.undo();
                }
            }
            Step::Enter { from, moved, .. } => {
                if moved {
                    self.shown_mut().undo();
                }
                self.show_at(from);
            }
            Step::Scope { before } => self.look_back(before),
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
        self.steps.push(Step::Scope {
            before: self.analysis.clone(),
        });
        self.filters.push(filter);
        self.analyse();
    }

    fn look_back(&mut self, before: Option<Arc<AnalysisView>>) {
        self.filters.pop();
        let fits = |analysis: &Arc<AnalysisView>| {
            analysis.filters == self.filters && Arc::ptr_eq(&analysis.trace, &self.trace)
        };
        match before.filter(fits) {
            Some(analysis) => {
                self.job = None;
                self.set_analysis(&analysis);
            }
            None => self.analyse(),
        }
    }

    /// Sets the filter of the screen shown, so that Esc takes it away. Names are looked for on all screens.
    pub(super) fn commit_filter(&mut self, text: &str, before: String) {
        let screen = self.shown;
        let view = self.shown_mut();
        view.set_filter(text);
        if let Some(table) = view.table_mut() {
            table.stay();
        }
        let problem = view.filter_error().map(str::to_owned);
        let changed = view.filter().filter(|filter| *filter != before);
        if let Some(now) = changed.map(str::to_owned) {
            let slot = &self.screens[screen];
            let is_name = now.is_empty() || Condition::is_of_names(&now);
            if is_name && before == slot.name && slot.screen.looks_for_names() {
                let before = std::mem::replace(&mut self.name, now.clone());
                self.screens[screen].name = now;
                self.steps.push(Step::Name { before });
            } else {
                self.steps.push(Step::Filter { screen, before });
            }
        }
        if let Some(problem) = problem {
            self.say(format!("looked for as it is: {problem}"));
        }
        let effect = self.shown_mut().search();
        self.effect(effect);
    }
}
