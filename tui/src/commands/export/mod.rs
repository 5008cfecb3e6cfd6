//! `portmortem export`: the tables of traces as files.

use std::fs::{self, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use portmortem_analyzer::export::{Csv, Exporter, Table};
use portmortem_analyzer::{Hide, Tables};
use rayon::prelude::*;
use tempfile::NamedTempFile;

use super::analysis::{Analysis, INCOMPLETE};
use crate::cli::{self, ExportArgs};

/// Writes one file per table, all traces in it. A trace that cannot be read does not stop the others.
pub(crate) fn run(args: &ExportArgs) -> Result<ExitCode> {
    fs::create_dir_all(&args.to)
        .with_context(|| format!("cannot make the directory {}", args.to.display()))?;
    let read: Vec<Result<Analysis>> = args
        .traces
        .par_iter()
        .map(|path| Analysis::of(path, Hide::default()))
        .collect();
    let mut whole = true;
    let mut readable = Vec::new();
    for result in read {
        match result {
            Ok(analysis) => {
                whole &= !analysis.is_incomplete();
                readable.push(analysis);
            }
            Err(error) => {
                whole = false;
                let _ = writeln!(io::stderr(), "error: {}", super::one_line(&error));
            }
        }
    }
    if readable.is_empty() {
        bail!("none of the traces could be read");
    }
    let mut all = Tables::default();
    for analysis in &readable {
        let tables = analysis.tables();
        all.predicates.extend(tables.predicates);
        all.edges.extend(tables.edges);
    }
    for table in &args.tables {
        write_table(args, *table, &all)?;
    }
    Ok(if whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(INCOMPLETE)
    })
}

/// The file is complete or absent: it gets its name when it has been written.
fn write_table(args: &ExportArgs, table: cli::Table, all: &Tables) -> Result<()> {
    let (cli::ExportFormat::Csv, format) = (args.format, &Csv as &dyn Exporter);
    let table = match table {
        cli::Table::Predicates => Table::Predicates,
        cli::Table::Edges => Table::Edges,
    };
    let path = args.to.join(table.name()).with_extension(format.name());
    let write = || -> Result<()> {
        let mut out = BufWriter::new(NamedTempFile::new_in(&args.to)?);
        format.write(all, table, &mut out)?;
        let file = out.into_inner()?;
        file.as_file()
            .set_permissions(Permissions::from_mode(0o644))?;
        file.persist(&path)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}
