//! A flame graph as one SVG file that a browser can search and zoom: the call tree, drawn by
//! inferno (Gregg 2016).

use std::io::{self, Write};

use inferno::flamegraph::{self, Options};

use super::{Graph, LeftOut, Metric, folded, stacks};
use crate::figures::counted::Counted;
use crate::figures::whole::Whole;
use crate::remarks;
use crate::trace::names::printable;

/// Writes the picture.
///
/// # Errors
/// If the output fails, or nothing has a size, or sizes are too large to be added up.
pub fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<LeftOut> {
    let (frames, left_out) = stacks::of(graph, folded::MOST_DEPTH);
    let mut names = Vec::new();
    let mut lines = Vec::new();
    let mut all = 0_u64;
    for frame in &frames {
        names.truncate(frame.depth);
        names.push(frame.name(graph));
        all = all.checked_add(frame.own).ok_or_else(too_large)?;
        if frame.own > 0 {
            let (outermost, below) = (names[0], names[1..].iter().copied());
            lines.push(folded::line(outermost, below, frame.own));
        }
    }
    let title = title(graph);
    let lines = lines.iter().map(String::as_str);
    draw(lines, &title, graph.metric, out)?;
    Ok(left_out)
}

/// The program, its trace, and what is left out.
fn title(graph: &Graph) -> String {
    let analysis = graph.analysis;
    let mut title = analysis.trace.header().command.join(" ");
    title += &format!(" ({})", analysis.name);
    if graph.counted == Counted::Work && graph.metric.is_time() {
        let whole = match &analysis.profile.net {
            Some(net) if graph.metric == Metric::NetTime => Whole::net(&analysis.trace, net),
            _ => analysis.whole(),
        };
        let left_out = remarks::left_out(analysis, &whole);
        title += &left_out.map_or_else(String::new, |parts| format!(", without {parts}"));
    }
    printable(&title)
}

/// Times of a real run fit into 64 bits.
fn too_large() -> io::Error {
    io::Error::other("nothing to draw: times of the trace are too large to be true")
}

/// Draws folded stacks, as [`folded::line`] makes them.
///
/// # Errors
/// If the output fails, or there are no stacks.
pub fn draw<'l>(
    lines: impl Iterator<Item = &'l str>,
    title: &str,
    metric: Metric,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return Err(io::Error::other(format!(
            "nothing to draw: {} is 0 in all that is looked at",
            metric.column()
        )));
    }
    let mut options = Options::default();
    options.title = title.to_owned();
    options.subtitle = Some(metric.column().to_owned());
    options.count_name = if metric.is_time() { "ns" } else { "events" }.to_owned();
    options.name_type = "Predicate:".to_owned();
    // The same picture of the same figures.
    options.deterministic = true;
    // What is too small was folded already.
    options.min_width = 0.0;
    let lines = lines.map(str::trim_end);
    flamegraph::from_lines(&mut options, lines, out)?;
    Ok(())
}
