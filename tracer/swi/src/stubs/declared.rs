//! What the program declares of predicates: that they are not recorded (`noprofile/1`), and that
//! they are in a cost centre (`in_cost_center/2`); and the boxes of `cost_center/2` and of tests.

use super::handlers::Visit;
use super::plant;
use crate::ffi::{self, Foreign, TRUE, Term};
use crate::native::identity::{Identity, identity, module_name};
use crate::native::offsets::FRAME_DEFINITION;
use crate::native::predicates;
use crate::native::words::word;
use crate::recording;
use crate::values::{atom, atom_text, int64, kept_atom, text};

/// `stub_leave_out(+Module, +Name, +Arity)`: no call of the predicate is recorded from now on.
pub(crate) fn leave_out(module: Term, name: Term, arity: Term) -> Foreign {
    if let Some(predicate) = named(module, name, arity) {
        predicates::leave_out(predicate);
    }
    TRUE
}

/// `stub_in_center(+Module, +Name, +Arity, +Center)`: all boxes of the predicate are in the cost
/// centre.
pub(crate) fn in_center(module: Term, name: Term, arity: Term, center: Term) -> Foreign {
    if let Some(predicate) = named(module, name, arity) {
        predicates::in_center(predicate, text(center));
    }
    TRUE
}

fn named(module: Term, name: Term, arity: Term) -> Option<Identity> {
    let (of, name) = (atom(module)?, kept_atom(name)?);
    Some(Identity {
        name,
        arity: usize::try_from(int64(arity)?).ok()?,
        // SAFETY: a module is made if there is none.
        module: unsafe { ffi::PL_new_module(of) } as usize,
    })
}

/// `stubs_record`: what is being recorded is recorded with stubs.
pub(crate) fn stubs_record() -> Foreign {
    let exchanged = plant::planter().is_some_and(|planter| planter.exchanged);
    Foreign::from(exchanged && recording::epoch().is_some())
}

impl Visit {
    /// The id of a cost centre: the first argument of the predicate that runs a goal in one.
    pub(super) fn center(&self, frame: usize) -> Option<u32> {
        let mut id = 0;
        // SAFETY: it is only read.
        let is_id = self.first_argument(frame, |first| unsafe {
            ffi::PL_get_int64(first, &raw mut id)
        })?;
        u32::try_from(id).ok().filter(|_| ffi::truth(is_id))
    }

    /// The id of the cost centre of a test, `unit:name@line 12`: plunit calls its body by the
    /// predicate `plunit_unit:'unit body'/2`, whose first argument is `name@line 12`.
    pub(super) fn test(&self, definition: usize, frame: usize) -> Option<u32> {
        let mut test = 0;
        // SAFETY: it is only read.
        let is_atom = self.first_argument(frame, |first| unsafe {
            ffi::PL_get_atom(first, &raw mut test)
        })?;
        if !ffi::truth(is_atom) {
            return None;
        }
        let module = atom_text(module_name(identity(definition).module)?);
        let unit = module.strip_prefix(predicates::UNIT)?;
        let name = format!("{unit}:{}", atom_text(test));
        recording::with(|current| current.recorder.cost_center(&name))
    }

    /// Looks at the first argument of the running frame, which is entered. `None` if there is no
    /// room for a reference to it.
    fn first_argument<T>(&self, frame: usize, look: impl FnOnce(Term) -> T) -> Option<T> {
        // SAFETY: a frame, and its arguments, behind which nothing lies.
        unsafe {
            let cells = self.arguments_in(word(frame, FRAME_DEFINITION), frame);
            self.view.with_references(cells, 0, look)
        }
    }
}
