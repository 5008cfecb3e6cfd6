//! Times as they would be without the recorder: a pass over a profile.
//!
//! Each event that was written took time of its own, part of it in the stretch of the box that was entered or
//! left, part in that of the caller ([`PortCosts`](portmortem_tracer::format::PortCosts), fitted to the trials that the recorder ran). The profile counts both for every row of the call tree
//! ([`crate::figures::contexts::ContextFigures::inside`]), so the cost of a row is a sum of products, in integers.
//! A callback costs more, and its caller pays: it is a library or the engine, whose goals are not
//! recorded.
//! What is left of the row's self time is its net self time. Time of hidden boxes is their callers', and so is what
//! recording them took ([`HiddenFigures`](crate::figures::contexts::HiddenFigures)).
//!
//! Of the engine's own work so much is left as a baseline says, or all. A baseline fits the costs, too ([`crate::net::baseline`]): below
//! each outermost predicate they are multiplied, and if that does not explain what it takes, all times there are.
//!
//! Costs are means, and a row may have taken less than that: then it has no time left, and what is missing is taken from the
//! row above, because where the line between a box and its caller runs is the least certain thing about a cost. Nothing
//! gets below zero, what goes round is counted ([`NetTimes::clamps`](crate::figures::net_times::NetTimes::clamps)), and nothing is lost but what is missing at
//! the top.
//!
//! Inclusive times are sums over the tree, so they add up like the recorded ones: for contexts, predicates, and both
//! columns of edges. Of edges the profile knows no costs: the net time of a row is shared by the callers that can have
//! called it, and that spent in callees by the callees, in proportion to recorded times.

pub mod baseline;
pub mod centers;
pub mod costs;
pub mod rates;
mod times;
pub(crate) mod trials;

pub use costs::RecordingCosts;
pub use rates::{Rate, Rates};
pub(crate) use times::share;
