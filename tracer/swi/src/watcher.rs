//! The process of `portmortem record` that waits for the end of this one.
//!
//! `portmortem record` becomes the program: its process runs the engine, so that every signal and
//! every way to end has the effect that it has on the engine alone. What is left to do after the
//! program, a process does that was forked off before. It holds the other end of a socket. When
//! this process ends in order it says how, and waits until the other has done its work and closes
//! its end. However else it ends, the system closes this end.

use std::fs::File;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::ptr;
use std::sync::OnceLock;

use portmortem_tracer::program_end::{ProgramEnd, Written};

/// The socket whose other end is the watcher's.
struct LineToWatcher {
    descriptor: RawFd,
    /// Device and inode: the program may close descriptors that it does not know, and others get
    /// their numbers.
    identity: (u64, u64),
    /// The process that is watched: not its children.
    process: u32,
}

static LINE: OnceLock<LineToWatcher> = OnceLock::new();

/// Signals that ask a process to end.
const ENDING: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// From now on this process is watched. Programs that it starts do not get the descriptor.
pub(crate) fn begin(descriptor: RawFd) {
    // SAFETY: a system call that fails on a number that is no descriptor.
    unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    if let Some(identity) = identity(descriptor) {
        let process = std::process::id();
        let _ = LINE.set(LineToWatcher {
            descriptor,
            identity,
            process,
        });
    }
}

/// Says that this process ends in order, and waits until what is left to do is done.
pub(crate) fn end(status: u8, trace: Written, inferences: Option<u64>) {
    let here = |line: &&LineToWatcher| {
        line.process == std::process::id() && identity(line.descriptor) == Some(line.identity)
    };
    if let Some(line) = LINE.get().filter(here) {
        leave_signals_to_the_system();
        let end = ProgramEnd {
            status,
            trace,
            inferences,
        };
        line.send(&end.encode());
        line.wait_for_its_end();
    }
}

impl LineToWatcher {
    fn send(&self, message: &[u8]) {
        // SAFETY: the message is valid for its length. A watcher that is gone is no reason for a
        // signal.
        unsafe {
            libc::send(
                self.descriptor,
                message.as_ptr().cast(),
                message.len(),
                libc::MSG_NOSIGNAL,
            )
        };
    }

    fn wait_for_its_end(&self) {
        let mut byte = 0_u8;
        loop {
            // SAFETY: `byte` has room for one.
            let read = unsafe { libc::read(self.descriptor, (&raw mut byte).cast(), 1) };
            let interrupted =
                || std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted;
            if read == 0 || read < 0 && !interrupted() {
                return;
            }
        }
    }
}

/// Device and inode of an open file.
fn identity(descriptor: RawFd) -> Option<(u64, u64)> {
    // SAFETY: it is asked for its properties only, and not closed.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    let properties = file.metadata().ok()?;
    Some((properties.dev(), properties.ino()))
}

/// The program has ended, so its handlers have no say any more: what asks this process to end,
/// ends it.
fn leave_signals_to_the_system() {
    for signal in ENDING {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: zeros are a valid action, and the default one; the system replaces it by the
        // one in force.
        unsafe {
            libc::sigaction(signal, ptr::null(), action.as_mut_ptr());
            if action.assume_init_ref().sa_sigaction != libc::SIG_IGN {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
    }
}
