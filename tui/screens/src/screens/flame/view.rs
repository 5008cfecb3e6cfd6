//! Drawing of the flame graph: a line for each depth, and one for what is selected.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::layout::PlacedBox;
use super::tree::Measure;
use super::{FlameScreen, format};
use crate::names::{fitting, without_module};
use crate::table::first_row;
use crate::theme::Theme;

pub(super) fn draw(flame: &mut FlameScreen, area: Rect, buf: &mut Buffer, theme: &Theme) {
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
        } else if flame.tree.folded.sum() > 0 {
            "all is waiting, loading or collections; w shows it".to_owned()
        } else {
            format!(
                "nothing to show by {}; s measures by something else",
                flame.shape.measure.name()
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
    let deeper = (deepest + 1).saturating_sub(flame.first + usize::from(boxes.height));
    let line = Rect {
        y: boxes.bottom(),
        height: 1,
        ..area
    };
    not_shown(flame, deeper, line, buf, theme);
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

fn draw_box(
    flame: &FlameScreen,
    place: &PlacedBox,
    y: u16,
    style: Style,
    buf: &mut Buffer,
    theme: &Theme,
) {
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
    let part = match flame.shape.measure {
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
    // What shares are of.
    let size = if node == flame.root {
        format!(" {}", flame.whole(whole))
    } else {
        String::new()
    };
    let share = format::percent(part, whole);
    let text = format!("{sign}{name}{recursive}{size} {share}%");
    let style = if node == flame.selected {
        theme.cursor.add_modifier(Modifier::BOLD)
    } else if flame.is_found(node) {
        style.patch(theme.found)
    } else if flame.shape.measure == Measure::SelfTime && part.saturating_mul(20) < whole {
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

/// A line about boxes below the area, and about what is folded.
fn not_shown(flame: &FlameScreen, deeper: usize, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let mut x = area.x + 1;
    if deeper > 0 {
        let text = format!("▼ {deeper} deeper  ");
        (x, _) = buf.set_stringn(x, area.y, text, 20, theme.faint);
    }
    let Some((share, parts)) = flame.about_folded() else {
        return;
    };
    let texts = [
        format!("‖ folded {share}: {parts}; w unfolds"),
        format!("‖ folded {share}: {parts}"),
        format!("‖ folded {share}"),
    ];
    let room = usize::from(area.right().saturating_sub(x));
    let text = texts.iter().find(|text| format::width(text) <= room);
    let text = format::shorten(text.unwrap_or(&texts[2]), room);
    buf.set_stringn(x, area.y, text, room, theme.filter);
}

/// The selected box in words.
fn foot(flame: &FlameScreen, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let Some(node) = flame.tree.nodes.get(flame.selected as usize) else {
        return;
    };
    let whole = flame.tree.nodes[0].total;
    let share = |part| format::percent(part, whole);
    let (total, own) = (node.total, node.own);
    let sum = match flame.shape.measure {
        Measure::Undone => "undone",
        Measure::Events => "events",
        _ => "inclusive",
    };
    let room = usize::from(area.width);
    let mut line = Line::default();
    let mut is_full = false;
    let mut add = |text: String, style| {
        // What would be cut is left out, and what comes after it; only the name is cut.
        is_full |= line.width() + format::width(&text) > room;
        if !is_full {
            line.push_span(Span::styled(text, style));
        }
    };
    add(
        format!(
            " {}",
            fitting(flame.name(flame.selected), room.saturating_sub(1))
        ),
        theme.subject,
    );
    add(
        format!(
            "  {sum} {} ({}% of {})",
            flame.size(total),
            share(total),
            flame.whole(whole)
        ),
        theme.text,
    );
    if !flame.shape.inverted {
        let text = format!(", itself {} ({}%)", flame.size(own), share(own));
        add(text, theme.text);
    }
    if flame.root != 0 {
        let text = format!("  zoomed into {}", flame.name(flame.root));
        add(text, theme.filter);
    }
    buf.set_line(area.x, area.y, &line, area.width);
}
