//! What calls are made with, of predicates that `--arguments` names: a hash of the arguments, and
//! the sizes of the first few.
//!
//! The wrapper of such a predicate calls `'$pm_arguments'(A1, ..., An)` right behind the guard,
//! so after `CALL` and `TAIL` alike, and the event follows on that of the call. Terms are read
//! with functions of the foreign interface that neither bind, nor build terms, nor run Prolog, in
//! a foreign frame of our own. The references in it are at most [`MOST_DEPTH`] and a few more: so
//! many are always free when the engine calls a foreign predicate, so no stack is shifted for
//! them.
//!
//! **The hash** is one of the sequence of cells that a walk through the arguments meets, from
//! left to right. An argument that is an unbound variable counts as the number of the first
//! argument that is the same variable. Atoms count by their text and kind, so that an atom that
//! is collected and made again is the same; numbers and strings by their value (0.0 and -0.0
//! differ, and so do 1 and 1.0); other blobs, such as streams and clause references, by their
//! handle, which another blob may get once they are gone. A variable inside of an argument, or
//! one with attributes, has no value that another call could be compared by: then there is no
//! hash. Nor is there one if the walk meets more than [`MOST_CELLS`] cells, as with every cyclic
//! term, or fewer once much was spent on hashes ([`Credits`]), or goes deeper than [`MOST_DEPTH`]
//! in arguments that are not the last ones.

use std::collections::hash_map::DefaultHasher;
use std::ffi::{c_char, c_void};
use std::hash::Hasher;
use std::{ptr, slice};

use portmortem_tracer::format::{Arguments, ValueKind};

use crate::argument_values::{Fresh, KnownTerm};
use crate::asking;
use crate::credit::Credits;
use crate::engine::Engine;
use crate::engines;
use crate::ffi::{self, Atom, Control, FALSE, Foreign, TRUE, Term, exception_is_pending, truth};
use crate::layout::CallingEngine;
use crate::panics::guarded;

/// So many cells of a call's arguments are looked at, eight bytes of text being one, and what two
/// variables are compared for.
const MOST_CELLS: usize = 4096;
/// How deep terms may be nested, but for last arguments.
const MOST_DEPTH: usize = 200;
/// So many references are made at most, and a frame for them.
pub(crate) const MOST_REFERENCES: usize = MOST_DEPTH + 16;
/// More arguments are not looked at: a foreign predicate cannot have as many as one of the program.
pub(crate) const MOST_ARGUMENTS: usize = 64;
/// The sizes of so many arguments are recorded.
const SIZED: usize = 4;

/// A list with more elements than this has more than [`MOST_CELLS`].
const MOST_ELEMENTS: usize = MOST_CELLS / 2;

/// `'$pm_arguments'(A1, ..., An)`: what the call was made with that has just been recorded, if it
/// has.
pub(crate) extern "C" fn arguments_port(first: Term, arity: i32, handle: Control) -> Foreign {
    guarded(TRUE, || {
        record(handle, |credits| look(first, arity, credits))
    })
}

/// `'$pm_many_arguments'`: the same of a predicate with more arguments than the port can have.
pub(crate) extern "C" fn many_arguments_port(_: Term, _: i32, handle: Control) -> Foreign {
    guarded(TRUE, || record(handle, |_| TOO_LARGE))
}

/// Of arguments that are not looked at.
pub(crate) const TOO_LARGE: KnownSizes = ([None; SIZED], Arguments::TooLarge);

/// The sizes of arguments, and what is said of all.
pub(crate) type KnownSizes = ([Option<Arguments>; SIZED], Arguments);

/// What is known of the arguments of a call. Reads terms only. [`MOST_REFERENCES`] must be free.
pub(crate) fn look(first: Term, arity: i32, credits: &mut Credits) -> KnownSizes {
    let arity = usize::try_from(arity).unwrap_or(0);
    // SAFETY: a frame of our own, which is closed below; nothing is bound in it.
    let frame = unsafe { ffi::PL_open_foreign_frame() };
    let mut is_long = false;
    let sizes = sizes(first, arity, credits, &mut is_long);
    let hash = if is_long {
        Arguments::TooLarge
    } else {
        let cells = credits.cells(MOST_CELLS);
        let mut walk = ArgumentWalk::new(cells);
        let hash = walk.of_call(first, arity);
        credits.spend_cells(cells - walk.left);
        hash
    };
    // SAFETY: opened above.
    unsafe { ffi::PL_close_foreign_frame(frame) };
    (sizes, hash)
}

fn record(handle: Control, look: impl FnOnce(&mut Credits) -> KnownSizes) -> Foreign {
    if exception_is_pending() {
        return FALSE;
    }
    // SAFETY: what the engine passed; the state is used within this call only.
    let engine = unsafe { engines::of_context_if_any(CallingEngine::of(handle).data()) };
    let Some(engine) = engine else {
        return TRUE;
    };
    if !is_due(engine) {
        return TRUE;
    }
    let (sizes, hash) = engine.look_at_arguments(look);
    if let Err(stop) = asking::look_if_long() {
        return stop.answer();
    }
    // SAFETY: as above; the reference that we had is not used any more.
    if let Some(engine) = unsafe { engines::existing() }.filter(|engine| !engine.quiet) {
        engine.note_arguments((sizes, hash));
    }
    TRUE
}

impl Engine {
    /// What a call was made with. To look at it is no work of the program: the time belongs to no
    /// box.
    pub(crate) fn look_at_arguments<T>(&mut self, look: impl FnOnce(&mut Credits) -> T) -> T {
        self.stream.pause();
        let known = look(&mut self.credits);
        self.stream.resume();
        known
    }

    /// The events of what the call was made with that has just been recorded.
    pub(crate) fn note_arguments(&self, (sizes, hash): KnownSizes) {
        for size in sizes.into_iter().flatten() {
            self.stream.arguments(size);
        }
        self.stream.arguments(hash);
    }
}

/// Whether the call that comes to this port was recorded.
fn is_due(engine: &mut Engine) -> bool {
    std::mem::take(&mut engine.entered) && !engine.quiet
}

/// The sizes of the first arguments, where they have one that is known. `is_long` becomes true if
/// one of them is a list of more than [`MOST_ELEMENTS`].
fn sizes(
    first: Term,
    arity: usize,
    credits: &mut Credits,
    is_long: &mut bool,
) -> [Option<Arguments>; SIZED] {
    let has_credit = credits.counts_lists();
    std::array::from_fn(|at| {
        let argument = (at + 1) as u8;
        if at >= arity {
            return None;
        }
        let term = first + at;
        // SAFETY: an argument of the port.
        match unsafe { ffi::PL_term_type(term) } {
            ffi::TYPE_INTEGER => {
                let value = small_integer(term)?;
                Some(Arguments::Integer { argument, value })
            }
            ffi::TYPE_NIL | ffi::TYPE_LIST_PAIR => {
                let (elements, is_whole) = if has_credit {
                    all_elements(term)
                } else {
                    some_elements(term)?
                };
                let length = elements as u64;
                credits.spend_elements(length);
                *is_long |= elements > MOST_ELEMENTS;
                is_whole.then_some(Arguments::List { argument, length })
            }
            _ => None,
        }
    })
}

/// How many elements there are before the end of a list, or where it becomes cyclic; and whether
/// it is a proper one.
fn all_elements(list: Term) -> (usize, bool) {
    let mut length = 0;
    // A reference for what follows the elements would be bound, with an entry on the trail, which
    // may have no room.
    // SAFETY: an argument of the port and a place for the length.
    let end = unsafe { ffi::PL_skip_list(list, 0, &raw mut length) };
    (length, end == ffi::TYPE_LIST)
}

/// The same of a list that is not long; of others, so many that it is long.
fn some_elements(list: Term) -> Option<(usize, bool)> {
    // SAFETY: references of the open frame.
    unsafe {
        let rest = Some(ffi::PL_copy_term_ref(list)).filter(|&rest| rest != 0)?;
        let mut elements = 0;
        while elements <= MOST_ELEMENTS && truth(ffi::PL_get_tail(rest, rest)) {
            elements += 1;
        }
        Some((elements, truth(ffi::PL_get_nil(rest))))
    }
}

/// An integer of at most 64 bits.
fn small_integer(term: Term) -> Option<i64> {
    let mut value = 0;
    // SAFETY: a valid term and a place for its value.
    truth(unsafe { ffi::PL_get_int64(term, &raw mut value) }).then_some(value)
}

/// Kinds of cells, as the hash tells them apart.
#[derive(Clone, Copy)]
enum HashedKind {
    Unbound,
    Text,
    Symbol,
    Blob,
    Integer,
    Number,
    Float,
    String,
    Nil,
    Pair,
    Compound,
    Dict,
}

/// Goes through the arguments of a call.
pub(crate) struct ArgumentWalk {
    hash: DefaultHasher,
    /// Cells that may still be looked at.
    left: usize,
    /// It goes on behind variables, and has met some.
    passes_variables: bool,
    has_variables: bool,
    /// What is looked for among the cells, and how many were found.
    fresh: Option<Fresh>,
    newer: usize,
    /// Compound terms whose arguments are being looked at, but for their last ones.
    above: [Above; MOST_DEPTH],
    /// How many there are, and how many references in `above` have been made.
    depth: usize,
    made: usize,
}

#[derive(Clone, Copy)]
struct Above {
    term: Term,
    next: usize,
    arity: usize,
}

/// Why there is no hash.
type Unhashed = Arguments;

impl ArgumentWalk {
    /// Of at most so many cells.
    fn new(cells: usize) -> Self {
        let nothing = Above {
            term: 0,
            next: 0,
            arity: 0,
        };
        Self {
            // Always the same keys.
            hash: DefaultHasher::new(),
            left: cells,
            passes_variables: false,
            has_variables: false,
            fresh: None,
            newer: 0,
            above: [nothing; MOST_DEPTH],
            depth: 0,
            made: 0,
        }
    }

    /// One that measures terms, variables among them.
    pub(crate) fn of_terms(fresh: Option<Fresh>) -> Self {
        Self {
            passes_variables: true,
            fresh,
            ..Self::new(0)
        }
    }

    /// What is known of a term of at most so many cells. `at` is a reference that may be changed.
    pub(crate) fn value(&mut self, term: Term, at: Term, most: usize) -> KnownTerm {
        self.hash = DefaultHasher::new();
        self.left = most;
        self.has_variables = false;
        self.newer = 0;
        let unknown = |kind, size| KnownTerm {
            kind,
            size,
            ..KnownTerm::UNKNOWN
        };
        // SAFETY: references of the open frame and below it.
        let is_put = unsafe {
            if truth(ffi::PL_is_variable(term)) && !truth(ffi::PL_is_attvar(term)) {
                return unknown(ValueKind::Unbound, 0);
            }
            truth(ffi::PL_put_term(at, term))
        };
        if !is_put || self.term(at).is_err() {
            return unknown(ValueKind::Unknown, most - self.left);
        }
        let size = most - self.left;
        KnownTerm {
            kind: match self.has_variables {
                true => ValueKind::NotGround,
                false => ValueKind::Ground,
            },
            size,
            hash: self.hash.finish(),
            newer: self.newer,
        }
    }

    fn of_call(&mut self, first: Term, arity: usize) -> Arguments {
        match self.arguments(first, arity) {
            Ok(()) => Arguments::Hash(self.hash.finish()),
            Err(unhashed) => unhashed,
        }
    }

    fn arguments(&mut self, first: Term, arity: usize) -> Result<(), Unhashed> {
        // SAFETY: a reference of the open frame.
        let at = unsafe { ffi::PL_new_term_ref() };
        if at == 0 {
            return Err(Arguments::TooLarge);
        }
        for number in 0..arity {
            let argument = first + number;
            // SAFETY: an argument of the port.
            if truth(unsafe { ffi::PL_is_variable(argument) }) {
                self.variable(first, number)?;
                continue;
            }
            // SAFETY: references of the port and of the open frame.
            if !truth(unsafe { ffi::PL_put_term(at, argument) }) {
                return Err(Arguments::TooLarge);
            }
            self.term(at)?;
        }
        Ok(())
    }

    /// The argument after `number` others is a variable.
    fn variable(&mut self, first: Term, number: usize) -> Result<(), Unhashed> {
        let argument = first + number;
        // SAFETY: an argument of the port.
        if truth(unsafe { ffi::PL_is_attvar(argument) }) {
            return Err(Arguments::NotGround);
        }
        self.spend(number)?;
        let mut before = first..argument;
        // SAFETY: arguments of the port.
        let same = before.position(|other| unsafe {
            truth(ffi::PL_is_variable(other)) && ffi::PL_compare(other, argument) == 0
        });
        self.cell(HashedKind::Unbound, same.unwrap_or(number) as u64)
    }

    /// The term that `at` refers to, which refers to another one afterwards.
    fn term(&mut self, at: Term) -> Result<(), Unhashed> {
        self.depth = 0;
        loop {
            self.one(at)?;
            let Some(above) = self.depth.checked_sub(1).map(|top| &mut self.above[top]) else {
                return Ok(());
            };
            let (index, term) = (above.next, above.term);
            above.next += 1;
            // After its last argument a term is not needed any more: lists are no deeper than
            // their elements.
            if index == above.arity {
                self.depth -= 1;
            }
            // SAFETY: references of the open frame; the term has so many arguments.
            if !truth(unsafe { ffi::PL_get_arg(index, term, at) }) {
                return Err(Arguments::TooLarge);
            }
        }
    }

    /// A term without its arguments, which come next.
    fn one(&mut self, at: Term) -> Result<(), Unhashed> {
        // SAFETY: a reference of the open frame.
        match unsafe { ffi::PL_term_type(at) } {
            ffi::TYPE_VARIABLE if self.passes_variables => {
                self.has_variables = true;
                self.cell(HashedKind::Unbound, 0)
            }
            ffi::TYPE_VARIABLE => Err(Arguments::NotGround),
            ffi::TYPE_NIL => self.cell(HashedKind::Nil, 0),
            ffi::TYPE_LIST_PAIR => {
                self.look_for_newer(at, 3);
                self.cell(HashedKind::Pair, 0)?;
                self.go_into(at, 2)
            }
            ffi::TYPE_INTEGER => match small_integer(at) {
                Some(value) => self.cell(HashedKind::Integer, value as u64),
                None => self.external(HashedKind::Number, at),
            },
            ffi::TYPE_FLOAT => {
                let mut value = 0.0_f64;
                // SAFETY: a reference of the open frame and a place for its value.
                unsafe { ffi::PL_get_float(at, &raw mut value) };
                self.cell(HashedKind::Float, value.to_bits())
            }
            ffi::TYPE_RATIONAL => self.external(HashedKind::Number, at),
            ffi::TYPE_STRING => {
                let before = self.left;
                self.string(at)?;
                self.look_for_newer(at, before - self.left);
                Ok(())
            }
            _ => {
                let mut atom: Atom = 0;
                // SAFETY: a reference of the open frame and a place for its value.
                if truth(unsafe { ffi::PL_get_atom(at, &raw mut atom) }) {
                    self.atom(atom)
                } else {
                    self.compound(at)
                }
            }
        }
    }

    fn compound(&mut self, at: Term) -> Result<(), Unhashed> {
        let (mut name, mut arity) = (0, 0);
        // SAFETY: a reference of the open frame and places for what is read.
        let is_dict = unsafe {
            if !truth(ffi::PL_get_compound_name_arity(
                at,
                &raw mut name,
                &raw mut arity,
            )) {
                return Err(Arguments::TooLarge);
            }
            truth(ffi::PL_is_dict(at))
        };
        self.look_for_newer(at, arity + 1);
        let kind = if is_dict {
            HashedKind::Dict
        } else {
            HashedKind::Compound
        };
        self.cell(kind, arity as u64)?;
        self.atom(name)?;
        if arity == 0 {
            return Ok(());
        }
        self.go_into(at, arity)
    }

    /// The term that `at` refers to takes so many cells of the stack.
    fn look_for_newer(&mut self, at: Term, cells: usize) {
        if self.fresh.is_some_and(|fresh| fresh.is_newer(at)) {
            self.newer += cells;
        }
    }

    /// The arguments of the term that `at` refers to come next.
    fn go_into(&mut self, at: Term, arity: usize) -> Result<(), Unhashed> {
        let Some(above) = self.above.get_mut(self.depth) else {
            return Err(Arguments::TooLarge);
        };
        if self.depth == self.made {
            // SAFETY: a reference of the open frame.
            above.term = unsafe { ffi::PL_new_term_ref() };
            if above.term == 0 {
                return Err(Arguments::TooLarge);
            }
            self.made += 1;
        }
        // SAFETY: references of the open frame.
        if !truth(unsafe { ffi::PL_put_term(above.term, at) }) {
            return Err(Arguments::TooLarge);
        }
        (above.next, above.arity) = (1, arity);
        self.depth += 1;
        Ok(())
    }

    fn atom(&mut self, atom: Atom) -> Result<(), Unhashed> {
        let mut length = 0;
        let mut kind: *const ffi::BlobType = ptr::null();
        // SAFETY: the atom is one of a term that we refer to. Its text and type live as long as it.
        let (text, name) = unsafe {
            let text = ffi::PL_blob_data(atom, &raw mut length, &raw mut kind);
            match kind.as_ref() {
                Some(kind) if kind.flags & ffi::BLOB_TEXT != 0 && !text.is_null() => {
                    let text = slice::from_raw_parts(text.cast::<u8>(), length);
                    (text, std::ffi::CStr::from_ptr(kind.name))
                }
                _ => return self.cell(HashedKind::Blob, atom as u64),
            }
        };
        if name == c"text" {
            return self.bytes(HashedKind::Text, text);
        }
        // Wide text, or a symbol that is no text but looks like one.
        self.bytes(HashedKind::Symbol, name.to_bytes())?;
        self.bytes(HashedKind::Text, text)
    }

    fn string(&mut self, at: Term) -> Result<(), Unhashed> {
        let mut start: *mut c_char = ptr::null_mut();
        let mut length = 0;
        // SAFETY: a reference of the open frame. The text stays where it is: nothing runs Prolog
        // meanwhile.
        unsafe {
            if truth(ffi::PL_get_string(at, &raw mut start, &raw mut length)) {
                let text = slice::from_raw_parts(start.cast::<u8>(), length);
                return self.bytes(HashedKind::String, text);
            }
        }
        // Of wide characters.
        self.external(HashedKind::String, at)
    }

    /// A constant, as the engine writes it for other processes: that depends on nothing but its
    /// value.
    fn external(&mut self, kind: HashedKind, at: Term) -> Result<(), Unhashed> {
        let mut length = 0;
        // SAFETY: a reference of the open frame. The bytes are ours until they are given back.
        unsafe {
            let bytes = ffi::PL_record_external(at, &raw mut length);
            if bytes.is_null() {
                return Err(Arguments::TooLarge);
            }
            let done = self.bytes(kind, slice::from_raw_parts(bytes.cast::<u8>(), length));
            ffi::PL_erase_external(bytes);
            done
        }
    }

    fn bytes(&mut self, kind: HashedKind, bytes: &[u8]) -> Result<(), Unhashed> {
        self.cell(kind, bytes.len() as u64)?;
        self.spend(bytes.len() / size_of::<u64>())?;
        self.hash.write(bytes);
        Ok(())
    }

    fn cell(&mut self, kind: HashedKind, value: u64) -> Result<(), Unhashed> {
        self.spend(1)?;
        self.hash.write_u8(kind as u8);
        self.hash.write_u64(value);
        Ok(())
    }

    fn spend(&mut self, cells: usize) -> Result<(), Unhashed> {
        self.left = self.left.checked_sub(cells).ok_or(Arguments::TooLarge)?;
        Ok(())
    }
}

/// `arguments_port(+Arity)`: makes `'$pm_arguments'` of this arity.
pub(crate) fn make_port(arity: Term) -> Foreign {
    let arity = small_integer(arity).and_then(|arity| i32::try_from(arity).ok());
    let Some(arity) = arity else { return FALSE };
    // SAFETY: the function is of the kind it is registered as.
    Foreign::from(truth(unsafe {
        ffi::PL_register_foreign_in_module(
            c"system".as_ptr(),
            c"$pm_arguments".as_ptr(),
            arity,
            arguments_port as *const c_void,
            ffi::VARARGS,
        )
    }))
}
