//! How far the making of tables has come, in bytes of the traces.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use portmortem_analyzer::Analysis;
use portmortem_analyzer::tables::Table;

use super::inputs::Input;

/// What is done of all traces together.
pub(super) struct TableProgress {
    /// How often a trace is read: for its figures, and for its events if they are asked for.
    passes: u64,
    finished: AtomicU64,
    /// By thread: of the trace that it is at.
    current: Vec<AtomicU64>,
}

impl TableProgress {
    pub(super) fn new(tables: &[Table], threads: usize) -> Self {
        Self {
            passes: if tables.contains(&Table::Events) {
                2
            } else {
                1
            },
            finished: AtomicU64::new(0),
            current: (0..threads).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(super) fn total(&self, inputs: &[Input]) -> u64 {
        inputs.iter().map(size).sum::<u64>() * self.passes
    }

    pub(super) fn done(&self) -> u64 {
        let current = self.current.iter();
        let current: u64 = current.map(|done| done.load(Ordering::Relaxed)).sum();
        self.finished.load(Ordering::Relaxed) + current
    }

    /// What a thread adds to while it is at a trace.
    pub(super) fn of_thread(&self, thread: usize) -> &AtomicU64 {
        &self.current[thread]
    }

    /// A thread has finished a trace, and whatever it did not have to read of it counts as read.
    pub(super) fn finish(&self, thread: usize, input: &Input) {
        self.current[thread].store(0, Ordering::Relaxed);
        let bytes = size(input) * self.passes;
        self.finished.fetch_add(bytes, Ordering::Relaxed);
    }
}

fn size(input: &Input) -> u64 {
    fs::metadata(&input.path).map_or(0, |file| file.len())
}

/// Counts the rows of `events` as the bytes that they take in the trace.
pub(super) struct RowsAsBytes<'a> {
    done: &'a AtomicU64,
    bytes_per_step: u64,
    rows: u64,
}

/// Rows between two reports of progress.
const STEP: u64 = 1 << 16;

impl<'a> RowsAsBytes<'a> {
    pub(super) fn new(analysis: &Analysis, table: Table, done: &'a AtomicU64) -> Self {
        let (bytes, events) = match table {
            Table::Events => (analysis.trace.size(), analysis.events()),
            _ => (0, 0),
        };
        let bytes_per_step = u128::from(bytes) * u128::from(STEP) / u128::from(events.max(STEP));
        Self {
            done,
            bytes_per_step: bytes_per_step as u64,
            rows: 0,
        }
    }

    pub(super) fn row(&mut self) {
        self.rows += 1;
        if self.rows.is_multiple_of(STEP) {
            self.done.fetch_add(self.bytes_per_step, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts_once_for_each_pass() {
        let path = std::env::current_exe().unwrap();
        let input = Input {
            path,
            name: String::new(),
        };
        let progress = TableProgress::new(&[Table::Edges, Table::Events], 2);
        assert_eq!(
            progress.total(std::slice::from_ref(&input)),
            2 * size(&input)
        );
        progress.of_thread(1).store(7, Ordering::Relaxed);
        assert_eq!(progress.done(), 7);
        progress.finish(1, &input);
        assert_eq!(progress.done(), 2 * size(&input));
    }
}
