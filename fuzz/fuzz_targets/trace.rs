//! Any bytes given as a trace are analysed or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portmortem_fuzzing::Target;

fuzz_target!(|input: &[u8]| Target::Trace.check(input));
