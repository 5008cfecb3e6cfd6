//! Times at sizes that were never run: recorded at five sizes, predicted at a larger one, and recorded there, too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use portmortem_analyzer::{ReplayOptions, Trace, replay};
use portmortem_models::prediction::predict;
use portmortem_models::recordings::{Recording, recordings};

const PROGRAMS: &str = include_str!("growth.pl");

struct Subject {
    name: &'static str,
    /// The predicate whose function is shown.
    predicate: &'static str,
    sizes: [u64; 5],
    /// Recordings of each size: of random inputs more than one.
    inputs: u64,
    /// Where it is predicted: ten times the largest size, but for exponentials.
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
        inputs: 3,
        at: 10_000,
    },
    Subject {
        name: "hanoi",
        predicate: "hanoi/4",
        sizes: [6, 7, 8, 9, 10],
        inputs: 1,
        at: 17,
    },
    Subject {
        name: "fib",
        predicate: "fib/2",
        sizes: [10, 11, 12, 13, 15],
        inputs: 1,
        at: 22,
    },
];

/// Recordings of the larger size that the prediction is compared with.
const COMPARED: u64 = 3;

/// Prints a line for each program.
pub(crate) fn run(portmortem: &Path) -> Result<()> {
    println!("\nSizes that were never run (traced time of all predicates, in ms)\n");
    println!(
        "{:<11}{:>7}{:>7}{:>12}{:>12}{:>12}{:>12}{:>8}  calls",
        "program", "n up to", "at", "predicted", "at least", "at most", "recorded", "off %"
    );
    let directory = tempfile::tempdir()?;
    let program = directory.path().join("growth.pl");
    std::fs::write(&program, PROGRAMS)?;
    let recorder = Recorder {
        portmortem,
        program,
        directory: directory.path(),
    };
    for subject in &SUBJECTS {
        let mut recorded = Vec::new();
        for size in subject.sizes {
            // One seed for several sizes would make lists that begin alike.
            for input in 1..=subject.inputs {
                recorded.push(recorder.record(subject.name, size, 10 * size + input)?);
            }
        }
        let prediction = predict(&recorded, None, Some(subject.at))?;
        let mut actual = Vec::new();
        for seed in 0..COMPARED {
            actual.push(total(
                &recorder.record(subject.name, subject.at, 100 + seed)?.work,
            ));
        }
        actual.sort_unstable();
        let actual = actual[actual.len() / 2] as f64;
        let row = prediction
            .rows
            .iter()
            .find(|row| row.predicate == subject.predicate);
        let growth = &row.context("the program did not run")?.growth;
        let total = prediction.total_ns;
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
    }
    Ok(())
}

/// Time of all predicates of the program; what runs it is none of them.
fn total(work: &BTreeMap<String, portmortem_models::recordings::Work>) -> u64 {
    work.values().map(|work| work.self_ns).sum()
}

struct Recorder<'a> {
    portmortem: &'a Path,
    program: PathBuf,
    directory: &'a Path,
}

impl Recorder<'_> {
    fn record(&self, name: &str, size: u64, seed: u64) -> Result<Recording> {
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
