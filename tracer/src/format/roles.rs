//! What predicates are to the engine: its own work, parts of it, what waits, what collects.

use bincode::{Decode, Encode};

/// What boxes of a predicate are, or what the predicate does beside its work, where figures or
/// advice depend on it. Each is the number of a bit of [`Roles`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A garbage collection between two ports.
    Collection,
    /// A move of the engine's stacks between two ports.
    StackShift,
    /// Time between two ports in which the thread had no processor: because it waited for
    /// something or, in a trace that declares no [`Role::Preempted`], for a processor.
    Waiting,
    /// Time between two ports in which the thread could have run, and had no processor.
    Preempted,
    /// The loading of a library when one of its predicates is first called.
    Loading,
    /// What the recorder does to the program between two ports: no work of the program.
    SetUp,
    /// A table begins to be filled in the box of the caller. It takes no time, and how many there
    /// are is a figure of the program.
    TableFilling,
    /// The predicate asks a goal for one solution after the other, and keeps what it needs of each.
    Collector,
    /// The predicate may wait for a mutex.
    WaitsForMutex,
    /// The predicate may wait for another thread: for a message, for room for one, for its end.
    WaitsForThread,
    /// The predicate may wait for input.
    WaitsForInput,
    /// The predicate waits until some time has passed.
    WaitsForTime,
    /// The predicate is a part of the engine itself: neither of the program nor of a library.
    BuiltIn,
    /// The predicate hands to the system what was written so far.
    Flushes,
    /// The predicate writes to a stream.
    Writes,
    /// The predicate reads a whole file.
    ReadsFile,
    /// The predicate makes a term of a text.
    ReadsText,
    /// The predicate sorts a whole list.
    Sorts,
    /// The predicate goes over a whole list.
    Walks,
    /// The predicate sorts a list, and calls a goal for each comparison.
    SortsByGoal,
}

/// The roles of a predicate: a set of bits. Bits that stand for no [`Role`] are of no meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Encode, Decode)]
pub struct Roles(u32);

impl Roles {
    /// These roles and no others.
    #[must_use]
    pub const fn of(roles: &[Role]) -> Self {
        let (mut set, mut at) = (Self(0), 0);
        while at < roles.len() {
            set = set.with(roles[at]);
            at += 1;
        }
        set
    }

    /// The set with these bits.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The bits of the set.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// These roles and another one.
    #[must_use]
    pub const fn with(self, role: Role) -> Self {
        Self(self.0 | 1 << role as u32)
    }

    /// Whether a role is one of these.
    #[must_use]
    pub const fn has(self, role: Role) -> bool {
        self.has_any(&[role])
    }

    /// Whether one of some roles is one of these.
    #[must_use]
    pub const fn has_any(self, roles: &[Role]) -> bool {
        self.0 & Self::of(roles).0 != 0
    }

    /// Whether boxes of the predicate stand for what is done without a call of the program. How
    /// many there are of them depends on time and load, as nothing else in a trace; but for
    /// [`Role::SetUp`].
    #[must_use]
    pub const fn is_engine_work(self) -> bool {
        self.has_any(&[
            Role::Collection,
            Role::StackShift,
            Role::Waiting,
            Role::Preempted,
            Role::Loading,
            Role::SetUp,
        ])
    }
}
