//! Where the source files are that a trace names.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use portmortem_tracer::format::ENGINE_HOME;

/// The path of `file` on this machine. `directory` is what the trace calls the program's directory, as seen from that of the
/// trace. A trace that was moved without it may lie beside the program.
pub(crate) fn locate(trace: &Path, directory: &str, file: &str) -> PathBuf {
    if let Some(own) = file.strip_prefix(ENGINE_HOME) {
        return engine_home().map_or_else(|| PathBuf::from(file), |home| home.join(own));
    }
    let trace = fs::canonicalize(trace).unwrap_or_else(|_| trace.to_owned());
    let beside = trace.parent().unwrap_or(Path::new("."));
    let path = beside.join(directory).join(file);
    let moved = beside.join(file);
    if !path.exists() && moved.exists() {
        moved
    } else {
        path
    }
}

/// Where SWI-Prolog is installed: as it is told itself, or around the program that a shell would find.
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

#[cfg(test)]
mod tests {
    use super::*;

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
