//! The program under test: `target/PROFILE/portmortem`, beside the other files that it needs.
//!
//! The tests do not build it (they would wait for each other), they only make sure that it is the
//! one that the sources describe. `PORTMORTEM_TEST_PROGRAM` names another one, for example one that
//! is installed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

const OVERRIDE: &str = "PORTMORTEM_TEST_PROGRAM";
const LIBRARY: &str = "libportmortem_swi.so";
const READER: &str = "libportmortem_prolog.so";
const BUILD: &str =
    "cargo build --package portmortem --package portmortem-swi --package portmortem-prolog";

/// The built `portmortem`.
///
/// # Panics
/// If it is not there, or older than a source file that it was made from.
#[must_use]
pub fn portmortem() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(path) = env::var_os(OVERRIDE) {
            return PathBuf::from(path).canonicalize().unwrap();
        }
        let directory = profile_directory();
        for name in ["portmortem", LIBRARY, READER] {
            let file = directory.join(name);
            assert!(file.is_file(), "{} is missing: {BUILD}", file.display());
            refuse_stale(&file);
        }
        directory.join("portmortem")
    })
}

/// The engine library that belongs to it.
///
/// # Panics
/// As [`portmortem`], or if it is not there.
#[must_use]
pub fn engine_library() -> PathBuf {
    let program = portmortem();
    let beside = program.with_file_name(LIBRARY);
    let installed = program.with_file_name("../lib/portmortem").join(LIBRARY);
    [beside, installed]
        .into_iter()
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("no {LIBRARY} beside the program or in ../lib/portmortem"))
}

/// Where the recordings of this process keep what they measured of this machine: not each of them
/// measures it, and no test depends on what ran before it. With nextest a test is a process.
///
/// # Panics
/// If what an earlier process of the same number has left cannot be removed.
#[must_use]
pub fn cache() -> &'static Path {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    CACHE.get_or_init(|| {
        let all = profile_directory().join("test-cache");
        for left in fs::read_dir(&all).into_iter().flatten().flatten() {
            let process = Path::new("/proc").join(left.file_name());
            if !process.exists() {
                // Another test may be removing it, too.
                let _ = fs::remove_dir_all(left.path());
            }
        }
        let own = all.join(std::process::id().to_string());
        assert!(!own.exists() || fs::remove_dir_all(&own).is_ok());
        own
    })
}

/// Where Cargo puts what it builds in the profile of this test: `target/PROFILE/deps/TEST-HASH` is
/// us.
fn profile_directory() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().to_owned()
}

/// A test of yesterday's program proves nothing. Cargo lists beside what it builds the sources it
/// was made from.
fn refuse_stale(file: &Path) {
    let Ok(listed) = fs::read_to_string(file.with_extension("d")) else {
        return;
    };
    let built = modified(file).unwrap();
    let sources = listed.split_once(": ").map_or("", |(_, sources)| sources);
    for source in sources.split_whitespace().map(Path::new) {
        assert!(
            modified(source).is_none_or(|changed| changed <= built),
            "{} is newer than {}: {BUILD}",
            source.display(),
            file.display()
        );
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}
