//! The numbers of clauses among those of their predicates.

use rustc_hash::FxHashMap;

use super::offsets::{self, Offsets};
use super::words::{WORD, word};

/// The numbers of clauses among those of their predicates, as they were when stubs were put into
/// them.
#[derive(Debug, Default)]
pub(crate) struct ClauseNumbers {
    /// By definition.
    predicates: FxHashMap<usize, Numbered>,
}

/// The clauses of a predicate, all of them.
#[derive(Debug)]
struct Numbered {
    /// The words of the definition that tell the first and the last one.
    ends: [usize; 2],
    /// By where their code begins.
    numbers: FxHashMap<usize, u32>,
}

impl ClauseNumbers {
    /// The number of a clause of a static predicate that runs, from 1.
    pub(crate) fn of(&mut self, offsets: &Offsets, definition: usize, start: usize) -> Option<u32> {
        if clauses(offsets, definition).next()? == start {
            return Some(1);
        }
        self.known(offsets, definition).get(&start).copied()
    }

    /// Those of a predicate: counted again if it has got or lost clauses.
    fn known(&mut self, offsets: &Offsets, definition: usize) -> &FxHashMap<usize, u32> {
        // SAFETY: a definition of the engine's.
        let ends = [0, WORD].map(|at| unsafe { word(definition, offsets.first_clause + at) });
        let count = || Numbered {
            ends,
            numbers: clauses(offsets, definition).zip(1..).collect(),
        };
        let numbered = self.predicates.entry(definition).or_insert_with(count);
        if numbered.ends != ends {
            *numbered = count();
        }
        &numbered.numbers
    }
}

/// Where the code begins of the clauses of a static predicate that runs, in their order. Those of
/// a dynamic one may be freed meanwhile.
fn clauses(offsets: &Offsets, definition: usize) -> impl Iterator<Item = usize> + use<'_> {
    // SAFETY: a definition of the engine's.
    let mut reference = unsafe { word(definition, offsets.first_clause) };
    std::iter::from_fn(move || {
        if reference == 0 {
            return None;
        }
        // SAFETY: clauses of a static predicate are freed after it was loaded again, when it runs
        // no more.
        unsafe {
            let clause = word(reference, offsets.clause);
            reference = word(reference, offsets::NEXT_CLAUSE);
            Some(clause + offsets.codes)
        }
    })
}
