//! A range of time that a user marks, and how it is typed on the command line.

use portmortem_analyzer::Window;

use crate::analysis::AnalysisView;
use crate::format::time;
use crate::screen::Effect;

/// The ends that are marked, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct MarkedRange {
    pub(crate) from: Option<u64>,
    /// The first tick after it.
    pub(crate) until: Option<u64>,
}

impl MarkedRange {
    /// Marks an end, or takes the mark away if it is there already; says what is missing to a
    /// range. A whole one the screen shows itself.
    pub(crate) fn mark(&mut self, end: bool, tick: u64, analysis: &AnalysisView) -> Effect {
        let place = if end { &mut self.until } else { &mut self.from };
        *place = if *place == Some(tick) {
            None
        } else {
            Some(tick)
        };
        let missing = match (self.window(analysis), self.from, self.until) {
            (Some(_), ..) => return Effect::Done,
            (None, Some(_), Some(_)) => "the range ends before it begins",
            (None, None, None) => "no range is marked",
            (None, ..) => "[ marks where a range begins, ] where it ends",
        };
        Effect::Say(missing.to_owned())
    }

    /// The marked range, to whole nanoseconds, as the option says it.
    pub(crate) fn window(&self, analysis: &AnalysisView) -> Option<Window> {
        let (from, until) = self.from.zip(self.until)?;
        (from < until).then(|| Window { from, until }.in_ns(&analysis.trace))
    }

    /// What is marked, in words; `None` if nothing is.
    pub(crate) fn line(&self, analysis: &AnalysisView) -> Option<String> {
        let window = self.window(analysis)?;
        let length = time(analysis.ns(window.until - window.from));
        let text = window.text(&analysis.trace);
        Some(format!(
            "marked: --time {text} ({length}); W looks only there"
        ))
    }
}
