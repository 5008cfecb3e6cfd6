//! What Esc undoes: one stack of steps, of which those of the screen shown and those of all screens count.

use std::sync::Arc;

use super::App;
use crate::analysis::Analysis;

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
    /// Predicates were hidden.
    Hide {
        /// The analysis before, if there was one.
        before: Option<Arc<Analysis>>,
    },
}

impl Step {
    fn counts_on(&self, shown: usize) -> bool {
        match self {
            Self::Filter { screen, .. } | Self::Local { screen } => *screen == shown,
            Self::Enter { to, .. } => *to == shown,
            Self::Hide { .. } => true,
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
            Step::Hide { before } => self.unhide(before),
        }
    }

    /// Hides predicates, on all screens.
    pub(super) fn hide(&mut self, pattern: String) {
        self.say(format!(
            "hiding {}; Esc shows it again",
            portmortem_analyzer::names::printable(&pattern)
        ));
        self.steps.push(Step::Hide {
            before: self.analysis.clone(),
        });
        self.hidden.push(pattern);
        self.analyse();
    }

    fn unhide(&mut self, before: Option<Arc<Analysis>>) {
        self.hidden.pop();
        match before.filter(|analysis| analysis.hidden == self.hidden) {
            Some(analysis) => {
                self.job = None;
                self.set_analysis(analysis);
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
    }
}
