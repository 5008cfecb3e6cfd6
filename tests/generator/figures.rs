//! The figures of a generated trace, known because the generator made it. Times are in ticks.
//!
//! Names and meanings are those of `portmortem_analyzer::figures`; the rows are types of their own,
//! because the analyser is what they are compared with.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::program::Way;

/// Everything known about a generated trace.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Figures {
    /// By predicate id.
    pub predicates: Vec<Predicate>,
    /// Pairs of caller and callee that occurred, ordered.
    pub edges: Vec<Edge>,
    /// Goals of clauses that were called and name their sites, in the order of their ids; and the calls of each pair that
    /// do not.
    pub sites: Vec<Site>,
    /// What failed and what was re-entered, ordered.
    pub backtracks: Vec<Backtrack>,
    /// What cut and what was cut, ordered.
    pub cuts: Vec<Cut>,
    /// By stream id, from 1.
    pub streams: Vec<Stream>,
}

/// Figures of one predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[allow(
    missing_docs,
    reason = "portmortem_analyzer::figures says what each is"
)]
pub struct Predicate {
    pub calls: u64,
    pub tail_calls: u64,
    pub exits_det: u64,
    pub exits_nondet: u64,
    pub exits_again: u64,
    pub redos: u64,
    pub fails: u64,
    pub fails_dry: u64,
    pub exceptions: u64,
    pub cuts: u64,
    pub open: u64,
    pub pending: u64,
    pub self_ticks: u64,
    pub self_failed_ticks: u64,
    pub self_raised_ticks: u64,
    pub self_open_ticks: u64,
    pub inclusive_ticks: u64,
    pub failed_ticks: u64,
    pub raised_ticks: u64,
    pub open_ticks: u64,
    pub undone_ticks: u64,
    pub lifetime_ticks: u64,
    pub max_height: u64,
}

/// Figures of one pair of caller and callee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[allow(
    missing_docs,
    reason = "portmortem_analyzer::figures says what each is"
)]
pub struct Edge {
    /// `None`: the root.
    pub caller: Option<u32>,
    pub callee: u32,
    pub calls: u64,
    pub tail_calls: u64,
    pub exits: u64,
    pub redos: u64,
    pub fails: u64,
    pub served_ticks: u64,
}

/// Figures of one site, or of the calls of a caller and callee that do not name theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[allow(
    missing_docs,
    reason = "portmortem_analyzer::figures says what each is"
)]
pub struct Site {
    /// Id of the site.
    pub id: Option<u32>,
    /// `None`: the root.
    pub caller: Option<u32>,
    pub callee: u32,
    pub calls: u64,
    pub tail_calls: u64,
    pub exits_det: u64,
    pub exits_nondet: u64,
    pub redos: u64,
    pub fails: u64,
    pub exceptions: u64,
    pub cuts: u64,
    pub open: u64,
    pub pending: u64,
    pub served_ticks: u64,
    pub undone_ticks: u64,
}

/// What backtracking from one predicate into another threw away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Backtrack {
    /// What failed; `None`: something outside all boxes.
    pub failed: Option<u32>,
    /// What was re-entered.
    pub redone: u32,
    /// Physical boxes re-entered.
    pub count: u64,
    /// What was thrown away.
    pub undone_ticks: u64,
}

/// Boxes that lost their choicepoints to a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Cut {
    /// What was active; `None`: no box.
    pub cutter: Option<u32>,
    /// What was cut.
    pub cut: u32,
    /// Boxes.
    pub count: u64,
}

/// Figures of one stream. The trace has its beginning, which is before its first event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[allow(
    missing_docs,
    reason = "portmortem_analyzer::figures says what each is"
)]
pub struct Stream {
    pub stream: u32,
    pub events: u64,
    /// Tick of the first event.
    pub first_event_tick: u64,
    /// Tick of the last event, and of the end.
    pub last_tick: u64,
    pub self_ticks: u64,
    /// Since the first event.
    pub untraced_ticks: u64,
    pub paused_ticks: u64,
    pub max_depth: u64,
    pub max_choices: u64,
}

/// How a box is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WayOut {
    ExitDet,
    ExitNondet,
    Fail,
    Exception,
    /// It is not: the stream ends.
    Open,
}

/// Counts of one edge of the program; those of predicates, and of pairs of caller and callee, are sums of them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) calls: u64,
    pub(super) tail_calls: u64,
    pub(super) exits_det: u64,
    pub(super) exits_nondet: u64,
    pub(super) exits_again: u64,
    pub(super) redos: u64,
    pub(super) fails: u64,
    pub(super) fails_dry: u64,
    pub(super) exceptions: u64,
    pub(super) cuts: u64,
    pub(super) open: u64,
    pub(super) pending: u64,
    /// Of outermost boxes of the callee.
    pub(super) served_ticks: u64,
    /// Of outermost boxes of the goal.
    pub(super) goal_ticks: u64,
    pub(super) undone_ticks: u64,
}

/// What all streams of a trace add to.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// By edge of the program.
    pub(super) counts: Vec<Counts>,
    /// By predicate; only what is not a sum over edges.
    pub(super) predicates: Vec<Predicate>,
    /// By what failed and what was re-entered.
    pub(super) backtracks: FxHashMap<(Option<u32>, u32), (u64, u64)>,
    /// By what cut and what was cut.
    pub(super) cuts: FxHashMap<(Option<u32>, u32), u64>,
    pub(super) streams: Vec<Stream>,
}

impl Totals {
    pub(super) fn new(edges: usize, predicates: usize) -> Self {
        Self {
            counts: vec![Counts::default(); edges],
            predicates: vec![Predicate::default(); predicates],
            ..Self::default()
        }
    }

    /// `ways` are how each edge calls.
    pub(super) fn into_figures(self, ways: &[Way]) -> Figures {
        let mut predicates = self.predicates;
        let mut edges = BTreeMap::<_, Edge>::new();
        let mut sites = Vec::new();
        for (counts, way) in self.counts.iter().zip(ways) {
            counts.add_to(&mut predicates[way.callee as usize]);
            if counts.calls > 0 {
                sites.push(counts.site(way));
                let edge = edges.entry((way.caller, way.callee)).or_default();
                counts.add_to_edge(edge, way);
            }
        }
        let mut streams = self.streams;
        streams.sort_unstable_by_key(|stream| stream.stream);
        let backtracks = self.backtracks.into_iter();
        let mut backtracks: Vec<Backtrack> = backtracks
            .map(|((failed, redone), (count, undone_ticks))| Backtrack {
                failed,
                redone,
                count,
                undone_ticks,
            })
            .collect();
        backtracks.sort_unstable_by_key(|row| (row.failed, row.redone));
        let cuts = self.cuts.into_iter();
        let mut cuts: Vec<Cut> = cuts
            .map(|((cutter, cut), count)| Cut { cutter, cut, count })
            .collect();
        cuts.sort_unstable_by_key(|row| (row.cutter, row.cut));
        Figures {
            predicates,
            edges: edges.into_values().collect(),
            sites,
            backtracks,
            cuts,
            streams,
        }
    }
}

impl Counts {
    fn add_to(&self, row: &mut Predicate) {
        row.calls += self.calls;
        row.tail_calls += self.tail_calls;
        row.exits_det += self.exits_det;
        row.exits_nondet += self.exits_nondet;
        row.exits_again += self.exits_again;
        row.redos += self.redos;
        row.fails += self.fails;
        row.fails_dry += self.fails_dry;
        row.exceptions += self.exceptions;
        row.cuts += self.cuts;
        row.open += self.open;
        row.pending += self.pending;
        row.undone_ticks += self.undone_ticks;
    }

    fn add_to_edge(&self, row: &mut Edge, way: &Way) {
        (row.caller, row.callee) = (way.caller, way.callee);
        row.calls += self.calls;
        row.tail_calls += self.tail_calls;
        row.exits += self.exits_det + self.exits_nondet;
        row.redos += self.redos;
        row.fails += self.fails;
        row.served_ticks += self.served_ticks;
    }

    fn site(&self, way: &Way) -> Site {
        Site {
            id: way.site.map(|_| way.id),
            caller: way.caller,
            callee: way.callee,
            calls: self.calls,
            tail_calls: self.tail_calls,
            exits_det: self.exits_det,
            exits_nondet: self.exits_nondet,
            redos: self.redos,
            fails: self.fails,
            exceptions: self.exceptions,
            cuts: self.cuts,
            open: self.open,
            pending: self.pending,
            served_ticks: self.goal_ticks,
            undone_ticks: self.undone_ticks,
        }
    }
}
