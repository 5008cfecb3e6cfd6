//! Mean costs of recording.

use bincode::{Decode, Encode};
use portmortem_tracer::format::PortCosts;

/// What recording costs, by what is counted: mean costs, in parts of
/// [`COST_UNIT`](portmortem_tracer::format::COST_UNIT) of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct RecordingCosts {
    /// The costs of ports.
    pub ports: PortCosts,
    /// How much more a callback costs, a box that a boundary predicate
    /// ([`Trace::boundary`](crate::trace::Trace::boundary)) called: in the stretch of its caller.
    pub callback: u32,
}
