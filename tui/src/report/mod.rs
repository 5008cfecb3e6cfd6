//! The profile as text for people, 80 columns wide.
//!
//! First what the trace is, then the flat profile, then who calls the hottest predicates and whom they call, then
//! who fails into whom, then cost centres and symbolic costs if there are any, then what was lost or distorted.

mod backtracking;
mod costs;
mod flat;
mod neighbours;
mod remarks;

use portmortem_analyzer::figures::laws::Imbalance;
use portmortem_analyzer::text::TimeUnit;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::{Profile, Tables};
use portmortem_screens::Scope;

pub(crate) use flat::order;
pub(crate) use remarks::{as_list, distortion, ending, headline, losses, remarks};

/// The width that reports are laid out for.
pub(crate) const WIDTH: usize = 80;

/// Backtrack edges that an overview shows.
const BACKTRACKS: usize = 5;

/// A profile with what is needed to print it.
pub(crate) struct Report<'a> {
    /// Where names and times come from.
    pub(crate) trace: &'a Trace,
    /// The figures.
    pub(crate) profile: &'a Profile,
    /// The same as tables.
    pub(crate) tables: Tables<'a>,
    /// Which part of the trace they are of.
    pub(crate) scope: &'a Scope,
    /// What the conservation laws found.
    pub(crate) imbalances: &'a [Imbalance],
}

impl Report<'_> {
    /// The flat profile of the first `top` of these predicates, then callers and callees of the first three, then
    /// failures by what they resumed.
    pub(crate) fn overview(
        &self,
        columns: &[usize],
        order: &[PredicateIndex],
        top: usize,
    ) -> String {
        let mut text = flat::table(self, columns, order, top);
        for &index in order.iter().take(3.min(top)) {
            text.push('\n');
            text.push_str(&neighbours::block(self, index));
        }
        let backtracking = backtracking::table(self, top.min(BACKTRACKS));
        if !backtracking.is_empty() {
            text.push('\n');
            text.push_str(&backtracking);
        }
        let mut more = vec![costs::centers(self)];
        // These are of the whole trace.
        if self.scope.is_everything() {
            more.push(costs::symbolic(self, order, top));
        }
        for table in more.iter().filter(|table| !table.is_empty()) {
            text.push('\n');
            text.push_str(table);
        }
        text
    }

    /// Callers, itself, callees of some predicates; before them a line for each with the columns asked for.
    pub(crate) fn predicates(&self, columns: &[usize], indices: &[PredicateIndex]) -> String {
        let lines = (!columns.is_empty()).then(|| flat::table(self, columns, indices, usize::MAX));
        let blocks = indices.iter().map(|&index| neighbours::block(self, index));
        let all: Vec<String> = lines.into_iter().chain(blocks).collect();
        all.join("\n")
    }

    /// Events read, in all streams.
    pub(crate) fn events(&self) -> u64 {
        self.profile
            .streams
            .iter()
            .map(|stream| stream.events)
            .sum()
    }

    fn ns(&self, ticks: u64) -> u64 {
        self.trace.clock().duration_ns(ticks)
    }

    /// One unit for all times of the report.
    fn unit(&self) -> TimeUnit {
        let longest = self
            .profile
            .predicates
            .iter()
            .map(|figures| figures.inclusive_ticks)
            .max();
        TimeUnit::for_longest(self.ns(longest.unwrap_or(0)))
    }
}
