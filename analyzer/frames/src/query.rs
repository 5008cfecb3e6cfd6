//! Questions in SQL about the tables of some traces, which polars answers.
//!
//! A query is tried on empty tables first: unknown names and wrong types are errors before any trace is read. Then only those tables
//! are made that it names.

use std::panic::{self, AssertUnwindSafe};

use polars::prelude::*;
use polars::sql::{SQLContext, extract_table_identifiers};
use portmortem_analyzer::Tables;
use portmortem_analyzer::tables::{Column as TableColumn, Table};

use crate::builder::FrameBuilder;
use crate::refused::refused;

/// A question, and the tables that it names as far as they are made.
pub struct Query {
    sql: String,
    tables: Vec<(Table, FrameBuilder)>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// Polars refuses it, with this reason.
    #[error("{0}")]
    Refused(String),
    /// Polars does not know something of SQL.
    #[error("the SQL engine does not know {what}; {instead}")]
    Unknown {
        /// What that is.
        what: String,
        /// What to do in its place.
        instead: &'static str,
    },
    /// It has a name that no table has.
    #[error("no table is called {0}")]
    NoTable(String),
    /// It has a name that no column has which it can be of.
    #[error("no column is called {name}")]
    NoColumn {
        /// The name.
        name: String,
        /// The tables that the query names.
        tables: Vec<Table>,
    },
    /// A defect of polars.
    #[error("the SQL engine failed on this query; write it in another way")]
    Defect,
}

/// The answer: a table with columns of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Names of the columns.
    pub names: Vec<String>,
    /// Whether a column has numbers.
    pub numeric: Vec<bool>,
    /// Rows, each with a value for each column.
    pub rows: Vec<Vec<Value>>,
}

/// A value in an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing is known, or there is nothing.
    Missing,
    /// Text, or what is neither text, number nor truth value, as text.
    Text(String),
    /// A whole number.
    Integer(i128),
    /// Another number.
    Float(f64),
    /// True or false.
    Bool(bool),
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// [`QueryError`] if it is no SQL, or does not suit the tables.
    pub fn parse(sql: &str) -> Result<Self, QueryError> {
        let named = guarded(|| extract_table_identifiers(sql, false, true))?;
        let named = named.map_err(|error| QueryError::Refused(one_line(&error)))?;
        let named = named.iter().filter_map(|name| Table::from_name(name));
        let query = Self {
            sql: sql.to_owned(),
            tables: named
                .map(|table| (table, FrameBuilder::new(table.columns())))
                .collect(),
        };
        query.answered_by(&empty(Table::ALL)?)?;
        Ok(query)
    }

    /// The tables that it names.
    pub fn tables(&self) -> impl Iterator<Item = Table> {
        self.tables.iter().map(|(table, _)| *table)
    }

    /// Adds the rows of a trace to the tables that it names. All of them are in memory.
    ///
    /// # Errors
    /// If polars refuses, as with more rows than it can count (2³²).
    pub fn add(&mut self, tables: Tables) -> Result<(), QueryError> {
        for (table, rows) in &mut self.tables {
            let added = tables.rows(*table, |cells| rows.push(cells));
            added.map_err(|error| QueryError::Refused(one_line(&error)))?;
        }
        Ok(())
    }

    /// The answer, by what was added.
    ///
    /// # Errors
    /// If polars cannot find it.
    pub fn answer(mut self) -> Result<Answer, QueryError> {
        let tables = std::mem::take(&mut self.tables).into_iter();
        let frames = tables.map(|(table, rows)| Ok((table, rows.finish()?)));
        let frames: PolarsResult<Vec<_>> = frames.collect();
        let mut frames = frames.map_err(|error| QueryError::Refused(one_line(&error)))?;
        if frames.is_empty() {
            // It names none, so it cannot ask for rows of them: `SHOW TABLES`.
            frames = empty(Table::ALL)?;
        }
        let frame = self.answered_by(&frames)?;
        guarded(|| values(&frame))?.map_err(|error| QueryError::Refused(one_line(&error)))
    }

    fn answered_by(&self, frames: &[(Table, DataFrame)]) -> Result<DataFrame, QueryError> {
        let found = guarded(|| {
            let mut context = SQLContext::new();
            for (table, frame) in frames {
                context.register(table.name(), frame.clone().lazy());
            }
            context.execute(&self.sql)?.collect()
        })?;
        found.map_err(|error| self.explained(&error))
    }

    /// Errors on names as such: polars lists the names that it knows then, or none.
    fn explained(&self, error: &PolarsError) -> QueryError {
        let text = one_line(error);
        let name_after = |begin: &str, end: char| {
            let rest = &text[text.find(begin)? + begin.len()..];
            Some(rest[..rest.find(end)?].to_owned())
        };
        let column = name_after("unable to find column \"", '"')
            .or_else(|| name_after("no column named '", '\''));
        if let Some(name) =
            name_after("relation '", '\'').filter(|_| text.contains("was not found"))
        {
            return QueryError::NoTable(name);
        }
        match column {
            Some(name) => QueryError::NoColumn {
                name,
                tables: self.tables().collect(),
            },
            None => match refused(&text) {
                Some(refused) => QueryError::Unknown {
                    what: refused.what,
                    instead: refused.instead,
                },
                None => QueryError::Refused(text),
            },
        }
    }
}

fn empty(tables: &[Table]) -> Result<Vec<(Table, DataFrame)>, QueryError> {
    let frame = |columns: &'static [TableColumn]| FrameBuilder::new(columns).finish();
    let frames = tables
        .iter()
        .map(|&table| Ok((table, frame(table.columns())?)));
    let frames: PolarsResult<Vec<_>> = frames.collect();
    frames.map_err(|error| QueryError::Refused(one_line(&error)))
}

/// The first line of an error: what follows are plans and lists.
fn one_line(error: &PolarsError) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_end_matches([':', ' ']).to_owned()
}

/// Does what polars does, which panics on some queries that it does not support, and tells of that on standard error.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, QueryError> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(hook);
    done.map_err(|_| QueryError::Defect)
}

fn values(frame: &DataFrame) -> PolarsResult<Answer> {
    let columns = frame.columns();
    let row = |at| {
        columns
            .iter()
            .map(|column| Ok(value(column.get(at)?)))
            .collect()
    };
    Ok(Answer {
        names: columns
            .iter()
            .map(|column| column.name().to_string())
            .collect(),
        numeric: columns
            .iter()
            .map(|column| column.dtype().is_primitive_numeric())
            .collect(),
        rows: (0..frame.height()).map(row).collect::<PolarsResult<_>>()?,
    })
}

fn value(value: AnyValue) -> Value {
    match value {
        AnyValue::Null => Value::Missing,
        AnyValue::Boolean(truth) => Value::Bool(truth),
        AnyValue::String(text) => Value::Text(text.to_owned()),
        AnyValue::StringOwned(text) => Value::Text(text.to_string()),
        number if number.is_integer() => number.extract().map_or(Value::Missing, Value::Integer),
        number if number.is_float() => number.extract().map_or(Value::Missing, Value::Float),
        AnyValue::List(values) => Value::Text(list(&values)),
        other => Value::Text(other.to_string()),
    }
}

/// All values of a list; polars prints the first and last of a long one.
fn list(values: &Series) -> String {
    let values = values.iter().map(|of| match value(of) {
        Value::Missing => "null".to_owned(),
        Value::Text(text) => text,
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
    });
    format!("[{}]", values.collect::<Vec<_>>().join(", "))
}
