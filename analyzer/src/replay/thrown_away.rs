//! What backtracking throws away in a chunk, and what is cut.

use rustc_hash::FxHashMap;

use super::choices::{Backtrack, Idle, Live, RedoCause, Resumed, Who};
use super::ledger::add;

/// Work that was undone, by cause and what was resumed; and boxes that were cut, by whom and of
/// whom.
#[derive(Debug, Default)]
pub(super) struct ThrownAway {
    backtracks: FxHashMap<(RedoCause, Resumed), Backtrack>,
    cuts: FxHashMap<(Who, Who), u64>,
    /// Ticks of work that was undone.
    undone: u64,
    /// Those of them of the outermost root, since it is that.
    idle_undone: u64,
}

impl ThrownAway {
    /// A stream begins.
    pub(super) fn begin_stream(&mut self) {
        (self.undone, self.idle_undone) = (0, 0);
    }

    /// Another root is the outermost.
    pub(super) fn begin_level(&mut self) {
        self.idle_undone = 0;
    }

    /// What is live of all work so far, of which `idle` ticks are those of the root `level`, the
    /// outermost.
    #[inline(always)]
    pub(super) fn live(&self, work: u64, idle: u64, level: u32) -> Live {
        Live {
            ticks: work - self.undone,
            idle: idle.saturating_sub(self.idle_undone),
            level,
        }
    }

    /// Goes back from some live work to what was live before: the ticks undone, and those of them
    /// that are idle.
    #[inline(always)]
    pub(super) fn undo(&mut self, from: &Live, to: &Live) -> (u64, u64) {
        let idle = if from.level == to.level { to.idle } else { 0 };
        let undone = from.ticks.saturating_sub(to.ticks);
        let idle = from.idle.saturating_sub(idle);
        self.undone += undone;
        self.idle_undone += idle;
        (undone, idle)
    }

    /// Undoes work by a redo of a box that exited in the chunk.
    #[inline(always)]
    pub(super) fn redo(&mut self, (cause, resumed): (RedoCause, Resumed), from: &Live, to: &Live) {
        let (undone, idle) = self.undo(from, to);
        let edge = self.backtracks.entry((cause, resumed)).or_default();
        edge.count += 1;
        add(&mut edge.undone, undone);
        if idle > 0 {
            edge.idle.add(Idle {
                ticks: idle,
                level: from.level,
            });
        }
    }

    /// A box cuts some of another one.
    #[inline]
    pub(super) fn cut(&mut self, by: Who, cut: Who, boxes: u64) {
        *self.cuts.entry((by, cut)).or_default() += boxes;
    }

    pub(super) fn backtracks(&self) -> &FxHashMap<(RedoCause, Resumed), Backtrack> {
        &self.backtracks
    }

    pub(super) fn cuts(&self) -> &FxHashMap<(Who, Who), u64> {
        &self.cuts
    }
}
