//! Everything that is shown of a trace whose contents were changed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portmortem_fuzzing::Target;

fuzz_target!(|input: &[u8]| Target::Records.check(input));
