//! What rows of all tables have in common: named columns of one kind, and cells.
//!
//! Invariant: the struct of a row is the only definition of its columns. Names, kinds and cells of
//! every file format and of the polars frames come from it, in the order of its fields.

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

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its cells hold.
    pub kind: Kind,
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
pub trait Row<'t>: Serialize {
    /// The columns; the first one is `trace`.
    const COLUMNS: &'static [Column];

    /// Hands out the cells, as many as there are columns.
    fn with_cells<R>(&self, take: impl FnOnce(&[Cell<'t>]) -> R) -> R;
}

/// What a field of a row may be.
pub(super) trait Field<'t>: Copy {
    const KIND: Kind;

    fn cell(self) -> Cell<'t>;
}

impl<'t> Field<'t> for &'t str {
    const KIND: Kind = Kind::Text;

    fn cell(self) -> Cell<'t> {
        Cell::Text(self)
    }
}

impl<'t> Field<'t> for u64 {
    const KIND: Kind = Kind::Integer;

    /// Signed, because other programs subtract such numbers. What does not fit, which only a
    /// damaged trace can say, is the greatest number that does.
    fn cell(self) -> Cell<'t> {
        Cell::Integer(i64::try_from(self).unwrap_or(i64::MAX))
    }
}

impl<'t> Field<'t> for u32 {
    const KIND: Kind = Kind::Integer;

    fn cell(self) -> Cell<'t> {
        Cell::Integer(self.into())
    }
}

impl<'t> Field<'t> for bool {
    const KIND: Kind = Kind::Bool;

    fn cell(self) -> Cell<'t> {
        Cell::Bool(self)
    }
}

impl<'t, F: Field<'t>> Field<'t> for Option<F> {
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

/// Makes structs rows: a column for each field.
macro_rules! rows {
    ($(
        $(#[$about:meta])*
        pub struct $row:ident<'t> {
            $( $(#[$doc:meta])* pub $field:ident: $kind:ty, )*
        }
    )*) => { $(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $row<'t> {
            $( $(#[$doc])* pub $field: $kind, )*
        }

        impl<'t> $crate::tables::row::Row<'t> for $row<'t> {
            const COLUMNS: &'static [$crate::tables::row::Column] = &[
                $( $crate::tables::row::Column {
                    name: $crate::tables::row::column_name(stringify!($field)),
                    kind: <$kind as $crate::tables::row::Field>::KIND,
                }, )*
            ];

            fn with_cells<R>(
                &self,
                take: impl FnOnce(&[$crate::tables::row::Cell<'t>]) -> R,
            ) -> R {
                take(&[ $( $crate::tables::row::Field::cell(self.$field), )* ])
            }
        }

        impl serde::Serialize for $row<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use $crate::tables::row::Row;
                let names = Self::COLUMNS.iter().map(|column| column.name);
                self.with_cells(|cells| serializer.collect_map(names.zip(cells)))
            }
        }
    )* };
}
pub(super) use rows;

#[cfg(test)]
mod tests {
    #![allow(unreachable_pub, reason = "rows are public wherever they are")]

    use super::*;

    rows! {
        /// One field of each type.
        pub struct TestRow<'t> {
            pub trace: &'t str,
            pub r#box: Option<u64>,
            pub line: u32,
            pub recursive: bool,
        }
    }

    fn row(r#box: Option<u64>) -> TestRow<'static> {
        TestRow {
            trace: "run",
            r#box,
            line: 7,
            recursive: true,
        }
    }

    #[test]
    fn fields_are_columns() {
        let columns: Vec<_> = TestRow::COLUMNS.iter().map(|c| (c.name, c.kind)).collect();
        assert_eq!(
            columns,
            [
                ("trace", Kind::Text),
                ("box", Kind::Integer),
                ("line", Kind::Integer),
                ("recursive", Kind::Bool)
            ]
        );
    }

    #[test]
    fn values_are_cells() {
        row(Some(u64::MAX)).with_cells(|cells| {
            assert_eq!(
                cells,
                [
                    Cell::Text("run"),
                    Cell::Integer(i64::MAX),
                    Cell::Integer(7),
                    Cell::Bool(true)
                ]
            );
        });
        row(None).with_cells(|cells| assert_eq!(cells[1], Cell::Missing));
        assert_eq!(
            serde_json::to_string(&row(None)).unwrap(),
            r#"{"trace":"run","box":null,"line":7,"recursive":true}"#
        );
    }
}
