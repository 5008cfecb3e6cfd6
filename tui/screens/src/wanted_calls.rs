//! How screens ask for the times of single calls, and are told of them.

use crate::analysis::AnalysisView;

/// How far a screen is that wants the times of single calls.
#[derive(Debug, Default)]
pub(crate) struct WantedCalls {
    began: bool,
    /// They are known, or never will be.
    over: bool,
}

/// What a screen that asks for them is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallsAnswer {
    /// Nothing new.
    Nothing,
    /// A thread begins to find them.
    Begun,
    /// They are known.
    Found,
    /// The thread died, which is a defect.
    Lost,
}

impl WantedCalls {
    /// Whether the screen waits for them no longer.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Sees to it that they are found, and says once when they are; waits for that if told to.
    pub(crate) fn ask(&mut self, analysis: &AnalysisView, wait: bool) -> CallsAnswer {
        if self.over {
            return CallsAnswer::Nothing;
        }
        if !self.began || wait {
            analysis.start_calls();
        }
        if wait {
            analysis.wait_for_calls();
        }
        let began = std::mem::replace(&mut self.began, true);
        let is_known = analysis.known_calls().is_some();
        self.over = is_known || analysis.calls_share().is_none();
        match (self.over, is_known) {
            (false, _) if began => CallsAnswer::Nothing,
            (false, _) => CallsAnswer::Begun,
            (true, true) => CallsAnswer::Found,
            // It may have ended after it was asked for what it found.
            (true, false) if analysis.known_calls().is_some() => CallsAnswer::Found,
            (true, false) => CallsAnswer::Lost,
        }
    }
}
