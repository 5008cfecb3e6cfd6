//! Drawing of the predicate screen: the neighbours, the four-port box (Byrd; Debray 1988, figure 1) with what
//! went through each port, how the time ended, choicepoints, source.

use portmortem_analyzer::figures::clauses::ClauseFigures;
use portmortem_analyzer::figures::{Determinism, PredicateFigures};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::View;
use crate::format::{self, count, time};
use crate::theme::Theme;

const BOX_LINES: u16 = 8;
const BOX_WIDTH: u16 = 60;
const DETAIL_LINES: u16 = 12;

/// From this width on, the details are beside the table.
const WIDE: u16 = 150;

pub(super) fn draw(view: &mut View, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let (table, details) = if area.width >= WIDE {
        let width = area.width - 82;
        (
            Rect { width, ..area },
            Rect {
                x: area.x + width + 2,
                width: 80,
                ..area
            },
        )
    } else {
        let height = area
            .height
            .saturating_sub(details_height(view, area.height));
        (
            Rect { height, ..area },
            Rect {
                y: area.y + height,
                height: area.height - height,
                ..area
            },
        )
    };
    view.table.draw(table, buf, theme);
    let unused = PredicateFigures::default();
    let predicates = &view.analysis.profile.predicates;
    let figures = predicates.get(view.subject as usize).unwrap_or(&unused);
    let boxed = port_box(view, figures, theme);
    let mut y = details.y + u16::from(details.height > DETAIL_LINES);
    let bottom = details.bottom();
    for (at, line) in boxed.iter().enumerate() {
        if y + (at as u16) < bottom {
            buf.set_line(details.x, y + at as u16, line, details.width);
        }
    }
    let right = details.x + BOX_WIDTH;
    let room = details.right().saturating_sub(right);
    for (at, line) in choicepoints(view, figures, theme).iter().enumerate() {
        if y + (at as u16) < bottom {
            buf.set_line(right, y + at as u16, line, room);
        }
    }
    y += BOX_LINES;
    for line in outcomes(figures, details.width.into(), theme)
        .into_iter()
        .chain(source(view, theme))
    {
        if y >= bottom {
            break;
        }
        buf.set_line(details.x, y, &line, details.width);
        y += 1;
    }
}

/// The table has what it needs, up to half of the screen; the details at least their lines.
fn details_height(view: &View, height: u16) -> u16 {
    let rows = view.table.order().len() as u16 + 2;
    let wanted = DETAIL_LINES.min(height.saturating_sub(6));
    height
        .saturating_sub(rows.min(height / 2).max(5))
        .max(wanted)
}

fn port_box(view: &View, figures: &PredicateFigures, theme: &Theme) -> Vec<Line<'static>> {
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
    let name = view.analysis.predicate(view.subject).to_owned();
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
            format!("in {}", of(exits_ticks)),
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
            format!("in {}", of(figures.failed_ticks)),
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
                "{:20}▼ exception {} in {}",
                "",
                count(figures.exceptions),
                of(figures.raised_ticks)
            ),
            exception,
        ),
    ]
}

/// A time of which only what was recorded is known.
fn recorded(view: &View, ticks: u64) -> String {
    let known = (!view.analysis.is_net()).then(|| view.analysis.ns(ticks));
    known.map_or_else(|| "–".to_owned(), time)
}

fn choicepoints(view: &View, figures: &PredicateFigures, theme: &Theme) -> Vec<Line<'static>> {
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

fn source(view: &View, theme: &Theme) -> Vec<Line<'static>> {
    let predicates = &view.analysis.profile.predicates;
    let byrd = view.analysis.trace.header().mode.byrd;
    let figures = predicates.get(view.subject as usize);
    let seen = figures.and_then(|figures| figures.determinism(byrd));
    let mut first = vec![Span::styled(view.listing.place.clone(), theme.key)];
    if let Some(seen) = seen {
        first.push(Span::raw(format!(
            "  {} in this run",
            Determinism::name(seen)
        )));
    }
    let has_goals = !view.goals.is_empty() && !view.listing.lines.is_empty();
    if has_goals {
        first.push(Span::raw("  goals: time served, calls, fails"));
    }
    let mut lines = vec![Line::from(first)];
    for (number, text) in &view.listing.lines {
        let clauses = view.clauses.get(number).into_iter().flatten();
        lines.extend(clauses.map(|clause| Line::styled(entries(view, clause), theme.key)));
        let here = *number == view.listing.line;
        let sign = if here { '>' } else { ' ' };
        let style = if here { theme.subject } else { theme.text };
        let mut spans = vec![Span::styled(format!("{sign}{number:>5}  "), style)];
        if has_goals {
            let goals = view.goals.get(number).map(|goals| {
                let served = recorded(view, goals.served_ticks);
                format!(
                    "{served:>9} {:>9} {:>9}",
                    count(goals.calls),
                    count(goals.fails)
                )
            });
            let goals = goals.unwrap_or_default();
            spans.push(Span::styled(format!("{goals:29}  "), theme.key));
        }
        spans.push(Span::styled(text.clone(), style));
        lines.push(Line::from(spans));
    }
    lines
}

/// What came of the entries of a clause.
fn entries(view: &View, (number, figures): &(u32, ClauseFigures)) -> String {
    let mut text = format!(
        "        clause {number}: entered {}, in vain {}",
        count(figures.entered),
        count(figures.failed)
    );
    if figures.failed > 0 {
        text += &format!(" for {}", recorded(view, figures.failed_ticks));
    }
    if figures.left > 0 {
        text += &format!(
            ", left {} choices, {} unused",
            count(figures.left),
            count(figures.left_unused())
        );
    }
    text
}
