//! The source of a predicate, as far as it can be read, with the figures of its goals beside their lines and those of its clauses above
//! them. It scrolls, and has a cursor.

use std::collections::BTreeMap;

use portmortem_analyzer::calls::Goal;
use portmortem_analyzer::calls::figures::SlowCall;
use portmortem_analyzer::figures::clauses::ClauseFigures;
use portmortem_analyzer::figures::{Caller, Determinism, SiteFigures};
use portmortem_analyzer::sources;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::names::printable;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::analysis::AnalysisView;
use crate::format::{bar, count, right, rounded, time, width};
use crate::keys::Action;
use crate::table::first_row;
use crate::theme::Theme;

/// Lines before the first clause, and after the last goal or clause, at least.
const BEFORE: u32 = 10;
const AFTER: u32 = 60;

/// More lines are not read.
const LINES: usize = 5000;

/// Width of the bars of times.
const BAR: usize = 4;

/// The source around the clauses of a predicate.
#[derive(Debug, Default)]
pub(super) struct SourceView {
    /// `file:line`, or why it is not known.
    place: String,
    /// What the predicate did as to determinism, if that is known.
    determinism: Option<&'static str>,
    rows: Vec<Row>,
    /// By line.
    goals: BTreeMap<u32, GoalsOfLine>,
    cursor: usize,
    first: usize,
    /// The cursor was put there, and not moved there: lines before it are to be seen, too.
    is_placed: bool,
    area: Rect,
}

/// A row of the list.
#[derive(Debug)]
struct Row {
    /// Of the source, or of the clause that the text is about.
    line: u32,
    text: String,
    /// It is what came of the entries of a clause.
    is_figures: bool,
}

/// What goals on a line did.
#[derive(Debug, Default)]
pub(super) struct GoalsOfLine {
    figures: SiteFigures,
    /// Those that were called, the one with the most time first.
    goals: Vec<(u64, Goal)>,
}

impl SourceView {
    /// The cursor is on the line of the hottest goal, or where the predicate begins.
    pub(super) fn of(analysis: &AnalysisView, predicate: PredicateIndex) -> Self {
        let byrd = analysis.trace.header().mode.byrd;
        let figures = analysis.profile.predicates.get(predicate as usize);
        let determinism = figures.and_then(|figures| figures.determinism(byrd));
        let mut view = Self {
            determinism: determinism.map(Determinism::name),
            ..Self::default()
        };
        let Some((file, begin)) = analysis.source(predicate) else {
            "source: not known".clone_into(&mut view.place);
            return view;
        };
        view.place = format!("{}:{begin}", printable(file));
        view.goals = goals(analysis, predicate, file);
        let clauses = clauses(analysis, predicate, file);
        if analysis.sources && begin > 0 {
            let known = || view.goals.keys().chain(clauses.keys()).copied();
            let first = known().chain([begin]).min().unwrap_or(begin);
            let last = known().chain([begin]).max().unwrap_or(begin);
            let first = first.saturating_sub(BEFORE).max(1);
            let most = (last - first + AFTER) as usize;
            // What cannot be read is not there: the file may have moved since.
            let lines = sources::lines(&analysis.locate(file), first, most.min(LINES));
            for (line, text) in lines.unwrap_or_default() {
                let figures = clauses.get(&line).into_iter().flatten();
                view.rows.extend(figures.map(|clause| Row {
                    line,
                    text: entries(analysis, clause),
                    is_figures: true,
                }));
                view.rows.push(Row {
                    line,
                    text,
                    is_figures: false,
                });
            }
        }
        let hottest = view.goals.iter().rev();
        let hottest = hottest.max_by_key(|(_, goals)| goals.figures.served_ticks);
        view.go_to(hottest.map_or(begin, |(&line, _)| line));
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

    /// Puts the cursor on a line.
    pub(super) fn go_to(&mut self, line: u32) {
        let is_it = |row: &Row| row.line == line && !row.is_figures;
        self.cursor = self.rows.iter().position(is_it).unwrap_or(0);
        self.is_placed = true;
    }

    /// How many lines can be shown.
    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The line that the cursor is on, if the source can be read.
    pub(super) fn line(&self) -> Option<u32> {
        self.rows.get(self.cursor).map(|row| row.line)
    }

    fn goals_here(&self) -> &[(u64, Goal)] {
        let goals = self.line().and_then(|line| self.goals.get(&line));
        goals.map_or(&[], |goals| &goals.goals)
    }

    /// What the hottest goal on the line of the cursor calls.
    pub(super) fn callee(&self) -> Option<PredicateIndex> {
        self.goals_here().first().map(|(_, goal)| goal.callee)
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
        let last = self.rows.len().saturating_sub(1);
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
        if place >= self.rows.len() {
            return Some(false);
        }
        Some(std::mem::replace(&mut self.cursor, place) == place)
    }

    /// All of it as text.
    pub(super) fn text(&self, analysis: &AnalysisView) -> String {
        let widths = self.widths(analysis);
        let rows = self.rows.iter();
        rows.map(|row| self.row_text(analysis, row, &widths).trim_end().to_owned() + "\n")
            .collect()
    }

    /// The text of the line that the cursor is on.
    pub(super) fn text_here(&self) -> Option<String> {
        self.rows.get(self.cursor).map(|row| row.text.clone())
    }

    fn row_text(&self, analysis: &AnalysisView, row: &Row, widths: &Widths) -> String {
        if row.is_figures {
            return row.text.clone();
        }
        let number = right(&row.line.to_string(), widths.number);
        let figures = self.figures(analysis, row.line, widths);
        format!("{number} {figures} {}", row.text)
    }

    /// Time, calls and failures of the goals on a line.
    fn figures(&self, analysis: &AnalysisView, line: u32, widths: &Widths) -> String {
        if self.goals.is_empty() {
            return String::new();
        }
        let cells = self.goals.get(&line).map(|goals| {
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
        let last = self.rows.last().map_or(0, |row| row.line);
        let most = |cell: &dyn Fn(&SiteFigures) -> String| {
            let cells = self
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
        let mut heading = self.place.clone();
        if let Some(determinism) = self.determinism {
            heading += &format!("  {determinism} in this run");
        }
        if !self.goals.is_empty() && !self.rows.is_empty() {
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
        buf.set_stringn(area.x, area.y, self.heading(analysis), room, theme.heading);
        self.area = Rect {
            y: area.y + 1,
            height: area.height - 1,
            ..area
        };
        let height = usize::from(self.area.height);
        if std::mem::take(&mut self.is_placed) {
            self.first = self.cursor.saturating_sub(height / 3);
        }
        self.first = first_row(self.first, self.cursor, height, self.rows.len());
        let widths = self.widths(analysis);
        let served = |goals: &GoalsOfLine| goals.figures.served_ticks;
        let most = self.goals.values().map(served).max().unwrap_or(0);
        for (y, at) in (self.area.y..self.area.bottom()).zip(self.first..) {
            let Some(row) = self.rows.get(at) else { break };
            let is_here = at == self.cursor;
            let style = if is_here && !has_focus {
                theme.subject
            } else {
                theme.text
            };
            let sign = if is_here { '>' } else { ' ' };
            let line = if row.is_figures {
                Line::from(vec![
                    Span::styled(format!("{sign}{}", " ".repeat(widths.number + 1)), style),
                    Span::styled(row.text.clone(), theme.key),
                ])
            } else {
                let mut spans = vec![Span::styled(
                    format!("{sign}{} ", right(&row.line.to_string(), widths.number)),
                    style,
                )];
                if most > 0 {
                    let served = self.goals.get(&row.line).map_or(0, served);
                    spans.push(Span::styled(bar(served, most, BAR) + " ", theme.bar));
                }
                let figures = self.figures(analysis, row.line, &widths);
                spans.push(Span::styled(format!("{figures} "), theme.key));
                spans.push(Span::styled(row.text.clone(), style));
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

/// By line: what the goals of the predicate's clauses called, if the trace says which did. Only those in the file of its first
/// clause.
fn goals(
    analysis: &AnalysisView,
    predicate: PredicateIndex,
    file: &str,
) -> BTreeMap<u32, GoalsOfLine> {
    let mut lines = BTreeMap::<u32, GoalsOfLine>::new();
    for site in analysis.tables().site_list() {
        if site.caller == Caller::Predicate(predicate)
            && site.file() == Some(file)
            && let Some(line) = site.line()
        {
            let of_line = lines.entry(line).or_default();
            of_line.figures.add(&site.figures);
            let goal = Goal {
                callee: site.callee,
                caller: site.caller,
                site: site.site,
            };
            of_line.goals.push((site.figures.served_ticks, goal));
        }
    }
    for of_line in lines.values_mut() {
        of_line
            .goals
            .sort_by_key(|&(ticks, _)| std::cmp::Reverse(ticks));
    }
    lines
}

/// By line where it begins: number and figures of each clause of the predicate that was entered, if the trace says so. Only those in the
/// file of its first one.
fn clauses(
    analysis: &AnalysisView,
    predicate: PredicateIndex,
    file: &str,
) -> BTreeMap<u32, Vec<(u32, ClauseFigures)>> {
    let mut lines = BTreeMap::<u32, Vec<(u32, ClauseFigures)>>::new();
    for clause in analysis.tables().clause_list() {
        if clause.predicate == predicate
            && clause.file() == Some(file)
            && let Some(info) = clause.info()
        {
            let at = lines.entry(info.line).or_default();
            at.push((info.number, clause.figures));
        }
    }
    lines
}

/// What came of the entries of a clause.
fn entries(analysis: &AnalysisView, (number, figures): &(u32, ClauseFigures)) -> String {
    let mut text = format!(
        "clause {number}: entered {}, in vain {}",
        count(figures.entered),
        count(figures.failed)
    );
    if figures.failed > 0 {
        text += &format!(" for {}", time(analysis.ns(figures.failed_ticks)));
    }
    text += &format!(", self {}", time(analysis.ns(figures.self_ticks)));
    if figures.left > 0 {
        text += &format!(
            ", left {} choices, {} unused",
            count(figures.left),
            count(figures.left_unused())
        );
    }
    text
}
