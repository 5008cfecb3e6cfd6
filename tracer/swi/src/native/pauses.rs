//! Where the engine counts the processor time of stack shifts and garbage collections: found by
//! looking.
//!
//! The engine adds up both in its data, as a `double` each. Prolog tells the sums
//! (`statistics/2`), so `portmortem_stubs.pl` makes the engine collect and shift, and calls
//! [`look`] each time. An offset is known if it is the only one at which the sum was found every
//! time.

use std::sync::{Mutex, OnceLock};

use portmortem_tracer::locks;

use super::image::{self, Image};
use super::offsets;
use super::words::{WORD, word};
use crate::collections::{self, KINDS};
use crate::ffi::Foreign;

/// So many bytes of the engine's data are searched; it is shorter in every version.
const LARGEST: usize = 1 << 15;

/// So many different sums must have been found at an offset.
const ENOUGH: usize = 3;

/// Offsets of the sums in the engine's data, in the order of [`collections::ask`].
static FOUND: OnceLock<[usize; KINDS]> = OnceLock::new();

static SEARCH: Mutex<[Search; KINDS]> = Mutex::new([const { Search::new() }; KINDS]);

/// The search for one sum.
struct Search {
    /// Offsets at which every sum was found. `None` before the first.
    offsets: Option<Vec<usize>>,
    last: f64,
    different: usize,
}

impl Search {
    const fn new() -> Self {
        Self {
            offsets: None,
            last: 0.0,
            different: 0,
        }
    }

    /// Keeps the offsets at which `sum` is found among these words of the engine's data. While it
    /// is 0, that says nothing.
    fn look(&mut self, words: &[u64], sum: f64) {
        if sum == self.last {
            return;
        }
        self.last = sum;
        self.different += 1;
        let is_there = |&offset: &usize| words.get(offset / WORD) == Some(&sum.to_bits());
        match &mut self.offsets {
            Some(known) => known.retain(is_there),
            new => {
                *new = Some(
                    (0..words.len() * WORD)
                        .step_by(WORD)
                        .filter(is_there)
                        .collect(),
                )
            }
        }
    }

    fn end(&self) -> Option<usize> {
        match self.offsets.as_deref() {
            Some(&[only]) if self.different >= ENOUGH => Some(only),
            _ => None,
        }
    }
}

/// `stub_look_for_pauses`: compares the sums with the engine's data. Succeeds once it is known
/// where they are.
pub(crate) fn look() -> Foreign {
    Foreign::from(FOUND.get().is_some() || try_look().is_some())
}

fn try_look() -> Option<()> {
    let engine = offsets::running_engine(offsets::known()?);
    let image = image::engine_image()?;
    let before = collections::ask()?;
    let words = data_of(&image, engine)?;
    // What was asked for may have been collected while it was told.
    if collections::ask()? != before {
        return None;
    }
    let mut search = locks::lock(&SEARCH);
    for (search, sum) in search.iter_mut().zip(before) {
        search.look(&words, sum);
    }
    let [shifts, collections] = &*search;
    let found = [shifts.end()?, collections.end()?];
    FOUND.get_or_init(|| found);
    Some(())
}

/// A copy of an engine's data. `None` unless it is that of the main thread, which lies in the
/// engine's library: of others it is not known where they end.
fn data_of(image: &Image, engine: usize) -> Option<Vec<u64>> {
    let data = image.data.iter().find(|data| data.contains(&engine))?;
    let end = data.end.min(engine + LARGEST);
    // SAFETY: within the data of the library.
    let read = |at| unsafe { word(at, 0) as u64 };
    Some(
        (engine..end - (end - engine) % WORD)
            .step_by(WORD)
            .map(read)
            .collect(),
    )
}

/// How many seconds the running engine has shifted and collected so far. `None` if that cannot be
/// read.
#[inline]
pub(crate) fn seconds() -> Option<[f64; KINDS]> {
    let engine = offsets::running_engine(offsets::known()?);
    let found = FOUND.get()?;
    // SAFETY: words of the engine's data.
    let read = |offset| f64::from_bits(unsafe { word(engine, offset) } as u64);
    Some(found.map(read))
}
