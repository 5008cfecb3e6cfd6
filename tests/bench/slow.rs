//! Whole programs, as users run them: `tests/programs/slow`. What recording costs where most of the time is in built-ins.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use portmortem_tests::repository;

/// The programs, with their arguments.
const PROGRAMS: [(&str, &[&str]); 8] = [
    ("formula", &["6"]),
    ("htmlrep", &[]),
    ("library_generator", &[]),
    ("memo", &[]),
    ("movies", &[]),
    ("paths", &[]),
    ("pool", &[]),
    ("whilei", &["30000"]),
];

/// Best of so many runs, unrecorded and recorded in turn.
const ROUNDS: usize = 3;

/// Prints the ratio of processor times, both less those of a program that does nothing, and their geometric mean.
pub(crate) fn measure(directory: &Path) -> Result<()> {
    let empty = directory.join("empty.pl");
    std::fs::write(&empty, ":- initialization(halt).\n")?;
    let start = Times::best(&empty, &[], directory)?;
    println!(
        "\n{:<20}{:>12}{:>12}{:>8}",
        "whole program", "untraced s", "traced s", "ratio"
    );
    let mut logarithms = 0.0;
    for (name, arguments) in PROGRAMS {
        let file = repository("tests/programs/slow").join(format!("{name}.pl"));
        let whole = Times::best(&file, arguments, directory)?;
        let (untraced, traced) = (whole.untraced - start.untraced, whole.traced - start.traced);
        let ratio = traced / untraced;
        println!("{name:<20}{untraced:>12.2}{traced:>12.2}{ratio:>8.2}");
        logarithms += ratio.ln();
    }
    let mean = (logarithms / PROGRAMS.len() as f64).exp();
    println!(
        "geometric mean over {} slow programs: {mean:.2}",
        PROGRAMS.len()
    );
    Ok(())
}

/// Seconds of processor time of a run, start and end of the engine included.
struct Times {
    untraced: f64,
    traced: f64,
}

impl Times {
    fn best(file: &Path, arguments: &[&str], directory: &Path) -> Result<Self> {
        let portmortem = std::env::current_exe()?.with_file_name("portmortem");
        let portmortem = portmortem.display().to_string();
        let trace = directory.join("slow.pmt").display().to_string();
        let record = [&portmortem, "record", "--force", "-o", &trace];
        let mut best = Self {
            untraced: f64::MAX,
            traced: f64::MAX,
        };
        for _ in 0..ROUNDS {
            best.untraced = best.untraced.min(seconds(&["swipl"], file, arguments)?);
            best.traced = best.traced.min(seconds(&record, file, arguments)?);
        }
        Ok(best)
    }
}

/// As the shell counts it for all that it has waited for.
fn seconds(program: &[&str], file: &Path, arguments: &[&str]) -> Result<f64> {
    let output = Command::new("bash")
        .args([
            "-c",
            "TIMEFORMAT='%U %S'; time \"$@\" >/dev/null 2>&1",
            "bash",
        ])
        .args(program)
        .arg(file)
        .arg("--")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .context("cannot run bash")?;
    if !output.status.success() {
        bail!(
            "{program:?} {} ended with {}",
            file.display(),
            output.status
        );
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let parts = text.split_whitespace().map(str::parse::<f64>);
    let parts: Vec<f64> = parts
        .collect::<Result<_, _>>()
        .with_context(|| format!("not times: {text}"))?;
    Ok(parts.iter().sum())
}
