//! Questions in SQL about the tables of some traces, which SQLite answers.
//!
//! A query is understood with empty tables first: unknown names are errors before any trace is
//! read. SQLite says which columns it reads, and only those are filled. They are in a database of
//! SQLite's own, in memory as long as it is small and in a temporary file beyond, so rows are
//! bounded by the disk alone.

mod answer;
mod functions;

pub use answer::Value;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use portmortem_analyzer::Tables;
use portmortem_analyzer::tables::{Cell, Kind, Table};
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Error, ErrorCode, Statement};

/// A question, and the tables that it names as far as they are filled.
pub struct Query {
    database: Connection,
    sql: String,
    /// The names of the columns of its answer.
    columns: Vec<String>,
    read: Vec<ReadTable>,
}

/// A table that a query reads, and the places of its columns that it reads.
struct ReadTable {
    table: Table,
    columns: Vec<usize>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// SQLite refuses it, with this reason.
    #[error("{0}")]
    Refused(String),
    /// It would change something.
    #[error("a query is one question and changes nothing: SELECT, WITH or VALUES")]
    NoQuestion,
    /// It has a name that no table has.
    #[error("no table is called {0}")]
    NoTable(String),
    /// It has a column of something that is not in it.
    #[error(
        "{0} is none of the tables after FROM and JOIN; a table with a name by AS goes by that"
    )]
    NoSuchPart(String),
    /// It has a name that no column has which it can be of.
    #[error("no column is called {name}")]
    NoColumn {
        /// The name.
        name: String,
        /// The tables that the query names.
        tables: Vec<Table>,
    },
}

/// The columns of each table that a query reads.
type ReadColumns = BTreeMap<usize, BTreeSet<usize>>;

impl Query {
    /// Understands a query.
    ///
    /// # Errors
    /// [`QueryError`] if it is no SQL, does not suit the tables, or is no question.
    pub fn parse(sql: &str) -> Result<Self, QueryError> {
        let mut database = empty_database().map_err(refused)?;
        let read = Arc::new(Mutex::new(ReadColumns::new()));
        let noted = Arc::clone(&read);
        let judge = move |asked: AuthContext<'_>| {
            judged(
                &asked,
                &mut noted.lock().unwrap_or_else(PoisonError::into_inner),
            )
        };
        database.authorizer(Some(judge)).map_err(refused)?;
        let understood = understand(&database, sql);
        let forgotten = database.authorizer(None::<fn(AuthContext<'_>) -> Authorization>);
        forgotten.map_err(refused)?;
        let read = std::mem::take(&mut *read.lock().unwrap_or_else(PoisonError::into_inner));
        let read = read.into_iter().map(|(table, columns)| ReadTable {
            table: Table::ALL[table],
            columns: columns.into_iter().collect(),
        });
        Ok(Self {
            columns: understood.map_err(|error| explained(error, sql))?,
            sql: sql.to_owned(),
            read: read.collect(),
            database,
        })
    }

    /// The tables that it reads.
    pub fn tables(&self) -> impl Iterator<Item = Table> {
        self.read.iter().map(|read| read.table)
    }

    /// Adds the rows of a trace to the tables that it reads. `added` is told of each, and its
    /// table.
    ///
    /// # Errors
    /// If SQLite refuses, as on a full disk.
    pub fn add(&mut self, tables: Tables, mut added: impl FnMut(Table)) -> Result<(), QueryError> {
        let filled = self.database.transaction().and_then(|filling| {
            for read in &self.read {
                let mut insert = filling.prepare(&read.insertion())?;
                tables.rows(read.table, |cells| {
                    for (at, &column) in read.columns.iter().enumerate() {
                        insert.raw_bind_parameter(at + 1, bound(cells[column]))?;
                    }
                    added(read.table);
                    insert.raw_execute().map(drop)
                })?;
            }
            filling.commit()
        });
        filled.map_err(refused)
    }

    /// The names of the columns of its answer.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Hands each row of the answer, by what was added, to `take`: a value for each column. No row
    /// is kept here.
    ///
    /// # Errors
    /// The first one of `take`, or [`QueryError`] if SQLite cannot find the next row.
    pub fn rows<E: From<QueryError>>(
        &self,
        mut take: impl FnMut(&[Value<'_>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let refused = |error| E::from(refused(error));
        let mut statement = self.database.prepare(&self.sql).map_err(refused)?;
        let flags = flags(&statement, &self.sql);
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(refused)? {
            let value = |(at, is_flag): (usize, &bool)| Ok(Value::of(row.get_ref(at)?, *is_flag));
            let values: Result<Vec<_>, Error> = flags.iter().enumerate().map(value).collect();
            take(&values.map_err(refused)?)?;
        }
        Ok(())
    }
}

/// Errors on names in a query as such. Of a name in double quotes SQLite says what may be wrong.
fn explained(error: QueryError, sql: &str) -> QueryError {
    let QueryError::Refused(text) = &error else {
        return error;
    };
    let is_table = |name: &str| Table::from_name(name).is_some();
    if let Some(name) = text.strip_prefix("no such table: ") {
        return match is_table(name) {
            true => QueryError::NoSuchPart(name.to_owned()),
            false => QueryError::NoTable(name.to_owned()),
        };
    }
    let column = text.strip_prefix("no such column: ");
    let Some(name) = column.filter(|name| !name.starts_with('"')) else {
        return error;
    };
    let tables = named(sql);
    match name.split_once('.') {
        Some((part, column)) if has_column(&tables, column) => {
            QueryError::NoSuchPart(part.to_owned())
        }
        _ => QueryError::NoColumn {
            name: name.to_owned(),
            tables,
        },
    }
}

fn has_column(tables: &[Table], name: &str) -> bool {
    let mut columns = tables.iter().flat_map(|table| table.columns());
    columns.any(|column| column.name == name)
}

impl ReadTable {
    fn insertion(&self) -> String {
        let name = self.table.name();
        if self.columns.is_empty() {
            return format!("INSERT INTO {name} DEFAULT VALUES");
        }
        let columns = self
            .columns
            .iter()
            .map(|&column| format!("\"{}\"", self.table.columns()[column].name));
        let columns = columns.collect::<Vec<_>>().join(", ");
        let places = vec!["?"; self.columns.len()].join(", ");
        format!("INSERT INTO {name} ({columns}) VALUES ({places})")
    }
}

/// A database with all tables and no rows, which SQLite removes when it is closed.
fn empty_database() -> Result<Connection, Error> {
    /// Bytes of pages that are in memory, as SQLite wants them: in KiB and negative.
    const CACHE: i64 = -(256 << 10);
    let database = Connection::open("")?;
    database.pragma_update(None, "cache_size", CACHE)?;
    database.pragma_update(None, "journal_mode", "OFF")?;
    // A name in double quotes that is not there is an error, and no text.
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    // As in other engines, and as names in Prolog are.
    database.pragma_update(None, "case_sensitive_like", true)?;
    functions::define(&database)?;
    for table in Table::ALL {
        let columns = table.columns().iter().map(|column| {
            let declared = match column.kind {
                Kind::Text => "TEXT",
                Kind::Integer => "INTEGER",
                Kind::Bool => answer::FLAG,
            };
            format!("\"{}\" {declared}", column.name)
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        database.execute(&format!("CREATE TABLE {} ({columns})", table.name()), ())?;
    }
    Ok(database)
}

/// Whether a query may do this, and what it reads.
fn judged(asked: &AuthContext<'_>, read: &mut ReadColumns) -> Authorization {
    match asked.action {
        AuthAction::Read { table_name, .. } if is_hidden(table_name) => Authorization::Deny,
        AuthAction::Read {
            table_name,
            column_name,
        } => {
            let table = Table::ALL
                .iter()
                .position(|table| table.name() == table_name);
            if let Some(table) = table {
                let columns = Table::ALL[table].columns().iter();
                let column = columns
                    .zip(0..)
                    .find(|(column, _)| column.name == column_name);
                read.entry(table)
                    .or_default()
                    .extend(column.map(|(_, at)| at));
            }
            Authorization::Allow
        }
        AuthAction::Function {
            function_name: "load_extension",
        } => Authorization::Deny,
        AuthAction::Select | AuthAction::Function { .. } | AuthAction::Recursive => {
            Authorization::Allow
        }
        AuthAction::Pragma { pragma_name, .. } if SHOWN.contains(&pragma_name) => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

/// Whether a table is one of SQLite's that does something when it is read.
fn is_hidden(table: &str) -> bool {
    let pragma = table.strip_prefix("pragma_");
    pragma.is_some_and(|name| !SHOWN.contains(&name))
}

/// What SQLite may tell of the tables.
const SHOWN: [&str; 3] = ["table_info", "table_list", "table_xinfo"];

/// The names of the columns of an answer, if a query is a question.
fn understand(database: &Connection, sql: &str) -> Result<Vec<String>, QueryError> {
    let statement = database.prepare(sql).map_err(refused)?;
    match statement.readonly() && statement.column_count() > 0 {
        true => Ok(statement.column_names().map(str::to_owned).collect()),
        false => Err(QueryError::NoQuestion),
    }
}

/// Which columns of an answer are true or false, as far as they are columns of a table. Of several
/// questions in one SQLite tells what the first one has: then none is known.
fn flags(statement: &Statement<'_>, sql: &str) -> Vec<bool> {
    let words = words(sql);
    let is_compound = ["union", "intersect", "except"].map(|word| words.contains(word));
    if is_compound.contains(&true) {
        return vec![false; statement.column_count()];
    }
    let columns = statement.columns();
    columns
        .map(|column| column.decl_type() == Some(answer::FLAG))
        .collect()
}

/// The words of a query, in small letters.
fn words(sql: &str) -> BTreeSet<String> {
    let words = sql.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.map(str::to_lowercase).collect()
}

/// The tables that a query names. SQLite says it only of what it has understood.
fn named(sql: &str) -> Vec<Table> {
    let words = words(sql);
    let tables = Table::ALL.iter().copied();
    tables
        .filter(|table| words.contains(table.name()))
        .collect()
}

fn bound(cell: Cell<'_>) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match cell {
        Cell::Missing => ValueRef::Null,
        Cell::Text(text) => ValueRef::Text(text.as_bytes()),
        Cell::Integer(number) => ValueRef::Integer(number),
        Cell::Bool(flag) => ValueRef::Integer(i64::from(flag)),
    })
}

fn refused(error: Error) -> QueryError {
    if matches!(error, Error::MultipleStatement)
        || error.sqlite_error_code() == Some(ErrorCode::AuthorizationForStatementDenied)
    {
        return QueryError::NoQuestion;
    }
    if error.sqlite_error_code() == Some(ErrorCode::DiskFull) {
        let full =
            "there is no room for the tables; SQLITE_TMPDIR=DIR names another place for them";
        return QueryError::Refused(full.to_owned());
    }
    QueryError::Refused(match error {
        Error::SqlInputError { msg, .. } | Error::SqliteFailure(_, Some(msg)) => msg,
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests;
