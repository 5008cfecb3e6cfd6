//! The boxes at the cursor, beside the events: drawing, and a cursor of their own.

use portmortem_analyzer::moment::OpenBox;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::reader::{EventReader, ShownBoxes};
use super::{Effect, EventsScreen};
use crate::format::{count, counted, left, right, shorten, width};
use crate::keys::Action;
use crate::names::fitting;
use crate::table::first_row;
use crate::theme::Theme;

/// Boxes that a page is.
const PAGE: usize = 10;

/// Which list the keys are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum KeyedList {
    /// The events.
    #[default]
    Events,
    /// The active boxes.
    Active,
    /// Those that can be re-entered.
    Choices,
}

impl EventsScreen {
    /// To the next list that has anything.
    pub(super) fn next_part(&mut self) {
        let has = |part| match (part, &self.stacks) {
            (KeyedList::Active, Some(both)) => !both.active.newest.is_empty(),
            (KeyedList::Choices, Some(both)) => !both.choices.newest.is_empty(),
            (part, _) => part == KeyedList::Events,
        };
        let after = match self.part {
            KeyedList::Events => [KeyedList::Active, KeyedList::Choices],
            KeyedList::Active => [KeyedList::Choices, KeyedList::Events],
            KeyedList::Choices => [KeyedList::Events, KeyedList::Active],
        };
        let next = after.into_iter().find(|part| has(*part));
        self.part = next.unwrap_or_default();
        self.row = 0;
    }

    fn stack(&self) -> Option<&ShownBoxes> {
        let both = self.stacks.as_ref()?;
        match self.part {
            KeyedList::Events => None,
            KeyedList::Active => Some(&both.active),
            KeyedList::Choices => Some(&both.choices),
        }
    }

    /// The box that the cursor is on in a list of boxes.
    pub(super) fn selected(&self) -> Option<OpenBox> {
        self.stack()?.newest.get(self.row).map(|(_, open)| *open)
    }

    /// Moves in a list of boxes, if the keys are for one.
    pub(super) fn act_on_stack(&mut self, action: Action) -> Option<Effect> {
        let last = self.stack()?.newest.len().saturating_sub(1);
        self.row = match action {
            Action::Up => self.row.saturating_sub(1),
            Action::Down => self.row + 1,
            Action::PageUp => self.row.saturating_sub(PAGE),
            Action::PageDown => self.row + PAGE,
            Action::Top => 0,
            Action::Bottom => last,
            Action::Back => {
                self.part = KeyedList::Events;
                return Some(Effect::Done);
            }
            _ => return None,
        }
        .min(last);
        Some(Effect::Done)
    }
}

/// The rows of a list: where each begins in it, and how many boxes it is. Recursion is one row,
/// unless the cursor is there.
fn rows_of(stack: &ShownBoxes, folds: bool) -> Vec<(usize, usize)> {
    let mut rows: Vec<(usize, usize)> = Vec::new();
    for (at, (_, open)) in stack.newest.iter().enumerate() {
        let before = rows.last_mut();
        match before.filter(|(first, _)| stack.newest[*first].1.predicate == open.predicate) {
            Some((_, boxes)) if folds => *boxes += 1,
            _ => rows.push((at, 1)),
        }
    }
    rows
}

/// Draws a list of boxes; `cursor` is its row, if the keys are for it.
pub(super) fn draw(
    reader: &EventReader,
    stack: &ShownBoxes,
    title: &str,
    cursor: Option<usize>,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) {
    let room = usize::from(area.width);
    let (title, style) = match cursor {
        Some(_) => (format!("▶{title}"), theme.heading_sorted),
        None => (title.to_owned(), theme.heading),
    };
    buf.set_stringn(area.x, area.y, left(&title, room), room, style);
    let rows = usize::from(area.height.saturating_sub(1));
    let folded = rows_of(stack, cursor.is_none());
    let boxes_of = |rows: usize| -> u64 {
        let rows = folded.iter().take(rows);
        rows.map(|&(_, boxes)| boxes as u64).sum()
    };
    let all = folded.len();
    // The last row is for how many more there are.
    let is_cut = stack.height > boxes_of(rows);
    let shown = if is_cut { rows.saturating_sub(1) } else { rows };
    let first = first_row(0, cursor.unwrap_or(0), shown, all);
    let depth_width = stack.newest.iter().map(|(around, _)| count(*around).len());
    let depth_width = depth_width.max().unwrap_or(0).max(5);
    let visible = folded.iter().skip(first).take(shown);
    for (y, &(at, boxes)) in (area.y + 1..).zip(visible) {
        let (around, open) = &stack.newest[at];
        let times = match boxes {
            1 => String::new(),
            boxes => format!(" ×{}", count(boxes as u64)),
        };
        let selected = cursor == Some(at);
        let (faint, text) = if selected {
            (theme.cursor, theme.cursor)
        } else {
            (theme.faint, theme.text)
        };
        let depth = right(&count(*around), depth_width);
        // The name comes first; what is said beside it takes the room that is left.
        let left_for_name = room.saturating_sub(depth_width + 1);
        let name = reader.analysis.predicate(open.predicate);
        let name = fitting(name, left_for_name.saturating_sub(width(&times))) + &times;
        let beside = beside(open, left_for_name.saturating_sub(width(&name)));
        if selected {
            let line = " ".repeat(room);
            buf.set_stringn(area.x, y, line, room, theme.cursor);
        }
        let (x, _) = buf.set_stringn(area.x, y, depth, room, faint);
        let (x, _) = buf.set_stringn(x + 1, y, name, left_for_name, text);
        buf.set_stringn(x, y, beside, room, faint);
    }
    let drawn = all.saturating_sub(first).min(shown);
    let more = stack.height.saturating_sub(boxes_of(first + drawn));
    if more > 0 && rows > 0 {
        let of_hidden = if reader.lists_all() {
            ""
        } else {
            ", those of hidden predicates with them"
        };
        let text = format!("{:depth_width$} … {} more{of_hidden}", "", count(more));
        let y = area.y + 1 + drawn as u16;
        if y < area.bottom() {
            buf.set_stringn(area.x, y, shorten(&text, room), room, theme.faint);
        }
    }
}

/// What else is known of a box, as much as there is room for.
fn beside(open: &OpenBox, room: usize) -> String {
    let called = count(open.called);
    let last_calls = match open.last_calls {
        0 => String::new(),
        many => format!(", {}", counted(many, "last call", "last calls")),
    };
    let texts = [
        format!("  called at {called}{last_calls}"),
        format!("  called at {called}"),
        format!("  at {called}"),
    ];
    let fits = texts.into_iter().find(|text| width(text) <= room);
    fits.unwrap_or_default()
}
