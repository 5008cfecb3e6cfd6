//! The goals of clauses as a list: which line costs what.

use std::sync::{Arc, LazyLock};

use portmortem_analyzer::figures::Caller;
use portmortem_analyzer::tables::{self, Cell, Row as _, SiteData, SiteNames, SiteRow};
use portmortem_analyzer::trace::PredicateIndex;

use crate::analysis::AnalysisView;
use crate::screen::Place;
use crate::table::{CellKind, ListColumn, Source, TableView, key_of};

/// Goals that made calls.
#[derive(Debug)]
pub(super) struct GoalRows {
    analysis: Arc<AnalysisView>,
    rows: Vec<ListedGoal>,
}

#[derive(Debug)]
struct ListedGoal {
    caller: Caller,
    callee: PredicateIndex,
    key: u64,
    cells: Vec<i64>,
    /// Where it is: file and line.
    place: String,
    name: String,
}

const fn of(name: &'static str) -> ListColumn {
    ListColumn::of(tables::Table::Sites, name)
}

/// Those with a number of [`SiteRow`], in their order.
const NUMBERS: [&str; 8] = [
    "served_ns",
    "calls",
    "fails",
    "undone_ns",
    "redos",
    "exceptions",
    "exits",
    "cuts",
];

static COLUMNS: LazyLock<Vec<ListColumn>> = LazyLock::new(|| {
    vec![
        of("served_ns").shown_as(
            "share",
            "served %",
            CellKind::Share,
            "Work in what it calls, of all work; with w time, of all time.",
        ),
        of("served_ns"),
        of("calls"),
        of("fails").rank(2),
        of("undone_ns").rank(4).unless_zero(),
        of("redos").rank(3).unless_zero(),
        of("exceptions").rank(4).unless_zero(),
        of("exits").rank(6),
        of("cuts").rank(7).unless_zero(),
        ListColumn::new(
            "place",
            "line",
            CellKind::Text,
            "File and line of the goal.",
        )
        .rank(1),
        ListColumn::new(
            "goal",
            "goal",
            CellKind::Name,
            "Predicate, its clause and the goal in that, and what it calls.",
        ),
    ]
});

impl GoalRows {
    pub(super) fn new(analysis: &Arc<AnalysisView>) -> Self {
        let names = SiteNames::of(&analysis.trace);
        let places: Vec<&str> = names.names().map(|(place, _)| place).collect();
        let tables = analysis.tables();
        let goals = tables.site_list().into_iter();
        let counted = analysis.counted();
        let is_shown = |goal: &SiteData| {
            counted.shows(&analysis.trace, goal.callee, goal.figures.served_ticks)
        };
        let goals = goals.filter(is_shown);
        let rows = goals.map(|goal| ListedGoal::of(analysis, &goal, &places));
        Self {
            rows: rows.collect(),
            analysis: Arc::clone(analysis),
        }
    }
}

/// Where the goal is that the cursor of a list of goals is on.
pub(super) fn place(table: &TableView, analysis: &AnalysisView) -> Option<Place> {
    let row = table.row()?;
    let (callee, caller) = (table.predicate()?, table.source().other(row));
    let key = table.source().key(row);
    let goals = analysis.tables().site_list();
    let goal = goals.iter().find(|goal| key_of_goal(goal) == key)?;
    Some(Place {
        predicate: caller.unwrap_or(callee),
        line: goal.line(),
        callee: Some(callee),
    })
}

fn key_of_goal(goal: &SiteData) -> u64 {
    key_of((goal.caller, goal.callee, goal.site))
}

impl ListedGoal {
    fn of(analysis: &AnalysisView, goal: &SiteData, places: &[&str]) -> Self {
        let info = goal.info();
        let clause = info.map(|info| (info.clause, info.goal));
        let short = |caller: Caller| match caller {
            Caller::Predicate(index) => analysis.short_name(index).into_owned(),
            Caller::Root => analysis.caller(caller).to_owned(),
        };
        let number = clause.map_or_else(String::new, |(clause, goal)| format!(" #{clause}.{goal}"));
        let cell = |name: &'static str| {
            let cell = of(name).cell(false, |at| SiteRow::cell(goal, at));
            match cell {
                Cell::Integer(number) => number,
                _ => 0,
            }
        };
        let place = goal.site.and_then(|site| places.get(site as usize));
        Self {
            caller: goal.caller,
            callee: goal.callee,
            key: key_of_goal(goal),
            cells: NUMBERS.into_iter().map(cell).collect(),
            place: place.map_or_else(String::new, |place| (*place).to_owned()),
            name: format!(
                "{}{number} > {}",
                short(goal.caller),
                analysis.short_name(goal.callee)
            ),
        }
    }
}

impl Source for GoalRows {
    fn columns(&self) -> &'static [ListColumn] {
        &COLUMNS
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let goal = &self.rows[row];
        match COLUMNS[column].name {
            "goal" => Cell::Text(&goal.name),
            "place" if goal.place.is_empty() => Cell::Missing,
            "place" => Cell::Text(&goal.place),
            "share" => Cell::Integer(goal.cells[0]),
            name => match NUMBERS.iter().position(|number| *number == name) {
                Some(at) => Cell::Integer(goal.cells[at]),
                None => Cell::Missing,
            },
        }
    }

    fn key(&self, row: usize) -> u64 {
        self.rows[row].key
    }

    /// Time served is known as it was recorded.
    fn whole(&self) -> u64 {
        let counted = self.analysis.counted();
        self.analysis.ns(self.analysis.counted_ticks(counted, None))
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        Some(self.rows[row].callee)
    }

    fn other(&self, row: usize) -> Option<PredicateIndex> {
        self.rows[row].caller.predicate()
    }
}
