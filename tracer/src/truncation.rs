//! A mapped file that another program shortens, without the end of this process.
//!
//! An access to a page that the file no longer has raises SIGBUS. The handler here maps a page of zeros in its
//! place, so that the access goes on, and marks the mapping ([`Watch::is_marked`]): a reader refuses what it has
//! read, and the recorder ends its recording. systemd's journal does the same (`src/basic/sigbus.c`), for the same
//! reason: there is no other way to use a mapped file that others may shorten.
//!
//! The handler may interrupt any thread anywhere, so it takes no lock and allocates nothing. It looks at a list
//! of slots, which are atomics that live for ever; a slot whose mapping is gone serves another one. SIGBUS of
//! anything else goes to the handler that was there before: in a traced program that of the engine. Taking a slot
//! needs no lock either, because a fork or a signal may come at any moment.

use std::ffi::c_int;
use std::io;
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// A mapping that is watched, while this lives. It must not outlive the mapping.
#[derive(Debug)]
pub struct Watch {
    slot: &'static WatchedRange,
}

/// How a watched mapping is used. The page that replaces a missing one is used likewise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It is only read.
    Read,
    /// It is written as well.
    Write,
}

/// A range of addresses, and whether a page of it was missing.
#[derive(Debug)]
struct WatchedRange {
    /// It belongs to a watch.
    taken: AtomicBool,
    /// Odd while the slot is changed; else it is what it was if this is.
    version: AtomicU64,
    /// First address, and the one after the last; both 0 if the slot is free.
    start: AtomicUsize,
    end: AtomicUsize,
    /// What may be done with its pages, as `mmap` has it.
    protection: AtomicI32,
    marked: AtomicBool,
    next: Option<&'static Self>,
}

/// The newest slot. Slots are only ever added.
static SLOTS: AtomicPtr<WatchedRange> = AtomicPtr::new(null_mut());

/// The action for SIGBUS before ours: its handler, and its flags.
static BEFORE: (AtomicUsize, AtomicI32) = (AtomicUsize::new(libc::SIG_DFL), AtomicI32::new(0));

/// Whether the action is known that was there before ours.
static CHAINED: AtomicBool = AtomicBool::new(false);

impl Watch {
    /// Watches the pages of a mapping: `length` bytes from `start` on.
    ///
    /// # Errors
    /// If the system refuses a handler for SIGBUS.
    pub fn new(start: *const u8, length: usize, access: Access) -> io::Result<Self> {
        keep_handler()?;
        let slot = slots()
            .find(|slot| !slot.taken.swap(true, Ordering::SeqCst))
            .unwrap_or_else(WatchedRange::add);
        let end = (start as usize + length).next_multiple_of(page_size());
        let protection = match access {
            Access::Read => libc::PROT_READ,
            Access::Write => libc::PROT_READ | libc::PROT_WRITE,
        };
        slot.marked.store(false, Ordering::SeqCst);
        slot.protection.store(protection, Ordering::SeqCst);
        slot.set(start as usize, end);
        Ok(Self { slot })
    }

    /// Whether a page of the mapping was missing when it was used: then some of what was read is zeros, and some of
    /// what was written is lost.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.slot.marked.load(Ordering::SeqCst)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.slot.set(0, 0);
        self.slot.taken.store(false, Ordering::SeqCst);
    }
}

/// Makes sure that the handler is there: an engine that ends takes its own handlers back, and ours with them.
/// A handler that another part of the process has installed since then is left alone, because it may call ours.
///
/// # Errors
/// If the system refuses a handler for SIGBUS.
pub fn keep_handler() -> io::Result<()> {
    let current = action(None)?;
    if current.sa_sigaction == handler() {
        return Ok(());
    }
    let first = !CHAINED.swap(true, Ordering::SeqCst);
    if first || !is_handler(current.sa_sigaction) {
        BEFORE.1.store(current.sa_flags, Ordering::SeqCst);
        BEFORE.0.store(current.sa_sigaction, Ordering::SeqCst);
        action(Some(&ours(&current)))?;
    }
    Ok(())
}

impl WatchedRange {
    /// A new slot, taken.
    fn add() -> &'static Self {
        let mut slot = Box::new(Self {
            taken: AtomicBool::new(true),
            version: AtomicU64::new(0),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            protection: AtomicI32::new(libc::PROT_READ),
            marked: AtomicBool::new(false),
            next: None,
        });
        let mut newest = SLOTS.load(Ordering::SeqCst);
        loop {
            // SAFETY: null, or a slot that was leaked below and so lives for ever.
            slot.next = unsafe { newest.as_ref() };
            let added = Box::into_raw(slot);
            match SLOTS.compare_exchange(newest, added, Ordering::SeqCst, Ordering::SeqCst) {
                // SAFETY: it is leaked from now on.
                Ok(_) => return unsafe { &*added },
                Err(other) => {
                    newest = other;
                    // SAFETY: it comes from a box, and no other thread has seen it.
                    slot = unsafe { Box::from_raw(added) };
                }
            }
        }
    }

    /// Only the watch that has taken the slot does this.
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

fn slots() -> impl Iterator<Item = &'static WatchedRange> {
    // SAFETY: null, or a slot that was leaked by `WatchedRange::add` and so lives for ever.
    let first: Option<&'static WatchedRange> = unsafe { SLOTS.load(Ordering::SeqCst).as_ref() };
    std::iter::successors(first, |slot| slot.next)
}

fn page_size() -> usize {
    // SAFETY: asks the system for a number, and may be called in a signal handler.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

/// The address of [`on_sigbus`], as actions have it.
fn handler() -> usize {
    on_sigbus as *const () as usize
}

/// The action that runs [`on_sigbus`] instead of what ran `before`, with the same signals held back.
fn ours(before: &libc::sigaction) -> libc::sigaction {
    // SAFETY: an action is plain data, for which zeros are valid.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler();
    action.sa_mask = before.sa_mask;
    // SA_ONSTACK: a thread without a stack of its own for signals uses the one it has. SA_NODEFER: a fault inside the
    // handler must end the process, not hang it.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER | libc::SA_RESTART;
    action
}

/// The action for SIGBUS, which a new one may replace.
fn action(new: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let new = new.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: `new` is null or an action whose handler has the type that its flags ask for; zeros are a valid action,
    // which the old one replaces.
    let (done, old) = unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(libc::SIGBUS, new, &raw mut old), old)
    };
    match done {
        0 => Ok(old),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Puts zeros where a page of a watched mapping is missing.
///
/// Calls nothing but `sysconf`, `mmap`, `sigaction` and `raise`, which take no locks, and keeps `errno` as it was.
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
        pass_on(signal, code <= 0, info, context);
    }
}

/// Replaces the missing page of a watched mapping; whether there is one at this address.
fn patch(address: usize) -> bool {
    let Some(slot) = slots().find(|slot| slot.contains(address)) else {
        return false;
    };
    // Before the page is there: where zeros are read from it, the mark is found.
    slot.marked.store(true, Ordering::SeqCst);
    let size = page_size();
    let page = address / size * size;
    // SAFETY: the page belongs to a mapping of ours that is alive, for this thread is using it: nothing else lies at
    // the address. The page was missing, so no reference sees its bytes change.
    let mapped = unsafe {
        libc::mmap(
            page as *mut libc::c_void,
            size,
            slot.protection.load(Ordering::SeqCst),
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    mapped != libc::MAP_FAILED
}

/// Lets the action decide that was there before ours: that of the engine, or that of the standard library, which tells
/// of stack overflows. `sent`: by a process, not by an access.
fn pass_on(signal: c_int, sent: bool, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let flags = BEFORE.1.load(Ordering::SeqCst);
    let with_info = flags & libc::SA_SIGINFO != 0;
    if flags & libc::SA_NODEFER == 0 && is_handler(BEFORE.0.load(Ordering::SeqCst)) {
        hold_back(signal);
    }
    match BEFORE.0.load(Ordering::SeqCst) {
        libc::SIG_IGN if sent => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: zeros are a valid action, the default one. An access raises the signal again as soon as it is
            // tried again; a signal that was sent has to be raised here. It ends the process.
            unsafe {
                let default: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &raw const default, ptr::null_mut());
                if sent {
                    libc::raise(signal);
                }
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

/// Whether an action runs a function.
fn is_handler(action: usize) -> bool {
    !matches!(action, libc::SIG_DFL | libc::SIG_IGN)
}

/// Blocks a signal until the handler returns: the system then restores the mask.
fn hold_back(signal: c_int) {
    // SAFETY: `sigemptyset` fills the set in before it is changed and read; all three may be called in a handler.
    unsafe {
        let mut one: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut one);
        libc::sigaddset(&raw mut one, signal);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const one, ptr::null_mut());
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
        let watch = |pages| Watch::new(at(pages) as *const u8, 1, Access::Read).unwrap();
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

    /// The page that replaces a missing one can be written, and other pages still reach the file.
    #[test]
    fn a_file_that_is_cut_while_it_is_written() {
        let page = page_size();
        let file = tempfile::tempfile().unwrap();
        file.set_len(3 * page as u64).unwrap();
        let map = memmap2::MmapOptions::new().map_raw(&file).unwrap();
        let watch = Watch::new(map.as_ptr(), map.len(), Access::Write).unwrap();
        file.set_len(page as u64).unwrap();
        for at in [0, page + 7, 2 * page, 3 * page - 1] {
            assert_eq!(watch.is_marked(), at > page + 7);
            // SAFETY: in bounds of the mapping, which is ours alone.
            unsafe {
                let byte = map.as_mut_ptr().add(at);
                byte.write_volatile(9);
                assert_eq!(byte.read_volatile(), 9);
            }
        }
        let mut first = [0];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut first, 0).unwrap();
        assert_eq!(first, [9]);
        assert_eq!(file.metadata().unwrap().len(), page as u64);
    }
}
