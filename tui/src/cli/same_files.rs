//! Files that are named twice on a command line.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf, absolute};

/// A file, by whatever path it is named.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum NamedFile {
    /// Its device and its number there.
    There(u64, u64),
    /// It is not there: the absolute path.
    Missing(PathBuf),
}

impl NamedFile {
    /// The one that a path leads to.
    fn of(path: &Path) -> Self {
        match path.metadata() {
            Ok(file) => Self::There(file.dev(), file.ino()),
            Err(_) => Self::Missing(absolute(path).unwrap_or_else(|_| path.to_owned())),
        }
    }
}

/// Why these paths are not as many traces as there are paths, if one is named twice.
pub(crate) fn named_twice(paths: &[PathBuf]) -> Option<String> {
    let mut known = HashMap::new();
    let twice = paths.iter().find_map(|path| {
        let first = known.insert(NamedFile::of(path), path)?;
        Some((first, path))
    });
    twice.map(|(first, second)| match first == second {
        true => format!("{} is named twice: it would count twice", first.display()),
        false => format!(
            "{} and {} are the same trace: it would count twice",
            first.display(),
            second.display()
        ),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_the_same_by_every_path() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        for name in ["a.pmt", "b.pmt"] {
            fs::write(at(name), "").unwrap();
        }
        symlink(at("a.pmt"), at("link.pmt")).unwrap();
        let twice = |names: &[&str]| {
            let paths: Vec<PathBuf> = names.iter().map(|name| at(name)).collect();
            named_twice(&paths)
        };
        for other in ["a.pmt", "./a.pmt", "sub/../a.pmt", "link.pmt"] {
            let said = twice(&["a.pmt", "b.pmt", other]).unwrap();
            assert!(said.ends_with(": it would count twice"), "{said}");
        }
        assert_eq!(twice(&["a.pmt", "b.pmt", "none.pmt"]), None);
        assert!(twice(&["none.pmt", "./none.pmt"]).is_some());
    }
}
