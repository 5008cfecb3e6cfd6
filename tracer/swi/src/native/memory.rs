//! Memory for stubs near the engine's labels, and the table by which the engine decodes cells,
//! made larger so that it covers stubs.
//!
//! The engine's collector, decompiler and indexer read threaded code as `decode_table[cell -
//! lowest label]`. A stub is a foreign address there. But the engine finds the table through a
//! pointer: [`StubMemory::new`] puts a larger table in its place, in which a stub has the number
//! of the instruction that it stands for. Then every reader sees that instruction.
//!
//! Stubs are written through one mapping and executed through another, so that no page is both. A
//! child of `fork` shares the pages with its parent: it makes no stubs of its own.

use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use dynasmrt::cache_control;

use super::image::Image;
use super::instructions::{Instructions, Op};
use super::words::CodeWord;

/// Room for stubs: about half a million. Pages are taken when they are written.
const STUB_BYTES: usize = 64 << 20;

/// How far from the engine's code stubs may lie: a relative jump reaches 2 GiB, and 128 MiB on
/// 64-bit ARM.
const REACH: usize = if cfg!(target_arch = "aarch64") {
    (128 - 64 - 16) << 20
} else {
    1 << 30
};

/// Steps in which a free place is searched.
const STEP: usize = 1 << 20;

/// Stubs begin at multiples of that.
const ALIGNMENT: usize = 16;

/// Where stubs are made.
#[derive(Debug)]
pub(crate) struct StubMemory {
    /// Where they are executed.
    execute: usize,
    /// Where they are written.
    write: *mut u8,
    used: usize,
    /// The process that made this.
    process: u32,
    decode: DecodeTable,
}

// SAFETY: the mappings belong to this value, which is behind a lock.
unsafe impl Send for StubMemory {}

/// The table that the engine decodes with while stubs exist.
#[derive(Debug)]
struct DecodeTable {
    ours: *mut Op,
    /// The label that entry 0 is of.
    lowest: CodeWord,
}

/// What cells are, for those that have no planter.
static CELLS: OnceLock<MappedCells> = OnceLock::new();

/// The table has entries for addresses up to here.
static STUBS_END: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug)]
struct MappedCells {
    labels: Range<CodeWord>,
    /// Where the first stub is.
    stubs: CodeWord,
    /// Address of the table of [`DecodeTable`].
    table: usize,
}

/// The instruction at a cell, a label or a stub. `None` if it is neither.
pub(crate) fn op_of(cell: CodeWord) -> Option<Op> {
    let cells = CELLS.get()?;
    let stubs = cells.stubs..STUBS_END.load(Ordering::Acquire);
    if !cells.labels.contains(&cell) && !stubs.contains(&cell) {
        return None;
    }
    let entry = (cells.table + (cell - cells.labels.start)) as *const Op;
    // SAFETY: the table covers both ranges, and stays.
    let op = unsafe { entry.read() };
    // Between labels there are zeros, as there are for instruction 0.
    (op != 0).then_some(op)
}

impl StubMemory {
    /// Maps the memory and exchanges the engine's table. `None` if memory cannot be had there, or
    /// must not be executed.
    pub(crate) fn new(image: &Image, instructions: &Instructions) -> Option<Self> {
        let execute = reserve_near(image.whole.end)?;
        let Some(write) = map_twice(execute) else {
            // SAFETY: nothing uses the place that was reserved.
            unsafe { libc::munmap(execute as *mut c_void, STUB_BYTES) };
            return None;
        };
        // Once in a process, before it is asked for.
        #[cfg(not(target_arch = "x86_64"))]
        barrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE);
        let decode = DecodeTable::install(instructions, execute + STUB_BYTES)?;
        CELLS.get_or_init(|| MappedCells {
            labels: instructions.range.clone(),
            stubs: execute,
            table: decode.ours as usize,
        });
        Some(Self {
            execute,
            write,
            used: 0,
            process: std::process::id(),
            decode,
        })
    }

    /// Where the next stub will be executed. `None` if there is no room for one of `length`
    /// bytes, or in a child of `fork`.
    pub(crate) fn next(&self, length: usize) -> Option<usize> {
        let fits = self.used + length <= STUB_BYTES && self.process == std::process::id();
        fits.then_some(self.execute + self.used)
    }

    /// Adds a stub, which stands for the instruction `op`, at [`StubMemory::next`]. The answer is
    /// the cell that leads to it.
    pub(crate) fn add(&mut self, code: &[u8], op: Op) -> CodeWord {
        let cell = self.execute + self.used;
        self.add_code(code);
        // SAFETY: the table covers the memory for stubs.
        unsafe { self.decode.ours.add(cell - self.decode.lowest).write(op) };
        STUBS_END.store(self.execute + self.used, Ordering::Release);
        cell
    }

    /// Adds machine code that is no stub. The answer is where it is executed.
    pub(crate) fn add_code(&mut self, code: &[u8]) -> usize {
        let at = self.used;
        // SAFETY: there is room, as `next` has said, and nothing executes these bytes yet.
        unsafe { ptr::copy_nonoverlapping(code.as_ptr(), self.write.add(at), code.len()) };
        self.can_be_executed(at, code.len());
        self.used = (at + code.len()).next_multiple_of(ALIGNMENT);
        // SAFETY: the table covers the memory for stubs.
        unsafe {
            let entries = self.decode.ours.add(self.execute + at - self.decode.lowest);
            entries.write_bytes(0, self.used - at);
        }
        self.execute + at
    }

    /// What was written at `at` is what all processors execute from now on.
    fn can_be_executed(&self, at: usize, length: usize) {
        // SAFETY: bytes that were just written, in both places.
        let (written, executed) = unsafe {
            (
                std::slice::from_raw_parts(self.write.add(at), length),
                std::slice::from_raw_parts((self.execute + at) as *const u8, length),
            )
        };
        cache_control::synchronize_icache(written);
        cache_control::synchronize_icache(executed);
        #[cfg(not(target_arch = "x86_64"))]
        fetch_anew();
    }

    /// Whether a cell leads to a stub.
    pub(crate) fn contains(&self, cell: CodeWord) -> bool {
        (self.execute..self.execute + self.used).contains(&cell)
    }

    /// The instruction at a cell, a label or a stub. `None` if it is neither.
    pub(crate) fn op(&self, instructions: &Instructions, cell: CodeWord) -> Option<Op> {
        if !instructions.range.contains(&cell) && !self.contains(cell) {
            return None;
        }
        // SAFETY: the table covers both ranges.
        let op = unsafe { self.decode.ours.add(cell - self.decode.lowest).read() };
        // Between labels there are zeros, as there are for instruction 0.
        (op != 0).then_some(op)
    }
}

impl DecodeTable {
    /// Makes a table that ends at `end`, and puts it in the place of the engine's. Entries of
    /// stubs come later.
    fn install(instructions: &Instructions, end: usize) -> Option<Self> {
        let lowest = instructions.range.start;
        // From the engine's allocator, because it may free the table when it ends. Not with
        // zeros, because that takes all pages in some: tens of milliseconds.
        // SAFETY: a plain call.
        let ours = unsafe { libc::malloc((end - lowest) * size_of::<Op>()) }.cast::<Op>();
        if ours.is_null() {
            return None;
        }
        let place = instructions.decode_table;
        // The engine's table stays: another thread may be reading it.
        // SAFETY: ours is larger than the part for the engine's labels.
        unsafe {
            ours.write_bytes(0, instructions.range.len());
            for op in instructions.ops() {
                ours.add(instructions.get(op).label - lowest).write(op);
            }
        }
        // SAFETY: the engine's pointer, aligned. Other threads read the old table or ours, which
        // agree about all that there is.
        unsafe { AtomicPtr::from_ptr(place) }.store(ours, Ordering::Release);
        Some(Self { ours, lowest })
    }
}

/// All threads fetch instructions anew that they have fetched already. Where the system cannot do
/// that, nothing is lost but a rule of the processor's manual: no thread has fetched from a new
/// stub.
#[cfg(not(target_arch = "x86_64"))]
fn fetch_anew() {
    cache_control::prepare_for_execution(&[]);
    barrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
}

#[cfg(not(target_arch = "x86_64"))]
fn barrier(command: libc::c_int) {
    // SAFETY: a system call without memory.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
}

/// Reserves the first free place behind `after`.
fn reserve_near(after: usize) -> Option<usize> {
    let first = after.next_multiple_of(1 << 16);
    let flags =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    (first..first + REACH).step_by(STEP).find(|&at| {
        // SAFETY: only a place where nothing is mapped is taken.
        let mapped =
            unsafe { libc::mmap(at as *mut c_void, STUB_BYTES, libc::PROT_NONE, flags, -1, 0) };
        if mapped == libc::MAP_FAILED {
            return false;
        }
        if mapped as usize != at {
            // SAFETY: an old kernel took the address for a wish.
            unsafe { libc::munmap(mapped, STUB_BYTES) };
        }
        mapped as usize == at
    })
}

/// Maps new memory to be executed at `execute`, which is reserved, and to be written anywhere.
fn map_twice(execute: usize) -> Option<*mut u8> {
    map_again(execute).or_else(|| map_file(execute))
}

/// No file is behind the memory: the size of those may be limited.
fn map_again(execute: usize) -> Option<*mut u8> {
    let write = map_writable(libc::MAP_ANONYMOUS, -1)?;
    let place = execute as *mut c_void;
    let moves = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: an old size of 0 maps shared memory once more, in the place that was reserved;
    // nothing is there yet.
    let both = unsafe {
        libc::mremap(write, 0, STUB_BYTES, moves, place) == place
            && libc::mprotect(place, STUB_BYTES, EXECUTABLE) == 0
    };
    written_if(both, write)
}

/// Emulators of a processor do not map memory again, but files.
fn map_file(execute: usize) -> Option<*mut u8> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a place for the answer.
    let fits = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0
        && limit.rlim_cur >= STUB_BYTES as libc::rlim_t;
    if !fits {
        return None;
    }
    // SAFETY: a new file without a name, or -1.
    let file = unsafe { libc::memfd_create(c"portmortem".as_ptr(), libc::MFD_CLOEXEC) };
    // SAFETY: the file, or nothing if the number is none.
    let sized = unsafe { libc::ftruncate(file, STUB_BYTES as libc::off_t) } == 0;
    let write = map_writable(0, file).filter(|_| sized);
    let flags = libc::MAP_SHARED | libc::MAP_FIXED;
    let place = execute as *mut c_void;
    // SAFETY: the place is reserved, and nothing is there yet. Mappings outlive the descriptor.
    let mapped = unsafe { libc::mmap(place, STUB_BYTES, EXECUTABLE, flags, file, 0) } == place;
    if file >= 0 {
        // SAFETY: the file that was made here.
        unsafe { libc::close(file) };
    }
    written_if(mapped, write?)
}

const EXECUTABLE: libc::c_int = libc::PROT_READ | libc::PROT_EXEC;

/// Shared memory to be written, anywhere.
fn map_writable(flags: libc::c_int, file: libc::c_int) -> Option<*mut c_void> {
    let flags = flags | libc::MAP_SHARED | libc::MAP_NORESERVE;
    let writable = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping anywhere.
    let write = unsafe { libc::mmap(ptr::null_mut(), STUB_BYTES, writable, flags, file, 0) };
    (write != libc::MAP_FAILED).then_some(write)
}

/// The memory at `write`, if it can be executed elsewhere.
fn written_if(executable: bool, write: *mut c_void) -> Option<*mut u8> {
    if !executable {
        // SAFETY: nothing uses it.
        unsafe { libc::munmap(write, STUB_BYTES) };
    }
    executable.then_some(write.cast())
}
