//! Which stretch of time is shown, and where the cursor is in it. Times are ticks.
//!
//! The stretch is always a part of the whole, and the cursor is moved into it whenever it changes.

use crate::screen::Effect;

/// Which ticks are shown, the end excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ShownTicks {
    pub(super) from: u64,
    pub(super) to: u64,
}

impl ShownTicks {
    pub(super) fn span(self) -> u64 {
        self.to.saturating_sub(self.from)
    }

    pub(super) fn contains(self, tick: u64) -> bool {
        (self.from..self.to).contains(&tick)
    }
}

/// What Esc goes back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Position {
    pub(super) view: ShownTicks,
    pub(super) cursor: u64,
    pub(super) row: u32,
    pub(super) band: usize,
    /// The event that the cursor was sent to.
    sent: Option<Sent>,
}

impl Position {
    /// The number of the event that the cursor was sent to, and is still at.
    pub(super) fn sent(&self) -> Option<u64> {
        let sent = self.sent?;
        let is_there = (sent.cursor, sent.row, sent.band) == (self.cursor, self.row, self.band);
        is_there.then_some(sent.number)
    }
}

/// An event, and where the cursor is as long as it was not moved away from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sent {
    number: u64,
    cursor: u64,
    row: u32,
    band: usize,
}

/// What is shown, and what was shown before.
#[derive(Debug, Default)]
pub(super) struct TimeView {
    /// All that can be shown.
    whole: ShownTicks,
    /// The part of it in which the program runs.
    program: ShownTicks,
    /// What is shown. The cursor is at a tick of it, at a depth of a stream.
    position: Position,
    /// Nothing was asked for yet: the cursor goes to where there is something to see.
    fresh: bool,
    /// What was shown before each zoom, and before each other stream.
    zooms: Vec<Position>,
}

impl TimeView {
    /// Begins anew with all that can be shown: shows the part in which the program runs.
    pub(super) fn begin(&mut self, whole: ShownTicks, program: ShownTicks) {
        *self = Self {
            whole,
            program,
            position: Position {
                view: program,
                cursor: program.from + program.span() / 2,
                ..Position::default()
            },
            fresh: true,
            zooms: Vec::new(),
        };
    }

    /// All that can be shown begins at another tick; what is shown stays.
    #[cfg(test)]
    pub(super) fn begin_whole_at(&mut self, from: u64) {
        self.whole.from = from;
    }

    /// All that can be shown.
    pub(super) fn whole(&self) -> ShownTicks {
        self.whole
    }

    /// Where the cursor is, and what is shown.
    pub(super) fn position(&self) -> Position {
        self.position
    }

    pub(super) fn shows_all(&self) -> bool {
        self.position.view == self.whole
    }

    /// The part in which the program runs, if just that is shown.
    pub(super) fn shown_program(&self) -> Option<ShownTicks> {
        Some(self.program).filter(|program| self.position.view == *program)
    }

    /// Whether nothing was asked for yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Something is asked for. Returns whether that is the first time.
    pub(super) fn touch(&mut self) -> bool {
        std::mem::take(&mut self.fresh)
    }

    /// It was nothing for this screen: nothing was asked for, if nothing was before.
    pub(super) fn untouch(&mut self, was_fresh: bool) {
        self.fresh = was_fresh;
    }

    /// Shows a stretch as near to this one as there is, of at least so many ticks.
    pub(super) fn show(&mut self, from: u64, span: u64, least: u64) {
        let span = span.clamp(least.min(self.whole.span()), self.whole.span().max(1));
        let latest = self.whole.to.saturating_sub(span).max(self.whole.from);
        let from = from.clamp(self.whole.from, latest);
        let to = from.saturating_add(span);
        self.position.view = ShownTicks { from, to };
        let last = to.saturating_sub(1).max(from);
        self.position.cursor = self.position.cursor.clamp(from, last);
    }

    /// The cursor goes to a tick.
    pub(super) fn go_to_tick(&mut self, tick: u64) {
        self.position.cursor = tick;
    }

    /// The cursor goes to a depth.
    pub(super) fn go_to_row(&mut self, row: u32) {
        self.position.row = row;
    }

    /// The cursor goes to the outermost depth of a stream.
    pub(super) fn go_to_band(&mut self, band: usize) {
        (self.position.band, self.position.row) = (band, 0);
    }

    /// The cursor was sent to an event, and is there until it moves.
    pub(super) fn remember_event(&mut self, number: u64) {
        let Position {
            cursor, row, band, ..
        } = self.position;
        self.position.sent = Some(Sent {
            number,
            cursor,
            row,
            band,
        });
    }

    /// What was done since some position is a step, if it led anywhere: Esc goes back.
    pub(super) fn step_from(&mut self, before: Position) -> Effect {
        if self.position == before {
            return Effect::Done;
        }
        self.zooms.push(before);
        Effect::Step
    }

    /// Gives up what was done since some position.
    pub(super) fn put_back(&mut self, before: Position) {
        self.position = before;
    }

    /// Goes back one step; `false` if there was none.
    pub(super) fn undo(&mut self) -> bool {
        let before = self.zooms.pop();
        self.position = before.unwrap_or(self.position);
        before.is_some()
    }

    /// Goes to where the user was, unless that is no place: of other streams, of which there are so
    /// many now, or another stretch of time. Whether it is one.
    pub(super) fn recall(&mut self, position: Position, bands: usize) -> bool {
        let ShownTicks { from, to } = position.view;
        let is_place = position.band < bands && self.whole.from <= from && to <= self.whole.to;
        if is_place {
            (self.position, self.fresh) = (position, false);
        }
        is_place
    }
}
