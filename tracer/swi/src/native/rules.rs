//! The rules by which predicates are recorded, as Prolog has said them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::identity::Identity;
use super::internal::Internal;
use super::plan::Always;
use crate::ffi;

/// What Prolog says once, when a recording begins.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    /// Classes of modules, as atoms, whose predicates are recorded by default.
    pub(crate) scope: Vec<ffi::Atom>,
    /// Classes of modules whose predicates are called from recorded clauses with boxes of their
    /// own. Empty if there is no boundary.
    pub(crate) boundary: Vec<ffi::Atom>,
    /// Names and arities of predicates that get no such box; any arity if there is none.
    pub(crate) no_box: FxHashSet<(ffi::Atom, Option<usize>)>,
    /// Built-in predicates that always succeed, or always fail.
    pub(crate) always: FxHashMap<Identity, Always>,
    /// Modules of this library.
    pub(crate) own: FxHashSet<ffi::Atom>,
    /// Modules of predicates that the engine looks for when they are called and not there, by
    /// name and arity: those of `system`, and those that it loads libraries for.
    pub(crate) elsewhere: FxHashMap<(ffi::Atom, usize), ffi::Atom>,
    /// Predicates that no program has written.
    pub(crate) internal: Internal,
    /// Predicates that are never recorded.
    pub(crate) left_out: FxHashSet<Identity>,
    /// The predicate that the engine calls where another one is not there.
    pub(crate) search: Option<Identity>,
    /// The predicate by which that loads a library, if one has what is not there.
    pub(crate) loader: Option<Identity>,
    /// Predicates that the engine calls to fill a table.
    pub(crate) fills: FxHashSet<Identity>,
    /// The predicate by which the engine completes tables.
    pub(crate) completes: Option<Identity>,
    /// The predicate that runs goals in cost centres.
    pub(crate) center: Option<Identity>,
    /// Each test of plunit runs in a cost centre of its own.
    pub(crate) tests: bool,
    /// Predicates that the program does not want to have recorded.
    pub(crate) not_wanted: FxHashSet<Identity>,
    /// Cost centres that all boxes of a predicate are in.
    pub(crate) centers: FxHashMap<Identity, String>,
    /// If there are any, nothing else is recorded but the boundary, and the code of all others is
    /// left as it is: these are trials.
    pub(crate) trials: FxHashSet<Identity>,
}

impl Rules {
    /// Whether they are of [trials](Self::trials).
    pub(crate) fn is_of_trials(&self) -> bool {
        !self.trials.is_empty()
    }

    /// Whether calls of the predicate from recorded clauses get no box although their module's do.
    pub(super) fn has_no_box(&self, name: ffi::Atom, arity: usize) -> bool {
        self.no_box.contains(&(name, Some(arity))) || self.no_box.contains(&(name, None))
    }
}
