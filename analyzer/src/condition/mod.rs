//! Conditions on the rows of a table: `fails > 1000 and self > 1ms`.
//!
//! ```text
//! condition  = part { "or" part }              part = factor { ["and"] factor }
//! factor     = "not" factor | "(" condition ")" | comparison | word | "~" text
//! comparison = column ("=" | "!=" | "<" | "<=" | ">" | ">=") (number | text | column | "true" |
//! "false")
//!            | column ("=" | "!=") number ".." number | column ("~" | "!~") text
//! number     = digits ["." digits] ["ns" | "us" | "ms" | "s" | "k" | "M" | "G" | "%"]
//! ```
//!
//! A column is named as in the exported tables; the ending `_ns` may be left out, and before a
//! sign the beginning will do if no other column begins so. A word alone is looked for in all
//! columns of text (case counts only if it has capitals), `~` makes it a regular expression. A
//! text after `=` means what is called so, a predicate with or without its module; `*` stands for
//! any characters. Texts with spaces or signs in them are put in double quotes. A number of a
//! column of times without a unit is nanoseconds; `%` is of the whole that the column's shares
//! are of. Both ends of a range belong to it.
//!
//! Nothing here knows of screens: [`Condition::parse`] wants to know the columns,
//! [`Condition::holds`] the cells of a row, as the tables of the analyser have them.

mod events;
mod listed;
mod names;
mod parser;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use crate::tables::{self, Cell, Column, Kind, Unit};
use crate::text::similar;
pub use events::EventCondition;
pub use listed::ListedCondition;
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
    /// Text that a word alone is not looked for in.
    Label,
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
    #[error("no column is called {name}; {}", known(.name, .names))]
    UnknownColumn {
        /// What was written.
        name: String,
        /// What columns are called.
        names: Vec<String>,
    },
    /// No such thing in the column.
    #[error("no {column} is called {name}; {}", known(.name, .names))]
    UnknownName {
        /// The column.
        column: &'static str,
        /// What was written.
        name: String,
        /// What there is.
        names: Vec<String>,
    },
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

/// More names than these are only counted.
const MOST_LISTED: usize = 20;

/// What there is instead of something that is not there, for an error.
fn known(name: &str, names: &[String]) -> String {
    let similar = similar(name, names.iter().map(String::as_str));
    let shown = &names[..names.len().min(MOST_LISTED)];
    let more = if names.len() > MOST_LISTED {
        ", …"
    } else {
        ""
    };
    match (similar.as_slice(), names) {
        (_, []) => "there is none".to_owned(),
        ([], _) => format!("there are {}{more}", shown.join(", ")),
        (similar, _) if more.is_empty() => format!(
            "did you mean {}? There are {}",
            similar.join(" or "),
            shown.join(", ")
        ),
        (similar, _) => format!("did you mean {}?", similar.join(" or ")),
    }
}

/// Says of a text by id which things it means.
pub type Find<'f, E> = dyn Fn(&str) -> Result<Box<[bool]>, E> + 'f;

/// A condition, ready to be asked.
#[derive(Debug, Clone)]
pub struct Condition {
    root: ConditionNode,
}

#[derive(Debug, Clone)]
enum ConditionNode {
    All(Vec<ConditionNode>),
    Any(Vec<ConditionNode>),
    Not(Box<ConditionNode>),
    /// One of these columns has it.
    Word(Vec<usize>, Regex),
    Matches(usize, Regex),
    Compare(usize, ConditionOperator, Operand),
    /// In thousandths; both ends belong to it.
    Within(usize, i128, i128),
    /// What the column has is among these, by their ids.
    Among(usize, Box<[bool]>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConditionOperator {
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

    /// Whether a text asks for names alone, whatever columns there are: `attack`, `~^att`.
    #[must_use]
    pub fn is_of_names(text: &str) -> bool {
        parser::parse(text, &[]).is_ok()
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
        let cells = |column| Some(cell(column));
        self.root.decide(&cells, &|_| None) == Some(true)
    }

    /// The same for a row of which some cells are not known yet; `None` if they matter. `id`
    /// tells by its number what a cell of a column names of which [`Condition::resolve`] made
    /// sets.
    pub fn decide<'c>(
        &self,
        cell: impl Fn(usize) -> Option<Cell<'c>>,
        id: impl Fn(usize) -> Option<usize>,
    ) -> Option<bool> {
        self.root.decide(&cell, &id)
    }

    /// Makes a set of what a text means that a column is compared with by `=` or `!=`: `find`
    /// says by id what that is.
    ///
    /// # Errors
    /// That of `find`.
    pub fn resolve<E>(&mut self, column: usize, find: &Find<E>) -> Result<(), E> {
        self.root.resolve(column, find)
    }

    /// Whether it asks for a column.
    #[must_use]
    pub fn names_column(&self, column: usize) -> bool {
        self.root.names_column(column)
    }

    /// What numbers a column has in all rows that it holds for, at most; empty if there is no
    /// such row.
    #[must_use]
    pub fn range(&self, column: usize) -> RangeInclusive<u64> {
        let (least, most) = self.root.range(column);
        let clamp =
            |number: i128| u64::try_from(number.clamp(0, u64::MAX.into())).unwrap_or(u64::MAX);
        if most < least || most < 0 {
            return RangeInclusive::new(1, 0);
        }
        clamp(least.div_euclid(1000))..=clamp(most.div_euclid(1000))
    }
}

impl ConditionNode {
    fn is_only_of(&self, column: usize) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().all(|part| part.is_only_of(column)),
            Self::Not(part) => part.is_only_of(column),
            Self::Word(columns, _) => columns.iter().all(|&at| at == column),
            Self::Matches(at, _) => *at == column,
            Self::Compare(at, _, Operand::Column(other)) => [*at, *other] == [column; 2],
            Self::Compare(at, ..) | Self::Within(at, ..) | Self::Among(at, _) => *at == column,
        }
    }

    fn decide<'c>(
        &self,
        cell: &dyn Fn(usize) -> Option<Cell<'c>>,
        id: &dyn Fn(usize) -> Option<usize>,
    ) -> Option<bool> {
        match self {
            Self::All(parts) => all(parts, |part| part.decide(cell, id)),
            Self::Any(parts) => {
                all(parts, |part| part.decide(cell, id).map(|holds| !holds)).map(|none| !none)
            }
            Self::Not(part) => part.decide(cell, id).map(|holds| !holds),
            Self::Word(columns, regex) => {
                all(columns, |&at| Some(!matches(cell(at)?, regex))).map(|none| !none)
            }
            Self::Matches(column, regex) => Some(matches(cell(*column)?, regex)),
            Self::Within(column, least, most) => Some(match cell(*column)? {
                Cell::Integer(number) => (*least..=*most).contains(&thousandths(number)),
                _ => false,
            }),
            Self::Among(column, set) => {
                // It is asked for its id only where it is known.
                cell(*column)?;
                Some(id(*column).is_some_and(|id| set.get(id) == Some(&true)))
            }
            Self::Compare(column, comparison, operand) => {
                let left = cell(*column)?;
                let right = match operand {
                    Operand::Column(column) => cell(*column)?,
                    Operand::Bool(bool) => Cell::Bool(*bool),
                    Operand::Text(text) => Cell::Text(text),
                    Operand::Number(number) => {
                        return Some(match left {
                            Cell::Integer(left) => {
                                comparison.accepts(thousandths(left).cmp(number))
                            }
                            _ => false,
                        });
                    }
                };
                if let (Cell::Text(left), Operand::Text(right)) = (left, operand)
                    && matches!(
                        comparison,
                        ConditionOperator::Equal | ConditionOperator::NotEqual
                    )
                {
                    let is_equal = *comparison == ConditionOperator::Equal;
                    return Some(names::means(right, left) == is_equal);
                }
                let order = match (left, right) {
                    (Cell::Integer(left), Cell::Integer(right)) => left.cmp(&right),
                    (Cell::Text(left), Cell::Text(right)) => left.cmp(right),
                    (Cell::Bool(left), Cell::Bool(right)) => left.cmp(&right),
                    _ => return Some(false),
                };
                Some(comparison.accepts(order))
            }
        }
    }

    fn resolve<E>(&mut self, column: usize, find: &Find<E>) -> Result<(), E> {
        let set = match self {
            Self::All(parts) | Self::Any(parts) => {
                return parts
                    .iter_mut()
                    .try_for_each(|part| part.resolve(column, find));
            }
            Self::Not(part) => return part.resolve(column, find),
            Self::Compare(at, ConditionOperator::Equal, Operand::Text(text)) if *at == column => {
                find(text)?
            }
            Self::Compare(at, ConditionOperator::NotEqual, Operand::Text(text))
                if *at == column =>
            {
                find(text)?.iter().map(|is| !is).collect()
            }
            _ => return Ok(()),
        };
        *self = Self::Among(column, set);
        Ok(())
    }

    fn names_column(&self, column: usize) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().any(|part| part.names_column(column))
            }
            Self::Not(part) => part.names_column(column),
            Self::Word(columns, _) => columns.contains(&column),
            Self::Matches(at, _) | Self::Within(at, ..) | Self::Among(at, _) => *at == column,
            Self::Compare(at, _, Operand::Column(other)) => [*at, *other].contains(&column),
            Self::Compare(at, ..) => *at == column,
        }
    }

    /// In thousandths, both ends included; none if the first one is greater.
    fn range(&self, column: usize) -> (i128, i128) {
        const ALL: (i128, i128) = (i128::MIN, i128::MAX);
        const NONE: (i128, i128) = (i128::MAX, i128::MIN);
        match self {
            Self::All(parts) => parts.iter().fold(ALL, |(least, most), part| {
                let (from, until) = part.range(column);
                (least.max(from), most.min(until))
            }),
            Self::Any(parts) => parts.iter().fold(NONE, |(least, most), part| {
                let (from, until) = part.range(column);
                match from <= until {
                    true => (least.min(from), most.max(until)),
                    false => (least, most),
                }
            }),
            Self::Within(at, least, most) if *at == column => (*least, *most),
            Self::Compare(at, comparison, Operand::Number(number)) if *at == column => {
                match comparison {
                    ConditionOperator::Equal => (*number, *number),
                    ConditionOperator::Less | ConditionOperator::AtMost => (i128::MIN, *number),
                    ConditionOperator::Greater | ConditionOperator::AtLeast => (*number, i128::MAX),
                    ConditionOperator::NotEqual => ALL,
                }
            }
            _ => ALL,
        }
    }
}

/// Whether something is so for all parts; `None` if that depends on what is not known.
fn all<T>(parts: &[T], is: impl Fn(&T) -> Option<bool>) -> Option<bool> {
    let mut known = Some(true);
    for part in parts {
        match is(part) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => known = None,
        }
    }
    known
}

/// Numbers in conditions may have decimals.
fn thousandths(number: i64) -> i128 {
    i128::from(number) * 1000
}

fn matches(cell: Cell, regex: &Regex) -> bool {
    matches!(cell, Cell::Text(text) if regex.is_match(text))
}

impl ConditionOperator {
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
