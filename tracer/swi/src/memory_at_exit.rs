//! Memory for the end of a recording.
//!
//! A signal may end the process in the middle of `malloc()` or `free()`, which then must not be
//! called again. So the thread that ends the process takes memory from pages of its own, and frees
//! none any more.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use portmortem_tracer::last_moments::this_thread;

/// Addresses that are set aside, in bytes. Pages that are not used cost nothing. If there are not
/// so many, half as many will do, and so on.
const MOST: usize = 1 << 30;
const LEAST: usize = 1 << 20;

/// The thread that ends the process, or 0.
static ENDING: AtomicI32 = AtomicI32::new(0);
/// Where its pages begin and end, and what is free of them begins.
static FIRST: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);
static FREE: AtomicUsize = AtomicUsize::new(0);

/// The calling thread ends the process. Signal-safe. Without pages, it goes on as before.
pub(crate) fn begin() {
    if ENDING.load(Ordering::Relaxed) != 0 {
        return;
    }
    let mut size = MOST;
    while size >= LEAST {
        // SAFETY: new pages.
        let pages = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if pages != libc::MAP_FAILED {
            FIRST.store(pages as usize, Ordering::Relaxed);
            FREE.store(pages as usize, Ordering::Relaxed);
            END.store(pages as usize + size, Ordering::Release);
            ENDING.store(this_thread(), Ordering::Release);
            return;
        }
        size /= 2;
    }
}

fn is_ending() -> bool {
    match ENDING.load(Ordering::Acquire) {
        0 => false,
        thread => thread == this_thread(),
    }
}

/// Whether the memory is of those pages. It may be used, and be freed, by other threads.
fn is_in_pages(memory: *mut u8) -> bool {
    (memory as usize) < END.load(Ordering::Acquire)
        && memory as usize >= FIRST.load(Ordering::Relaxed)
}

/// Called by one thread only. Null if the pages are used up.
fn take(layout: Layout) -> *mut u8 {
    let first = FREE
        .load(Ordering::Relaxed)
        .next_multiple_of(layout.align());
    match first.checked_add(layout.size()) {
        Some(end) if end <= END.load(Ordering::Relaxed) => {
            FREE.store(end, Ordering::Relaxed);
            first as *mut u8
        }
        _ => ptr::null_mut(),
    }
}

/// The C library's memory, but for the end of the process.
struct LibraryMemory;

#[global_allocator]
static MEMORY: LibraryMemory = LibraryMemory;

// SAFETY: what is taken from the pages is aligned, of the wanted size, and taken once; all else is
// the system's.
unsafe impl GlobalAlloc for LibraryMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let own = if is_ending() {
            take(layout)
        } else {
            ptr::null_mut()
        };
        if own.is_null() {
            // SAFETY: the caller's promise.
            unsafe { System.alloc(layout) }
        } else {
            own
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if is_in_pages(memory) {
            // What is freed last was often taken last.
            let end = memory as usize + layout.size();
            if is_ending() && end == FREE.load(Ordering::Relaxed) {
                FREE.store(memory as usize, Ordering::Relaxed);
            }
        } else if !is_ending() {
            // SAFETY: the caller's promise, and it is the system's.
            unsafe { System.dealloc(memory, layout) }
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_ending() && !is_in_pages(memory) {
            // SAFETY: the caller's promise, and it is the system's.
            return unsafe { System.realloc(memory, layout, size) };
        }
        // SAFETY: the caller's promise: a layout with that size is one.
        unsafe {
            let wanted = Layout::from_size_align_unchecked(size, layout.align());
            let new = self.alloc(wanted);
            if !new.is_null() {
                ptr::copy_nonoverlapping(memory, new, layout.size().min(size));
                self.dealloc(memory, layout);
            }
            new
        }
    }
}
