//! A real terminal: a pseudo-terminal with a program in its foreground, and somebody who types.

use std::fmt::{self, Debug, Formatter};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{self, Command};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::fs::{Mode, OFlags, open};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::outcome::Status;
use crate::patience::TIME_LIMIT;
use crate::sandbox::Run;

/// A program at a terminal, of 80 columns unless it is said, without echo.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn Write + Send>,
    /// What the terminal shows, from a thread that reads it to its end.
    shows: Receiver<Vec<u8>>,
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
        let size = PtySize {
            rows: 24,
            cols: columns,
            ..PtySize::default()
        };
        let command = run.command;
        let pair = native_pty_system().openpty(size).unwrap();
        switch_echo_off(&*pair.master);
        let child = pair.slave.spawn_command(builder(&command)).unwrap();
        // Our copy of the program's side would keep the terminal open after its end.
        drop(pair.slave);
        let mut screen = pair.master.try_clone_reader().unwrap();
        let (show, shows) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if show.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            child,
            keyboard: pair.master.take_writer().unwrap(),
            shows,
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
            let more = self.read(begin);
            assert!(more, "{text:?} never came:\n{}", self.screen());
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
        while self.read(begin) {}
        let child: &mut dyn Child = &mut *self.child;
        let child = child.downcast_mut::<process::Child>().unwrap();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begin.elapsed() > TIME_LIMIT {
                let _ = process::Child::kill(child);
                panic!("it does not end:\n{}", self.screen());
            }
            thread::sleep(Duration::from_millis(1));
        };
        let status = match status.code() {
            Some(code) => Status::Exit(code),
            None => Status::Signal(status.signal().unwrap_or(0)),
        };
        (status, self.screen())
    }

    /// Reads more of what is shown; false if there is no more, or none in time.
    fn read(&mut self, begin: Instant) -> bool {
        let rest = TIME_LIMIT.saturating_sub(begin.elapsed());
        let more = self.shows.recv_timeout(rest);
        self.shown.extend(more.iter().flatten());
        more.is_ok()
    }
}

impl Debug for Terminal {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("Terminal");
        fields.field("screen", &self.screen()).finish()
    }
}

/// The same command, as the library for terminals has them.
fn builder(command: &Command) -> CommandBuilder {
    let mut builder = CommandBuilder::new(command.get_program());
    builder.args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        builder.cwd(directory);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => builder.env(name, value),
            None => builder.env_remove(name),
        }
    }
    builder
}

/// What is typed is not shown: when that would be is a matter of chance.
fn switch_echo_off(terminal: &dyn MasterPty) {
    let name = terminal.tty_name().unwrap();
    let theirs = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let mut settings = tcgetattr(&theirs).unwrap();
    settings.local_modes -= LocalModes::ECHO;
    tcsetattr(&theirs, OptionalActions::Now, &settings).unwrap();
}
