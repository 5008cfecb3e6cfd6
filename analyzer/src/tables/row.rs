//! What rows of all tables have in common: named columns of one kind, and cells.
//!
//! Invariant: the `rows!` of a table is the only definition of its columns: name, title, unit,
//! help, type, and how to get a cell. Reports, screens, conditions, every file format and the
//! query in SQL reads it, in the order of its fields.

use serde::Serialize;

/// What the cells of a column hold, if anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// 64 bits, signed.
    Integer,
    /// True or false.
    Bool,
}

/// What the numbers of a column count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// It has no numbers, or they only name something.
    None,
    /// Things.
    Count,
    /// Nanoseconds that boxes took, the recorder's own included; `Table::net_of` leads to those
    /// without.
    Time,
    /// Nanoseconds that say when, or how long by the clock. Net times do not concern them.
    Clock,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name, in files, conditions and on the command line.
    pub name: &'static str,
    /// Its heading, for people; the unit of times is added.
    pub title: &'static str,
    /// What its cells hold.
    pub kind: Kind,
    /// What its numbers count.
    pub unit: Unit,
    /// What it is, in a sentence or two. Names of columns and texts are in backquotes.
    pub help: &'static str,
}

impl Column {
    /// Whether a user may mean this column ([`is_called`]).
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        is_called(self.name, name)
    }

    /// Its name without the ending `_ns`.
    #[must_use]
    pub fn short_name(&self) -> &'static str {
        self.name.strip_suffix("_ns").unwrap_or(self.name)
    }

    /// Whether it holds the net times of a column called `recorded`.
    pub(super) const fn is_net_of(&self, recorded: &str) -> bool {
        // As `recorded.strip_suffix("_ns")` and `self.name.strip_suffix("_comp_ns")`, which are not
        // constant.
        let (net, recorded) = (self.name.as_bytes(), recorded.as_bytes());
        match (net, recorded) {
            (
                [net @ .., b'_', b'c', b'o', b'm', b'p', b'_', b'n', b's'],
                [recorded @ .., b'_', b'n', b's'],
            ) => is_same(net, recorded),
            _ => false,
        }
    }
}

/// Whether a user may mean the column `column` by `name`: the ending `_ns` may be left out.
#[must_use]
pub fn is_called(column: &str, name: &str) -> bool {
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    is(column) || column.strip_suffix("_ns").is_some_and(is)
}

/// Whether two texts are the same, at compile time.
pub(super) const fn is_same(mut a: &[u8], mut b: &[u8]) -> bool {
    loop {
        match (a, b) {
            ([], []) => return true,
            ([x, rest_a @ ..], [y, rest_b @ ..]) if *x == *y => (a, b) = (rest_a, rest_b),
            _ => return false,
        }
    }
}

/// A cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Cell<'t> {
    /// Nothing is known, or there is nothing.
    Missing,
    /// Of a column of [`Kind::Text`].
    Text(&'t str),
    /// Of a column of [`Kind::Integer`].
    Integer(i64),
    /// Of a column of [`Kind::Bool`].
    Bool(bool),
}

/// A row of a table whose texts live as long as `'t`.
pub trait Row<'t>: Serialize + Sized {
    /// What a row is made of: it is cheap to make, and each cell can be had alone.
    type Of;

    /// The columns of the table in files; the first one is `trace`.
    const COLUMNS: &'static [Column];

    /// All columns: those of files, then those that are shown only where a user asks for them.
    const ALL: &'static [Column];

    /// All cells of files.
    fn new(of: &Self::Of) -> Self;

    /// One cell, by the place of its column in [`Self::ALL`].
    fn cell(of: &Self::Of, column: usize) -> Cell<'t>;

    /// Hands out the cells of files, as many as there are columns.
    fn with_cells<R>(&self, take: impl FnOnce(&[Cell<'t>]) -> R) -> R;
}

/// What a field of a row may be.
pub(super) trait RowField<'t>: Copy {
    const KIND: Kind;

    fn cell(self) -> Cell<'t>;
}

impl<'t> RowField<'t> for &'t str {
    const KIND: Kind = Kind::Text;

    fn cell(self) -> Cell<'t> {
        Cell::Text(self)
    }
}

impl<'t> RowField<'t> for u64 {
    const KIND: Kind = Kind::Integer;

    /// Signed, because other programs subtract such numbers. What does not fit, which only a
    /// damaged trace can say, is the greatest number that does.
    fn cell(self) -> Cell<'t> {
        Cell::Integer(i64::try_from(self).unwrap_or(i64::MAX))
    }
}

impl<'t> RowField<'t> for u32 {
    const KIND: Kind = Kind::Integer;

    fn cell(self) -> Cell<'t> {
        Cell::Integer(self.into())
    }
}

impl<'t> RowField<'t> for i64 {
    const KIND: Kind = Kind::Integer;

    fn cell(self) -> Cell<'t> {
        Cell::Integer(self)
    }
}

impl<'t> RowField<'t> for bool {
    const KIND: Kind = Kind::Bool;

    fn cell(self) -> Cell<'t> {
        Cell::Bool(self)
    }
}

impl<'t, F: RowField<'t>> RowField<'t> for Option<F> {
    const KIND: Kind = F::KIND;

    fn cell(self) -> Cell<'t> {
        self.map_or(Cell::Missing, F::cell)
    }
}

/// The name of a field, which Rust may want written with `r#` before it.
pub(super) const fn column_name(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', name @ ..] => match str::from_utf8(name) {
            Ok(name) => name,
            Err(_) => field,
        },
        _ => field,
    }
}

/// Makes the rows of a table and its columns: each is a line of title, unit, name, type and how to
/// get the cell from what the row is made of. The text above it is its help. What is `on request`
/// is in no file unless a user asks for it.
macro_rules! rows {
    (
        $(#[$about:meta])*
        pub struct $row:ident<'t> of $of:ident: $subject:ty {
            $( $(#[doc = $doc:literal])* $title:literal $unit:ident $field:ident: $kind:ty = $get:expr; )*
        }
        $( on request {
            $( $(#[doc = $more_doc:literal])* $more_title:literal $more_unit:ident $more:ident: $more_kind:ty = $more_get:expr; )*
        } )?
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $row<'t> {
            $( $(#[doc = $doc])* pub $field: $kind, )*
        }

        impl<'t> $crate::tables::row::Row<'t> for $row<'t> {
            type Of = $subject;

            const COLUMNS: &'static [$crate::tables::row::Column] =
                Self::ALL.split_at([$( stringify!($field) ),*].len()).0;

            const ALL: &'static [$crate::tables::row::Column] = &[
                $( $crate::tables::row::Column {
                    name: $crate::tables::row::column_name(stringify!($field)),
                    title: $title,
                    kind: <$kind as $crate::tables::row::RowField>::KIND,
                    unit: $crate::tables::row::Unit::$unit,
                    help: concat!($( $doc ),*).trim_ascii(),
                }, )*
                $( $( $crate::tables::row::Column {
                    name: $crate::tables::row::column_name(stringify!($more)),
                    title: $more_title,
                    kind: <$more_kind as $crate::tables::row::RowField>::KIND,
                    unit: $crate::tables::row::Unit::$more_unit,
                    help: concat!($( $more_doc ),*).trim_ascii(),
                }, )* )?
            ];

            fn new($of: &Self::Of) -> Self {
                Self { $( $field: $get, )* }
            }

            fn cell(of: &Self::Of, column: usize) -> $crate::tables::row::Cell<'t> {
                let cells: &[fn(&Self::Of) -> $crate::tables::row::Cell<'t>] = &[
                    $( |$of| <$kind as $crate::tables::row::RowField>::cell($get), )*
                    $( $( |$of| <$more_kind as $crate::tables::row::RowField>::cell($more_get), )* )?
                ];
                cells.get(column).map_or($crate::tables::row::Cell::Missing, |cell| cell(of))
            }

            fn with_cells<R>(
                &self,
                take: impl FnOnce(&[$crate::tables::row::Cell<'t>]) -> R,
            ) -> R {
                take(&[ $( $crate::tables::row::RowField::cell(self.$field), )* ])
            }
        }

        impl serde::Serialize for $row<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use $crate::tables::row::Row;
                let names = Self::COLUMNS.iter().map(|column| column.name);
                self.with_cells(|cells| serializer.collect_map(names.zip(cells)))
            }
        }
    };
}
pub(super) use rows;

#[cfg(test)]
mod tests {
    #![allow(unreachable_pub, reason = "rows are public wherever they are")]

    use super::*;

    rows! {
        /// One field of each type.
        pub struct TestRow<'t> of of: (Option<u64>, &'t str) {
            /// Name.
            "trace" None trace: &'t str = of.1;
            /// Number of the box,
            /// if it is known.
            "box" Count r#box: Option<u64> = of.0;
            "line" None line: u32 = of.1.len() as u32 + 4;
            "rec" None recursive: bool = of.1 == "run";
        }
        on request {
            /// Twice the number.
            "twice" Count twice: Option<u64> = of.0.map(|number| number.saturating_mul(2));
        }
    }

    #[test]
    fn fields_are_columns() {
        let columns: Vec<_> = TestRow::ALL.iter().map(|c| (c.name, c.kind)).collect();
        assert_eq!(
            columns,
            [
                ("trace", Kind::Text),
                ("box", Kind::Integer),
                ("line", Kind::Integer),
                ("recursive", Kind::Bool),
                ("twice", Kind::Integer)
            ]
        );
        assert_eq!(TestRow::COLUMNS, &TestRow::ALL[..4]);
        let number = TestRow::ALL[1];
        assert_eq!((number.title, number.unit), ("box", Unit::Count));
        assert_eq!(number.help, "Number of the box, if it is known.");
    }

    #[test]
    fn values_are_cells() {
        let cells = [
            Cell::Text("run"),
            Cell::Integer(i64::MAX),
            Cell::Integer(7),
            Cell::Bool(true),
        ];
        let of = (Some(u64::MAX), "run");
        TestRow::new(&of).with_cells(|all| assert_eq!(all, cells));
        for (at, cell) in cells
            .into_iter()
            .chain([Cell::Integer(i64::MAX)])
            .enumerate()
        {
            assert_eq!(TestRow::cell(&of, at), cell);
        }
        assert_eq!(TestRow::cell(&of, 5), Cell::Missing);
        assert_eq!(
            serde_json::to_string(&TestRow::new(&(None, "run"))).unwrap(),
            r#"{"trace":"run","box":null,"line":7,"recursive":true}"#
        );
    }

    #[test]
    fn columns_are_called_by_their_names() {
        let column = |name| Column {
            name,
            ..TestRow::ALL[0]
        };
        assert!(column("self_ns").is_called("self") && column("self_ns").is_called("SELF_NS"));
        assert!(!column("self_ns").is_called("sel"));
        assert!(column("self_comp_ns").is_net_of("self_ns"));
        assert!(!column("self_comp_ns").is_net_of("inclusive_ns"));
        assert!(!column("self_ns").is_net_of("self_ns"));
    }
}
