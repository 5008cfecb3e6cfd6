//! Writes the seeds of every fuzz target, a file each: `fuzzing-seeds DIRECTORY` makes `DIRECTORY/TARGET/…`.

use std::path::PathBuf;
use std::{env, fs, io};

use portmortem_fuzzing::Target;

fn main() -> io::Result<()> {
    let usage = || io::Error::other("usage: fuzzing-seeds DIRECTORY");
    let directory = PathBuf::from(env::args_os().nth(1).ok_or_else(usage)?);
    for target in Target::ALL {
        let folder = directory.join(target.name());
        fs::create_dir_all(&folder)?;
        for (at, seed) in target.seeds().iter().enumerate() {
            fs::write(folder.join(format!("seed-{at:03}")), seed)?;
        }
    }
    Ok(())
}
