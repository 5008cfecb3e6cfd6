//! The command lines of tables: `export` and `query`.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use portmortem_analyzer::tables::Table;

/// `portmortem export`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem export run.pmt --to tables
  portmortem export 'runs/*/*.pmt' --to tables --format parquet
  find / -name '*.pmt' | portmortem export --from - --to tables --format parquet
  portmortem export run.pmt --to tables --tables events --format arrow
  portmortem export run.pmt --to facts --format prolog --tables predicates,edges

CSV, JSON lines, Prolog and Arrow: a file per table, DIR/predicates.csv, which has the rows of
all traces in the order given. Parquet: a file per table and trace,
DIR/predicates/trace=NAME/part-0.parquet; any engine reads DIR/predicates as one table.

NAME is the trace's file name without extension. Where two are the same, directories that
tell them apart come before it: monday/run, tuesday/run.

Files are complete or absent, and none is changed before all are written. Older files of
the same name are replaced only with --force; partitions of traces that are not in this
export stay.")]
pub(crate) struct ExportArgs {
    /// The traces; patterns with *, ? and [] are expanded (** for any depth of directories)
    #[arg(required_unless_present = "from", value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// A file that lists further traces, one per line; - for standard input
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Directory for the files (made if missing)
    #[arg(long, value_name = "DIR")]
    pub to: PathBuf,
    /// File format
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    pub format: ExportFormat,
    /// Replace existing files
    #[arg(long)]
    pub force: bool,
    /// Tables to write, with commas between (default: all but events)
    #[arg(long, value_name = "TABLES", value_delimiter = ',', value_parser = table_parser())]
    pub tables: Vec<Table>,
}

/// A file format of `export`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Comma-separated values
    Csv,
    /// Apache Parquet, partitioned by trace
    Parquet,
    /// JSON lines: an object per row
    Json,
    /// Facts of ISO Prolog
    Prolog,
    /// Apache Arrow (IPC file)
    Arrow,
}

/// `portmortem query`
#[derive(Debug, Args)]
#[command(
    override_usage = "portmortem query [OPTIONS] <TRACE>... <SQL>",
    after_help = "\
Examples:
  portmortem query run.pmt 'SELECT predicate, calls FROM predicates ORDER BY calls DESC LIMIT 5'
  portmortem query run.pmt 'SELECT name FROM sqlite_schema'
  portmortem query runs/*.pmt 'SELECT trace, sum(events) AS events FROM streams GROUP BY trace'
  portmortem query run.pmt --format csv 'SELECT * FROM sites WHERE fails > 1000' > sites.csv
  portmortem query run.pmt --format prolog 'SELECT caller, callee FROM edges' > answer.pl

Tables and columns are those of `export`; every table has a column trace. Only what the SQL reads
is made. The SQL is that of SQLite, with REGEXP, median() and stddev(); LIKE knows capital from
small letters. A whole number divided by another is one; redos * 1.0 / calls is not."
)]
pub(crate) struct QueryArgs {
    /// The traces, and last the question; patterns with *, ? and [] are expanded (** for any depth
    /// of directories)
    // One list: options may stand between any two of its words.
    #[arg(required = true, value_name = "TRACE")]
    words: Vec<OsString>,
    /// Output format
    #[arg(long, value_enum, default_value_t = QueryFormat::Text)]
    pub format: QueryFormat,
}

impl QueryArgs {
    /// The traces.
    #[must_use]
    pub(crate) fn traces(&self) -> Vec<PathBuf> {
        let traces = self.words.split_last().map(|(_, traces)| traces);
        let traces = traces.unwrap_or_default().iter();
        traces.map(PathBuf::from).collect()
    }

    /// The question, as text.
    #[must_use]
    pub(crate) fn sql(&self) -> Cow<'_, str> {
        let last = self.words.last();
        last.map_or(Cow::Borrowed(""), |last| last.to_string_lossy())
    }
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum QueryFormat {
    /// Text for people: a table, or an entry per line where that is too wide
    Text,
    /// Comma-separated values
    Csv,
    /// An array of objects
    Json,
    /// Facts of ISO Prolog, named answer
    Prolog,
}

/// The tables by their names, those of the analyzer.
fn table_parser() -> impl TypedValueParser<Value = Table> {
    let possible = |table: &Table| PossibleValue::new(table.name()).help(table.about());
    PossibleValuesParser::new(Table::ALL.iter().map(possible))
        .try_map(|name| Table::from_name(&name).ok_or("no such table"))
}
