//! What is seen in one row of a picture: cells that belong together.

use std::ops::Range;

use portmortem_analyzer::timeline::{Began, DepthCell, Ended, Segment};
use portmortem_analyzer::trace::PredicateIndex;

use super::pictures::Picture;

/// Cells of a row that show the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CellRun {
    pub(super) columns: Range<u32>,
    pub(super) shows: Shows,
}

/// What cells show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shows {
    /// It was not read yet.
    Unknown,
    /// No box was at this depth.
    NoBox,
    /// One box, from where to where as far as it lies in the picture.
    One(Segment),
    /// Several boxes in each column, and which predicate was there longest in each of them; `None` if none took
    /// any time.
    Many(Option<PredicateIndex>),
}

impl Shows {
    fn of(cell: Option<DepthCell>) -> Self {
        let Some(cell) = cell else {
            return Self::Unknown;
        };
        match (cell.segments, cell.first) {
            (0, _) | (_, None) => Self::NoBox,
            (1, Some(only)) => Self::One(only),
            _ => Self::Many(cell.longest.map(|(predicate, _)| predicate)),
        }
    }

    /// Both together, if they show the same.
    fn with(self, next: Self) -> Option<Self> {
        match (self, next) {
            (Self::One(here), Self::One(there)) => {
                let same = (here.called, here.predicate) == (there.called, there.predicate);
                let stays = here.ended == Ended::After && there.began == Began::Before;
                (same && stays).then_some(Self::One(Segment {
                    from: here.from,
                    began: here.began,
                    ..there
                }))
            }
            (here, there) => (here == there).then_some(here),
        }
    }

    /// The predicate that is shown.
    pub(super) fn predicate(self) -> Option<PredicateIndex> {
        match self {
            Self::One(segment) => Some(segment.predicate),
            Self::Many(longest) => longest,
            Self::Unknown | Self::NoBox => None,
        }
    }
}

/// The runs of a row, which counts from the first one of the picture's window.
pub(super) fn runs(picture: &Picture, row: usize) -> Vec<CellRun> {
    let mut runs: Vec<CellRun> = Vec::new();
    for (at, column) in (0..).zip(&picture.columns) {
        let shows = Shows::of(column.cell(row));
        if let Some(last) = runs.last_mut()
            && let Some(both) = last.shows.with(shows)
        {
            last.shows = both;
            last.columns.end = at + 1;
        } else {
            runs.push(CellRun {
                columns: at..at + 1,
                shows,
            });
        }
    }
    runs
}
