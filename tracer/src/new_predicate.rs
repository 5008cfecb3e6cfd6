//! What a recording is told of a predicate.

use crate::format::Roles;

/// A predicate that becomes known, and what is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NewPredicate<'n> {
    /// Module.
    pub module: &'n str,
    /// Name, unquoted.
    pub name: &'n str,
    /// Number of arguments.
    pub arity: u32,
    /// File of its first clause. One below the program's directory is named relative to it.
    pub file: Option<&'n str>,
    /// Line of its first clause, 0 if unknown.
    pub line: u32,
    /// What it is to the engine.
    pub roles: Roles,
}

impl<'n> NewPredicate<'n> {
    /// The predicate `module:name/arity`, of which no more is known.
    #[must_use]
    pub fn named(module: &'n str, name: &'n str, arity: u32) -> Self {
        Self {
            module,
            name,
            arity,
            ..Self::default()
        }
    }

    /// The same, whose first clause is there.
    #[must_use]
    pub fn at(self, file: &'n str, line: u32) -> Self {
        Self {
            file: Some(file),
            line,
            ..self
        }
    }

    /// The same with these roles.
    #[must_use]
    pub fn with_roles(self, roles: Roles) -> Self {
        Self { roles, ..self }
    }
}
