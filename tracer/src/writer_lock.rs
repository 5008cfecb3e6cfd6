//! The lock that a recording holds on its file, so that no other recording replaces the file meanwhile.
//!
//! It is an advisory lock of the system, `flock(2)`: readers do not ask for it, and the kernel releases it when the
//! process ends, however that happens. The lock belongs to an open file description, which the child of a fork
//! shares and may keep for long after its parent has ended. So the lock has a description of its own, which is
//! never mapped: the child closes its copy at once ([`WriterLock::leave_to_parent`]), and the end of the recording
//! releases the lock for every copy.

use std::fs::{File, Metadata, TryLockError};
use std::os::fd::{FromRawFd, IntoRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

/// Whether a recording writes the file at `path`, as far as that can be found out.
#[must_use]
pub fn is_being_recorded(path: &Path) -> bool {
    WriterLock::try_on(path).is_err()
}

/// Another recording holds the lock.
#[derive(Debug)]
pub(crate) struct InUse;

/// The lock of a recording, or nothing where the file system has no locks.
#[derive(Debug)]
pub(crate) struct WriterLock {
    /// Its file descriptor, which it owns; [`NONE`] if it has no lock.
    descriptor: AtomicI32,
    /// Device and inode of the locked file.
    file: Option<(u64, u64)>,
}

const NONE: RawFd = -1;

impl WriterLock {
    /// Locks the file at `path`, unless another recording has. Where that cannot be found out, there is no lock.
    pub(crate) fn try_on(path: &Path) -> Result<Self, InUse> {
        // A file that may only be read can be locked on most file systems.
        let both = File::options().read(true).write(true).open(path);
        let opened = both.or_else(|_| File::open(path));
        let locked = opened.map(|file| (file.try_lock(), file));
        match locked {
            Ok((Err(TryLockError::WouldBlock), _)) => Err(InUse),
            Ok((Ok(()), file)) => Ok(Self {
                file: file.metadata().ok().as_ref().map(identity),
                descriptor: AtomicI32::new(file.into_raw_fd()),
            }),
            Ok((Err(TryLockError::Error(_)), _)) | Err(_) => Ok(Self {
                file: None,
                descriptor: AtomicI32::new(NONE),
            }),
        }
    }

    /// Whether what it has locked is this file; true if it has locked nothing.
    pub(crate) fn is_of(&self, file: &Metadata) -> bool {
        self.file.is_none_or(|locked| locked == identity(file))
    }

    /// Another recording may begin. Calls after the first do nothing.
    pub(crate) fn release(&self) {
        if let Some(file) = self.take() {
            // Also for a child that was forked at this moment and has a copy.
            let _ = file.unlock();
        }
    }

    /// In the child of a fork: the lock is the parent's alone. Signal-safe.
    pub(crate) fn leave_to_parent(&self) {
        drop(self.take());
    }

    fn take(&self) -> Option<File> {
        let descriptor = self.descriptor.swap(NONE, Ordering::AcqRel);
        // SAFETY: the descriptor came from a file, and is taken only once.
        (descriptor != NONE).then(|| unsafe { File::from_raw_fd(descriptor) })
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        self.release();
    }
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

#[cfg(test)]
mod tests {
    use std::os::fd::BorrowedFd;

    use super::*;

    /// As the child of a fork has it: of the same open file description.
    fn copy(lock: &WriterLock) -> File {
        let descriptor = lock.descriptor.load(Ordering::Relaxed);
        // SAFETY: the lock has it open.
        let ours = unsafe { BorrowedFd::borrow_raw(descriptor) };
        File::from(ours.try_clone_to_owned().unwrap())
    }

    #[test]
    fn copies_neither_keep_nor_release_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lock = WriterLock::try_on(file.path()).unwrap();
        assert!(lock.is_of(&file.as_file().metadata().unwrap()));
        WriterLock::try_on(file.path()).unwrap_err();
        let child = WriterLock {
            descriptor: AtomicI32::new(copy(&lock).into_raw_fd()),
            file: lock.file,
        };
        child.leave_to_parent();
        drop(child);
        WriterLock::try_on(file.path()).unwrap_err();
        let kept = copy(&lock);
        lock.release();
        WriterLock::try_on(file.path()).unwrap();
        drop(kept);
    }

    #[test]
    fn what_cannot_be_locked_is_no_hindrance() {
        let directory = tempfile::tempdir().unwrap();
        let lock = WriterLock::try_on(&directory.path().join("none")).unwrap();
        assert!(lock.is_of(&directory.path().metadata().unwrap()));
        lock.release();
    }
}
