//! `portmortem record`: run a Prolog file under SWI-Prolog with the recorder loaded.
//!
//! Standard input and output, the terminal and the signals are the program's own; so is the exit status.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use anyhow::{Context, Result, bail, ensure};
use portmortem_analyzer::trace::names::printable;
use portmortem_analyzer::trace::{PredicateIndex, Trace};
use portmortem_tracer::Recorder;
use portmortem_tracer::format::FILE_MAGIC;
use portmortem_tracer::pattern::PredicatePattern;

use super::baseline::{self, Input};
use super::engine::{self, Streams};
use super::scope::NOT_RECORDED;
use super::{refuse_existing, refuse_input};
use crate::cli::RecordArgs;
use crate::size::format_size;

/// Runs the program and returns its exit status as ours.
pub(crate) fn run(args: &RecordArgs) -> Result<ExitCode> {
    if !args.program.is_file() {
        bail!("{}: no such Prolog file", args.program.display());
    }
    ensure!(
        !is_saved_state(&args.program),
        "{}: a saved state, which cannot be recorded; record the Prolog file that it was made from (-g GOAL if it was made with --goal=GOAL)",
        args.program.display()
    );
    let output = output(args)?;
    refuse_input(&output, &args.program, "program")?;
    let replaces_trace = is_trace(&output);
    if replaces_trace {
        Recorder::check_unused(&output)?;
    }
    let args = &RecordArgs {
        force: args.force || replaces_trace,
        ..args.clone()
    };
    refuse_existing(&output, args.force, "trace")?;
    // Before the program reads from it.
    let input = args.baseline.then(Input::of_ours).transpose()?;
    let status = engine::run(args, &output, Streams::Ours)?;
    if Recorder::check_unused(&output).is_err() {
        // Another recording was faster: the recorder has said so, and the trace is not of this run.
        return Ok(ExitCode::from(status_code(status)));
    }
    if let Some(input) = &input
        && let Err(error) = baseline::add(args, &output, status, input)
    {
        let _ = writeln!(
            io::stderr(),
            "portmortem: no baseline: {}",
            super::one_line(&error)
        );
    }
    say_what_was_written(args, &output);
    Ok(ExitCode::from(status_code(status)))
}

/// The path of the trace.
fn output(args: &RecordArgs) -> Result<PathBuf> {
    if let Some(path) = &args.output {
        return Ok(path.clone());
    }
    let stem = args.program.file_stem();
    let stem = stem.context("the program has no file name")?;
    Ok(PathBuf::from(stem).with_extension("pmt"))
}

/// Whether there is a file that begins as traces do: an earlier recording, whole or not.
fn is_trace(path: &Path) -> bool {
    let mut first = [0; FILE_MAGIC.len()];
    // To open a pipe would wait for somebody who writes.
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut first).is_ok())
        && first == FILE_MAGIC
}

/// Whether the file is a state that `swipl -o FILE -c …` saved: a ZIP archive behind a shell script or a copy of the engine.
fn is_saved_state(path: &Path) -> bool {
    /// How the last record of an archive begins, and its size where it has no comment; those of states have none.
    const END: (&[u8], usize) = (b"PK\x05\x06", 22);
    let mut last = [0; END.1];
    let read = |mut file: File| {
        file.seek(SeekFrom::End(-(END.1 as i64)))?;
        file.read_exact(&mut last)
    };
    File::open(path).and_then(read).is_ok() && last.starts_with(END.0)
}

fn status_code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => 128u8.wrapping_add(signal as u8),
        (None, None) => 1,
    }
}

/// Where the trace is, for a person at a terminal; and for everybody what is missing from it.
fn say_what_was_written(args: &RecordArgs, output: &Path) {
    let Ok(trace) = Trace::open(output) else {
        return;
    };
    let mut stderr = io::stderr();
    let path = printable(&output.display().to_string());
    // The report has what is said of predicates.
    for note in trace
        .notes()
        .iter()
        .filter(|note| !note.starts_with(NOT_RECORDED))
    {
        let _ = writeln!(stderr, "portmortem: {}", printable(note));
    }
    let any: Vec<_> = (0..trace.predicates().len() as PredicateIndex).collect();
    let of_arguments = unmatched(&args.keep_arguments, &trace, trace.with_arguments());
    let of_include = unmatched(&args.include, &trace, &any);
    let unmatched = of_include.map(|pattern| ("include", pattern));
    let unmatched = unmatched.chain(of_arguments.map(|pattern| ("arguments", pattern)));
    for (option, pattern) in unmatched {
        let more = match option {
            "include" => "",
            _ => "; built-in and library predicates are recorded with --builtins and --libraries",
        };
        let _ = writeln!(
            stderr,
            "portmortem: --{option} {}: no recorded predicate is called so{more}",
            printable(pattern)
        );
    }
    if stderr.is_terminal() {
        let size = format_size(trace.size());
        let _ = writeln!(
            stderr,
            "recorded {path} ({size}); now: portmortem report {path}"
        );
    }
}

/// The patterns that none of these predicates matches.
fn unmatched<'a>(
    patterns: &'a [String],
    trace: &'a Trace,
    predicates: &'a [PredicateIndex],
) -> impl Iterator<Item = &'a String> {
    patterns.iter().filter(|text| {
        let pattern = PredicatePattern::new(text);
        let mut known = predicates.iter();
        !known.any(|&at| {
            trace.predicates().get(at as usize).is_some_and(|info| {
                let of = &info.declared;
                pattern.matches(&of.module, &of.name, of.arity)
            })
        })
    })
}
