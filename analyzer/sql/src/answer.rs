//! The values of an answer.

use std::borrow::Cow;

use rusqlite::types::ValueRef;

/// The declared type of columns that are true or false. SQLite has no such type and keeps numbers.
pub(crate) const FLAG: &str = "BOOLEAN";

/// A value in an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// Nothing is known, or there is nothing.
    Missing,
    /// Text; bytes that are none as SQL writes them, `x'00ff'`.
    Text(Cow<'a, str>),
    /// A whole number.
    Integer(i64),
    /// Another number.
    Float(f64),
    /// True or false: the value of a column of a table. What is computed is a number.
    Bool(bool),
}

impl<'a> Value<'a> {
    pub(crate) fn of(value: ValueRef<'a>, is_flag: bool) -> Self {
        match value {
            ValueRef::Null => Self::Missing,
            ValueRef::Integer(number @ (0 | 1)) if is_flag => Self::Bool(number == 1),
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Float(number),
            ValueRef::Text(bytes) => Self::Text(String::from_utf8_lossy(bytes)),
            ValueRef::Blob(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                Self::Text(format!("x'{digits}'").into())
            }
        }
    }
}
