//! Columns of the catalogue ([`portmortem_analyzer::tables`]) as reports print them.

use std::cmp::Ordering;

use portmortem_analyzer::tables::{Cell, Kind, Row, Table, Unit};
use portmortem_analyzer::text::{TimeUnit, percent};
use portmortem_analyzer::trace::names::printable;

use crate::text_table::TextColumn;

/// A column of the catalogue, by its place in it, as it is printed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Printed {
    pub(super) place: usize,
    /// Instead of its title.
    heading: Option<&'static str>,
    /// As a share of a whole.
    share: bool,
    /// Whether the heading names the unit.
    names_unit: bool,
    /// [`TextColumn::dispensable`].
    rank: u8,
}

impl Printed {
    /// The column `name` of a table, under its title.
    ///
    /// # Panics
    /// If there is none, which is said at compile time where this is constant.
    pub(super) const fn of(table: Table, name: &str) -> Self {
        Self::at(table.place(name))
    }

    /// The column at a place.
    pub(super) const fn at(place: usize) -> Self {
        Self {
            place,
            heading: None,
            share: false,
            names_unit: false,
            rank: 0,
        }
    }

    /// Under another heading.
    pub(super) const fn headed(self, heading: &'static str) -> Self {
        Self {
            heading: Some(heading),
            ..self
        }
    }

    /// As a share of a whole.
    pub(super) const fn share(self) -> Self {
        Self {
            share: true,
            ..self.headed("%")
        }
    }

    /// With the unit in its heading, if it has times: all times of a table are in one.
    pub(super) const fn with_unit(self) -> Self {
        Self {
            names_unit: true,
            ..self
        }
    }

    /// Left out where the table would be too wide, those of small ranks first.
    pub(super) const fn dispensable(self, rank: u8) -> Self {
        Self { rank, ..self }
    }
}

/// The columns of some rows.
///
/// Shares are parts of `whole_ns`, and all times are in `unit`.
pub(super) fn columns<'t, R: Row<'t>>(
    rows: &[R::Of],
    unit: TimeUnit,
    whole_ns: u64,
    printed: impl IntoIterator<Item = Printed>,
) -> Vec<TextColumn> {
    let printed = printed.into_iter();
    printed
        .map(|printed| column::<R>(rows, unit, whole_ns, printed))
        .collect()
}

fn column<'t, R: Row<'t>>(
    rows: &[R::Of],
    unit: TimeUnit,
    whole_ns: u64,
    printed: Printed,
) -> TextColumn {
    let about = &R::ALL[printed.place];
    let is_time = matches!(about.unit, Unit::Time | Unit::Clock);
    let heading = match printed.heading.unwrap_or(about.title) {
        title if printed.names_unit && is_time => format!("{title} {}", unit.name()),
        title => title.to_owned(),
    };
    let cells = rows.iter().map(|row| R::cell(row, printed.place));
    if about.unit == Unit::Count {
        let counts = cells.map(|cell| match cell {
            Cell::Integer(count) => Some(count.max(0) as u64),
            _ => None,
        });
        let counts: Vec<Option<u64>> = counts.collect();
        return TextColumn::some_counts(heading, &counts).dispensable(printed.rank);
    }
    let texts = cells.map(|cell| match cell {
        Cell::Integer(part) if printed.share => percent(part.max(0) as u64, whole_ns),
        Cell::Integer(ns) if is_time => unit.format(ns.max(0) as u64),
        Cell::Integer(number) => number.to_string(),
        Cell::Text(text) => printable(text),
        Cell::Bool(true) => "yes".to_owned(),
        Cell::Bool(false) => "no".to_owned(),
        Cell::Missing if is_time => String::new(),
        Cell::Missing => "–".to_owned(),
    });
    let column = match about.kind {
        Kind::Text => TextColumn::left(heading, texts.collect()),
        Kind::Integer | Kind::Bool => TextColumn::right(heading, texts.collect()),
    };
    column.dispensable(printed.rank)
}

/// Sorts rows by the column at a place: numbers the largest first, texts alphabetically; what is
/// not known comes last. Equal rows stay in their order.
pub(super) fn sort<'t, R: Row<'t>>(rows: &mut [R::Of], place: usize) {
    rows.sort_by(|a, b| compare(R::cell(a, place), R::cell(b, place)));
}

/// The order of two cells of a column in which [`sort`] puts them.
pub(super) fn compare(a: Cell, b: Cell) -> Ordering {
    match (a, b) {
        (Cell::Integer(a), Cell::Integer(b)) => b.cmp(&a),
        (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
        (Cell::Bool(a), Cell::Bool(b)) => b.cmp(&a),
        (a, b) => (a == Cell::Missing).cmp(&(b == Cell::Missing)),
    }
}

/// Whether a column has a value in every row.
pub(super) fn is_known<'t, R: Row<'t>>(rows: &[R::Of], printed: Printed) -> bool {
    let mut cells = rows.iter().map(|row| R::cell(row, printed.place));
    cells.all(|cell| cell != Cell::Missing)
}
