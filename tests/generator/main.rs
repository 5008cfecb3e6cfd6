//! `generate-trace`: makes a trace of any size, with figures known in advance.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Parser;
use portmortem_tests::generator::{Shape, Workload, generate};

/// Makes a trace of any size, with figures known in advance.
#[derive(Debug, Parser)]
struct Arguments {
    /// Exactly so many events
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    events: u64,
    /// What the trace is like
    #[arg(long, value_enum, default_value = "mixed")]
    workload: Workload,
    /// Another seed makes another trace
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Events are divided evenly over so many streams [default: 1; wide: one for each ten events]
    #[arg(long)]
    streams: Option<u64>,
    /// About so many predicates [default: by workload]
    #[arg(long)]
    predicates: Option<u32>,
    /// Of deep: greatest depth; of tails: longest loop [default: by events]
    #[arg(long)]
    depth: Option<u32>,
    /// A redo stands for all boxes on the way to the innermost one re-entered
    #[arg(long)]
    innermost_redo: bool,
    /// Where to write the trace
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Where to write the figures, as JSON
    #[arg(long, value_name = "FILE")]
    figures: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let usual = Shape::new(arguments.workload, arguments.events, arguments.seed);
    let shape = Shape {
        streams: arguments.streams.unwrap_or(usual.streams),
        predicates: arguments.predicates.unwrap_or(usual.predicates),
        depth: arguments.depth.unwrap_or(usual.depth),
        innermost_redo: arguments.innermost_redo,
        ..usual
    };
    let began = Instant::now();
    let figures = generate(&arguments.output, &shape)?;
    let seconds = began.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(&arguments.output)?.len();
    let events = shape.events as f64;
    println!(
        "{} events, {:.2} bytes each, made in {seconds:.2} s ({:.1} million/s)",
        shape.events,
        bytes as f64 / events,
        events / seconds / 1e6
    );
    if let Some(path) = &arguments.figures {
        let context = || format!("cannot write {}", path.display());
        let file = File::create(path).with_context(context)?;
        serde_json::to_writer(BufWriter::new(file), &figures).with_context(context)?;
    }
    Ok(())
}
