//! A trace as relations of SWI-Prolog: the foreign half of `library(portmortem/trace)`.
//!
//! Everything here is deterministic. What has many solutions is handed out in lists (tables) or in
//! pages (events), and `trace.pl` enumerates them. Figures and events are those of the analyser, so
//! they are the same as in reports.

mod answer;
mod error;
mod events;
mod ffi;
mod handle;
mod opened;
mod tables;
mod terms;

use std::ffi::{CStr, c_int, c_void};

use answer::answer;
use ffi::{Foreign, PL_register_foreign_in_module, Term};

/// The module of `trace.pl`.
const MODULE: &CStr = c"portmortem_trace";

/// Registers functions as predicates. The engine calls them with as many terms as they have
/// arguments.
macro_rules! predicates {
    ($( $name:literal $arity:literal $function:path: $( $argument:ident )*; )*) => {
        $({
            extern "C" fn called($( $argument: Term ),*) -> Foreign {
                answer(|| $function([$( $argument ),*]))
            }
            let function: extern "C" fn($( predicates!(@term $argument) ),*) -> Foreign = called;
            register($name, $arity, function as *const c_void);
        })*
    };
    (@term $argument:ident) => { Term };
}

fn register(name: &CStr, arity: c_int, function: *const c_void) {
    // SAFETY: texts that end with a zero, and a function with as many arguments.
    unsafe {
        PL_register_foreign_in_module(MODULE.as_ptr(), name.as_ptr(), arity, function, 0);
    }
}

/// Called by the engine when it loads the library: defines the predicates that `trace.pl` uses.
#[unsafe(no_mangle)]
pub extern "C" fn install() {
    predicates! {
        c"open_trace" 3 tables::open_trace: a b c;
        c"close_trace" 1 tables::close_trace: a;
        c"is_open" 1 tables::is_open: a;
        c"stream_ids" 2 tables::stream_ids: a b;
        c"table_names" 1 tables::table_names: a;
        c"table_rows" 3 tables::table_rows: a b c;
        c"info" 3 tables::info: a b c;
        c"page" 9 events::page: a b c d e f g h i;
        c"box_history" 4 events::box_history: a b c d;
        c"event_stack" 4 events::event_stack: a b c d;
        c"event_cause" 4 events::event_cause: a b c d;
    }
}
