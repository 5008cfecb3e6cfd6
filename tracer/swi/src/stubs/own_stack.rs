//! Where handlers find room: a program may give its threads a stack of 16 KiB, of which the
//! engine leaves too little for putting stubs into code. There handlers get a stack of their own.

use std::sync::OnceLock;
use std::{mem, ptr};

use libc::c_void;

use super::emit::{HANDLER_STACK, OWN_STACK, thread_block};

/// A thread that has less gets a stack for handlers.
const ENOUGH: usize = 256 << 10;
/// Below that lies so much that may not be touched.
const GUARD: usize = 64 << 10;

/// Has the stacks that threads give back when they end. `None` if the system has no more keys.
static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();

/// Says in the block of the calling thread where handlers run.
pub(super) extern "C" fn ask() {
    let top = if has_enough() { None } else { map() };
    // SAFETY: the calling thread's own block.
    unsafe { (*thread_block()).stack = top.unwrap_or(OWN_STACK) };
}

/// Whether the calling thread's stack is large, as far as the system says.
fn has_enough() -> bool {
    // SAFETY: plain calls; the structure is read where the system has filled it in.
    unsafe {
        // The first thread has the stack of the process; asking how large it is would take longer.
        if libc::gettid() == libc::getpid() {
            return true;
        }
        let mut attributes: libc::pthread_attr_t = mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return true;
        }
        let mut size = 0;
        let said = libc::pthread_attr_getstacksize(&raw const attributes, &raw mut size);
        libc::pthread_attr_destroy(&raw mut attributes);
        said != 0 || size >= ENOUGH
    }
}

/// A new stack, which the thread gives back when it ends: where it begins. `None` if there is no
/// memory for it.
fn map() -> Option<usize> {
    let key = (*KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: a function of this library, which stays loaded.
        let made = unsafe { libc::pthread_key_create(&raw mut key, Some(give_back)) };
        (made == 0).then_some(key)
    }))?;
    // SAFETY: new memory, and its lowest part.
    unsafe {
        let lowest = libc::mmap(
            ptr::null_mut(),
            GUARD + HANDLER_STACK,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK,
            -1,
            0,
        );
        if lowest == libc::MAP_FAILED {
            return None;
        }
        libc::mprotect(lowest, GUARD, libc::PROT_NONE);
        if libc::pthread_setspecific(key, lowest) != 0 {
            libc::munmap(lowest, GUARD + HANDLER_STACK);
            return None;
        }
        Some(lowest as usize + GUARD + HANDLER_STACK)
    }
}

/// The calling thread ends. If it comes to a stub once more, it gets another stack.
extern "C" fn give_back(lowest: *mut c_void) {
    // SAFETY: the calling thread's own block and stack, on which no handler runs now.
    unsafe {
        (*thread_block()).stack = 0;
        libc::munmap(lowest, GUARD + HANDLER_STACK);
    }
}
