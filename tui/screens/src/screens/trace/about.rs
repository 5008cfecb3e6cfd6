//! What the trace is, what is lost or damaged in it, which laws hold, what the recorder notes.

use portmortem_analyzer::advice::record_hint;
use portmortem_analyzer::remarks;
use portmortem_analyzer::trace::names::printable;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Effect;
use crate::analysis::AnalysisView;
use crate::format::{count, counted, time};
use crate::keys::Action;
use crate::theme::Theme;

/// More damaged places, notes and so on than this are only counted.
const MOST_LISTED: usize = 200;

/// The text, and how far it is scrolled.
#[derive(Debug, Default)]
pub(super) struct About {
    lines: Vec<AboutLine>,
    first: usize,
    height: usize,
    rows: usize,
}

/// A line of text.
#[derive(Debug)]
struct AboutLine {
    kind: RemarkKind,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RemarkKind {
    Heading,
    Text,
    Warning,
}

impl About {
    pub(super) fn follow(&mut self, analysis: &AnalysisView) {
        self.lines = lines(analysis);
    }

    pub(super) fn act(&mut self, action: Action) -> Effect {
        let last = self.rows.saturating_sub(self.height);
        let page = self.height.max(2) - 1;
        self.first = match action {
            Action::Up => self.first.saturating_sub(1),
            Action::Down => self.first + 1,
            Action::PageUp => self.first.saturating_sub(page),
            Action::PageDown => self.first + page,
            Action::Top => 0,
            Action::Bottom => last,
            _ => return Effect::Unused,
        }
        .min(last);
        Effect::Done
    }

    /// All lines.
    pub(super) fn text(&self) -> String {
        let lines = self.lines.iter();
        lines.map(|line| line.text.clone() + "\n").collect()
    }

    pub(super) fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let room = usize::from(area.width).saturating_sub(2);
        let mut rows = Vec::new();
        for line in &self.lines {
            let style = match line.kind {
                RemarkKind::Heading => theme.heading,
                RemarkKind::Text => theme.text,
                RemarkKind::Warning => theme.warning,
            };
            let options = textwrap::Options::new(room.max(1)).subsequent_indent("            ");
            let wrapped = textwrap::wrap(&line.text, options).into_iter();
            rows.extend(wrapped.map(|text| (text.into_owned(), style)));
        }
        self.rows = rows.len();
        self.height = area.height.into();
        self.first = self.first.min(self.rows.saturating_sub(self.height));
        for (y, (text, style)) in (area.y..area.bottom()).zip(rows.iter().skip(self.first)) {
            buf.set_stringn(area.x + 1, y, text, room, *style);
        }
    }
}

fn lines(analysis: &AnalysisView) -> Vec<AboutLine> {
    let mut all = Vec::new();
    let mut add = |kind, text: String| all.push(AboutLine { kind, text });
    add(RemarkKind::Heading, "Recording".to_owned());
    for (key, value) in properties(analysis) {
        add(RemarkKind::Text, format!("{key:<12}{value}"));
    }
    add(RemarkKind::Text, String::new());
    add(RemarkKind::Heading, "Losses and damage".to_owned());
    let profile = &analysis.profile;
    let losses = remarks::losses(analysis, MOST_LISTED);
    if losses.is_empty() {
        add(
            RemarkKind::Text,
            "none: every event was read, every checksum agrees".to_owned(),
        );
    }
    losses
        .into_iter()
        .for_each(|line| add(RemarkKind::Warning, line));
    add(RemarkKind::Text, String::new());
    add(RemarkKind::Heading, "Conservation laws".to_owned());
    if analysis.imbalances.is_empty() {
        let text = format!(
            "all hold: ports, choicepoints, call graph and call tree of {}, time of {}",
            counted(profile.predicates.len() as u64, "predicate", "predicates"),
            counted(profile.streams.len() as u64, "stream", "streams")
        );
        add(RemarkKind::Text, text);
    }
    for defect in remarks::defects(analysis, MOST_LISTED) {
        add(RemarkKind::Warning, defect);
    }
    add(RemarkKind::Text, String::new());
    add(RemarkKind::Heading, "How to read the figures".to_owned());
    add(
        RemarkKind::Text,
        "times are as recorded and include the recorder's own, most where calls are cheapest"
            .to_owned(),
    );
    if analysis.trace.header().mode.byrd {
        let how = record_hint(&analysis.trace, "recorded with --byrd: ");
        add(
            RemarkKind::Text,
            format!("{how}every exit can be redone, so redos and fails are Debray's"),
        );
    }
    if let Some(folded) = remarks::folded(analysis) {
        add(RemarkKind::Text, folded);
    }
    for note in analysis.trace.notes().iter().take(MOST_LISTED) {
        add(RemarkKind::Text, format!("note: {}", printable(note)));
    }
    all
}

fn properties(analysis: &AnalysisView) -> Vec<(&'static str, String)> {
    let trace = &analysis.trace;
    let header = trace.header();
    let clock = trace.clock().ticks_per_second() / 1e6;
    vec![
        ("command", printable(&header.command.join(" "))),
        ("directory", printable(&header.directory)),
        ("engine", printable(&header.engine)),
        ("recorder", remarks::recorder(trace)),
        ("machine", printable(&header.machine)),
        ("ended", remarks::ending(trace)),
        ("mode", remarks::modes(trace)),
        ("clock", format!("{:?}, {clock:.3} MHz", header.clock)),
        ("size", format!("{} bytes", count(trace.file_size()))),
        ("events", count(analysis.events())),
        ("predicates", count(trace.predicates().len() as u64)),
        ("streams", count(analysis.profile.streams.len() as u64)),
        ("traced", time(analysis.ns(analysis.profile.total_ticks()))),
        ("whole", analysis.whole_in_words()),
        ("recording", recording(analysis)),
        (
            "waiting",
            remarks::waiting(analysis).unwrap_or_else(|| "none recorded".to_owned()),
        ),
        (
            "undone",
            remarks::undone(analysis).unwrap_or_else(|| "nothing".to_owned()),
        ),
    ]
}

/// How much of the time recording took.
fn recording(analysis: &AnalysisView) -> String {
    let clamps = analysis.profile.net.as_ref().map_or(0, |net| net.clamps);
    let contexts = counted(clamps, "context", "contexts");
    let share = remarks::recording_share(analysis);
    format!("{share}; {contexts} took less than recording costs")
}
