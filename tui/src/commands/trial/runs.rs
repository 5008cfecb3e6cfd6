//! What all runs of a program have in common, and how two runs differ.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use portmortem_analyzer::Analysis;
use portmortem_analyzer::trace::names::printable;
use tempfile::TempDir;

use super::super::engine::{atom, atoms};
use super::super::start::{site_file, site_option};
use super::child::{self, Run};
use super::ending::Ending;
use super::verdict::Verdict;
use crate::cli::TrialArgs;

/// A changed program may take this, or so many times what the first run took.
const LEAST_LIMIT: Duration = Duration::from_secs(10);
const LIMIT: u32 = 10;

/// A program that runs often: its command, its input, and a place for temporary files.
pub(crate) struct Runs<'a> {
    pub(super) args: &'a TrialArgs,
    /// What the engine gets.
    words: Vec<String>,
    // First what runs ends, then the files go.
    ending: Ending,
    directory: TempDir,
    input: PathBuf,
}

impl<'a> Runs<'a> {
    /// Runs of a Prolog file.
    ///
    /// # Errors
    /// If there is no such program, or no place for temporary files.
    pub(crate) fn of_file(program: &Path, args: &'a TrialArgs) -> Result<Self> {
        ensure!(
            program.is_file(),
            "{}: no such Prolog file",
            program.display()
        );
        Self::new(
            args,
            words(program.display().to_string(), &args.arguments, args),
        )
    }

    /// Runs of the command that a trace was recorded with.
    ///
    /// # Errors
    /// If its program is not here.
    pub(crate) fn of_trace(analysis: &Analysis, args: &'a TrialArgs) -> Result<Self> {
        ensure!(
            args.arguments.is_empty(),
            "a trace has the arguments of its program already"
        );
        let command = &analysis.trace.header().command;
        let all = command.get(1..).unwrap_or_default();
        let mut named = all.iter().take_while(|word| *word != "--");
        ensure!(
            named.any(|word| Path::new(word).is_file()),
            "the program of this trace is not here; it was recorded as: {}",
            printable(&command.join(" "))
        );
        match all {
            // As `record` shows what it was given, without the goal.
            [program, arguments @ ..] if Path::new(program).is_file() => {
                Self::new(args, words(program.clone(), arguments, args))
            }
            _ => {
                ensure!(
                    args.goal.is_none(),
                    "the command of this trace has its goal"
                );
                Self::new(args, all.to_vec())
            }
        }
    }

    /// Reads our standard input, which each run gets; nothing of a terminal.
    fn new(args: &'a TrialArgs, words: Vec<String>) -> Result<Self> {
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
            words,
            ending,
            directory,
            input,
        })
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
    pub(crate) fn record(
        &self,
        program: &Path,
        trace: &Path,
        options: &[&str],
    ) -> Result<ExitStatus> {
        let args = self.args;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["record", "--no-index", "-o"]).arg(trace);
        command.arg("--swipl").arg(&args.swipl).args(options);
        if let Some(goal) = &args.goal {
            command.arg("--goal").arg(goal);
        }
        command.arg(program).arg("--").args(&args.arguments);
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
        first: Option<&Run>,
    ) -> Result<Option<Run>> {
        let limit = self.args.limit();
        let limit = first.map_or(limit, |first| {
            (first.elapsed * LIMIT).max(LEAST_LIMIT).min(limit)
        });
        let command = self.engine(changed)?;
        self.run_for(command, limit)
    }

    /// Whether the last run opened a file whose text was changed.
    pub(super) fn loaded_changes(&self) -> bool {
        self.loaded().exists()
    }

    fn loaded(&self) -> PathBuf {
        self.directory().join("loaded")
    }

    fn run_for(&self, command: Command, limit: Duration) -> Result<Option<Run>> {
        child::run(command, &self.input, self.directory(), limit, &self.ending)
    }

    /// The engine with the program, and changed texts in place of its files.
    fn engine(&self, changed: &[(PathBuf, String)]) -> Result<Command> {
        let swipl = self.args.swipl.display().to_string();
        let all: Vec<String> = std::iter::once(swipl)
            .chain(self.words.iter().cloned())
            .collect();
        let mut script = format!(":- set_prolog_flag(os_argv, [{}]).\n", atoms(&all));
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
                .map(|path| atom(&path.display().to_string()));
            script += &format!(
                "prolog:open_source_hook(Path, In, _) :-\n    same_file(Path, {file}), !,\n    \
                 open({loaded}, write, Out), close(Out),\n    open({text}, read, In),\n    \
                 set_stream(In, file_name(Path)).\n"
            );
        }
        let site = site_file(self.directory());
        fs::write(&site, script)?;
        let mut command = Command::new(&self.args.swipl);
        command.args(site_option(&site)).args(&self.words);
        Ok(command)
    }
}

/// What the engine gets to run a file.
fn words(program: String, arguments: &[String], args: &TrialArgs) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(goal) = &args.goal {
        words.extend(["-g", goal, "-t", "halt"].map(str::to_owned));
    }
    words.extend([program, "--".to_owned()]);
    words.extend(arguments.iter().cloned());
    words
}

/// How a run differs from the first one, but for the time.
pub(super) fn difference(first: &Run, run: &Run) -> Option<Verdict> {
    if first.status != run.status {
        return Some(Verdict::OtherStatus(format!(
            "{}, not {}",
            run.status, first.status
        )));
    }
    for (name, old, new) in [
        ("", &first.stdout, &run.stdout),
        ("on standard error, ", &first.stderr, &run.stderr),
    ] {
        // That a variable stands only once now is no fault of the change.
        let (old, new) = (&without_warnings(old), &without_warnings(new));
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
        return Some(Verdict::OtherOutput(format!(
            "{name}line {} is {}, not {}",
            at + 1,
            line(&new),
            line(&old)
        )));
    }
    None
}

/// The text without the warnings that the compiler gives of singleton variables.
fn without_warnings(text: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let is = |at: usize, word: &str| {
        let line = lines.get(at).map(|line| String::from_utf8_lossy(line));
        line.is_some_and(|line| line.starts_with("Warning:") && line.contains(word))
    };
    let kept = (0..lines.len()).filter(|&at| {
        let is_singleton = is(at, "Singleton");
        // The place stands in the line above.
        !(is_singleton || is(at, "") && is(at + 1, "Singleton"))
    });
    kept.flat_map(|at| lines[at].iter().copied()).collect()
}
