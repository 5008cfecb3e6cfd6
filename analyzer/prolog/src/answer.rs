//! What a foreign predicate answers the engine: whether it holds, or an error term of ISO Prolog.

use std::panic::{self, AssertUnwindSafe};

use crate::error::{Culprit, Error, Holds, done};
use crate::ffi::{Foreign, PL_put_term, PL_put_variable, PL_raise_exception, Term};
use crate::terms::{Terms, new_refs};

/// Answers the engine. A panic is an error of Prolog and never goes further.
pub(crate) fn answer(predicate: impl FnOnce() -> Holds) -> Foreign {
    let answered = panic::catch_unwind(AssertUnwindSafe(predicate));
    match answered.unwrap_or(Err(Error::Internal)) {
        Ok(holds) => holds.into(),
        Err(error) => {
            // If even that fails, the stacks are full and the engine has an exception.
            let _ = raise(&error);
            0
        }
    }
}

/// `error(Formal, context(_, Message))`
fn raise(error: &Error) -> Result<(), Error> {
    let mut terms = Terms::new();
    let formal = new_refs(1);
    let mut message = None;
    match error {
        Error::Pending => return Ok(()),
        Error::Instantiation => terms.put_atom(formal, "instantiation_error")?,
        Error::Type(expected, culprit) => {
            about(
                &mut terms,
                formal,
                "type_error",
                expected,
                &Culprit::Term(*culprit),
            )?;
        }
        Error::Existence(kind, culprit) => {
            about(
                &mut terms,
                formal,
                "existence_error",
                kind,
                &Culprit::Term(*culprit),
            )?;
        }
        Error::Domain(domain, culprit, said) => {
            about(&mut terms, formal, "domain_error", domain, culprit)?;
            message = Some(said.as_str());
        }
        Error::Internal => {
            let argument = new_refs(1);
            terms.put_atom(argument, "portmortem: internal error, please report it")?;
            terms.put_compound(formal, "system_error", 1, argument)?;
        }
    }
    let context = new_refs(2);
    // SAFETY: term references of this call.
    unsafe { PL_put_variable(context) };
    match message {
        Some(message) => terms.put_string(context + 1, message)?,
        // SAFETY: as above.
        None => done(unsafe { PL_put_variable(context + 1) })?,
    }
    let whole = new_refs(2);
    // SAFETY: term references of this call.
    done(unsafe { PL_put_term(whole, formal) })?;
    terms.put_compound(whole + 1, "context", 2, context)?;
    terms.put_compound(formal, "error", 2, whole)?;
    // SAFETY: a term of this call; the engine copies it.
    unsafe { PL_raise_exception(formal) };
    Ok(())
}

fn about(
    terms: &mut Terms,
    term: Term,
    name: &'static str,
    expected: &str,
    culprit: &Culprit,
) -> Result<(), Error> {
    let arguments = new_refs(2);
    terms.put_atom(arguments, expected)?;
    match culprit {
        // SAFETY: an argument of the predicate that is running.
        Culprit::Term(culprit) => done(unsafe { PL_put_term(arguments + 1, *culprit) })?,
        Culprit::Text(text) => terms.put_atom(arguments + 1, text)?,
    }
    terms.put_compound(term, name, 2, arguments)
}
