//! Boxes that `shift/1` leaves.
//!
//! It goes on behind the innermost `reset/3` whose ball unifies; which one that is, the next stub
//! sees: boxes whose frames did not call what runs there have exited. Their choicepoints stay.

use super::adopting::plant_kind;
use super::handlers::Visit;
use super::plant::Planter;
use crate::native::identity::system_definition;
use crate::native::instructions::InstructionKind;
use crate::native::known::reset_definition;
use crate::native::offsets::{self, FRAME_DEFINITION, FRAME_PARENT};
use crate::native::place::StubWork;
use crate::native::words::word;

/// Puts the stubs into the clauses that have the instruction.
pub(super) fn plant(planter: &mut Planter) {
    let Some(offsets) = offsets::known() else {
        return;
    };
    for name in [c"shift", c"shift_for_copy"] {
        // SAFETY: a predicate with one clause, or none.
        unsafe {
            let reference = word(system_definition(name, 1), offsets.first_clause);
            if reference != 0 {
                let codes = offsets.code_of(word(reference, offsets.clause));
                plant_kind(planter, codes, InstructionKind::Shift, 0, StubWork::Shift);
            }
        }
    }
}

impl Visit {
    /// `shift/1` is about to leave frames. Without a `reset/3` it throws.
    pub(super) fn shift(&mut self) {
        let mut frame = self.view.frame();
        while frame != 0 {
            // SAFETY: frames of the engine's.
            unsafe {
                if word(frame, FRAME_DEFINITION) == reset_definition() {
                    let newest = self.view.newest();
                    return self.shadow.shift(self.view.offset(newest));
                }
                frame = word(frame, FRAME_PARENT);
            }
        }
    }

    /// If `shift/1` was called since the last stub, the boxes exit that it has left.
    pub(super) fn see_shift(&mut self) {
        let Some(choice) = self.shadow.shifted.take() else {
            return;
        };
        let mut frame = self.view.frame();
        while self.shadow.is_active() {
            let active = self.shadow.active_frame();
            while self.view.offset(frame) > active {
                // SAFETY: frames of the engine's.
                match unsafe { word(frame, FRAME_PARENT) } {
                    // Foreign code called the outermost one, from within the active box.
                    0 => return self.shadow.settle(),
                    parent => frame = parent,
                }
            }
            if self.view.offset(frame) == active {
                break;
            }
            self.shadow.exit(choice, self.engine);
        }
        self.shadow.settle();
    }
}
