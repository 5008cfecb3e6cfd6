//! `portmortem query`: a question in SQL about the tables of some traces.

mod answer;

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Error, Result, bail};
use portmortem_analyzer::tables::Table;
use portmortem_analyzer::text::{shell_word, shorten};
use portmortem_analyzer::{Analysis, Filters, Trace};
use portmortem_sql::{Query, QueryError};

use super::analysis::{INCOMPLETE, warn_of_losses, with_progress_of};
use super::inputs::{self, Input};
use super::table_progress::{RowsAsBytes, TableProgress};
use crate::cli::QueryArgs;

/// Names in errors are cut at so many cells.
const MOST_NAME: usize = 60;

/// Prints the answer; status 3 if parts of a trace are missing. A trace that cannot be read is an
/// error.
pub(crate) fn run(args: &QueryArgs) -> Result<ExitCode> {
    ensure_question(args)?;
    let inputs = inputs::inputs(&args.traces(), None)?;
    let mut query = Query::parse(&args.sql()).map_err(explained)?;
    let tables: Vec<Table> = query.tables().collect();
    let mut is_whole = true;
    if tables.is_empty() {
        for input in &inputs {
            Trace::open(&input.path)?;
        }
    } else {
        let progress = TableProgress::new(&tables, 1);
        let total = progress.total(&inputs);
        with_progress_of(total, &|| progress.done(), || -> Result<()> {
            for input in &inputs {
                is_whole &= add(&mut query, input, &progress)?;
                progress.finish(0, input);
            }
            Ok(())
        })?;
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let mut answer = answer::begin(args.format, query.columns(), &mut out)?;
    query.rows(|values| answer.row(values))?;
    answer.finish()?;
    out.flush()?;
    Ok(match is_whole {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(INCOMPLETE),
    })
}

/// One word is either a trace or a question.
fn ensure_question(args: &QueryArgs) -> Result<()> {
    let sql = args.sql();
    let (missing, trace) = match Path::new(&*sql) {
        trace if trace.is_file() => ("the question, which comes last,", shell_word(&sql)),
        _ if args.traces().is_empty() => ("the trace", "TRACE".to_owned()),
        _ => return Ok(()),
    };
    bail!(
        "{missing} is missing; for example: portmortem query {trace} 'SELECT predicate, calls FROM predicates'"
    );
}

/// Adds the tables of a trace; whether all of it is there.
fn add(query: &mut Query, input: &Input, progress: &TableProgress) -> Result<bool> {
    let trace = Trace::open(&input.path)?;
    let done = progress.of_thread(0);
    let analysis = Analysis::of(trace, &input.path, Filters::default(), done)?;
    let analysis = analysis.named(input.name.clone());
    let mut events = RowsAsBytes::new(&analysis, Table::Events, done);
    let count = |table| {
        if table == Table::Events {
            events.row();
        }
    };
    query.add(analysis.tables(), count)?;
    // The events are read again for their table.
    analysis.trace.check_whole(&input.path)?;
    Ok(!warn_of_losses(&analysis))
}

/// An error with the names that there are, the most similar first.
fn explained(error: QueryError) -> Error {
    match &error {
        QueryError::NoTable(name) => {
            let tables = Table::ALL.iter().map(|table| table.name()).collect();
            let name = shorten(name, MOST_NAME);
            let error = QueryError::NoTable(name.clone());
            anyhow::anyhow!("{error}; there are {}", similar_first(tables, &name))
        }
        QueryError::NoColumn { name, tables } => {
            let name = &shorten(name, MOST_NAME);
            let error = QueryError::NoColumn {
                name: name.clone(),
                tables: Vec::new(),
            };
            let lists = tables.iter().map(|table| {
                let columns = table.columns().iter().map(|column| column.name).collect();
                format!("; {} has {}", table.name(), similar_first(columns, name))
            });
            anyhow::anyhow!("{error}{}", lists.collect::<String>())
        }
        QueryError::Refused(text) if is_of_dialect(text) => anyhow::anyhow!(
            "{text}; the SQL is that of SQLite, and SELECT name FROM sqlite_schema lists the tables"
        ),
        _ => error.into(),
    }
}

/// Whether an error may come from SQL that other engines know.
fn is_of_dialect(error: &str) -> bool {
    [
        "syntax error",
        "incomplete input",
        "no such function",
        "unrecognized token",
    ]
    .iter()
    .any(|part| error.contains(part))
}

fn similar_first(mut names: Vec<&str>, wanted: &str) -> String {
    let wanted = wanted.rsplit('.').next().unwrap_or(wanted).to_lowercase();
    names.sort_by_cached_key(|name| strsim::damerau_levenshtein(name, &wanted));
    names.join(", ")
}
