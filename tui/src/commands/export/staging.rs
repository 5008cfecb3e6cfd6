//! Files that are complete or absent.
//!
//! They are written in a hidden directory inside the target, so on the same file system, and get their
//! places when all are whole. Whatever ends an export before that leaves the target as it was.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tempfile::TempDir;

/// A directory that files will be in.
pub(in crate::commands) struct Staging {
    /// Gone when this is, and before `made`.
    hidden: TempDir,
    made: MadeDirectories,
    files: Arc<Mutex<Vec<Staged>>>,
}

struct Staged {
    file: PathBuf,
    target: PathBuf,
}

impl Staging {
    /// Makes sure that there is a directory `to` that can be written to.
    pub(in crate::commands) fn new(to: &Path) -> Result<Self> {
        let made = MadeDirectories::new(to)
            .with_context(|| format!("cannot make the directory {}", to.display()))?;
        let hidden = tempfile::Builder::new()
            .prefix(".portmortem-")
            .tempdir_in(to)
            .with_context(|| format!("cannot write to {}", to.display()))?;
        let files = Arc::default();
        remove_when_interrupted(hidden.path(), &made, &files)?;
        Ok(Self {
            hidden,
            made,
            files,
        })
    }

    /// A file that will be `target` (a path below the directory) when it has been written.
    pub(in crate::commands) fn file(&self, target: PathBuf) -> io::Result<File> {
        refuse_link(&target)?;
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.hidden.path().join(files.len().to_string());
        let created = File::create_new(&file)?;
        files.push(Staged { file, target });
        Ok(created)
    }

    /// Gives all files their places, replacing older ones.
    pub(in crate::commands) fn publish(mut self) -> Result<()> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        for Staged { file, target } in files.drain(..) {
            let place = || -> io::Result<()> {
                if let Some(directory) = target.parent() {
                    fs::create_dir_all(directory)?;
                }
                refuse_link(&target)?;
                fs::rename(&file, &target)
            };
            place().with_context(|| format!("cannot write {}", target.display()))?;
        }
        drop(files);
        self.made.keep();
        Ok(())
    }
}

/// Somebody made the link to have the file elsewhere: it must not be replaced by a file.
fn refuse_link(target: &Path) -> io::Result<()> {
    if fs::symlink_metadata(target).is_ok_and(|there| there.is_symlink()) {
        let name = target.display();
        return Err(io::Error::other(format!(
            "{name} is a symbolic link; remove it, or name another place"
        )));
    }
    Ok(())
}

/// Directories that did not exist; removed again, those that are empty, unless they are to be kept.
#[derive(Clone)]
struct MadeDirectories {
    /// The innermost first.
    directories: Vec<PathBuf>,
}

impl MadeDirectories {
    fn new(path: &Path) -> io::Result<Self> {
        let missing = path.ancestors().take_while(|path| !path.exists());
        let directories = missing.map(Path::to_owned).collect();
        let made = Self { directories };
        fs::create_dir_all(path)?;
        Ok(made)
    }

    fn keep(&mut self) {
        self.directories.clear();
    }
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        for directory in &self.directories {
            let _ = fs::remove_dir(directory);
        }
    }
}

/// A signal that ends the program ends it as ever, but what was written goes first. No file is made
/// from then on: one that comes while the directory is removed would keep it.
fn remove_when_interrupted(
    hidden: &Path,
    made: &MadeDirectories,
    files: &Arc<Mutex<Vec<Staged>>>,
) -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let (hidden, made, files) = (hidden.to_owned(), made.clone(), Arc::clone(files));
    thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _no_more = files.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = fs::remove_dir_all(&hidden);
            drop(made);
            let _ = emulate_default_handler(signal);
        }
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn everything(directory: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut directories = vec![directory.to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path.clone());
                }
                found.push(path);
            }
        }
        found.sort();
        found
    }

    #[test]
    fn files_appear_when_all_are_there() {
        let root = tempfile::tempdir().unwrap();
        let to = root.path().join("new/tables");
        let staging = Staging::new(&to).unwrap();
        for name in ["a.csv", "b/trace=x/part-0.parquet"] {
            let mut file = staging.file(to.join(name)).unwrap();
            file.write_all(name.as_bytes()).unwrap();
        }
        assert!(!to.join("a.csv").exists());
        staging.publish().unwrap();
        let expected = ["a.csv", "b", "b/trace=x", "b/trace=x/part-0.parquet"];
        assert_eq!(everything(&to), expected.map(|name| to.join(name)));
        assert_eq!(fs::read(to.join("a.csv")).unwrap(), b"a.csv");
    }

    #[test]
    fn nothing_remains_of_what_failed() {
        let root = tempfile::tempdir().unwrap();
        let to = root.path().join("new/tables");
        drop(Staging::new(&to).unwrap());
        assert_eq!(everything(root.path()), [] as [PathBuf; 0]);
        let staging = Staging::new(root.path()).unwrap();
        staging.file(root.path().join("a.csv")).unwrap();
        drop(staging);
        assert_eq!(everything(root.path()), [] as [PathBuf; 0]);
        assert!(root.path().exists());
    }

    #[test]
    fn a_link_is_not_replaced() {
        let root = tempfile::tempdir().unwrap();
        let link = root.path().join("a.csv");
        let elsewhere = root.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        let staging = Staging::new(root.path()).unwrap();
        staging.file(link.clone()).unwrap_err();
        drop(staging);
        fs::remove_file(&link).unwrap();
        // Nor one that somebody makes meanwhile.
        let staging = Staging::new(root.path()).unwrap();
        staging.file(link.clone()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        staging.publish().unwrap_err();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(!elsewhere.exists());
    }

    #[test]
    fn a_target_that_is_no_directory() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        for to in [&file, &file.join("below")] {
            assert!(Staging::new(to).is_err());
        }
    }
}
