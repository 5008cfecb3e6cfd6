//! Conditions on the rows of a table: `fails > 1000 and self > 1ms`.
//!
//! ```text
//! condition  = part { "or" part }              part = factor { ["and"] factor }
//! factor     = "not" factor | "(" condition ")" | comparison | word | "~" text
//! comparison = column ("=" | "!=" | "<" | "<=" | ">" | ">=") (number | text | column | "true" | "false")
//!            | column ("~" | "!~") text
//! number     = digits ["." digits] ["ns" | "us" | "ms" | "s" | "k" | "M" | "G" | "%"]
//! ```
//!
//! A column is named as in the exported tables; the ending `_ns` may be left out. A word alone is looked
//! for in all columns of text (case counts only if it has capitals), `~` makes it a regular expression.
//! Texts with spaces or signs in them are put in double quotes. A number of a column of times without a
//! unit is nanoseconds; `%` is of the whole that the column's shares are of.
//!
//! Nothing here knows of screens: [`Condition::parse`] wants to know the columns, [`Condition::holds`] the
//! cells of a row, as the tables of the analyser have them.

mod events;
mod parser;
#[cfg(test)]
mod tests;

pub use events::EventCondition;
use portmortem_analyzer::tables::{self, Cell, Column, Kind, Unit};
use regex::Regex;

/// A column that conditions can speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its name.
    pub name: &'a str,
    /// What its cells are.
    pub kind: FieldKind,
}

impl Field<'_> {
    /// A column of the catalogue; `%` is of so many nanoseconds, if that is known.
    #[must_use]
    pub fn of(column: &Column, whole: Option<u64>) -> Field<'static> {
        Field {
            name: column.name,
            kind: match (column.kind, column.unit) {
                (_, Unit::Time | Unit::Clock) => FieldKind::Time { whole },
                (Kind::Text, _) => FieldKind::Text,
                (Kind::Integer, _) => FieldKind::Count,
                (Kind::Bool, _) => FieldKind::Bool,
            },
        }
    }

    /// Whether this is what a user calls `name`.
    fn is_called(&self, name: &str) -> bool {
        tables::is_called(self.name, name)
    }
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Text.
    Text,
    /// Numbers.
    Count,
    /// Nanoseconds; `%` is of this many, if it is known.
    Time {
        /// What is 100 %.
        whole: Option<u64>,
    },
    /// True or false.
    Bool,
}

/// Why a text is no condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// Something else than what is there was expected.
    #[error("{expected} expected {place}")]
    Expected {
        /// What.
        expected: &'static str,
        /// Where.
        place: String,
    },
    /// No such column.
    #[error("no column is called {0}")]
    UnknownColumn(String),
    /// A comparison that makes no sense for the column.
    #[error("{column} {problem}")]
    Mismatch {
        /// The column.
        column: String,
        /// What is the matter.
        problem: &'static str,
    },
    /// Not a regular expression.
    #[error("not a regular expression: {0}")]
    Regex(String),
    /// Parentheses or negations nested deeper than this.
    #[error("nested too deep")]
    TooDeep,
}

/// A condition, ready to be asked.
#[derive(Debug, Clone)]
pub struct Condition {
    root: Node,
}

#[derive(Debug, Clone)]
enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    /// One of these columns has it.
    Word(Vec<usize>, Regex),
    Matches(usize, Regex),
    Compare(usize, Comparison, Operand),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    /// In thousandths.
    Number(i128),
    Text(String),
    Bool(bool),
    Column(usize),
}

impl Condition {
    /// Reads a condition on rows with these columns.
    ///
    /// # Errors
    /// [`ConditionError`] says what was expected and where.
    pub fn parse(text: &str, fields: &[Field]) -> Result<Self, ConditionError> {
        let root = parser::parse(text, fields)?;
        Ok(Self { root })
    }

    /// The rows that have this text somewhere, whatever signs it has in it.
    #[must_use]
    pub fn literal(text: &str, fields: &[Field]) -> Self {
        let root = match parser::word(text, fields) {
            Ok(node) => node,
            Err(_) => Node::Any(Vec::new()),
        };
        Self { root }
    }

    /// Whether it asks for nothing but this column.
    #[must_use]
    pub fn is_only_of(&self, column: usize) -> bool {
        self.root.is_only_of(column)
    }

    /// Whether it holds for the row whose cells `cell` hands out by the number of the column.
    ///
    /// Comparisons with a missing cell do not hold.
    pub fn holds<'c>(&self, cell: impl Fn(usize) -> Cell<'c>) -> bool {
        self.root.holds(&cell)
    }
}

impl Node {
    fn is_only_of(&self, column: usize) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().all(|part| part.is_only_of(column)),
            Self::Not(part) => part.is_only_of(column),
            Self::Word(columns, _) => columns.iter().all(|&at| at == column),
            Self::Matches(at, _) => *at == column,
            Self::Compare(at, _, Operand::Column(other)) => [*at, *other] == [column; 2],
            Self::Compare(at, ..) => *at == column,
        }
    }

    fn holds<'c>(&self, cell: &dyn Fn(usize) -> Cell<'c>) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(cell)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(cell)),
            Self::Not(part) => !part.holds(cell),
            Self::Word(columns, regex) => columns.iter().any(|&at| matches(cell(at), regex)),
            Self::Matches(column, regex) => matches(cell(*column), regex),
            Self::Compare(column, comparison, operand) => {
                let right = match operand {
                    Operand::Column(column) => cell(*column),
                    Operand::Bool(bool) => Cell::Bool(*bool),
                    Operand::Text(text) => Cell::Text(text),
                    Operand::Number(number) => {
                        return match cell(*column) {
                            Cell::Integer(left) => {
                                comparison.accepts(thousandths(left).cmp(number))
                            }
                            _ => false,
                        };
                    }
                };
                let order = match (cell(*column), right) {
                    (Cell::Integer(left), Cell::Integer(right)) => left.cmp(&right),
                    (Cell::Text(left), Cell::Text(right)) => left.cmp(right),
                    (Cell::Bool(left), Cell::Bool(right)) => left.cmp(&right),
                    _ => return false,
                };
                comparison.accepts(order)
            }
        }
    }
}

/// Numbers in conditions may have decimals.
fn thousandths(number: i64) -> i128 {
    i128::from(number) * 1000
}

fn matches(cell: Cell, regex: &Regex) -> bool {
    matches!(cell, Cell::Text(text) if regex.is_match(text))
}

impl Comparison {
    fn accepts(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }
}
