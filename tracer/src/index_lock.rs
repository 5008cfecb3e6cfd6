//! The lock of the process that makes the index of a trace, so that others wait for it and do not
//! make another one at the same time.
//!
//! It is a lock of the system on the bytes of the trace, of one open file description
//! (`F_OFD_SETLK`): the kernel releases it when the process ends, however that happens, and it
//! leaves no file. A recording's lock is of another kind (`flock(2)`), so neither waits for the
//! other.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Held while an index is made; nothing where the file cannot be locked.
#[derive(Debug)]
pub struct IndexLock {
    _file: Option<File>,
}

impl IndexLock {
    /// Locks the trace at `path`; `None` if another process makes its index. Whoever cannot write
    /// the file, or is on a file system without locks, is not kept from anything.
    #[must_use]
    pub fn try_on(path: &Path) -> Option<Self> {
        let Ok(file) = File::options().read(true).write(true).open(path) else {
            return Some(Self { _file: None });
        };
        match lock(&file) {
            Ok(()) => Some(Self { _file: Some(file) }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            Err(_) => Some(Self { _file: None }),
        }
    }
}

fn lock(file: &File) -> io::Result<()> {
    // All bytes there are, and all to come.
    let whole = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    // SAFETY: the descriptor is open, and the system reads the structure only.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const whole) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_makes_an_index() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.pmt");
        std::fs::write(&path, "a trace").unwrap();
        let held = IndexLock::try_on(&path).unwrap();
        assert!(IndexLock::try_on(&path).is_none());
        // Who reads it, or records into it, does not ask.
        drop(File::open(&path).unwrap());
        File::open(&path).unwrap().try_lock().unwrap();
        assert!(IndexLock::try_on(&path).is_none());
        drop(held);
        assert!(IndexLock::try_on(&path).is_some());
        assert!(IndexLock::try_on(&directory.path().join("none")).is_some());
    }
}
