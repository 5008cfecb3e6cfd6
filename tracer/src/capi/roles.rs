//! Roles of predicates, for C. [`Role`] says more of each.

use crate::format::{Role, Roles};

/// A role, for `pm_predicate_with_roles`: boxes of the predicate are garbage collections between
/// two ports, a call and an exit as far apart as that took.
pub const PM_COLLECTION: u32 = 1;
/// Boxes of the predicate are moves of the engine's stacks, in the same way.
pub const PM_STACK_SHIFT: u32 = 2;
/// Boxes of the predicate are time between two ports in which the thread had no processor.
pub const PM_WAITING: u32 = 4;
/// Boxes of the predicate are the part of that in which the thread could have run.
pub const PM_PREEMPTED: u32 = 8;
/// Boxes of the predicate are the loading of a library on demand.
pub const PM_LOADING: u32 = 16;
/// Boxes of the predicate are work of the recorder, and none of the program.
pub const PM_SET_UP: u32 = 32;
/// Boxes of the predicate say that its caller begins to fill a table. They take no time.
pub const PM_TABLE_FILLING: u32 = 64;
/// The predicate asks a goal for all solutions, and keeps what it needs of each.
pub const PM_COLLECTOR: u32 = 128;
/// The predicate may wait for a mutex.
pub const PM_WAITS_FOR_MUTEX: u32 = 256;
/// The predicate may wait for another thread: for a message, for its end.
pub const PM_WAITS_FOR_THREAD: u32 = 512;
/// The predicate may wait for input.
pub const PM_WAITS_FOR_INPUT: u32 = 1024;
/// The predicate waits until some time has passed.
pub const PM_WAITS_FOR_TIME: u32 = 2048;
/// The predicate is a part of the engine itself: neither of the program nor of a library.
pub const PM_BUILT_IN: u32 = 4096;
/// The predicate hands to the system what was written so far.
pub const PM_FLUSHES: u32 = 8192;
/// The predicate writes to a stream.
pub const PM_WRITES: u32 = 16384;
/// The predicate reads a whole file.
pub const PM_READS_FILE: u32 = 32768;
/// The predicate makes a term of a text.
pub const PM_READS_TEXT: u32 = 65536;
/// The predicate sorts a whole list.
pub const PM_SORTS: u32 = 131072;
/// The predicate goes over a whole list.
pub const PM_WALKS: u32 = 262144;
/// The predicate sorts a list, and calls a goal for each comparison.
pub const PM_SORTS_BY_GOAL: u32 = 524288;

const _: () = {
    assert!(PM_COLLECTION == Roles::of(&[Role::Collection]).bits());
    assert!(PM_STACK_SHIFT == Roles::of(&[Role::StackShift]).bits());
    assert!(PM_WAITING == Roles::of(&[Role::Waiting]).bits());
    assert!(PM_PREEMPTED == Roles::of(&[Role::Preempted]).bits());
    assert!(PM_LOADING == Roles::of(&[Role::Loading]).bits());
    assert!(PM_SET_UP == Roles::of(&[Role::SetUp]).bits());
    assert!(PM_TABLE_FILLING == Roles::of(&[Role::TableFilling]).bits());
    assert!(PM_COLLECTOR == Roles::of(&[Role::Collector]).bits());
    assert!(PM_WAITS_FOR_MUTEX == Roles::of(&[Role::WaitsForMutex]).bits());
    assert!(PM_WAITS_FOR_THREAD == Roles::of(&[Role::WaitsForThread]).bits());
    assert!(PM_WAITS_FOR_INPUT == Roles::of(&[Role::WaitsForInput]).bits());
    assert!(PM_WAITS_FOR_TIME == Roles::of(&[Role::WaitsForTime]).bits());
    assert!(PM_BUILT_IN == Roles::of(&[Role::BuiltIn]).bits());
    assert!(PM_FLUSHES == Roles::of(&[Role::Flushes]).bits());
    assert!(PM_WRITES == Roles::of(&[Role::Writes]).bits());
    assert!(PM_READS_FILE == Roles::of(&[Role::ReadsFile]).bits());
    assert!(PM_READS_TEXT == Roles::of(&[Role::ReadsText]).bits());
    assert!(PM_SORTS == Roles::of(&[Role::Sorts]).bits());
    assert!(PM_WALKS == Roles::of(&[Role::Walks]).bits());
    assert!(PM_SORTS_BY_GOAL == Roles::of(&[Role::SortsByGoal]).bits());
};
