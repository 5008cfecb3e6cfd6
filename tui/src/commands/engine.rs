//! Starting SWI-Prolog with the recorder loaded.
//!
//! The engine runs as `swipl -F BOOT …`, and the rest is as without recording ([`super::start`]).
//! BOOT is a small script in a temporary directory that loads `library(portmortem)` and begins the
//! recording before anything else is loaded.

use std::fs;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use anyhow::{Context, Error, Result, anyhow, bail};
use portmortem_tracer::program_end::ProgramEnd;
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use super::boot_script::boot_script;
use super::prolog::atoms;
use super::start::{Start, site_file};
use super::watcher::{ProgramLine, WatchersEnd};
use crate::cli::{KeepOption, RecordArgs};
use crate::{engine_library, library_file};

/// An engine that is ready to run a program.
pub(crate) struct PreparedEngine {
    command: Command,
    /// What it loads; gone when this is dropped.
    _boot: TempDir,
}

impl PreparedEngine {
    /// One that records into `output`. `line`: the socket whose other end is the watcher's, if
    /// there is one.
    pub(crate) fn new(
        args: &RecordArgs,
        start: &Start,
        output: &Path,
        line: Option<RawFd>,
    ) -> Result<Self> {
        let library = library_file::find()?;
        let boot = tempfile::Builder::new()
            .prefix("portmortem-")
            .tempdir()
            .context("cannot make a temporary directory")?;
        for (name, text) in engine_library::SOURCES {
            fs::write(boot.path().join(name), text)?;
        }
        let script = script(args, start, output, line, &library, boot.path());
        let site = site_file(boot.path());
        fs::write(&site, script)?;
        let command = start.with_site_file(&site);
        Ok(Self {
            command,
            _boot: boot,
        })
    }

    /// Runs it in this process, instead of this program. Returns if that is not possible.
    pub(crate) fn replace_this_program(mut self) -> Error {
        let error = self.command.exec();
        not_started(&self.command, error)
    }

    /// Runs it with another input, its output put away, and waits for its end: not longer than the
    /// line is open. `own` is its own line, which it was given, and tells how it ends.
    pub(crate) fn run_apart(
        mut self,
        input: Stdio,
        (mut own, of_program): (WatchersEnd, ProgramLine),
        line: &mut WatchersEnd,
    ) -> Result<(ExitStatus, Option<ProgramEnd>)> {
        let command = self.command.stdin(input);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let spawned = command.process_group(0).spawn();
        let mut child = spawned.map_err(|error| not_started(&self.command, error))?;
        drop(of_program);
        let closing = own.again()?;
        // It waits for the end of its line, which comes with that of the thread.
        let telling = thread::spawn(move || {
            let end = own.end_of_program();
            own.close();
            end
        });
        while line.is_open() {
            if let Some(status) = child.try_wait()? {
                closing.close();
                return Ok((status, telling.join().ok().flatten()));
            }
        }
        closing.close();
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            // It has not been waited for, so the group is still its own.
            let _ = kill_process_group(group, Signal::KILL);
        }
        child.wait()?;
        bail!("interrupted");
    }
}

/// Runs a command in this process, instead of this program. Returns if that is not possible.
pub(crate) fn run_unrecorded(mut command: Command) -> Error {
    let error = command.exec();
    not_started(&command, error)
}

fn not_started(command: &Command, error: io::Error) -> Error {
    let program = command.get_program().display();
    match error.kind() {
        io::ErrorKind::NotFound => anyhow!(
            "no SWI-Prolog: `{program}` was not found; install it (Debian: apt-get install swi-prolog-nox) or name it with --swipl PATH"
        ),
        _ => Error::new(error).context(format!("cannot run {program}")),
    }
}

fn script(
    args: &RecordArgs,
    start: &Start,
    output: &Path,
    line: Option<RawFd>,
    library: &Path,
    directory: &Path,
) -> String {
    let mut options = vec![format!("force({})", args.force)];
    options.extend(line.map(|line| format!("watched({line})")));
    options.extend(start.description());
    options.extend(start.options());
    for (key, patterns) in [
        ("include", &args.include),
        ("exclude", &args.exclude),
        ("arguments", &args.keep_arguments),
        ("values", &args.keep_values),
    ] {
        if !patterns.is_empty() {
            options.push(format!("{key}([{}])", atoms(patterns)));
        }
    }
    for (key, set) in [
        ("clauses", args.clauses),
        ("libraries", args.libraries),
        ("builtins", args.builtins),
        ("byrd", args.byrd),
        ("symbolic", args.symbolic),
        ("ports", args.ports),
        ("tests", args.tests || start.runs_tests()),
    ] {
        if set {
            options.push(format!("{key}(true)"));
        }
    }
    for (key, unset) in [
        ("boundary", args.no_boundary),
        ("goal_ports", args.wrappers_only),
        ("tail", args.no_tail),
    ] {
        if unset {
            options.push(format!("{key}(false)"));
        }
    }
    if let KeepOption::Auto(Some(size)) = args.keep {
        options.push(format!("figures_beyond({size})"));
    }
    if let Some(limit) = args.limit() {
        let keep = match args.keep {
            KeepOption::Auto(_) | KeepOption::All | KeepOption::First => "first",
            KeepOption::Last => "last",
            KeepOption::Figures(_) => "figures",
        };
        options.push(format!("max_size({limit}), keep({keep})"));
    }
    let library = library.parent().unwrap_or(Path::new("/"));
    let begin = boot_script(directory, library, output, &options.join(", "));
    format!(
        ":- current_prolog_flag(agc_margin, Margin), flag('$portmortem_agc_margin', _, Margin), set_prolog_flag(agc_margin, 0).\n\
         :- current_prolog_flag(gc_thread, true) -> set_prolog_flag(gc_thread, false), flag('$portmortem_gc_thread', _, 1) ; true.\n\
         {begin}"
    )
}
