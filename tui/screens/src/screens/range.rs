//! A range of time that a user marks, and how it is typed on the command line.

use portmortem_analyzer::Window;

use super::Effect;
use crate::analysis::AnalysisView;
use crate::format::time;

/// The ends that are marked, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct MarkedRange {
    pub(super) from: Option<u64>,
    /// The first tick after it.
    pub(super) until: Option<u64>,
}

impl MarkedRange {
    /// Marks an end, or takes the mark away if it is there already.
    pub(super) fn mark(&mut self, end: bool, tick: u64, analysis: &AnalysisView) -> Effect {
        let place = if end { &mut self.until } else { &mut self.from };
        *place = if *place == Some(tick) {
            None
        } else {
            Some(tick)
        };
        Effect::Say(match (self.line(analysis), self.from, self.until) {
            (Some(line), ..) => line,
            (None, Some(_), Some(_)) => "the range ends before it begins".to_owned(),
            (None, None, None) => "no range is marked".to_owned(),
            (None, ..) => "[ marks where a range begins, ] where it ends".to_owned(),
        })
    }

    /// The marked range, to whole nanoseconds, as the option says it.
    pub(super) fn window(&self, analysis: &AnalysisView) -> Option<Window> {
        let (from, until) = self.from.zip(self.until)?;
        (from < until).then(|| Window { from, until }.in_ns(&analysis.trace))
    }

    /// What is marked, in words; `None` if nothing is.
    pub(super) fn line(&self, analysis: &AnalysisView) -> Option<String> {
        let window = self.window(analysis)?;
        let length = time(analysis.ns(window.until - window.from));
        let text = window.text(&analysis.trace);
        Some(format!(
            "marked: --time {text} ({length}); W looks only there"
        ))
    }
}
