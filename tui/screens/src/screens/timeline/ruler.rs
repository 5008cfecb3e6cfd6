//! The times above the columns, the cursor, and the ends of a marked range.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::foot::length;
use super::layout::SHARE;
use super::{TimelineScreen, format};
use crate::theme::Theme;

/// Cells from one time to the next.
const EVERY: u32 = 20;

impl TimelineScreen {
    /// One line. A time gives way to the cursor, which has one of its own.
    pub(super) fn ruler(&self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let Some(analysis) = self.analysis() else {
            return;
        };
        let window = self.stretch(self.position().band);
        let clock = analysis.trace.clock();
        let x = |column: u32| area.x + self.layout.gutter + column as u16;
        let line = " ".repeat(area.width.into());
        buf.set_stringn(area.x, area.y, line, area.width.into(), theme.heading);
        let end = |tick: u64| window.column_of(tick.saturating_sub(1));
        let mut signs: Vec<(u32, String)> = [
            (self.range.from.and_then(|tick| window.column_of(tick)), "["),
            (self.range.until.and_then(end), "]"),
        ]
        .into_iter()
        .filter_map(|(column, sign)| Some((column?, sign.to_owned())))
        .collect();
        let at = self.column_at();
        let time = |column: u32| match column {
            column if column == 0 || self.absolute => {
                let ns = clock.since_start_ns(window.start_of(column));
                format!("{}.{:09} s", ns / 1_000_000_000, ns % 1_000_000_000)
            }
            column => format!(
                "+{}",
                length(analysis, window.start_of(column) - window.from)
            ),
        };
        let mut cursor = format!("▼{}", time(at));
        if format::width(&cursor) > (window.columns - at.min(window.columns)) as usize {
            cursor = "▼".to_owned();
        }
        signs.push((at, cursor));
        let taken = |from: u32, width: u32| {
            signs.iter().any(|(at, text)| {
                let end = at + format::width(text) as u32;
                *at < from + width && from < end + 1
            })
        };
        for column in (0..window.columns).step_by(EVERY as usize) {
            let text = format!("▏{}", time(column));
            let room = (window.columns - column).min(EVERY);
            let width = format::width(&text) as u32;
            if !taken(column, width) && width <= room {
                buf.set_stringn(x(column), area.y, text, room as usize, theme.heading);
            }
        }
        if self.layout.shares > 0 {
            let heads = format::right("work", SHARE.into()) + &format::right("waits", SHARE.into());
            let x = area.right().saturating_sub(self.layout.shares);
            buf.set_stringn(x, area.y, heads, self.layout.shares.into(), theme.heading);
        }
        for (column, text) in signs {
            let room = (window.columns - column.min(window.columns)) as usize;
            buf.set_stringn(x(column), area.y, text, room, theme.key);
        }
    }
}
