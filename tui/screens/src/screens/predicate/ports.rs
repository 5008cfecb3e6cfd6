//! The four-port box (Byrd; Debray 1988, figure 1) with what went through each port, how the time ended, choicepoints.

use portmortem_analyzer::figures::PredicateFigures;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::parts::PredicateView;
use crate::format::{self, count, time};
use crate::theme::Theme;

const BOX_LINES: u16 = 8;
const BOX_WIDTH: u16 = 60;

/// Draws the box, the choicepoints beside it, and how the time ended below it.
pub(super) fn draw(view: &PredicateView, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let figures = view.figures();
    let below = |y: usize| y < usize::from(area.height);
    for (y, line) in port_box(view, &figures, theme).iter().enumerate() {
        if below(y) {
            buf.set_line(area.x, area.y + y as u16, line, area.width);
        }
    }
    let right = area.x + BOX_WIDTH.min(area.width);
    for (y, line) in choicepoints(view, &figures, theme).iter().enumerate() {
        if below(y) {
            buf.set_line(right, area.y + y as u16, line, area.right() - right);
        }
    }
    let ends = outcomes(&figures, area.width.into(), theme);
    for (y, line) in (usize::from(BOX_LINES)..).zip(&ends) {
        if below(y) {
            buf.set_line(area.x, area.y + y as u16, line, area.width);
        }
    }
}

fn port_box(view: &PredicateView, figures: &PredicateFigures, theme: &Theme) -> Vec<Line<'static>> {
    let [call, exit, redo, fail, exception] = theme.ports;
    let of = |ticks| recorded(view, ticks);
    let times = view.analysis.predicate_times(view.subject);
    let net = |ticks| time(view.analysis.ns(ticks));
    let inside = |text: String, style| Span::styled(format::left(&text, 17), style);
    let line =
        |left: String, left_style, middle: [Span<'static>; 3], right: String, right_style| {
            let [before, inside, after] = middle;
            Line::from(vec![
                Span::styled(format::right(&left, 18), left_style),
                before,
                inside,
                after,
                Span::styled(format::left(&right, 16), right_style),
            ])
        };
    let (left_wall, right_wall) = (|| Span::raw("  │ "), || Span::raw(" │  "));
    let text = theme.text;
    let name = view.analysis.short_name(view.subject).into_owned();
    let exits_ticks = figures
        .inclusive_ticks
        .saturating_sub(figures.failed_ticks)
        .saturating_sub(figures.raised_ticks)
        .saturating_sub(figures.open_ticks);
    let edge =
        |left: &str, right: &str| Line::raw(format!("{:20}{left}{}{right}", "", "─".repeat(19)));
    vec![
        edge("┌", "┐"),
        line(
            format!("call {}", count(figures.calls)),
            call,
            [
                Span::styled("─►│ ", call),
                inside(name, theme.subject),
                Span::styled(" │─►", exit),
            ],
            format!(" exit {}", count(figures.exits())),
            exit,
        ),
        line(
            format!("last calls {}", count(figures.tail_calls)),
            text,
            [
                left_wall(),
                inside(format!("self  {}", net(times.self_ticks)), text),
                right_wall(),
            ],
            outcome_time(view, exits_ticks),
            text,
        ),
        line(
            String::new(),
            text,
            [
                left_wall(),
                inside(format!("incl. {}", net(times.inclusive_ticks)), text),
                right_wall(),
            ],
            format!("{} det", count(figures.exits_det)),
            text,
        ),
        line(
            format!("fail {}", count(figures.fails)),
            fail,
            [
                Span::styled("◄─│ ", fail),
                inside(String::new(), text),
                Span::styled(" │◄─", redo),
            ],
            format!(" redo {}", count(figures.redos)),
            redo,
        ),
        line(
            outcome_time(view, figures.failed_ticks),
            text,
            [
                left_wall(),
                inside(format!("open  {}", count(figures.open)), text),
                right_wall(),
            ],
            format!("undone {}", of(figures.undone_ticks)),
            text,
        ),
        edge("└", "┘"),
        Line::styled(
            format!(
                "{:20}▼ exception {} {}",
                "",
                count(figures.exceptions),
                outcome_time(view, figures.raised_ticks)
            ),
            exception,
        ),
    ]
}

/// A time of which only what was recorded is known, with what is said before it.
fn outcome_time(view: &PredicateView, ticks: u64) -> String {
    let known = (!view.analysis.is_net()).then(|| view.analysis.ns(ticks));
    known.map_or_else(String::new, |ns| format!("in {}", time(ns)))
}

/// A time of which only what was recorded is known.
fn recorded(view: &PredicateView, ticks: u64) -> String {
    let known = (!view.analysis.is_net()).then(|| view.analysis.ns(ticks));
    known.map_or_else(|| "–".to_owned(), time)
}

fn choicepoints(
    view: &PredicateView,
    figures: &PredicateFigures,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let row = |name: &str, value: String| Line::raw(format!("{name:<10}{value:>9}"));
    let unused = figures.cuts.saturating_add(figures.pending);
    vec![
        Line::styled("choicepoints", theme.heading),
        row("left", count(figures.exits_nondet)),
        row("redone", count(figures.redos)),
        row("cut", count(figures.cuts)),
        row("pending", count(figures.pending)),
        row("never used", count(unused)),
        row("lived", recorded(view, figures.lifetime_ticks)),
        row("height", count(figures.max_height)),
    ]
}

/// How the inclusive and the self time ended, as bars and percentages.
fn outcomes(figures: &PredicateFigures, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let row = |name: &str, whole: u64, parts: [u64; 3]| {
        let exits = parts
            .iter()
            .fold(whole, |rest, &part| rest.saturating_sub(part));
        let [_, exit, _, fail, exception] = theme.ports;
        let bar = if width > 76 { 8 } else { 5 };
        let mut spans = vec![Span::raw(format!("{name:<6}"))];
        let shares: [(&str, u64, Style); 4] = [
            ("exits", exits, exit),
            ("fails", parts[0], fail),
            ("raised", parts[1], exception),
            ("open", parts[2], theme.text),
        ];
        for (what, part, style) in shares {
            let percent = format::percent(part, whole);
            spans.push(Span::raw(format!(" {what} {percent}% ")));
            spans.push(Span::styled(
                format::bar(part, whole, bar).trim_end().to_owned(),
                style,
            ));
        }
        Line::from(spans)
    };
    vec![
        row(
            "incl.",
            figures.inclusive_ticks,
            [
                figures.failed_ticks,
                figures.raised_ticks,
                figures.open_ticks,
            ],
        ),
        row(
            "self",
            figures.self_ticks,
            [
                figures.self_failed_ticks,
                figures.self_raised_ticks,
                figures.self_open_ticks,
            ],
        ),
    ]
}
