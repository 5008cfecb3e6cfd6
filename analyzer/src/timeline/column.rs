//! What is known of one column of a timeline.

use crate::machine::WayOut;
use crate::trace::PredicateIndex;

/// What one stream did in the ticks of one column.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimeColumn {
    /// Its events were read. Else the counts say nothing, and of the cells only those that are not
    /// [`DepthCell::default`] are known.
    pub read: bool,
    /// Its events were folded into figures, and no more will be known of it.
    pub folded: bool,
    /// Port events and others.
    pub counts: Counts,
    /// Number in the stream of the first event in the column.
    pub first_event: Option<u64>,
    /// Ticks between pause and resume.
    pub paused_ticks: u64,
    /// Ticks in which events were lost.
    pub gap_ticks: u64,
    /// Blocks of the trace that begin here: the recorder's work for one falls between its first
    /// event and the next, and is not known any closer.
    pub blocks: u32,
    /// By row, from the first row of the window to the last one that has anything.
    pub cells: Vec<DepthCell>,
}

impl TimeColumn {
    /// Whether all is known of it that ever will be.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.read || self.folded
    }

    /// Only boxes stay that are there in all of its ticks, so many. The rest is not known.
    pub(super) fn in_part(mut self, ticks: u64) -> Self {
        for cell in &mut self.cells {
            let stays = cell.ticks == ticks && cell.only().is_some();
            *cell = if stays { *cell } else { DepthCell::default() };
        }
        Self {
            folded: true,
            cells: self.cells,
            ..Self::default()
        }
    }

    /// What is in a row, counted from the first one of the window; `None` if that is not known.
    #[must_use]
    pub fn cell(&self, row: usize) -> Option<DepthCell> {
        match self.cells.get(row) {
            Some(cell) if self.read || *cell != DepthCell::default() => Some(*cell),
            _ => self.read.then(DepthCell::default),
        }
    }
}

/// How often what happened. Ports are those of the engine's boxes that are not hidden: a last call
/// shares the box of its caller and is counted beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// All events, those of hidden boxes included.
    pub events: u64,
    /// Boxes opened.
    pub calls: u64,
    /// Last calls.
    pub last_calls: u64,
    /// Exits, determinate or not.
    pub exits: u64,
    /// Failures.
    pub fails: u64,
    /// Boxes re-entered.
    pub redos: u64,
    /// Boxes left by an exception.
    pub exceptions: u64,
    /// Boxes that can no longer be re-entered.
    pub cuts: u64,
    /// Remarks of the program.
    pub marks: u64,
    /// Places where events were lost.
    pub gaps: u64,
    /// Events known to be lost.
    pub lost: u64,
}

/// What is at one depth in the ticks of one column: by default, no box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DepthCell {
    /// How many segments.
    pub segments: u64,
    /// Ticks in which any box was there.
    pub ticks: u64,
    /// The first segment.
    pub first: Option<Segment>,
    /// The last one.
    pub last: Option<Segment>,
    /// The predicate whose segments have the most ticks together, and how many; of several the one
    /// declared first. `None` if all took no time.
    pub longest: Option<(PredicateIndex, u64)>,
    /// Ticks of predicates that a sum of slices did not tell apart, 0 where events were read: what
    /// is [`Self::longest`] may have so many more, or another predicate may have so many more than
    /// that one has here.
    pub untold: u64,
    /// Failures of boxes at this depth.
    pub fails: u64,
    /// Boxes re-entered at this depth.
    pub redos: u64,
    /// Boxes at this depth left by an exception.
    pub exceptions: u64,
}

impl DepthCell {
    /// The cell of a box that is there from one end of a column to the other, and nothing else.
    #[must_use]
    pub fn of_one(called: u64, predicate: PredicateIndex, ticks: &std::ops::Range<u64>) -> Self {
        let segment = Segment {
            called,
            predicate,
            from: ticks.start,
            to: ticks.end,
            began: Began::Before,
            ended: Ended::After,
        };
        let length = ticks.end.saturating_sub(ticks.start);
        Self {
            segments: 1,
            ticks: length,
            first: Some(segment),
            last: Some(segment),
            longest: (length > 0).then_some((predicate, length)),
            ..Self::default()
        }
    }

    /// The one segment that there is, if there is one.
    #[must_use]
    pub fn only(&self) -> Option<Segment> {
        self.first.filter(|_| self.segments == 1)
    }
}

/// A stretch in which one box is at some depth of the active chain and runs one predicate, as far
/// as it lies in the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Number of the event by which the box was called: its name. Of what is not known of before a
    /// gap, the number of the gap.
    pub called: u64,
    /// What it runs.
    pub predicate: PredicateIndex,
    /// From this tick.
    pub from: u64,
    /// To before this one.
    pub to: u64,
    /// How it began.
    pub began: Began,
    /// How it ended.
    pub ended: Ended,
}

/// How a segment begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Began {
    /// Before the column.
    Before,
    /// By a call.
    Call,
    /// By a last call of the same box.
    LastCall,
    /// By a redo.
    Redo,
    /// Where recording went on after a gap.
    Gap,
}

/// How a segment ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Not in the column, nor where it ends.
    After,
    /// By a last call of the same box.
    LastCall,
    /// As the activation of its box does.
    By(WayOut),
}
