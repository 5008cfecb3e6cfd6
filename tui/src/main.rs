//! `portmortem`: the command line of the profiler.

use std::process::ExitCode;

fn main() -> ExitCode {
    portmortem::main()
}
