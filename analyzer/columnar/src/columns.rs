//! Rows to columns.

use polars_arrow::array::{
    Array, MutableArray, MutableBinaryViewArray, MutableBooleanArray, MutablePrimitiveArray,
    MutableUtf8Array,
};
use polars_arrow::datatypes::{ArrowDataType, ArrowSchema, ArrowSchemaRef, Field};
use polars_arrow::record_batch::RecordBatchT;
use polars_error::{PolarsResult, polars_bail, polars_ensure};
use portmortem_analyzer::tables::{Cell, Column, Kind};

/// Rows as columns: an array for each.
pub(crate) type ColumnBatch = RecordBatchT<Box<dyn Array>>;

/// How an array holds text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextLayout {
    /// A view a text, which has the text itself if it is short.
    Views,
    /// All texts in a row, and where each begins.
    Offsets,
}

/// The names and types of columns.
pub(crate) fn schema(columns: &[Column], text: TextLayout) -> ArrowSchema {
    let data_type = |kind| match (kind, text) {
        (Kind::Text, TextLayout::Views) => ArrowDataType::Utf8View,
        (Kind::Text, TextLayout::Offsets) => ArrowDataType::LargeUtf8,
        (Kind::Integer, _) => ArrowDataType::Int64,
        (Kind::Bool, _) => ArrowDataType::Boolean,
    };
    let field = |column: &Column| Field::new(column.name.into(), data_type(column.kind), true);
    columns.iter().map(field).collect()
}

/// Makes columns of rows.
pub(crate) struct ColumnsBuilder {
    schema: ArrowSchemaRef,
    cells: Vec<CellsBuilder>,
    rows: usize,
}

enum CellsBuilder {
    Views(MutableBinaryViewArray<str>),
    Offsets(MutableUtf8Array<i64>),
    Integers(MutablePrimitiveArray<i64>),
    Flags(MutableBooleanArray),
}

impl ColumnsBuilder {
    /// Columns without rows.
    pub(crate) fn new(schema: &ArrowSchemaRef) -> Self {
        Self {
            cells: schema
                .iter_values()
                .map(|field| CellsBuilder::of(field.dtype()))
                .collect(),
            schema: schema.clone(),
            rows: 0,
        }
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a row, which must have a cell for each column.
    ///
    /// # Errors
    /// If it has not, or a cell is of another kind than its column.
    pub(crate) fn push(&mut self, cells: &[Cell<'_>]) -> PolarsResult<()> {
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

    /// All rows. It begins again without.
    ///
    /// # Errors
    /// If polars refuses.
    pub(crate) fn take(&mut self) -> PolarsResult<ColumnBatch> {
        let rows = std::mem::take(&mut self.rows);
        let arrays = self.cells.iter_mut().map(CellsBuilder::take).collect();
        RecordBatchT::try_new(rows, self.schema.clone(), arrays)
    }
}

impl CellsBuilder {
    fn of(data_type: &ArrowDataType) -> Self {
        match data_type {
            ArrowDataType::Utf8View => Self::Views(MutableBinaryViewArray::new()),
            ArrowDataType::LargeUtf8 => Self::Offsets(MutableUtf8Array::new()),
            ArrowDataType::Boolean => Self::Flags(MutableBooleanArray::new()),
            _ => Self::Integers(MutablePrimitiveArray::new()),
        }
    }

    fn push(&mut self, cell: Cell<'_>) -> PolarsResult<()> {
        match (self, cell) {
            (Self::Views(column), Cell::Text(text)) => column.push_value(text),
            (Self::Offsets(column), Cell::Text(text)) => column.push(Some(text)),
            (Self::Integers(column), Cell::Integer(number)) => column.push_value(number),
            (Self::Flags(column), Cell::Bool(flag)) => column.push_value(flag),
            (column, Cell::Missing) => column.array().push_null(),
            (_, cell) => {
                polars_bail!(SchemaMismatch: "{cell:?} is not of the kind of its column")
            }
        }
        Ok(())
    }

    fn take(&mut self) -> Box<dyn Array> {
        self.array().as_box()
    }

    fn array(&mut self) -> &mut dyn MutableArray {
        match self {
            Self::Views(column) => column,
            Self::Offsets(column) => column,
            Self::Integers(column) => column,
            Self::Flags(column) => column,
        }
    }
}
