//! Times at sizes that were never run: recorded at five sizes, predicted at a larger one, and run there, too.
//!
//! Twice: traced times from traced times, and untraced ones from symbolic recordings and the platform.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use portmortem_analyzer::{ReplayOptions, Trace, replay};
use portmortem_models::growth::Estimate;
use portmortem_models::measure::{Bench, Request, Tools};
use portmortem_models::platform::Platform;
use portmortem_models::prediction::{Prediction, predict};
use portmortem_models::recordings::{Recording, recordings};

const PROGRAMS: &str = include_str!("growth.pl");

struct Subject {
    name: &'static str,
    /// The predicate whose function is shown.
    predicate: &'static str,
    sizes: [u64; 5],
    /// Recordings of each size: of random inputs more than one.
    inputs: u64,
    /// Where it is predicted: ten times the largest size; a hundred times the calls of it where calls grow
    /// exponentially.
    at: u64,
}

const SUBJECTS: [Subject; 4] = [
    Subject {
        name: "nrev",
        predicate: "app/3",
        sizes: [20, 40, 60, 80, 100],
        inputs: 1,
        at: 1000,
    },
    Subject {
        name: "quicksort",
        predicate: "part/4",
        sizes: [200, 400, 600, 800, 1000],
        inputs: 6,
        at: 10_000,
    },
    Subject {
        name: "hanoi",
        predicate: "hanoi/4",
        sizes: [9, 10, 11, 12, 13],
        inputs: 1,
        at: 20,
    },
    Subject {
        name: "fib",
        predicate: "fib/2",
        sizes: [13, 14, 15, 16, 18],
        inputs: 1,
        at: 28,
    },
];

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
    headline("traced, from traced times");
    for subject in &SUBJECTS {
        let prediction = predict(&recorder.small(subject, &[])?, None, Some(subject.at))?;
        let mut actual = Vec::new();
        for seed in 1..=COMPARED {
            let recording = recorder.record(subject.name, subject.at, seed, &[])?;
            actual.push(
                recording
                    .work
                    .values()
                    .map(|work| work.self_ns)
                    .sum::<u64>() as f64,
            );
        }
        line(subject, &prediction, prediction.total_ns, &mut actual)?;
    }
    let model = &platform.refined;
    headline("untraced, from symbolic recordings and the platform");
    for subject in &SUBJECTS {
        let recorded = recorder.small(subject, &["--symbolic"])?;
        let prediction = predict(&recorded, Some((platform, model)), Some(subject.at))?;
        let mut actual = untraced(tools, subject)?;
        line(subject, &prediction, prediction.total_ns, &mut actual)?;
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
    prediction: &Prediction,
    total: Estimate,
    actual: &mut [f64],
) -> Result<()> {
    actual.sort_by(f64::total_cmp);
    let actual = *actual.get(actual.len() / 2).context("nothing was run")?;
    let row = prediction
        .rows
        .iter()
        .find(|row| row.predicate == subject.predicate);
    let growth = &row.context("the program did not run")?.growth;
    println!(
        "{:<11}{:>7}{:>7}{:>12.3}{:>12.3}{:>12.3}{:>12.3}{:>8.1}  {} {}{}",
        subject.name,
        subject.sizes[4],
        subject.at,
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
fn untraced(tools: &Tools, subject: &Subject) -> Result<Vec<f64>> {
    let request = |seed| Request {
        program: subject.name.to_owned(),
        size: subject.at,
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
    fn small(&self, subject: &Subject, options: &[&str]) -> Result<Vec<Recording>> {
        let mut recorded = Vec::new();
        for size in subject.sizes {
            // One seed for several sizes would make lists that begin alike.
            for input in 1..=subject.inputs {
                recorded.push(self.record(subject.name, size, 10 * size + input, options)?);
            }
        }
        Ok(recorded)
    }

    fn record(&self, name: &str, size: u64, seed: u64, options: &[&str]) -> Result<Recording> {
        let trace = self.directory.join("run.pmt");
        let status = Command::new(self.portmortem)
            .args([
                "record",
                "--force",
                "--exclude",
                "input/3",
                "--exclude",
                "run/3",
            ])
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
        let profile = replay(&trace, &ReplayOptions::default());
        let mut found = recordings(&trace, &profile, Some(size))?;
        found.pop().context("no recording")
    }
}
