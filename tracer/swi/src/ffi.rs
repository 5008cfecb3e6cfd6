//! The part of SWI-Prolog's foreign language interface that the adapter uses, declared by hand.
//!
//! No header of one version is compiled in: the functions below have had the same names and
//! arguments from 9.0 to 10.1. Truth values changed from `int` to `bool` in between, so only
//! their low byte is read ([`truth`]). The symbols are resolved when the engine loads the
//! library.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

pub(crate) type Term = usize;
pub(crate) type Atom = usize;
pub(crate) type Functor = usize;
pub(crate) type Module = *mut c_void;
pub(crate) type PredicateHandle = *mut c_void;
pub(crate) type Foreign = usize;
pub(crate) type Control = *mut c_void;
pub(crate) type RecordedTerm = *mut c_void;

/// Is asked whether an atom may be freed.
pub(crate) type AgcHook = extern "C" fn(Atom) -> c_int;

/// A foreign predicate's answer.
pub(crate) const TRUE: Foreign = 1;
/// A foreign predicate's answer.
pub(crate) const FALSE: Foreign = 0;

/// `PL_foreign_control`: the first call of a nondeterministic predicate.
pub(crate) const FIRST_CALL: c_int = 0;
/// `PL_foreign_control`: backtracking into it.
pub(crate) const REDO: c_int = 2;

/// `PL_register_foreign_in_module`: the predicate may leave a choicepoint.
pub(crate) const NONDETERMINISTIC: c_int = 0x04;
/// `PL_register_foreign_in_module`: the function gets the first argument, their number and a
/// handle.
pub(crate) const VARARGS: c_int = 0x08;

/// `PL_unify_chars`: make a string.
pub(crate) const STRING: c_int = 6;

/// `PL_get_nchars`: accept an atom or string.
pub(crate) const CVT_ATOM_OR_STRING: u32 = 0x01 | 0x02;
/// `PL_get_nchars`: give UTF-8.
pub(crate) const REP_UTF8: u32 = 0x0010_0000;

/// `PLSIG_SYNC`: the signal is noted, and handled later by the thread that got it.
pub(crate) const LATER: c_int = 0x0004;

/// `pl_sigaction_t`: what the engine does at a signal. All is 0 if it leaves that to the system or
/// to others.
#[repr(C)]
pub(crate) struct SignalAction {
    pub(crate) function: *const c_void,
    pub(crate) predicate: PredicateHandle,
    pub(crate) flags: c_int,
    pub(crate) reserved: [*const c_void; 2],
}

/// `PL_Q_NODEBUG | PL_Q_CATCH_EXCEPTION`
pub(crate) const QUIET: c_int = 0x0004 | 0x0008;

/// `PL_term_type`: unbound, with attributes or without.
pub(crate) const TYPE_VARIABLE: c_int = 1;
/// `PL_term_type`: an integer of any size.
pub(crate) const TYPE_INTEGER: c_int = 3;
/// `PL_term_type`: a rational number that is no integer.
pub(crate) const TYPE_RATIONAL: c_int = 4;
/// `PL_term_type`: a float.
pub(crate) const TYPE_FLOAT: c_int = 5;
/// `PL_term_type`: a string.
pub(crate) const TYPE_STRING: c_int = 6;
/// `PL_term_type`: the empty list.
pub(crate) const TYPE_NIL: c_int = 8;
/// `PL_term_type`: a list that is not empty, or the beginning of a partial one.
pub(crate) const TYPE_LIST_PAIR: c_int = 10;
/// `PL_skip_list`: a proper list.
pub(crate) const TYPE_LIST: c_int = 12;

/// `PL_blob_t`: how a kind of atoms begins.
#[repr(C)]
pub(crate) struct BlobType {
    magic: usize,
    pub(crate) flags: usize,
    pub(crate) name: *const c_char,
}

/// `PL_blob_t`: the data is text.
pub(crate) const BLOB_TEXT: usize = 0x02;

/// `pl_context_t`: a frame of the engine's stack and the place in its clause where it waits.
#[repr(C)]
pub(crate) struct FrameContext {
    pub(crate) engine: *mut c_void,
    pub(crate) query: *mut c_void,
    pub(crate) frame: *mut c_void,
    pub(crate) pc: *mut c_void,
    pub(crate) reserved: [*mut c_void; 10],
}

impl FrameContext {
    /// To be filled in by the engine.
    pub(crate) const EMPTY: Self = Self {
        engine: ptr::null_mut(),
        query: ptr::null_mut(),
        frame: ptr::null_mut(),
        pc: ptr::null_mut(),
        reserved: [ptr::null_mut(); 10],
    };

    /// Becomes the frame of the foreign predicate that is running. Work on it where it lies:
    /// moving it right after the engine has written it stalls the processor.
    #[inline]
    pub(crate) fn fill(&mut self) -> bool {
        // SAFETY: a context of our own, and thread 0 is the calling one.
        truth(unsafe { PL_get_context(self, 0) })
    }

    /// Becomes the calling frame. False if there is none.
    #[inline]
    pub(crate) fn step(&mut self) -> bool {
        // SAFETY: filled in by the engine in this call.
        truth(unsafe { PL_step_context(self) })
    }
}

unsafe extern "C" {
    pub(crate) fn PL_register_foreign_in_module(
        module: *const c_char,
        name: *const c_char,
        arity: c_int,
        function: *const c_void,
        flags: c_int,
        ...
    ) -> c_int;
    pub(crate) fn PL_open_query(
        module: *mut c_void,
        flags: c_int,
        predicate: *mut c_void,
        arguments: Term,
    ) -> usize;
    pub(crate) fn PL_close_query(query: usize) -> c_int;
    pub(crate) fn PL_cut_query(query: usize) -> c_int;
    pub(crate) fn PL_foreign_control(handle: Control) -> c_int;
    pub(crate) fn PL_foreign_context(handle: Control) -> isize;
    pub(crate) fn PL_foreign_context_address(handle: Control) -> *mut c_void;
    pub(crate) fn _PL_retry_address(address: *mut c_void) -> Foreign;
    pub(crate) fn PL_foreign_context_predicate(handle: Control) -> PredicateHandle;
    pub(crate) fn _PL_retry(context: isize) -> Foreign;
    pub(crate) fn PL_get_int64(term: Term, value: *mut i64) -> c_int;
    pub(crate) fn PL_unify_int64(term: Term, value: i64) -> c_int;
    pub(crate) fn PL_get_nchars(
        term: Term,
        length: *mut usize,
        text: *mut *mut c_char,
        flags: u32,
    ) -> c_int;
    pub(crate) fn PL_is_variable(term: Term) -> c_int;
    pub(crate) fn PL_is_attvar(term: Term) -> c_int;
    pub(crate) fn PL_is_dict(term: Term) -> c_int;
    pub(crate) fn PL_term_type(term: Term) -> c_int;
    pub(crate) fn PL_skip_list(list: Term, tail: Term, length: *mut usize) -> c_int;
    pub(crate) fn PL_get_tail(list: Term, tail: Term) -> c_int;
    pub(crate) fn PL_get_nil(term: Term) -> c_int;
    pub(crate) fn PL_put_term(to: Term, from: Term) -> c_int;
    pub(crate) fn PL_get_string(term: Term, text: *mut *mut c_char, length: *mut usize) -> c_int;
    pub(crate) fn PL_version_info(which: c_int) -> c_int;
    pub(crate) fn PL_blob_data(
        atom: Atom,
        length: *mut usize,
        kind: *mut *const BlobType,
    ) -> *const c_void;
    pub(crate) fn PL_record_external(term: Term, length: *mut usize) -> *mut c_char;
    pub(crate) fn PL_erase_external(record: *mut c_char) -> c_int;
    /// As [`PL_get_name_arity`], of a compound term only.
    pub(crate) fn PL_get_compound_name_arity(
        term: Term,
        name: *mut Atom,
        arity: *mut usize,
    ) -> c_int;
    pub(crate) fn PL_is_compound(term: Term) -> c_int;
    pub(crate) fn PL_is_callable(term: Term) -> c_int;
    pub(crate) fn PL_is_acyclic(term: Term) -> c_int;
    pub(crate) fn PL_is_integer(term: Term) -> c_int;
    pub(crate) fn PL_is_list(term: Term) -> c_int;
    pub(crate) fn PL_compare(one: Term, other: Term) -> c_int;
    pub(crate) fn PL_record(term: Term) -> RecordedTerm;
    pub(crate) fn PL_recorded(record: RecordedTerm, term: Term) -> c_int;
    pub(crate) fn PL_erase(record: RecordedTerm);
    pub(crate) fn PL_unify(one: Term, other: Term) -> c_int;
    pub(crate) fn PL_register_atom(atom: Atom);
    pub(crate) fn PL_unregister_atom(atom: Atom);
    pub(crate) fn PL_agc_hook(hook: Option<AgcHook>) -> Option<AgcHook>;
    pub(crate) fn PL_unify_atom(term: Term, atom: Atom) -> c_int;
    pub(crate) fn PL_unify_functor(term: Term, functor: Functor) -> c_int;
    pub(crate) fn PL_functor_arity(functor: Functor) -> usize;
    /// The width of the arity differs between versions: give it a zero to write to.
    pub(crate) fn PL_get_name_arity(term: Term, name: *mut Atom, arity: *mut usize) -> c_int;
    pub(crate) fn PL_get_atom(term: Term, atom: *mut Atom) -> c_int;
    pub(crate) fn PL_get_functor(term: Term, functor: *mut Functor) -> c_int;
    pub(crate) fn PL_get_arg(index: usize, term: Term, argument: Term) -> c_int;
    pub(crate) fn PL_unify_atom_chars(term: Term, text: *const c_char) -> c_int;
    pub(crate) fn PL_new_atom(text: *const c_char) -> Atom;
    pub(crate) fn PL_new_atom_mbchars(encoding: c_int, length: usize, text: *const c_char) -> Atom;
    pub(crate) fn PL_new_functor(name: Atom, arity: usize) -> Functor;
    pub(crate) fn PL_new_term_ref() -> Term;
    pub(crate) fn PL_unify_list(list: Term, head: Term, tail: Term) -> c_int;
    pub(crate) fn PL_unify_nil(list: Term) -> c_int;
    pub(crate) fn PL_get_list(list: Term, head: Term, tail: Term) -> c_int;
    pub(crate) fn PL_copy_term_ref(term: Term) -> Term;
    pub(crate) fn PL_get_context(context: *mut FrameContext, thread: c_int) -> c_int;
    pub(crate) fn PL_step_context(context: *mut FrameContext) -> c_int;
    pub(crate) fn PL_describe_context(
        context: *mut FrameContext,
        buffer: *mut c_char,
        length: usize,
    ) -> c_int;
    pub(crate) fn PL_thread_self() -> c_int;
    /// Negative if the engine does not take the thread.
    pub(crate) fn PL_thread_attach_engine(attributes: *mut c_void) -> c_int;
    pub(crate) fn PL_thread_destroy_engine() -> c_int;
    pub(crate) fn PL_get_thread_alias(thread: c_int, alias: *mut Atom) -> c_int;
    /// The first one is the empty list.
    pub(crate) fn _PL_atoms() -> *const Atom;
    pub(crate) fn PL_atom_nchars(atom: Atom, length: *mut usize) -> *const c_char;
    /// Null if all characters of the text are in ISO Latin 1.
    pub(crate) fn PL_atom_wchars(atom: Atom, length: *mut usize) -> *const u32;
    pub(crate) fn PL_predicate_info(
        predicate: PredicateHandle,
        name: *mut Atom,
        arity: *mut usize,
        module: *mut Module,
    ) -> c_int;
    pub(crate) fn PL_module_name(module: Module) -> Atom;
    pub(crate) fn PL_new_module(name: Atom) -> Module;
    pub(crate) fn PL_pred(functor: Functor, module: Module) -> PredicateHandle;
    pub(crate) fn PL_thread_at_exit(
        function: extern "C" fn(*mut c_void),
        closure: *mut c_void,
        global: c_int,
    ) -> c_int;
    pub(crate) fn PL_sigaction(
        signal: c_int,
        action: *const SignalAction,
        old: *mut SignalAction,
    ) -> c_int;
    pub(crate) fn PL_exit_hook(
        function: extern "C" fn(c_int, *mut c_void) -> c_int,
        closure: *mut c_void,
    );
    pub(crate) fn PL_predicate(
        name: *const c_char,
        arity: c_int,
        module: *const c_char,
    ) -> PredicateHandle;
    pub(crate) fn PL_call_predicate(
        module: Module,
        flags: c_int,
        predicate: PredicateHandle,
        arguments: Term,
    ) -> c_int;
    pub(crate) fn PL_open_foreign_frame() -> usize;
    pub(crate) fn PL_discard_foreign_frame(frame: usize);
    pub(crate) fn PL_close_foreign_frame(frame: usize);
    pub(crate) fn PL_exception(query: usize) -> Term;
    pub(crate) fn PL_raise_exception(exception: Term) -> c_int;
    pub(crate) fn PL_clear_exception();
    pub(crate) fn PL_new_term_refs(number: usize) -> Term;
    pub(crate) fn PL_put_atom_chars(term: Term, text: *const c_char) -> c_int;
    pub(crate) fn PL_put_variable(term: Term) -> c_int;
    pub(crate) fn PL_get_float(term: Term, value: *mut f64) -> c_int;
    pub(crate) fn PL_unify_chars(
        term: Term,
        flags: c_int,
        length: usize,
        text: *const c_char,
    ) -> c_int;
}

/// Whether an exception is on its way. The engine runs Prolog in that state, too: in callbacks
/// from C that has not looked.
#[inline(always)]
pub(crate) fn exception_is_pending() -> bool {
    // SAFETY: plain call of the interface on a thread that runs Prolog.
    unsafe { PL_exception(0) != 0 }
}

/// Reads a truth value of the interface: `int` in 9.0, `bool` later.
#[inline(always)]
pub(crate) fn truth(value: c_int) -> bool {
    value & 0xff != 0
}
