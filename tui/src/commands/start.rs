//! How the program is started: `swipl FILE`, or any command line of the engine behind `--`.
//!
//! The recorder gets in as the engine's site file (`-F`), which is loaded before all else and
//! leaves nothing behind. The engine adds a directory and an extension to its name, so it is given
//! as a path from there. All other words are the user's.

use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use portmortem_analyzer::trace::names::quoted;

use super::prolog::atoms;
use super::refuse_trace;
use crate::cli::ProgramArgs;

/// Options of the engine, by their letters, that are followed by a value.
const WITH_VALUE: &str = "dpxofFlsgt";
/// The only words that the engine answers by itself.
const QUESTIONS: [&str; 4] = ["--help", "--version", "--abi-version", "--arch"];
/// The goal that runs the tests of plunit.
pub(crate) const RUN_TESTS: &str = "run_tests";
/// Up from any directory to the root.
const UP: &str = "../../../../../../../../../../../../../../../../../../../../../../../../";
/// The extension of a site file.
const SITE: &str = "rc";

/// A command line of the engine.
#[derive(Debug)]
pub(crate) struct Start {
    /// The command as it would be without recording.
    command: Vec<String>,
    /// How a person would type it, for the trace.
    shown: Vec<String>,
    /// The program's file, if the command names one.
    pub(crate) program: Option<PathBuf>,
    /// The engine, as it is named.
    pub(crate) engine: String,
    /// What the engine gets, without the site file.
    words: Vec<String>,
    /// Arguments that the boot script adds: the engine would take some for its own if it got them
    /// with an option before them.
    arguments: Vec<String>,
    /// The site file that the user names.
    site: Option<String>,
    /// The program is a saved state that is run by its name.
    is_state: bool,
}

impl Start {
    /// What `args` ask for. `portmortem` is the command of ours that they were given to.
    ///
    /// # Errors
    /// If there is no such file, or what is behind `--` is no command of the engine.
    pub(crate) fn new(args: &ProgramArgs, portmortem: &str) -> Result<Self> {
        let arguments = args.arguments();
        let mut limit = Vec::new();
        limit.extend(
            args.stack_limit
                .map(|limit| format!("--stack-limit={limit}b")),
        );
        let Some(program) = &args.program else {
            ensure!(
                args.goal.is_none(),
                "-g GOAL is for a Prolog file; in a command it comes behind the engine: portmortem {portmortem} -- swipl -g GOAL …"
            );
            return Self::of_command(&arguments, limit, args, portmortem);
        };
        if !program.is_file() {
            bail!("{}: no such Prolog file", program.display());
        }
        refuse_trace(program)?;
        let name = program.display().to_string();
        let engine = args.swipl.display().to_string();
        let shown = [&[engine.clone(), name.clone()], &arguments[..]].concat();
        if is_saved_state(program) {
            ensure!(
                args.goal.is_none(),
                "{name}: a saved state has its goal already"
            );
            return Ok(Self {
                shown,
                ..Self::of_state(program, &arguments, args)
            });
        }
        let mut words = limit;
        if let Some(goal) = &args.goal {
            let goal = if args.all {
                format!("({goal}, fail ; true)")
            } else {
                goal.clone()
            };
            words.extend(["-g".to_owned(), goal, "-t".to_owned(), "halt".to_owned()]);
        }
        words.push(name);
        if is_prolog_file(program) {
            words.push("--".to_owned());
        }
        words.extend(arguments);
        Ok(Self {
            shown,
            ..Self::of_engine(engine, words)
        })
    }

    /// `swipl …`, or a script or a saved state by its name, with its arguments.
    fn of_command(
        command: &[String],
        limit: Vec<String>,
        args: &ProgramArgs,
        portmortem: &str,
    ) -> Result<Self> {
        let Some((first, rest)) = command.split_first() else {
            bail!(
                "nothing to run: name a Prolog file, or a command: portmortem {portmortem} -- swipl …"
            );
        };
        let path = Path::new(first);
        if first.contains('/') && is_saved_state(path) {
            return Ok(Self::of_state(path, rest, args));
        }
        let interpreter = if path.is_file() {
            interpreter(path)
        } else {
            None
        };
        let (engine, mut words) = match interpreter {
            Some((engine, options)) => {
                let script = std::iter::once(first.clone());
                (engine, options.into_iter().chain(script).collect())
            }
            None if is_prolog_file(path) => bail!(
                "{first}: a Prolog file, not a command; name it before `--`, or behind the engine: portmortem {portmortem} -- swipl {first}"
            ),
            None if is_another_program(first) => bail!(
                "{first} is not SWI-Prolog, so nothing would be recorded; name the engine behind `--`: portmortem {portmortem} -- swipl …"
            ),
            None => (first.clone(), limit),
        };
        words.extend(rest.iter().cloned());
        Ok(Self::of_engine(engine, words))
    }

    fn of_engine(engine: String, all: Vec<String>) -> Self {
        let line = EngineWords::read(&all);
        let is_script = all.len() > 1 && all.first().is_some_and(|word| is_script(word));
        let (words, arguments) = if is_script {
            (all[..1].to_vec(), all[1..].to_vec())
        } else {
            (line.words, Vec::new())
        };
        let command: Vec<_> = std::iter::once(engine.clone()).chain(all).collect();
        Self {
            shown: command.clone(),
            command,
            program: line.program,
            engine,
            words,
            arguments,
            site: line.site,
            is_state: false,
        }
    }

    fn of_state(state: &Path, arguments: &[String], args: &ProgramArgs) -> Self {
        let state_word = state.display().to_string();
        let command = [std::slice::from_ref(&state_word), arguments].concat();
        Self {
            shown: command.clone(),
            command,
            program: Some(state.to_path_buf()),
            engine: args.swipl.display().to_string(),
            words: vec!["-x".to_owned(), state_word],
            arguments: arguments.to_vec(),
            site: None,
            is_state: true,
        }
    }

    /// The word by which the engine runs no program, if there is one.
    pub(crate) fn runs_nothing(&self) -> Option<&str> {
        if self.is_state || !self.arguments.is_empty() {
            return None;
        }
        let [_, words @ ..] = self.command.as_slice() else {
            return None;
        };
        if let [only] = words
            && QUESTIONS.contains(&only.replace('_', "-").as_str())
        {
            return Some(only);
        }
        let mut options = words.iter().take_while(|word| *word != "--");
        options
            .find(|word| {
                *word == "-c" || *word == "-b" || word.starts_with("--dump-runtime-variables")
            })
            .map(String::as_str)
    }

    /// Whether a goal of the command runs tests of plunit, as far as its words say.
    pub(crate) fn runs_tests(&self) -> bool {
        self.command.iter().any(|word| word.contains(RUN_TESTS))
    }

    /// The command without recording.
    pub(crate) fn unrecorded(&self) -> Command {
        let mut command = Command::new(&self.engine);
        command.args(&self.words);
        command
    }

    /// The command with a site file, whose name must be [`site_file`]'s. That has to do what
    /// [`Start::options`] are for.
    pub(crate) fn with_site_file(&self, boot: &Path) -> Command {
        let mut command = Command::new(&self.engine);
        command.args(site_option(boot));
        command.args(&self.words);
        command
    }

    /// What `portmortem_start.pl` must know, as options of Prolog: the engine's flags and the site
    /// file as without ours.
    pub(crate) fn options(&self) -> Vec<String> {
        vec![
            format!("os_argv([{}])", atoms(&self.command)),
            format!("arguments_of_program([{}])", atoms(&self.arguments)),
            format!("by_name({})", self.is_state),
            match &self.site {
                Some(site) => format!("site({})", quoted(site)),
                None => format!("site({})", quoted(&self.default_site())),
            },
        ]
    }

    /// What the trace says of the command, as options of Prolog.
    pub(crate) fn description(&self) -> Vec<String> {
        let mut options = vec![format!("command([{}])", atoms(&self.shown))];
        let program = self.program.as_ref();
        let program = program.and_then(|program| std::path::absolute(program).ok());
        if let Some(directory) = program.as_deref().and_then(Path::parent) {
            let directory = quoted(&directory.display().to_string());
            options.push(format!("directory({directory})"));
        }
        options
    }

    /// The name of the default site file, without extension: that of the engine.
    fn default_site(&self) -> String {
        let stem = Path::new(&self.engine).file_stem();
        stem.unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The trace, if it is given no other name: in the current directory.
    ///
    /// # Errors
    /// If the program's path ends in no name.
    pub(crate) fn trace(&self) -> Result<PathBuf> {
        let named = self.program.as_deref().unwrap_or(Path::new(&self.engine));
        let stem = named.file_stem().context("the program has no file name")?;
        Ok(PathBuf::from(stem).with_extension("pmt"))
    }
}

/// A boot script in `directory`.
pub(crate) fn site_file(directory: &Path) -> PathBuf {
    directory.join("boot").with_extension(SITE)
}

/// The option that makes the engine load a site file, whose name must be [`site_file`]'s.
pub(crate) fn site_option(boot: &Path) -> [String; 2] {
    let base = boot.with_extension("").display().to_string();
    let path = format!("{UP}{}", base.trim_start_matches('/'));
    ["-F".to_owned(), path]
}

/// What the words behind the engine mean.
#[derive(Debug, Default, PartialEq)]
struct EngineWords {
    /// All but the site file.
    words: Vec<String>,
    site: Option<String>,
    program: Option<PathBuf>,
}

impl EngineWords {
    /// As the engine reads them: long options have no value of their own, letters may share a dash,
    /// and each letter with a value takes the next word.
    fn read(all: &[String]) -> Self {
        let mut line = Self::default();
        let mut script = None;
        let mut rest = all.iter();
        while let Some(word) = rest.as_slice().first() {
            let letters = match word.strip_prefix('-') {
                Some("-") | None => break,
                Some(letters) => letters,
            };
            rest.next();
            if letters.starts_with('-') || letters.starts_with('D') {
                line.words.push(word.clone());
                continue;
            }
            let mut kept = String::from("-");
            let mut values = Vec::new();
            for letter in letters.chars() {
                if letter != 'F' {
                    kept.push(letter);
                }
                let value = if WITH_VALUE.contains(letter) {
                    rest.next()
                } else {
                    None
                };
                match (letter, value) {
                    ('F', value) => line.site = value.cloned(),
                    ('l' | 's' | 'x', Some(file)) => {
                        script.get_or_insert_with(|| PathBuf::from(file));
                        values.push(file.clone());
                    }
                    (_, value) => values.extend(value.cloned()),
                }
            }
            if kept != "-" || letters.is_empty() {
                line.words.push(kept);
            }
            line.words.extend(values);
        }
        let file = rest.as_slice().first().filter(|word| *word != "--");
        line.program = file.map(PathBuf::from).or(script);
        line.words.extend(rest.cloned());
        line
    }
}

/// Whether the engine takes the file for one of several to load. Any other name is that of a
/// script, and all that follows are its arguments, a `--` as well.
fn is_prolog_file(program: &Path) -> bool {
    program
        .extension()
        .is_some_and(|extension| extension == "pl" || extension == "prolog" || extension == "qlf")
}

/// Whether the file is a state that `swipl -o FILE -c …` saved: a ZIP archive behind a shell script
/// or a copy of the engine.
fn is_saved_state(path: &Path) -> bool {
    /// How the last record of an archive begins, and its size where it has no comment; those of
    /// states have none.
    const END: (&[u8], usize) = (b"PK\x05\x06", 22);
    let mut last = [0; END.1];
    let read = |mut file: File| {
        file.seek(SeekFrom::End(-(END.1 as i64)))?;
        file.read_exact(&mut last)
    };
    path.is_file() && File::open(path).and_then(read).is_ok() && last.starts_with(END.0)
}

/// Whether a word names a file that begins with `#!`.
fn is_script(word: &str) -> bool {
    let path = Path::new(word);
    !word.starts_with('-') && path.is_file() && first_line(path).starts_with("#!")
}

/// The SWI-Prolog that the first line of a script names, and the options there.
fn interpreter(script: &Path) -> Option<(String, Vec<String>)> {
    let line = first_line(script);
    let (interpreter, rest) = split_word(line.strip_prefix("#!")?);
    let is_env = Path::new(interpreter)
        .file_name()
        .is_some_and(|name| name == "env");
    let (engine, options): (_, Vec<String>) = match rest.strip_prefix("-S").filter(|_| is_env) {
        Some(words) => {
            let (engine, rest) = split_word(words);
            (engine, rest.split_whitespace().map(str::to_owned).collect())
        }
        None if is_env => (rest, Vec::new()),
        // The system passes all of it as one word.
        None if rest.is_empty() => (interpreter, Vec::new()),
        None => (interpreter, vec![rest.to_owned()]),
    };
    let name = Path::new(engine).file_name()?.to_str()?;
    let is_prolog = name.contains("swipl") || name.contains("swi-prolog");
    is_prolog.then(|| (engine.to_owned(), options))
}

/// Whether a command is a machine program that does not even name SWI-Prolog, as the engine does
/// and whatever it is built into.
fn is_another_program(command: &str) -> bool {
    const MACHINE: &[u8] = b"\x7fELF";
    const NAME: &[u8] = b"swipl";
    let place = match command.contains('/') {
        true => Some(PathBuf::from(command)),
        false => env::var_os("PATH").and_then(|path| {
            let mut places = env::split_paths(&path).map(|directory| directory.join(command));
            places.find(|place| place.is_file())
        }),
    };
    let bytes = place
        .filter(|place| place.is_file())
        .and_then(|place| fs::read(place).ok());
    bytes.is_some_and(|bytes| {
        bytes.starts_with(MACHINE) && !bytes.windows(NAME.len()).any(|window| window == NAME)
    })
}

/// The first word of a text, and what follows it.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

/// The first line of a file; nothing if it is no text.
fn first_line(path: &Path) -> String {
    /// The system reads no longer lines, either.
    const LONGEST: u64 = 256;
    let mut line = String::new();
    if let Ok(file) = File::open(path) {
        let _ = BufReader::new(file.take(LONGEST)).read_line(&mut line);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> EngineWords {
        EngineWords::read(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn the_engine_s_options_are_read_as_the_engine_does() {
        let read = line("-O -q -p library=lib --traditional script.pl -F x");
        assert_eq!(read.program, Some("script.pl".into()));
        assert_eq!(read.site, None);
        assert_eq!(
            read.words.join(" "),
            "-O -q -p library=lib --traditional script.pl -F x"
        );
        let read = line("-qFg site goal -Dx=1 -- a");
        assert_eq!(read.site.as_deref(), Some("site"));
        assert_eq!(read.words.join(" "), "-qg goal -Dx=1 -- a");
        assert_eq!(read.program, None);
        let read = line("-F none -l file.pl");
        assert_eq!(read.words.join(" "), "-l file.pl");
        assert_eq!(read.program, Some("file.pl".into()));
    }
}
