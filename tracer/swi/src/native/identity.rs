//! What tells a predicate from others, where terms can and where they cannot be made.

use std::ffi::{CStr, c_int};

use super::offsets;
use super::words::word;
use crate::ffi::{self, Term};
use crate::values::{atom, integer};

/// What a definition is of, which tells it from a later one at the same address. A thread has
/// definitions of its own of predicates that are local to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) name: ffi::Atom,
    pub(crate) arity: usize,
    pub(crate) module: usize,
}

impl Identity {
    /// Whether a definition that is of `now` may have been of this before. It loses its module
    /// when that is destroyed, and its clauses may still run.
    pub(crate) fn is_still(self, now: Self) -> bool {
        let module_is_gone = now.module == 0 && (self.name, self.arity) == (now.name, now.arity);
        self == now || module_is_gone
    }
}

/// The name of a module. `None` if it was destroyed: then it has something else where others
/// have their names and classes.
pub(crate) fn module_name(module: usize) -> Option<ffi::Atom> {
    /// The bits that tell an atom from everything else, and those that tell it from a pointer.
    const TAG: usize = 0x7f;
    const POINTER: usize = 0x7;
    let class = offsets::known()?.class;
    if module == 0 {
        return None;
    }
    // SAFETY: memory that has been a module's stays readable.
    let (name, class) = unsafe {
        (
            ffi::PL_module_name(module as ffi::Module),
            word(module, class),
        )
    };
    let is_atom = name & POINTER != 0 && name & TAG == class & TAG;
    is_atom.then_some(name)
}

/// What a definition is of.
pub(crate) fn identity(definition: usize) -> Identity {
    // A procedure begins with a pointer to its definition.
    let procedure = [definition, 0];
    let mut name: ffi::Atom = 0;
    let mut arity = 0;
    let mut module: ffi::Module = std::ptr::null_mut();
    // SAFETY: the engine reads nothing of a procedure but that pointer.
    unsafe {
        ffi::PL_predicate_info(
            procedure.as_ptr().cast_mut().cast(),
            &raw mut name,
            &raw mut arity,
            &raw mut module,
        );
    }
    Identity {
        name,
        arity,
        module: module as usize,
    }
}

/// The definition of a predicate, which is made if it is not there.
pub(crate) fn definition(module: Term, name: Term, arity: Term) -> Option<usize> {
    let (module, name) = (atom(module)?, atom(name)?);
    // SAFETY: atoms that the terms keep; a procedure begins with its definition.
    unsafe {
        let functor = ffi::PL_new_functor(name, integer(arity) as usize);
        let procedure = ffi::PL_pred(functor, ffi::PL_new_module(module));
        (!procedure.is_null()).then(|| word(procedure as usize, 0))
    }
}

/// The same by the text of its name, where terms cannot be made.
pub(crate) fn find(module: usize, name: &str, arity: usize) -> Option<usize> {
    if module == 0 {
        return None;
    }
    // SAFETY: text and length belong together; a module of the engine's; a procedure begins with
    // its definition.
    unsafe {
        let utf8 = ffi::REP_UTF8 as c_int;
        let atom = ffi::PL_new_atom_mbchars(utf8, name.len(), name.as_ptr().cast());
        let procedure = ffi::PL_pred(ffi::PL_new_functor(atom, arity), module as ffi::Module);
        (!procedure.is_null()).then(|| word(procedure as usize, 0))
    }
}

pub(crate) fn system_definition(name: &CStr, arity: c_int) -> usize {
    // SAFETY: a predicate of module system, which is made if it is not there. A procedure begins
    // with its definition.
    unsafe {
        word(
            ffi::PL_predicate(name.as_ptr(), arity, c"system".as_ptr()) as usize,
            0,
        )
    }
}
