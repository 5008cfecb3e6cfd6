//! Starting SWI-Prolog with the recorder loaded, and waiting for it.
//!
//! The engine runs as `swipl -s BOOT … FILE -- ARGS` (without `--` if FILE is a script without extension). BOOT is a small script in a temporary directory that
//! loads `library(portmortem)` and begins the recording before the program is loaded.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use tempfile::TempDir;

use crate::cli::{Keep, RecordArgs};
use crate::engine_library;

/// What the program reads and writes.
pub(crate) enum Streams {
    /// Our own: the terminal, or whatever we were given.
    Ours,
    /// This is its input; nobody sees its output.
    Apart(Stdio),
}

/// Runs the program and records it into `output`. Returns when it ends.
pub(crate) fn run(args: &RecordArgs, output: &Path, streams: Streams) -> Result<ExitStatus> {
    let library = engine_library::find()?;
    let boot = write_boot(args, output, &library)?;
    // Before the engine starts: a signal that comes in between must not end us first.
    let signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP])?;
    let mut command = engine_command(args, &boot.path().join("boot.pl"));
    if let Streams::Apart(input) = streams {
        command
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
    }
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!(
            "no SWI-Prolog: `{}` was not found; install it (Debian: apt-get install swi-prolog-nox) or name it with --swipl PATH",
            args.swipl.display()
        ),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot run {}", args.swipl.display()));
        }
    };
    wait(child, signals)
}

/// What the engine needs to load: the library's sources and the script that begins the recording.
fn write_boot(args: &RecordArgs, output: &Path, library: &Path) -> Result<TempDir> {
    let directory = tempfile::Builder::new()
        .prefix("portmortem-")
        .tempdir()
        .context("cannot make a temporary directory")?;
    for (name, text) in engine_library::SOURCES {
        fs::write(directory.path().join(name), text)?;
    }
    fs::write(
        directory.path().join("boot.pl"),
        boot_script(args, output, library, directory.path()),
    )?;
    Ok(directory)
}

fn boot_script(args: &RecordArgs, output: &Path, library: &Path, directory: &Path) -> String {
    let mut options = vec![format!("force({})", args.force)];
    let mut command = vec![
        args.swipl.display().to_string(),
        args.program.display().to_string(),
    ];
    command.extend(args.arguments.iter().cloned());
    options.push(format!("command([{}])", atoms(&command)));
    let program = std::path::absolute(&args.program).unwrap_or_else(|_| args.program.clone());
    if let Some(directory) = program.parent() {
        let directory = atom(&directory.display().to_string());
        options.push(format!("directory({directory})"));
    }
    for (key, patterns) in [
        ("include", &args.include),
        ("exclude", &args.exclude),
        ("arguments", &args.keep_arguments),
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
    if let Some(limit) = args.max_size {
        let keep = if args.keep == Keep::Last {
            "last"
        } else {
            "first"
        };
        options.push(format!("max_size({limit}), keep({keep})"));
    }
    format!(
        ":- asserta(user:file_search_path(library, {sources})).\n\
         :- asserta(user:file_search_path(foreign, {library})).\n\
         :- use_module(library(portmortem), []).\n\
         :- portmortem:boot({output}, [{options}]).\n",
        sources = atom(&directory.display().to_string()),
        library = atom(
            &library
                .parent()
                .unwrap_or(Path::new("/"))
                .display()
                .to_string()
        ),
        output = atom(&output.display().to_string()),
        options = options.join(", "),
    )
}

fn atoms(texts: &[String]) -> String {
    texts
        .iter()
        .map(|text| atom(text))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A quoted Prolog atom.
fn atom(text: &str) -> String {
    let mut quoted = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            c if c.is_control() => quoted.push_str(&format!("\\x{:x}\\", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

fn engine_command(args: &RecordArgs, boot: &Path) -> Command {
    let mut command = Command::new(&args.swipl);
    command.arg("-s").arg(boot);
    if let Some(limit) = args.stack_limit {
        command.arg(format!("--stack-limit={limit}b"));
    }
    if let Some(goal) = &args.goal {
        let goal = if args.all {
            format!("({goal}, fail ; true)")
        } else {
            goal.clone()
        };
        command.args(["-g", &goal, "-t", "halt"]);
    }
    command.arg(&args.program);
    if is_prolog_file(&args.program) {
        command.arg("--");
    }
    command.args(&args.arguments);
    command
}

/// Whether the engine takes the file for one of several to load. Any other name is that of a script, and all that follows are
/// its arguments, a `--` as well.
fn is_prolog_file(program: &Path) -> bool {
    program
        .extension()
        .is_some_and(|extension| extension == "pl" || extension == "prolog" || extension == "qlf")
}

/// Waits for the program. The terminal sends its signals to the program as well; those meant for us alone are passed on.
fn wait(mut child: Child, mut signals: Signals) -> Result<ExitStatus> {
    let handle = signals.handle();
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let forwarder = thread::spawn(move || {
        for signal in signals.forever() {
            let forwarded = match signal {
                SIGTERM => Signal::TERM,
                SIGHUP => Signal::HUP,
                _ => continue,
            };
            if let Some(pid) = pid {
                // It may have ended already: then there is nobody to tell.
                let _ = kill_process(pid, forwarded);
            }
        }
    });
    let status = child.wait().context("cannot wait for the program")?;
    handle.close();
    let _ = forwarder.join();
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_are_quoted() {
        assert_eq!(atom("it's a \\ path"), r"'it\'s a \\ path'");
        assert_eq!(atom("a\nb"), "'a\\xa\\b'");
    }
}
