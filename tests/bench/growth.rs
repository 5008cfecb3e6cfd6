//! Times at sizes that were never run: recorded at five sizes, predicted at a larger one, and run there, unrecorded.
//!
//! Twice: from net times of recordings with a baseline, and from symbolic recordings and the platform. What is observed includes
//! garbage collections, predictions do not.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use portmortem_analyzer::{ReplayOptions, Trace, replay};
use portmortem_models::growth::Estimate;
use portmortem_models::measure::{Bench, RunRequest, Tools};
use portmortem_models::platform::Platform;
use portmortem_models::prediction::{Prediction, predict};
use portmortem_models::recordings::{SizedRecording, recordings};

const PROGRAMS: &str = include_str!("growth.pl");

struct Subject {
    name: &'static str,
    /// The predicate whose function is shown.
    predicate: &'static str,
    /// Recordings of each size: of random inputs more than one.
    inputs: u64,
    /// Of recordings with a baseline: they take milliseconds unrecorded, less is more noise than time.
    timed: Sizes,
    /// Of symbolic recordings: exact however short.
    counted: Sizes,
}

struct Sizes {
    recorded: [u64; 5],
    /// Where it is predicted: ten times the largest size; a hundred times the calls of it where calls grow
    /// exponentially.
    at: u64,
}

const fn sizes(recorded: [u64; 5], at: u64) -> Sizes {
    Sizes { recorded, at }
}

const SUBJECTS: [Subject; 4] = [
    Subject {
        name: "nrev",
        predicate: "app/3",
        inputs: 1,
        timed: sizes([200, 400, 600, 800, 1000], 10_000),
        counted: sizes([20, 40, 60, 80, 100], 1000),
    },
    Subject {
        name: "quicksort",
        predicate: "part/4",
        inputs: 6,
        timed: sizes([2000, 4000, 6000, 8000, 10_000], 100_000),
        counted: sizes([200, 400, 600, 800, 1000], 10_000),
    },
    Subject {
        name: "hanoi",
        predicate: "hanoi/4",
        inputs: 1,
        timed: sizes([13, 14, 15, 16, 17], 24),
        counted: sizes([9, 10, 11, 12, 13], 20),
    },
    Subject {
        name: "fib",
        predicate: "fib/2",
        inputs: 1,
        timed: sizes([17, 18, 19, 20, 22], 32),
        counted: sizes([13, 14, 15, 16, 18], 28),
    },
];

/// They make the input and call the program: no part of it.
const AROUND: [&str; 2] = ["run/3", "input/3"];

/// Runs of the larger size, each on an input of its own; the prediction is compared with their median.
const COMPARED: u64 = 3;

/// Prints two lines for each program.
pub(crate) fn run(tools: &Tools, platform: &Platform) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let program = directory.path().join("growth.pl");
    std::fs::write(&program, PROGRAMS)?;
    let recorder = Recorder {
        portmortem: &tools.portmortem,
        program,
        directory: directory.path(),
    };
    headline("from recordings with a baseline");
    for subject in &SUBJECTS {
        let recorded = recorder.small(subject, &subject.timed, &["--baseline"])?;
        let prediction = predict(&recorded, None, Some(subject.timed.at))?;
        let mut actual = untraced(tools, subject, &subject.timed)?;
        line(subject, &subject.timed, &prediction, &mut actual)?;
    }
    let model = &platform.refined;
    headline("from symbolic recordings and the platform");
    for subject in &SUBJECTS {
        let recorded = recorder.small(subject, &subject.counted, &["--symbolic"])?;
        let prediction = predict(&recorded, Some((platform, model)), Some(subject.counted.at))?;
        let mut actual = untraced(tools, subject, &subject.counted)?;
        line(subject, &subject.counted, &prediction, &mut actual)?;
    }
    Ok(())
}

fn headline(what: &str) {
    println!("\nSizes that were never run: {what}, in ms\n");
    println!(
        "{:<11}{:>7}{:>7}{:>12}{:>12}{:>12}{:>12}{:>8}  calls",
        "program", "n up to", "at", "predicted", "at least", "at most", "observed", "off %"
    );
}

fn line(
    subject: &Subject,
    sizes: &Sizes,
    prediction: &Prediction,
    actual: &mut [f64],
) -> Result<()> {
    actual.sort_by(f64::total_cmp);
    let actual = *actual.get(actual.len() / 2).context("nothing was run")?;
    let row = prediction
        .rows
        .iter()
        .find(|row| row.predicate == subject.predicate);
    let growth = &row.context("the program did not run")?.growth;
    let total = prediction
        .rows
        .iter()
        .filter(|row| !AROUND.contains(&row.predicate.as_str()))
        .filter_map(|row| row.self_ns)
        .fold(Estimate::certain(0.0), Estimate::plus);
    println!(
        "{:<11}{:>7}{:>7}{:>12.3}{:>12.3}{:>12.3}{:>12.3}{:>8.1}  {} {}{}",
        subject.name,
        sizes.recorded[4],
        sizes.at,
        total.value / 1e6,
        total.low / 1e6,
        total.high / 1e6,
        actual / 1e6,
        100.0 * (total.value / actual - 1.0),
        subject.predicate,
        if growth.is_exact() { "= " } else { "~ " },
        growth.formula().unwrap_or_else(|| "?".to_owned()),
    );
    Ok(())
}

/// Processor times, in ns.
fn untraced(tools: &Tools, subject: &Subject, sizes: &Sizes) -> Result<Vec<f64>> {
    let request = |seed| RunRequest {
        program: subject.name.to_owned(),
        size: sizes.at,
        seed,
    };
    let requests = (1..=COMPARED).map(request).collect();
    let times = Bench::new(tools.clone(), PROGRAMS, requests)?.time(3, &mut || ())?;
    Ok(times.into_iter().flatten().collect())
}

struct Recorder<'a> {
    portmortem: &'a Path,
    program: PathBuf,
    directory: &'a Path,
}

impl Recorder<'_> {
    /// Recordings of the small sizes.
    fn small(
        &self,
        subject: &Subject,
        sizes: &Sizes,
        options: &[&str],
    ) -> Result<Vec<SizedRecording>> {
        let mut recorded = Vec::new();
        for size in sizes.recorded {
            // One seed for several sizes would make lists that begin alike.
            for input in 1..=subject.inputs {
                recorded.push(self.record(subject.name, size, 10 * size + input, options)?);
            }
        }
        Ok(recorded)
    }

    fn record(&self, name: &str, size: u64, seed: u64, options: &[&str]) -> Result<SizedRecording> {
        let trace = self.directory.join("run.pmt");
        let status = Command::new(self.portmortem)
            .args(["record", "--force"])
            .args(options)
            .args([
                "--goal",
                &format!("run({name}, {size}, {seed})"),
                "--output",
            ])
            .arg(&trace)
            .arg(&self.program)
            .stdout(Stdio::null())
            .status()?;
        ensure!(status.success(), "recording {name} of size {size} failed");
        let trace = Trace::open(&trace)?;
        ensure!(
            trace.baseline().is_some() || !options.contains(&"--baseline"),
            "no baseline of {name} of size {size}"
        );
        let profile = replay(&trace, &ReplayOptions::default());
        let mut found = recordings(&trace, &profile, Some(size))?;
        found.pop().context("no recording")
    }
}
