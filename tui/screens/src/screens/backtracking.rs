//! Screen 4: who fails into whom, who leaves choicepoints, who cuts them. Three tables, one at a time.
//! Times are as recorded: no others are known of these.

use std::sync::Arc;

use portmortem_analyzer::figures::{BacktrackFigures, Caller};
use portmortem_analyzer::tables::{self, BacktrackRow, Cell, ChoicepointRow, CutRow, Row};
use portmortem_analyzer::trace::PredicateIndex;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Effect, Screen, Spot, draw_parts, how_many};
use crate::analysis::AnalysisView;
use crate::keys::{Action, Binding, bind};
use crate::table::{Column, Kind, Source, Table, key_of};
use crate::theme::Theme;

/// The screen.
#[derive(Debug, Default)]
pub(super) struct Backtracking {
    tables: Vec<Table>,
    shown: usize,
    /// The cursor is on what was resumed, not on what failed; on what cut, not on what was cut.
    other_side: bool,
}

/// Name of each table, what its rows are, the file that it is exported to, the column it is sorted by.
const TABLES: [(&str, &str, &str, &str); 3] = [
    ("who fails into whom", "pair", "backtracks", "undone_ns"),
    ("choicepoints", "predicate", "choicepoints", "left"),
    ("cut by whom", "pair", "cuts", "count"),
];

const KEYS: &[Binding] = &[
    bind(
        &["t"],
        Action::NextTable,
        "next table",
        "who fails into whom; choicepoints; cut by whom",
    ),
    bind(
        &["i"],
        Action::Invert,
        "other side",
        "the other predicate of a pair: keys are about it then",
    ),
    bind(
        &["enter"],
        Action::Enter,
        "",
        "go into the predicate on the side of the cursor",
    ),
];

impl Backtracking {
    /// What both sides of a row are, if it has two.
    fn sides(&self) -> Option<[&'static str; 2]> {
        match self.shown {
            0 => Some(["failed", "resumed"]),
            2 => Some(["cut", "cutter"]),
            _ => None,
        }
    }

    /// The predicate on the side of the cursor.
    fn on_side(&self) -> Option<PredicateIndex> {
        let table = self.table()?;
        match self.sides().filter(|_| self.other_side) {
            Some(_) => table.source().other(table.row()?),
            None => table.predicate(),
        }
    }
}

impl Screen for Backtracking {
    fn bindings(&self) -> &'static [Binding] {
        KEYS
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        let sources: [Box<dyn Source>; 3] = [
            Box::new(Backtracks::new(analysis)),
            Box::new(Choicepoints::new(analysis)),
            Box::new(Cuts::new(analysis)),
        ];
        let sorted = TABLES.map(|(_, _, _, sorted)| sorted);
        if self.tables.is_empty() {
            let made = sources.into_iter().zip(sorted);
            self.tables = made
                .map(|(source, by)| Table::new(source, Some(by)))
                .collect();
        } else {
            for (table, source) in self.tables.iter_mut().zip(sources) {
                table.follow(source);
            }
        }
    }

    fn act(&mut self, action: Action) -> Effect {
        match action {
            Action::NextTable if !self.tables.is_empty() => {
                self.shown = (self.shown + 1) % self.tables.len();
                Effect::Done
            }
            Action::Invert if self.sides().is_some() => {
                self.other_side = !self.other_side;
                Effect::Done
            }
            Action::Invert => Effect::Say("there are no pairs here".to_owned()),
            Action::Enter => self.predicate().map_or(Effect::Done, Effect::Open),
            _ => Effect::Unused,
        }
    }

    fn spot(&self) -> Spot {
        Spot {
            part: self.shown,
            ..Spot::of(self).with(self.other_side)
        }
    }

    fn recall(&mut self, spot: &Spot) {
        self.shown = spot.part;
        if let Some(other) = spot.own() {
            self.other_side = *other;
        }
        spot.recall(self);
    }

    fn table(&self) -> Option<&Table> {
        self.tables.get(self.shown)
    }

    fn table_mut(&mut self) -> Option<&mut Table> {
        self.tables.get_mut(self.shown)
    }

    fn status(&self) -> String {
        let what = TABLES[self.shown].1;
        let Some(table) = self.table() else {
            return String::new();
        };
        let side = self
            .sides()
            .map(|sides| sides[usize::from(self.other_side)]);
        let side = side.map_or_else(String::new, |side| format!(", cursor on {side}"));
        how_many(table, what) + &side
    }

    fn predicate(&self) -> Option<PredicateIndex> {
        self.on_side()
    }

    fn file_name(&self) -> &'static str {
        TABLES[self.shown].2
    }

    fn smallest(&self) -> (u16, u16) {
        super::SMALLEST_LIST
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let names = TABLES.iter().map(|(name, ..)| *name);
        let below = draw_parts(names, self.shown, area, buf, theme);
        if let Some(table) = self.table_mut() {
            table.draw(below, buf, theme);
        }
    }
}

/// Pairs of what failed and what was re-entered.
#[derive(Debug)]
struct Backtracks {
    analysis: Arc<AnalysisView>,
    pairs: Vec<((Caller, PredicateIndex), BacktrackFigures)>,
}

const fn of_backtracks(name: &'static str) -> Column {
    Column::of(tables::Table::Backtracks, name)
}

const BACKTRACKS: &[Column] = &[
    of_backtracks("undone_ns").shown_as(
        "share",
        "of undone",
        Kind::Share,
        "Undone time, of all that was undone.",
    ),
    of_backtracks("undone_ns"),
    of_backtracks("collected_ns"),
    of_backtracks("count"),
    of_backtracks("failed").name(),
    of_backtracks("resumed").name(),
];

impl Backtracks {
    fn new(analysis: &Arc<AnalysisView>) -> Self {
        let pairs = analysis.profile.backtracks.iter();
        Self {
            pairs: pairs.map(|(&pair, &figures)| (pair, figures)).collect(),
            analysis: Arc::clone(analysis),
        }
    }
}

impl Source for Backtracks {
    fn columns(&self) -> &'static [Column] {
        BACKTRACKS
    }

    fn rows(&self) -> usize {
        self.pairs.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let (pair, figures) = self.pairs[row];
        let of = self.analysis.tables().backtrack(pair, figures);
        BACKTRACKS[column].cell(false, |at| BacktrackRow::cell(&of, at))
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.pairs[row].0)
    }

    fn whole(&self) -> u64 {
        let undone = self.pairs.iter().map(|(_, figures)| figures.undone_ticks);
        self.analysis.ns(undone.fold(0, u64::saturating_add))
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        match self.pairs[row].0 {
            (Caller::Predicate(failed), _) => Some(failed),
            (Caller::Root, resumed) => Some(resumed),
        }
    }

    fn other(&self, row: usize) -> Option<PredicateIndex> {
        Some(self.pairs[row].0.1)
    }
}

/// Predicates that left choicepoints.
#[derive(Debug)]
struct Choicepoints {
    analysis: Arc<AnalysisView>,
    predicates: Vec<PredicateIndex>,
}

const fn of_choicepoints(name: &'static str) -> Column {
    Column::of(tables::Table::Choicepoints, name)
}

const CHOICEPOINTS: &[Column] = &[
    of_choicepoints("left"),
    of_choicepoints("redone"),
    of_choicepoints("cut"),
    of_choicepoints("pending"),
    of_choicepoints("never_used"),
    of_choicepoints("lifetime_ns"),
    of_choicepoints("max_height"),
    of_choicepoints("predicate").name(),
];

impl Choicepoints {
    fn new(analysis: &Arc<AnalysisView>) -> Self {
        let figures = (0..).zip(&analysis.profile.predicates);
        let left = figures.filter(|(_, figures)| figures.exits_nondet > 0);
        Self {
            predicates: left.map(|(index, _)| index).collect(),
            analysis: Arc::clone(analysis),
        }
    }
}

impl Source for Choicepoints {
    fn columns(&self) -> &'static [Column] {
        CHOICEPOINTS
    }

    fn rows(&self) -> usize {
        self.predicates.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let of = self.analysis.tables().predicate(self.predicates[row]);
        CHOICEPOINTS[column].cell(false, |at| ChoicepointRow::cell(&of, at))
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.predicates[row])
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        Some(self.predicates[row])
    }
}

/// Pairs of what cut and what lost its choicepoints.
#[derive(Debug)]
struct Cuts {
    analysis: Arc<AnalysisView>,
    pairs: Vec<((Caller, PredicateIndex), u64)>,
}

const fn of_cuts(name: &'static str) -> Column {
    Column::of(tables::Table::Cuts, name)
}

const CUTS: &[Column] = &[
    of_cuts("count"),
    of_cuts("cutter").name(),
    of_cuts("predicate").name(),
];

impl Cuts {
    fn new(analysis: &Arc<AnalysisView>) -> Self {
        let pairs = analysis.profile.cuts.iter();
        Self {
            pairs: pairs.map(|(&pair, &count)| (pair, count)).collect(),
            analysis: Arc::clone(analysis),
        }
    }
}

impl Source for Cuts {
    fn columns(&self) -> &'static [Column] {
        CUTS
    }

    fn rows(&self) -> usize {
        self.pairs.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let (pair, count) = self.pairs[row];
        let of = self.analysis.tables().cut(pair, count);
        CUTS[column].cell(false, |at| CutRow::cell(&of, at))
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.pairs[row].0)
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        let ((_, of), _) = self.pairs[row];
        Some(of)
    }

    fn other(&self, row: usize) -> Option<PredicateIndex> {
        match self.pairs[row].0.0 {
            Caller::Predicate(cutter) => Some(cutter),
            Caller::Root => None,
        }
    }
}
