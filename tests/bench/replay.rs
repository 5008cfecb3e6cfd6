//! `make bench-replay`: what analysing a trace costs.
//!
//! Makes a trace (once; it stays in `$PORTMORTEM_BENCH_DIR` or a temporary directory), or takes one of a real program (`--trace`), and
//! times, in turns and in this one run: reading its bytes and doing nothing, the analysis with one thread and with more, and the report
//! of uftrace on a recording of its own.

mod contest;
mod memory;
mod uftrace;

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use contest::{Column, Contestant, Measured};
use memory::Peak;
use portmortem_analyzer::index::Index;
use portmortem_analyzer::replay::Effort;
use portmortem_analyzer::trace::mapping::Mapping;
use portmortem_analyzer::{ReplayOptions, Trace, replay};
use portmortem_tests::generator::{self, Shape, Workload};
use rayon::ThreadPool;
use rayon::prelude::*;

/// The speedup is predicted for so many threads, each with a core of its own.
const PREDICTED: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Times the analysis of a trace: a generated one, if none is given.
#[derive(Debug, Parser)]
struct Arguments {
    /// A recorded trace to analyse. An index beside it is used and made as by other commands
    #[arg(long, value_name = "FILE", conflicts_with_all = ["events", "workload", "seed"])]
    trace: Option<PathBuf>,
    /// Events of the trace
    #[arg(long, default_value_t = 100_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    events: u64,
    /// What the trace is like
    #[arg(long, value_enum, default_value = "mixed")]
    workload: Workload,
    /// Another seed makes another trace
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Times that everything is run
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Calls that uftrace records, two events each; 0: without uftrace
    #[arg(long, default_value_t = 10_000_000)]
    calls: u64,
    /// Analyse the trace with so many threads and print what memory it took: for the benchmark itself
    #[arg(long, hide = true, value_name = "THREADS")]
    memory: Option<usize>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let path = trace_of(&arguments)?;
    if let Some(threads) = arguments.memory {
        let peak = memory::watch(|| analysis(&path, &pool(threads)?).map(drop))?;
        println!("{}", serde_json::to_string(&peak)?);
        return Ok(());
    }
    let file = File::look_at(&path, &arguments)?;
    let recording = if arguments.calls > 0 {
        let directory = directory().join("uftrace");
        Some(uftrace::Recording::make(&directory, arguments.calls)?)
    } else {
        None
    };
    let contestants = contestants(&path, &file, recording.as_ref())?;
    let measured = contest::run(contestants, arguments.runs as usize)?;
    contest::print(&measured);
    println!();
    cost_of_index(&measured);
    against_uftrace(&measured, recording.as_ref());
    memory_taken(&arguments)?;
    serial_part(&path, arguments.runs)
}

/// Where the trace and the recording of uftrace stay.
fn directory() -> PathBuf {
    std::env::var_os("PORTMORTEM_BENCH_DIR").map_or_else(
        || std::env::temp_dir().join("portmortem-bench"),
        PathBuf::from,
    )
}

/// The trace, made if it is not there.
fn trace_of(arguments: &Arguments) -> Result<PathBuf> {
    if let Some(path) = &arguments.trace {
        return Ok(path.clone());
    }
    let Arguments {
        events,
        workload,
        seed,
        ..
    } = arguments;
    let shape = Shape::new(*workload, *events, *seed);
    let edition = generator::EDITION;
    let name = format!("{}-{events}-{seed}-{edition}.pmt", workload.name());
    let path = directory().join(name);
    if path.exists() {
        return Ok(path);
    }
    fs::create_dir_all(directory())?;
    let unfinished = path.with_extension("unfinished");
    generator::generate(&unfinished, &shape)?;
    fs::rename(&unfinished, &path)?;
    Ok(path)
}

/// The file that is analysed.
struct File {
    events: u64,
    bytes: u64,
}

impl File {
    /// Says what it is, and that an analysis finds nothing wrong with it.
    fn look_at(path: &Path, arguments: &Arguments) -> Result<Self> {
        let trace = Trace::open(path)?;
        let profile = replay(&trace, &ReplayOptions::default());
        let events = profile.streams.iter().map(|stream| stream.events).sum();
        ensure!(
            profile.violation_count == 0 && profile.damage.is_empty(),
            "{} is damaged: what it takes to replay that says little of other traces",
            path.display()
        );
        ensure!(
            arguments.trace.is_some() || events == arguments.events,
            "{} is not what was made; delete it",
            path.display()
        );
        println!("{}", path.display());
        println!(
            "{events} events in {} streams, {} bytes, {:.2} bytes per event",
            profile.streams.len(),
            trace.size(),
            trace.size() as f64 / events as f64,
        );
        let load = fs::read_to_string("/proc/loadavg")?;
        println!(
            "{} runs; {} cores, {} busy when this began\n",
            arguments.runs,
            cores(),
            load.split(' ').next().unwrap_or_default(),
        );
        Ok(Self {
            events,
            bytes: trace.size(),
        })
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// 1, 2, 4, … and the number of cores.
fn threads() -> Vec<usize> {
    let mut threads: Vec<usize> = std::iter::successors(Some(1), |threads| Some(2 * threads))
        .take_while(|&threads| threads < cores())
        .collect();
    threads.push(cores().max(2));
    threads
}

fn pool(threads: usize) -> Result<ThreadPool> {
    Ok(rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?)
}

fn named(what: &str, threads: usize) -> String {
    let plural = if threads == 1 { "" } else { "s" };
    format!("{what}, {threads} thread{plural}")
}

const PLAIN: &str = "plain read";
const ANALYSIS: &str = "analysis";
const INDEXED: &str = "with index";
const UFTRACE: &str = "uftrace report";

/// Does something with a trace, and says how long it took.
type Timed = fn(&Path, &ThreadPool) -> Result<Duration>;

fn contestants<'c>(
    path: &'c Path,
    file: &File,
    recording: Option<&'c uftrace::Recording>,
) -> Result<Vec<Contestant<'c>>> {
    let mut all = Vec::new();
    let timed: [(&str, u64, Timed); 3] = [
        (PLAIN, 0, plain_read),
        (ANALYSIS, file.events, analysis),
        (INDEXED, file.events, indexed_analysis),
    ];
    for (what, events, timed) in timed {
        for threads in threads() {
            let pool = pool(threads)?;
            let mut compared = vec![(Column::Speedup, named(what, 1))];
            if what == ANALYSIS {
                compared.push((Column::OfPlainRead, named(PLAIN, threads)));
            }
            all.push(Contestant {
                name: named(what, threads),
                events,
                bytes: file.bytes,
                compared,
                run: Box::new(move || timed(path, &pool)),
            });
        }
    }
    all.push(second_analysis(path, file)?);
    if let Some(recording) = recording {
        all.push(Contestant {
            name: UFTRACE.to_owned(),
            events: recording.events,
            bytes: recording.bytes,
            compared: Vec::new(),
            run: Box::new(|| recording.time_of_report()),
        });
    }
    Ok(all)
}

/// Maps the file and looks at all of it, as numbers of eight bytes.
fn plain_read(path: &Path, pool: &ThreadPool) -> Result<Duration> {
    let began = Instant::now();
    let bytes = Mapping::open(path)?;
    let part = bytes.len().div_ceil(pool.current_num_threads()).max(1);
    let sum = pool.install(|| {
        let parts = bytes.par_chunks(part).map(|part| {
            let (numbers, _) = part.as_chunks::<8>();
            numbers.iter().fold(0u64, |sum, number| {
                sum.wrapping_add(u64::from_le_bytes(*number))
            })
        });
        parts.reduce(|| 0, u64::wrapping_add)
    });
    black_box(sum);
    Ok(began.elapsed())
}

/// From the path to all figures: of predicates, callers, contexts, streams.
fn analysis(path: &Path, pool: &ThreadPool) -> Result<Duration> {
    let began = Instant::now();
    let trace = Trace::open(path)?;
    let profile = pool.install(|| replay(&trace, &ReplayOptions::default()));
    let took = began.elapsed();
    drop(black_box(profile));
    Ok(took)
}

/// The same, and the index that reports write beside a large trace.
fn indexed_analysis(path: &Path, pool: &ThreadPool) -> Result<Duration> {
    let began = Instant::now();
    let trace = Trace::open(path)?;
    let index = pool.install(|| Index::build(&trace, path, &ReplayOptions::default()))?;
    let profile = index.profile();
    index.save(path)?;
    let took = began.elapsed();
    drop(black_box(profile));
    Ok(took)
}

/// The same analysis with an index beside the trace, which is made first.
fn second_analysis<'c>(path: &'c Path, file: &File) -> Result<Contestant<'c>> {
    let trace = Trace::open(path)?;
    if Index::load(&trace, path).is_err() {
        Index::build(&trace, path, &ReplayOptions::default())?.save(path)?;
    }
    Ok(Contestant {
        name: "second analysis, indexed".to_owned(),
        events: file.events,
        bytes: file.bytes,
        compared: vec![(Column::Speedup, named(ANALYSIS, 1))],
        run: Box::new(move || {
            let began = Instant::now();
            let trace = Trace::open(path)?;
            let profile = Index::load(&trace, path)?.profile();
            let took = began.elapsed();
            drop(black_box(profile));
            Ok(took)
        }),
    })
}

fn cost_of_index(measured: &[Measured]) {
    let of = |name: String| measured.iter().find(|row| row.name == name);
    for threads in threads() {
        let name = named(ANALYSIS, threads);
        if let (Some(indexed), Some(alone)) = (of(named(INDEXED, threads)), of(name.clone())) {
            let times = indexed.median / alone.median;
            println!("{name}: {times:.2} times as long if it writes an index");
        }
    }
}

fn against_uftrace(measured: &[Measured], recording: Option<&uftrace::Recording>) {
    let Some(recording) = recording else {
        return;
    };
    let Some(uftrace) = measured.iter().find(|row| row.name == UFTRACE) else {
        return;
    };
    println!(
        "uftrace: {} entries and exits in {} bytes, {} calls lost, {:.1} ns per event in report",
        recording.events,
        recording.bytes,
        recording.lost_calls,
        uftrace.ns_per_event()
    );
    for threads in threads() {
        let name = named(ANALYSIS, threads);
        if let Some(row) = measured.iter().find(|row| row.name == name) {
            println!(
                "{name}: {:.1} ns per event; uftrace takes {:.1} times that",
                row.ns_per_event(),
                uftrace.ns_per_event() / row.ns_per_event()
            );
        }
    }
    println!();
}

/// In a process of its own: what was timed here has left its memory behind.
fn memory_taken(arguments: &Arguments) -> Result<()> {
    for threads in threads() {
        let mut child = Command::new(std::env::current_exe()?);
        match &arguments.trace {
            Some(path) => {
                child.arg("--trace").arg(path);
            }
            None => {
                child.args(["--events", &arguments.events.to_string()]);
                child.args(["--workload", arguments.workload.name()]);
                child.args(["--seed", &arguments.seed.to_string()]);
            }
        }
        child.args(["--memory", &threads.to_string()]);
        let output = child.output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{child:?} failed: {errors}");
        let peak: Peak = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("{child:?} does not say what it took"))?;
        println!(
            "{}: peak {:.1} MiB anonymous memory ({:.1} MiB with pages of the file)",
            named(ANALYSIS, threads),
            peak.anonymous as f64 / 1024.0,
            peak.resident as f64 / 1024.0
        );
    }
    println!();
    Ok(())
}

/// What does not run in parallel, and what follows for more cores (Amdahl 1967). Opening counts as
/// serial, and so does joining, though the other threads replay meanwhile.
fn serial_part(path: &Path, runs: u32) -> Result<()> {
    let pool = pool(cores().max(2))?;
    let (mut opening, mut joining, mut parallel) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..runs {
        let began = Instant::now();
        let trace = Trace::open(path)?;
        opening.push(began.elapsed());
        let effort = Effort::default();
        let options = ReplayOptions {
            effort: Some(&effort),
            ..ReplayOptions::default()
        };
        drop(black_box(pool.install(|| replay(&trace, &options))));
        joining.push(effort.serial());
        parallel.push(effort.parallel());
    }
    let [opening, joining, parallel] = [opening, joining, parallel].map(contest::median);
    let serial = opening + joining;
    let all = serial + parallel;
    println!(
        "serial: {:.2} ms to open, {:.2} ms to join chunks: {:.2} % of {all:.3} s of all threads",
        opening * 1e3,
        joining * 1e3,
        100.0 * serial / all
    );
    print!("{:<24}", "threads");
    PREDICTED.iter().for_each(|threads| print!("{threads:>8}"));
    print!("\n{:<24}", "predicted speedup");
    for threads in PREDICTED {
        print!("{:>8.1}", all / (serial + parallel / f64::from(threads)));
    }
    println!();
    Ok(())
}
