//! The screens alone, built in seconds: `cargo run -p portmortem-screens --example show -- TRACE`.

use std::path::PathBuf;

use portmortem_analyzer::trace::Trace;
use portmortem_screens::{ScreenOptions, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = PathBuf::from(std::env::args().nth(1).ok_or("which trace?")?);
    let options = ScreenOptions {
        mouse: true,
        ..ScreenOptions::default()
    };
    run(Trace::open(&path)?, &path, options)?;
    Ok(())
}
