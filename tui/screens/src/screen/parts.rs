//! The line with the names of a screen's parts.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::format::{shorten, width};
use crate::theme::Theme;

/// The names of the parts of a screen, that of the one shown in brackets; the area that is left.
/// Where there is no room for all, the others are named by their first words, or not at all.
pub(crate) fn draw_parts<'n>(
    names: impl Iterator<Item = &'n str>,
    shown: usize,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) -> Rect {
    let names: Vec<&str> = names.collect();
    let with = |other: &dyn Fn(&str) -> String| -> Vec<String> {
        let names = names.iter().enumerate();
        let text = |(at, name): (usize, &&str)| match at == shown {
            true => format!("[{name}]"),
            false => format!(" {} ", other(name)),
        };
        names.map(text).collect()
    };
    let first_word = |name: &str| match name.split_once(' ') {
        Some((first, _)) => format!("{first}…"),
        None => name.to_owned(),
    };
    let kinds = [
        with(&str::to_owned),
        with(&first_word),
        with(&|_| "…".to_owned()),
    ];
    let room = usize::from(area.width.saturating_sub(2));
    let cells = |texts: &Vec<String>| texts.iter().map(|text| width(text) + 1).sum::<usize>();
    let last = kinds.len() - 1;
    let kind = kinds.iter().position(|texts| cells(texts) <= room);
    let mut x = area.x + 1;
    for (at, text) in kinds[kind.unwrap_or(last)].iter().enumerate() {
        let style = if at == shown {
            theme.subject
        } else {
            theme.text
        };
        let room = usize::from(area.right().saturating_sub(x));
        (x, _) = buf.set_stringn(x, area.y, shorten(text, room), room, style);
        x = x.saturating_add(1).min(area.right());
    }
    Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(1),
        ..area
    }
}
