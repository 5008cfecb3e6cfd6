//! What a command did, and what can be demanded of it. Every demand that fails shows the whole session.

use std::fmt;

use crate::masks;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// With an exit status.
    Exit(i32),
    /// By a signal.
    Signal(i32),
    /// Not by itself: it ran longer than a test may wait.
    TimedOut,
}

/// A command that has run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// As typed.
    pub command: String,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// How it ended.
    pub status: Status,
}

impl Outcome {
    /// Standard output as text.
    #[must_use]
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    #[must_use]
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// It must end with this exit status.
    pub fn exits(&self, status: i32) -> &Self {
        self.demand(
            self.status == Status::Exit(status),
            &format!("exit status {status}"),
        )
    }

    /// It must end with status 0 and say nothing on standard error, but for what is chance ([`masks::stderr`]).
    pub fn succeeds(&self) -> &Self {
        let silent = masks::stderr(&self.stderr).is_empty();
        self.exits(0).demand(silent, "nothing on standard error")
    }

    /// Standard output must be exactly this.
    pub fn prints(&self, text: &str) -> &Self {
        self.demand(
            self.out() == text,
            &format!("exactly this output:\n{text}---"),
        )
    }

    /// Standard output must have this in it.
    pub fn shows(&self, text: &str) -> &Self {
        self.demand(
            self.out().contains(text),
            &format!("in the output: {text:?}"),
        )
    }

    /// Standard output must not have this in it.
    pub fn hides(&self, text: &str) -> &Self {
        self.demand(
            !self.out().contains(text),
            &format!("not in the output: {text:?}"),
        )
    }

    /// Standard error must have this in it.
    pub fn says(&self, text: &str) -> &Self {
        self.demand(
            self.err().contains(text),
            &format!("on standard error: {text:?}"),
        )
    }

    /// It must refuse: status 1, nothing on standard output, and one line `error: …` with `text` in it.
    pub fn refuses(&self, text: &str) -> &Self {
        let err = self.err();
        self.exits(1)
            .demand(self.stdout.is_empty(), "no output")
            .demand(
                err.starts_with("error: ") && err.trim_end().lines().count() == 1,
                "one line `error: …`",
            )
            .says(text)
    }

    /// Nothing that only a defect of Portmortem itself would print.
    pub fn is_sound(&self) -> &Self {
        for text in [self.out(), self.err()] {
            for sign in [
                "panicked at",
                "internal error",
                "RUST_BACKTRACE",
                "a defect of Portmortem",
            ] {
                self.demand(!text.contains(sign), &format!("no {sign:?} anywhere"));
            }
        }
        self.demand(
            self.status != Status::TimedOut,
            "an end within the time limit",
        );
        self
    }

    /// Fails the test, showing the session, unless `met`.
    pub fn demand(&self, met: bool, what: &str) -> &Self {
        assert!(met, "wanted {what}\n{self}");
        self
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.command)?;
        f.write_str(&shortened(&self.out()))?;
        for line in shortened(&self.err()).lines() {
            writeln!(f, "stderr: {line}")?;
        }
        write!(f, "[{:?}]", self.status)
    }
}

/// Enough to see what happened.
fn shortened(text: &str) -> String {
    const MOST: usize = 200;
    let lines: Vec<&str> = text.lines().collect();
    let mut shown = lines[..lines.len().min(MOST)].join("\n");
    if lines.len() > MOST {
        shown.push_str(&format!("\n… {} more lines", lines.len() - MOST));
    }
    if !shown.is_empty() {
        shown.push('\n');
    }
    shown
}
