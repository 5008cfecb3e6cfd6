//! The engine's tables when they are complete: what it would tell Prolog, which a stub cannot ask.
//!
//! The layout of these structures is that of versions 9.0 to 10.1. It is trusted once two things
//! are proved in the running engine: a trie made for that has as many values and nodes as the
//! engine says ([`prove_tries`]), and the structures of the first tables lead to each other, which
//! is looked at where memory is there. Later ones must begin with the same marks.

use std::sync::atomic::{AtomicBool, Ordering};

use super::terms::is_mapped;
use super::words::{WORD, word};
use crate::ffi::{self, Foreign, Term};
use crate::values::{atom, integer};

/// A component: tables that are complete together.
mod component {
    pub(super) const MARK: u32 = 0x67e9_124f;
    /// 32 bits: 0 as long as it is active.
    pub(super) const STATUS: usize = 4;
    /// Its worklists: a buffer, which begins with its base and its top. May be null.
    pub(super) const CREATED: usize = 56;
}

/// What a table has while it is filled.
mod worklist {
    pub(super) const MARK: (usize, u32) = (32, 0x67e9_124e);
    pub(super) const COMPONENT: usize = 48;
    pub(super) const TRIE: usize = 56;
    pub(super) const PREDICATE: usize = 64;
}

/// The answers of a table.
mod trie {
    pub(super) const MARK: (usize, u32) = (8, 0x4bcb_cf87);
    /// 32 bits each.
    pub(super) const NODES: usize = 16;
    pub(super) const VALUES: usize = 20;
    pub(super) const WORKLIST: usize = 136;
    pub(super) const PREDICATE: usize = 160;
}

/// What a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableContents {
    /// Definition of the predicate.
    pub(crate) definition: usize,
    pub(crate) answers: u32,
    pub(crate) nodes: u32,
}

/// Tries are as described.
static TRIES: AtomicBool = AtomicBool::new(false);
/// So are components and worklists, and they lead to tries.
static COMPONENTS: AtomicBool = AtomicBool::new(false);

/// `stub_prove_tries(+Trie, +Values, +Nodes)`: the engine says that of this trie. Fails if it is
/// not found there.
pub(crate) fn prove_tries(trie: Term, values: Term, nodes: Term) -> Foreign {
    let counts = [values, nodes].map(integer);
    let proved = trie_of(trie).is_some_and(|trie| {
        // SAFETY: a trie, which is at least as long as what is read if it has the mark.
        unsafe {
            has_mark(trie, trie::MARK)
                && counts == [trie::VALUES, trie::NODES].map(|at| half(trie, at))
        }
    });
    TRIES.store(proved, Ordering::Release);
    Foreign::from(proved)
}

/// The address of a trie: all that is in its handle.
fn trie_of(handle: Term) -> Option<usize> {
    let mut length = 0;
    let mut kind = std::ptr::null();
    // SAFETY: an atom that the term keeps, and places for what it has.
    let data = unsafe { ffi::PL_blob_data(atom(handle)?, &raw mut length, &raw mut kind) } as usize;
    let is_pointer = data != 0 && length == WORD;
    // SAFETY: so many bytes are there.
    let trie = is_pointer.then(|| unsafe { word(data, 0) })?;
    (trie.is_multiple_of(WORD) && trie != 0 && is_mapped(trie)).then_some(trie)
}

/// The tables of a component that is about to be completed; none if it is part of another one by
/// now. `None` if they cannot be read.
///
/// # Safety
/// `at` is what the engine calls a component.
pub(crate) unsafe fn of_component(at: usize) -> Option<Vec<TableContents>> {
    if !TRIES.load(Ordering::Acquire) {
        return None;
    }
    let is_proved = COMPONENTS.load(Ordering::Acquire);
    let is_there = |at: usize| {
        at != 0 && at.is_multiple_of(WORD) && (is_proved || is_mapped(at) && is_mapped(at + 168))
    };
    if !is_there(at) {
        return None;
    }
    // SAFETY: the caller's promise; what a structure with the right mark leads to is proved, or
    // memory that is there.
    unsafe {
        if !has_mark(at, (0, component::MARK)) {
            return None;
        }
        let created = word(at, component::CREATED);
        if half(at, component::STATUS) != 0 || created == 0 {
            return Some(Vec::new());
        }
        if !is_there(created) {
            return None;
        }
        let (base, top) = (word(created, 0), word(created, WORD));
        let mut tables = Vec::new();
        for entry in (base..top).step_by(WORD) {
            if !is_there(entry) {
                return None;
            }
            let worklist = word(entry, 0);
            if !is_there(worklist) || !has_mark(worklist, worklist::MARK) {
                return None;
            }
            let trie = word(worklist, worklist::TRIE);
            if !is_there(trie) || !has_mark(trie, trie::MARK) {
                return None;
            }
            let definition = word(trie, trie::PREDICATE);
            // That of a table that is filled again may not be known here.
            let known = word(worklist, worklist::PREDICATE);
            let agree = word(worklist, worklist::COMPONENT) == at
                && word(trie, trie::WORKLIST) == worklist
                && (known == definition || known == 0 && is_proved);
            if !agree || definition == 0 {
                return None;
            }
            tables.push(TableContents {
                definition,
                answers: half(trie, trie::VALUES),
                nodes: half(trie, trie::NODES),
            });
        }
        COMPONENTS.store(is_proved || !tables.is_empty(), Ordering::Release);
        Some(tables)
    }
}

/// # Safety
/// It can be read there.
unsafe fn has_mark(start: usize, (at, mark): (usize, u32)) -> bool {
    // SAFETY: the caller's promise.
    unsafe { half(start, at) == mark }
}

/// A number of 32 bits.
///
/// # Safety
/// It can be read there.
unsafe fn half(start: usize, offset: usize) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { ((start + offset) as *const u32).read() }
}
