//! What lies over a screen: the palette, the choice of columns, a call against the usual one.

use portmortem_analyzer::trace::names::printable;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, BorderType, Clear, Widget};

use crate::app::App;
use crate::format::{count, left, shorten, time};
use crate::overlay::{Against, Chooser, Overlay, Palette, PaletteLine};
use crate::table::TableView;
use crate::theme::Theme;

pub(super) fn draw(app: &mut App, area: Rect, buf: &mut Buffer, theme: &Theme) {
    match app.overlay_mut() {
        Some(Overlay::Palette(palette)) => draw_palette(palette, area, buf, theme),
        Some(Overlay::Chooser(_)) => {
            if let (Some(Overlay::Chooser(chooser)), Some(table)) =
                (app.overlay(), app.shown().table())
            {
                draw_chooser(chooser, table, area, buf, theme);
            }
        }
        Some(Overlay::Against(against)) => draw_against(against, area, buf, theme),
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

fn draw_palette(palette: &mut Palette, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let typed = printable(palette.search().value());
    let title = if typed.is_empty() {
        " Help · type what to do, a word, a name, an event or a time · Esc closes ".to_owned()
    } else {
        format!(" {typed} · Enter does it ")
    };
    let inner = frame(title, (80, area.height), area, buf, theme);
    let first = palette.first(inner.height.into());
    let (stream, moments) = (palette.stream(), palette.moments());
    let shown = (first..).zip(palette.lines().iter().skip(first));
    for (y, (at, line)) in (inner.y..inner.bottom()).zip(shown) {
        let here = palette.cursor() == Some(at);
        if here {
            let room = usize::from(inner.width);
            buf.set_stringn(inner.x, y, " ".repeat(room), room, theme.cursor);
        }
        let style = |other| if here { theme.cursor } else { other };
        let mut write = |x: u16, text: &str, style| {
            let room = usize::from(inner.width.saturating_sub(x + 1));
            buf.set_stringn(inner.x + x, y, shorten(text, room), room, style);
        };
        match line {
            PaletteLine::Heading(text) => write(1, text, theme.heading),
            PaletteLine::Keys(keys, about, _) => {
                write(2, &left(keys, 18), style(theme.key));
                write(21, about, style(theme.text));
            }
            PaletteLine::Word(word, about) => {
                write(2, &left(word, 18), theme.subject);
                write(21, about, theme.text);
            }
            PaletteLine::Event(number) => {
                let text = format!("show event {} of {stream}", count(*number));
                write(2, &text, style(theme.text));
            }
            PaletteLine::Time(ns) => {
                let text = format!("show {} {moments}", time(*ns));
                write(2, &text, style(theme.text));
            }
            PaletteLine::Mark(_, text) => write(2, text, style(theme.text)),
            PaletteLine::Stream(_, title) => write(2, title, style(theme.text)),
            PaletteLine::Predicate(index) => {
                write(2, palette.name(*index), style(theme.text));
            }
        }
    }
    if palette.lines().is_empty() {
        let text = "nothing has that name: no key, word, predicate, stream or time";
        let room = usize::from(inner.width.saturating_sub(2));
        buf.set_stringn(inner.x + 2, inner.y, shorten(text, room), room, theme.faint);
    }
    if first + usize::from(inner.height) < palette.lines().len() {
        let x = inner.right().saturating_sub(8);
        buf.set_stringn(x, inner.bottom(), " ▼ more ", 8, theme.key);
    }
}

fn draw_chooser(chooser: &Chooser, table: &TableView, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let columns = chooser.columns();
    let title = match chooser.search() {
        Some(text) => format!(" Columns · /{} ", printable(text)),
        None => " Columns · Enter sorts · Space shows or hides · / searches ".to_owned(),
    };
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

fn draw_against(against: &Against, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let lines = against.rows().len() + against.notes().len();
    let size = (86, u16::try_from(lines + 3).unwrap_or(u16::MAX));
    let inner = frame(against.title().to_owned(), size, area, buf, theme);
    let heading = [(against.heading(), theme.heading)];
    let rows = against.rows().iter().map(|row| (row.as_str(), theme.text));
    let notes = against
        .notes()
        .iter()
        .map(|note| (note.as_str(), theme.faint));
    let lines = heading.into_iter().chain(rows).chain(notes);
    let room = usize::from(inner.width.saturating_sub(2));
    for (y, (text, style)) in (inner.y..inner.bottom()).zip(lines) {
        buf.set_stringn(inner.x + 1, y, shorten(text, room), room, style);
    }
}
