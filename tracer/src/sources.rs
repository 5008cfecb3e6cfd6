//! Paths of source files that hold on another machine, too.
//!
//! A trace names a source file relative to the program's directory, and that directory relative to its own. So a directory with
//! programs and their traces can be moved or copied. A file elsewhere keeps its absolute path.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// The program's directory.
#[derive(Debug)]
pub(crate) struct Sources {
    /// As given, and without symbolic links: an engine may name files either way.
    directories: [PathBuf; 2],
}

impl Sources {
    pub(crate) fn below(directory: &str) -> Self {
        let given = PathBuf::from(directory);
        let real = fs::canonicalize(&given).unwrap_or_else(|_| given.clone());
        Self {
            directories: [given, real],
        }
    }

    /// How a trace names the file at `path`.
    pub(crate) fn name<'p>(&self, path: &'p str) -> &'p str {
        let below = |directory: &PathBuf| Path::new(path).strip_prefix(directory).ok();
        let mut names = self.directories.iter().filter_map(below);
        names.find_map(Path::to_str).unwrap_or(path)
    }

    /// How the trace at `path` names the directory: `.` or `../src`, or absolute if they have nothing but the root in common.
    pub(crate) fn seen_from(&self, path: &Path) -> PathBuf {
        let [given, real] = &self.directories;
        let home = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let seen = fs::canonicalize(home)
            .ok()
            .and_then(|home| relative(&home, real));
        seen.unwrap_or_else(|| given.clone())
    }
}

/// The way from one absolute directory to another, unless it leads through the root.
fn relative(from: &Path, to: &Path) -> Option<PathBuf> {
    let common = from.components().zip(to.components());
    let common = common.take_while(|(from, to)| from == to).count();
    // The root itself is the first component.
    if common < 2 {
        return None;
    }
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(common)).collect();
    let here = way.as_os_str().is_empty();
    Some(if here { PathBuf::from(".") } else { way })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_does_not_lead_through_the_root() {
        for (from, to, way) in [
            ("/a/b", "/a/b", Some(".")),
            ("/a", "/a/b/c", Some("b/c")),
            ("/a/b/c", "/a", Some("../..")),
            ("/a/out", "/a/src", Some("../src")),
            ("/a", "/b", None),
            ("/", "/b", None),
            ("/a", "/", None),
        ] {
            let found = relative(Path::new(from), Path::new(to));
            assert_eq!(found.as_deref(), way.map(Path::new), "{from} {to}");
        }
    }

    #[test]
    fn files_below_the_directory_are_relative() {
        let directory = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(directory.path()).unwrap();
        fs::create_dir(real.join("program")).unwrap();
        let link = real.join("link");
        std::os::unix::fs::symlink(real.join("program"), &link).unwrap();
        let sources = Sources::below(link.to_str().unwrap());
        let name = |path: PathBuf| sources.name(path.to_str().unwrap()).to_owned();
        assert_eq!(name(link.join("a.pl")), "a.pl");
        assert_eq!(name(real.join("program/b/c.pl")), "b/c.pl");
        let elsewhere = real.join("programs/a.pl");
        assert_eq!(name(elsewhere.clone()), elsewhere.to_str().unwrap());
        assert_eq!(sources.name("a.pl"), "a.pl");
        assert_eq!(
            sources.name("engine:library/lists.pl"),
            "engine:library/lists.pl"
        );
        assert_eq!(sources.seen_from(&real.join("a.pmt")), Path::new("program"));
        assert_eq!(sources.seen_from(&link.join("a.pmt")), Path::new("."));
    }
}
