//! `portmortem record`: run a Prolog program under SWI-Prolog with the recorder loaded.
//!
//! This process becomes the program, so standard input and output, the terminal, the signals and the exit status are the
//! program's own. What follows its end is done by another process ([`super::watcher`]).

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use portmortem_analyzer::condition::ListedCondition;
use portmortem_analyzer::index::Fold;
use portmortem_analyzer::tables::SiteNames;
use portmortem_analyzer::text::{self, counted, shell_word, time};
use portmortem_analyzer::trace::names::printable;
use portmortem_analyzer::trace::{PredicateIndex, Trace};
use portmortem_tracer::format::FILE_MAGIC;
use portmortem_tracer::pattern::PredicatePattern;
use portmortem_tracer::program_end::Written;
use portmortem_tracer::{IndexLock, Recorder};

use super::baseline::{self, RunInput};
use super::engine::{PreparedEngine, run_unrecorded};
use super::folding::Folding;
use super::scope::NOT_RECORDED;
use super::start::{RUN_TESTS, Start};
use super::watcher::{self, WatchersEnd};
use super::{index, refuse_existing, refuse_input, use_threads};
use crate::cli::{KeepOption, RecordArgs};

/// Becomes the program. Returns if that is not possible, and in the process that does what follows the program's end.
pub(crate) fn run(args: &RecordArgs, threads: Option<u16>) -> Result<ExitCode> {
    let args = &of_tests(args);
    let start = Start::new(&args.run, "record")?;
    if let Some(word) = start.runs_nothing() {
        say(&format!(
            "nothing is recorded: with {word} the engine runs no program"
        ));
        return Err(run_unrecorded(start.unrecorded()));
    }
    let output = match &args.output {
        Some(path) => path.clone(),
        None => start.trace()?,
    };
    if let Some(program) = &start.program {
        refuse_input(&output, program, "program")?;
    }
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
    let input = args.baseline.then(RunInput::of_ours).transpose()?;
    let sized = matches!(args.keep, KeepOption::Auto(Some(_)));
    if (sized || args.keep == KeepOption::All) && args.max_size.is_some() {
        bail!("--max-size is a limit, and --keep says that there is none: leave out one of them");
    }
    if (args.keeps_figures() || sized) && args.needs_events() {
        bail!(
            "--keep figures keeps no figures by clause, of arguments or of values: leave out \
             --clauses, --arguments and --values, or record the end of the run with --keep last"
        );
    }
    let args = &args.decided(&output);
    if let Some(condition) = &args.keep_when {
        if !matches!(args.keep, KeepOption::Figures(_) | KeepOption::Auto(_)) {
            bail!(
                "--keep-when says which events stay where others are folded: it needs --keep figures"
            );
        }
        ListedCondition::check(condition).context("--keep-when")?;
    }
    let (mut line, line_of_program) = watcher::line()?;
    let engine = PreparedEngine::new(args, &start, &output, Some(line_of_program.descriptor()))?;
    // It becomes the program.
    let process = std::process::id();
    if watcher::fork().context("cannot start a process that waits for the program")? {
        drop(line_of_program);
        use_threads(threads)?;
        let folding = Folding::of(&output, process, args);
        let written = after_program(args, &start, &output, input.as_ref(), folding, &mut line);
        // First its files, then the line: the program's process ends as soon as that is closed.
        drop(engine);
        let path = std::path::absolute(&output)?;
        let is_folded = match args.keep {
            KeepOption::Figures(_) => true,
            KeepOption::Auto(Some(_)) => is_reused(&path),
            _ => false,
        };
        if written && !is_folded {
            // They are of an earlier trace of that name. If they stay, they are of no use.
            let _ = Fold::forget(&path);
        }
        let has_index = written && !args.no_index && !is_folded && index::is_worth_it(&path);
        if has_index && line.let_go_of_others().is_ok() {
            // Before the program ends, so that what comes next finds it locked.
            let lock = IndexLock::try_on(&path);
            drop(line);
            if let Some(lock) = lock {
                // There is no place for a word any more.
                let _ = index::of_recording(&path, lock);
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    drop(line);
    let error = engine.replace_this_program();
    line_of_program.nothing_started();
    Err(error)
}

/// Whether newer events were written over older ones.
fn is_reused(path: &Path) -> bool {
    Trace::open(path).is_ok_and(|trace| trace.header().mode.keep_last)
}

/// The tests of a file are its goal if no other is given.
fn of_tests(args: &RecordArgs) -> RecordArgs {
    let mut args = args.clone();
    if args.tests && args.run.program.is_some() {
        args.run.goal.get_or_insert_with(|| RUN_TESTS.to_owned());
    }
    args
}

/// What is left to do when the program ends, while its process waits. Whether there is a trace that
/// is whole.
fn after_program(
    args: &RecordArgs,
    start: &Start,
    output: &Path,
    input: Option<&RunInput>,
    folding: Option<Folding>,
    line: &mut WatchersEnd,
) -> bool {
    let end = line.end_of_program();
    let folded = folding.map_or(Ok(false), Folding::finish);
    // Otherwise its caller does something else already, and does not expect another word.
    let Some(end) = end else {
        return false;
    };
    match end.trace {
        // The recorder has said why.
        Written::Nothing => return false,
        Written::Shortened => {
            say_that_it_was_shortened(output);
            return false;
        }
        Written::Whole => {}
    }
    match folded {
        Ok(false) => {}
        Ok(true) => say(
            "not all that --keep-when holds for was kept: events came faster than they were \
             looked at; try a larger --keep figures=SIZE",
        ),
        Err(error) => say(&format!(
            "figures are only of the beginning of the run: {}",
            super::one_line(&error)
        )),
    }
    if let Some(input) = input
        && let Err(error) = baseline::add(args, start, output, end, input, line)
    {
        say(&format!("no baseline: {}", super::one_line(&error)));
    }
    say_what_was_written(args, output);
    true
}

/// Tells something about the recording, after the program's last words.
pub(super) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "portmortem: {text}");
}

fn say_that_it_was_shortened(output: &Path) {
    let path = printable(&output.display().to_string());
    say(&format!(
        "another program shortened {path} while it was written: the recording ended there; record again"
    ));
}

/// Whether there is a file that begins as traces do: an earlier recording, whole or not.
pub(super) fn is_trace(path: &Path) -> bool {
    let mut first = [0; FILE_MAGIC.len()];
    // To open a pipe would wait for a writer.
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut first).is_ok())
        && first == FILE_MAGIC
}

/// Where the trace is and what to do next, for a person at a terminal; and for everybody what is
/// missing from it.
fn say_what_was_written(args: &RecordArgs, output: &Path) {
    let Ok(trace) = Trace::open(output) else {
        return;
    };
    let mut stderr = io::stderr();
    say_notes(&trace);
    if matches!(args.keep, KeepOption::Auto(_)) && trace.header().mode.keep_last {
        say("with --keep all the trace has all events, however many these are");
    }
    say_unmatched(
        &trace,
        &args.include,
        &args.keep_arguments,
        &args.keep_values,
    );
    if let Some(condition) = &args.keep_when
        && trace.header().mode.keep_last
        && let Err(error) = ListedCondition::parse(condition, &trace, &SiteNames::of(&trace))
    {
        say(&format!(
            "--keep-when names what the trace does not have: {error}"
        ));
    }
    if stderr.is_terminal() && !args.quiet {
        let next = if args.tests {
            "report --tests"
        } else {
            "advise"
        };
        let _ = writeln!(stderr, "{}", last_line(next, &trace, output));
    }
}

/// What is missing from a trace: what the recorder has noted, and patterns that no predicate
/// matches.
pub(super) fn say_what_is_missing(
    trace: &Trace,
    include: &[String],
    keep_arguments: &[String],
    keep_values: &[String],
) {
    say_notes(trace);
    say_unmatched(trace, include, keep_arguments, keep_values);
}

/// The report has what is said of predicates.
fn say_notes(trace: &Trace) {
    let notes = trace.notes().iter();
    for note in notes.filter(|note| !note.starts_with(NOT_RECORDED)) {
        say(&printable(note));
    }
}

fn say_unmatched(
    trace: &Trace,
    include: &[String],
    keep_arguments: &[String],
    keep_values: &[String],
) {
    let any: Vec<_> = (0..trace.predicates().len() as PredicateIndex).collect();
    let of_arguments = unmatched(keep_arguments, trace, trace.with_arguments());
    let of_values = unmatched(keep_values, trace, trace.with_values());
    let of_include = unmatched(include, trace, &any);
    let unmatched = of_include.map(|pattern| ("include", pattern));
    let unmatched = unmatched.chain(of_arguments.map(|pattern| ("arguments", pattern)));
    let unmatched = unmatched.chain(of_values.map(|pattern| ("values", pattern)));
    for (option, pattern) in unmatched {
        let more = match option {
            "include" => "",
            _ => "; built-in and library predicates are recorded with --builtins and --libraries",
        };
        say(&format!(
            "--{option} {}: no predicate that matches was called{more}",
            printable(pattern)
        ));
    }
}

/// All that is said of the trace without reading its events; `next` is a command for it.
pub(super) fn last_line(next: &str, trace: &Trace, output: &Path) -> String {
    let path = output.display().to_string();
    let size = text::size(trace.size());
    let mut streams = trace.streams().iter();
    let events = streams.try_fold(0, |sum, stream| Some(sum + stream.end?.events));
    let of_events = events.map(|events| format!("{}, ", counted(events, "event", "events")));
    let end = trace
        .end()
        .map(|end| trace.clock().since_start_ns(end.tick));
    let of_time = end.map(|ns| format!(" in {}", time(ns)));
    format!(
        "recorded {} ({}{size}{}); now: portmortem {next} {}",
        printable(&path),
        of_events.unwrap_or_default(),
        of_time.unwrap_or_default(),
        printable(&shell_word(&path))
    )
}

/// The patterns that none of these predicates matches. Every predicate matches `*`, so it is not
/// one of them.
fn unmatched<'a>(
    patterns: &'a [String],
    trace: &'a Trace,
    predicates: &'a [PredicateIndex],
) -> impl Iterator<Item = &'a String> {
    patterns.iter().filter(|text| *text != "*").filter(|text| {
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
