//! The bytes of a trace file, mapped into memory.
//!
//! Invariant: nothing outside this module knows whether the bytes are mapped or owned.
//!
//! **Files that change underneath.** A mapping is a window on the file, not a copy. A recorder only
//! adds to a trace and never shortens it, so a trace that is still being written reads as the trace
//! it was a moment ago. Another program that *shortens* the file while it is mapped makes the next
//! access to a missing page end this process with SIGBUS; one that overwrites bytes makes us see
//! either version. No reader of mapped files can rule this out (ripgrep says the same of its own).
//! Every value is checked after it is read and used as read, so changed bytes mean wrong figures or
//! reported damage, never an access out of bounds.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

/// Read-only bytes of a whole file.
#[derive(Debug)]
pub struct Mapping {
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

/// Why a file cannot be mapped.
#[derive(Debug, thiserror::Error)]
pub enum MappingError {
    /// The path names a directory.
    #[error("it is a directory; give the path of a trace file")]
    Directory,
    /// The path names a pipe, a device or a socket.
    #[error("it is not a regular file; copy the trace to a file first")]
    NotAFile,
    /// The file has no bytes.
    #[error("the file is empty")]
    Empty,
    /// The system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Mapping {
    /// Maps the file at `path`.
    ///
    /// # Errors
    /// [`MappingError`] if there is no regular file with at least one byte, or it cannot be read.
    pub fn open(path: &Path) -> Result<Self, MappingError> {
        // Looked at before opening: opening a pipe would wait for its other end.
        let kind = std::fs::metadata(path)?;
        if kind.is_dir() {
            return Err(MappingError::Directory);
        }
        if !kind.is_file() {
            return Err(MappingError::NotAFile);
        }
        let file = File::open(path)?;
        // Mapping nothing is an error with a puzzling message, so it gets one of its own.
        if file.metadata()?.len() == 0 {
            return Err(MappingError::Empty);
        }
        // SAFETY: the mapping is read-only and private to this type, and its bytes are used as
        // plain data of which nothing is assumed. That another program may change the file
        // underneath is the remaining risk of every mapped file; the module says what it means.
        let bytes = unsafe { Mmap::map(&file)? };
        Ok(Self {
            bytes: Bytes::Mapped(bytes),
        })
    }

    /// A range will be asked for soon: many of them are read from the disk at the same time, not one after the other.
    pub(crate) fn prepare(&self, offset: u64, length: u64) {
        if let Bytes::Mapped(bytes) = &self.bytes {
            // Advice may be declined.
            let _ = bytes.advise_range(memmap2::Advice::WillNeed, offset as usize, length as usize);
        }
    }

    /// The pages of a range need not stay in memory: they are read again if they are asked for.
    pub(crate) fn let_go(&self, offset: u64, length: u64) {
        if let Bytes::Mapped(bytes) = &self.bytes {
            let (offset, length) = (offset as usize, length as usize);
            // SAFETY: the mapping is of a file and read-only, so it has the same bytes afterwards. That
            // this is advice which may be declined is why the result does not matter.
            let _ = unsafe {
                bytes.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, offset, length)
            };
        }
    }
}

impl From<Vec<u8>> for Mapping {
    /// Bytes that are in memory already, for tests and traces that are not files.
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            bytes: Bytes::Owned(bytes),
        }
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(bytes) => bytes,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_not_a_file_with_bytes() {
        let directory = tempfile::tempdir().unwrap();
        assert!(matches!(
            Mapping::open(directory.path()),
            Err(MappingError::Directory)
        ));
        assert!(matches!(
            Mapping::open(Path::new("/dev/null")),
            Err(MappingError::NotAFile)
        ));
        let missing = Mapping::open(&directory.path().join("missing"));
        assert!(matches!(missing, Err(MappingError::Io(_))));
        let path = directory.path().join("empty");
        File::create(&path).unwrap();
        assert!(matches!(Mapping::open(&path), Err(MappingError::Empty)));
    }

    #[test]
    fn maps_the_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("some");
        std::fs::write(&path, b"some bytes").unwrap();
        assert_eq!(&*Mapping::open(&path).unwrap(), b"some bytes");
    }
}
