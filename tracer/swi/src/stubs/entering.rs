//! Unrecorded code calls a predicate: its box opens where it begins.

use super::handlers::Visit;
use crate::native::offsets::{FRAME_PARENT, FRAME_RETURN};
use crate::native::shadow::OpeningCall;
use crate::native::sites::Given;
use crate::native::words::word;

impl Visit {
    /// Unrecorded code has called a predicate that gets a box.
    pub(super) fn enter(&mut self, id: u32, frame: usize, boundary: bool, given: Given) {
        let call = self.entered(frame, boundary, given);
        self.called(id, &call);
    }

    /// The engine looks for a predicate that is not there. That is work of the box that calls it,
    /// so its own has no events: what it calls is none of the program's, and what the box
    /// expects is still expected when it is left. If no box is active, the search is in none.
    pub(super) fn search(&mut self, frame: usize) {
        if !self.shadow.is_active() {
            return;
        }
        let call = self.entered(frame, false, Given::UNKNOWN);
        self.shadow.call(&call, true);
    }

    /// A box is about to open in a frame.
    fn entered(&mut self, frame: usize, boundary: bool, given: Given) -> OpeningCall {
        let newest = self.newest_before(frame);
        let call = self.call_in(frame, newest, boundary, given);
        self.recovery();
        self.shadow.entered(&call, self.engine);
        self.demand(frame);
        self.watch(newest);
        self.shadow.announced = -1;
        call
    }

    /// The newest choicepoint before the call that runs in a frame.
    pub(super) fn newest_before(&self, frame: usize) -> usize {
        let mut newest = self.view.newest();
        while newest > frame && self.view.frame_of_choice(newest) == frame {
            newest = self.view.older(newest);
        }
        newest
    }

    /// The call by unrecorded code that runs in a frame.
    pub(super) fn call_in(
        &self,
        frame: usize,
        newest: usize,
        boundary: bool,
        given: Given,
    ) -> OpeningCall {
        // SAFETY: the running frame; a recorded predicate has been called by one.
        let (parent, returns_to) =
            unsafe { (word(frame, FRAME_PARENT), word(frame, FRAME_RETURN)) };
        OpeningCall {
            frame: self.view.offset(frame),
            caller: if parent == 0 {
                -1
            } else {
                self.view.offset(parent)
            },
            choice: self.view.offset(newest),
            returns_to: self.view.fixed(returns_to),
            foreign: self.is_from_foreign(frame),
            boundary,
            given,
        }
    }
}
