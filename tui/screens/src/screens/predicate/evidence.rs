//! What is advised about a predicate, and the evidence: a few lines above all else.

use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::names::printable;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::analysis::AnalysisView;
use crate::format::{counted, percent, shorten};
use crate::theme::Theme;

/// From this height on there is room for more than one line.
const HIGH: u16 = 30;

/// The costliest finding about a predicate.
#[derive(Debug, Default)]
pub(super) struct FindingShown {
    /// What it costs and what it is; empty if nothing is advised.
    title: String,
    /// The sentences with the numbers.
    text: String,
}

impl FindingShown {
    pub(super) fn of(analysis: &AnalysisView, predicate: PredicateIndex) -> Self {
        let name = analysis.predicate(predicate);
        let findings = analysis
            .known_advice()
            .into_iter()
            .flat_map(|all| all.iter());
        let mut about = findings.filter(|finding| {
            finding.predicates.contains(&predicate) || finding.place.predicate == name
        });
        let Some(first) = about.next() else {
            return Self::default();
        };
        let whole = first.whole_ticks(analysis.whole().work_ticks);
        let share = percent(first.cost_ticks, whole);
        let more = match about.count() as u64 {
            0 => String::new(),
            more => format!(" (7: {} more)", counted(more, "finding", "findings")),
        };
        Self {
            title: printable(&format!("advice {share} %: {}{more}", first.title)),
            text: printable(&first.evidence),
        }
    }

    /// Draws it at the top; what is left below.
    pub(super) fn draw(&self, area: Rect, buf: &mut Buffer, theme: &Theme) -> Rect {
        let room = usize::from(area.width.saturating_sub(2)).max(1);
        if self.title.is_empty() || area.height < HIGH / 2 {
            return area;
        }
        buf.set_stringn(
            area.x + 1,
            area.y,
            shorten(&self.title, room),
            room,
            theme.key,
        );
        let most = if area.height < HIGH { 0 } else { 3 };
        let mut lines = textwrap::wrap(&self.text, room);
        let is_cut = lines.len() > most;
        lines.truncate(most);
        if let Some(last) = lines.last_mut().filter(|_| is_cut) {
            *last = shorten(&format!("{last} …"), room).into();
        }
        for (y, line) in (area.y + 1..area.bottom()).zip(&lines) {
            buf.set_stringn(area.x + 1, y, line, room, theme.text);
        }
        let used = 1 + lines.len() as u16;
        Rect {
            y: area.y + used,
            height: area.height - used,
            ..area
        }
    }
}
