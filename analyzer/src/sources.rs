//! Where the source files are that a trace names, and what is in them.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use portmortem_tracer::format::ENGINE_HOME;

use crate::trace::names::printable;

/// Longest file that is looked into: a key must not take long.
const MAX_BYTES: u64 = 4 << 20;

/// How names of Prolog files end.
const PROLOG: &[&str] = &["pl", "pro", "prolog", "plt", "P", "yap", "lgt"];

/// The path of `file` on this machine. `directory` is what the trace calls the program's directory,
/// as seen from that of the trace. A trace that was moved without it may lie beside the program.
#[must_use]
pub fn locate(trace: &Path, directory: &str, file: &str) -> PathBuf {
    if let Some(own) = file.strip_prefix(ENGINE_HOME) {
        return engine_home().map_or_else(|| PathBuf::from(file), |home| home.join(own));
    }
    let beside = directory_of(trace);
    let path = beside.join(directory).join(file);
    let moved = beside.join(file);
    if !path.exists() && moved.exists() {
        moved
    } else {
        path
    }
}

fn directory_of(trace: &Path) -> PathBuf {
    let trace = fs::canonicalize(trace).unwrap_or_else(|_| trace.to_owned());
    trace.parent().unwrap_or(Path::new(".")).to_owned()
}

/// Whether a file that a trace names belongs to its program, so that its text may be shown: it is
/// below the directory of the trace, the current one or that of the engine, or it is a Prolog file
/// below the program's directory. What is not there has no text.
///
/// A trace may come from anywhere, and says itself where its program was. So its word alone shows
/// no other file.
#[must_use]
pub fn is_of_program(trace: &Path, directory: &str, path: &Path) -> bool {
    let Ok(path) = fs::canonicalize(path) else {
        return true;
    };
    let is_below = |directory: PathBuf| {
        // All files are below the root.
        let directory = fs::canonicalize(directory).ok();
        directory
            .is_some_and(|directory| directory.parent().is_some() && path.starts_with(directory))
    };
    let beside = directory_of(trace);
    let is_prolog = path
        .extension()
        .is_some_and(|extension| PROLOG.iter().any(|known| extension == *known));
    is_below(beside.join(directory)) && is_prolog
        || is_below(beside)
        || env::current_dir().is_ok_and(is_below)
        || engine_home().is_some_and(is_below)
}

/// Where SWI-Prolog is installed: as it is told itself, or around the program that a shell would
/// find.
fn engine_home() -> Option<PathBuf> {
    if let Some(home) = env::var_os("SWI_HOME_DIR") {
        return Some(home.into());
    }
    let path = env::var_os("PATH")?;
    let program = env::split_paths(&path)
        .find_map(|directory| fs::canonicalize(directory.join("swipl")).ok())?;
    let home = program
        .ancestors()
        .find(|directory| directory.join("boot.prc").is_file())?;
    Some(home.to_owned())
}

/// Lines of a source file from the one with the number `first` (from 1) on, at most so many: number
/// and text, escaped.
///
/// # Errors
/// If it cannot be read, is no file, or is longer than 4 MiB.
pub fn lines(path: &Path, first: u32, most: usize) -> io::Result<Vec<(u32, String)>> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    if meta.len() > MAX_BYTES {
        return Err(io::Error::other("it is longer than 4 MiB"));
    }
    (1..)
        .zip(BufReader::new(File::open(path)?.take(MAX_BYTES)).split(b'\n'))
        .skip(first.saturating_sub(1) as usize)
        .take(most)
        .map(|(number, text)| {
            let text = text?;
            let text = String::from_utf8_lossy(&text).replace('\t', "        ");
            Ok((number, printable(text.trim_end_matches('\r'))))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_escaped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.pl");
        fs::write(&path, b"a.\r\n\tb:-\x1b[2J.\n\nc(\xff).").unwrap();
        let all = lines(&path, 1, usize::MAX).unwrap();
        let numbers: Vec<u32> = all.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1, 2, 3, 4]);
        assert_eq!((all[0].1.as_str(), all[2].1.as_str()), ("a.", ""));
        assert!(all[1].1.starts_with("        b:-") && !all[1].1.contains('\x1b'));
        assert_eq!(lines(&path, 2, 2).unwrap(), all[1..3]);
        assert_eq!(lines(&path, 9, 2).unwrap(), []);
        for wrong in [directory.path(), &directory.path().join("b.pl")] {
            assert!(lines(wrong, 1, 1).is_err());
        }
    }

    #[test]
    fn other_files_are_not_of_the_program() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        for directory in ["out", "src/lib", "other"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        for file in [
            "out/note",
            "src/a.pl",
            "src/lib/b.plt",
            "src/key",
            "other/c.pl",
        ] {
            fs::write(root.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(root.join("other/c.pl"), root.join("src/c.pl")).unwrap();
        let trace = root.join("out/run.pmt");
        fs::write(&trace, "").unwrap();
        let is_of =
            |directory, file| is_of_program(&trace, directory, &locate(&trace, directory, file));
        for own in [
            "a.pl",
            "lib/b.plt",
            "lib/../a.pl",
            "../out/note",
            "absent",
            "engine:boot.prc",
        ] {
            assert!(is_of("../src", own), "{own}");
        }
        for other in [
            "key",
            "c.pl",
            "../other/c.pl",
            "/etc/passwd",
            "engine:../../../etc/passwd",
        ] {
            assert!(!is_of("../src", other), "{other}");
        }
        // The trace says that its program was there.
        assert!(!is_of("/", "etc/passwd") && !is_of("/etc", "passwd"));
        assert!(!is_of("/", root.join("src/a.pl").to_str().unwrap()));
    }

    #[test]
    fn sources_move_with_their_traces() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        for directory in ["here/src", "here/out", "there"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        for file in [
            "here/src/a.pl",
            "here/out/run.pmt",
            "there/run.pmt",
            "there/a.pl",
        ] {
            fs::write(root.join(file), "").unwrap();
        }
        let found = |trace: &str, directory: &str, file: &str| {
            locate(&root.join(trace), directory, file)
                .canonicalize()
                .ok()
        };
        let (source, copy) = (root.join("here/src/a.pl"), root.join("there/a.pl"));
        assert_eq!(
            found("here/out/run.pmt", "../src", "a.pl").as_ref(),
            Some(&source)
        );
        // Its program is not where it was.
        assert_eq!(
            found("there/run.pmt", "../src", "a.pl").as_ref(),
            Some(&copy)
        );
        assert_eq!(found("there/run.pmt", "../src", "b.pl"), None);
        // As traces of format 3 and before name them.
        let absolute = source.to_str().unwrap();
        assert_eq!(
            found("there/run.pmt", "/", absolute).as_ref(),
            Some(&source)
        );
        let old = root.join("here/src");
        assert_eq!(
            found("there/run.pmt", old.to_str().unwrap(), "a.pl").as_ref(),
            Some(&source)
        );
        let link = root.join("latest.pmt");
        std::os::unix::fs::symlink(root.join("here/out/run.pmt"), link).unwrap();
        assert_eq!(
            found("latest.pmt", "../src", "a.pl").as_ref(),
            Some(&source)
        );
    }
}
