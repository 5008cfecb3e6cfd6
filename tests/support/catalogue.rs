//! The programs that tests run: `programs/programs.json` (traps for a recorder) and `corpus.json` (classic programs).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::repository;

/// A program and what it must do.
#[derive(Debug, Clone, Deserialize)]
pub struct Program {
    /// Unique in its list.
    pub name: String,
    /// The file, in the list's directory until [`traps`] or [`corpus`] makes it a path.
    pub file: PathBuf,
    /// The goal to run, where the file does not say it by itself.
    pub goal: Option<String>,
    /// Whether the goal is run to exhaustion.
    #[serde(default)]
    pub all: bool,
    /// Arguments, to be given after `--`.
    #[serde(default)]
    pub args: Vec<String>,
    /// Standard input.
    pub stdin: Option<String>,
    /// Exit status.
    pub status: i32,
    /// Exact output; null where it has times in it.
    pub stdout: Option<String>,
    /// Exact standard error; null where it has paths in it.
    pub stderr: Option<String>,
    /// How to count its calls and exits independently.
    pub counter: Counter,
}

/// How to run `port_counter.pl` on a program.
#[derive(Debug, Clone, Deserialize)]
pub struct Counter {
    /// Whether calls and exits must be equal to what it counts.
    pub comparable: bool,
    /// The goal.
    pub goal: String,
    /// Arguments, fewer rounds where the program is long.
    #[serde(default)]
    pub args: Vec<String>,
    /// The predicates that are comparable, if not all are.
    pub only: Option<Vec<String>>,
    /// Predicates that are not comparable, `module:name/arity`.
    #[serde(default)]
    pub except: Vec<String>,
    /// Why not.
    pub why: Option<String>,
}

#[derive(Deserialize)]
struct Traps {
    programs: Vec<Program>,
}

/// The traps.
///
/// # Panics
/// If the list or a file of it is missing.
#[must_use]
pub fn traps() -> Vec<Program> {
    let directory = repository("tests/programs");
    let Traps { mut programs } = read(&directory.join("programs.json"));
    for program in &mut programs {
        program.file = existing(directory.join(&program.file));
    }
    programs
}

#[derive(Deserialize)]
struct Corpus {
    sources: BTreeMap<String, Source>,
    programs: Vec<CorpusProgram>,
}

#[derive(Deserialize)]
struct Source {
    package: Option<String>,
    directory: PathBuf,
}

#[derive(Deserialize)]
struct CorpusProgram {
    name: String,
    source: String,
    file: PathBuf,
    goal: Option<String>,
    count_goal: String,
    #[serde(default)]
    all: bool,
    #[serde(default)]
    args: Vec<String>,
    status: i32,
    stdout: Option<String>,
    comparable: Comparable,
    why: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Comparable {
    /// The word `all`.
    All(String),
    /// These predicates.
    Only(Vec<String>),
}

/// The classic programs. Those of Debian's `gprolog-doc` are copied into `directory`, with a hook that does not
/// start them while they are loaded.
///
/// # Panics
/// If the list, the package or a file is missing.
#[must_use]
pub fn corpus(directory: &Path) -> Vec<Program> {
    let Corpus { sources, programs } = read(&repository("tests/corpus.json"));
    for source in sources.values().filter(|source| source.package.is_some()) {
        copy_sources(&source.directory, directory);
    }
    let hook = repository("tests/prolog/gprolog_hook.pl");
    fs::copy(existing(hook), directory.join("hook.pl")).unwrap();
    programs
        .into_iter()
        .map(|program| {
            let packaged = sources[&program.source].package.is_some();
            let directory = if packaged { directory } else { &repository("") };
            program.found_in(directory)
        })
        .collect()
}

impl CorpusProgram {
    fn found_in(self, directory: &Path) -> Program {
        let only = match self.comparable {
            Comparable::All(word) => {
                assert_eq!(word, "all", "{}", self.name);
                None
            }
            Comparable::Only(predicates) => Some(predicates),
        };
        Program {
            name: self.name,
            file: existing(directory.join(self.file)),
            goal: self.goal,
            all: self.all,
            args: self.args.clone(),
            stdin: None,
            status: self.status,
            stdout: self.stdout,
            stderr: None,
            counter: Counter {
                comparable: true,
                goal: self.count_goal,
                args: self.args,
                only,
                except: Vec::new(),
                why: self.why,
            },
        }
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> T {
    let text = fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn existing(path: PathBuf) -> PathBuf {
    assert!(path.is_file(), "{} is missing", path.display());
    path
}

/// Debian compresses what is large.
fn copy_sources(from: &Path, to: &Path) {
    let entries = fs::read_dir(from)
        .unwrap_or_else(|error| panic!("{}: {error}; make test installs it", from.display()));
    for path in entries.map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".pl") {
            fs::copy(&path, to.join(name)).unwrap();
        } else if let Some(plain) = name
            .strip_suffix(".gz")
            .filter(|name| name.ends_with(".pl"))
        {
            let file = File::create(to.join(plain)).unwrap();
            let status = Command::new("gunzip")
                .arg("-c")
                .arg(&path)
                .stdout(file)
                .status();
            assert!(status.unwrap().success(), "{}", path.display());
        }
    }
}

impl Program {
    /// What to give to `swipl`.
    #[must_use]
    pub fn arguments_of_swipl(&self) -> Vec<OsString> {
        let goal = self.goal.as_ref().map(|goal| {
            let goal = if self.all {
                format!("forall(({goal}), true)")
            } else {
                goal.clone()
            };
            ["-g".into(), goal.into(), "-t".into(), "halt".into()]
        });
        self.after(goal.into_iter().flatten().collect(), &self.args)
    }

    /// What to give to `portmortem record`, options first.
    #[must_use]
    pub fn arguments_of_record(&self) -> Vec<OsString> {
        self.after(self.goal_of_record(), &self.args)
    }

    /// The same with the arguments that it is counted with.
    #[must_use]
    pub fn arguments_of_counted_record(&self) -> Vec<OsString> {
        self.after(self.goal_of_record(), &self.counter.args)
    }

    fn goal_of_record(&self) -> Vec<OsString> {
        let mut options: Vec<OsString> = Vec::new();
        if let Some(goal) = &self.goal {
            options.extend(["-g".into(), goal.into()]);
        }
        if self.all {
            options.push("--all".into());
        }
        options
    }

    fn after(&self, mut arguments: Vec<OsString>, own: &[String]) -> Vec<OsString> {
        arguments.push(self.file.clone().into());
        arguments.push("--".into());
        arguments.extend(own.iter().map(OsString::from));
        arguments
    }
}
