//! Where the engine counts the processor time of stack shifts and garbage collections: found by
//! looking.
//!
//! The engine adds up both in its data, as a `double` each. Prolog tells the sums
//! (`statistics/2`), so `portmortem_stubs.pl` makes the engine collect and shift, and calls
//! [`look`] each time. An offset is known if it is the only one at which the sum was found every
//! time.

use std::sync::{Mutex, OnceLock};

use portmortem_tracer::locks;

use super::search::{SumSearch, data_of};
use super::words::word;
use super::{collected, image, inferences, offsets};
use crate::collections::{self, KINDS};
use crate::ffi::Foreign;

/// Offsets of the sums in the engine's data, in the order of [`collections::ask`].
static FOUND: OnceLock<[usize; KINDS]> = OnceLock::new();

static SEARCH: Mutex<[SumSearch; KINDS]> = Mutex::new([const { SumSearch::new() }; KINDS]);

/// `stub_look_for_pauses`: compares the sums with the engine's data. Succeeds once it is known
/// where they are.
pub(crate) fn look() -> Foreign {
    Foreign::from(FOUND.get().is_some() || try_look().is_some())
}

fn try_look() -> Option<()> {
    let engine = offsets::running_engine(offsets::known()?);
    let image = image::engine_image()?;
    inferences::look(&image, engine);
    collected::look(&image, engine);
    let before = collections::ask()?;
    let words = data_of(&image, engine)?;
    // What was asked for may have been collected while it was told.
    if collections::ask()? != before {
        return None;
    }
    let mut search = locks::lock(&SEARCH);
    for (search, sum) in search.iter_mut().zip(before) {
        search.look(&words, sum.to_bits());
    }
    let [shifts, collections] = &*search;
    let found = [shifts.end()?, collections.end()?];
    FOUND.get_or_init(|| found);
    Some(())
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
