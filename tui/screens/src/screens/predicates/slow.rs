//! The slowest calls of all predicates as one list: which call of what took unusually long.
//!
//! Times of single calls are as recorded, with all that passes in them, waiting, too. Of each
//! predicate the slowest ones are known, so that a recursion does not fill the list.

use std::borrow::Cow;
use std::sync::Arc;

use portmortem_analyzer::calls::Calls;
use portmortem_analyzer::calls::figures::SlowCall;
use portmortem_analyzer::sentences::place;
use portmortem_analyzer::tables::{self, Cell};
use portmortem_analyzer::trace::PredicateIndex;

use crate::analysis::AnalysisView;
use crate::screen::EventTarget;
use crate::screen::calls::event_of;
use crate::table::integer;
use crate::table::{CellKind, ListColumn, Source, TableView, key_of};

/// The calls.
#[derive(Debug)]
pub(super) struct SlowCalls {
    analysis: Arc<AnalysisView>,
    rows: Vec<SlowRow>,
}

#[derive(Debug)]
struct SlowRow {
    predicate: PredicateIndex,
    call: SlowCall,
    /// Calls of the predicate whose time is known, and how long the one in the middle took, in ns.
    calls: u64,
    usual_ns: u64,
    /// Where it was called from.
    place: String,
}

const fn of(name: &'static str) -> ListColumn {
    ListColumn::of(tables::Table::Slowest, name)
}

const fn columns_with(stream: ListColumn) -> [ListColumn; 9] {
    [
        of("ns"),
        ListColumn::new(
            "times",
            "× usual",
            CellKind::Count,
            "How many times as long as the usual call; = compares the two.",
        ),
        ListColumn::new(
            "usual_ns",
            "usual",
            CellKind::Time,
            "The usual call: the middle one by time; roughly where there are many.",
        )
        .own_unit()
        .rank(3),
        ListColumn::new(
            "calls",
            "of calls",
            CellKind::Count,
            "Calls whose time is known.",
        )
        .rank(2),
        of("at_ns").own_unit().rank(1),
        stream.rank(1),
        of("event").rank(4),
        ListColumn::new(
            "called_from",
            "called from",
            CellKind::Text,
            "The goal that made the call, or the predicate that called.",
        )
        .rank(4),
        of("predicate").name(),
    ]
}

/// Of a trace with several streams, and with one.
const COLUMNS: &[ListColumn] = &columns_with(of("stream"));
const OF_ONE_STREAM: &[ListColumn] = &columns_with(of("stream").hidden());

impl SlowCalls {
    /// Those that are known.
    pub(super) fn new(analysis: &Arc<AnalysisView>) -> Self {
        let known = analysis.known_calls();
        let predicates = known.into_iter().flat_map(Calls::predicates);
        let mut rows = Vec::new();
        for (predicate, figures) in predicates {
            let usual_ns = figures.usual_ns(|ticks| analysis.ns(ticks)).unwrap_or(0);
            for call in &figures.slowest {
                rows.push(SlowRow {
                    predicate,
                    call: *call,
                    calls: figures.timed,
                    usual_ns,
                    place: place(analysis, call.caller, call.site),
                });
            }
        }
        Self {
            rows,
            analysis: Arc::clone(analysis),
        }
    }
}

/// The call that the cursor of a list of them is on.
pub(super) fn event(table: &TableView, analysis: &AnalysisView) -> Option<EventTarget> {
    let row = table.row()?;
    let cell = |name: &str| {
        let columns = table.source().columns();
        let at = columns.iter().position(|column| column.name == name)?;
        match table.source().cell(row, at) {
            Cell::Integer(number) => u64::try_from(number).ok(),
            _ => None,
        }
    };
    let stream = u32::try_from(cell("stream")?).ok()?;
    event_of(analysis, stream, cell("event")?)
}

impl Source for SlowCalls {
    fn columns(&self) -> &'static [ListColumn] {
        match self.analysis.trace.streams().len() {
            0 | 1 => OF_ONE_STREAM,
            _ => COLUMNS,
        }
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        let row = &self.rows[row];
        match COLUMNS[column].name {
            "times" if row.usual_ns == 0 => Cell::Missing,
            "times" => integer(self.analysis.ns(row.call.ticks) / row.usual_ns),
            "usual_ns" => integer(row.usual_ns),
            "calls" => integer(row.calls),
            "called_from" => Cell::Text(&row.place),
            "ns" => integer(self.analysis.ns(row.call.ticks)),
            "stream" => integer(row.call.stream.into()),
            "event" => integer(row.call.event),
            "at_ns" => integer(self.analysis.trace.clock().since_start_ns(row.call.tick)),
            _ => Cell::Text(self.analysis.predicate(row.predicate)),
        }
    }

    fn key(&self, row: usize) -> u64 {
        let call = self.rows[row].call;
        key_of((call.stream, call.event))
    }

    fn is_left_out(&self, row: usize) -> bool {
        self.analysis.leaves_out(self.rows[row].predicate)
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        Some(self.rows[row].predicate)
    }

    fn short_name(&self, row: usize) -> Option<Cow<'_, str>> {
        self.analysis.module()?;
        Some(self.analysis.short_name(self.rows[row].predicate))
    }

    fn about_names(&self) -> Option<String> {
        self.analysis.module().map(|module| format!("of {module}"))
    }
}
