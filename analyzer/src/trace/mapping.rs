//! The bytes of a trace file, mapped into memory.
//!
//! Invariant: nothing outside this module knows whether the bytes are mapped or owned.
//!
//! **Files that change underneath.** A mapping is a window on the file, not a copy. A recorder only
//! adds to a trace and never shortens it, so a trace that is still being written reads as the trace
//! it was a moment ago. If another program *shortens* the file while it is mapped, what is missing
//! reads as zeros ([`portmortem_tracer::truncation`]), and [`Mapping::is_truncated`] says so from
//! then on; one that overwrites bytes makes us see either version. Every value is checked after it
//! is read and used as read, so changed bytes mean wrong figures or reported damage, never an
//! access out of bounds.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;
use portmortem_tracer::truncation::{Access, Watch};

/// Read-only bytes of a whole file.
#[derive(Debug)]
pub struct Mapping {
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    Mapped(WatchedMap),
    Owned(Vec<u8>),
}

/// Invariant: the watch is over before the mapping is, so it comes first.
#[derive(Debug)]
struct WatchedMap {
    watch: Watch,
    bytes: Mmap,
    /// Kept to ask for its size.
    file: File,
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
        // SAFETY: the mapping is read-only and private to this type. What Rust cannot promise is
        // that no process writes to the file: a reference to its bytes is only ever read as plain
        // bytes, each value is checked as it was read, and no invariant of a type depends on
        // reading the same twice.
        let bytes = unsafe { Mmap::map(&file)? };
        Ok(Self {
            bytes: Bytes::Mapped(WatchedMap {
                watch: Watch::new(bytes.as_ptr(), bytes.len(), Access::Read)?,
                bytes,
                file,
            }),
        })
    }

    /// Whether the file is shorter than it was when it was mapped: then what was read since may be
    /// zeros.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        match &self.bytes {
            // The rest of the last page is zeros without a signal, so the size counts, too.
            Bytes::Mapped(WatchedMap { watch, bytes, file }) => {
                let size = file.metadata().map_or(u64::MAX, |now| now.len());
                watch.is_marked() || size < bytes.len() as u64
            }
            Bytes::Owned(_) => false,
        }
    }

    /// A range will be asked for soon: many of them are read from the disk at the same time, not
    /// one after the other.
    pub(crate) fn prepare(&self, offset: u64, length: u64) {
        if let Bytes::Mapped(WatchedMap { bytes, .. }) = &self.bytes
            && let Some((offset, length)) = inside(bytes, offset, length)
        {
            // Advice may be declined.
            let _ = bytes.advise_range(memmap2::Advice::WillNeed, offset, length);
        }
    }

    /// The pages of a range need not stay in memory: they are read again if they are asked for.
    /// What is said of bytes behind the end of the file does not matter.
    pub(crate) fn let_go(&self, offset: u64, length: u64) {
        if let Bytes::Mapped(WatchedMap { bytes, .. }) = &self.bytes
            && let Some((offset, length)) = inside(bytes, offset, length)
        {
            // SAFETY: the range is inside the mapping, and so are the whole pages that the system
            // makes of it. The mapping is of a file and read-only, so its bytes are the same
            // afterwards; where a missing page was replaced by zeros, it is zeros again. This is
            // advice: the result does not matter.
            let _ = unsafe {
                bytes.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, offset, length)
            };
        }
    }
}

/// The part of a range that is inside a mapping, if there is any: block headers may claim what a
/// cut file lacks.
fn inside(bytes: &[u8], offset: u64, length: u64) -> Option<(usize, usize)> {
    let size = bytes.len() as u64;
    let end = offset.saturating_add(length).min(size);
    (offset < end).then(|| (offset as usize, (end - offset) as usize))
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
            Bytes::Mapped(WatchedMap { bytes, .. }) => bytes,
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

    /// What lies behind the mapping belongs to others, who would find zeros there.
    #[test]
    fn a_range_beyond_the_end_is_cut() {
        let bytes = [0; 100];
        assert_eq!(inside(&bytes, 0, 100), Some((0, 100)));
        assert_eq!(inside(&bytes, 90, 11), Some((90, 10)));
        assert_eq!(inside(&bytes, 99, u64::MAX), Some((99, 1)));
        assert_eq!(inside(&bytes, 100, 1), None);
        assert_eq!(inside(&bytes, u64::MAX, u64::MAX), None);
        assert_eq!(inside(&bytes, 7, 0), None);
    }

    #[test]
    fn what_was_let_go_is_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("some");
        let whole: Vec<u8> = (0..20_000_u32).map(|at| (at % 251) as u8).collect();
        std::fs::write(&path, &whole).unwrap();
        let mapping = Mapping::open(&path).unwrap();
        for (offset, length) in [(0, u64::MAX), (5000, 9000), (19_999, 1 << 40)] {
            mapping.let_go(offset, length);
            mapping.prepare(offset, length);
            assert!(*mapping == *whole);
        }
        assert!(!mapping.is_truncated());
    }

    #[test]
    fn a_file_that_is_cut_while_it_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("some");
        for left in [0, 1, 4096, 10_000, 3 * 4096 - 1] {
            std::fs::write(&path, vec![7; 3 * 4096]).unwrap();
            let mapping = Mapping::open(&path).unwrap();
            let other = Mapping::open(&path).unwrap();
            assert!(!mapping.is_truncated());
            File::options()
                .write(true)
                .open(&path)
                .unwrap()
                .set_len(left)
                .unwrap();
            assert!(mapping.is_truncated());
            // Without a handler this ends the process.
            assert!(mapping[..left as usize].iter().all(|&byte| byte == 7));
            assert!(mapping[left as usize..].iter().all(|&byte| byte == 0));
            // Even if it grows again: what was read was not there.
            std::fs::write(&path, vec![7; 3 * 4096]).unwrap();
            let lost_a_page = left.next_multiple_of(4096) < 3 * 4096;
            assert_eq!(mapping.is_truncated(), lost_a_page);
            assert!(!other.is_truncated());
        }
    }
}
