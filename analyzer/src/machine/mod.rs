//! The box machine: what each event does to the active chain and the choice stack of a stream.
//!
//! [`Class`] says it of an event, `Stacks` do it. What else is known of boxes is kept by an
//! `Observer`, which is told what happens to them: figures by clause, times of calls, pictures.
//! The chunks of the [replay](mod@crate::replay) alone have stacks of their own, because a chunk
//! begins in a state that is not known yet.
//!
//! A box that is re-entered lies below whatever box is active then, so both stacks are plain.

mod class;
mod event_kind;
mod observer;
mod open_box;
pub(crate) mod pass;
mod seeded;
mod stacks;

pub(crate) use class::Passage;
pub use class::{Class, Note, WayOut};
pub use event_kind::EventKind;
pub(crate) use observer::{At, Observer};
pub use open_box::OpenBox;
pub(crate) use seeded::{Seeded, Since};
pub(crate) use stacks::{Pile, Stacks};
