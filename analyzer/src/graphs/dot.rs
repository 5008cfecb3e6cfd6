//! The call graph for Graphviz: predicates shaded by self time, edges with calls and time served.

use std::io::{self, Write};

use super::{Graph, LeftOut, Metric};
use crate::figures::Caller;
use crate::text::{TimeUnit, count, counted, percent};
use crate::trace::names::printable;

/// Width of the edge that all time is served by, in points.
const WIDEST: f64 = 4.0;

/// Writes the predicates and edges whose inclusive or served time is large enough, and recursive
/// calls of such predicates.
///
/// # Errors
/// If the output fails.
pub fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<LeftOut> {
    let analysis = graph.analysis;
    let whole = graph.total_ticks();
    let unit = TimeUnit::for_longest(analysis.ns(whole));
    let time = |ticks| unit.with_unit(analysis.ns(ticks));
    let mut left_out = LeftOut::default();
    let figure = match graph.metric {
        Metric::NetTime => "net times",
        _ => "times as recorded",
    };
    let title = format!("{}: {}, {figure}", analysis.name, time(whole));
    writeln!(
        out,
        "digraph {} {{\n  graph [label={}, labelloc=t, fontname=\"sans-serif\"];\n  \
         node [shape=box, style=filled, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];",
        quoted(&printable(&analysis.name)),
        quoted(&printable(&title)),
    )?;
    let mut shown = vec![false; analysis.profile.predicates.len()];
    for predicate in analysis.tables().used_predicates() {
        let (own, inclusive) = graph.predicate_ticks(predicate);
        left_out.of += 1;
        if !graph.is_large(inclusive, whole) {
            left_out.rows += 1;
            continue;
        }
        shown[predicate as usize] = true;
        let calls = analysis.profile.predicates[predicate as usize].calls;
        let label = format!(
            "{}\nself {} ({} %)\nincl. {} ({} %)\n{}",
            analysis.predicate(predicate),
            time(own),
            percent(own, whole),
            time(inclusive),
            percent(inclusive, whole),
            counted(calls, "call", "calls"),
        );
        writeln!(
            out,
            "  n{predicate} [label={}, fillcolor=\"0.060 {:.3} 1.000\"];",
            quoted(&label),
            share(own, whole)
        )?;
    }
    let mut has_root = false;
    for (&(caller, callee), figures) in &analysis.profile.edges {
        let served = graph.served_ticks(caller, callee);
        let is_recursive = caller == Caller::Predicate(callee);
        left_out.of += 1;
        let ends = [caller, Caller::Predicate(callee)];
        let has_ends = ends
            .iter()
            .filter_map(|end| end.predicate())
            .all(|end| shown.get(end as usize) == Some(&true));
        if !has_ends || !(is_recursive || graph.is_large(served, whole)) {
            left_out.rows += 1;
            continue;
        }
        let from = match caller {
            Caller::Predicate(caller) => format!("n{caller}"),
            Caller::Root => {
                has_root = true;
                "root".to_owned()
            }
        };
        let calls = count(figures.calls);
        let label = if is_recursive {
            calls
        } else {
            format!("{calls}\n{}", time(served))
        };
        writeln!(
            out,
            "  {from} -> n{callee} [label={}, penwidth={:.2}];",
            quoted(&label),
            1.0 + (WIDEST - 1.0) * share(served, whole)
        )?;
    }
    if has_root {
        let name = quoted(analysis.caller(Caller::Root));
        writeln!(out, "  root [label={name}, shape=plaintext, style=solid];")?;
    }
    writeln!(out, "}}")?;
    Ok(left_out)
}

/// From 0 to 1.
fn share(part: u64, whole: u64) -> f64 {
    (part as f64 / whole.max(1) as f64).min(1.0)
}

/// A string of the language; lines are centred.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}
