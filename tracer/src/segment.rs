//! A part of the trace file in memory, and the disk space behind it.
//!
//! Space is reserved before it is mapped: storing into a mapped hole of a full disk kills the
//! process, and the process is the user's program. If another program shortens the file all the same, or the
//! file system takes back what it promised, stores go to pages of zeros, and the segment is marked
//! ([`crate::truncation`]).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use memmap2::{Advice, MmapOptions, MmapRaw};

use crate::truncation::{Access, Watch};

/// A mapped range of the trace file. Blocks keep it alive; the last one to go unmaps it.
#[derive(Debug)]
pub(crate) struct FileSegment {
    /// Over before the mapping is, so it comes first.
    watch: Watch,
    map: MmapRaw,
    offset: u64,
}

/// Room for one block.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) segment: Arc<FileSegment>,
    pub(crate) offset: u64,
    pub(crate) size: u32,
}

impl FileSegment {
    /// Maps a range whose space was reserved.
    ///
    /// Nothing of it is read ahead: the system would do that within the first store, which took
    /// 40 ms where it reads 8 MiB. A signal that is not handled meanwhile may go to another thread.
    pub(crate) fn map(file: &File, offset: u64, length: u64) -> io::Result<Self> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let map = MmapOptions::new()
            .offset(offset)
            .len(length)
            .map_raw(file)?;
        // A system that knows no advice only takes longer.
        let _ = map.advise(Advice::Random);
        let watch = Watch::new(map.as_ptr(), map.len(), Access::Write)?;
        Ok(Self { watch, map, offset })
    }

    /// Whether what was stored is in the file, as far as is known.
    pub(crate) fn is_whole(&self) -> bool {
        !self.watch.is_marked()
    }

    /// Where the byte at `offset` of the file lies in memory.
    ///
    /// # Panics
    /// If it is not in the segment: the caller has mixed up its own numbers.
    pub(crate) fn at(&self, offset: u64, length: usize) -> *mut u8 {
        let start = offset.checked_sub(self.offset);
        let end = start.and_then(|start| start.checked_add(length as u64));
        let (Some(start), true) = (start, end.is_some_and(|end| end <= self.map.len() as u64))
        else {
            panic!("a block outside its segment");
        };
        // SAFETY: the range is in bounds of the mapping, which is no longer than an address can be.
        unsafe { self.map.as_mut_ptr().add(start as usize) }
    }
}

/// Makes sure that the file has disk space from `from` on for `length` bytes.
///
/// # Errors
/// `ENOSPC`, `EDQUOT` or `EFBIG` if it cannot have; part of the range may have been added to it.
pub(crate) fn reserve(file: &File, from: u64, length: u64) -> io::Result<()> {
    check_size_limit(from + length)?;
    match allocate(file, from, length) {
        Err(error) if unsupported(&error) => write_zeros(file, from, length),
        done => done,
    }
}

fn unsupported(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL)
    )
}

#[cfg(target_os = "linux")]
fn allocate(file: &File, from: u64, length: u64) -> io::Result<()> {
    let too_big = |_| io::Error::from_raw_os_error(libc::EFBIG);
    let from = i64::try_from(from).map_err(too_big)?;
    let length = i64::try_from(length).map_err(too_big)?;
    loop {
        // SAFETY: a system call on a descriptor that `file` keeps open.
        if unsafe { libc::fallocate64(file.as_raw_fd(), 0, from, length) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn allocate(_: &File, _: u64, _: u64) -> io::Result<()> {
    Err(io::Error::from_raw_os_error(libc::ENOSYS))
}

/// The slow way, where the file system knows no other: what has been written has space.
fn write_zeros(file: &File, from: u64, length: u64) -> io::Result<()> {
    let zeros = [0; 16 << 10];
    let mut at = from;
    while at < from + length {
        let part = zeros.len().min((from + length - at) as usize);
        file.write_all_at(&zeros[..part], at)?;
        at += part as u64;
    }
    Ok(())
}

/// Growing a file beyond `RLIMIT_FSIZE` sends a signal that ends the program, so it is not tried.
pub(crate) fn check_size_limit(end: u64) -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place for the answer.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0;
    if known && limit.rlim_cur != libc::RLIM_INFINITY && end > limit.rlim_cur {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_reserve_where_nothing_else_does() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(b"kept", 0).unwrap();
        write_zeros(&file, 4096, 100_000).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 104_096);
        let segment = FileSegment::map(&file, 4096, 100_000).unwrap();
        // SAFETY: in bounds, and nothing else has the file.
        unsafe { *segment.at(104_095, 1) = 7 };
        let mut last = [0];
        file.read_exact_at(&mut last, 104_095).unwrap();
        assert_eq!(last, [7]);
    }

    /// Also where the sum of both would be a small number.
    #[test]
    fn nothing_outside_is_handed_out() {
        let file = tempfile::tempfile().unwrap();
        write_zeros(&file, 0, 8192).unwrap();
        let segment = FileSegment::map(&file, 4096, 4096).unwrap();
        segment.at(4096, 4096);
        segment.at(8192, 0);
        for (offset, length) in [
            (4096, 4097),
            (8192, 1),
            (0, 1),
            (4095, 2),
            (u64::MAX, 1),
            (4096 + 10, usize::MAX),
        ] {
            let outside = std::panic::catch_unwind(|| segment.at(offset, length));
            assert!(outside.is_err(), "{length} at {offset}");
        }
    }

    #[test]
    fn absurd_sizes_are_refused() {
        let file = tempfile::tempfile().unwrap();
        assert!(reserve(&file, 0, u64::MAX / 4).is_err());
    }
}
