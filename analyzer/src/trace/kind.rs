//! What boxes of a predicate are.

use bincode::{Decode, Encode};

use portmortem_tracer::format::Role;

use super::{PredicateIndex, PredicateInfo, Trace};

/// What a box is, as far as it matters for what recording it costs, and for what it says of the
/// program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
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
    /// What the recorder does to the program while that runs, and its notes that a table begins to
    /// be filled: no work of the program at all.
    SetUp,
}

impl BoxKind {
    /// Of each predicate of a trace.
    #[must_use]
    pub fn by_predicate(trace: &Trace) -> Vec<Self> {
        let of = |info: &PredicateInfo| match () {
            () if info.is_set_up() || info.is_filling() => Self::SetUp,
            () if info.is_waiting() => Self::Waiting,
            () if info.has(Role::Loading) => Self::Autoload,
            () if info.is_memory_work() => Self::EngineWork,
            () => Self::Call {
                arity: info.declared.arity,
            },
        };
        trace.predicates().iter().map(of).collect()
    }

    /// Whether time while it is active is work of the program. Shares are of that.
    pub(crate) fn is_work(self) -> bool {
        matches!(self, Self::Call { .. })
    }

    /// Whether it happens between two ports, wherever the program is then, and is no step of the
    /// program.
    pub(crate) fn is_between_ports(self) -> bool {
        matches!(self, Self::EngineWork | Self::Waiting | Self::SetUp)
    }

    /// Of one predicate; nothing is known of the unknown one.
    pub(crate) fn of(kinds: &[Self], predicate: PredicateIndex) -> Self {
        let of = kinds.get(predicate as usize).copied();
        of.unwrap_or(Self::Call { arity: 0 })
    }
}

impl PredicateInfo {
    /// Whether the trace says this of it.
    #[must_use]
    pub fn has(&self, role: Role) -> bool {
        self.declared.roles.has(role)
    }

    /// Whether its boxes are garbage collections, stack shifts, waiting, autoloads or set-up
    /// ([`portmortem_tracer::format::Roles::is_engine_work`]), and no calls of the program: how
    /// many there are is no figure of it.
    #[must_use]
    pub fn is_engine_work(&self) -> bool {
        self.declared.roles.is_engine_work()
    }

    /// Whether its boxes are calls that the program makes: neither of a cost centre itself nor the
    /// engine's own work, nor notes on tables.
    #[must_use]
    pub fn is_called_by_program(&self) -> bool {
        !self.is_center && !self.is_engine_work() && !self.is_filling()
    }

    /// Whether its boxes are notes that a table begins to be filled.
    #[must_use]
    pub fn is_filling(&self) -> bool {
        self.has(Role::TableFilling)
    }

    /// Whether its boxes are garbage collections or stack shifts.
    #[must_use]
    pub fn is_memory_work(&self) -> bool {
        let roles = [Role::Collection, Role::StackShift];
        self.declared.roles.has_any(&roles)
    }

    /// Whether its boxes are garbage collections.
    #[must_use]
    pub fn is_collection(&self) -> bool {
        self.has(Role::Collection)
    }

    /// Whether its boxes are what the recorder did to the program.
    #[must_use]
    pub fn is_set_up(&self) -> bool {
        self.has(Role::SetUp)
    }

    /// Whether its boxes are time without a processor.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        let roles = [Role::Waiting, Role::Preempted];
        self.declared.roles.has_any(&roles)
    }

    /// Whether its boxes are time in which the thread could have run.
    #[must_use]
    pub fn is_preempted(&self) -> bool {
        self.has(Role::Preempted)
    }

    /// Whether it asks a goal for one solution after the other, and keeps what it needs of each:
    /// then going back into the goal throws away nothing that is missed.
    #[must_use]
    pub fn is_collector(&self) -> bool {
        self.has(Role::Collector)
    }
}
