//! Goals that code which is not recorded calls: those that the program gave it, such as the goals
//! of `maplist/3` and `catch/3`.
//!
//! Such code calls goals of its own, too. A goal of the program is qualified with a module of the
//! program, or written in the arguments of the goal that called. The call is seen before its
//! predicate is known; which one it is the engine decides, and the stub where the predicate
//! begins sees it ([`Shadow::expected`]).
//!
//! [`Shadow::expected`]: crate::native::shadow::Shadow::expected

use super::handlers::Visit;
use super::view::kind_of;
use crate::native::identity::identity;
use crate::native::instructions::InstructionKind;
use crate::native::known::catch_definition;
use crate::native::offsets::{DEBUGGER, FRAME_DEFINITION, FRAME_PARENT};
use crate::native::place::StubPlace;
use crate::native::sites::Given;
use crate::native::terms::{self, Qualified};
use crate::native::words::{WORD, word};

/// Which arguments of `catch/3` are its goal and its recovery, and how many there are.
const GOAL: usize = 0;
const RECOVERY: usize = 2;
const ARGUMENTS: usize = 3;

impl Visit {
    /// A clause that is not recorded is about to call a goal.
    pub(super) fn meta_call(&mut self, place: &StubPlace, cell: usize) {
        if !self.shadow.calls_for_program() {
            return;
        }
        let (frame, top) = (self.view.frame(), self.view.top());
        let (goal, begins) = match place.kind {
            InstructionKind::CallGoal | InstructionKind::CallClosure => {
                (self.argument(top, 0), top)
            }
            InstructionKind::Catch => (self.argument(frame, GOAL), self.above_catch(frame, top)),
            InstructionKind::CallCleanup => {
                // SAFETY: the running frame.
                let arity = identity(unsafe { word(frame, FRAME_DEFINITION) }).arity;
                let goal = if arity == 2 { 0 } else { 1 };
                (self.argument(frame, goal), self.view.behind_choice(top))
            }
            _ => return,
        };
        self.expect(self.view.offset(begins), cell + place.length);
        self.shadow.expects_written = !self.is_of_program(goal);
    }

    /// Where the cell of an argument is.
    fn argument(&self, frame: usize, index: usize) -> usize {
        self.view.arguments(frame) + index * WORD
    }

    /// Where the frame of the goal of `catch/3` will be: above the choicepoint that the debugger
    /// has made, or that is made now.
    fn above_catch(&self, frame: usize, top: usize) -> usize {
        let newest = self.view.newest_of_all();
        let is_there = kind_of(newest) == DEBUGGER
            && self.view.frame_of_choice(newest) == frame
            && newest == self.argument(frame, ARGUMENTS);
        if is_there {
            top
        } else {
            self.view.behind_choice(top)
        }
    }

    /// Whether the goal in a cell belongs to a module of the program.
    fn is_of_program(&mut self, cell: usize) -> bool {
        // SAFETY: an argument of a frame, or of one that is being made.
        match unsafe { terms::module_of(self.view.engine(), cell) } {
            Qualified::With(module) => self.engine.standings.is_in_scope(module),
            Qualified::Not | Qualified::Unknown => false,
        }
    }

    /// Whether the predicate that begins in a frame is a goal that the program gave to `catch/3`
    /// as its recovery, or to a predicate in C.
    pub(super) fn is_given(&mut self, frame: usize) -> bool {
        // SAFETY: frames of the engine's.
        let (parent, definition) =
            unsafe { (word(frame, FRAME_PARENT), word(frame, FRAME_DEFINITION)) };
        if self.is_from_foreign(frame) {
            // C may call a goal of its own, so only goals count that are written in its arguments.
            return self.shadow.is_at_boundary() && self.is_written(definition);
        }
        // SAFETY: a frame of the engine's.
        let recovers = unsafe { word(parent, FRAME_DEFINITION) } == catch_definition()
            && frame == self.argument(parent, ARGUMENTS)
            && self.shadow.active_frame() != self.view.offset(frame)
            && self.is_of_program(self.argument(parent, RECOVERY));
        if recovers {
            self.recovery();
        }
        recovers && self.shadow.is_at_boundary()
    }

    /// Whether a goal that calls the predicate is written in the arguments that the active box
    /// was given.
    pub(super) fn is_written(&self, definition: usize) -> bool {
        let called = identity(definition);
        self.shadow.given().any(|given| given.calls(called))
    }

    /// The site of a goal of the program that code which is not recorded calls, and what it is
    /// given. `id` is the number of its predicate in the trace.
    pub(super) fn named(&mut self, definition: usize, id: u32) -> Option<(u32, Given)> {
        let called = identity(definition);
        let names = self.engine.standings.names();
        let mut given = self.shadow.given();
        given.find_map(|given| names.goal(given, called, id))
    }
}
