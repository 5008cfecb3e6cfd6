//! Ports as machine code in the engine's own instructions.
//!
//! The engine's virtual machine is direct threaded: a cell of code is the address of a label in
//! the interpreter. A *stub* is a little machine code that notes what happens and goes on at the
//! label; its address in a cell makes that a port. The program's clauses are recorded where they
//! are, so that they are what they are to everything else.
//!
//! What is known of the engine is in [`crate::native`]. Data flows through the modules in this
//! order:
//!
//! 1. [`learning`] finds everything out before the first recording; [`emit`] and [`fast`] make
//!    machine code;
//! 2. [`beginning`] begins a recording by the rules that Prolog has said, [`noting`] hears of
//!    clauses that are loaded, [`declared`] what the program says of its predicates;
//! 3. [`survey`] says what the cells of a clause are, [`plant`] puts stubs there, [`adopting`]
//!    into predicates that are there already, [`exchange`] into code that the engine will make,
//!    and takes them out; [`labels`] has places where the engine would notice;
//! 4. [`handlers`] are what stubs call, where there is room ([`own_stack`]); they read the
//!    engine ([`view`]), open boxes where predicates begin ([`entering`], [`wrappers`],
//!    [`tables`]), and put in more stubs ([`planting`], [`making`]); [`rereading`] hides stubs
//!    where the engine compares clauses, which are [`held`] meanwhile; [`callbacks`] are what
//!    foreign code calls; [`clauses`], [`arguments`], [`meta_calls`] and [`sync`] are handlers of
//!    what is there only in some recordings, or at some goals;
//! 5. [`hidden_modules`] keeps the recorder's modules out of what enumerates all.

mod adopting;
mod arguments;
mod beginning;
mod callbacks;
mod clauses;
mod continuations;
mod declared;
#[allow(
    clippy::useless_conversion,
    reason = "the assembler converts numbers of registers"
)]
mod emit;
mod entering;
mod exchange;
#[allow(
    clippy::useless_conversion,
    reason = "the assembler converts numbers of registers"
)]
mod fast;
mod handlers;
mod held;
mod hidden_modules;
mod labels;
mod learning;
mod making;
mod meta_calls;
mod noting;
mod own_stack;
mod plant;
mod planting;
mod rereading;
mod survey;
mod sync;
mod tables;
mod values;
mod view;
mod wrappers;

pub(crate) use adopting::{adopt, observe, recovery};
pub(crate) use beginning::{begin, rule};
pub(crate) use declared::{in_center, leave_out, stubs_record};
pub(crate) use hidden_modules::hide as hide_modules;
pub(crate) use learning::{learn, sample, work};
pub(crate) use noting::{forget, keep_term, kept_term, note};
pub(crate) use rereading::{begin as reread, end as read};

/// The recording has ended: nothing of it holds any more.
pub(crate) fn end() {
    crate::native::predicates::end();
    exchange::withdraw();
}
