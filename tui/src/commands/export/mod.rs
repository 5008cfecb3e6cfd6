//! `portmortem export`: the tables of traces as files.
//!
//! Each thread takes the next trace, replays it and hands its rows on, so no more traces are in memory
//! than there are threads. Where all traces share the files of the tables, rows are written in the order
//! of the traces: a thread waits for its turn at each table. Parquet has a file for each trace, so no
//! thread waits.

mod order;
pub(super) mod staging;

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context, Error, Result, bail};
use portmortem_analyzer::export::{
    Csv, ExportError, Exporter, Json, Prolog, TableWriter, write_in_parallel,
};
use portmortem_analyzer::tables::Table;
use portmortem_analyzer::trace::names::printable;
use portmortem_analyzer::{Analysis, Filters, Trace};
use portmortem_columnar::{Arrow, Parquet};

use super::analysis::{INCOMPLETE, with_progress_of};
use super::inputs::{self, Input};
use super::table_progress::{RowsAsBytes, TableProgress};
use crate::cli::{ExportArgs, ExportFormat};
use crate::report::losses;
use order::InOrder;

use staging::Staging;

/// Writes the tables of all traces that can be read. The exit status says whether all of them are
/// whole.
pub(crate) fn run(args: &ExportArgs) -> Result<ExitCode> {
    let exporter: &dyn Exporter = match args.format {
        ExportFormat::Arrow => &Arrow,
        ExportFormat::Csv => &Csv,
        ExportFormat::Json => &Json,
        ExportFormat::Parquet => &Parquet,
        ExportFormat::Prolog => &Prolog,
    };
    let inputs = inputs::inputs(&args.traces, args.from.as_deref())?;
    let threads = rayon::current_num_threads().min(inputs.len());
    let export = Export::new(args, exporter, &inputs, threads)?;
    let (total, done) = (export.progress.total(&inputs), || export.progress.done());
    with_progress_of(total, &done, || {
        thread::scope(|scope| {
            for number in 1..threads {
                let export = &export;
                let work = move || export.work(number);
                // With fewer threads than asked for it only takes longer.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            export.work(0);
        });
    });
    export.finish()
}

/// An export that is going on.
struct Export<'a> {
    to: &'a Path,
    inputs: &'a [Input],
    tables: Vec<Table>,
    format: &'static dyn Exporter,
    staging: Staging,
    /// By table: the file that all traces share. None if each trace has files of its own.
    shared: Vec<InOrder<Box<dyn TableWriter>>>,
    /// The next trace to be taken.
    next: AtomicUsize,
    progress: TableProgress,
    /// By number of the trace, what is to be said about it.
    remarks: Mutex<Vec<(usize, TraceRemark)>>,
    /// Why no table can be written; the others stop.
    failure: Mutex<Option<Error>>,
    failed: AtomicBool,
}

enum TraceRemark {
    /// It is not in the tables.
    Unreadable(Error),
    /// It is, but for what was lost.
    Incomplete(Vec<String>),
}

impl<'a> Export<'a> {
    fn new(
        args: &'a ExportArgs,
        format: &'static dyn Exporter,
        inputs: &'a [Input],
        threads: usize,
    ) -> Result<Self> {
        let tables = tables(&args.tables);
        let mut export = Self {
            to: &args.to,
            inputs,
            progress: TableProgress::new(&tables, threads),
            tables,
            format,
            staging: Staging::new(&args.to)?,
            shared: Vec::new(),
            next: AtomicUsize::new(0),
            remarks: Mutex::default(),
            failure: Mutex::default(),
            failed: AtomicBool::new(false),
        };
        if !args.force {
            export.refuse_existing(args.format)?;
        }
        if args.format != ExportFormat::Parquet {
            for &table in &export.tables {
                let begun = export.begin(table, export.shared_file(table), 0)?;
                export.shared.push(InOrder::new(begun));
            }
        }
        Ok(export)
    }

    /// Refuses to replace a file, before any trace is read.
    fn refuse_existing(&self, format: ExportFormat) -> Result<()> {
        for &table in &self.tables {
            let files: Vec<PathBuf> = match format {
                ExportFormat::Parquet => {
                    let files = self.inputs.iter();
                    // A trace that has no place is told of when it is its turn.
                    files
                        .filter_map(|input| self.file_of(table, &input.name).ok())
                        .collect()
                }
                _ => vec![self.shared_file(table)],
            };
            // A link is refused with or without force.
            let is_file =
                |file: &&PathBuf| fs::symlink_metadata(file).is_ok_and(|there| there.is_file());
            if let Some(file) = files.iter().find(is_file) {
                bail!(
                    "{} exists; replace it with --force or name another directory with --to",
                    file.display()
                );
            }
        }
        Ok(())
    }

    /// Where the rows of all traces are in a table.
    fn shared_file(&self, table: Table) -> PathBuf {
        let file = format!("{}.{}", table.name(), self.format.extension());
        self.to.join(file)
    }

    /// Where the rows of a trace are in a table, if each trace has files of its own: a partition of the table in the way of
    /// Hive. Its name says what the column `trace` would, and engines would object to hearing it twice.
    fn file_of(&self, table: Table, trace: &str) -> Result<PathBuf> {
        let path = self.to.join(table.name());
        Ok(path.join(partition_of(trace)?).join("part-0.parquet"))
    }

    /// What each thread does: traces, until there are no more.
    fn work(&self, thread: usize) {
        while !self.failed.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(input) = self.inputs.get(number) else {
                return;
            };
            let turn = TraceTurn {
                number,
                input,
                shared: &self.shared,
                done: self.progress.of_thread(thread),
            };
            if let Err(error) = self.trace(&turn) {
                self.failed.store(true, Ordering::Relaxed);
                lock(&self.failure).get_or_insert(error);
            }
            self.progress.finish(thread, input);
        }
    }

    /// Writes the tables of a trace.
    fn trace(&self, turn: &TraceTurn) -> Result<()> {
        let input = turn.input;
        let analysis = match self.analyse(turn) {
            Ok(analysis) => analysis,
            Err(error) => {
                self.remark(turn, TraceRemark::Unreadable(error));
                return Ok(());
            }
        };
        let losses = losses(&analysis);
        if !losses.is_empty() {
            self.remark(turn, TraceRemark::Incomplete(losses));
        }
        for (at, &table) in self.tables.iter().enumerate() {
            match self.shared.get(at) {
                Some(file) => {
                    file.at_turn(turn.number, |file| {
                        self.rows(&analysis, table, 0, file.as_mut(), turn.done)
                    })?;
                    file.pass(turn.number);
                }
                None => self.partition(&analysis, table, turn)?,
            }
        }
        // The events are read again for their table, and its rows are among others by now.
        Ok(analysis.trace.check_whole(&input.path)?)
    }

    fn analyse(&self, turn: &TraceTurn) -> Result<Analysis> {
        let Input { path, name } = turn.input;
        if self.shared.is_empty() {
            partition_of(name).with_context(|| path.display().to_string())?;
        }
        let trace = Trace::open(path)?;
        let analysis = Analysis::of(trace, path, Filters::default(), turn.done)?;
        Ok(analysis.named(name.clone()))
    }

    /// Writes a file of its own for a table of a trace.
    fn partition(&self, analysis: &Analysis, table: Table, turn: &TraceTurn) -> Result<()> {
        let path = self.file_of(table, &turn.input.name)?;
        let mut file = self.begin(table, path, 1)?;
        self.rows(analysis, table, 1, file.as_mut(), turn.done)?;
        file.finish().with_context(|| cannot_write(table, self.to))
    }

    /// Begins the file `path` for a table without its first `without` columns.
    fn begin(&self, table: Table, path: PathBuf, without: usize) -> Result<Box<dyn TableWriter>> {
        let begin = || -> Result<_, ExportError> {
            let file = BufWriter::new(self.staging.file(path)?);
            let columns = &table.columns()[without..];
            self.format.begin(table.name(), columns, Box::new(file))
        };
        begin().with_context(|| cannot_write(table, self.to))
    }

    fn rows(
        &self,
        analysis: &Analysis,
        table: Table,
        without: usize,
        file: &mut dyn TableWriter,
        done: &AtomicU64,
    ) -> Result<()> {
        let mut progress = RowsAsBytes::new(analysis, table, done);
        let tables = analysis.tables();
        let rows = if table == Table::Events {
            write_in_parallel(file, |take| {
                tables.rows(table, |cells| {
                    progress.row();
                    take(&cells[without..])
                })
            })
        } else {
            tables.rows(table, |cells| file.row(&cells[without..]))
        };
        rows.with_context(|| cannot_write(table, self.to))
    }

    fn remark(&self, turn: &TraceTurn, remark: TraceRemark) {
        lock(&self.remarks).push((turn.number, remark));
    }

    /// Says what is to be said, and gives the files their places.
    fn finish(self) -> Result<ExitCode> {
        if let Some(error) = inner(self.failure) {
            return Err(error);
        }
        let whole = say(self.inputs, inner(self.remarks))?;
        for (file, &table) in self.shared.into_iter().zip(&self.tables) {
            let finished = file.into_inner().finish();
            finished.with_context(|| cannot_write(table, self.to))?;
        }
        self.staging.publish()?;
        Ok(match whole {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(INCOMPLETE),
        })
    }
}

/// Says what is wrong with the traces, in their order; whether nothing is. It is an error if none can be read.
fn say(inputs: &[Input], mut remarks: Vec<(usize, TraceRemark)>) -> Result<bool> {
    remarks.sort_by_key(|(number, _)| *number);
    let whole = remarks.is_empty();
    let mut unreadable = 0;
    for (number, remark) in remarks {
        let line = match remark {
            TraceRemark::Unreadable(error) => {
                unreadable += 1;
                format!("error: {}", super::one_line(&error))
            }
            TraceRemark::Incomplete(losses) => {
                let path = printable(&inputs[number].path.to_string_lossy());
                format!("warning: {path}: {}", losses.join("; "))
            }
        };
        let _ = writeln!(io::stderr(), "{line}");
    }
    if unreadable == inputs.len() {
        bail!("none of the traces could be read");
    }
    Ok(whole)
}

fn cannot_write(table: Table, to: &Path) -> String {
    format!("cannot write {} to {}", table.name(), to.display())
}

// A thread that panicked while it held a lock has ended the program already.
fn inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The tables asked for, each once; all but the events if none is.
fn tables(asked: &[Table]) -> Vec<Table> {
    let usual = || Table::ALL.iter().filter(|&&table| table != Table::Events);
    let mut tables: Vec<Table> = match asked {
        [] => usual().copied().collect(),
        asked => asked.to_vec(),
    };
    tables.sort_by_key(|asked| Table::ALL.iter().position(|table| table == asked));
    tables.dedup();
    tables
}

/// A trace, and its turn at all shared files. However it ends, those after it must not wait forever.
struct TraceTurn<'a> {
    number: usize,
    input: &'a Input,
    shared: &'a [InOrder<Box<dyn TableWriter>>],
    done: &'a AtomicU64,
}

impl Drop for TraceTurn<'_> {
    fn drop(&mut self) {
        for file in self.shared {
            file.pass(self.number);
        }
    }
}

/// The longest name that a directory can have, in bytes.
const LONGEST_NAME: usize = 255;

/// How readers of partitions in the way of Hive write that there is no value.
const NO_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// The directory for the partition of a trace.
fn partition_of(name: &str) -> Result<String> {
    let directory = format!("trace={}", escaped(name));
    if name.is_empty() || name == NO_VALUE {
        bail!("readers of Parquet would take {directory} for no trace at all; rename the trace");
    }
    if directory.len() > LONGEST_NAME {
        bail!(
            "its name is too long for the directory {directory}; rename the trace, or export it alone"
        );
    }
    Ok(directory)
}

/// A value in the name of a partition, as Hive and Spark escape it.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        if c.is_ascii_control() || "\"#%'*/:=?\\{[]^".contains(c) {
            text.push_str(&format!("%{:02X}", u32::from(c)));
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_named_as_hive_does() {
        assert_eq!(escaped("queens"), "queens");
        assert_eq!(escaped("mon/run 1"), "mon%2Frun 1");
        assert_eq!(escaped("a=b%c\n'é'"), "a%3Db%25c%0A%27é%27");
    }

    #[test]
    fn partitions_that_cannot_be_named() {
        assert_eq!(partition_of("a/b").unwrap(), "trace=a%2Fb");
        assert!(partition_of(&"x".repeat(255 - 6)).is_ok());
        for name in ["", NO_VALUE, &"x".repeat(250), &"/".repeat(84)] {
            partition_of(name).unwrap_err();
        }
    }

    #[test]
    fn each_table_once_and_events_only_on_request() {
        assert_eq!(tables(&[]), Table::ALL[..Table::ALL.len() - 1]);
        let asked = [Table::Events, Table::Edges, Table::Events];
        assert_eq!(tables(&asked), [Table::Edges, Table::Events]);
    }
}
