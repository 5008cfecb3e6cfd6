//! What boxes of a predicate are.

use bincode::{Decode, Encode};

use portmortem_tracer::format::WAITING;

use super::{PredicateIndex, PredicateInfo, Trace};

/// What a box is, as far as it matters for what recording it costs, and for what it says of the
/// program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub enum BoxKind {
    /// A call of a predicate with so many arguments.
    Call {
        /// Arguments.
        arity: u32,
    },
    /// A garbage collection or stack shift.
    EngineWork,
    /// The loading of a library.
    Autoload,
    /// Time without a processor.
    Waiting,
}

impl BoxKind {
    /// Of each predicate of a trace.
    #[must_use]
    pub fn by_predicate(trace: &Trace) -> Vec<Self> {
        let of = |info: &PredicateInfo| {
            if !info.is_engine_work() {
                return Self::Call {
                    arity: info.declared.arity,
                };
            }
            match info.declared.name.as_str() {
                WAITING => Self::Waiting,
                "autoload" => Self::Autoload,
                _ => Self::EngineWork,
            }
        };
        trace.predicates().iter().map(of).collect()
    }

    /// Whether it happens between two ports, wherever the program is then, and is no step of the
    /// program.
    pub(crate) fn is_between_ports(self) -> bool {
        matches!(self, Self::EngineWork | Self::Waiting)
    }

    /// Of one predicate; nothing is known of the unknown one.
    pub(crate) fn of(kinds: &[Self], predicate: PredicateIndex) -> Self {
        let of = kinds.get(predicate as usize).copied();
        of.unwrap_or(Self::Call { arity: 0 })
    }
}
