//! Rows to columns.

use polars::prelude::*;
use portmortem_analyzer::tables::{Cell, Column as TableColumn, Kind};

/// The names and types of columns, as polars has them.
#[must_use]
pub fn schema(columns: &[TableColumn]) -> Schema {
    let field = |column: &TableColumn| (column.name.into(), dtype(column.kind));
    columns.iter().map(field).collect()
}

fn dtype(kind: Kind) -> DataType {
    match kind {
        Kind::Text => DataType::String,
        Kind::Integer => DataType::Int64,
        Kind::Bool => DataType::Boolean,
    }
}

/// Makes a frame of rows.
pub struct FrameBuilder {
    columns: &'static [TableColumn],
    cells: Vec<CellsBuilder>,
    rows: usize,
}

enum CellsBuilder {
    Text(StringChunkedBuilder),
    Integer(PrimitiveChunkedBuilder<Int64Type>),
    Bool(BooleanChunkedBuilder),
}

impl FrameBuilder {
    /// A frame with these columns and no rows.
    #[must_use]
    pub fn new(columns: &'static [TableColumn]) -> Self {
        Self {
            columns,
            cells: columns.iter().map(CellsBuilder::of).collect(),
            rows: 0,
        }
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a row, which must have a cell for each column.
    ///
    /// # Errors
    /// If it has not, or a cell is of another kind than its column.
    pub fn push(&mut self, cells: &[Cell<'_>]) -> PolarsResult<()> {
        polars_ensure!(
            cells.len() == self.cells.len(),
            ShapeMismatch: "a row of {} cells for {} columns", cells.len(), self.cells.len()
        );
        for (column, cell) in self.cells.iter_mut().zip(cells) {
            column.push(*cell)?;
        }
        self.rows += 1;
        Ok(())
    }

    /// The frame of all rows, in one chunk.
    ///
    /// # Errors
    /// If polars refuses.
    pub fn finish(self) -> PolarsResult<DataFrame> {
        let columns = self.cells.into_iter().map(CellsBuilder::finish).collect();
        DataFrame::new(self.rows, columns)
    }

    /// [`Self::finish`], and begins again without rows.
    ///
    /// # Errors
    /// If polars refuses.
    pub fn take(&mut self) -> PolarsResult<DataFrame> {
        std::mem::replace(self, Self::new(self.columns)).finish()
    }
}

impl CellsBuilder {
    fn of(column: &TableColumn) -> Self {
        let name = column.name.into();
        match column.kind {
            Kind::Text => Self::Text(StringChunkedBuilder::new(name, 0)),
            Kind::Integer => Self::Integer(PrimitiveChunkedBuilder::new(name, 0)),
            Kind::Bool => Self::Bool(BooleanChunkedBuilder::new(name, 0)),
        }
    }

    fn push(&mut self, cell: Cell<'_>) -> PolarsResult<()> {
        match (self, cell) {
            (Self::Text(column), Cell::Text(text)) => column.append_value(text),
            (Self::Integer(column), Cell::Integer(number)) => column.append_value(number),
            (Self::Bool(column), Cell::Bool(flag)) => column.append_value(flag),
            (Self::Text(column), Cell::Missing) => column.append_null(),
            (Self::Integer(column), Cell::Missing) => column.append_null(),
            (Self::Bool(column), Cell::Missing) => column.append_null(),
            (_, cell) => {
                polars_bail!(SchemaMismatch: "{cell:?} is not of the kind of its column")
            }
        }
        Ok(())
    }

    fn finish(self) -> Column {
        match self {
            Self::Text(column) => column.finish().into_column(),
            Self::Integer(column) => column.finish().into_column(),
            Self::Bool(column) => column.finish().into_column(),
        }
    }
}
