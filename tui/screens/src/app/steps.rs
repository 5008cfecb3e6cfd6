//! What Esc undoes: one stack of steps, of which those of the screen shown and those of all screens count.

use std::sync::Arc;

use super::App;
use crate::analysis::AnalysisView;
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
    fn counts_on(&self, shown: usize) -> bool {
        match self {
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
        let last = self.steps.iter().rposition(|step| step.counts_on(shown));
        let Some(at) = last else {
            if self.analysis.is_none() {
                self.requests.push(super::Request::Quit);
            } else {
                self.say("nothing to undo; q quits");
            }
            return;
        };
        match self.steps.remove(at) {
            Step::Filter { before, .. } => self.shown_mut().set_filter(&before),
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
        match before.filter(|analysis| analysis.filters == self.filters) {
            Some(analysis) => {
                self.job = None;
                self.set_analysis(&analysis);
            }
            None => self.analyse(),
        }
    }

    /// Sets the filter of the table shown, so that Esc takes it away.
    pub(super) fn commit_filter(&mut self, text: &str, before: String) {
        let screen = self.shown;
        let view = self.shown_mut();
        view.set_filter(text);
        let problem = view.filter_error().map(str::to_owned);
        if view.filter().is_some_and(|filter| filter != before) {
            self.steps.push(Step::Filter { screen, before });
        }
        if let Some(problem) = problem {
            self.say(format!("looked for as it is: {problem}"));
        }
        let effect = self.shown_mut().search();
        self.effect(effect);
    }
}
