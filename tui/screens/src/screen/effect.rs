//! What an action on a screen leads to, and what it can point at.

use std::path::PathBuf;

use portmortem_analyzer::trace::PredicateIndex;

/// What an action on a screen leads to, beyond the screen itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it is done.
    Done,
    /// The screen has no use for the action.
    Unused,
    /// Done: the user is at another place. Esc goes back to where they were
    /// ([`super::Navigable::spot`]).
    Step,
    /// The same, with something to show on the line at the bottom.
    StepSaying(String),
    /// Show this on the line at the bottom.
    Say(String),
    /// Go into a predicate.
    Open(PredicateIndex),
    /// Go to a place in a predicate.
    Place(Place),
    /// Show an event on the screen of events.
    Event(EventTarget),
    /// Put this on the clipboard.
    Copy(String),
    /// Open an editor.
    Edit(PathBuf, u32),
}

/// A place in a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Whose clause it is in.
    pub predicate: PredicateIndex,
    /// The line in its source.
    pub line: Option<u32>,
    /// What is called there.
    pub callee: Option<PredicateIndex>,
}

/// An event to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventTarget {
    /// The one of this number, or the next one if that was lost or is hidden.
    At {
        /// Its stream, by its place in the trace.
        stream: usize,
        /// Its number in the stream.
        number: u64,
    },
    /// The first one of a predicate.
    FirstOf(PredicateIndex),
    /// The next mark with the text of this id, or the first one if there is none.
    Mark(u32),
}
