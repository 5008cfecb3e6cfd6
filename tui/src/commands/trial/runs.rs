//! What all runs of a program have in common, and how two runs differ.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use portmortem_analyzer::Analysis;
use portmortem_analyzer::trace::names::{printable, quoted};
use tempfile::TempDir;

use super::super::start::{Start, site_file};
use super::child::{self, ChildRun};
use super::ending::Ending;
use super::verdict::TrialVerdict;
use crate::cli::TrialArgs;
use crate::engine_library::START;

/// Notes what is bound.
const BOUND: &str = include_str!("../../../prolog/portmortem_bound.pl");

/// A changed program may take this, or so many times what the first run took.
const LEAST_LIMIT: Duration = Duration::from_secs(10);
const LIMIT: u32 = 10;

/// A program that runs often: its command, its input, and a place for temporary files.
pub(crate) struct Runs<'a> {
    pub(super) args: &'a TrialArgs,
    start: Start,
    // First what runs ends, then the files go.
    ending: Ending,
    directory: TempDir,
    input: PathBuf,
}

impl<'a> Runs<'a> {
    /// Runs of the program that `args` name, to the command of ours that they were given to.
    ///
    /// # Errors
    /// If there is no such program, or no place for temporary files.
    pub(crate) fn of_program(args: &'a TrialArgs, portmortem: &str) -> Result<Self> {
        Self::new(args, Start::new(&args.run, portmortem)?)
    }

    /// Runs of the command that a trace was recorded with.
    ///
    /// # Errors
    /// If its program is not here.
    pub(crate) fn of_trace(
        analysis: &Analysis,
        args: &'a TrialArgs,
        portmortem: &str,
    ) -> Result<Self> {
        ensure!(
            args.run.arguments().is_empty(),
            "a trace has the arguments of its program already"
        );
        let command = &analysis.trace.header().command;
        let gone = || {
            let command = printable(&command.join(" "));
            format!("the program of this trace is not here; it was recorded as: {command}")
        };
        let run = match command.as_slice() {
            // As a file was recorded, without the goal.
            [_, program, arguments @ ..] if Path::new(program).is_file() => {
                args.run.with(Some(program.into()), arguments)
            }
            _ => {
                ensure!(
                    args.run.goal.is_none(),
                    "the command of this trace has its goal"
                );
                args.run.with(None, command)
            }
        };
        let start = Start::new(&run, portmortem).with_context(gone)?;
        let is_here = start
            .program
            .as_ref()
            .is_some_and(|program| program.is_file());
        ensure!(is_here, gone());
        Self::new(args, start)
    }

    /// Reads our standard input, which each run gets; nothing of a terminal.
    fn new(args: &'a TrialArgs, start: Start) -> Result<Self> {
        if let Some(word) = start.runs_nothing() {
            bail!("with {word} the engine runs no program, so there is nothing to try");
        }
        // A signal ends that as any other program: nothing is there to undo.
        let mut read = Vec::new();
        if !io::stdin().is_terminal() {
            io::stdin().read_to_end(&mut read)?;
        }
        let directory = tempfile::Builder::new().prefix("portmortem-").tempdir()?;
        let ending = Ending::new(directory.path())?;
        let input = directory.path().join("input");
        fs::write(&input, read)?;
        Ok(Self {
            args,
            start,
            ending,
            directory,
            input,
        })
    }

    /// How the program is started.
    pub(crate) fn start(&self) -> &Start {
        &self.start
    }

    /// Where temporary files go.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// What happens if all ends before its time.
    pub(crate) fn ending(&self) -> &Ending {
        &self.ending
    }

    /// Writes a trace of the program; how that ended.
    ///
    /// # Errors
    /// If nothing was recorded, or it takes too long.
    pub(crate) fn record(&self, trace: &Path, options: &[&str]) -> Result<ExitStatus> {
        let args = self.args;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["record", "--no-index", "-o"]).arg(trace);
        command.args(options).args(args.run.typed());
        let run = self.run_for(command, args.limit())?.with_context(|| {
            let seconds = args.limit().as_secs();
            format!(
                "the recorded program did not end in {seconds} s; give it more with --time-limit"
            )
        })?;
        if !trace.is_file() {
            bail!(
                "nothing was recorded: {}",
                String::from_utf8_lossy(&run.stderr).trim()
            );
        }
        Ok(run.status)
    }

    /// Runs the program with these texts in place of its files; `None` if it does not end in time.
    pub(super) fn run(
        &self,
        changed: &[(PathBuf, String)],
        first: Option<&ChildRun>,
    ) -> Result<Option<ChildRun>> {
        let limit = self.args.limit();
        let limit = first.map_or(limit, |first| {
            (first.elapsed * LIMIT).max(LEAST_LIMIT).min(limit)
        });
        let command = self.engine(changed, "")?;
        self.run_for(command, limit)
    }

    /// Runs the program with these texts, in which goals of `portmortem_bound.pl` stand: what they
    /// noted, as facts; nothing if it does not end in time.
    pub(super) fn bound(&self, probes: &[(PathBuf, String)]) -> Result<String> {
        let module = self.directory().join("portmortem_bound.pl");
        fs::write(&module, BOUND)?;
        let notes = self.directory().join("bound");
        let [module, path] = [&module, &notes].map(|path| quoted(&path.display().to_string()));
        let load = format!(":- use_module({module}, []).\n:- portmortem_bound:note_in({path}).\n");
        let command = self.engine(probes, &load)?;
        match self.run_for(command, self.args.limit())? {
            Some(_) if notes.exists() => Ok(fs::read_to_string(notes)?),
            _ => Ok(String::new()),
        }
    }

    /// Whether the last run opened a file whose text was changed.
    pub(super) fn loaded_changes(&self) -> bool {
        self.loaded().exists()
    }

    fn loaded(&self) -> PathBuf {
        self.directory().join("loaded")
    }

    fn run_for(&self, command: Command, limit: Duration) -> Result<Option<ChildRun>> {
        child::run(command, &self.input, self.directory(), limit, &self.ending)
    }

    /// The engine with the program, and changed texts in place of its files; `first` are directives
    /// that come before all else.
    fn engine(&self, changed: &[(PathBuf, String)], first: &str) -> Result<Command> {
        let of_start = self.directory().join("portmortem_start.pl");
        fs::write(&of_start, START)?;
        let options = self.start.options().join(", ");
        let mut script = format!(
            ":- use_module({}, []).\n:- portmortem_start:restore_command([{options}]).\n",
            quoted(&of_start.display().to_string())
        );
        script += first;
        let loaded = self.loaded();
        let _ = fs::remove_file(&loaded);
        if !changed.is_empty() {
            script += ":- multifile prolog:open_source_hook/3.\n\
                       :- dynamic prolog:open_source_hook/3.\n";
        }
        for (number, (file, text)) in changed.iter().enumerate() {
            let path = self.directory().join(format!("changed-{number}.pl"));
            fs::write(&path, text)?;
            let [file, text, loaded] = [file.as_path(), path.as_path(), loaded.as_path()]
                .map(|path| quoted(&path.display().to_string()));
            script += &format!(
                "prolog:open_source_hook(Path, In, _) :-\n    same_file(Path, {file}), !,\n    \
                 open({loaded}, write, Out), close(Out),\n    open({text}, read, In),\n    \
                 set_stream(In, file_name(Path)).\n"
            );
        }
        script += &format!(":- portmortem_start:load_site_file([{options}]).\n");
        let site = site_file(self.directory());
        fs::write(&site, script)?;
        Ok(self.start.with_site_file(&site))
    }
}

/// What the engine says on standard error when it ends while its collecting thread works.
const COLLECTOR_LIVES: &[u8] = b"% The following threads wouldn't die: [gc]\n";

/// How a run differs from the first one, but for the time.
pub(super) fn difference(first: &ChildRun, run: &ChildRun) -> Option<TrialVerdict> {
    if first.status != run.status {
        return Some(TrialVerdict::OtherStatus(format!(
            "{}, not {}",
            run.status, first.status
        )));
    }
    for (name, old, new) in [
        ("", &first.stdout, &run.stdout),
        ("on standard error, ", &first.stderr, &run.stderr),
    ] {
        // What the compiler and the engine say themselves is no fault of the change.
        let (old, new) = (&of_program(old), &of_program(new));
        if old == new {
            continue;
        }
        let lines = |text: &[u8]| -> Vec<String> {
            let text = String::from_utf8_lossy(text);
            text.lines().map(printable).collect()
        };
        let (old, new) = (lines(old), lines(new));
        let at = (0..).find(|&at| old.get(at) != new.get(at) || at >= old.len());
        let at = at.unwrap_or_default();
        let line = |lines: &[String]| match lines.get(at) {
            Some(line) => format!("\"{line}\""),
            None => "the end".to_owned(),
        };
        return Some(TrialVerdict::OtherOutput(format!(
            "{name}line {} is {}, not {}",
            at + 1,
            line(&new),
            line(&old)
        )));
    }
    None
}

/// The text without the compiler's warnings of variables that stand only once, and without the
/// line of an engine that ends while its collecting thread still works, which depends on time.
fn of_program(text: &[u8]) -> Vec<u8> {
    // The engine ends the line of standard output first, and does so on standard error.
    let text = match text.strip_prefix(b"\n") {
        Some(rest) if rest.starts_with(COLLECTOR_LIVES) => rest,
        _ => text,
    };
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let is = |at: usize, word: &str| {
        let line = lines.get(at).map(|line| String::from_utf8_lossy(line));
        line.is_some_and(|line| line.starts_with("Warning:") && line.contains(word))
    };
    let kept = (0..lines.len()).filter(|&at| {
        let is_singleton = is(at, "Singleton");
        // The place stands in the line above.
        !(is_singleton || is(at, "") && is(at + 1, "Singleton") || lines[at] == COLLECTOR_LIVES)
    });
    kept.flat_map(|at| lines[at].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::{COLLECTOR_LIVES, of_program};

    #[test]
    fn a_collector_that_lives_on_is_no_output() {
        for (before, program) in [("", ""), ("\n", ""), ("Warning: a\n", "Warning: a\n")] {
            let text = [before.as_bytes(), COLLECTOR_LIVES].concat();
            assert_eq!(of_program(&text), program.as_bytes());
        }
        assert_eq!(of_program(b"\nWarning: a\n"), b"\nWarning: a\n");
    }
}
