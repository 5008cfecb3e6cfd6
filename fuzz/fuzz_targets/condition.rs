//! Conditions on events and on rows of tables.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portmortem_fuzzing::Target;

fuzz_target!(|input: &[u8]| Target::Condition.check(input));
