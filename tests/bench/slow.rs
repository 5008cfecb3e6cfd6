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
        "\n{:<20}{:>12}{:>8}{:>8}",
        "whole program", "untraced s", "ports", "stubs"
    );
    let (mut ports, mut stubs) = (0.0, 0.0);
    for (name, arguments) in PROGRAMS {
        let file = repository("tests/programs/slow").join(format!("{name}.pl"));
        let whole = Times::best(&file, arguments, directory)?;
        let untraced = whole.untraced - start.untraced;
        let with_ports = (whole.ports - start.ports) / untraced;
        let with_stubs = (whole.stubs - start.stubs) / untraced;
        println!("{name:<20}{untraced:>12.2}{with_ports:>8.2}{with_stubs:>8.2}");
        ports += with_ports.ln();
        stubs += with_stubs.ln();
    }
    let mean = |logarithms: f64| (logarithms / PROGRAMS.len() as f64).exp();
    println!(
        "geometric mean over {} slow programs: ports {:.2}, stubs {:.2}",
        PROGRAMS.len(),
        mean(ports),
        mean(stubs)
    );
    Ok(())
}

/// Seconds of processor time of a run, start and end of the engine included.
struct Times {
    untraced: f64,
    ports: f64,
    stubs: f64,
}

impl Times {
    fn best(file: &Path, arguments: &[&str], directory: &Path) -> Result<Self> {
        let portmortem = std::env::current_exe()?.with_file_name("portmortem");
        let portmortem = portmortem.display().to_string();
        let trace = directory.join("slow.pmt").display().to_string();
        // The index of a long trace is written when the program has ended.
        let with_stubs = [
            &portmortem,
            "record",
            "--no-index",
            "--keep",
            "all",
            "--force",
            "-o",
            &trace,
        ];
        let with_ports = [&with_stubs[..], &["--ports"]].concat();
        let mut best = Self {
            untraced: f64::MAX,
            ports: f64::MAX,
            stubs: f64::MAX,
        };
        for _ in 0..ROUNDS {
            best.untraced = best.untraced.min(seconds(&["swipl"], file, arguments)?);
            best.ports = best.ports.min(seconds(&with_ports, file, arguments)?);
            best.stubs = best.stubs.min(seconds(&with_stubs, file, arguments)?);
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
