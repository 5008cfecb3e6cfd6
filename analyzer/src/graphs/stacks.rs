//! The call tree as a viewer takes it: from the top, each row followed by those below it, small
//! ones folded.

use super::{FOLDED, Graph, LeftOut};
use crate::trace::PredicateIndex;

/// A row of the call tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// `None`: all rows below the one above that are too small to be shown.
    pub predicate: Option<PredicateIndex>,
    /// Rows above.
    pub depth: usize,
    /// Its size without the rows below, in ns or events.
    pub own: u64,
}

impl Frame {
    /// The name of the predicate.
    #[must_use]
    pub fn name<'a>(&self, graph: &Graph<'a>) -> &'a str {
        self.predicate
            .map_or(FOLDED, |predicate| graph.analysis.predicate(predicate))
    }
}

/// The rows that have a size and fewer than so many above them, and how many are folded. The sizes
/// of all frames add up to that of the tree.
#[must_use]
pub fn of(graph: &Graph, most_depth: usize) -> (Vec<Frame>, LeftOut) {
    let profile = &graph.analysis.profile;
    let rows = &profile.contexts;
    let mut totals: Vec<u64> = (0..rows.len()).map(|row| graph.own(row)).collect();
    let mut whole = 0_u64;
    for (row, context) in rows.iter().enumerate().rev() {
        let total = totals[row];
        let sum = match context.parent {
            Some(parent) => &mut totals[parent as usize],
            None => &mut whole,
        };
        *sum = sum.saturating_add(total);
    }
    let is_large = |row: usize| totals[row] > 0 && graph.is_large(totals[row], whole);
    let is_shown = |row: usize| is_large(row) && (rows[row].depth as usize) < most_depth;
    let mut left_out = LeftOut::default();
    // What is folded below each row that is shown, and at the top.
    let mut folded = vec![0_u64; rows.len()];
    let mut folded_at_top = 0_u64;
    for (row, context) in rows.iter().enumerate() {
        left_out.of += u64::from(totals[row] > 0);
        if is_shown(row) || totals[row] == 0 {
            continue;
        }
        match is_large(row) {
            true => left_out.deep += 1,
            false => left_out.rows += 1,
        }
        let sum = match context.parent.map(|parent| parent as usize) {
            Some(parent) if is_shown(parent) => &mut folded[parent],
            // In the sum of the row above.
            Some(_) => continue,
            None => &mut folded_at_top,
        };
        *sum = sum.saturating_add(totals[row]);
    }
    let mut frames = Frames {
        frames: Vec::new(),
        open: vec![graph.size(folded_at_top)],
    };
    for (row, context) in rows.iter().enumerate().filter(|&(row, _)| is_shown(row)) {
        let depth = context.depth as usize;
        frames.close(depth + 1);
        frames.frames.push(Frame {
            predicate: Some(context.predicate),
            depth,
            own: graph.size(graph.own(row)),
        });
        frames.open.push(graph.size(folded[row]));
    }
    frames.close(0);
    (frames.frames, left_out)
}

struct Frames {
    frames: Vec<Frame>,
    /// What is folded at the top, then below each row that has not ended, the outermost first.
    open: Vec<u64>,
}

impl Frames {
    /// Ends all rows but the outermost `kept`; what is folded below a row comes last there.
    fn close(&mut self, kept: usize) {
        while self.open.len() > kept
            && let Some(folded) = self.open.pop()
        {
            if folded > 0 {
                self.frames.push(Frame {
                    predicate: None,
                    depth: self.open.len(),
                    own: folded,
                });
            }
        }
    }
}
