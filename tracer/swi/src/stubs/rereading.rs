//! A file that is read again.
//!
//! The engine compares each clause that it reads with the one that is there, cell by cell, and
//! keeps that one if they are equal: listeners hear nothing, and running code goes on. While a file
//! is read again, its clauses are what the engine would make of them now, and stay that: what runs
//! of them meanwhile is not recorded.

use std::ops::Range;
use std::sync::Mutex;

use portmortem_tracer::locks;
use rustc_hash::FxHashMap;

use super::plant::{self, Planter};
use crate::ffi::{self, Atom, Foreign, TRUE, Term};
use crate::native::offsets;
use crate::native::words::{CodeWord, WORD, store, word};
use crate::recording;
use crate::values::{self, atom, text};

/// A clause of a file that is being read again.
struct RereadClause {
    /// Keeps the clause's memory.
    reference: Atom,
    codes: Range<usize>,
    /// Where the engine would make something else: the cell, what stood there, and what stands
    /// there meanwhile.
    taken: Vec<(usize, CodeWord, CodeWord)>,
}

struct FileReading {
    epoch: u32,
    clauses: Vec<RereadClause>,
}

/// Files that are being read again.
static READINGS: Mutex<Option<FxHashMap<String, FileReading>>> = Mutex::new(None);

/// `stub_reread(+File, +Clauses)`: the file is about to be read again, and these are references
/// to its clauses.
pub(crate) fn begin(file: Term, clauses: Term) -> Foreign {
    let Some(epoch) = recording::epoch() else {
        return TRUE;
    };
    if recording::is_left_to_parent() {
        return TRUE;
    }
    end(file);
    let mut compared = Vec::new();
    if let (Some(offsets), Some(mut planter)) = (offsets::known(), plant::planter()) {
        values::each(clauses, |clause| {
            let words = values::clause_reference(clause);
            if let (Some(reference), Some(&clause)) = (atom(clause), words.and_then(<[_]>::last)) {
                let codes = offsets.code_of(clause);
                // SAFETY: a clause, which its reference keeps.
                let taken = unsafe { planter.make_anew(codes.clone()) };
                planter.held.hold(&codes);
                // SAFETY: an atom.
                unsafe { ffi::PL_register_atom(reference) };
                compared.push(RereadClause {
                    reference,
                    codes,
                    taken,
                });
            }
        });
    }
    let reading = FileReading {
        epoch,
        clauses: compared,
    };
    locks::lock(&READINGS)
        .get_or_insert_default()
        .insert(text(file), reading);
    TRUE
}

/// `stub_read(+File)`: the file has been read.
pub(crate) fn end(file: Term) -> Foreign {
    if recording::is_left_to_parent() {
        return TRUE;
    }
    let reading = locks::lock(&READINGS)
        .as_mut()
        .and_then(|readings| readings.remove(&text(file)));
    if let Some(reading) = reading {
        reading.end();
    }
    TRUE
}

impl FileReading {
    /// Stubs come back: control may return to a clause that is there no more, too.
    fn end(self) {
        let mut planter = plant::planter();
        for clause in self.clauses {
            if let Some(planter) = &mut planter {
                planter.held.release(&clause.codes);
            }
            if planter.is_some() && recording::epoch() == Some(self.epoch) {
                // What the engine makes stubs of is found when it is met.
                // SAFETY: the clause is kept by its reference.
                unsafe {
                    for &(cell, before, meanwhile) in &clause.taken {
                        if word(cell, 0) == meanwhile && plant::is_bare(meanwhile) {
                            store(cell, before);
                        }
                    }
                }
            }
            // SAFETY: an atom that was registered.
            unsafe { ffi::PL_unregister_atom(clause.reference) };
        }
    }
}

impl Planter {
    /// Makes code what the engine would make of it now. Says which cells were something else: the
    /// cell, what stood there, and what stands there instead.
    ///
    /// # Safety
    /// Code, all of it.
    unsafe fn make_anew(&self, codes: Range<usize>) -> Vec<(usize, CodeWord, CodeWord)> {
        let mut taken = Vec::new();
        let mut cell = codes.start;
        while cell < codes.end {
            // SAFETY: the caller's promise.
            unsafe {
                let Some(op) = self.op_at(cell) else {
                    break;
                };
                let stands = word(cell, 0);
                let new = word(
                    self.instructions.labels as usize + usize::from(op) * WORD,
                    0,
                );
                let is_ours = self.memory.contains(stands);
                // A clause that has run has no stubs any more where it was born with some.
                if stands != new && (is_ours || stands == self.instructions.get(op).label) {
                    store(cell, new);
                    taken.push((cell, stands, new));
                }
                let Some(length) = self.instructions.length(op, cell as *const CodeWord) else {
                    break;
                };
                cell += length * WORD;
            }
        }
        taken
    }
}
