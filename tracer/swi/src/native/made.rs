//! Bodies that `call/1` makes: the same ones are made again and again, so the stubs are
//! remembered that one got.
//!
//! What they are follows from the body's outline: its instructions, what its goals call, and what
//! the active box was given. Names of variables and constants are of no account.

use rustc_hash::FxHashMap;

use super::words::Cell;

/// More bodies are not remembered at once.
pub(crate) const MOST: usize = 1 << 12;

/// What stands in the cells of a body after stubs were put there: the numbers of cells, and what
/// they have.
pub(crate) type Cells = Box<[(usize, Cell)]>;

#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) cells: FxHashMap<Box<[usize]>, Cells>,
    /// The outline that is looked for.
    pub(crate) outline: Vec<usize>,
}
