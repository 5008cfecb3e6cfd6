//! Predicates with wrappers, tabled ones among them.
//!
//! The engine calls the wrapper's clause in the frame of the call, in place of the predicate. The
//! wrapper calls the predicate by a closure, if it does: as a tabled one does to fill its table,
//! from a clause of its own and without its frame. Both are in one box, that of the call.

use super::handlers::Visit;
use super::plant;
use crate::native::identity::{self, identity};
use crate::native::internal::wrapped_name;
use crate::native::offsets::FRAME_DEFINITION;
use crate::native::place::{StubPlace, StubWork};
use crate::native::words::word;
use crate::values::atom_text;

impl Visit {
    /// The predicate that a wrapper is around. `None` if `definition` is no wrapper, or not any
    /// more.
    pub(super) fn wrapped_by(&mut self, definition: usize) -> Option<usize> {
        let of = identity(definition);
        let found = self.engine.standings.wrapped_by(definition, || {
            let text = atom_text(of.name);
            identity::find(of.module, wrapped_name(&text)?, of.arity)
        });
        found.filter(|&wrapped| self.view.wrapper_of(wrapped) == Some(definition))
    }

    /// A wrapper begins for the first time.
    pub(super) fn new_wrapper(&mut self, place: &StubPlace, cell: usize) {
        if let Some(mut planter) = plant::planter() {
            // SAFETY: the cell that control is at.
            unsafe {
                if let Some(op) = planter.op_at(cell) {
                    planter.plant(cell, op, 0, StubWork::Wrapper);
                }
            }
        }
        self.wrapper(place, cell);
    }

    /// A wrapper begins, in place of its predicate.
    pub(super) fn wrapper(&mut self, place: &StubPlace, cell: usize) {
        let frame = self.view.frame();
        // SAFETY: the running frame.
        let wrapper = unsafe { word(frame, FRAME_DEFINITION) };
        if let Some(wrapped) = self.wrapped_by(wrapper) {
            self.begins(wrapped, place, cell);
            let at = self.view.offset(frame);
            self.shadow.wrapper_begins(at, wrapped);
        }
    }

    /// The predicate of a wrapper's closure is about to run. If its wrapper has a box, that is
    /// the box of the call.
    pub(super) fn wrapped(&mut self) {
        let frame = self.view.frame();
        // SAFETY: the closure's definition, and the predicate that it is of.
        let (definition, standing) = unsafe {
            let definition = self.view.of_closure(word(frame, FRAME_DEFINITION));
            (definition, self.engine.standings.standing(definition))
        };
        if standing.is_recorded() && self.shadow.has_wrapper_of(definition) {
            self.shadow.announced = self.view.offset(frame);
        }
    }
}
