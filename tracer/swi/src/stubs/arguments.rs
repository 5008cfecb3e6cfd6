//! What calls are made with (`--arguments`), where a stub finds it: in the frame of the predicate
//! that is called.

use super::handlers::Visit;
use crate::arguments::{self, MOST_ARGUMENTS, MOST_REFERENCES};
use crate::native::identity::identity;
use crate::native::words::{WORD, word};

impl Visit {
    /// The call that has just been recorded was made with the arguments that a frame begins with:
    /// the running one, or the next one, which is complete but for its head.
    pub(super) fn note_arguments(&mut self, definition: usize, frame: usize) {
        if self.engine.quiet || self.shadow.is_silent() {
            return;
        }
        let first = frame + self.offsets.arguments;
        let known = match identity(definition).arity {
            arity @ 0..=MOST_ARGUMENTS => self.look_at_arguments(first, arity),
            _ => arguments::TOO_LARGE,
        };
        self.engine.note_arguments(known);
    }

    /// References to terms are made behind the arguments. There is room for more than as many
    /// arguments as a predicate can have, or the engine would have made some: so no stack is
    /// shifted.
    fn look_at_arguments(&mut self, first: usize, arity: usize) -> arguments::Known {
        let behind = first + arity * WORD;
        let top = (self.data + self.offsets.top as usize) as *mut usize;
        // SAFETY: the engine's data.
        let limit = unsafe { word(self.data, self.offsets.limit as usize) };
        if behind + MOST_REFERENCES * WORD > limit {
            return arguments::TOO_LARGE;
        }
        let reference = (first - self.base) / WORD;
        // SAFETY: nothing of the stack lies behind the arguments, and the engine finds its top
        // where it was.
        unsafe {
            let before = top.read();
            top.write(behind);
            let look = |credits: &mut _| arguments::look(reference, arity as i32, credits);
            let known = self.engine.look_at_arguments(look);
            top.write(before);
            known
        }
    }
}
