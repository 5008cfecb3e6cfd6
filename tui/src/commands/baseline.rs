//! `portmortem record --baseline`: how long the program runs when it is not recorded.
//!
//! After the recording the program runs again, a few times if it is a quick one, and only predicates without a
//! recorded caller are recorded then: that costs next to nothing. What they take goes into the trace, with the costs of ports
//! fitted to it ([`portmortem_analyzer::net::baseline`]).

use std::fs::File;
use std::io::{self, IsTerminal, Seek, SeekFrom, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use portmortem_analyzer::net::Rates;
use portmortem_analyzer::net::baseline::{Outermost, RootCounts, UnrecordedRuns};
use portmortem_analyzer::text::count;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::names::printable;
use portmortem_analyzer::{Profile, ReplayOptions, replay};
use portmortem_tracer::amend;
use portmortem_tracer::format::{Record, Technique};
use portmortem_tracer::program_end::ProgramEnd;

use super::engine::PreparedEngine;
use super::start::Start;
use super::watcher::{self, WatchersEnd};
use crate::cli::RecordArgs;

/// The program runs again until that took so long, but not more often than this. Of quick runs one says little.
const LONG_ENOUGH: Duration = Duration::from_secs(2);
const MOST_RUNS: usize = 5;

/// If recording the outermost predicates only has more than one event for so many of the whole recording, they are
/// called too often to be a measure; unless it has hardly any.
const FEWER_EVENTS: u64 = 10;
const HARDLY_ANY: u64 = 1000;

/// Runs whose inferences differ by less than one in so many did the same work.
const SAME_WITHIN: u64 = 50;

/// And by so many more: what a system does differently each time.
const A_FEW: u64 = 1000;

/// The exit statuses of an engine that a signal ends: the program may have had no end of its own.
const OF_SIGNALS: RangeInclusive<u8> = 129..=192;

/// What the program reads in further runs: the same file again, or nothing.
pub(crate) struct RunInput {
    file: Option<(PathBuf, u64)>,
}

impl RunInput {
    /// Like our own standard input.
    pub(crate) fn of_ours() -> Result<Self> {
        let path = PathBuf::from("/proc/self/fd/0");
        let is_file = std::fs::metadata(&path).is_ok_and(|what| what.is_file());
        let file = match is_file {
            false => None,
            true => {
                let at = rustix::fs::seek(io::stdin(), rustix::fs::SeekFrom::Current(0))?;
                Some((std::fs::canonicalize(&path)?, at))
            }
        };
        Ok(Self { file })
    }

    fn again(&self) -> Result<Stdio> {
        let Some((path, at)) = &self.file else {
            return Ok(Stdio::null());
        };
        let mut file = File::open(path).context("cannot read standard input again")?;
        file.seek(SeekFrom::Start(*at))?;
        Ok(file.into())
    }
}

/// Runs the program again and adds to the trace what it takes unrecorded. `end`: how the recorded
/// run ended. That does not go on when the line to the process of that run is closed.
pub(crate) fn add(
    args: &RecordArgs,
    start: &Start,
    output: &Path,
    end: ProgramEnd,
    input: &RunInput,
    line: &mut WatchersEnd,
) -> Result<()> {
    ensure!(
        !OF_SIGNALS.contains(&end.status),
        "a signal ended the recorded run"
    );
    let trace = Trace::open(output)?;
    ensure!(
        trace.end().is_some(),
        "the recorded run did not end in order"
    );
    let profile = replay(&trace, &ReplayOptions::default());
    let rates = Rates::of(&trace).context("the trace does not say what recording costs")?;
    let whole = Outermost::new(&trace, &profile);
    ensure!(!whole.counts.is_empty(), "nothing was recorded");
    let mut runs = Vec::new();
    let begin = Instant::now();
    while runs.len() < MOST_RUNS && (runs.is_empty() || begin.elapsed() < LONG_ENOUGH) {
        say_that_it_runs_again(runs.len());
        let (again, events, inferences) = run_again(args, start, &whole, end.status, input, line)?;
        compare(&whole, &again)?;
        // Copies of clauses make inferences of their own.
        if trace.technique() == Some(Technique::Stubs) {
            compare_work(end.inferences, inferences)?;
        }
        ensure!(
            events <= HARDLY_ANY.max(recorded_events(&profile) / FEWER_EVENTS),
            "the outermost predicates are called too often to be timed ({events} events when only they are recorded): if \
             they call themselves, begin with one that does not, for example main :- fib(25, _)"
        );
        runs.push(again);
    }
    say_no_more();
    let measured = UnrecordedRuns::new(&whole, &runs).context("it did not run again")?;
    let mut records = vec![Record::Baseline(measured.baseline)];
    records.extend(
        measured
            .fits(&trace, &profile, &rates)
            .into_iter()
            .map(Record::Fit),
    );
    drop(trace);
    amend(output, &records)?;
    Ok(())
}

fn recorded_events(profile: &Profile) -> u64 {
    profile.streams.iter().map(|stream| stream.events).sum()
}

/// One run in which only outermost predicates are recorded, how many events it had, and how many
/// inferences.
fn run_again(
    args: &RecordArgs,
    start: &Start,
    whole: &Outermost,
    status: u8,
    input: &RunInput,
    line: &mut WatchersEnd,
) -> Result<(Outermost, u64, Option<u64>)> {
    let directory = tempfile::tempdir()?;
    let output = directory.path().join("again.pmt");
    let args = RecordArgs {
        include: whole.counts.keys().cloned().collect(),
        no_boundary: true,
        keep_arguments: Vec::new(),
        keep_values: Vec::new(),
        ..args.clone()
    };
    let own = watcher::line()?;
    let engine = PreparedEngine::new(&args, start, &output, Some(own.1.descriptor()))?;
    let (again, end) = engine.run_apart(input.again()?, own, line)?;
    if again.code() != Some(status.into()) {
        bail!("the program ended differently when it ran again: {again}");
    }
    let trace = Trace::open(&output)?;
    let profile = replay(&trace, &ReplayOptions::default());
    let inferences = end.and_then(|end| end.inferences);
    let events = recorded_events(&profile);
    Ok((Outermost::new(&trace, &profile), events, inferences))
}

/// Whether the same happened in both runs, as far as one can see.
fn compare(whole: &Outermost, again: &Outermost) -> Result<()> {
    for (predicate, first) in &whole.counts {
        let second = again.counts.get(predicate).copied().unwrap_or_default();
        ensure!(
            *first == second,
            "the program did something else when it ran again: {} had {}, and then {}",
            printable(predicate),
            in_words(*first),
            in_words(second)
        );
    }
    Ok(())
}

/// Whether both runs did as much. Recording with stubs makes no inferences.
fn compare_work(first: Option<u64>, second: Option<u64>) -> Result<()> {
    if let (Some(first), Some(second)) = (first, second) {
        ensure!(
            first.abs_diff(second) <= A_FEW + first.max(second) / SAME_WITHIN,
            "the runs did different work: {} inferences, and then {}",
            count(first),
            count(second)
        );
    }
    Ok(())
}

fn in_words(counts: RootCounts) -> String {
    let RootCounts {
        calls,
        exits,
        fails,
    } = counts;
    format!("{calls} calls, {exits} exits, {fails} fails")
}

fn say_that_it_runs_again(before: usize) {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        let run = before + 1;
        let _ = write!(
            stderr,
            "\rrunning it again, unrecorded, its output put away ({run} of at most {MOST_RUNS}) …"
        );
    }
}

fn say_no_more() {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\r\x1b[K");
    }
}
