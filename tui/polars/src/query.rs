//! `portmortem query`: a question in SQL about the tables of some traces.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Error, Result, bail, ensure};
use portmortem::cli::{QueryArgs, QueryFormat};
use portmortem::commands::analysis::{INCOMPLETE, warn_of_losses, with_progress};
use portmortem::commands::inputs::{self, Input};
use portmortem::report::page_width;
use portmortem::text_table::{TextColumn, render};
use portmortem_analyzer::export::csv::field;
use portmortem_analyzer::export::json::Escaped;
use portmortem_analyzer::export::prolog::{PrologFacts, WrittenTerm};
use portmortem_analyzer::tables::Table;
use portmortem_analyzer::text::{count, counted, shell_word, shorten, width};
use portmortem_analyzer::trace::names::printable;
use portmortem_analyzer::{Analysis, Filters, Trace};
use portmortem_frames::{Answer, Query, QueryError, Value};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::limits;

/// More events than these are not taken into memory, where each takes about 150 bytes.
const MOST_EVENTS: u64 = 4_000_000;

/// A name in the last column is not cut shorter than this: the answer is printed line by line instead.
const MIN_LAST: usize = 16;

/// No question that can be answered takes longer to be understood: planning takes time in
/// proportion to the square of some.
const MOST_SECONDS: u64 = 60;

/// Names in errors are cut at so many cells.
const MOST_NAME: usize = 60;

/// One word is either a trace or a question.
fn ensure_question(args: &QueryArgs) -> Result<()> {
    let sql = args.sql();
    let (missing, trace) = match Path::new(&*sql) {
        trace if trace.is_file() => ("what is asked", shell_word(&sql)),
        _ => ("the trace", "TRACE".to_owned()),
    };
    ensure!(
        !args.traces().is_empty(),
        "{missing} is missing; for example: portmortem query {trace} 'SELECT predicate, calls FROM predicates'"
    );
    Ok(())
}

/// Prints the answer; status 3 if parts of a trace are missing. A trace that cannot be read is an error.
pub(crate) fn run(args: &QueryArgs) -> Result<ExitCode> {
    ensure_question(args)?;
    limits::limit()?;
    let inputs = inputs::inputs(&args.traces(), None)?;
    let parse = || limits::silently(|| Query::parse(&args.sql()));
    let mut query = limits::within(MOST_SECONDS, parse)??.map_err(explained)?;
    let mut is_whole = true;
    // Without tables there is nothing to read.
    if query.tables().next().is_some() {
        let size = |input: &Input| input.path.metadata().map_or(0, |file| file.len());
        let (done, mut before) = (AtomicU64::new(0), 0);
        let total = inputs.iter().map(size).sum();
        let mut events = 0;
        with_progress(total, &done, || -> Result<()> {
            for input in &inputs {
                is_whole &= add(&mut query, input, &mut events, &done)?;
                before += size(input);
                done.store(before, Ordering::Relaxed);
            }
            Ok(())
        })?;
    }
    let answer = limits::silently(|| query.answer())?.map_err(explained)?;
    let mut out = Vec::new();
    match args.format {
        QueryFormat::Text => out.extend(text(&answer, page_width()).into_bytes()),
        QueryFormat::Csv => csv(&answer, &mut out)?,
        QueryFormat::Json => json(&answer, &mut out)?,
        QueryFormat::Prolog => out.extend(facts(&answer).into_bytes()),
    }
    io::stdout().write_all(&out)?;
    Ok(match is_whole {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(INCOMPLETE),
    })
}

/// Adds the tables of a trace; whether all of it is there. `events` are those of the traces before.
fn add(query: &mut Query, input: &Input, events: &mut u64, done: &AtomicU64) -> Result<bool> {
    let trace = Trace::open(&input.path)?;
    let analysis = Analysis::of(trace, &input.path, Filters::default(), done)?;
    let analysis = analysis.named(input.name.clone());
    *events = events.saturating_add(analysis.events());
    let wants_events = query.tables().any(|table| table == Table::Events);
    if wants_events && *events > MOST_EVENTS {
        bail!(
            "the table events has {} or more, which are too many to be held in memory ({} at most); \
             write them to files with `portmortem export --tables events --format parquet --to DIR TRACE`, \
             or ask other tables",
            count(*events),
            count(MOST_EVENTS),
        );
    }
    query.add(analysis.tables()).map_err(explained)?;
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
                format!("{} has {}", table.name(), similar_first(columns, name))
            });
            let lists = lists.collect::<Vec<_>>().join("; ");
            anyhow::anyhow!("{error}; {lists}")
        }
        _ => error.into(),
    }
}

fn similar_first(mut names: Vec<&str>, wanted: &str) -> String {
    let wanted = wanted.rsplit('.').next().unwrap_or(wanted).to_lowercase();
    names.sort_by_cached_key(|name| strsim::damerau_levenshtein(name, &wanted));
    names.join(", ")
}

/// As a table; where that would be too wide, a line for each value.
fn text(answer: &Answer, terminal: usize) -> String {
    let shown = |at: usize| answer.rows.iter().map(move |row| shown(&row[at]));
    let columns: Vec<TextColumn> = (0..answer.names.len())
        .map(|at| {
            let heading = printable(&answer.names[at]);
            match answer.numeric[at] {
                true => TextColumn::right(heading, shown(at).collect()),
                false => TextColumn::left(heading, shown(at).collect()),
            }
        })
        .collect();
    let widths = (0..answer.names.len()).map(|at| {
        let widest = shown(at).map(|cell| width(&cell)).max().unwrap_or(0);
        let widest = widest.max(width(&answer.names[at]));
        let is_cut = at + 1 == answer.names.len() && !answer.numeric[at];
        1 + if is_cut { widest.min(MIN_LAST) } else { widest }
    });
    let fits = widths.sum::<usize>() <= terminal;
    let mut text = match fits {
        true => render(&columns, terminal),
        false => entries(answer),
    };
    let rows = answer.rows.len() as u64;
    if rows == 0 || !fits {
        text.push_str(&format!("  {}\n", counted(rows, "row", "rows")));
    }
    text
}

/// The values of each row below each other, with their names.
fn entries(answer: &Answer) -> String {
    let names: Vec<String> = answer.names.iter().map(|name| printable(name)).collect();
    let longest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let mut text = String::new();
    for row in &answer.rows {
        for (name, value) in names.iter().zip(row) {
            let gap = " ".repeat(longest - width(name));
            let line = format!("  {name}{gap}  {}", shown(value));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

/// A value for people.
fn shown(value: &Value) -> String {
    match value {
        Value::Missing => "–".to_owned(),
        Value::Text(text) => printable(text),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) if number.abs() < 1e-3 && *number != 0.0 => format!("{number:.3e}"),
        Value::Float(number) => format!("{number:.3}"),
        Value::Bool(truth) => truth.to_string(),
    }
}

fn csv(answer: &Answer, out: &mut Vec<u8>) -> Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(answer.names.iter().map(|name| field(name).into_owned()))?;
    for row in &answer.rows {
        for value in row {
            let cell = match value {
                Value::Missing => String::new(),
                Value::Text(text) => field(text).into_owned(),
                Value::Integer(number) => number.to_string(),
                Value::Float(number) => number.to_string(),
                Value::Bool(truth) => truth.to_string(),
            };
            writer.write_field(cell)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(writer.flush()?)
}

/// A row as an object, with the columns in their order.
struct RowObject<'a>(&'a [String], &'a [Value]);

impl Serialize for RowObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0.iter().zip(self.1) {
            match value {
                Value::Missing => map.serialize_entry(name, &())?,
                Value::Text(text) => map.serialize_entry(name, text)?,
                Value::Integer(number) => map.serialize_entry(name, number)?,
                Value::Float(number) => map.serialize_entry(name, number)?,
                Value::Bool(truth) => map.serialize_entry(name, truth)?,
            }
        }
        map.end()
    }
}

/// An array, an object a line.
fn json(answer: &Answer, out: &mut Vec<u8>) -> Result<()> {
    for (at, row) in answer.rows.iter().enumerate() {
        out.write_all(if at == 0 { b"[\n" } else { b",\n" })?;
        serde_json::to_writer(Escaped(&mut *out), &RowObject(&answer.names, row))?;
    }
    out.write_all(if answer.rows.is_empty() {
        b"[]\n"
    } else {
        b"\n]\n"
    })?;
    Ok(())
}

/// A fact for each row.
fn facts(answer: &Answer) -> String {
    const NAME: &str = "answer";
    let term = |value| match value {
        &Value::Missing => WrittenTerm::Missing,
        Value::Text(text) => WrittenTerm::Text(text),
        &Value::Integer(number) => WrittenTerm::Integer(number),
        &Value::Float(number) => WrittenTerm::Float(number),
        &Value::Bool(truth) => WrittenTerm::Bool(truth),
    };
    let mut facts = PrologFacts::new();
    facts.declare(NAME, answer.names.iter().map(String::as_str));
    for row in &answer.rows {
        facts.fact(NAME, &row.iter().map(term).collect::<Vec<_>>());
    }
    facts.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(names: &[&str], numeric: &[bool], row: Vec<Value>) -> Answer {
        Answer {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            numeric: numeric.to_vec(),
            rows: vec![row],
        }
    }

    #[test]
    fn wide_answers_are_printed_line_by_line() {
        let wide = |length: usize| {
            let row = vec![
                Value::Text("p/1".into()),
                Value::Text("x".repeat(length)),
                Value::Integer(7),
            ];
            answer(&["predicate", "text", "calls"], &[false, false, true], row)
        };
        assert_eq!(
            text(&wide(3), 80),
            "  predicate  text  calls\n  p/1        xxx       7\n"
        );
        let lines = format!(
            "  predicate  p/1\n  text       {}\n  calls      7\n\n  1 row\n",
            "x".repeat(70)
        );
        assert_eq!(text(&wide(70), 80), lines);
        assert!(text(&wide(70), 120).starts_with("  predicate  text "));
    }

    #[test]
    fn every_value_can_be_written() {
        let row = vec![
            Value::Missing,
            Value::Text("=1+1, \u{1b}".into()),
            Value::Integer(-7),
            Value::Float(-0.25),
            Value::Float(f64::NAN),
            Value::Bool(true),
        ];
        let answer = answer(
            &["a", "b", "c", "d", "e", "f"],
            &[false, false, true, true, true, false],
            row,
        );
        let mut out = Vec::new();
        csv(&answer, &mut out).unwrap();
        let text_of_csv = String::from_utf8(out).unwrap();
        assert!(
            text_of_csv.starts_with("a,b,c,d,e,f\n,\"'=1+1, "),
            "{text_of_csv}"
        );
        assert!(
            text_of_csv.ends_with(",-7,-0.25,NaN,true\n"),
            "{text_of_csv}"
        );
        let mut out = Vec::new();
        json(&answer, &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "[\n{\"a\":null,\"b\":\"=1+1, \\u001b\",\"c\":-7,\"d\":-0.25,\"e\":null,\"f\":true}\n]\n"
        );
        assert!(
            facts(&answer).ends_with("\nanswer(null,'=1+1, \\x1B\\',-7,-0.25,null,true).\n"),
            "{}",
            facts(&answer)
        );
        assert!(!text(&answer, 80).contains('\u{1b}'));
    }
}
