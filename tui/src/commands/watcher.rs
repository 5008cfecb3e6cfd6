//! The process that waits for the end of the recorded program, and does what is left to do then.
//!
//! `portmortem record` becomes the program: it runs the engine in its own process. Signals, job
//! control, the exit status and
//! every other way to end are those of the engine, because there is no other process that they
//! could reach. A parent that
//! passes signals on cannot have that effect: a signal that was sent to a process group looks like
//! one that was sent to
//! the parent alone, and would arrive twice.
//!
//! The watcher is forked off before. It is no child of the program, which may wait for any of its
//! children, and it has a session of its own, so that what is sent to the process group of the
//! program, or to a terminal, does not reach it. A socket connects the two: the
//! program says that it ends in order, and waits until the watcher has done its work
//! (`tracer/swi/src/watcher.rs`). If it ends
//! otherwise, the system closes its end.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use portmortem_tracer::program_end::{MESSAGE_BYTES, ProgramEnd, Written};
use rustix::io::{FdFlags, fcntl_setfd};

/// How long [`WatchersEnd::is_open`] takes at most, if it is.
const MOMENT: Duration = Duration::from_millis(20);

/// The watcher's end of the socket.
#[derive(Debug)]
pub(crate) struct WatchersEnd(UnixStream);

/// The program's end of the socket.
#[derive(Debug)]
pub(crate) struct ProgramLine(UnixStream);

/// The two ends of a socket. That of the program stays open in the engine.
pub(crate) fn line() -> io::Result<(WatchersEnd, ProgramLine)> {
    let (ours, programs) = UnixStream::pair()?;
    fcntl_setfd(&programs, FdFlags::empty())?;
    Ok((WatchersEnd(ours), ProgramLine(programs)))
}

impl ProgramLine {
    /// Its number in this process, and in the engine's.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// There is no engine: nothing is left to do.
    pub(crate) fn nothing_started(mut self) {
        let end = ProgramEnd {
            status: 0,
            trace: Written::Nothing,
            inferences: None,
        };
        // A watcher that is gone does nothing, either.
        let _ = self.0.write_all(&end.encode());
    }
}

impl WatchersEnd {
    /// Waits for the end of the program. `None` if it did not end in order.
    pub(crate) fn end_of_program(&mut self) -> Option<ProgramEnd> {
        let mut message = [0; MESSAGE_BYTES];
        self.0.read_exact(&mut message).ok()?;
        ProgramEnd::decode(message)
    }

    /// Another end of the same socket, to [close](Self::close) it while its end is waited for.
    pub(crate) fn again(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Nothing more comes, whoever has the other end.
    pub(crate) fn close(&self) {
        // It is closed if the other end is.
        let _ = self.0.shutdown(Shutdown::Both);
    }

    /// What follows is done in the background: nothing but the line is left that others may wait
    /// for, as the end of a pipe or an idle file system.
    ///
    /// # Errors
    /// If the system does not let go.
    pub(crate) fn let_go_of_others(&self) -> io::Result<()> {
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        let own = self.0.as_raw_fd();
        // SAFETY: system calls on descriptors that nothing here uses any more: the watcher has
        // closed its own files but the line, and begins to read others after this.
        unsafe {
            for standard in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
                libc::dup2(nothing.as_raw_fd(), standard);
            }
            for descriptor in descriptors()? {
                if descriptor > libc::STDERR_FILENO && descriptor != own {
                    libc::close(descriptor);
                }
            }
        }
        // It is closed already.
        std::mem::forget(nothing);
        std::env::set_current_dir("/")
    }

    /// Whether the process of the program still waits for us.
    pub(crate) fn is_open(&mut self) -> bool {
        let waits = self.0.set_read_timeout(Some(MOMENT));
        let again = [ErrorKind::WouldBlock, ErrorKind::Interrupted];
        waits.is_ok()
            && self
                .0
                .read(&mut [0])
                .is_err_and(|error| again.contains(&error.kind()))
    }
}

/// The descriptors of this process.
fn descriptors() -> io::Result<Vec<RawFd>> {
    let entries = std::fs::read_dir("/proc/self/fd")?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter_map(|name| name.parse().ok()).collect())
}

/// Forks the watcher off; true in the watcher. This process must have no other threads.
///
/// The watcher's standard input and output are empty: a pipe must end when the program closes its
/// end of it.
pub(crate) fn fork() -> io::Result<bool> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    // SAFETY: the process has one thread, so the child may do all that the parent may.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(io::Error::last_os_error());
    }
    if child > 0 {
        // SAFETY: waits for our child; the status does not matter. It ends at once, leaving the
        // watcher to the system.
        while unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) } < 0
            && io::Error::last_os_error().kind() == ErrorKind::Interrupted
        {}
        return Ok(false);
    }
    // SAFETY: as above; the descriptors are open. A terminal that stops background processes when
    // they write must not
    // stop this one: the program would wait for ever.
    unsafe {
        if libc::fork() != 0 {
            libc::_exit(0);
        }
        libc::setsid();
        libc::signal(libc::SIGTTOU, libc::SIG_IGN);
        libc::dup2(nothing.as_raw_fd(), libc::STDIN_FILENO);
        libc::dup2(nothing.as_raw_fd(), libc::STDOUT_FILENO);
    }
    Ok(true)
}
