//! Exceptions by where they were raised and caught, with what that cost.

use std::sync::Arc;

use portmortem_analyzer::listing::Thrown;
use portmortem_analyzer::tables::{Cell, SiteNames};
use portmortem_analyzer::trace::PredicateIndex;

use crate::analysis::AnalysisView;
use crate::table::integer;
use crate::table::{CellKind, ListColumn, Source, TableView, key_of};

/// The rows.
#[derive(Debug)]
pub(super) struct Exceptions {
    analysis: Arc<AnalysisView>,
    rows: Vec<(Thrown, String)>,
}

const COLUMNS: &[ListColumn] = &[
    ListColumn::new(
        "ns",
        "cost",
        CellKind::Time,
        "Time in the outermost boxes that they left.",
    ),
    ListColumn::new("count", "times", CellKind::Count, "How many."),
    ListColumn::new(
        "line",
        "raised at",
        CellKind::Text,
        "The goal that called what raised it.",
    )
    .rank(1)
    .unless_zero(),
    ListColumn::new(
        "stream",
        "stream",
        CellKind::Count,
        "Of the costliest one: its stream.",
    )
    .hidden(),
    ListColumn::new(
        "event",
        "event",
        CellKind::Count,
        "Of the costliest one: its first event.",
    )
    .hidden(),
    ListColumn::new(
        "predicate",
        "raised in",
        CellKind::Text,
        "What raised them; the same as raised.",
    )
    .hidden(),
    ListColumn::new(
        "raised",
        "raised in",
        CellKind::Name,
        "The first box that they left.",
    ),
    ListColumn::new(
        "caught",
        "caught in",
        CellKind::Name,
        "The box that they did not leave.",
    ),
];

/// What is said of exceptions that left all boxes.
const UNCAUGHT: &str = "<uncaught>";

/// Columns of the costliest one.
const STREAM: usize = 3;
const EVENT: usize = 4;

impl Exceptions {
    pub(super) fn new(analysis: &Arc<AnalysisView>, thrown: Vec<Thrown>) -> Self {
        let names = SiteNames::of(&analysis.trace);
        let names: Vec<&str> = names.names().map(|(place, _)| place).collect();
        let place = |site: Option<u32>| names.get(site? as usize).map(|place| (*place).to_owned());
        let rows = thrown.into_iter();
        let rows = rows.map(|thrown| {
            let place = place(thrown.site).unwrap_or_default();
            (thrown, place)
        });
        Self {
            rows: rows.collect(),
            analysis: Arc::clone(analysis),
        }
    }
}

/// Stream and number of the costliest event of the row that the cursor is on.
pub(super) fn costliest(table: &TableView) -> Option<(u32, u64)> {
    let row = table.row()?;
    let cell = |column| match table.source().cell(row, column) {
        Cell::Integer(number) => u64::try_from(number).ok(),
        _ => None,
    };
    Some((u32::try_from(cell(STREAM)?).ok()?, cell(EVENT)?))
}

impl Source for Exceptions {
    fn columns(&self) -> &'static [ListColumn] {
        COLUMNS
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let (thrown, place) = &self.rows[row];
        match COLUMNS[column].name {
            "ns" => integer(self.analysis.ns(thrown.ticks)),
            "count" => integer(thrown.count),
            "line" if place.is_empty() => Cell::Missing,
            "line" => Cell::Text(place),
            "stream" => integer(thrown.costliest.0.into()),
            "event" => integer(thrown.costliest.1),
            "raised" | "predicate" => Cell::Text(self.analysis.predicate(thrown.raised)),
            _ => Cell::Text(match thrown.caught {
                Some(caught) => self.analysis.predicate(caught),
                None => UNCAUGHT,
            }),
        }
    }

    fn key(&self, row: usize) -> u64 {
        let (thrown, _) = &self.rows[row];
        key_of((thrown.raised, thrown.site, thrown.caught))
    }

    /// Uncaught ones come first.
    fn group(&self, row: usize) -> u8 {
        u8::from(self.rows[row].0.caught.is_some())
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        Some(self.rows[row].0.raised)
    }

    fn other(&self, row: usize) -> Option<PredicateIndex> {
        self.rows[row].0.caught
    }
}
