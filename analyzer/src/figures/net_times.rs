//! Times without the recorder's own, as [`crate::net`] finds them.

use std::collections::BTreeMap;

use super::Caller;
use super::work::Work;
use crate::trace::PredicateIndex;

/// Net times of a predicate or context, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// Twin of `self_ticks`.
    pub self_ticks: u64,
    /// Twin of `inclusive_ticks`.
    pub inclusive_ticks: u64,
}

/// Net times of an edge, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EdgeTimes {
    /// Twin of `served_ticks`.
    pub served_ticks: u64,
    /// Twin of `spent_ticks`.
    pub spent_ticks: u64,
}

/// Net times by caller and callee.
pub type EdgesOfTimes = BTreeMap<(Caller, PredicateIndex), EdgeTimes>;

/// The net times of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NetTimes {
    /// By [`PredicateIndex`].
    pub predicates: Vec<Times>,
    /// As [`super::profile::Profile::contexts`].
    pub contexts: Vec<Times>,
    /// As [`super::profile::Profile::edges`].
    pub edges: EdgesOfTimes,
    /// The same of work alone.
    pub work_edges: EdgesOfTimes,
    /// Where work was done.
    pub work: Work,
    /// Rows of the call tree that took less than recording them costs.
    pub clamps: u64,
    /// Ticks that boxes ran, as recorded.
    pub recorded_ticks: u64,
    /// Ticks that are left of them.
    pub net_ticks: u64,
    /// The part of `recorded_ticks` in which threads waited, or had no processor.
    pub recorded_waiting_ticks: u64,
    /// The same of `net_ticks`.
    pub net_waiting_ticks: u64,
}
