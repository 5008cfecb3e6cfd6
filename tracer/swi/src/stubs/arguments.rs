//! What calls are made with (`--arguments`), where a stub finds it: in the frame of the predicate
//! that is called.

use super::handlers::Visit;
use crate::arguments::{self, MOST_ARGUMENTS, MOST_REFERENCES};
use crate::native::identity::identity;
use crate::native::references::StackCells;
use crate::native::words::WORD;

impl Visit {
    /// The call that has just been recorded was made with the arguments that a frame begins with:
    /// the running one, or the next one, which is complete but for its head.
    pub(super) fn note_arguments(&mut self, definition: usize, frame: usize) {
        if self.engine.quiet || self.shadow.is_silent() {
            return;
        }
        let cells = self.arguments_in(definition, frame);
        let known = match cells.count {
            0..=MOST_ARGUMENTS => self.look_at_arguments(cells),
            _ => arguments::TOO_LARGE,
        };
        self.engine.note_arguments(known);
    }

    /// Where the arguments of a predicate lie: those of the running frame, which is entered, or of
    /// the next one, which is complete but for its head.
    pub(super) fn arguments_in(&self, definition: usize, frame: usize) -> StackCells {
        let first = self.view.arguments(frame);
        let count = identity(definition).arity;
        StackCells {
            first,
            count,
            behind: first + count * WORD,
        }
    }

    /// There is room for more than as many arguments as a predicate can have, or the engine would
    /// have made some.
    fn look_at_arguments(&mut self, cells: StackCells) -> arguments::KnownSizes {
        let engine = &mut *self.engine;
        let look = |first| {
            engine.look_at_arguments(|credits: &mut _| {
                arguments::look(first, cells.count as i32, credits)
            })
        };
        // SAFETY: arguments of a frame, behind which nothing lies.
        let known = unsafe { self.view.with_references(cells, MOST_REFERENCES, look) };
        known.unwrap_or(arguments::TOO_LARGE)
    }
}
