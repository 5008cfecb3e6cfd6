//! A mapped file that another program shortens, without the end of this process.
//!
//! An access to a page that the file no longer has raises SIGBUS. The handler here maps a page of zeros in its
//! place, so that the access goes on, and marks the mapping, so that whoever uses what was read can refuse it
//! ([`Watch::is_marked`]). systemd's journal does the same (`src/basic/sigbus.c`), for the same reason: there
//! is no other way to read a mapped file that others may shorten.
//!
//! The handler may interrupt any thread anywhere, so it takes no lock and allocates nothing. It looks at a list
//! of slots, which are atomics that live for ever; a slot whose mapping is gone serves another one. SIGBUS of
//! anything else goes to the handler that was there before.

use std::ffi::c_int;
use std::io;
use std::mem::MaybeUninit;
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A mapping that is watched, while this lives. It must not outlive the mapping.
#[derive(Debug)]
pub(super) struct Watch {
    slot: &'static Slot,
}

/// A range of addresses, and whether a page of it was missing.
#[derive(Debug)]
struct Slot {
    /// Odd while the slot is changed; else it is what it was if this is.
    version: AtomicU64,
    /// First address, and the one after the last; both 0 if the slot is free.
    start: AtomicUsize,
    end: AtomicUsize,
    marked: AtomicBool,
    next: Option<&'static Self>,
}

/// The newest slot. Slots are only ever added.
static SLOTS: AtomicPtr<Slot> = AtomicPtr::new(null_mut());

/// Held while slots are taken and given back. The handler does without.
static TAKING: Mutex<()> = Mutex::new(());

/// The action for SIGBUS before ours, once ours is there; or the error that prevented it.
static BEFORE: OnceLock<Result<libc::sigaction, i32>> = OnceLock::new();

impl Watch {
    /// Watches the pages of a mapping: `length` bytes from `start` on.
    ///
    /// # Errors
    /// If the system refuses a handler for SIGBUS.
    pub(super) fn new(start: *const u8, length: usize) -> io::Result<Self> {
        if let Err(code) = BEFORE.get_or_init(install) {
            return Err(io::Error::from_raw_os_error(*code));
        }
        let taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = slots()
            .find(|slot| slot.end.load(Ordering::SeqCst) == 0)
            .unwrap_or_else(Slot::add);
        let end = (start as usize + length).next_multiple_of(page_size());
        slot.marked.store(false, Ordering::SeqCst);
        slot.set(start as usize, end);
        drop(taking);
        Ok(Self { slot })
    }

    /// Whether a page of the mapping was missing when it was read: then some of what was read is zeros.
    pub(super) fn is_marked(&self) -> bool {
        self.slot.marked.load(Ordering::SeqCst)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
        self.slot.set(0, 0);
    }
}

impl Slot {
    /// A new slot, which only [`TAKING`] protects from being taken by another thread.
    fn add() -> &'static Self {
        let slot = Box::leak(Box::new(Self {
            version: AtomicU64::new(0),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            marked: AtomicBool::new(false),
            next: slots().next(),
        }));
        SLOTS.store(slot, Ordering::SeqCst);
        slot
    }

    /// Only one thread at a time does this.
    fn set(&self, start: usize, end: usize) {
        self.version.fetch_add(1, Ordering::SeqCst);
        self.start.store(start, Ordering::SeqCst);
        self.end.store(end, Ordering::SeqCst);
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether an address is in the range. One that is changed just now is another thread's business: the mapping
    /// that this thread reads stays watched while it does.
    fn contains(&self, address: usize) -> bool {
        let version = self.version.load(Ordering::SeqCst);
        let start = self.start.load(Ordering::SeqCst);
        let end = self.end.load(Ordering::SeqCst);
        let same = self.version.load(Ordering::SeqCst) == version;
        same && version.is_multiple_of(2) && (start..end).contains(&address)
    }
}

fn slots() -> impl Iterator<Item = &'static Slot> {
    // SAFETY: null, or a slot that was leaked by `Slot::add` and so lives for ever.
    let first: Option<&'static Slot> = unsafe { SLOTS.load(Ordering::SeqCst).as_ref() };
    std::iter::successors(first, |slot| slot.next)
}

fn page_size() -> usize {
    // SAFETY: asks the system for a number, and may be called in a signal handler.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

/// Makes [`on_sigbus`] the handler of SIGBUS; what was there before, or the number of an error.
fn install() -> Result<libc::sigaction, i32> {
    let mut before = MaybeUninit::uninit();
    // SAFETY: the action is one of plain data, for which zeros are valid, with a handler of the type that SA_SIGINFO
    // asks for. SA_ONSTACK: a thread without a stack of its own for signals uses the one it has. SA_NODEFER: a fault
    // inside the handler must end the process, not hang it.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_sigbus as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER | libc::SA_RESTART;
        libc::sigaction(libc::SIGBUS, &raw const action, before.as_mut_ptr())
    };
    match done {
        // SAFETY: the call succeeded, so it has stored the old action.
        0 => Ok(unsafe { before.assume_init() }),
        _ => Err(io::Error::last_os_error().raw_os_error().unwrap_or(0)),
    }
}

/// Puts zeros where a page of a watched mapping is missing.
///
/// Calls nothing but `sysconf`, `mmap` and `sigaction`, which take no locks, and keeps `errno` as it was.
extern "C" fn on_sigbus(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system hands a valid description of the signal to a handler with SA_SIGINFO, and SIGBUS that has a
    // code of BUS_ADRERR has an address. `errno` is a valid place of this thread.
    let (code, address, errno) = unsafe {
        let code = (*info).si_code;
        (code, (*info).si_addr() as usize, *libc::__errno_location())
    };
    let patched = code == libc::BUS_ADRERR && patch(address);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    if !patched {
        pass_on(signal, info, context);
    }
}

/// Replaces the missing page of a watched mapping; whether there is one at this address.
fn patch(address: usize) -> bool {
    let Some(slot) = slots().find(|slot| slot.contains(address)) else {
        return false;
    };
    // Before the page is there: whoever reads zeros from it finds the mark.
    slot.marked.store(true, Ordering::SeqCst);
    let size = page_size();
    let page = address / size * size;
    // SAFETY: the page belongs to a mapping of ours that is read-only and alive, for this thread is reading it: nothing
    // else lies at the address, and nothing of the page could be read before, so no reference sees it change.
    let mapped = unsafe {
        libc::mmap(
            page as *mut libc::c_void,
            size,
            libc::PROT_READ,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    mapped != libc::MAP_FAILED
}

/// Lets the action decide that was there before ours: that of the standard library, which tells of stack overflows.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // Another thread may be about to store it; then the default action is as good.
    let before = BEFORE.get().and_then(|before| before.as_ref().ok());
    let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
    let with_info = before.is_some_and(|before| before.sa_flags & libc::SA_SIGINFO != 0);
    match handler {
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: zeros are a valid action, the default one. The signal comes again as soon as the access is
            // tried again, and ends the process.
            unsafe {
                let default: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &raw const default, ptr::null_mut());
            }
        }
        handler if with_info => {
            // SAFETY: an action with SA_SIGINFO has a handler of this type.
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: an action without SA_SIGINFO that is neither SIG_DFL nor SIG_IGN has a handler of this type.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_serves_one_mapping_after_another() {
        // Addresses that no other test has: they are never read.
        let page = page_size();
        let at = |pages: usize| pages * page;
        let watch = |pages| Watch::new(at(pages) as *const u8, 1).unwrap();
        let (first, second) = (watch(1), watch(2));
        assert!(first.slot.contains(at(1)) && first.slot.contains(at(2) - 1));
        assert!(!first.slot.contains(at(2)) && !first.slot.contains(0));
        assert!(second.slot.contains(at(2)) && !ptr::eq(first.slot, second.slot));
        let slot = first.slot;
        slot.marked.store(true, Ordering::SeqCst);
        assert!(first.is_marked());
        drop(first);
        assert!(!slot.contains(at(1)));
        let watches: Vec<Watch> = (3..100).map(watch).collect();
        let again = watches.iter().find(|watch| ptr::eq(watch.slot, slot));
        // Other tests may have taken it meanwhile.
        assert!(again.is_none_or(|watch| !watch.is_marked()));
        drop(second);
    }
}
