//! The replay of a part of a trace.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portmortem_fuzzing::Target;

fuzz_target!(|input: &[u8]| Target::Scope.check(input));
