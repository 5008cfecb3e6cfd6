//! Whole real programs, loading and set-up included: processor time recorded over unrecorded.
//! `bench-real DIR` takes a folder of checkouts of public repositories, each named as its
//! repository, and fetches nothing; a program that is not there is left out. Every run has a copy
//! of the checkout, because some programs write beside their files.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

/// A program and how it is run whole.
struct Program {
    name: &'static str,
    /// The repository, and a file that must be there: one that is built, or any.
    repository: &'static str,
    needs: &'static str,
    /// Where in the checkout it runs.
    directory: &'static str,
    /// Behind `swipl`.
    words: &'static [&'static str],
}

const LPTP: &str = "consult(['op.pl', 'prolog/swi.pl', 'io.pl', 'obj.pl', 'e2i.pl', 'i2e.pl', 'pr.pl', 'cmp.pl', 'bi.pl', 'def.pl', \
     'dep.pl', 'ind.pl', 'eq.pl', 'mgu.pl', 'tac.pl', 'ai.pl', 'ctl.pl', 'prt.pl', 'tex.pl', 'lst.pl', 'gnd.pl', 'alias.pl'])";
const LPTP_HOME: &str = "abolish(io__lptp_home/1), assertz(io__lptp_home('..')), \
     assertz((atomic_length(A, N) :- atom_length(A, N))), make_directory_path('../tmp')";

const PROGRAMS: [Program; 7] = [
    Program {
        name: "parser of English: load",
        repository: "APE",
        needs: "prolog/parser/grammar.plp",
        directory: ".",
        words: &["-g", "true", "-t", "halt", "prolog/ape.pl"],
    },
    Program {
        name: "parser of English: its tests",
        repository: "APE",
        needs: "prolog/parser/grammar.plp",
        directory: "tests",
        words: &["-q", "-g", "main", "-t", "halt", "test_ape.pl"],
    },
    Program {
        name: "theorem prover: its library",
        repository: "lptp",
        needs: "src/all.pl",
        directory: "src",
        words: &[
            "-g",
            LPTP,
            "-g",
            LPTP_HOME,
            "-g",
            "consult('all.pl')",
            "-t",
            "halt",
        ],
    },
    Program {
        name: "web server: ready",
        repository: "ClioPatria",
        needs: "cliopatria.pl",
        directory: ".",
        words: &[
            "-p",
            "cliopatria=.",
            "-g",
            "cp_server([port(localhost:13391)])",
            "-t",
            "halt",
            "cliopatria.pl",
        ],
    },
    Program {
        name: "logic programs learnt",
        repository: "aleph",
        needs: "prolog/aleph.pl",
        directory: "prolog",
        words: &[
            "-p",
            "library=.",
            "-g",
            "use_module(library(aleph))",
            "-g",
            "consult('aleph_test/test_aleph.pl')",
            "-g",
            "test_aleph",
            "-t",
            "halt",
        ],
    },
    Program {
        name: "chat80: its questions",
        repository: "chat80",
        needs: "prolog/chat80.pl",
        directory: "prolog",
        words: &["-g", "rtest_chats(20)", "-t", "halt", "chat80.pl"],
    },
    Program {
        name: "benchmark suite",
        repository: "bench",
        needs: "run.pl",
        directory: ".",
        words: &["run.pl", "--speedup=20"],
    },
];

/// Best of so many runs, unrecorded and recorded in turn.
const ROUNDS: usize = 3;

fn main() -> Result<ExitCode> {
    let Some(checkouts) = std::env::args_os().nth(1) else {
        bail!("usage: bench-real DIR, a folder of checkouts");
    };
    let mut ratios = Vec::new();
    let mut all_same = true;
    println!(
        "{:<32}{:>12}{:>12}{:>8}",
        "program", "unrecorded s", "recorded s", "ratio"
    );
    for program in PROGRAMS {
        let Some(checkout) = find(Path::new(&checkouts), &program)? else {
            println!(
                "{:<32}not there: {}/{}",
                program.name, program.repository, program.needs
            );
            continue;
        };
        let (unrecorded, recorded) = best(&program, &checkout)?;
        let ratio = recorded.seconds / unrecorded.seconds;
        println!(
            "{:<32}{:>12.2}{:>12.2}{ratio:>8.2}",
            program.name, unrecorded.seconds, recorded.seconds
        );
        if let Some(difference) = difference(&unrecorded, &recorded) {
            println!("  another result when recorded: {difference}");
            all_same = false;
        }
        ratios.push(ratio);
    }
    if ratios.is_empty() {
        bail!("none of the programs is there");
    }
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    println!(
        "geometric mean over {}: {mean:.2}, worst {worst:.2}",
        ratios.len()
    );
    Ok(if all_same {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The checkout of a program, under its repository's name in any case.
fn find(checkouts: &Path, program: &Program) -> Result<Option<PathBuf>> {
    for entry in fs::read_dir(checkouts).context("cannot read the folder of checkouts")? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.eq_ignore_ascii_case(program.repository) && path.join(program.needs).is_file() {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// A run that has ended.
struct Run {
    /// Of processor time, the start of the engine included.
    seconds: f64,
    status: ExitStatus,
    output: Vec<String>,
    errors: Vec<String>,
}

fn best(program: &Program, checkout: &Path) -> Result<(Run, Run)> {
    let mut unrecorded = run(program, checkout, false)?;
    let mut recorded = run(program, checkout, true)?;
    for _ in 1..ROUNDS {
        unrecorded.seconds = unrecorded
            .seconds
            .min(run(program, checkout, false)?.seconds);
        recorded.seconds = recorded.seconds.min(run(program, checkout, true)?.seconds);
    }
    Ok((unrecorded, recorded))
}

fn run(program: &Program, checkout: &Path, is_recorded: bool) -> Result<Run> {
    let scratch = tempfile::tempdir()?;
    let copy = scratch.path().join("copy");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(checkout)
        .arg(&copy)
        .status()?;
    if !copied.success() {
        bail!("cannot copy {}", checkout.display());
    }
    let mut command = if is_recorded {
        let portmortem = std::env::current_exe()?.with_file_name("portmortem");
        let mut command = Command::new(portmortem);
        let trace = scratch.path().join("run.pmt");
        command
            .args(["record", "--no-index", "--keep", "all", "-o"])
            .arg(trace)
            .args(["--", "swipl"]);
        command
    } else {
        Command::new("swipl")
    };
    command
        .args(program.words)
        .current_dir(copy.join(program.directory));
    let before = processor_seconds();
    let done = command
        .stdin(Stdio::null())
        .output()
        .context("cannot run it")?;
    let seconds = processor_seconds() - before;
    let lines = |bytes: &[u8]| masked(bytes, scratch.path());
    Ok(Run {
        seconds,
        status: done.status,
        output: lines(&done.stdout),
        errors: lines(&done.stderr),
    })
}

/// Of all processes that have been waited for.
fn processor_seconds() -> f64 {
    // SAFETY: all zeros is a value of it, and the call writes nothing else.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Lines without what differs from run to run: digits, which are times and names of variables,
/// spaces around them, the directory, and lines that times are in.
fn masked(bytes: &[u8], directory: &Path) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes).replace(&directory.display().to_string(), "");
    let has_digits = |line: &&str| line.contains(|c: char| c.is_ascii_digit());
    let blank = |line: &str| {
        let mut masked: String = line
            .chars()
            .filter(|c| !c.is_ascii_digit() && !c.is_whitespace())
            .collect();
        // Exponents of times, and the shares of the processor.
        for word in ["e-", "GC", "-"] {
            masked = masked.replace(word, "");
        }
        masked
    };
    text.lines()
        .map(|line| {
            if has_digits(&line) {
                blank(line)
            } else {
                line.to_owned()
            }
        })
        .collect()
}

fn difference(unrecorded: &Run, recorded: &Run) -> Option<String> {
    if unrecorded.status != recorded.status {
        let status = |run: &Run| match run.status.signal() {
            Some(signal) => format!("signal {signal}"),
            None => format!("{:?}", run.status.code()),
        };
        return Some(format!("{} is {}", status(unrecorded), status(recorded)));
    }
    let pairs = [
        ("output", &unrecorded.output, &recorded.output),
        ("errors", &unrecorded.errors, &recorded.errors),
    ];
    for (what, before, after) in pairs {
        let lines = before.len().max(after.len());
        for at in 0..lines {
            let (before, after) = (before.get(at), after.get(at));
            if before != after {
                return Some(format!("{what}, line {}: {before:?} is {after:?}", at + 1));
            }
        }
    }
    None
}
