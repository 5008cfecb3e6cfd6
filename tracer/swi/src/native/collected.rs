//! How often the engine has collected garbage: where it counts that is found by looking, as for
//! [`pauses`](mod@super::pauses).
//!
//! A cell of the global stack that is older than an open box stays where it is until the next
//! collection, so a cell that refers to it is good as long as this count does not change.

use std::sync::{Mutex, OnceLock};

use portmortem_tracer::locks;

use super::image::Image;
use super::inferences::ask;
use super::offsets;
use super::search::{SumSearch, data_of};
use super::words::word;

/// Where the engine's data have the count: everywhere that it was found every time.
static FOUND: OnceLock<Vec<usize>> = OnceLock::new();

static SEARCH: Mutex<SumSearch> = Mutex::new(SumSearch::new());

/// Compares the count with the data of the main thread's engine.
pub(super) fn look(image: &Image, engine: usize) {
    if FOUND.get().is_some() {
        return;
    }
    if let (Some(count), Some(words)) = (ask(c"collections"), data_of(image, engine)) {
        let mut search = locks::lock(&SEARCH);
        search.look(&words, count);
        if let Some(found) = search.all() {
            FOUND.get_or_init(|| found.to_vec());
        }
    }
}

/// A number that is another one after each collection of the running engine. `None` if that cannot
/// be read.
pub(crate) fn count() -> Option<u64> {
    let engine = offsets::running_engine(offsets::known()?);
    let found = FOUND.get()?.iter();
    // SAFETY: words of the engine's data.
    let counts = found.map(|&offset| unsafe { word(engine, offset) } as u64);
    Some(counts.fold(0, u64::wrapping_add))
}
