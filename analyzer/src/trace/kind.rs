//! What boxes of a predicate are.

use bincode::{Decode, Encode};

use super::{PredicateIndex, PredicateInfo, Trace};

/// What a box is, as far as it matters for what recording it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub enum BoxKind {
    /// A call of a predicate with so many arguments.
    Call {
        /// Arguments.
        arity: u32,
    },
    /// A garbage collection or stack shift.
    EngineWork,
}

impl BoxKind {
    /// Of each predicate of a trace.
    #[must_use]
    pub fn by_predicate(trace: &Trace) -> Vec<Self> {
        let of = |info: &PredicateInfo| {
            if info.is_engine_work() {
                Self::EngineWork
            } else {
                Self::Call {
                    arity: info.declared.arity,
                }
            }
        };
        trace.predicates().iter().map(of).collect()
    }

    /// Of one predicate; nothing is known of the unknown one.
    pub(crate) fn of(kinds: &[Self], predicate: PredicateIndex) -> Self {
        let of = kinds.get(predicate as usize).copied();
        of.unwrap_or(Self::Call { arity: 0 })
    }
}
