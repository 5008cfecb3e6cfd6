//! Why a foreign predicate does not answer.

use crate::ffi::{Term, truth};

/// Why a predicate does not answer.
#[derive(Debug)]
pub(crate) enum Error {
    /// An argument is unbound.
    Instantiation,
    /// `type_error(Type, Culprit)`
    Type(&'static str, Term),
    /// `existence_error(Kind, Culprit)`
    Existence(&'static str, Term),
    /// `domain_error(Domain, Culprit)`, and what to do next.
    Domain(&'static str, Culprit, String),
    /// The engine has an exception already, as when its stacks are full.
    Pending,
    /// A defect of ours.
    Internal,
}

/// What an error is about.
#[derive(Debug)]
pub(crate) enum Culprit {
    /// An argument of the predicate.
    Term(Term),
    /// An atom.
    Text(String),
}

/// What a predicate says: whether it holds.
pub(crate) type Holds = Result<bool, Error>;

/// `Ok` if the engine did what it was asked for.
pub(crate) fn done(value: std::ffi::c_int) -> Result<(), Error> {
    truth(value).then_some(()).ok_or(Error::Pending)
}
