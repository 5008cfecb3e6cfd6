//! Drawing of the predicate screen: each part into its place.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::layout::{Areas, PartContents};
use super::parts::{PredicatePart, PredicateView};
use super::ports;
use super::slowest::draw_histogram;
use crate::theme::Theme;

pub(super) fn draw(view: &mut PredicateView, area: Rect, buf: &mut Buffer, theme: &Theme) {
    if let Some(text) = view.absence() {
        let room = area.width.saturating_sub(4);
        buf.set_stringn(area.x + 2, area.y + 1, text, room.into(), theme.warning);
        return;
    }
    let area = view.advised.draw(area, buf, theme);
    let areas = Areas::of(
        area,
        PartContents {
            neighbours: view.table.order().len(),
            source: view.source.rows(),
        },
    );
    draw_neighbours(view, areas.neighbours, buf, theme);
    if areas.ports.height > 0 {
        ports::draw(view, areas.ports, buf, theme);
    }
    draw_calls(view, areas, buf, theme);
    let PredicateView {
        analysis, source, ..
    } = view;
    let has_focus = view.part == PredicatePart::Source;
    source.draw(analysis, has_focus, areas.source, buf, theme);
}

/// The hottest callers and the hottest callees are in sight as long as the cursor is between them.
fn draw_neighbours(view: &mut PredicateView, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let table = &mut view.table;
    let is_between = table
        .row()
        .is_some_and(|row| table.source().is_subject(row));
    if is_between && table.filter().is_empty() {
        let rows = usize::from(area.height).saturating_sub(1);
        let others = table.rows().saturating_sub(view.callers);
        let half = rows.saturating_sub(1) / 2;
        let above = half.max(rows.saturating_sub(others)).min(view.callers);
        table.scroll_to(above);
    }
    let theme = with_focus(theme, view.part == PredicatePart::Neighbours);
    table.draw(area, buf, &theme);
}

/// Cursors of parts without the focus are not those that keys move.
fn with_focus(theme: &Theme, has_focus: bool) -> Theme {
    Theme {
        cursor: if has_focus {
            theme.cursor
        } else {
            Style::new()
        },
        ..*theme
    }
}

fn draw_calls(view: &mut PredicateView, areas: Areas, buf: &mut Buffer, theme: &Theme) {
    let area = areas.slowest;
    if area.height == 0 {
        return;
    }
    let analysis = &view.analysis;
    let (Some(table), Some(calls)) = (&mut view.slowest, analysis.known_calls()) else {
        let heading = Rect { height: 1, ..area };
        buf.set_style(heading, theme.heading);
        buf.set_stringn(
            area.x,
            area.y,
            "slowest calls",
            area.width.into(),
            theme.heading,
        );
        let text = match analysis.calls_share() {
            Some(share) => format!("the events are read again: {:.0} %", share * 100.0),
            None => "v reads the events again for them".to_owned(),
        };
        buf.set_stringn(area.x + 1, area.y + 1, text, area.width.into(), theme.faint);
        return;
    };
    let theme_of_table = with_focus(theme, view.part == PredicatePart::Slowest);
    table.draw(area, buf, &theme_of_table);
    if let Some(figures) = calls.predicate(view.subject) {
        draw_histogram(analysis, figures, areas.histogram, buf, theme);
    }
}
