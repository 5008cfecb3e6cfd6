//! `portmortem attach`: record a program that runs, which listens for that (`pm_listen/0`).
//!
//! The program writes the trace; this process asks it to begin and to end. The connection stands
//! for the recording: if it breaks, the program ends the recording, or is gone itself.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::names::printable;
use portmortem_tracer::Recorder;
use portmortem_tracer::attach::{self, Message};
use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::record::{is_trace, last_line, say, say_what_is_missing};
use super::refuse_existing;
use crate::cli::AttachArgs;

/// The status of a command whose trace lacks something.
const INCOMPLETE: u8 = 3;

/// After this long it is said what is waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// What the command waits for.
enum AttachEvent {
    Said(io::Result<Message>),
    Interrupted,
}

/// How the recording ended.
#[derive(Debug, PartialEq, Eq)]
enum AttachEnd {
    /// As it was asked for.
    Asked,
    /// The program ended it.
    ByProgram,
    /// The program has ended, or was killed.
    OfProgram,
}

/// Records the program until the time is over, or a signal comes.
pub(crate) fn run(args: &AttachArgs) -> Result<ExitCode> {
    let output = match &args.output {
        Some(path) => path.clone(),
        None => PathBuf::from(format!("attached-{}.pmt", args.process)),
    };
    let replaces_trace = is_trace(&output);
    if replaces_trace {
        Recorder::check_unused(&output)?;
    }
    let force = args.force || replaces_trace;
    refuse_existing(&output, force, "trace")?;
    let line = connect(args.process)?;
    let trace = absolute(&output)?;
    ensure!(
        trace.to_str().is_some(),
        "the path of the trace is not in UTF-8: name another one with -o"
    );
    let events = listen(&line)?;
    Message::Start(args.settings(&trace, force))
        .send(&line)
        .context("the program does not take the request")?;
    wait_for_beginning(args.process, &events)?;
    if !args.quiet {
        say(&beginning(args, &output));
    }
    let end = wait_for_end(args, &line, &events)?;
    say_what_was_recorded(args, &output, &end)
}

/// Signals and messages, in the order in which they come.
fn listen(line: &UnixStream) -> Result<Receiver<AttachEvent>> {
    let (sender, events) = mpsc::channel();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let of_signals = sender.clone();
    let from = line.try_clone()?;
    let cannot = "cannot start a thread";
    let builder = thread::Builder::new();
    let forward = move || {
        for _ in signals.forever() {
            if of_signals.send(AttachEvent::Interrupted).is_err() {
                return;
            }
        }
    };
    builder.spawn(forward).context(cannot)?;
    let read = move || {
        loop {
            let said = Message::receive(&from);
            let is_last = said.is_err();
            if sender.send(AttachEvent::Said(said)).is_err() || is_last {
                return;
            }
        }
    };
    thread::Builder::new().spawn(read).context(cannot)?;
    Ok(events)
}

fn wait_for_beginning(process: u32, events: &Receiver<AttachEvent>) -> Result<()> {
    let mut event = events.recv_timeout(PATIENCE);
    if matches!(event, Err(RecvTimeoutError::Timeout)) {
        say(&format!(
            "waiting for process {process} to begin; ^C leaves it"
        ));
        event = events.recv().map_err(|_| RecvTimeoutError::Disconnected);
    }
    match event {
        Ok(AttachEvent::Said(Ok(Message::Started))) => Ok(()),
        Ok(AttachEvent::Said(Ok(Message::Refused(why)))) => {
            bail!("process {process} is not recorded: {}", printable(&why))
        }
        Ok(AttachEvent::Interrupted) => bail!("interrupted before the recording had begun"),
        Ok(AttachEvent::Said(Err(error))) if error.kind() == ErrorKind::InvalidData => {
            bail!("process {process} does not answer: {error}")
        }
        _ => bail!("process {process} ended before the recording had begun"),
    }
}

fn beginning(args: &AttachArgs, output: &Path) -> String {
    let path = printable(&output.display().to_string());
    let end = match args.time {
        Some(_) => "",
        None => "; ^C ends it",
    };
    format!("recording process {} into {path}{end}", args.process)
}

fn wait_for_end(
    args: &AttachArgs,
    line: &UnixStream,
    events: &Receiver<AttachEvent>,
) -> Result<AttachEnd> {
    let until = args.time.and_then(|time| Instant::now().checked_add(time));
    let event = match until {
        Some(until) => {
            let left = until.saturating_duration_since(Instant::now());
            events.recv_timeout(left)
        }
        None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
    };
    match event {
        Err(RecvTimeoutError::Timeout) | Ok(AttachEvent::Interrupted) => {}
        Ok(AttachEvent::Said(Ok(_))) => return Ok(AttachEnd::ByProgram),
        Ok(AttachEvent::Said(Err(_))) | Err(RecvTimeoutError::Disconnected) => {
            return Ok(AttachEnd::OfProgram);
        }
    }
    if Message::Stop.send(line).is_err() {
        return Ok(AttachEnd::OfProgram);
    }
    match events.recv() {
        Ok(AttachEvent::Said(Ok(_))) => Ok(AttachEnd::Asked),
        Ok(AttachEvent::Interrupted) => {
            bail!("left before the recording had ended; the program ends it by itself")
        }
        Ok(AttachEvent::Said(Err(_))) | Err(_) => Ok(AttachEnd::OfProgram),
    }
}

fn say_what_was_recorded(args: &AttachArgs, output: &Path, end: &AttachEnd) -> Result<ExitCode> {
    let process = args.process;
    match end {
        AttachEnd::Asked => {}
        AttachEnd::ByProgram => say("the program has ended the recording"),
        AttachEnd::OfProgram => say(&format!(
            "process {process} has ended, and the recording with it"
        )),
    }
    let trace = Trace::open(output)?;
    say_what_is_missing(
        &trace,
        &args.include,
        &args.keep_arguments,
        &args.keep_values,
    );
    if !args.quiet {
        let line = last_line("advise", &trace, output);
        let _ = writeln!(io::stderr(), "{line}");
    }
    let is_closed = trace.end().is_some();
    Ok(ExitCode::from(if is_closed { 0 } else { INCOMPLETE }))
}

/// A connection to the program, or why there is none and what to do.
fn connect(process: u32) -> Result<UnixStream> {
    let user = geteuid().as_raw();
    let Ok(there) = fs::metadata(format!("/proc/{process}")) else {
        bail!("there is no process {process}");
    };
    ensure!(
        there.uid() == user,
        "process {process} belongs to another user: only its own can attach to it"
    );
    for socket in sockets(process, user) {
        if let Ok(line) = UnixStream::connect(&socket)
            && socket_peercred(&line)
                .is_ok_and(|peer| peer.pid.as_raw_nonzero().get().cast_unsigned() == process)
        {
            return Ok(line);
        }
    }
    bail!(
        "process {process} does not listen: have the program load library(portmortem) and call pm_listen/0, \
         with \":- use_module(library(portmortem)).\" and \":- initialization(pm_listen).\" in its file"
    );
}

/// Where the program's socket may be: by its own environment, and by that of this process.
fn sockets(process: u32, user: u32) -> Vec<PathBuf> {
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let of_program = |name: &str| {
        let mut variables = environment.split(|&byte| byte == 0);
        variables.find_map(|one| {
            let (key, value) = std::str::from_utf8(one).ok()?.split_once('=')?;
            (key == name).then(|| PathBuf::from(value))
        })
    };
    let ours = |name: &str| Some(PathBuf::from(std::env::var_os(name)?));
    let mut directories = attach::directories(user, of_program);
    for more in attach::directories(user, ours) {
        if !directories.contains(&more) {
            directories.push(more);
        }
    }
    let sockets = directories.iter();
    sockets.map(|one| attach::socket(one, process)).collect()
}
