//! What foreign code calls: cleanup handlers, goals of predicates in C, hooks.
//!
//! The engine begins and ends a query for each, by functions that it calls through a table of
//! addresses ([`crate::native::linkage`]); ours stand there before them. In a query the engine
//! notes in which frame control was: boxes that are newer are gone. They have failed if a cleanup
//! handler is called because its goal has failed: the newest choicepoint is still the one that
//! `setup_call_cleanup/3` left before its goal. In all other cases an exception has left them.
//! When a query ends, boxes that are open in it have failed, or an exception has left them, which
//! the query says.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use super::handlers::Visit;
use super::view::kind_of;
use crate::engines;
use crate::ffi::{self, TRUE, Term};
use crate::native::linkage::Slots;
use crate::native::offsets::{self, CATCH, FRAME_PARENT};
use crate::native::shadow::Left;
use crate::native::words::{WORD, word};
use crate::panics::guarded;

type OpenCallback = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, Term) -> usize;
type EndCallback = unsafe extern "C" fn(usize) -> c_int;

/// The engine's functions.
static FUNCTIONS: OnceLock<(OpenCallback, EndCallback, EndCallback)> = OnceLock::new();

/// In a query, counted back from its first choicepoint: what it is called by, and the newest
/// choicepoint before it. The same in all versions.
const QUERY: usize = WORD;
const QUERY_CHOICE: usize = 4 * WORD;

/// Queries are seen from now on, if they can be.
pub(super) fn see_queries() -> Option<()> {
    let [open, close, cut] = [c"PL_open_query", c"PL_close_query", c"PL_cut_query"].map(Slots::of);
    let (open, close, cut) = (open?, close?, cut?);
    FUNCTIONS.get_or_init(|| (ffi::PL_open_query, ffi::PL_close_query, ffi::PL_cut_query));
    open.lead_to(open_query as *const () as usize)?;
    close.lead_to(close_query as *const () as usize)?;
    cut.lead_to(cut_query as *const () as usize)
}

unsafe extern "C" fn open_query(
    module: *mut c_void,
    flags: c_int,
    predicate: *mut c_void,
    arguments: Term,
) -> usize {
    let Some((open, ..)) = FUNCTIONS.get() else {
        return 0;
    };
    // SAFETY: what the engine has called us with.
    let query = unsafe { open(module, flags, predicate, arguments) };
    if query != 0 {
        in_query(query, Visit::query_begins);
    }
    query
}

unsafe extern "C" fn close_query(query: usize) -> c_int {
    in_query(query, |visit, top| visit.query_ends(query, top));
    // SAFETY: as above.
    FUNCTIONS
        .get()
        .map_or(0, |(_, close, _)| unsafe { close(query) })
}

unsafe extern "C" fn cut_query(query: usize) -> c_int {
    in_query(query, |visit, top| visit.query_ends(query, top));
    // SAFETY: as above.
    FUNCTIONS.get().map_or(0, |(.., cut)| unsafe { cut(query) })
}

/// Runs a handler if the engine is recorded and has boxes, and this is its innermost query, whose
/// own frame the handler gets.
fn in_query(query: usize, work: impl FnOnce(&mut Visit, usize)) {
    guarded(TRUE, || {
        if let Some(offsets) = offsets::known()
            && has_boxes(offsets::running_engine(offsets))
            && let Some(mut visit) = Visit::begin()
        {
            let top = visit.frame_of_query();
            // SAFETY: a query has its choicepoint before its frame.
            let found = unsafe { word(top - WORD - offsets.choice_size - QUERY, 0) };
            if found == query {
                work(&mut visit, top);
                visit.shadow.settle();
            }
        }
        TRUE
    });
}

/// Whether an engine is recorded, and has boxes.
fn has_boxes(data: usize) -> bool {
    // SAFETY: the state is used within this call only.
    let state = unsafe { engines::of_context_if_any(data as *mut c_void) };
    // SAFETY: a shadow is never freed, and used by its engine only.
    state.is_some_and(|state| !state.shadow.is_null() && unsafe { (*state.shadow).has_boxes() })
}

impl Visit {
    /// The frame of the innermost query, which no other has called.
    fn frame_of_query(&self) -> usize {
        let mut frame = self.view.frame();
        loop {
            // SAFETY: frames of the engine's.
            match unsafe { word(frame, FRAME_PARENT) } {
                0 => return frame,
                parent => frame = parent,
            }
        }
    }

    /// What was open when foreign code began a query, and is newer than the frame in which control
    /// was, is gone.
    fn query_begins(&mut self, top: usize) {
        // SAFETY: in a query, the frame that control was in lies before its own frame, and its
        // choicepoint before that.
        let (environment, newest) = unsafe {
            let choice = self.view.choice_of_query(top);
            (word(top - WORD, 0), word(choice - QUERY_CHOICE, 0))
        };
        let (at, choice) = (self.view.offset(environment), self.view.offset(newest));
        if environment == 0 {
            return;
        }
        if self.shadow.active_frame() > at {
            let has_failed =
                kind_of(newest) == CATCH && self.view.frame_of_choice(newest) == environment;
            let left = if has_failed {
                Left::ByFailure
            } else {
                Left::ByException
            };
            self.shadow.left(left, at, self.engine);
        }
        self.shadow.cut_after(choice, self.engine);
    }

    /// Foreign code ends a query: what is open in it has failed, or thrown.
    fn query_ends(&mut self, query: usize, top: usize) {
        let at = self.view.offset(top);
        if self.shadow.active_frame() <= at {
            return;
        }
        // SAFETY: an open query.
        let left = match unsafe { ffi::PL_exception(query) } {
            0 => Left::ByFailure,
            _ => Left::ByException,
        };
        self.shadow.left(left, at, self.engine);
    }
}
