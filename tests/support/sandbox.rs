//! A temporary directory to run commands in.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use portmortem_tracer::IndexLock;
use tempfile::TempDir;

use crate::built;
use crate::outcome::{Outcome, Status};
use crate::patience::TIME_LIMIT;
use crate::profiled::Profiled;

/// A directory of one test, with everything that the test makes; gone at its end.
#[derive(Debug)]
pub struct Sandbox {
    directory: TempDir,
}

/// An index that is made in the background must not be written into a directory that is being
/// removed.
impl Drop for Sandbox {
    fn drop(&mut self) {
        let entries = fs::read_dir(self.directory()).into_iter().flatten();
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        for path in paths.filter(|path| path.extension().is_some_and(|pmt| pmt == "pmt")) {
            let begin = Instant::now();
            while IndexLock::try_on(&path).is_none() && begin.elapsed() < TIME_LIMIT {
                thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    /// An empty one.
    ///
    /// # Panics
    /// If the system gives no temporary directory.
    #[must_use]
    pub fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("pm-test-")
            .tempdir()
            .unwrap();
        fs::create_dir(directory.path().join("home")).unwrap();
        Self { directory }
    }

    /// One that has a file.
    #[must_use]
    pub fn with(name: &str, text: &str) -> Self {
        let sandbox = Self::new();
        sandbox.write(name, text);
        sandbox
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// A path inside it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }

    /// Writes a file.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, contents).unwrap();
        path
    }

    /// Runs `portmortem ARGS`, which must not show a defect of its own whatever the arguments are.
    pub fn portmortem<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Outcome {
        let outcome = self.run(built::portmortem(), arguments);
        outcome.is_sound();
        outcome
    }

    /// Runs `swipl ARGS`.
    pub fn swipl<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Outcome {
        self.run(Path::new("swipl"), arguments)
    }

    /// Runs a shell script, in which `$portmortem` is the program under test.
    pub fn sh(&self, script: &str) -> Outcome {
        self.run(Path::new("sh"), ["-c", script])
    }

    /// Runs a command with an empty standard input.
    pub fn run<A: AsRef<OsStr>>(
        &self,
        program: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Outcome {
        let mut run = self.command(program);
        run.command.args(arguments);
        run.wait()
    }

    /// A command to be run here.
    #[must_use]
    pub fn command(&self, program: &Path) -> Run {
        let mut command = Command::new(program);
        command
            .current_dir(self.directory())
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("home"))
            .env("XDG_CACHE_HOME", built::cache())
            .env("LC_ALL", "C.UTF-8")
            .env("TERM", "dumb")
            .env("portmortem", built::portmortem())
            .env_remove("PORTMORTEM_ENGINE_LIBRARY")
            .env_remove("RUST_BACKTRACE")
            .env_remove("COLUMNS")
            .stdin(Stdio::null());
        Run {
            command,
            limit: TIME_LIMIT,
        }
    }

    /// Writes a program, records it as `NAME.pmt` with these options and returns its profile. The program must
    /// end with status 0.
    pub fn record(&self, name: &str, program: &str, options: &[&str]) -> Profiled {
        let file = self.write(&format!("{name}.pl"), program);
        self.record_file(&file, options)
    }

    /// Records a file as `NAME.pmt`, replacing an older one, and returns its profile.
    ///
    /// # Panics
    /// If the program does not end with status 0.
    pub fn record_file(&self, file: &Path, options: &[&str]) -> Profiled {
        let trace = self.path(&format!("{}.pmt", file.file_stem().unwrap().display()));
        let (before, after) = match options.iter().position(|option| *option == "--") {
            Some(place) => options.split_at(place),
            None => (options, &[][..]),
        };
        let mut arguments: Vec<OsString> = vec!["record".into(), "--force".into(), "-o".into()];
        arguments.push(trace.clone().into());
        arguments.extend(before.iter().map(OsString::from));
        arguments.push(file.into());
        arguments.extend(after.iter().map(OsString::from));
        self.portmortem(&arguments).exits(0);
        Profiled::of(&trace)
    }
}

/// A command that is about to run.
#[derive(Debug)]
pub struct Run {
    /// The command.
    pub command: Command,
    limit: Duration,
}

impl Run {
    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Gives it something to read.
    ///
    /// # Panics
    /// If no temporary file can be made.
    #[must_use]
    pub fn stdin(mut self, text: impl AsRef<[u8]>) -> Self {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, text.as_ref()).unwrap();
        file.rewind().unwrap();
        self.command.stdin(file);
        self
    }

    /// Starts it, and leaves it running.
    ///
    /// # Panics
    /// If it cannot be started.
    #[must_use]
    pub fn start(mut self) -> Running {
        self.command.process_group(0);
        let stdout = tempfile::tempfile().unwrap();
        let stderr = tempfile::tempfile().unwrap();
        self.command.stdout(stdout.try_clone().unwrap());
        self.command.stderr(stderr.try_clone().unwrap());
        let words = [self.command.get_program()]
            .into_iter()
            .chain(self.command.get_args());
        let words: Vec<String> = words
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let child = self.command.spawn();
        Running {
            name: words.join(" "),
            child: child.unwrap_or_else(|error| panic!("cannot run {words:?}: {error}")),
            stdout,
            stderr,
            limit: self.limit,
        }
    }

    /// Runs it to its end.
    #[must_use]
    pub fn wait(self) -> Outcome {
        self.start().wait()
    }
}

/// A command that runs.
#[derive(Debug)]
pub struct Running {
    name: String,
    child: Child,
    stdout: File,
    stderr: File,
    limit: Duration,
}

impl Running {
    /// Its process, which leads a group of its own.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Sends a signal to it alone.
    pub fn signal(&self, signal: i32) {
        // SAFETY: a plain system call; our child has not been waited for, so the number is still its own.
        unsafe { libc::kill(self.pid(), signal) };
    }

    /// Sends a signal to it and its children.
    pub fn signal_group(&self, signal: i32) {
        // SAFETY: as above; the group was made for this child.
        unsafe { libc::kill(-self.pid(), signal) };
    }

    /// What it has written to standard output so far.
    #[must_use]
    pub fn output_so_far(&self) -> String {
        String::from_utf8_lossy(&contents(&self.stdout)).into_owned()
    }

    /// What it has written to standard error so far.
    #[must_use]
    pub fn errors_so_far(&self) -> String {
        String::from_utf8_lossy(&contents(&self.stderr)).into_owned()
    }

    /// Waits until it has written `text` to standard output.
    ///
    /// # Panics
    /// If it does not within the time limit.
    pub fn wait_for_output(&self, text: &str) {
        self.wait_for(text, || self.output_so_far());
    }

    /// Waits until it has written `text` to standard error.
    ///
    /// # Panics
    /// If it does not within the time limit.
    pub fn wait_for_error(&self, text: &str) {
        self.wait_for(text, || self.errors_so_far());
    }

    fn wait_for(&self, text: &str, written: impl Fn() -> String) {
        let begin = Instant::now();
        while !written().contains(text) {
            assert!(
                begin.elapsed() < self.limit,
                "{} never printed {text:?}",
                self.name
            );
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for its end; past the time limit it is killed, with its children.
    ///
    /// # Panics
    /// If the system does not tell how it ended.
    #[must_use]
    pub fn wait(mut self) -> Outcome {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break match (status.code(), status.signal()) {
                    (Some(code), _) => Status::Exit(code),
                    (None, signal) => Status::Signal(signal.unwrap_or(0)),
                };
            }
            if begin.elapsed() > self.limit {
                self.signal_group(libc::SIGKILL);
                let _ = self.child.wait();
                break Status::TimedOut;
            }
            thread::sleep(Duration::from_millis(1));
        };
        Outcome {
            command: self.name,
            stdout: contents(&self.stdout),
            stderr: contents(&self.stderr),
            status,
        }
    }
}

/// All that was written to a file, without moving the writer's place in it.
fn contents(file: &File) -> Vec<u8> {
    let own = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file));
    let mut bytes = Vec::new();
    File::open(own).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}
