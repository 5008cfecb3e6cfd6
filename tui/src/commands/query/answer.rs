//! How an answer is printed. Files and facts go out row by row; a table for people waits for its
//! widest rows.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};

use anyhow::{Result, bail, ensure};
use portmortem_analyzer::export::csv::field;
use portmortem_analyzer::export::json::Escaped;
use portmortem_analyzer::export::prolog::{PrologFacts, WrittenTerm};
use portmortem_analyzer::text::{counted, width};
use portmortem_analyzer::trace::names::printable;
use portmortem_sql::Value;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::cli::QueryFormat;
use crate::report::page_width;
use crate::text_table::{TextColumn, render};

/// An answer that is being printed.
pub(super) trait AnswerWriter {
    /// Adds a row: a value for each column.
    fn row(&mut self, values: &[Value<'_>]) -> Result<()>;

    /// Writes what is left.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Begins an answer with these columns.
pub(super) fn begin<'w>(
    format: QueryFormat,
    names: &'w [String],
    out: &'w mut dyn Write,
) -> Result<Box<dyn AnswerWriter + 'w>> {
    Ok(match format {
        QueryFormat::Text => Box::new(TextAnswer::new(names, page_width(), out)),
        QueryFormat::Csv => Box::new(CsvAnswer::begin(names, out)?),
        QueryFormat::Json => Box::new(JsonAnswer::begin(names, out)?),
        QueryFormat::Prolog => Box::new(FactAnswer::begin(names, out)),
    })
}

/// A table; where that would be too wide, a line for each value.
struct TextAnswer<'w> {
    columns: Vec<AnswerColumn>,
    rows: usize,
    /// Bytes of all values, and of what keeps them.
    bytes: usize,
    terminal: usize,
    out: &'w mut dyn Write,
}

struct AnswerColumn {
    name: String,
    cells: Vec<String>,
    is_numeric: bool,
}

/// A name in the last column is not cut shorter than this: the answer is printed line by line
/// instead.
const MIN_LAST: usize = 16;

/// An answer with more bytes is no table.
const MOST_BYTES: usize = 64 << 20;

impl<'w> TextAnswer<'w> {
    fn new(names: &[String], terminal: usize, out: &'w mut dyn Write) -> Self {
        let column = |name: &String| AnswerColumn {
            name: printable(name),
            cells: Vec::new(),
            is_numeric: true,
        };
        Self {
            columns: names.iter().map(column).collect(),
            rows: 0,
            bytes: 0,
            terminal,
            out,
        }
    }

    fn text(&self) -> String {
        let widths = self.columns.iter().enumerate().map(|(at, column)| {
            let widest = column.cells.iter().map(|cell| width(cell)).max();
            let widest = widest.unwrap_or(0).max(width(&column.name));
            let is_cut = at + 1 == self.columns.len() && !column.is_numeric();
            1 + if is_cut { widest.min(MIN_LAST) } else { widest }
        });
        let fits = widths.sum::<usize>() <= self.terminal;
        let mut text = match fits {
            true => self.table(),
            false => self.entries(),
        };
        if self.rows == 0 || !fits {
            text.push_str(&format!("  {}\n", counted(self.rows as u64, "row", "rows")));
        }
        text
    }

    fn table(&self) -> String {
        let columns = self.columns.iter().map(|column| {
            let cells = column.cells.clone();
            match column.is_numeric() {
                true => TextColumn::right(&column.name, cells),
                false => TextColumn::left(&column.name, cells),
            }
        });
        render(&columns.collect::<Vec<_>>(), self.terminal)
    }

    /// The values of each row below each other, with their names.
    fn entries(&self) -> String {
        let names = self.columns.iter().map(|column| width(&column.name));
        let longest = names.max().unwrap_or(0);
        let mut text = String::new();
        for row in 0..self.rows {
            for column in &self.columns {
                let gap = " ".repeat(longest - width(&column.name));
                let line = format!("  {}{gap}  {}", column.name, column.cells[row]);
                text.push_str(line.trim_end());
                text.push('\n');
            }
            text.push('\n');
        }
        text
    }
}

impl AnswerColumn {
    fn is_numeric(&self) -> bool {
        self.is_numeric && !self.cells.is_empty()
    }
}

impl AnswerWriter for TextAnswer<'_> {
    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        self.rows += 1;
        for (column, value) in self.columns.iter_mut().zip(values) {
            let cell = shown(value);
            self.bytes += cell.len() + size_of::<String>();
            column.cells.push(cell);
            column.is_numeric &=
                matches!(value, Value::Integer(_) | Value::Float(_) | Value::Missing);
        }
        ensure!(
            self.bytes <= MOST_BYTES,
            "the answer is too long for a table, with more than {} rows; write it out with --format csv, or ask for fewer with LIMIT",
            self.rows
        );
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let text = self.text();
        Ok(self.out.write_all(text.as_bytes())?)
    }
}

/// A value for people.
fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Missing => "–".to_owned(),
        Value::Text(text) => printable(text),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) if number.abs() < 1e-3 && *number != 0.0 => format!("{number:.3e}"),
        Value::Float(number) => format!("{number:.3}"),
        Value::Bool(truth) => truth.to_string(),
    }
}

/// Comma-separated values.
struct CsvAnswer<'w>(csv::Writer<&'w mut dyn Write>);

impl<'w> CsvAnswer<'w> {
    fn begin(names: &[String], out: &'w mut dyn Write) -> io::Result<Self> {
        let mut answer = Self(csv::Writer::from_writer(out));
        answer.record(names.iter().map(|name| field(name)))?;
        Ok(answer)
    }

    fn record<'c>(&mut self, cells: impl Iterator<Item = Cow<'c, str>>) -> io::Result<()> {
        for cell in cells {
            written(self.0.write_field(&*cell))?;
        }
        written(self.0.write_record(None::<&[u8]>))
    }
}

/// An error of the output as such.
fn written(result: csv::Result<()>) -> io::Result<()> {
    result.map_err(|error| match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    })
}

impl AnswerWriter for CsvAnswer<'_> {
    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        let cells = values.iter().map(|value| match value {
            Value::Missing => Cow::Borrowed(""),
            Value::Text(text) => field(text),
            Value::Integer(number) => Cow::Owned(number.to_string()),
            Value::Float(number) => Cow::Owned(format!("{number:?}")),
            Value::Bool(truth) => Cow::Owned(truth.to_string()),
        });
        Ok(self.record(cells)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.0.flush()?)
    }
}

/// An array, an object a line.
struct JsonAnswer<'w> {
    names: &'w [String],
    out: &'w mut dyn Write,
    rows: u64,
}

impl<'w> JsonAnswer<'w> {
    /// Readers of JSON would keep one of two values with the same name.
    fn begin(names: &'w [String], out: &'w mut dyn Write) -> Result<Self> {
        let mut seen = BTreeSet::new();
        let twice = names.iter().find(|name| !seen.insert(name.as_str()));
        if let Some(twice) = twice {
            bail!("two columns are called {twice}; give one of them another name by AS");
        }
        Ok(Self {
            names,
            out,
            rows: 0,
        })
    }
}

impl AnswerWriter for JsonAnswer<'_> {
    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        let before: &[u8] = if self.rows == 0 { b"[\n" } else { b",\n" };
        self.rows += 1;
        self.out.write_all(before)?;
        let object = RowObject(self.names, values);
        Ok(serde_json::to_writer(Escaped(&mut *self.out), &object)?)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let end: &[u8] = if self.rows == 0 { b"[]\n" } else { b"\n]\n" };
        Ok(self.out.write_all(end)?)
    }
}

/// A row as an object, with the columns in their order.
struct RowObject<'a>(&'a [String], &'a [Value<'a>]);

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

/// A fact for each row.
struct FactAnswer<'w> {
    facts: PrologFacts,
    out: &'w mut dyn Write,
}

impl<'w> FactAnswer<'w> {
    const NAME: &'static str = "answer";

    fn begin(names: &[String], out: &'w mut dyn Write) -> Self {
        let mut facts = PrologFacts::new();
        facts.declare(Self::NAME, names.iter().map(String::as_str));
        Self { facts, out }
    }
}

impl AnswerWriter for FactAnswer<'_> {
    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        let term = |value| match value {
            &Value::Missing => WrittenTerm::Missing,
            Value::Text(text) => WrittenTerm::Text(text),
            &Value::Integer(number) => WrittenTerm::Integer(number.into()),
            &Value::Float(number) => WrittenTerm::Float(number),
            &Value::Bool(truth) => WrittenTerm::Bool(truth),
        };
        let terms: Vec<WrittenTerm> = values.iter().map(term).collect();
        self.facts.fact(Self::NAME, &terms);
        Ok(self.out.write_all(self.facts.text().as_bytes())?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.out.write_all(self.facts.text().as_bytes())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(names: &[&str], row: &[Value], terminal: usize) -> String {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut out = Vec::new();
        let mut answer = Box::new(TextAnswer::new(&names, terminal, &mut out));
        answer.row(row).unwrap();
        answer.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn wide_answers_are_printed_line_by_line() {
        let wide = |length: usize, terminal| {
            let row = [
                Value::Text("p/1".into()),
                Value::Text("x".repeat(length).into()),
                Value::Integer(7),
            ];
            text(&["predicate", "text", "calls"], &row, terminal)
        };
        assert_eq!(
            wide(3, 80),
            "  predicate  text  calls\n  p/1        xxx       7\n"
        );
        let lines = format!(
            "  predicate  p/1\n  text       {}\n  calls      7\n\n  1 row\n",
            "x".repeat(70)
        );
        assert_eq!(wide(70, 80), lines);
        assert!(wide(70, 120).starts_with("  predicate  text "));
    }

    #[test]
    fn a_table_has_an_end() {
        let mut out = Vec::new();
        let mut answer = TextAnswer::new(&["x".to_owned()], 80, &mut out);
        let row = [Value::Text("x".repeat(MOST_BYTES / 2).into())];
        answer.row(&row).unwrap();
        let error = answer.row(&row).unwrap_err().to_string();
        assert!(
            error.contains("more than 2 rows; write it out with --format csv"),
            "{error}"
        );
    }

    #[test]
    fn every_value_can_be_written() {
        let row = [
            Value::Missing,
            Value::Text("=1+1, \u{1b}".into()),
            Value::Integer(-7),
            Value::Float(-0.25),
            Value::Float(f64::INFINITY),
            Value::Bool(true),
        ];
        let names = ["a", "b", "c", "d", "e", "f"];
        let written = |format| {
            let mut out = Vec::new();
            let names = names.map(str::to_owned).to_vec();
            let mut answer = begin(format, &names, &mut out).unwrap();
            answer.row(&row).unwrap();
            answer.finish().unwrap();
            String::from_utf8(out).unwrap()
        };
        let csv = written(QueryFormat::Csv);
        assert!(csv.starts_with("a,b,c,d,e,f\n,\"'=1+1, "), "{csv}");
        assert!(csv.ends_with(",-7,-0.25,inf,true\n"), "{csv}");
        assert_eq!(
            written(QueryFormat::Json),
            "[\n{\"a\":null,\"b\":\"=1+1, \\u001b\",\"c\":-7,\"d\":-0.25,\"e\":null,\"f\":true}\n]\n"
        );
        let facts = written(QueryFormat::Prolog);
        assert!(
            facts.ends_with("\nanswer(null,'=1+1, \\x1B\\',-7,-0.25,null,true).\n"),
            "{facts}"
        );
        assert!(!text(&names, &row, 80).contains('\u{1b}'));
    }
}
