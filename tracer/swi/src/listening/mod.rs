//! A program that is recorded while it runs: `portmortem attach` asks for it, over a socket that
//! the program has opened (`pm_listen/0`).
//!
//! A thread of the system waits at the socket. It is no Prolog thread, so the program does not see
//! it; it becomes one for the moments in which a recording begins and ends ([`calling`]), and what
//! it does then is not recorded. [`place`] says where the socket is, and [`serving`] what is said.

mod calling;
mod place;
mod serving;

use std::cell::Cell;
use std::ffi::CString;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::sync::{Mutex, Once};
use std::thread;

use portmortem_tracer::locks;

use crate::ffi::{Foreign, Term};
use crate::values::unify_string;

/// The socket of this process, or of the one that it was forked off from.
struct Socket {
    process: u32,
    /// To be removed at the end.
    path: CString,
}

/// Leaked, so that it can be read where no lock may be taken.
static SOCKET: AtomicPtr<Socket> = AtomicPtr::new(ptr::null_mut());
/// Held while a process begins to listen.
static BEGINNING: Mutex<()> = Mutex::new(());

/// What a child of a fork must not keep open: the socket, and the connection of the one who has
/// attached. -1 if there is none.
static OPEN: [AtomicI32; 2] = [const { AtomicI32::new(-1) }; 2];
const LISTENER: usize = 0;
const ATTACHED: usize = 1;

thread_local! {
    static IS_OURS: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is the one that listens: nothing of it is recorded, but for trials
/// of what recording costs.
pub(crate) fn is_ours() -> bool {
    IS_OURS.get()
}

/// `listen(-Error)`: the process listens from now on. `Error` is unified with an empty string, or
/// with why it cannot.
pub(crate) fn listen(error: Term) -> Foreign {
    unify_string(error, &begin().err().unwrap_or_default())
}

fn begin() -> Result<(), String> {
    let _one = locks::lock(&BEGINNING);
    let process = std::process::id();
    if own(process).is_some() {
        return Ok(());
    }
    let (path, listener) = place::open(process)?;
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    static FORKS: Once = Once::new();
    // SAFETY: the handler does what may be done there.
    FORKS.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
    let started = without_signals(|| {
        thread::Builder::new()
            .name("portmortem".to_owned())
            .stack_size(calling::STACK_BYTES)
            .spawn(move || {
                IS_OURS.set(true);
                serving::serve(&listener);
            })
    });
    if let Err(error) = started {
        remove(&name);
        return Err(format!("cannot start a thread that listens: {error}"));
    }
    let socket = Box::new(Socket {
        process,
        path: name,
    });
    SOCKET.store(Box::into_raw(socket), Ordering::Release);
    Ok(())
}

fn own(process: u32) -> Option<&'static Socket> {
    // SAFETY: null, or a socket that was leaked.
    let socket = unsafe { SOCKET.load(Ordering::Acquire).as_ref() };
    socket.filter(|socket| socket.process == process)
}

/// The process ends: its socket goes. Takes no lock.
pub(crate) fn end() {
    if let Some(socket) = own(std::process::id()) {
        remove(&socket.path);
    }
}

fn remove(path: &CString) {
    // SAFETY: a path.
    unsafe { libc::unlink(path.as_ptr()) };
}

/// A thread that begins here gets no signals: they are the program's.
fn without_signals<T>(begin: impl FnOnce() -> T) -> T {
    // SAFETY: masks of this thread, which has the old one again in the end.
    unsafe {
        let (mut all, mut old) = std::mem::zeroed::<(libc::sigset_t, libc::sigset_t)>();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
        let begun = begin();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, ptr::null_mut());
        begun
    }
}

fn is_open(which: usize, descriptor: RawFd) {
    OPEN[which].store(descriptor, Ordering::Release);
}

/// The child has no thread that listens.
extern "C" fn in_child() {
    for open in &OPEN {
        let descriptor = open.swap(-1, Ordering::AcqRel);
        if descriptor >= 0 {
            // SAFETY: the child's copy of a descriptor of ours, which nothing in the child uses.
            unsafe { libc::close(descriptor) };
        }
    }
}

/// How a file is named in a message.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
