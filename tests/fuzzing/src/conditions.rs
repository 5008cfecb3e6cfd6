//! Target `condition`: any text is a condition or refused, and conditions are consistent.
//!
//! The conditions on events are those of the command line and of the screen of events; those on a table
//! have columns with shares and truth values, too.

use portmortem_analyzer::condition::{Condition, ConditionError, EventCondition, Field, FieldKind};
use portmortem_analyzer::tables::{Cell, EventRow, Table};

/// A condition is typed by a person. Each word is a regular expression of up to a megabyte.
const MOST_BYTES: usize = 300;

/// Parentheses change nothing, and `not` negates.
///
/// # Panics
/// If it is otherwise.
pub fn check(input: &[u8]) {
    let input = &input[..input.len().min(MOST_BYTES)];
    let text = &*String::from_utf8_lossy(input);
    let inside = same_error(text, EventCondition::parse, &format!("({text})"));
    let negated = same_error(text, EventCondition::parse, &format!("not ({text})"));
    let condition = EventCondition::parse(text);
    for row in &rows() {
        if let (Ok(condition), Some(inside)) = (&condition, &inside) {
            assert_eq!(condition.holds(row), inside.holds(row), "({text})");
        }
        if let (Ok(condition), Some(negated)) = (&condition, &negated) {
            assert_ne!(condition.holds(row), negated.holds(row), "not ({text})");
        }
    }
    on_predicates(text);
}

/// What `parse` says of a text with a condition that it takes inside: a condition, too, unless that is
/// nested too deep.
fn same_error<T>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, ConditionError>,
    around: &str,
) -> Option<T> {
    parse(text).ok()?;
    match parse(around) {
        Ok(condition) => Some(condition),
        Err(error) => {
            assert_eq!(error, ConditionError::TooDeep, "{around}");
            None
        }
    }
}

/// Conditions on a table with all kinds of columns.
fn on_predicates(text: &str) {
    let fields: Vec<Field> = Table::Predicates
        .columns()
        .iter()
        .map(|column| Field::of(column, Some(u64::MAX)))
        .collect();
    let Ok(condition) = Condition::parse(text, &fields) else {
        return;
    };
    let negated = same_error(
        text,
        |text| Condition::parse(text, &fields),
        &format!("not ({text})"),
    );
    for number in [i64::MIN, -1, 0, 1, 1000, i64::MAX] {
        let cell = |at: usize| match fields[at].kind {
            FieldKind::Text | FieldKind::Label => Cell::Text("member/2"),
            FieldKind::Bool => Cell::Bool(number > 0),
            FieldKind::Count | FieldKind::Time { .. } => Cell::Integer(number),
        };
        if let Some(negated) = &negated {
            assert_ne!(condition.holds(cell), negated.holds(cell), "not ({text})");
        }
    }
    for column in 0..fields.len() {
        let _ = condition.is_only_of(column);
    }
}

/// Rows with each cell there and not there.
fn rows() -> [EventRow<'static>; 3] {
    let port = EventRow {
        trace: "fuzz",
        stream: 1,
        seq: 1234,
        ns: 5_000_000,
        port: "fail",
        predicate: Some("lists:append/3"),
        depth: Some(12),
        r#box: Some(1200),
        parent: Some(1100),
        count: None,
        clause: None,
        text: None,
    };
    let gap = EventRow {
        stream: u32::MAX,
        seq: u64::MAX,
        ns: u64::MAX,
        port: "gap",
        predicate: None,
        depth: None,
        r#box: None,
        parent: None,
        count: Some(u64::MAX),
        ..port
    };
    let mark = EventRow {
        ns: 0,
        port: "mark",
        text: Some("Überlauf \"quoted\" \\ (a) and or not"),
        ..port
    };
    [port, gap, mark]
}
