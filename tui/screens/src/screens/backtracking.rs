//! Screen 4: who fails into whom, who leaves choicepoints, who cuts them. Three tables, one at a time.

use std::sync::Arc;

use portmortem_analyzer::figures::Caller;
use portmortem_analyzer::tables::Cell;
use portmortem_analyzer::trace::PredicateIndex;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Effect, Screen, how_many, integer};
use crate::analysis::Analysis;
use crate::keys::{Action, Binding, bind};
use crate::table::{Column, Kind, Source, Table, key_of};
use crate::theme::Theme;

/// The screen.
#[derive(Debug, Default)]
pub(super) struct Backtracking {
    tables: Vec<Table>,
    shown: usize,
}

/// Name of each table, what its rows are, the file that it is exported to, the column it is sorted by.
const TABLES: [(&str, &str, &str, &str); 3] = [
    ("who fails into whom", "pair", "backtracks", "undone_ns"),
    ("choicepoints", "predicate", "choicepoints", "left"),
    ("cut by whom", "pair", "cuts", "count"),
];

const KEYS: &[Binding] = &[bind(
    &["t"],
    Action::NextTable,
    "next table",
    "who fails into whom; choicepoints; cut by whom",
)];

impl Screen for Backtracking {
    fn bindings(&self) -> &'static [Binding] {
        KEYS
    }

    fn follow(&mut self, analysis: &Arc<Analysis>) {
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
            Action::Enter => self.predicate().map_or(Effect::Done, Effect::Open),
            _ => Effect::Unused,
        }
    }

    fn table(&self) -> Option<&Table> {
        self.tables.get(self.shown)
    }

    fn table_mut(&mut self) -> Option<&mut Table> {
        self.tables.get_mut(self.shown)
    }

    fn status(&self) -> String {
        let what = TABLES[self.shown].1;
        self.table()
            .map_or_else(String::new, |table| how_many(table, what))
    }

    fn file_name(&self) -> &'static str {
        TABLES[self.shown].2
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let mut x = area.x + 1;
        for (at, (name, ..)) in TABLES.iter().enumerate() {
            let (text, style) = if at == self.shown {
                (format!("[{name}]"), theme.subject)
            } else {
                (format!(" {name} "), theme.text)
            };
            let room = area.right().saturating_sub(x).into();
            (x, _) = buf.set_stringn(x, area.y, text, room, style);
            x += 1;
        }
        let below = Rect {
            y: area.y + 1,
            height: area.height.saturating_sub(1),
            ..area
        };
        if let Some(table) = self.table_mut() {
            table.draw(below, buf, theme);
        }
    }
}

/// Pairs of what failed and what was re-entered.
#[derive(Debug)]
struct Backtracks {
    analysis: Arc<Analysis>,
    pairs: Vec<(Caller, PredicateIndex, u64, u64)>,
}

const BACKTRACKS: &[Column] = &[
    Column::new(
        "share",
        "of undone",
        Kind::Share,
        "undone time, of all that was undone",
    ),
    Column::new(
        "undone_ns",
        "undone",
        Kind::Time,
        "time of work thrown away",
    ),
    Column::new("count", "times", Kind::Count, "how many times"),
    Column::new(
        "failed",
        "what failed",
        Kind::Name,
        "what failed, or in what something untraced did",
    ),
    Column::new(
        "resumed",
        "into what",
        Kind::Name,
        "what was re-entered then",
    ),
];

impl Backtracks {
    fn new(analysis: &Arc<Analysis>) -> Self {
        let pairs = analysis.profile.backtracks.iter();
        let pairs = pairs.map(|(&(failed, resumed), figures)| {
            (failed, resumed, figures.count, figures.undone_ticks)
        });
        Self {
            pairs: pairs.collect(),
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
        let (failed, resumed, count, undone) = self.pairs[row];
        match BACKTRACKS[column].name {
            "count" => integer(count),
            "failed" => Cell::Text(self.analysis.caller(failed)),
            "resumed" => Cell::Text(self.analysis.predicate(resumed)),
            _ => {
                let undone = self.analysis.recorded(undone);
                undone.map_or(Cell::Missing, integer)
            }
        }
    }

    fn key(&self, row: usize) -> u64 {
        let (failed, resumed, ..) = self.pairs[row];
        key_of((failed, resumed))
    }

    fn whole(&self) -> u64 {
        let undone = self.pairs.iter().map(|&(.., undone)| undone);
        self.analysis.ns(undone.fold(0, u64::saturating_add))
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        match self.pairs[row].0 {
            Caller::Predicate(failed) => Some(failed),
            Caller::Root => Some(self.pairs[row].1),
        }
    }
}

/// Predicates that left choicepoints.
#[derive(Debug)]
struct Choicepoints {
    analysis: Arc<Analysis>,
    predicates: Vec<PredicateIndex>,
}

const CHOICEPOINTS: &[Column] = &[
    Column::new("left", "left", Kind::Count, "exits that left a choicepoint"),
    Column::new(
        "redone",
        "redone",
        Kind::Count,
        "those that were backtracked into",
    ),
    Column::new("cut", "cut", Kind::Count, "those that were cut"),
    Column::new(
        "pending",
        "pending",
        Kind::Count,
        "those that were there at the end",
    ),
    Column::new(
        "never_used",
        "never used",
        Kind::Count,
        "cut + pending: never backtracked into",
    ),
    Column::new(
        "lifetime_ns",
        "lived",
        Kind::Time,
        "how long they lived, all together",
    ),
    Column::new(
        "max_height",
        "height",
        Kind::Count,
        "most choicepoints at once, one of its own on top",
    ),
    Column::new("predicate", "predicate", Kind::Name, "module:name/arity"),
];

impl Choicepoints {
    fn new(analysis: &Arc<Analysis>) -> Self {
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
        let index = self.predicates[row];
        let figures = &self.analysis.profile.predicates[index as usize];
        match CHOICEPOINTS[column].name {
            "left" => integer(figures.exits_nondet),
            "redone" => integer(figures.redos),
            "cut" => integer(figures.cuts),
            "pending" => integer(figures.pending),
            "never_used" => integer(figures.cuts.saturating_add(figures.pending)),
            "lifetime_ns" => {
                let lived = self.analysis.recorded(figures.lifetime_ticks);
                lived.map_or(Cell::Missing, integer)
            }
            "max_height" => integer(figures.max_height),
            _ => Cell::Text(self.analysis.predicate(index)),
        }
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
    analysis: Arc<Analysis>,
    pairs: Vec<(Caller, PredicateIndex, u64)>,
}

const CUTS: &[Column] = &[
    Column::new("count", "cut", Kind::Count, "choicepoints cut"),
    Column::new("cutter", "cut by", Kind::Name, "what was active"),
    Column::new(
        "predicate",
        "choicepoints of",
        Kind::Name,
        "whose choicepoints they were",
    ),
];

impl Cuts {
    fn new(analysis: &Arc<Analysis>) -> Self {
        let pairs = analysis.profile.cuts.iter();
        Self {
            pairs: pairs
                .map(|(&(cutter, of), &count)| (cutter, of, count))
                .collect(),
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
        let (cutter, of, count) = self.pairs[row];
        match CUTS[column].name {
            "count" => integer(count),
            "cutter" => Cell::Text(self.analysis.caller(cutter)),
            _ => Cell::Text(self.analysis.predicate(of)),
        }
    }

    fn key(&self, row: usize) -> u64 {
        let (cutter, of, _) = self.pairs[row];
        key_of((cutter, of))
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        Some(self.pairs[row].1)
    }
}
