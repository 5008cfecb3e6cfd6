//! The lines above and below a screen.

use portmortem_analyzer::trace::names::printable;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::{App, LineCells};
use crate::format::{self, bar, count, shorten, width};
use crate::keys::{Action, Binding};
use crate::overlay::{Overlay, Prompt};
use crate::screens::{SCREENS, ScreenEntry, ScreenId};
use crate::theme::Theme;

/// What is between two places that led here.
const BETWEEN: &str = " > ";

/// The names of the screens, that of the one shown in brackets.
pub(super) fn tabs(app: &mut App, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let shown = app.screen();
    let texts = tab_texts(shown, usize::from(area.width));
    let mut x = area.x;
    let mut tabs = Vec::new();
    for (at, (entry, text)) in SCREENS.iter().zip(texts).enumerate() {
        let style = match entry.id == shown {
            true => theme.tab_shown,
            false => theme.tab,
        };
        let room = area.right().saturating_sub(x).into();
        let (end, _) = buf.set_stringn(x, area.y, text, room, style);
        tabs.push((x..end, at));
        x = end;
    }
    app.targets.set_tabs(tabs);
    let name = "portmortem ";
    let room = usize::from(area.right().saturating_sub(x));
    if room > width(name) {
        let x = area.right() - width(name) as u16;
        buf.set_stringn(x, area.y, name, room, theme.faint);
    }
}

/// How screens are named, and what follows the name of one that is not shown.
type Naming = (fn(&ScreenEntry, bool) -> &'static str, &'static str);

/// What is written for each screen: names as long as there is room for all, at least all digits.
fn tab_texts(shown: ScreenId, room: usize) -> Vec<String> {
    const NAMINGS: [Naming; 4] = [
        (|entry, _| entry.name, " "),
        (|entry, _| entry.name, ""),
        (|entry, _| entry.short, ""),
        (
            |entry, is_shown| if is_shown { entry.short } else { "" },
            "",
        ),
    ];
    let texts = |(name, after): Naming| -> Vec<String> {
        let text = |entry: &ScreenEntry| {
            let is_shown = entry.id == shown;
            let name = name(entry, is_shown);
            let blank = if name.is_empty() { "" } else { " " };
            match is_shown {
                true => format!("[{}{blank}{name}]", entry.digit),
                false => format!(" {}{blank}{name}{after}", entry.digit),
            }
        };
        SCREENS.iter().map(text).collect()
    };
    let fits = |texts: &Vec<String>| texts.iter().map(|text| width(text)).sum::<usize>() < room;
    let found = NAMINGS.into_iter().map(texts).find(fits);
    let digit = |entry: &ScreenEntry| match entry.id == shown {
        true => format!("[{}]", entry.digit),
        false => entry.digit.to_string(),
    };
    found.unwrap_or_else(|| SCREENS.iter().map(digit).collect())
}

/// The trace, the filters that are on, what is shown of it.
pub(super) fn title(app: &App, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let mut parts = vec![Span::styled(format!(" {}", app.name()), theme.title)];
    if let Some(text) = app.recording() {
        parts.push(Span::styled(format!(" · {text}"), theme.filter));
    }
    if let Some(text) = warning(app) {
        parts.push(Span::styled(format!(" · {text}, see 9"), theme.warning));
    }
    for text in filters(app) {
        parts.push(Span::styled(format!(" · {text}"), theme.filter));
    }
    if let Some(analysis) = app.analysis() {
        let events = count(analysis.events());
        parts.push(Span::raw(format!(
            " · {events} events · {}",
            analysis.whole_in_words()
        )));
    }
    let right = match app.progress() {
        Some(share) if app.analysis().is_some() => {
            format!(
                "{} {:.0} % ",
                bar((share * 1000.0) as u64, 1000, 10),
                share * 100.0
            )
        }
        _ => app.shown().status() + " ",
    };
    let right = shorten(&right, usize::from(area.width) / 2);
    let room = usize::from(area.width).saturating_sub(width(&right) + 1);
    let line = Line::from(parts);
    let used = line.width();
    buf.set_line(area.x, area.y, &line, room as u16);
    if used > room {
        buf.set_stringn(area.x + room as u16 - 1, area.y, "…", 1, theme.text);
    }
    let x = area.right() - width(&right) as u16;
    buf.set_stringn(x, area.y, right, area.width.into(), theme.text);
}

/// The places that led here, and where Esc goes. Returns which cells lead back so many steps.
pub(super) fn crumbs(app: &App, area: Rect, buf: &mut Buffer, theme: &Theme) -> LineCells<usize> {
    let (before, here) = app.crumbs();
    let back = before.last().map(|crumb| format!("Esc: back to {crumb} "));
    let back = back.unwrap_or_default();
    let here = format!("[{here}]");
    let room = usize::from(area.width).saturating_sub(2);
    // The way back is said where half of the line is left for the places.
    let shows_back = width(&back) * 2 <= room;
    let room = room - if shows_back { width(&back) } else { 0 };
    let mut used = width(&here) + 4;
    let fits = |crumb: &&&str| {
        used += width(crumb) + width(BETWEEN);
        used <= room
    };
    let shown = before.iter().rev().take_while(fits).count();
    let mut cells = Vec::new();
    let mut x = area.x + 1;
    if shown < before.len() {
        (x, _) = buf.set_stringn(x, area.y, "… > ", room, theme.faint);
    }
    for (at, crumb) in before.iter().enumerate().skip(before.len() - shown) {
        let (end, _) = buf.set_stringn(x, area.y, crumb, room, theme.faint);
        cells.push((x..end, before.len() - at));
        (x, _) = buf.set_stringn(end, area.y, BETWEEN, room, theme.faint);
    }
    let left = room.saturating_sub(usize::from(x - area.x - 1));
    let (x, _) = buf.set_stringn(x, area.y, shorten(&here, left), left, theme.subject);
    if cells.is_empty() {
        // The line is there even if no other place is.
        cells.push((x..x, 0));
    }
    if shows_back && !back.is_empty() {
        let x = area.right() - width(&back) as u16;
        buf.set_stringn(x, area.y, &back, width(&back), theme.faint);
        cells.push((x..area.right(), 1));
    }
    cells
}

/// What must be known whatever is looked at.
fn warning(app: &App) -> Option<String> {
    let analysis = app.analysis()?;
    let profile = &analysis.profile;
    let lost = profile.lost_events();
    if lost > 0 {
        Some(format!("{} EVENTS LOST", count(lost)))
    } else if !profile.damage.is_empty() || profile.violation_count > 0 {
        Some("DAMAGED".to_owned())
    } else if !analysis.imbalances.is_empty() {
        Some("DEFECT".to_owned())
    } else {
        let ended = analysis.trace.end().is_some() || app.recording().is_some();
        (!ended).then(|| "DID NOT END".to_owned())
    }
}

/// The filters that are on, those of all screens first.
fn filters(app: &App) -> Vec<String> {
    let mut texts = app.filters();
    if let Some(filter) = app.shown().filter().filter(|filter| !filter.is_empty()) {
        texts.push(format!("filter: {}", printable(filter)));
    }
    texts
}

/// While there are no figures yet.
pub(super) fn waiting(app: &App, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let Some(share) = app.progress() else { return };
    let (x, y) = (area.x + 4, area.y + area.height / 3);
    let room = usize::from(area.width).saturating_sub(8);
    let text = format!("reading {}", app.name());
    buf.set_stringn(x, y, shorten(&text, room), room, theme.text);
    let gauge = format!(
        "{}▏{:.0} %",
        bar((share * 1000.0) as u64, 1000, 40),
        share * 100.0
    );
    buf.set_stringn(x, y + 2, gauge, room, theme.bar);
    buf.set_stringn(x, y + 4, "Esc cancels", room, theme.faint);
}

/// Keys; or a message; or a question. Returns which cells are for which key.
pub(super) fn foot(
    app: &App,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) -> LineCells<&'static str> {
    let room: usize = area.width.into();
    if let Some(Overlay::Prompt(prompt)) = app.overlay() {
        let error = app.shown().filter_error();
        question(
            prompt,
            app.shown().filter_hint(),
            error.filter(|_| prompt.is_filter()),
            area,
            buf,
            theme,
        );
        return Vec::new();
    }
    let (last, others) = labelled_keys(&app.offered());
    let keys: usize = last.iter().map(KeyLabel::width).sum();
    let Some(message) = app.message() else {
        let room = room.saturating_sub(1 + keys);
        let mut used = 0;
        let fitting = others.iter().take_while(|label| {
            used += label.width();
            used <= room
        });
        return draw_keys(fitting.chain(&last), area, buf, theme);
    };
    let text = printable(message);
    let mut cells = Vec::new();
    // Beside the way to help and the way out, unless that would cut it.
    let room = if width(&text) + 2 + keys <= room {
        let right = Rect {
            x: area.right() - 1 - keys as u16,
            width: 1 + keys as u16,
            ..area
        };
        cells = draw_keys(last.iter(), right, buf, theme);
        room - keys
    } else {
        room
    } - 2;
    let text = format::shorten_words(&text, room);
    buf.set_stringn(area.x + 1, area.y, text, room, theme.found);
    cells
}

/// A key and what it does, on the line at the bottom.
struct KeyLabel {
    key: &'static str,
    label: &'static str,
}

impl KeyLabel {
    /// Cells, with those between it and the next one.
    fn width(&self) -> usize {
        width(self.key) + width(self.label) + 3
    }
}

/// The way to help and the way out, which are always shown; all others.
fn labelled_keys(tables: &[(&str, Vec<Binding>)]) -> (Vec<KeyLabel>, Vec<KeyLabel>) {
    let all = || tables.iter().flat_map(|(_, table)| table.iter());
    let (mut last, mut others) = (Vec::new(), Vec::new());
    for (at, binding) in all().enumerate() {
        let Some(&key) = binding.keys.first().filter(|_| !binding.label.is_empty()) else {
            continue;
        };
        // The first table that has a key counts.
        if all().take(at).any(|before| before.keys.contains(&key)) {
            continue;
        }
        let labels = match binding.action {
            Action::Palette | Action::Quit => &mut last,
            _ => &mut others,
        };
        let label = binding.label;
        labels.push(KeyLabel { key, label });
    }
    (last, others)
}

fn draw_keys<'l>(
    labels: impl Iterator<Item = &'l KeyLabel>,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) -> LineCells<&'static str> {
    let mut cells = Vec::new();
    let mut x = area.x + 1;
    for KeyLabel { key, label } in labels {
        let begin = x;
        let room = || usize::from(area.right().saturating_sub(x));
        (x, _) = buf.set_stringn(x, area.y, key, room(), theme.key);
        let room = usize::from(area.right().saturating_sub(x + 1));
        (x, _) = buf.set_stringn(x + 1, area.y, label, room, theme.text);
        cells.push((begin..x, *key));
        x += 2;
    }
    cells
}

fn question(
    prompt: &Prompt,
    hint: &str,
    error: Option<&str>,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) {
    let (x, _) = buf.set_stringn(area.x + 1, area.y, prompt.label(), 60, theme.key);
    let room = usize::from(area.right().saturating_sub(x + 1));
    let input = prompt.input();
    let scroll = input.visual_scroll(room);
    let visible: String = printable(input.value()).chars().skip(scroll).collect();
    let (end, _) = buf.set_stringn(x, area.y, visible, room, theme.text);
    let cursor = x + (input.visual_cursor().saturating_sub(scroll)) as u16;
    if let Some(cell) = buf.cell_mut((cursor.min(area.right() - 1), area.y)) {
        cell.set_style(
            theme
                .tab_shown
                .add_modifier(ratatui::style::Modifier::REVERSED),
        );
    }
    let left = usize::from(area.right().saturating_sub(end + 3));
    let hint = error.unwrap_or(if input.value().is_empty() && prompt.is_filter() {
        hint
    } else {
        ""
    });
    let style = if error.is_some() {
        theme.warning
    } else {
        theme.faint
    };
    buf.set_stringn(end + 3, area.y, format::shorten(hint, left), left, style);
}
