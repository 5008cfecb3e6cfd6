//! The call tree and the call graph in the formats of other viewers: one file for each format.
//! Nothing is printed here.
//!
//! To add a format, write a file with a function `write` that is a [`WriteGraph`], and add it where
//! the program lists them.

pub mod callgrind;
pub mod dot;
pub mod firefox;
pub mod flamegraph;
pub mod folded;
mod metric;
pub mod perfetto;
pub mod pprof;
pub mod speedscope;
mod stacks;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use crate::Analysis;
use crate::figures::Caller;
use crate::figures::counted::Counted;
use crate::trace::PredicateIndex;

pub use metric::Metric;
pub use stacks::{Frame, of as frames};

/// The name of the frame that all rows below the same one share that are too small to be shown.
pub const FOLDED: &str = "<folded>";

/// What is drawn: the figures of what is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Graph<'a> {
    /// The figures.
    pub analysis: &'a Analysis,
    /// The size of a row.
    pub metric: Metric,
    /// Which rows of a call tree have a size. [`callgrind`] and [`dot`] have all time.
    pub counted: Counted,
    /// Rows with a smaller share of all, in percent, are left out or folded. [`callgrind`] has all
    /// of them.
    pub min_percent: f64,
}

/// Rows that a graph does not show one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// How many, because they are small.
    pub rows: u64,
    /// How many others, because too many rows are above them ([`folded::MOST_DEPTH`]).
    pub deep: u64,
    /// Of how many that have any size.
    pub of: u64,
}

/// Writes a graph in a format. The output depends on nothing but the figures.
///
/// # Errors
/// If the output fails.
pub type WriteGraph = fn(&Graph, &mut dyn Write) -> io::Result<LeftOut>;

impl Graph<'_> {
    /// Whether a part of `whole` is to be shown.
    fn is_large(&self, part: u64, whole: u64) -> bool {
        part as f64 * 100.0 >= whole as f64 * self.min_percent
    }

    /// The size of a row of the call tree without the rows below: ticks or events.
    fn own(&self, row: usize) -> u64 {
        let profile = &self.analysis.profile;
        let of = profile.contexts.get(row).map(|context| context.predicate);
        let counts = of.is_some_and(|of| self.counted.has(&self.analysis.trace, of));
        match counts {
            true => self.metric.own(profile, row),
            false => 0,
        }
    }

    /// Ticks as nanoseconds; events as they are.
    fn size(&self, raw: u64) -> u64 {
        if self.metric.is_time() {
            self.analysis.ns(raw)
        } else {
            raw
        }
    }

    /// Ticks of all boxes together.
    fn total_ticks(&self) -> u64 {
        match &self.analysis.profile.net {
            Some(net) if self.metric == Metric::NetTime => net.net_ticks,
            _ => self.analysis.profile.total_ticks(),
        }
    }

    /// Ticks of a predicate: self and inclusive.
    fn predicate_ticks(&self, predicate: PredicateIndex) -> (u64, u64) {
        let profile = &self.analysis.profile;
        let at = predicate as usize;
        match &profile.net {
            Some(net) if self.metric == Metric::NetTime => {
                let times = net.predicates.get(at).copied().unwrap_or_default();
                (times.self_ticks, times.inclusive_ticks)
            }
            _ => profile.predicates.get(at).map_or((0, 0), |figures| {
                (figures.self_ticks, figures.inclusive_ticks)
            }),
        }
    }

    /// Ticks that a callee served for a caller.
    fn served_ticks(&self, caller: Caller, callee: PredicateIndex) -> u64 {
        let profile = &self.analysis.profile;
        match &profile.net {
            Some(net) if self.metric == Metric::NetTime => {
                let times = net.edges.get(&(caller, callee));
                times.map_or(0, |times| times.served_ticks)
            }
            _ => {
                let figures = profile.edges.get(&(caller, callee));
                figures.map_or(0, |figures| figures.served_ticks)
            }
        }
    }
}
