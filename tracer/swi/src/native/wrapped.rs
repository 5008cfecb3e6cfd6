//! Wrappers that run in open boxes.

use super::open_box::{Offset, mark};
use super::shadow::Shadow;

impl Shadow {
    /// The wrapper of a predicate begins in a frame. If a box runs there, it is that of the call.
    pub(crate) fn wrapper_begins(&mut self, frame: Offset, definition: usize) {
        let active = self.active;
        if active > 0 && self.active_frame() == frame {
            self.boxes[active as usize].marks |= mark::WRAPPED;
            self.wrapped.insert(active, definition);
        }
    }

    /// Whether the active box is that of this predicate's wrapper.
    pub(crate) fn is_in_wrapper_of(&self, definition: usize) -> bool {
        self.active_box().marks & mark::WRAPPED != 0
            && self.wrapped.get(&self.active) == Some(&definition)
    }

    /// Whether the wrapper of this predicate runs in an open box.
    pub(crate) fn has_wrapper_of(&self, definition: usize) -> bool {
        let mut at = self.active;
        while at > 0 {
            let open = &self.boxes[at as usize];
            if open.marks & mark::WRAPPED != 0 && self.wrapped.get(&at) == Some(&definition) {
                return true;
            }
            at = open.parent;
        }
        false
    }
}
