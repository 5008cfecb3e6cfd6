//! Conditions on events: of the screen of events, and of whoever else lists them.

use crate::machine::EventKind;
use crate::tables::{Cell, EventRow, Row, Table, texts};
use crate::trace::Trace;

use super::listed::find_port;
use super::{Condition, ConditionError, Field};

/// A condition on rows of the table `events`: `port = fail and depth > 10`.
///
/// Its columns are those of the table but the first, the name of the trace.
#[derive(Debug, Clone)]
pub struct EventCondition(Condition);

impl EventCondition {
    /// The columns that it can name.
    #[must_use]
    pub fn fields() -> Vec<Field<'static>> {
        let columns = Table::Events.columns()[1..].iter();
        columns.map(|column| Field::of(column, None)).collect()
    }

    /// Reads a condition.
    ///
    /// # Errors
    /// As [`Condition::parse`], and if it names a port that is not there.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        let mut condition = Condition::parse(text, &Self::fields())?;
        if let Some(port) = port_column() {
            condition.resolve(port, &find_port)?;
        }
        Ok(Self(condition))
    }

    /// Whether it may hold for an event of a trace, as far as the names of predicates and ports and
    /// the texts of marks tell.
    #[must_use]
    pub fn may_hold(&self, trace: &Trace) -> bool {
        let columns = &Table::Events.columns()[1..];
        let decide = |kind: EventKind, predicate: Option<Cell>, text: Cell| {
            let cell = |column: usize| match columns[column].name {
                "port" => Some(Cell::Text(kind.name())),
                "predicate" => predicate,
                "text" => Some(text),
                _ => None,
            };
            self.0.decide(cell, |_| Some(kind as usize))
        };
        EventKind::ALL.into_iter().any(|kind| {
            texts(trace, kind).into_iter().any(|text| {
                // Most ports and texts decide it alone.
                if let Some(decided) = decide(kind, None, text) {
                    return decided;
                }
                let predicates = 0..=trace.unknown_predicate();
                let names = predicates.map(|at| Cell::Text(trace.predicate_name(at)));
                let mut names = std::iter::once(Cell::Missing).chain(names);
                names.any(|name| decide(kind, Some(name), text) != Some(false))
            })
        })
    }

    /// Whether it holds for an event.
    #[must_use]
    pub fn holds(&self, row: &EventRow) -> bool {
        let holds = |cells: &[Cell]| {
            let cell = |column: usize| Some(cells[column + 1]);
            let kind = EventKind::called(row.port);
            self.0.decide(cell, |_| kind.map(|kind| kind as usize)) == Some(true)
        };
        row.with_cells(holds)
    }
}

/// The place of the port among [`EventCondition::fields`].
fn port_column() -> Option<usize> {
    let columns = Table::Events.columns()[1..].iter();
    columns.into_iter().position(|column| column.name == "port")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: EventRow = EventRow {
        trace: "queens",
        stream: 1,
        seq: 1234,
        ns: 5_000_000,
        port: "fail",
        predicate: Some("attack/3"),
        depth: Some(12),
        r#box: Some(1200),
        parent: Some(1100),
        count: None,
        text: None,
        clause: None,
    };

    #[test]
    fn columns_of_the_table_can_be_named() {
        for (text, holds) in [
            ("port = fail and depth > 10", true),
            ("predicate = attack/3 ns >= 5ms", true),
            ("attack", true),
            (
                "box = 1200 and parent < box and stream = 1 and seq < 1.3k",
                true,
            ),
            ("port ~ \"^(fail|exception)$\"", true),
            ("port = redo or depth < 12", false),
            ("count > 0", false),
            ("queens", false),
        ] {
            let condition = EventCondition::parse(text);
            let condition = condition.unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(condition.holds(&ROW), holds, "{text}");
        }
        assert!(EventCondition::parse("self > 1ms").is_err());
    }
}
