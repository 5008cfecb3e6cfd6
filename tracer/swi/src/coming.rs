//! What instrumented clauses announce to wrappers.

use crate::frames::FrameId;

/// What an instrumented clause says of the call of a wrapper that comes next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coming {
    /// Of which predicate the wrapper is.
    pub(crate) predicate: u32,
    /// [`position`](portmortem_tracer::Stream::position) when it was said: it holds until the next
    /// event.
    pub(crate) position: usize,
    pub(crate) what: Announced,
}

/// What is announced of it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Announced {
    /// At a goal. `id` is what the event is to carry; `frame` runs the clause if the goal is its
    /// last one.
    AtGoal { id: u32, frame: FrameId },
    /// The call is recorded already, and the clause is gone or waits elsewhere.
    Recorded,
    /// The goal has opened a box, and ends it. The wrapper's frame is to stay meanwhile: last
    /// calls of the predicate are told by it.
    InBox,
}
