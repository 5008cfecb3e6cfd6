//! A report as CSV, JSON or facts of Prolog.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use portmortem_analyzer::Analysis;
use portmortem_analyzer::export::Csv;
use portmortem_analyzer::export::json::Escaped;
use portmortem_analyzer::export::prolog::{PrologFacts, WrittenTerm};
use portmortem_analyzer::tables::{
    EdgeRow, LatencyRow, PredicateRow, Row, SiteLatencyRow, SlowestRow, Table,
};
use portmortem_analyzer::trace::PredicateIndex;

use super::PrintedRows;
use crate::report::remarks;

/// The table of predicates alone.
pub(super) fn csv(rows: &PrintedRows, out: &mut Vec<u8>) -> Result<()> {
    let columns = rows.of_file();
    let names = columns.iter().map(|&at| PredicateRow::ALL[at].name);
    let mut writer = Csv::with_names(names, Box::new(out))?;
    for &index in rows.shown(usize::MAX) {
        let of = rows.tables.predicate(index);
        let cells = columns.iter().map(|&at| PredicateRow::cell(&of, at));
        writer.row(&cells.collect::<Vec<_>>())?;
    }
    Ok(writer.finish()?)
}

/// What stands beside the rows of predicates.
struct BesideRows<'t> {
    edges: Vec<EdgeRow<'t>>,
    /// Of predicates that were chosen. The events are read again for these.
    calls: Option<CallsFile<'t>>,
}

struct CallsFile<'t> {
    latencies: Vec<LatencyRow<'t>>,
    goals: Vec<SiteLatencyRow<'t>>,
    slowest: Vec<SlowestRow<'t>>,
}

impl<'t> BesideRows<'t> {
    fn of(analysis: &Analysis, rows: &PrintedRows<'t>) -> Self {
        let shown = rows.shown(usize::MAX).iter();
        let names = shown.map(|&index| analysis.trace.predicate_name(index));
        let names: BTreeSet<&str> = names.collect();
        let is = |name: &str| names.contains(name);
        let edges = rows.tables.edges();
        let edges = edges.filter(|edge| !rows.is_chosen || is(edge.caller) || is(edge.callee));
        let calls = || CallsFile {
            latencies: rows
                .tables
                .latencies()
                .filter(|row| is(row.predicate))
                .collect(),
            goals: rows
                .tables
                .site_latencies()
                .filter(|row| is(row.callee))
                .collect(),
            slowest: rows
                .tables
                .slowest()
                .filter(|row| is(row.predicate))
                .collect(),
        };
        Self {
            edges: edges.collect(),
            calls: rows.is_chosen.then(calls),
        }
    }
}

/// The table of predicates, the edges and single calls of those that were chosen, and what was lost
/// or distorted.
pub(super) fn json(analysis: &Analysis, rows: &PrintedRows, out: &mut impl Write) -> Result<()> {
    let columns = rows.of_file();
    let object = |&index: &PredicateIndex| {
        let of = rows.tables.predicate(index);
        let fields = columns.iter().map(|&at| {
            let value = serde_json::to_value(PredicateRow::cell(&of, at));
            Ok((PredicateRow::ALL[at].name.to_owned(), value?))
        });
        fields.collect::<Result<serde_json::Map<_, _>>>()
    };
    let shown = rows.shown(usize::MAX).iter();
    let objects = shown.map(object).collect::<Result<Vec<_>>>()?;
    let beside = BesideRows::of(analysis, rows);
    let (remarks, incomplete) = remarks(analysis);
    let mut report = serde_json::json!({
        "predicates": objects,
        "edges": beside.edges,
        "incomplete": incomplete,
        "remarks": remarks,
    });
    if let Some(calls) = beside.calls {
        report["latencies"] = serde_json::to_value(calls.latencies)?;
        report["site_latencies"] = serde_json::to_value(calls.goals)?;
        report["slowest"] = serde_json::to_value(calls.slowest)?;
    }
    serde_json::to_writer_pretty(Escaped(&mut *out), &report)?;
    writeln!(out)?;
    Ok(())
}

/// The same as facts. What a key of the object is there is the name of facts here.
pub(super) fn prolog(analysis: &Analysis, rows: &PrintedRows, out: &mut impl Write) -> Result<()> {
    let mut facts = PrologFacts::new();
    let columns = rows.of_file();
    let name = Table::Predicates.name();
    facts.declare(name, columns.iter().map(|&at| PredicateRow::ALL[at].name));
    for &index in rows.shown(usize::MAX) {
        let of = rows.tables.predicate(index);
        let cells = columns.iter().map(|&at| PredicateRow::cell(&of, at));
        facts.fact(name, &cells.map(WrittenTerm::from).collect::<Vec<_>>());
    }
    let beside = BesideRows::of(analysis, rows);
    add(&mut facts, Table::Edges.name(), beside.edges);
    if let Some(calls) = beside.calls {
        add(&mut facts, Table::Latencies.name(), calls.latencies);
        add(&mut facts, Table::SiteLatencies.name(), calls.goals);
        add(&mut facts, Table::Slowest.name(), calls.slowest);
    }
    add_remarks(analysis, &mut facts);
    Ok(out.write_all(facts.text().as_bytes())?)
}

fn add<'t, R: Row<'t>>(facts: &mut PrologFacts, name: &str, rows: impl IntoIterator<Item = R>) {
    facts.declare(name, R::COLUMNS.iter().map(|column| column.name));
    for row in rows {
        row.with_cells(|cells| {
            let terms = cells.iter().copied().map(WrittenTerm::from);
            facts.fact(name, &terms.collect::<Vec<_>>());
        });
    }
}

fn add_remarks(analysis: &Analysis, facts: &mut PrologFacts) {
    let (remarks, incomplete) = remarks(analysis);
    facts.declare("incomplete", ["incomplete"]);
    facts.fact("incomplete", &[WrittenTerm::Bool(incomplete)]);
    facts.declare("remarks", ["remark"]);
    for remark in &remarks {
        facts.fact("remarks", &[WrittenTerm::Text(remark)]);
    }
}

/// Rows of a table.
pub(super) fn csv_of<'t, R: Row<'t>>(rows: &[R::Of], out: &mut Vec<u8>) -> Result<()> {
    let names = R::COLUMNS.iter().map(|column| column.name);
    let mut writer = Csv::with_names(names, Box::new(out))?;
    for row in rows {
        R::new(row).with_cells(|cells| writer.row(cells))?;
    }
    Ok(writer.finish()?)
}

/// Rows of the table of this name, and what was lost or distorted.
pub(super) fn json_of<'t, R: Row<'t>>(
    analysis: &Analysis,
    name: &str,
    rows: &[R::Of],
    out: &mut Vec<u8>,
) -> Result<()> {
    let (remarks, incomplete) = remarks(analysis);
    let report = serde_json::json!({
        name: rows.iter().map(R::new).collect::<Vec<_>>(),
        "incomplete": incomplete,
        "remarks": remarks,
    });
    serde_json::to_writer_pretty(Escaped(&mut *out), &report)?;
    writeln!(out)?;
    Ok(())
}

/// The same as facts.
pub(super) fn prolog_of<'t, R: Row<'t>>(
    analysis: &Analysis,
    name: &str,
    rows: &[R::Of],
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut facts = PrologFacts::new();
    add(&mut facts, name, rows.iter().map(R::new));
    add_remarks(analysis, &mut facts);
    Ok(out.write_all(facts.text().as_bytes())?)
}
