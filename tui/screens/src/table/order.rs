//! Which rows a table shows, and in which order: filter, sort, folds.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use portmortem_analyzer::tables::Cell;
use rayon::prelude::*;

use super::{CellKind, Source, TableView};

/// So many rows are unfolded at once.
const MOST_UNFOLDED: usize = 20_000;

/// So many rows are worth a thread.
const MANY: usize = 10_000;

/// Which rows are below which: empty for a list. Those below have higher numbers, so each way down
/// ends.
#[derive(Debug, Default)]
pub(super) struct RowNesting {
    /// By row: where its children begin in `children`; one more at the end.
    starts: Vec<u32>,
    children: Vec<u32>,
    roots: Vec<u32>,
    /// By row: the one above; [`NONE`] of a root.
    parents: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl RowNesting {
    pub(super) fn of(source: &dyn Source) -> Self {
        if !source.is_tree() {
            return Self::default();
        }
        let rows = source.rows();
        let parent = |row| source.parent(row).filter(|&above| above < row);
        let parents = (0..rows).map(|row| parent(row).map_or(NONE, |above| above as u32));
        let parents: Vec<u32> = parents.collect();
        let mut starts = vec![0; rows + 1];
        let mut roots = Vec::new();
        for (row, &parent) in (0..).zip(&parents) {
            match parent {
                NONE => roots.push(row),
                parent => starts[parent as usize + 1] += 1,
            }
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut children = vec![0; rows - roots.len()];
        for (row, &parent) in (0..).zip(&parents) {
            if parent != NONE {
                let next = &mut next[parent as usize];
                children[*next as usize] = row;
                *next += 1;
            }
        }
        Self {
            starts,
            children,
            roots,
            parents,
        }
    }

    /// Rows directly below a row.
    pub(super) fn below(&self, row: usize) -> &[u32] {
        match (self.starts.get(row), self.starts.get(row + 1)) {
            (Some(&from), Some(&to)) => &self.children[from as usize..to as usize],
            _ => &[],
        }
    }
}

/// By column: the largest number, or the width of the widest text, of the rows that are not left
/// out.
pub(super) fn maxima(source: &dyn Source) -> Vec<u64> {
    let columns = source.columns();
    let rows = (0..source.rows()).filter(|&row| !source.is_left_out(row));
    let rows: Vec<usize> = rows.collect();
    let short = |row, column: usize| {
        let is_name = columns[column].kind == CellKind::Name;
        is_name.then(|| source.short_name(row)).flatten()
    };
    let size = |row, column| match source.cell(row, column) {
        Cell::Text(text) => {
            let text = short(row, column).unwrap_or(text.into());
            crate::format::width(&text) as u64
        }
        Cell::Integer(number) => number.unsigned_abs(),
        Cell::Missing => 0,
        Cell::Bool(_) => 1,
    };
    (0..source.columns().len())
        .map(|column| rows.iter().map(|&row| size(row, column)).max().unwrap_or(0))
        .collect()
}

impl TableView {
    /// Makes the order again; the cursor stays on its row if that is still there, or goes to the nearest one above it. It goes
    /// back to a row that comes back.
    pub(super) fn refresh(&mut self) {
        let way: Vec<usize> = self.way().collect();
        let away = self.away.take();
        let (order, found) = if self.source.is_tree() {
            self.tree_order()
        } else {
            self.list_order()
        };
        self.order = order;
        self.found = found;
        let is_back = |key: u64| {
            let mut rows = self.order.iter();
            rows.position(|&row| self.source.key(row as usize) == key)
        };
        let place = match (away.map(is_back), way.first()) {
            (Some(back), _) => back,
            (None, Some(&row)) => self.place_of(row),
            (None, None) => None,
        };
        if place.is_none() {
            self.away = away.or_else(|| Some(self.source.key(*way.first()?)));
        }
        let place = place.or_else(|| way.iter().find_map(|&row| self.place_of(row)));
        let last = self.order.len().saturating_sub(1);
        self.cursor = place.unwrap_or(self.cursor.min(last));
    }

    fn list_order(&self) -> (Vec<u32>, usize) {
        let rows = 0..self.source.rows() as u32;
        let rows = rows.filter(|&row| !self.source.is_left_out(row as usize));
        let mut order: Vec<u32> = match self.found_by_row() {
            Some(found) => rows.filter(|&row| found[row as usize]).collect(),
            None => rows.collect(),
        };
        self.arrange(&mut order);
        let found = order.len();
        (order, found)
    }

    fn tree_order(&self) -> (Vec<u32>, usize) {
        let kept = self.kept();
        let is_kept = |row: &u32| {
            let row = *row as usize;
            !self.source.is_left_out(row) && kept.as_ref().is_none_or(|(kept, _)| kept[row])
        };
        let mut order = Vec::new();
        let mut pending: Vec<u32> = match self.root {
            Some(root) => vec![root],
            None => self.shape.roots.clone(),
        };
        pending.retain(is_kept);
        self.arrange(&mut pending);
        pending.reverse();
        while let Some(row) = pending.pop() {
            order.push(row);
            // What the filter found must not stay folded away, as far as one can look through it.
            let found = kept.is_some() && order.len() < MOST_UNFOLDED;
            if found || self.is_open(row as usize) {
                let mut below = self.shape.below(row as usize).to_vec();
                below.retain(is_kept);
                self.arrange(&mut below);
                pending.extend(below.into_iter().rev());
            }
        }
        let all = || {
            (0..self.source.rows())
                .filter(|&row| !self.source.is_left_out(row))
                .count()
        };
        let found = kept.map_or_else(all, |(_, found)| found);
        (order, found)
    }

    /// By row: whether the filter holds for it or for one below. How many it holds for.
    fn kept(&self) -> Option<(Vec<bool>, usize)> {
        let mut kept = self.found_by_row()?;
        for (row, kept) in kept.iter_mut().enumerate() {
            *kept &= !self.source.is_left_out(row);
        }
        let found = kept.iter().filter(|&&kept| kept).count();
        // Those below come later.
        for (row, &parent) in self.shape.parents.iter().enumerate().rev() {
            if kept[row] && parent != NONE {
                kept[parent as usize] = true;
            }
        }
        Some((kept, found))
    }

    /// By row: whether the filter holds for it; `None` if there is no filter. What is asked of names is asked once of each
    /// predicate, all else of many rows at a time.
    fn found_by_row(&self) -> Option<Vec<bool>> {
        let condition = self.filter.condition.as_ref()?;
        let source = &*self.source;
        let columns = source.columns();
        let name = columns
            .iter()
            .position(|column| column.kind == CellKind::Name);
        if !name.is_some_and(|name| condition.is_only_of(name)) {
            let rows = (0..source.rows()).into_par_iter();
            return Some(
                rows.with_min_len(MANY)
                    .map(|row| self.is_found(row))
                    .collect(),
            );
        }
        let mut known: Vec<Option<bool>> = Vec::new();
        let is_found = |row: usize| match source.predicate(row) {
            Some(of) => {
                let of = of as usize;
                if known.len() <= of {
                    known.resize(of + 1, None);
                }
                *known[of].get_or_insert_with(|| self.is_found(row))
            }
            None => self.is_found(row),
        };
        Some((0..source.rows()).map(is_found).collect())
    }

    pub(super) fn is_open(&self, row: usize) -> bool {
        self.root() == Some(row) || self.open.contains(&self.source.key(row))
    }

    /// Sorts rows; equal ones stay in the order of the source.
    fn arrange(&self, rows: &mut [u32]) {
        let source = &*self.source;
        let group = |row: u32| source.group(row as usize);
        let Some((column, descending)) = self.sort else {
            rows.sort_by_key(|&row| (group(row), row));
            return;
        };
        let by_cell = |a: u32, b: u32| {
            let is_reversed = source.is_reversed(group(a));
            let (a, b) = (
                source.cell(a as usize, column),
                source.cell(b as usize, column),
            );
            let order = match (a, b) {
                // What is not known comes last, whichever way.
                (Cell::Missing, Cell::Missing) => return Ordering::Equal,
                (Cell::Missing, _) => return Ordering::Greater,
                (_, Cell::Missing) => return Ordering::Less,
                (Cell::Integer(a), Cell::Integer(b)) => a.cmp(&b),
                (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
                (Cell::Bool(a), Cell::Bool(b)) => a.cmp(&b),
                _ => Ordering::Equal,
            };
            if descending != is_reversed {
                order.reverse()
            } else {
                order
            }
        };
        rows.sort_unstable_by(|&a, &b| {
            group(a)
                .cmp(&group(b))
                .then_with(|| by_cell(a, b))
                .then(a.cmp(&b))
        });
    }

    pub(super) fn fold_or_up(&mut self) {
        let Some(row) = self.row() else { return };
        let is_root = self.root() == Some(row);
        let key = self.source.key(row);
        if is_root {
            // It is all that is shown.
        } else if self.filter.condition.is_none() && self.open.contains(&key) {
            Arc::make_mut(&mut self.open).remove(&key);
            self.refresh();
        } else if let Some(parent) = self.source.parent(row)
            && let Some(place) = self
                .order
                .iter()
                .position(|&other| other as usize == parent)
        {
            self.cursor = place;
        }
    }

    pub(super) fn unfold_or_down(&mut self) {
        let Some(row) = self.row() else { return };
        if self.shape.below(row).is_empty() {
            return;
        }
        if !self.is_open(row) {
            Arc::make_mut(&mut self.open).insert(self.source.key(row));
            self.refresh();
        } else if self.cursor + 1 < self.order.len() {
            self.cursor += 1;
        }
    }

    pub(super) fn toggle(&mut self) {
        let Some(row) = self.row().filter(|&row| self.root() != Some(row)) else {
            return;
        };
        let key = self.source.key(row);
        let is_foldable = !self.shape.below(row).is_empty();
        let open = Arc::make_mut(&mut self.open);
        if !open.remove(&key) && is_foldable {
            open.insert(key);
        }
        self.refresh();
    }

    /// Unfolds what is below the cursor, the nearest first, until so many rows are.
    pub(super) fn open_all(&mut self) {
        let mut pending: VecDeque<u32> = self.row().into_iter().map(|row| row as u32).collect();
        let mut left = MOST_UNFOLDED;
        while let Some(row) = pending.pop_front() {
            left = left.saturating_sub(1);
            if left == 0 {
                break;
            }
            let below = self.shape.below(row as usize);
            if !below.is_empty() {
                Arc::make_mut(&mut self.open).insert(self.source.key(row as usize));
                pending.extend(below);
            }
        }
        self.refresh();
    }

    /// Whether a row has rows below it.
    pub(super) fn has_below(&self, row: usize) -> bool {
        !self.shape.below(row).is_empty()
    }
}
