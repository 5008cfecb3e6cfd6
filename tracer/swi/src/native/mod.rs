//! The engine from within: what stubs and their handlers know of its memory, and what is
//! remembered of its predicates and boxes. Nothing here records, or changes what the engine has.
//!
//! 1. [`image`] finds the engine's library in memory, [`instructions`] its tables of
//!    instructions, [`offsets`] where its structures have what, [`mod@pauses`], [`collected`] and
//!    [`inferences`] (by [`search`]) where the engine counts what it does, [`linkage`] where it
//!    has the addresses of functions, [`known`] what handlers compare with; [`words`] and
//!    [`terms`] read, and [`references`] are for the engine's functions;
//! 2. [`memory`] has room for stubs, and the table by which the engine reads cells;
//! 3. [`predicates`] tells what calls of a predicate are to a recording ([`mod@standing`]), by
//!    [`rules`], [`internal`] which ones no program has written, [`sites`], [`alignment`] and
//!    [`names`] which goal of which clause calls, [`plan`] and [`place`] what cells of code are,
//!    [`made`] what bodies of `call/1` were, [`clause_numbers`] which clause one is, [`tables`]
//!    what tables have that are complete, [`sharing`] what calls do with mutexes and queues;
//! 4. [`shadow`] tells from frames and choicepoints which boxes failed, exited, were cut or
//!    entered again; [`stack`] is where
//!    it keeps them, [`open_box`] what it keeps of one, [`held_values`] the arguments of some, and
//!    [`wrapped`] those of wrappers.

pub(crate) mod alignment;
pub(crate) mod clause_numbers;
pub(crate) mod collected;
pub(crate) mod held_values;
pub(crate) mod identity;
pub(crate) mod image;
pub(crate) mod inferences;
pub(crate) mod instructions;
pub(crate) mod internal;
pub(crate) mod known;
pub(crate) mod linkage;
pub(crate) mod made;
pub(crate) mod memory;
pub(crate) mod names;
pub(crate) mod offsets;
pub(crate) mod open_box;
pub(crate) mod pauses;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod predicates;
pub(crate) mod references;
pub(crate) mod rules;
mod search;
pub(crate) mod shadow;
pub(crate) mod shadows;
pub(crate) mod sharing;
pub(crate) mod sites;
pub(crate) mod stack;
pub(crate) mod standing;
pub(crate) mod tables;
pub(crate) mod terms;
pub(crate) mod words;
mod wrapped;

pub(crate) use pauses::seconds as pauses;
pub(crate) use predicates::ThreadMemory as Standings;
pub(crate) use shadow::Shadow;
pub(crate) use shadows::{retire_shadow_of, shadow_of};
