//! Tables: where one begins to be filled, and what those have that are complete.

use std::sync::atomic::{AtomicU32, Ordering};

use portmortem_tracer::format::CompleteTable;

use super::handlers::Visit;
use crate::ffi::{self, truth};
use crate::native::offsets::FRAME_DEFINITION;
use crate::native::sites::Given;
use crate::native::tables;
use crate::native::words::word;
use crate::recording;

impl Visit {
    /// A table begins to be filled, in the active box: that is a box with nothing inside.
    pub(super) fn note_filling(&mut self, id: u32, frame: usize) {
        let call = self.call_in(frame, self.newest_before(frame), false, Given::UNKNOWN);
        self.shadow.entered(&call, self.engine);
        if self.shadow.is_active() {
            self.called(id, &call);
            self.shadow.exit(call.choice, self.engine);
        }
        self.shadow.settle();
    }

    /// The engine completes the tables of the component that its predicate is called with. Those
    /// of predicates that are not recorded are in no trace.
    pub(super) fn note_complete(&mut self, frame: usize) {
        let call = self.call_in(frame, self.newest_before(frame), false, Given::UNKNOWN);
        self.shadow.entered(&call, self.engine);
        self.shadow.settle();
        if !self.shadow.is_active() || self.engine.quiet {
            return;
        }
        let mut component = 0;
        // SAFETY: the running frame, which is entered; its first argument is only read.
        let is_address = unsafe {
            let cells = self.arguments_in(word(frame, FRAME_DEFINITION), frame);
            self.view.with_references(cells, 0, |first| {
                truth(ffi::PL_get_int64(first, &raw mut component))
            })
        };
        let is_address = is_address.unwrap_or(false);
        // SAFETY: what the engine calls a component.
        let tables = is_address.then(|| unsafe { tables::of_component(component as usize) });
        let Some(tables) = tables.flatten() else {
            return note_unknown();
        };
        self.engine.note_pauses(true);
        for table in tables {
            // SAFETY: a definition of the engine's.
            let standing = unsafe { self.engine.standings.standing(table.definition) };
            if let Some(predicate) = standing.at_goal() {
                self.engine.stream.table(CompleteTable {
                    predicate,
                    answers: table.answers,
                    nodes: table.nodes,
                });
            }
        }
    }
}

/// The trace says once that it does not have all tables.
fn note_unknown() {
    static NOTED: AtomicU32 = AtomicU32::new(0);
    let epoch = recording::last_epoch();
    if NOTED.swap(epoch, Ordering::Relaxed) != epoch {
        let what = "how many answers tables have is not known: stubs cannot read tables in this version of SWI-Prolog";
        recording::with(|current| current.recorder.note(what));
    }
}
