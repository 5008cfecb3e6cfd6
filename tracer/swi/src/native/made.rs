//! Bodies that `call/1` makes: the same ones are made again and again, so the stubs are
//! remembered that one got.
//!
//! What they are follows from the body's outline: its instructions, what its goals call, and what
//! the active box was given. Names of variables and constants are of no account.

use rustc_hash::FxHashMap;

use super::place::RecordedGoal;
use super::words::CodeWord;

/// More bodies are not remembered at once.
const MOST: usize = 1 << 12;

/// What a body is after stubs were put there.
#[derive(Debug)]
pub(crate) struct Body {
    /// The numbers of cells, and what stands there.
    pub(crate) cells: Box<[(usize, CodeWord)]>,
    /// The goal that the body begins with: nothing comes before it.
    pub(crate) first: Option<RecordedGoal>,
}

#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) bodies: FxHashMap<Box<[usize]>, Body>,
    /// The outline that is looked for.
    pub(crate) outline: Vec<usize>,
}

impl Made {
    /// Remembers the body that has the outline which is looked for.
    pub(crate) fn keep(&mut self, body: Body) {
        if self.bodies.len() >= MOST {
            self.bodies.clear();
        }
        self.bodies.insert(self.outline.as_slice().into(), body);
    }
}
