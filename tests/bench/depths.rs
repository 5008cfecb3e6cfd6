//! An exception that passes a thousand to a million levels of a construct of control: processor
//! time recorded over unrecorded. Whether a deep recursion that goes wrong stays linear.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

const PROGRAM: &str = include_str!("depths.pl");

const CONSTRUCTS: [&str; 8] = [
    "clause", "catch", "findall", "cleanup", "not", "forall", "call", "freeze",
];

const DEPTHS: [u32; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// Best of so many runs, unrecorded and recorded in turn.
const ROUNDS: usize = 3;

fn main() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let program = directory.path().join("depths.pl");
    std::fs::write(&program, PROGRAM)?;
    let trace = directory.path().join("depths.pmt");
    let portmortem = std::env::current_exe()?.with_file_name("portmortem");
    println!(
        "{:<12}{:>10}{:>14}{:>12}{:>8}{:>17}",
        "construct", "depth", "unrecorded s", "recorded s", "ratio", "recorded µs each"
    );
    for construct in CONSTRUCTS {
        for depth in DEPTHS {
            let (mut unrecorded, mut recorded) = (f64::MAX, f64::MAX);
            for _ in 0..ROUNDS {
                unrecorded = unrecorded.min(seconds(
                    &mut Command::new("swipl"),
                    &program,
                    construct,
                    depth,
                )?);
                let mut record = Command::new(&portmortem);
                record.args(["record", "--force", "-o"]).arg(&trace);
                recorded = recorded.min(seconds(&mut record, &program, construct, depth)?);
            }
            println!(
                "{construct:<12}{depth:>10}{unrecorded:>14.4}{recorded:>12.4}{:>8.1}{:>17.2}",
                recorded / unrecorded,
                recorded * 1e6 / f64::from(depth)
            );
        }
    }
    Ok(())
}

/// What the program says that it took.
fn seconds(command: &mut Command, program: &Path, construct: &str, depth: u32) -> Result<f64> {
    let output = command
        .arg(program)
        .args(["--", construct, &depth.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {command:?}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let Ok(seconds) = text.trim().parse() else {
        bail!("{construct} at {depth}: no time, {}: {text}", output.status);
    };
    Ok(seconds)
}
