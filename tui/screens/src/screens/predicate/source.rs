//! The source of a predicate, as far as it can be read, with the figures of its goals beside their lines and those of its clauses above
//! them. It scrolls, and has a cursor.

use portmortem_analyzer::calls::Goal;
use portmortem_analyzer::calls::figures::SlowCall;
use portmortem_analyzer::figures::{Determinism, SiteFigures};
use portmortem_analyzer::trace::PredicateIndex;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::listing::{GoalsOfLine, SourceListing, SourceRow};
use crate::analysis::AnalysisView;
use crate::format::{bar, right, rounded, shorten, shorten_words, time, width};
use crate::keys::Action;
use crate::table::first_row;
use crate::theme::Theme;

/// Width of the bars of times.
const BAR: usize = 4;

/// The source around the clauses of a predicate.
#[derive(Debug, Default)]
pub(super) struct SourceView {
    listing: SourceListing,
    /// What the predicate did as to determinism, if that is known.
    determinism: Option<&'static str>,
    cursor: usize,
    first: usize,
    /// The cursor was put there, and not moved there: lines before it are to be seen, too.
    is_placed: bool,
    area: Rect,
}

/// Where the user is in it.
#[derive(Debug, Clone, Default)]
pub(super) struct SourceSpot {
    line: Option<u32>,
    first: usize,
    is_placed: bool,
}

impl SourceView {
    /// The cursor is on the line of the hottest goal, or where the predicate begins.
    pub(super) fn of(analysis: &AnalysisView, predicate: PredicateIndex) -> Self {
        let byrd = analysis.trace.header().mode.byrd;
        let figures = analysis.profile.predicates.get(predicate as usize);
        let determinism = figures.and_then(|figures| figures.determinism(byrd));
        let mut view = Self {
            listing: SourceListing::of(analysis, predicate),
            determinism: determinism.map(Determinism::name),
            ..Self::default()
        };
        let goals = view.listing.goals.iter().rev();
        let hottest = goals.max_by_key(|(_, goals)| goals.figures.served_ticks);
        view.go_to(hottest.map_or(view.listing.begin, |(&line, _)| line));
        view
    }

    /// The same source with the figures of another analysis; the cursor stays on its line.
    pub(super) fn follow(&mut self, analysis: &AnalysisView, predicate: PredicateIndex) {
        let line = self.line();
        let (first, area) = (self.first, self.area);
        *self = Self {
            area,
            ..Self::of(analysis, predicate)
        };
        if let Some(line) = line {
            self.go_to(line);
            (self.first, self.is_placed) = (first, false);
        }
    }

    /// Whether a line can be shown.
    pub(super) fn has(&self, line: u32) -> bool {
        self.listing.rows.iter().any(|row| row.line == line)
    }

    /// Puts the cursor on a line.
    pub(super) fn go_to(&mut self, line: u32) {
        let is_it = |row: &SourceRow| row.line == line && !row.is_figures;
        self.cursor = self.listing.rows.iter().position(is_it).unwrap_or(0);
        self.is_placed = true;
    }

    /// Where the user is.
    pub(super) fn spot(&self) -> SourceSpot {
        SourceSpot {
            line: self.line(),
            first: self.first,
            is_placed: self.is_placed,
        }
    }

    /// Goes back there.
    pub(super) fn recall(&mut self, spot: &SourceSpot) {
        if let Some(line) = spot.line {
            self.go_to(line);
            (self.first, self.is_placed) = (spot.first, spot.is_placed);
        }
    }

    /// How many lines can be shown.
    pub(super) fn rows(&self) -> usize {
        self.listing.rows.len()
    }

    /// The line that the cursor is on, if the source can be read.
    pub(super) fn line(&self) -> Option<u32> {
        self.listing.rows.get(self.cursor).map(|row| row.line)
    }

    fn goals_here(&self) -> &[(u64, Goal)] {
        let goals = self.line().and_then(|line| self.listing.goals.get(&line));
        goals.map_or(&[], |goals| &goals.goals)
    }

    /// Where the hottest goal on the line of the cursor leads to: what it calls, or, if that is `subject`, whose clause it is in.
    pub(super) fn leads_to(&self, subject: PredicateIndex) -> Option<PredicateIndex> {
        let (_, goal) = self.goals_here().first()?;
        match goal.callee {
            callee if callee == subject => goal.caller.predicate(),
            callee => Some(callee),
        }
    }

    /// The file and the line that the cursor is on, if the source can be read.
    pub(super) fn place(&self) -> Option<(&str, u32)> {
        Some((self.listing.file.as_deref()?, self.line()?))
    }

    /// The slowest call that the goals on the line of the cursor made, of those whose times are known.
    pub(super) fn slowest<'a>(&self, analysis: &'a AnalysisView) -> Option<&'a SlowCall> {
        let calls = analysis.known_calls()?;
        let goals = self.goals_here().iter();
        let slowest = goals.filter_map(|(_, goal)| calls.goal(goal)?.slowest.first());
        slowest.max_by_key(|call| call.ticks)
    }

    /// Moves the cursor; `false` if the action is not about that.
    pub(super) fn act(&mut self, action: Action) -> bool {
        let last = self.listing.rows.len().saturating_sub(1);
        let page = usize::from(self.area.height).max(2) - 1;
        self.cursor = match action {
            Action::Up => self.cursor.saturating_sub(1),
            Action::Down => self.cursor + 1,
            Action::PageUp => self.cursor.saturating_sub(page),
            Action::PageDown => self.cursor + page,
            Action::Top => 0,
            Action::Bottom => last,
            _ => return false,
        }
        .min(last);
        true
    }

    /// Puts the cursor where a click was; whether a click was here, and whether it was there already.
    pub(super) fn click(&mut self, x: u16, y: u16) -> Option<bool> {
        if !self.area.contains((x, y).into()) {
            return None;
        }
        let place = self.first + usize::from(y - self.area.y);
        if place >= self.listing.rows.len() {
            return Some(false);
        }
        Some(std::mem::replace(&mut self.cursor, place) == place)
    }

    /// All of it as text.
    pub(super) fn text(&self, analysis: &AnalysisView) -> String {
        let widths = self.widths(analysis);
        let rows = self.listing.rows.iter();
        rows.map(|row| self.row_text(analysis, row, &widths).trim_end().to_owned() + "\n")
            .collect()
    }

    /// The text of the line that the cursor is on.
    pub(super) fn text_here(&self) -> Option<String> {
        self.listing
            .rows
            .get(self.cursor)
            .map(|row| row.text.clone())
    }

    fn row_text(&self, analysis: &AnalysisView, row: &SourceRow, widths: &Widths) -> String {
        if row.is_figures {
            return row.text.clone();
        }
        let number = right(&row.line.to_string(), widths.number);
        let figures = self.figures(analysis, row.line, widths);
        format!("{number} {figures} {}", row.text)
    }

    /// Time, calls and failures of the goals on a line.
    fn figures(&self, analysis: &AnalysisView, line: u32, widths: &Widths) -> String {
        if self.listing.goals.is_empty() {
            return String::new();
        }
        let cells = self.listing.goals.get(&line).map(|goals| {
            [
                time(analysis.ns(goals.figures.served_ticks)),
                rounded(goals.figures.calls),
                rounded(goals.figures.fails),
            ]
        });
        let cells = cells.unwrap_or_default();
        let cells = cells.iter().zip(&widths.figures);
        let cells: Vec<String> = cells.map(|(cell, &width)| right(cell, width)).collect();
        cells.join(" ")
    }

    fn widths(&self, analysis: &AnalysisView) -> Widths {
        let last = self.listing.rows.last().map_or(0, |row| row.line);
        let most = |cell: &dyn Fn(&SiteFigures) -> String| {
            let cells = self
                .listing
                .goals
                .values()
                .map(|goals| width(&cell(&goals.figures)));
            cells.max().unwrap_or(0)
        };
        Widths {
            number: width(&last.to_string()),
            figures: [
                most(&|figures| time(analysis.ns(figures.served_ticks))),
                most(&|figures| rounded(figures.calls)),
                most(&|figures| rounded(figures.fails)),
            ],
        }
    }

    fn heading(&self, analysis: &AnalysisView) -> String {
        let mut heading = self.listing.place.clone();
        if let Some(determinism) = self.determinism {
            heading += &format!("  {determinism} in this run");
        }
        if !self.listing.goals.is_empty() && !self.listing.rows.is_empty() {
            let recorded = if analysis.is_net() { "recorded " } else { "" };
            heading += &format!("  goals: {recorded}time served, calls, fails");
        }
        heading
    }

    /// Draws it; `has_focus`: keys move its cursor.
    pub(super) fn draw(
        &mut self,
        analysis: &AnalysisView,
        has_focus: bool,
        area: Rect,
        buf: &mut Buffer,
        theme: &Theme,
    ) {
        if area.height == 0 {
            return;
        }
        let room = usize::from(area.width);
        buf.set_style(Rect { height: 1, ..area }, theme.heading);
        let heading = shorten_words(&self.heading(analysis), room);
        buf.set_stringn(area.x, area.y, heading, room, theme.heading);
        self.area = Rect {
            y: area.y + 1,
            height: area.height - 1,
            ..area
        };
        let height = usize::from(self.area.height);
        if std::mem::take(&mut self.is_placed) {
            self.first = self.cursor.saturating_sub(height / 3);
        }
        self.first = first_row(self.first, self.cursor, height, self.listing.rows.len());
        let widths = self.widths(analysis);
        let served = |goals: &GoalsOfLine| goals.figures.served_ticks;
        let most = self.listing.goals.values().map(served).max().unwrap_or(0);
        for (y, at) in (self.area.y..self.area.bottom()).zip(self.first..) {
            let Some(row) = self.listing.rows.get(at) else {
                break;
            };
            let is_here = at == self.cursor;
            let style = if is_here && !has_focus {
                theme.subject
            } else {
                theme.text
            };
            let sign = if is_here { '>' } else { ' ' };
            let line = if row.is_figures {
                let left = room.saturating_sub(widths.number + 2);
                Line::from(vec![
                    Span::styled(format!("{sign}{}", " ".repeat(widths.number + 1)), style),
                    Span::styled(shorten_words(&row.text, left), theme.key),
                ])
            } else {
                let mut spans = vec![Span::styled(
                    format!("{sign}{} ", right(&row.line.to_string(), widths.number)),
                    style,
                )];
                if most > 0 {
                    let served = self.listing.goals.get(&row.line).map_or(0, served);
                    spans.push(Span::styled(bar(served, most, BAR) + " ", theme.bar));
                }
                let figures = self.figures(analysis, row.line, &widths);
                spans.push(Span::styled(format!("{figures} "), theme.key));
                let used: usize = spans.iter().map(Span::width).sum();
                let text = shorten(&row.text, room.saturating_sub(used));
                spans.push(Span::styled(text, style));
                Line::from(spans)
            };
            buf.set_line(area.x, y, &line, area.width);
            if is_here && has_focus {
                let row = Rect {
                    y,
                    height: 1,
                    ..area
                };
                buf.set_style(row, theme.cursor);
            }
        }
    }
}

/// Of numbers of lines, and of time, calls and failures of goals.
struct Widths {
    number: usize,
    figures: [usize; 3],
}
