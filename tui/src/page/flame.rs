//! The flame graph: the call tree of work, small rows folded.

use portmortem_analyzer::Analysis;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::graphs::{Graph, Metric, frames};
use serde::Serialize;

use super::names::PageNames;

/// Rows with a smaller share, in percent, are folded; with a larger one where there are too many.
const LEAST: f64 = 0.1;

/// So many rows are shown at most.
const MOST_FRAMES: usize = 4_000;

/// Rows with so many above them are folded.
const MOST_DEPTH: usize = 200;

/// The tree, each row followed by those below it.
#[derive(Debug, Serialize)]
pub(super) struct PageFlame {
    /// Rows above, the predicate (`None`: folded rows), and the time of the row alone in ns.
    frames: Vec<(usize, Option<usize>, u64)>,
    /// Rows that are folded because they are small, and the limit in percent.
    small: u64,
    least: f64,
    /// Rows that are folded because they are deep.
    deep: u64,
    /// Rows that have a size.
    of: u64,
}

impl PageFlame {
    pub(super) fn of(analysis: &Analysis, names: &mut PageNames) -> Self {
        let mut graph = Graph {
            analysis,
            metric: match analysis.net_is_measured() {
                true => Metric::NetTime,
                false => Metric::SelfTime,
            },
            counted: Counted::Work,
            min_percent: LEAST,
        };
        let (mut rows, mut left_out) = frames(&graph, MOST_DEPTH);
        while rows.len() > MOST_FRAMES && graph.min_percent < 100.0 {
            graph.min_percent *= 2.0;
            (rows, left_out) = frames(&graph, MOST_DEPTH);
        }
        let frames = rows.into_iter().map(|frame| {
            let predicate = frame.predicate.map(|predicate| names.id(predicate));
            (frame.depth, predicate, frame.own)
        });
        Self {
            frames: frames.collect(),
            small: left_out.rows,
            least: graph.min_percent,
            deep: left_out.deep,
            of: left_out.of,
        }
    }
}
