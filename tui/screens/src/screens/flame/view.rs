//! Drawing of the flame graph: a line for each depth, and one for what is selected.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::layout::Placed;
use super::tree::Measure;
use super::{Flame, format};
use crate::table::first_row;
use crate::theme::Theme;

pub(super) fn draw(flame: &mut Flame, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let boxes = Rect {
        height: area.height.saturating_sub(2),
        ..area
    };
    flame.area = boxes;
    let placed = flame.placed();
    let selected = placed
        .iter()
        .find(|place| place.node == Some(flame.selected));
    let deepest = placed.last().map_or(0, |place| place.depth);
    let depth = selected.map_or(0, |place| place.depth);
    flame.first = first_row(flame.first, depth, boxes.height.into(), deepest + 1);
    if placed.is_empty() {
        let text = if flame.build.is_some() {
            "arranging the contexts".to_owned()
        } else {
            format!(
                "nothing to show by {}; s measures by something else",
                flame.measure.name()
            )
        };
        buf.set_stringn(
            area.x + 2,
            area.y,
            text,
            usize::from(area.width) - 2,
            theme.faint,
        );
    }
    let mut in_row = 0;
    let mut row = usize::MAX;
    for place in &placed {
        (row, in_row) = if row == place.depth {
            (row, in_row + 1)
        } else {
            (place.depth, 0)
        };
        let Some(line) = place.depth.checked_sub(flame.first) else {
            continue;
        };
        if line < usize::from(boxes.height) {
            let style = theme.flames[(in_row + place.depth) % theme.flames.len()];
            draw_box(flame, place, boxes.y + line as u16, style, buf, theme);
        }
    }
    if deepest + 1 > flame.first + usize::from(boxes.height) {
        let text = format!(
            "▼ {} deeper",
            deepest + 1 - flame.first - usize::from(boxes.height)
        );
        buf.set_stringn(area.x + 1, boxes.bottom(), text, 20, theme.faint);
    }
    foot(
        flame,
        Rect {
            y: area.bottom() - 1,
            height: 1,
            ..area
        },
        buf,
        theme,
    );
}

fn draw_box(flame: &Flame, place: &Placed, y: u16, style: Style, buf: &mut Buffer, theme: &Theme) {
    let (x, width) = (
        flame.area.x + place.from,
        usize::from(place.to - place.from),
    );
    let Some(node) = place.node else {
        buf.set_stringn(
            x,
            y,
            format::left(&"┄".repeat(width), width),
            width,
            theme.faint,
        );
        return;
    };
    let figures = &flame.tree.nodes[node as usize];
    let whole = flame.tree.nodes[flame.root as usize].total;
    let part = match flame.measure {
        Measure::SelfTime => figures.own,
        _ => figures.total,
    };
    let sign = match (node == flame.selected, flame.is_found(node)) {
        (true, _) => "▶",
        (false, true) => "*",
        (false, false) => "▏",
    };
    let recursive = if figures.recursive { "↻" } else { "" };
    let name = flame.name(node);
    let text = format!("{sign}{name}{recursive} {}%", format::percent(part, whole));
    let style = if node == flame.selected {
        theme.cursor.add_modifier(Modifier::BOLD)
    } else if flame.is_found(node) {
        style.patch(theme.found)
    } else if flame.measure == Measure::SelfTime && part.saturating_mul(20) < whole {
        // What takes little itself steps back.
        theme.faint
    } else {
        style
    };
    // Of what does not fit, the share goes first, then the module.
    let short = without_module(name);
    let shorter = [
        format!("{sign}{name}{recursive}"),
        format!("{sign}{short}{recursive}"),
    ];
    let fits = |text: &&String| format::width(text) <= width;
    let text = [&text].into_iter().chain(&shorter).find(fits);
    let text = text.unwrap_or(&shorter[1]);
    buf.set_stringn(x, y, format::left(text, width), width, style);
}

/// `select/3` of `lists:select/3`.
fn without_module(name: &str) -> &str {
    match name.split_once(':') {
        Some((module, name)) if !module.is_empty() && !module.starts_with('\'') => name,
        _ => name,
    }
}

/// The selected box in words.
fn foot(flame: &Flame, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let Some(node) = flame.tree.nodes.get(flame.selected as usize) else {
        return;
    };
    let whole = flame.tree.nodes[0].total;
    let of = |part| format!("{} ({}%)", flame.size(part), format::percent(part, whole));
    let sum = match flame.measure {
        Measure::Undone => "undone",
        Measure::Events => "events",
        _ => "inclusive",
    };
    let mut line = vec![
        Span::styled(format!(" {}", flame.name(flame.selected)), theme.subject),
        Span::raw(format!("  {sum} {}", of(node.total))),
    ];
    if !flame.inverted {
        line.push(Span::raw(format!(", itself {}", of(node.own))));
    }
    if flame.root != 0 {
        line.push(Span::styled(
            format!("  zoomed into {}", flame.name(flame.root)),
            theme.filter,
        ));
    }
    buf.set_line(area.x, area.y, &Line::from(line), area.width);
}
