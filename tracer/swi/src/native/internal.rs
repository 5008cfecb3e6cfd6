//! Predicates that no program has written: their names begin with `$`, as those of the program
//! may.

use rustc_hash::FxHashSet;

use super::identity::{Identity, module_name};
use crate::ffi::Atom;
use crate::recording;
use crate::values::atom_text;

/// Wrappers of predicates.
const WRAPPER: &str = "$wrap$";

/// The name of the predicate that a wrapper is around, by the name of the wrapper.
pub(crate) fn wrapped_name(wrapper: &str) -> Option<&str> {
    wrapper.strip_prefix(WRAPPER)
}

/// What Prolog says of them, by name and arity.
#[derive(Debug, Default)]
pub(crate) struct Internal {
    /// What the engine and its libraries add to modules of programs.
    pub(crate) of_engine: FxHashSet<(Atom, usize)>,
    /// What module `system` has.
    pub(crate) of_system: FxHashSet<(Atom, usize)>,
    /// Predicates that the trace has a note on.
    told: FxHashSet<(Atom, usize)>,
}

impl Internal {
    /// Whether a predicate with this name, in a module of this class, is one of them.
    pub(crate) fn has(&self, name: Atom, text: &str, arity: usize, class: Atom) -> bool {
        text.starts_with('$')
            && (text.starts_with(WRAPPER)
                || self.of_engine.contains(&(name, arity))
                || atom_text(class) == "system")
    }

    /// A goal of the program calls a predicate without a box. If that is one of the system's own,
    /// the trace says so once.
    pub(crate) fn tell(&mut self, called: Identity) {
        let key = (called.name, called.arity);
        if self.of_system.contains(&key) && !self.told.contains(&key) {
            let text = atom_text(called.name);
            let module = module_name(called.module).map_or_else(String::new, atom_text);
            self.told.insert(key);
            let arity = called.arity;
            let note = format!(
                "not recorded: {module}:'{text}'/{arity} (one of the system's own; its time is part of that of its callers)"
            );
            recording::with(|current| current.recorder.note(&note));
        }
    }
}
