//! `portmortem-polars`: does what `portmortem` leaves to polars, which starts this program with its
//! own command line.

mod limits;
mod query;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use portmortem::cli::{ExportArgs, ExportFormat, QueryArgs};
use portmortem::commands::{export, use_threads};
use portmortem_analyzer::export::{Csv, Exporter, Json, Prolog};
use portmortem_frames::{Arrow, Parquet};

/// Those commands of `portmortem` that may need polars.
#[derive(Debug, Parser)]
#[command(name = "portmortem", version)]
struct PolarsCli {
    #[command(subcommand)]
    command: PolarsCommand,
    #[arg(long, global = true, value_name = "N")]
    threads: Option<u16>,
}

#[derive(Debug, Subcommand)]
enum PolarsCommand {
    Export(ExportArgs),
    Query(QueryArgs),
}

fn main() -> ExitCode {
    portmortem::exit_code(run(&PolarsCli::parse()))
}

fn run(cli: &PolarsCli) -> Result<ExitCode> {
    use_threads(cli.threads)?;
    match &cli.command {
        PolarsCommand::Export(args) => export::write(args, exporter(args.format)),
        PolarsCommand::Query(args) => query::run(args),
    }
}

fn exporter(format: ExportFormat) -> &'static dyn Exporter {
    match format {
        ExportFormat::Csv => &Csv,
        ExportFormat::Json => &Json,
        ExportFormat::Prolog => &Prolog,
        ExportFormat::Arrow => &Arrow,
        ExportFormat::Parquet => &Parquet,
    }
}
