//! Locks that no signal handler can find taken by its own thread.
//!
//! A signal runs its handler in the middle of anything, and a handler may end the process, which
//! closes the recording. If the interrupted code held a lock that closing needs, it would wait for
//! ever. So signals are held back while such a lock is held. Locks are taken rarely: never for an
//! event that fits the open block.
//!
//! The system gives a signal that one thread holds back to another one, if that takes it. An engine
//! that only notes a signal, for the thread that got it to handle it later, would then have another
//! thread handle it, or one that never will. Such signals need not wait ([`hold_back_only`]).

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// What a lock protects, while it is held.
#[derive(Debug)]
pub struct Locked<'a, T> {
    // Fields are dropped in this order: signals come again when the lock is free.
    guard: MutexGuard<'a, T>,
    _held: HeldSignals,
}

/// Takes the lock. A panic of an earlier holder is ignored.
pub fn lock<T>(mutex: &Mutex<T>) -> Locked<'_, T> {
    let held = HeldSignals::new();
    Locked {
        guard: mutex.lock().unwrap_or_else(PoisonError::into_inner),
        _held: held,
    }
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

thread_local! {
    /// How many locks this thread holds or waits for.
    static HELD: Cell<u32> = const { Cell::new(0) };
}

/// Whether this thread has taken a lock: the handler of a signal that cannot wait must not take one then.
#[must_use]
pub fn is_held() -> bool {
    HELD.get() > 0
}

/// Signals that the processor raises for the running instruction. They cannot wait.
const SYNCHRONOUS: [libc::c_int; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
];

/// Says of a signal whether its handler may do more than to note it.
type WorksInHandler = fn(libc::c_int) -> bool;

static WORKS_IN_HANDLER: OnceLock<WorksInHandler> = OnceLock::new();

/// Only signals of which the engine says so now are held back from now on: those whose handler may
/// call the recorder. Asked whenever a lock is taken, so it must be quick and take no lock. Calls
/// after the first do nothing.
pub fn hold_back_only(works_in_handler: WorksInHandler) {
    let _ = WORKS_IN_HANDLER.set(works_in_handler);
}

/// The signals that are held back.
fn held_back() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigfillset` fills the set in before it is changed and read.
    unsafe {
        libc::sigfillset(set.as_mut_ptr());
        for signal in SYNCHRONOUS {
            libc::sigdelset(set.as_mut_ptr(), signal);
        }
        if let Some(works_in_handler) = WORKS_IN_HANDLER.get() {
            for signal in (1..=libc::SIGRTMAX()).filter(|&signal| !works_in_handler(signal)) {
                libc::sigdelset(set.as_mut_ptr(), signal);
            }
        }
        set.assume_init()
    }
}

/// The calling thread gets none of these signals until this is dropped, by the same thread.
#[derive(Debug)]
struct HeldSignals {
    before: libc::sigset_t,
}

impl HeldSignals {
    fn new() -> Self {
        let held_back = held_back();
        let mut before = MaybeUninit::uninit();
        // SAFETY: `pthread_sigmask` fails only for another first argument, so it has stored the mask
        // that was in force.
        unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const held_back, before.as_mut_ptr());
        }
        // Not before: a signal that comes first is handled still, by a handler that may take locks.
        HELD.set(HELD.get() + 1);
        Self {
            // SAFETY: the mask that was in force is stored.
            before: unsafe { before.assume_init() },
        }
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        HELD.set(HELD.get() - 1);
        // SAFETY: a mask that the system gave.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    /// Handlers that ran, and those that found a lock taken by their thread.
    static HANDLED: AtomicUsize = AtomicUsize::new(0);
    static FOUND_HELD: AtomicUsize = AtomicUsize::new(0);

    extern "C" fn look(_: libc::c_int) {
        HANDLED.fetch_add(1, Ordering::SeqCst);
        FOUND_HELD.fetch_add(usize::from(is_held()), Ordering::SeqCst);
    }

    /// If a handler found one, it could not end the recording.
    #[test]
    fn no_handler_of_a_signal_that_can_wait_finds_a_lock_taken() {
        // SAFETY: the handler only touches atomic numbers and a number of its thread.
        let target = unsafe {
            libc::signal(libc::SIGURG, look as *const () as libc::sighandler_t);
            libc::pthread_self()
        };
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    // SAFETY: the thread waits for this one before it ends.
                    unsafe { libc::pthread_kill(target, libc::SIGURG) };
                }
            });
            let mutex = Mutex::new(0);
            while HANDLED.load(Ordering::SeqCst) < 10_000 {
                *lock(&mutex) += 1;
            }
            over.store(true, Ordering::SeqCst);
        });
        assert_eq!(FOUND_HELD.load(Ordering::SeqCst), 0);
    }

    fn is_blocked(signal: libc::c_int) -> bool {
        let mut now = MaybeUninit::uninit();
        // SAFETY: asks for the mask, which is then there.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), now.as_mut_ptr());
            libc::sigismember(now.as_ptr(), signal) == 1
        }
    }

    #[test]
    fn signals_wait_while_a_lock_is_held() {
        let mutex = Mutex::new(1);
        assert!(!is_blocked(libc::SIGTERM));
        {
            let mut outer = lock(&mutex);
            *outer += 1;
            let other = Mutex::new(());
            drop(lock(&other));
            assert!(is_blocked(libc::SIGTERM), "the outer lock is still held");
            assert!(is_held());
            assert!(!is_blocked(libc::SIGSEGV));
        }
        assert!(!is_blocked(libc::SIGTERM) && !is_held());
        assert_eq!(*lock(&mutex), 2);
    }

    #[test]
    fn signals_that_are_only_noted_need_not_wait() {
        hold_back_only(|signal| signal != libc::SIGUSR2);
        let mutex = Mutex::new(());
        let held = lock(&mutex);
        assert!(is_blocked(libc::SIGTERM) && is_blocked(libc::SIGRTMAX()));
        assert!(!is_blocked(libc::SIGUSR2) && !is_blocked(libc::SIGSEGV));
        drop(held);
    }
}
