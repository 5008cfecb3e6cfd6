//! A real terminal: a pseudo-terminal with a program in its foreground, and somebody who types.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Stdio};
use std::ptr;
use std::thread;
use std::time::{Duration, Instant};

use crate::outcome::Status;
use crate::patience::TIME_LIMIT;
use crate::sandbox::Run;

/// A program at a terminal, of 80 columns unless it is said, without echo.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    keyboard: File,
    shown: Vec<u8>,
}

impl Terminal {
    /// Starts `run` at a new terminal.
    ///
    /// # Panics
    /// If the system has no pseudo-terminals left.
    #[must_use]
    pub fn start(run: Run) -> Self {
        Self::start_with_columns(run, 80)
    }

    /// The same with a terminal of so many columns.
    ///
    /// # Panics
    /// As [`Terminal::start`].
    #[must_use]
    pub fn start_with_columns(run: Run, columns: u16) -> Self {
        let (ours, theirs) = open_pair(columns);
        let mut command = run.command;
        command
            .stdin(Stdio::from(theirs.try_clone().unwrap()))
            .stdout(Stdio::from(theirs.try_clone().unwrap()))
            .stderr(Stdio::from(theirs));
        // SAFETY: the closure makes system calls only, which are allowed between fork and exec.
        unsafe {
            command.pre_exec(|| {
                if libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child = command.spawn().unwrap();
        // The command holds the other end open: without it, the end of the program ends the reading.
        drop(command);
        Self {
            child,
            keyboard: File::from(ours),
            shown: Vec::new(),
        }
    }

    /// Types.
    ///
    /// # Panics
    /// If nobody is at the other end.
    pub fn types(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).unwrap();
    }

    /// Waits until the screen has shown `text`.
    ///
    /// # Panics
    /// If it does not come.
    pub fn waits_for(&mut self, text: &str) {
        let begin = Instant::now();
        while !self.screen().contains(text) {
            let more = self.read();
            assert!(
                more && begin.elapsed() < TIME_LIMIT,
                "{text:?} never came:\n{}",
                self.screen()
            );
        }
    }

    /// All that was shown so far.
    #[must_use]
    pub fn screen(&self) -> String {
        String::from_utf8_lossy(&self.shown).replace("\r\n", "\n")
    }

    /// Waits for the end: how the program ended, and all it showed.
    ///
    /// # Panics
    /// If it does not end.
    #[must_use]
    pub fn ends(mut self) -> (Status, String) {
        let begin = Instant::now();
        loop {
            let more = self.read();
            if let Some(status) = self.child.try_wait().unwrap() {
                while self.read() {}
                let status = match status.code() {
                    Some(code) => Status::Exit(code),
                    None => Status::Signal(status.signal().unwrap_or(0)),
                };
                return (status, self.screen());
            }
            if !more {
                thread::sleep(Duration::from_millis(1));
            }
            if begin.elapsed() > TIME_LIMIT {
                let _ = self.child.kill();
                panic!("it does not end:\n{}", self.screen());
            }
        }
    }

    /// Reads what is there, waiting a little; false at the end.
    fn read(&mut self) -> bool {
        let mut poll = libc::pollfd {
            fd: self.keyboard.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one structure, and its count.
        if unsafe { libc::poll(&raw mut poll, 1, 20) } <= 0 {
            return true;
        }
        let mut bytes = [0; 4096];
        match self.keyboard.read(&mut bytes) {
            Ok(count) if count > 0 => {
                self.shown.extend_from_slice(&bytes[..count]);
                true
            }
            _ => false,
        }
    }
}

fn open_pair(columns: u16) -> (OwnedFd, OwnedFd) {
    let size = libc::winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let (mut ours, mut theirs) = (-1, -1);
    // SAFETY: places for two descriptors, no name, the default settings, and a size that lives here.
    let result = unsafe {
        libc::openpty(
            &raw mut ours,
            &raw mut theirs,
            ptr::null_mut(),
            ptr::null(),
            &raw const size,
        )
    };
    assert_eq!(
        result,
        0,
        "no pseudo-terminal: {}",
        io::Error::last_os_error()
    );
    // SAFETY: two descriptors just made for us; ours must not be inherited by the program. The settings are read
    // into a zeroed structure of plain numbers before they are changed.
    unsafe {
        // What is typed is not shown: when that would be is a matter of chance.
        let mut settings: libc::termios = std::mem::zeroed();
        libc::tcgetattr(theirs, &raw mut settings);
        settings.c_lflag &= !libc::ECHO;
        libc::tcsetattr(theirs, libc::TCSANOW, &raw const settings);
        libc::fcntl(ours, libc::F_SETFD, libc::FD_CLOEXEC);
        (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    }
}
