//! What happened, in a few lines above the predicates: how the run ended, its times, what was waited for, collected, undone and left
//! unused, and the hottest path. The sentences are those of `portmortem report`.

use portmortem_analyzer::figures::Caller;
use portmortem_analyzer::hottest_path::hottest_paths;
use portmortem_analyzer::remarks;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::analysis::AnalysisView;
use crate::format::{counted, shorten, shorten_words, time, width};
use crate::theme::Theme;

/// What is between facts on a line.
const BETWEEN: &str = " · ";
/// What is between two paths.
const AND: &str = "   and   ";

/// What happened.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// The run ended well.
    is_fine: bool,
    facts: Vec<Fact>,
    /// Predicates of the hottest path, each with its share of the work, and of a second one.
    paths: Vec<Vec<String>>,
}

#[derive(Debug)]
struct Fact {
    /// What it is about; empty if the text says that.
    label: &'static str,
    text: String,
}

impl Fact {
    fn width(&self) -> usize {
        let gap = usize::from(!self.label.is_empty());
        width(self.label) + gap + width(&self.text)
    }
}

impl Summary {
    pub(super) fn of(analysis: &AnalysisView) -> Self {
        let is_running = analysis.is_running();
        let ending = if is_running {
            "still being recorded".to_owned()
        } else {
            remarks::ending(&analysis.trace)
        };
        let recorded = format!(
            "{} recorded",
            time(analysis.ns(analysis.profile.total_ticks()))
        );
        let facts = [
            ("", Some(ending.clone())),
            ("", Some(recorded)),
            ("", Some(remarks::recording_share(analysis))),
            ("uncaught", uncaught(analysis)),
            ("waiting", remarks::waiting(analysis)),
            ("collections", remarks::collections(analysis)),
            ("undone", remarks::undone(analysis)),
            (
                "choicepoints never used",
                // Those of a chain of last calls share one choicepoint.
                remarks::unused_choicepoints(analysis).map(|text| text + " boxes"),
            ),
        ];
        let facts = facts.into_iter().filter_map(|(label, text)| {
            let text = text?;
            Some(Fact { label, text })
        });
        let work = analysis.work();
        let step = |(predicate, ticks): (_, u64)| {
            let share = ticks as f64 * 100.0 / work.ticks.max(1) as f64;
            format!("{} {share:.0} %", analysis.short_name(predicate))
        };
        let paths = hottest_paths(&analysis.profile, work).into_iter();
        let paths = paths.map(|path| path.into_iter().map(step).collect());
        Self {
            is_fine: is_running || ending == "exit status 0",
            facts: facts.collect(),
            paths: paths.collect(),
        }
    }

    /// The lines, at most so many of this width: each fact is on the first one with room for it; the last one is the hottest path.
    pub(super) fn lines(&self, most: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let path = self.path_line(room, theme).filter(|_| most > 0);
        let most = most.saturating_sub(usize::from(path.is_some()));
        let mut lines: Vec<Line> = Vec::new();
        for (at, fact) in self.facts.iter().enumerate() {
            let fits = |line: &Line| line.width() + width(BETWEEN) + fact.width() <= room;
            let place = lines.iter().position(fits);
            if place.is_none() {
                if lines.len() == most {
                    continue;
                }
                lines.push(Line::default());
            }
            let line = place.unwrap_or(lines.len() - 1);
            let line = &mut lines[line];
            if !line.spans.is_empty() {
                line.push_span(Span::styled(BETWEEN, theme.faint));
            }
            let left = room.saturating_sub(fact.width() - width(&fact.text));
            if !fact.label.is_empty() {
                line.push_span(Span::styled(format!("{} ", fact.label), theme.key));
            }
            let style = if at == 0 && !self.is_fine {
                theme.warning
            } else {
                theme.text
            };
            line.push_span(Span::styled(shorten_words(&fact.text, left), style));
        }
        lines.extend(path);
        lines
    }

    fn path_line(&self, room: usize, theme: &Theme) -> Option<Line<'static>> {
        const LABEL: &str = "hottest path ";
        let first = self.paths.first()?;
        let room = room.saturating_sub(width(LABEL));
        let mut path = useful_end(first, room);
        if let Some(second) = self.paths.get(1) {
            // Where there is room for both, each has at least the end.
            let left = room.saturating_sub(width(&path) + width(AND));
            let beside = useful_end(second, left);
            if width(&beside) <= left {
                path = path + AND + &beside;
            } else {
                let half = room.saturating_sub(width(AND)) / 2;
                let both = [first, second].map(|path| useful_end(path, half));
                if both.iter().all(|path| width(path) <= half) {
                    path = both.join(AND);
                }
            }
        }
        let path = shorten(&path, room);
        let label = Span::styled(LABEL, theme.key);
        Some(Line::from(vec![label, Span::styled(path, theme.text)]))
    }

    /// Draws it at the top, in a quarter of the height at most; what is left below.
    pub(super) fn draw(&self, area: Rect, buf: &mut Buffer, theme: &Theme) -> Rect {
        let room = area.width.saturating_sub(2);
        let lines = self.lines((area.height / 4).into(), room.into(), theme);
        for (y, line) in (area.y..).zip(&lines) {
            buf.set_line(area.x + 1, y, line, room);
        }
        let used = lines.len() as u16;
        Rect {
            y: area.y + used,
            height: area.height - used,
            ..area
        }
    }
}

/// Exceptions that left all boxes, and out of which they came last; `None` if there are none.
fn uncaught(analysis: &AnalysisView) -> Option<String> {
    let edges = analysis.profile.edges.iter();
    let out = edges.filter(|((caller, _), edge)| *caller == Caller::Root && edge.exceptions > 0);
    let mut names = Vec::new();
    let mut all = 0_u64;
    for (&(_, callee), edge) in out {
        all = all.saturating_add(edge.exceptions);
        names.push(analysis.short_name(callee));
    }
    let many = counted(all, "exception", "exceptions");
    (all > 0).then(|| format!("{many} out of {} (!)", names.join(", ")))
}

/// As many steps of a path as have room, those at its end; `…` for the rest. Only a last step that is too long is cut itself.
fn useful_end(path: &[String], room: usize) -> String {
    let from = |first: usize| {
        let before = if first == 0 { "" } else { "… > " };
        before.to_owned() + &path[first..].join(" > ")
    };
    let mut all = (0..path.len()).map(from);
    let fitting = all.find(|text| width(text) <= room);
    fitting.unwrap_or_else(|| from(path.len().saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::useful_end;

    #[test]
    fn the_end_of_a_path_is_kept_and_steps_are_not_cut() {
        let path = ["main/0 100 %", "tour/1 99 %", "best/3 98 %"].map(str::to_owned);
        assert_eq!(
            useful_end(&path, 40),
            "main/0 100 % > tour/1 99 % > best/3 98 %"
        );
        assert_eq!(useful_end(&path, 39), "… > tour/1 99 % > best/3 98 %");
        assert_eq!(useful_end(&path, 28), "… > best/3 98 %");
        assert_eq!(useful_end(&path, 8), "… > best/3 98 %");
    }
}
