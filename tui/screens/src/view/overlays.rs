//! What lies over a screen: help, the choice of columns.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, BorderType, Clear, Widget};

use crate::app::App;
use crate::format::{left, shorten};
use crate::overlay::{Chooser, Help, HelpLine, Overlay};
use crate::table::Table;
use crate::theme::Theme;

pub(super) fn draw(app: &mut App, area: Rect, buf: &mut Buffer, theme: &Theme) {
    match app.overlay_mut() {
        Some(Overlay::Help(help)) => draw_help(help, area, buf, theme),
        Some(Overlay::Chooser(_)) => {
            if let (Some(Overlay::Chooser(chooser)), Some(table)) =
                (app.overlay(), app.shown().table())
            {
                draw_chooser(chooser, table, area, buf, theme);
            }
        }
        Some(Overlay::Prompt(_)) | None => {}
    }
}

/// An empty frame in the middle; what is inside.
fn frame(title: String, size: (u16, u16), area: Rect, buf: &mut Buffer, theme: &Theme) -> Rect {
    let (width, height) = (size.0.min(area.width), size.1.min(area.height));
    let outer = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    Clear.render(outer, buf);
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .title(title)
        .title_style(theme.title)
        .border_style(theme.key);
    let inner = block.inner(outer);
    block.render(outer, buf);
    inner
}

fn draw_help(help: &mut Help, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let lines = help.lines();
    let typed = portmortem_analyzer::trace::names::printable(help.search().value());
    let title = if typed.is_empty() {
        " Keys · type to search · Esc closes ".to_owned()
    } else {
        format!(" Keys with: {typed} ")
    };
    let inner = frame(title, (80, area.height), area, buf, theme);
    let first = help.first(inner.height.into());
    for (y, line) in (inner.y..inner.bottom()).zip(lines.iter().skip(first)) {
        match line {
            HelpLine::Heading(text) => {
                buf.set_stringn(inner.x + 1, y, *text, 60, theme.heading);
            }
            HelpLine::Keys(keys, about) => {
                buf.set_stringn(inner.x + 2, y, left(keys, 18), 18, theme.key);
                let room = usize::from(inner.width).saturating_sub(21);
                buf.set_stringn(inner.x + 21, y, shorten(about, room), room, theme.text);
            }
        }
    }
    if lines.is_empty() {
        buf.set_stringn(
            inner.x + 2,
            inner.y,
            "no key is about that",
            60,
            theme.faint,
        );
    }
    if first + usize::from(inner.height) < lines.len() {
        let x = inner.right().saturating_sub(8);
        buf.set_stringn(x, inner.bottom(), " ▼ more ", 8, theme.key);
    }
}

fn draw_chooser(chooser: &Chooser, table: &Table, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let columns = chooser.columns();
    let title = " Columns · Enter sorts · Space shows or hides ".to_owned();
    let height = columns.len() as u16 + 2;
    let inner = frame(title, (76, height), area, buf, theme);
    let first = crate::table::first_row(0, chooser.cursor(), inner.height.into(), columns.len());
    if first + usize::from(inner.height) < columns.len() {
        let x = inner.right().saturating_sub(8);
        buf.set_stringn(x, inner.bottom(), " ▼ more ", 8, theme.key);
    }
    for (y, (at, column)) in (inner.y..inner.bottom()).zip(columns.iter().enumerate().skip(first)) {
        let shown = if table.is_shown(at) { 'x' } else { ' ' };
        let sorted = match table.sort() {
            Some((sorted, true)) if sorted == at => "▼",
            Some((sorted, false)) if sorted == at => "▲",
            _ => " ",
        };
        let name = column.name.strip_suffix("_ns").unwrap_or(column.name);
        let text = format!(" [{shown}] {sorted} {} {}", left(name, 16), column.about);
        let style = if at == chooser.cursor() {
            theme.cursor
        } else {
            theme.text
        };
        let room = usize::from(inner.width);
        buf.set_stringn(inner.x, y, left(&text, room), room, style);
    }
}
