//! Fuzzing: what must hold for every input, whatever its bytes.
//!
//! A [`Target`] is a function from bytes to nothing that panics where the project is wrong. The same
//! functions are run in two ways:
//!
//! - `fuzz/` has a libFuzzer program for each target, a workspace of its own. It runs for as long as it
//!   is given, by hand.
//! - `tests/short.rs` runs them as an ordinary test: all seeds, all inputs in `fuzz/regressions`, and
//!   a fixed number of mutations from a fixed seed ([`mutation`]). It does not depend on time.
//!
//! | target | input | module |
//! |---|---|---|
//! | `trace` | a byte of modes, then a packed trace | [`traces`] |
//! | `scope` | a line of filters, then an input of `trace` | [`scopes`] |
//! | `index` | a byte, then the contents of an index | [`indexes`] |
//! | `records` | a choice of two traces, then changes to what the first says | [`records`] |
//! | `condition` | text | [`conditions`] |
//!
//! A packed trace ([`packed`]) is a trace without padding; what is unpacked has its checksums repaired.

mod agreement;
pub mod conditions;
mod generated;
pub mod indexes;
pub mod mutation;
pub mod packed;
mod parts;
pub mod records;
pub mod scopes;
pub mod seeds;
pub mod traces;
mod views;

/// What is fuzzed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Opening a trace and replaying it, with all tables.
    Trace,
    /// The replay of a part of a trace.
    Scope,
    /// An index file beside a trace.
    Index,
    /// Everything that is shown of a trace whose contents were changed.
    Records,
    /// Conditions on events and on rows of tables.
    Condition,
}

impl Target {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Trace,
        Self::Scope,
        Self::Index,
        Self::Records,
        Self::Condition,
    ];

    /// The name of its program in `fuzz/`, and of its folders.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Scope => "scope",
            Self::Index => "index",
            Self::Records => "records",
            Self::Condition => "condition",
        }
    }

    /// Tries an input.
    ///
    /// # Panics
    /// If something is wrong.
    pub fn check(self, input: &[u8]) {
        match self {
            Self::Trace => traces::check(input),
            Self::Scope => scopes::check(input),
            Self::Index => indexes::check(input),
            Self::Records => records::check(input),
            Self::Condition => conditions::check(input),
        }
    }

    /// Inputs to begin with: the same on every machine.
    #[must_use]
    pub fn seeds(self) -> Vec<Vec<u8>> {
        match self {
            Self::Trace => seeds::traces(),
            Self::Scope => seeds::scopes(),
            Self::Index => seeds::indexes(),
            Self::Records => seeds::records(),
            Self::Condition => seeds::conditions(),
        }
    }
}
