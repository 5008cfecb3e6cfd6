//! The recorder's modules are not among those that the engine enumerates: what looks at all
//! modules, such as `check/0`, `prolog_walk_code/1` or `qsave_program/2`, sees those of the
//! program.
//!
//! `current_module/1` and its relatives ask `'$current_module'/2`, a function that leaves
//! choicepoints. Another function takes its place in the predicate's code: it calls the engine's,
//! and asks again where that has given a module of the recorder.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use super::plant;
use crate::ffi::{self, Atom, Control, FALSE, Foreign, TRUE, Term};
use crate::native::identity::system_definition;
use crate::native::offsets;
use crate::native::words::{WORD, store, word};
use crate::values::{self, kept_atom};

type Enumerate = extern "C" fn(Term, c_int, Control) -> Foreign;

struct Hidden {
    /// The engine's function.
    enumerate: Enumerate,
    modules: Vec<Atom>,
}

static HIDDEN: OnceLock<Hidden> = OnceLock::new();

/// `foreign_context`: what a function is called with.
#[repr(C)]
#[derive(Clone, Copy)]
struct ForeignContext {
    context: usize,
    control: c_int,
    engine: *mut c_void,
    predicate: *mut c_void,
}

/// `hide_modules(+Modules)`: they are not enumerated any more, if this version of the engine has
/// what this needs.
pub(crate) fn hide(modules: Term) -> Foreign {
    let mut names = Vec::new();
    values::each(modules, |module| names.extend(kept_atom(module)));
    if HIDDEN.get().is_none()
        && handles_are_known()
        && let Some(cell) = function_of_enumeration()
    {
        // SAFETY: the operand is a function of three arguments, as the instruction says.
        let enumerate = unsafe { std::mem::transmute::<usize, Enumerate>(word(cell, 0)) };
        let modules = names;
        if HIDDEN.set(Hidden { enumerate, modules }).is_ok() {
            // SAFETY: a cell of the predicate's own code, which stays.
            unsafe { store(cell, enumerated as *const () as usize) };
        }
    }
    TRUE
}

/// Whether a handle and an answer are what this file takes them for.
fn handles_are_known() -> bool {
    let address = (&raw const HIDDEN).cast_mut().cast::<c_void>();
    let mut handle = ForeignContext {
        context: address as usize,
        control: ffi::REDO,
        engine: ptr::null_mut(),
        predicate: ptr::null_mut(),
    };
    let control: Control = (&raw mut handle).cast();
    // SAFETY: the engine only reads the handle.
    unsafe {
        // An answer that there may be more is the address to go on with.
        ffi::_PL_retry_address(address) == address as usize
            && ffi::PL_foreign_control(control) == ffi::REDO
            && ffi::PL_foreign_context_address(control) == address
    }
}

/// The cell that has the function of `'$current_module'/2`.
fn function_of_enumeration() -> Option<usize> {
    let (offsets, planter) = (offsets::known()?, plant::planter()?);
    let calls = planter.instructions.named("I_FCALLNDETVA")?;
    let label = planter.instructions.get(calls).label;
    let definition = system_definition(c"$current_module", 2);
    // SAFETY: a predicate has a supervisor, and its length lies in front.
    unsafe {
        let code = word(definition, offsets.supervisor);
        let cells = (0..word(code - WORD, 0)).map(|index| code + index * WORD);
        let mut calls = cells.filter(|&cell| word(cell, 0) == label);
        calls.next().map(|cell| cell + WORD)
    }
}

extern "C" fn enumerated(module: Term, arity: c_int, handle: Control) -> Foreign {
    let Some(hidden) = HIDDEN.get() else {
        return FALSE;
    };
    let enumerate = hidden.enumerate;
    // SAFETY: what the engine passes.
    let control = unsafe { ffi::PL_foreign_control(handle) };
    if control != ffi::FIRST_CALL && control != ffi::REDO {
        return enumerate(module, arity, handle);
    }
    // SAFETY: as above.
    let mut next = unsafe { handle.cast::<ForeignContext>().read() };
    let mut handle = handle;
    loop {
        // SAFETY: a term of this call, whose bindings a frame of this call undoes.
        unsafe {
            let frame = ffi::PL_open_foreign_frame();
            let answer = enumerate(module, arity, handle);
            let mut name = 0;
            let is_own = answer > TRUE
                && ffi::truth(ffi::PL_get_atom(module, &raw mut name))
                && hidden.modules.contains(&name);
            if !is_own {
                ffi::PL_close_foreign_frame(frame);
                return answer;
            }
            ffi::PL_discard_foreign_frame(frame);
            next.context = answer;
            next.control = ffi::REDO;
        }
        handle = (&raw mut next).cast();
    }
}
