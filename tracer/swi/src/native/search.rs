//! Where the engine's data have a sum: it is the only place at which it was found every time.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::image::Image;
use super::words::{WORD, word};

/// So many bytes of the engine's data are searched; it is shorter in every version.
const LARGEST: usize = 1 << 15;

/// So many different sums must have been found at an offset.
const ENOUGH: usize = 3;

/// The search for one sum.
pub(super) struct SumSearch {
    /// Offsets at which every sum was found. `None` before the first.
    offsets: Option<Vec<usize>>,
    last: u64,
    different: usize,
}

impl SumSearch {
    pub(super) const fn new() -> Self {
        Self {
            offsets: None,
            last: 0,
            different: 0,
        }
    }

    /// Keeps the offsets at which a sum of these bits is found among these words of the engine's
    /// data. While it is 0, that says nothing.
    pub(super) fn look(&mut self, words: &[u64], sum: u64) {
        if sum == self.last {
            return;
        }
        self.last = sum;
        self.different += 1;
        let is_there = |&offset: &usize| words.get(offset / WORD) == Some(&sum);
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

    /// The only offset at which it was found each time.
    pub(super) fn end(&self) -> Option<usize> {
        match self.all()? {
            &[only] => Some(only),
            _ => None,
        }
    }

    /// All offsets at which it was found each time.
    pub(super) fn all(&self) -> Option<&[usize]> {
        let found = self.offsets.as_deref()?;
        (self.different >= ENOUGH && !found.is_empty()).then_some(found)
    }
}

/// A copy of an engine's data. That of the main thread lies in the engine's library. Of others it
/// is not known where they end: what lies behind is no place at which a sum is found every time.
pub(super) fn data_of(image: &Image, engine: usize) -> Option<Vec<u64>> {
    let Some(data) = image.data.iter().find(|data| data.contains(&engine)) else {
        return data_on_heap(engine);
    };
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

/// The system reads it, up to where nothing is mapped.
fn data_on_heap(engine: usize) -> Option<Vec<u64>> {
    let mut bytes = vec![0; LARGEST];
    let memory = File::open("/proc/self/mem").ok()?;
    let length = memory.read_at(&mut bytes, engine as u64).ok()?;
    let words = bytes[..length].chunks_exact(WORD);
    Some(
        words
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()))
            .collect(),
    )
}
