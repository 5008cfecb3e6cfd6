//! How the program is named that a command runs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::size::parse_size;

/// A Prolog file with its arguments, or a command of the engine. [`crate::commands`] reads it as
/// a start of the engine.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ProgramArgs {
    /// The Prolog file to run
    #[arg(value_name = "FILE.pl", required_unless_present = "arguments")]
    pub(crate) program: Option<PathBuf>,
    /// Arguments for the program that are no options: they need no `--`
    #[arg(value_name = "ARGS", hide = true)]
    words: Vec<String>,
    /// Arguments for the program; without FILE.pl, the command to run: swipl with any of its
    /// options, or a script
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<String>,
    /// Goal to run once, then halt (default: run FILE.pl as `swipl FILE.pl` does)
    #[arg(short, long)]
    pub(crate) goal: Option<String>,
    /// Run the goal to exhaustion instead of once
    #[arg(long, requires = "goal")]
    pub(crate) all: bool,
    /// Stack limit of the program, e.g. 4G (an open box of a recording costs about 240 bytes)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) stack_limit: Option<u64>,
    /// The SWI-Prolog to use
    #[arg(long, value_name = "PATH", default_value = "swipl")]
    pub(crate) swipl: PathBuf,
}

impl ProgramArgs {
    /// What `swipl FILE.pl ARGS` takes, with `--` or without; or a command.
    pub(crate) fn arguments(&self) -> Vec<String> {
        [&self.words[..], &self.arguments].concat()
    }

    /// The same program or, without one, command with other arguments.
    pub(crate) fn with(&self, program: Option<PathBuf>, arguments: &[String]) -> Self {
        Self {
            program,
            words: Vec::new(),
            arguments: arguments.to_vec(),
            ..self.clone()
        }
    }

    /// How it is typed. What follows is no option any more.
    pub(crate) fn typed(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["--swipl".into(), self.swipl.clone().into()];
        if let Some(goal) = &self.goal {
            // In one word: a goal may begin with a dash.
            words.push(format!("--goal={goal}").into());
        }
        if self.all {
            words.push("--all".into());
        }
        if let Some(limit) = self.stack_limit {
            words.push(format!("--stack-limit={limit}").into());
        }
        words.extend(self.program.clone().map(OsString::from));
        words.push("--".into());
        words.extend(self.arguments().into_iter().map(OsString::from));
        words
    }
}
