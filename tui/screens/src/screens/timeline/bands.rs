//! The bands of the screen: a stream each, in some order, unfolded where the cursor is or all
//! folded, and scrolled so that the cursor is in sight.

use std::cmp::Reverse;
use std::ops::Range;

use portmortem_analyzer::figures::StreamFigures;

use crate::table::first_row;

/// From so many streams on they are in the order of their work, and folded each is one line.
pub(super) const MANY: usize = 8;

/// Streams, by their place in the trace, and how they are arranged.
#[derive(Debug, Default)]
pub(super) struct Bands {
    /// The streams that are looked at.
    streams: Vec<usize>,
    /// All bands are folded.
    folded: bool,
    /// The band at the top.
    first: usize,
    /// The depth at the top of the band that is unfolded.
    first_row: u32,
}

impl Bands {
    /// Shows other streams than before; `false` if they are the same. Under other filters the same
    /// streams stay where they were.
    pub(super) fn show_streams(
        &mut self,
        mut streams: Vec<usize>,
        figures: &[StreamFigures],
    ) -> bool {
        let mut before = self.streams.clone();
        before.sort_unstable();
        if streams == before {
            return false;
        }
        if streams.len() >= MANY {
            streams.sort_by_key(|stream| Reverse(figures[*stream].work_ticks));
        }
        if self.streams.is_empty() {
            self.folded = streams.len() >= MANY;
        }
        self.streams = streams;
        true
    }

    /// The streams, from the top to the bottom.
    pub(super) fn streams(&self) -> &[usize] {
        &self.streams
    }

    pub(super) fn len(&self) -> usize {
        self.streams.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// The stream of a band.
    pub(super) fn stream(&self, band: usize) -> Option<usize> {
        self.streams.get(band).copied()
    }

    /// The band of a stream.
    pub(super) fn band_of(&self, stream: usize) -> Option<usize> {
        let mut streams = self.streams.iter();
        streams.position(|other| *other == stream)
    }

    pub(super) fn is_folded(&self) -> bool {
        self.folded
    }

    /// Whether each stream is one line.
    pub(super) fn is_in_lines(&self) -> bool {
        self.folded && self.streams.len() >= MANY
    }

    /// Folds all bands, or unfolds the one of the cursor. A single stream is never folded.
    pub(super) fn toggle(&mut self) {
        self.folded = !self.folded && self.streams.len() > 1;
    }

    /// Unfolds the band of the cursor.
    pub(super) fn unfold(&mut self) {
        self.folded = false;
    }

    /// The depth at the top of the band of the cursor.
    pub(super) fn first_row(&self) -> u32 {
        if self.folded { 0 } else { self.first_row }
    }

    /// Scrolls the band of the cursor back to its top.
    pub(super) fn scroll_to_top(&mut self) {
        self.first_row = 0;
    }

    /// Scrolls the band of the cursor so that a depth is among so many that are shown.
    pub(super) fn scroll_to_row(&mut self, row: u32, height: u16) {
        let (first, row) = (self.first_row as usize, row as usize);
        self.first_row = first_row(first, row, height.into(), usize::MAX) as u32;
    }

    /// Scrolls so that a band is among so many that are shown; returns those.
    pub(super) fn scroll_to_band(&mut self, band: usize, shown: usize) -> Range<usize> {
        let many = self.streams.len();
        self.first = first_row(self.first, band, shown, many);
        self.first..many.min(self.first + shown)
    }
}
