//! The one table widget: every list of the program is a [`TableView`] over a [`Source`].
//!
//! A source says what the cells are and never changes; the table holds what the user does with it: order,
//! filter, cursor, columns, folds. A tree is a source whose rows have parents. Drawing is `view`.
//!
//! Invariant: `order` has the rows shown, as the source numbers them; the cursor is a place in it (0 if it
//! is empty).

mod moves;
mod order;
mod source;
mod spot;
#[cfg(test)]
mod tests;
mod view;

use std::ops::Range;
use std::sync::Arc;

use portmortem_analyzer::condition::{Condition, Field, FieldKind};
use portmortem_analyzer::export::csv::field;
use portmortem_analyzer::figures::contexts::way_up;
use portmortem_analyzer::tables::Cell;
use portmortem_analyzer::trace::PredicateIndex;
use ratatui::layout::Rect;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::format::{count, counted, percent};

pub(crate) use source::integer;
pub use source::{CellKind, ListColumn, Source, key_of, path_key};
pub use spot::ListSpot;
pub(crate) use view::first_row;

/// A list, as the user sees it.
#[derive(Debug)]
pub struct TableView {
    source: Box<dyn Source>,
    /// Rows shown.
    order: Vec<u32>,
    cursor: usize,
    /// Key of the row that the cursor was on before that went away, until the user moves the cursor: it goes back when the row does.
    away: Option<u64>,
    /// The first row on the screen, a place in `order`.
    first: usize,
    /// Column, and whether the largest comes first.
    sort: Option<(usize, bool)>,
    shown: Vec<bool>,
    /// Columns that the user asked for.
    wanted: Vec<bool>,
    /// Columns scrolled out to the left.
    scrolled: usize,
    filter: TableFilter,
    /// Keys of rows that are unfolded.
    open: Arc<FxHashSet<u64>>,
    /// Keys of rows with a mark.
    marks: FxHashSet<u64>,
    /// Rows that the filter itself holds for; those above them are shown, too.
    found: usize,
    shape: order::RowNesting,
    /// By column: the largest number, or the width of the widest text, of the rows that are not
    /// left out.
    maxima: Vec<u64>,
    /// The row that is shown as if it were all: what is below it.
    root: Option<u32>,
    layout: ListLayout,
}

/// What the filter is.
#[derive(Debug, Clone, Default)]
struct TableFilter {
    text: String,
    condition: Option<Condition>,
    error: Option<String>,
}

/// Where things were drawn, for the mouse and for pages.
#[derive(Debug, Clone, Default)]
struct ListLayout {
    rows: Rect,
    heading: Rect,
    columns: Vec<(Range<u16>, usize)>,
    /// There are columns to the right that do not fit.
    more: bool,
    /// Of the whole list.
    width: u16,
}

impl TableView {
    /// A table that is sorted by the column of this name, the largest first.
    #[must_use]
    pub fn new(source: Box<dyn Source>, sort: Option<&str>) -> Self {
        let columns = source.columns();
        let sort = sort.and_then(|name| columns.iter().position(|column| column.name == name));
        let shape = order::RowNesting::of(&*source);
        let mut table = Self {
            order: Vec::new(),
            cursor: 0,
            away: None,
            first: 0,
            sort: sort.map(|at| (at, columns[at].kind.is_number())),
            shown: columns.iter().map(|column| column.shown).collect(),
            wanted: vec![false; columns.len()],
            scrolled: 0,
            filter: TableFilter::default(),
            open: Arc::default(),
            marks: FxHashSet::default(),
            found: 0,
            shape,
            maxima: order::maxima(&*source),
            root: None,
            layout: ListLayout::default(),
            source,
        };
        table.refresh();
        table
    }

    /// Puts rows into `table`, sorted by a column of this name if it is not there yet.
    pub fn fill(table: &mut Option<Self>, rows: Box<dyn Source>, sort: &str) {
        match table {
            Some(table) => table.follow(rows),
            None => *table = Some(Self::new(rows, Some(sort))),
        }
    }

    /// Shows other rows of the same kind; order, filter and folds stay, the cursor stays on its row. If that is not there any
    /// more, the cursor is on the nearest one above it in a tree, or stays at its place in a list.
    pub fn follow(&mut self, source: Box<dyn Source>) {
        let away = self.away.take();
        let way = self.way().map(|row| self.source.key(row));
        let way: Vec<u64> = away.into_iter().chain(way).collect();
        let root = self.root.map(|row| self.source.key(row as usize));
        self.source = source;
        self.shape = order::RowNesting::of(&*self.source);
        self.maxima = order::maxima(&*self.source);
        let rows = self.source.rows();
        let find = |key| (0..rows).find(|&row| self.source.key(row) == key);
        self.root = root.and_then(find).map(|row| row as u32);
        // Places in the order are of the rows before.
        self.order.clear();
        let filter = std::mem::take(&mut self.filter.text);
        // What shares are of may have changed.
        self.set_filter(&filter);
        self.away = match self.select_first(&way) {
            Some(0) => None,
            _ => way.first().copied(),
        };
    }

    /// The row under the cursor, and those above it in a tree, the nearest first.
    fn way(&self) -> impl Iterator<Item = usize> + use<'_> {
        way_up(self.row(), |row| self.source.parent(row))
    }

    /// Moves the cursor to the first of these keys that has a row which is shown; which one that is.
    fn select_first(&mut self, keys: &[u64]) -> Option<usize> {
        let mut rows = vec![None; keys.len()];
        let places: FxHashMap<u64, usize> = keys.iter().copied().zip(0..).collect();
        for row in 0..self.source.rows() {
            if let Some(&place) = places.get(&self.source.key(row)) {
                rows[place].get_or_insert(row);
            }
        }
        let found = |row: Option<usize>| row.is_some_and(|row| self.select(row));
        rows.into_iter().position(found)
    }

    /// The cursor stays where it is, also if the row comes back that it was on before.
    pub fn stay(&mut self) {
        self.away = None;
    }

    /// What the rows are.
    #[must_use]
    pub fn source(&self) -> &dyn Source {
        &*self.source
    }

    /// How many rows are shown: neither folded nor filtered away.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.order.len()
    }

    /// The row under the cursor, as the source numbers it.
    #[must_use]
    pub fn row(&self) -> Option<usize> {
        self.order.get(self.cursor).map(|&row| row as usize)
    }

    /// The predicate under the cursor.
    #[must_use]
    pub fn predicate(&self) -> Option<PredicateIndex> {
        self.source.predicate(self.row()?)
    }

    /// Where a row is in the order, if it is shown.
    fn place_of(&self, row: usize) -> Option<usize> {
        self.order.iter().position(|&other| other as usize == row)
    }

    /// Rows shown, as the source numbers them.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// How many rows the filter holds for.
    #[must_use]
    pub fn found(&self) -> usize {
        self.found
    }

    /// `12 of 340 predicates`, `1 predicate`
    pub(crate) fn how_many(&self, one: &str) -> String {
        let all = counted(self.source().rows() as u64, one, &format!("{one}s"));
        match self.filter().is_empty() {
            true => all,
            false => format!("{} of {all}", count(self.found() as u64)),
        }
    }

    /// The filter, empty if there is none.
    #[must_use]
    pub fn filter(&self) -> &str {
        &self.filter.text
    }

    /// Why the filter is no condition.
    #[must_use]
    pub fn filter_error(&self) -> Option<&str> {
        self.filter.error.as_deref()
    }

    /// Moves the cursor to a row, unfolding what is above it; `false` if the row is not shown.
    pub fn select(&mut self, row: usize) -> bool {
        if self.source.is_tree() {
            let mut opened = false;
            for above in way_up(Some(row), |at| self.source.parent(at)).skip(1) {
                let key = self.source.key(above);
                if !self.open.contains(&key) {
                    opened = Arc::make_mut(&mut self.open).insert(key);
                }
            }
            if opened {
                self.refresh();
            }
        }
        let place = self.place_of(row);
        self.cursor = place.unwrap_or(self.cursor);
        self.away = None;
        place.is_some()
    }

    /// Moves the cursor to the first row shown of a predicate.
    pub fn select_predicate(&mut self, predicate: PredicateIndex) -> bool {
        let rows = self.order.iter().map(|&row| row as usize);
        let mut found = rows.filter(|&row| self.source.predicate(row) == Some(predicate));
        match found.next() {
            Some(row) => self.select(row),
            None => false,
        }
    }

    /// Shows only the rows that a condition holds for; if the text is none, those of the condition before.
    pub fn set_filter(&mut self, text: &str) {
        let text = text.trim();
        let fields = self.fields();
        let (condition, error) = if text.is_empty() {
            (None, None)
        } else {
            match Condition::parse(text, &fields) {
                Ok(condition) => (Some(condition), None),
                Err(error) => (self.filter.condition.take(), Some(error.to_string())),
            }
        };
        self.filter = TableFilter {
            text: text.to_owned(),
            condition,
            error,
        };
        self.refresh();
    }

    /// The columns, for conditions.
    #[must_use]
    pub fn fields(&self) -> Vec<Field<'static>> {
        let whole = Some(self.source.whole()).filter(|&whole| whole > 0);
        let columns = self.source.columns().iter();
        columns
            .map(|column| Field {
                name: column.name,
                // A word that is looked for is none of those that the user does not see.
                kind: match column.kind.field(whole) {
                    FieldKind::Text if column.is_of_calls() => FieldKind::Label,
                    kind => kind,
                },
            })
            .collect()
    }

    /// Column that the table is sorted by, and whether the largest comes first.
    #[must_use]
    pub fn sort(&self) -> Option<(usize, bool)> {
        self.sort
    }

    /// Sorts by a column: numbers the largest first, texts alphabetically.
    pub fn sort_by(&mut self, column: usize) {
        self.sort = Some((column, self.source.columns()[column].kind.is_number()));
        self.shown[column] = true;
        self.wanted[column] = true;
        self.refresh();
    }

    /// Sorts by the column of this name.
    pub fn sort_by_name(&mut self, name: &str) {
        let columns = self.source.columns();
        if let Some(at) = columns.iter().position(|column| column.name == name) {
            self.sort_by(at);
        }
    }

    /// Whether a column is shown.
    #[must_use]
    pub fn is_shown(&self, column: usize) -> bool {
        self.shown[column]
    }

    /// Shows a column, or does not; names stay.
    pub fn show(&mut self, column: usize, shown: bool) {
        self.shown[column] = shown || self.source.columns()[column].kind == CellKind::Name;
        self.wanted[column] = shown;
    }

    /// Whether a column is shown for which the events are read again.
    #[must_use]
    pub fn shows_calls(&self) -> bool {
        let columns = self.source.columns();
        let is_drawn = |at: usize| self.shown[at] && self.has_room_for(at, self.layout.width);
        (0..columns.len()).any(|at| columns[at].is_of_calls() && is_drawn(at))
            || self.depends_on_calls()
    }

    /// Whether the user asked for such a column, and not only the width of the screen.
    #[must_use]
    pub fn asks_for_calls(&self) -> bool {
        let columns = self.source.columns();
        let is_wanted = |at: usize| self.shown[at] && self.wanted[at];
        (0..columns.len()).any(|at| columns[at].is_of_calls() && is_wanted(at))
            || self.depends_on_calls()
    }

    /// Whether a column may be drawn on a screen of this width.
    fn has_room_for(&self, column: usize, width: u16) -> bool {
        self.wanted[column] || self.source.columns()[column].least_width <= width
    }

    /// Whether the order or the choice of rows depends on such a column.
    #[must_use]
    pub fn depends_on_calls(&self) -> bool {
        let asks = |at| {
            self.filter
                .condition
                .as_ref()?
                .names_column(at)
                .then_some(())
        };
        let is_sorted_by = |at| self.sort.is_some_and(|(column, _)| column == at);
        let columns = self.source.columns();
        (0..columns.len())
            .any(|at| columns[at].is_of_calls() && (is_sorted_by(at) || asks(at).is_some()))
    }

    /// Scrolls so that the row under the cursor has so many rows above, as far as there are any below.
    pub fn scroll_to(&mut self, above: usize) {
        self.first = self.cursor.saturating_sub(above);
    }

    /// Shows only what is below this row, which is unfolded meanwhile, or everything.
    pub fn set_root(&mut self, root: Option<u32>) {
        self.root = root;
        self.refresh();
    }

    /// The row that is shown as if it were all.
    #[must_use]
    pub fn root(&self) -> Option<usize> {
        self.root.map(|row| row as usize)
    }

    /// Cells of the columns shown, as texts for a file: one row, or all.
    #[must_use]
    pub fn csv(&self, only: Option<usize>) -> String {
        // The same on every terminal: those that only wide ones show are not in it.
        let is_in = |at: &usize| self.shown[*at] && self.has_room_for(*at, 0);
        let columns: Vec<usize> = (0..self.shown.len()).filter(is_in).collect();
        let mut writer = csv::Writer::from_writer(Vec::new());
        let about = |at: usize| &self.source.columns()[at];
        let (net, whole) = (self.source.is_net(), self.source.whole());
        let names = columns.iter().map(|&at| about(at).file_name(net));
        // Writing to memory does not fail.
        let _ = writer.write_record(names);
        let rows = self.order.iter().map(|&row| row as usize);
        for row in rows.filter(|&row| only.is_none_or(|only| only == row)) {
            let cells = columns.iter().map(|&at| match self.source.cell(row, at) {
                Cell::Missing => String::new(),
                Cell::Text(text) => field(text).into_owned(),
                Cell::Integer(_) if about(at).kind == CellKind::Share && whole == 0 => {
                    String::new()
                }
                Cell::Integer(part) if about(at).kind == CellKind::Share => {
                    percent(part.max(0) as u64, whole)
                }
                Cell::Integer(number) => number.to_string(),
                Cell::Bool(bool) => bool.to_string(),
            });
            let _ = writer.write_record(cells);
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// Whether the row itself is what the filter asked for, not only above such a row.
    fn is_found(&self, row: usize) -> bool {
        let condition = self.filter.condition.as_ref();
        condition.is_none_or(|condition| condition.holds(|column| self.source.cell(row, column)))
    }

    fn is_marked(&self, row: usize) -> bool {
        self.marks.contains(&self.source.key(row))
    }
}
