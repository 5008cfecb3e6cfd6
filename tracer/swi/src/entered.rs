//! The port of a clause that is entered: see `portmortem_goals.pl`.

use crate::asking;
use crate::engines;
use crate::ffi::{self, Control, FALSE, Foreign, TRUE, Term};
use crate::goals::{caller_of, engine_of};
use crate::panics::guarded;

/// A clause, as its copy names it to [`clause_port`]: in one small integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EnteredClause {
    /// The recording that the copy was made for.
    pub(crate) epoch: u32,
    /// The id of the clause in the trace.
    pub(crate) id: u32,
}

impl EnteredClause {
    /// The engine's small integers end at 2^56 in the oldest version: that is the place of 2^24
    /// recordings.
    pub(crate) fn to_raw(self) -> i64 {
        (u64::from(self.epoch) << 32 | u64::from(self.id)) as i64
    }

    fn from_raw(raw: i64) -> Self {
        Self {
            epoch: (raw >> 32) as u32,
            id: raw as u32,
        }
    }
}

/// At the beginning of a clause's body: `clause(+Clause)`, with [`EnteredClause::to_raw`].
pub(crate) extern "C" fn clause_port(which: Term, _: i32, handle: Control) -> Foreign {
    guarded(TRUE, || clause(which, handle))
}

/// `CLAUSE`: the head of the clause has been unified, and the unifications that its body begins
/// with.
#[inline]
fn clause(which: Term, handle: Control) -> Foreign {
    let caller = caller_of(handle);
    if caller.has_exception() {
        return FALSE;
    }
    let Some(engine) = engine_of(caller) else {
        return TRUE;
    };
    let mut raw = 0;
    // SAFETY: a term of our own argument list and a place for its value.
    unsafe { ffi::PL_get_int64(which, &raw mut raw) };
    let entered = EnteredClause::from_raw(raw);
    if entered.epoch == engine.epoch()
        && engine.boxes.knows_predicate()
        && !engine.stream.clause_if_soon(entered.id)
    {
        return clause_late(entered.id);
    }
    TRUE
}

#[cold]
fn clause_late(id: u32) -> Foreign {
    if let Err(stop) = asking::look_if_long() {
        return stop.answer();
    }
    // SAFETY: as in `call_late`.
    if let Some(engine) = unsafe { engines::existing() }
        && engine.boxes.knows_predicate()
    {
        engine.stream.clause(id);
    }
    TRUE
}
