//! Unit tests of modules that ask no engine. The library itself cannot be linked without one, so
//! Cargo runs none of its own (`test = false`).

#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    reason = "only the tests of these modules are of use here"
)]

#[path = "../src/ffi.rs"]
mod ffi;
#[path = "../src/goal_table.rs"]
mod goal_table;
#[path = "../src/kept.rs"]
mod kept;
#[path = "../src/lines.rs"]
mod lines;
#[path = "../src/values.rs"]
mod values;
#[path = "../src/waiting.rs"]
mod waiting;

/// Trials are kept for one build of the engine, which is found by this function.
#[unsafe(no_mangle)]
extern "C" fn PL_thread_self() -> i32 {
    1
}
