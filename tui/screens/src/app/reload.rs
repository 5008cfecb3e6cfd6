//! Reading the trace again: when the user asks for it, and again and again while it is still being
//! recorded.

use portmortem_analyzer::Filters;

use super::App;

impl App {
    /// Reads the trace again whenever it may have grown, until it ends.
    #[must_use]
    pub fn following(mut self, follow: bool) -> Self {
        self.recording.follow(follow);
        self
    }

    /// What is said of a trace that is still being recorded.
    pub(crate) fn recording(&self) -> Option<String> {
        self.recording.growth()
    }

    /// Reads the trace again, as it is now; `false` if it cannot be.
    pub(super) fn reload(&mut self) -> bool {
        let same_predicates = match self.recording.read_again() {
            Ok(same) => same,
            Err(error) => {
                self.say(error.to_string());
                return false;
            }
        };
        if !same_predicates {
            // Filters name predicates by their places.
            self.filters = Filters::default().of(self.recording.trace());
        }
        self.history.trace_was_read_again(same_predicates);
        self.analyse();
        true
    }

    /// Reads the trace again if it is time to.
    pub(super) fn follow_trace(&mut self) {
        let free = self.job.is_none() && self.overlay.is_none() && self.shown().is_ready();
        if free && self.recording.begin_if_due() {
            self.reload();
        }
    }
}
