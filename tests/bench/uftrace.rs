//! A C program recorded and reported by uftrace, for comparison.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

const SOURCE: &str = include_str!("uftrace-calls.c");

/// A recording by uftrace.
pub(crate) struct Recording {
    data: PathBuf,
    /// Entries and exits of functions, those that were lost not counted.
    pub(crate) events: u64,
    /// Calls that the program made and uftrace did not record.
    pub(crate) lost_calls: u64,
    /// Size of the records.
    pub(crate) bytes: u64,
}

impl Recording {
    /// Compiles a program and records so many calls of it.
    pub(crate) fn make(directory: &Path, calls: u64) -> Result<Self> {
        fs::create_dir_all(directory)?;
        let source = directory.join("calls.c");
        fs::write(&source, SOURCE)?;
        let program = directory.join("calls");
        let mut compile = Command::new("gcc");
        compile
            .args(["-O1", "-pg", "-o"])
            .arg(&program)
            .arg(&source);
        run(&mut compile)?;
        let data = directory.join("uftrace.data");
        let mut record = Command::new("uftrace");
        // A buffer that its writer keeps up with, and nothing but entries and exits.
        record.args([
            "record",
            "--no-pager",
            "--no-libcall",
            "--no-event",
            "--buffer=64m",
            "-d",
        ]);
        run(record.arg(&data).arg(&program).arg(calls.to_string()))?;
        let recorded = calls_in(&report(&data, &["--output-fields=call"])?)?;
        // The program's own, and main.
        let made = calls + 1;
        Ok(Self {
            events: 2 * recorded.min(made),
            lost_calls: made.saturating_sub(recorded),
            bytes: size_of_records(&data)?,
            data,
        })
    }

    /// How long its report takes.
    pub(crate) fn time_of_report(&self) -> Result<Duration> {
        let began = Instant::now();
        report(&self.data, &[])?;
        Ok(began.elapsed())
    }
}

fn report(data: &Path, options: &[&str]) -> Result<String> {
    let mut report = Command::new("uftrace");
    report.args(["report", "--no-pager", "-d"]).arg(data);
    run(report.args(options))
}

fn run(command: &mut Command) -> Result<String> {
    let command = command.stdin(Stdio::null());
    let output = command.output().with_context(|| {
        let program = command.get_program().display();
        format!("cannot run {program}; `make bench-replay` installs it")
    })?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?} failed: {errors}");
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The sum of a report of calls: two columns, calls and function.
fn calls_in(report: &str) -> Result<u64> {
    let rows = report.lines().filter_map(|line| {
        let (calls, function) = line.trim().split_once(char::is_whitespace)?;
        let is_function = !function.contains("linux:");
        is_function.then(|| calls.parse::<u64>().ok()).flatten()
    });
    let sum = rows.sum();
    if sum == 0 {
        bail!("uftrace reports no calls:\n{report}");
    }
    Ok(sum)
}

fn size_of_records(data: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(data)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|end| end == "dat") {
            sum += entry.metadata()?.len();
        }
    }
    Ok(sum)
}
