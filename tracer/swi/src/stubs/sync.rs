//! Which mutex, message queue or thread a call is about: who waits for whom is told by that.

use portmortem_tracer::format::SyncCall;

use super::handlers::Visit;
use crate::describe;
use crate::engine::Engine;
use crate::native::predicates::is_there;
use crate::native::references::StackCells;
use crate::native::sharing::{self, Sharing, With};
use crate::native::standing::Standing;
use crate::recording;

/// So many names are remembered by an engine.
const MOST_NAMES: usize = 4096;

impl Visit {
    /// What a call does with something that threads share, if it is of one of the engine's
    /// predicates.
    pub(super) fn sharing(&self, definition: usize, standing: Standing) -> Option<Sharing> {
        match standing {
            Standing::Boundary(_) => {
                // SAFETY: a definition of the engine's.
                let is_there = unsafe { is_there(definition) };
                sharing::of(definition, is_there)
            }
            _ => None,
        }
    }

    /// The call that has just been recorded was made with the arguments that a frame begins with.
    #[cold]
    pub(super) fn note_sync(&mut self, sharing: Sharing, definition: usize, frame: usize) {
        if self.engine.quiet || self.shadow.is_silent() {
            return;
        }
        let name = match sharing.with {
            With::First => {
                let cells = StackCells {
                    count: 1,
                    ..self.arguments_in(definition, frame)
                };
                // SAFETY: the first argument of a frame, behind whose arguments nothing lies.
                let name = unsafe { self.view.with_references(cells, 0, sharing::name) };
                name.flatten()
            }
            With::Own => Some(describe::name_of_thread()),
            With::All => Some(String::new()),
        };
        if let Some(shared) = name.and_then(|name| self.engine.shared(name)) {
            let role = sharing.role;
            self.engine.stream.sync(SyncCall { role, shared });
        }
    }
}

impl Engine {
    /// The id in the trace of what is called so.
    fn shared(&mut self, name: String) -> Option<u32> {
        if let Some(&id) = self.shared_names.get(&name) {
            return Some(id);
        }
        let id = recording::with(|current| current.recorder.shared(&name))?;
        if self.shared_names.len() == MOST_NAMES {
            self.shared_names.clear();
        }
        self.shared_names.insert(name, id);
        Some(id)
    }
}
