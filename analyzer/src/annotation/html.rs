//! Annotated source files as one HTML page that needs no other file.

use std::io::{self, Write};

use super::{SourceFile, SourceLine, file_shares, predicate_line};
use crate::Analysis;
use crate::text::{TimeUnit, as_html, count, counted, percent};
use crate::trace::names::printable;

/// Lines are the warmer, the more time was served there; the share is `--heat`, from 0 to 1.
const STYLE: &str = "\
:root { color-scheme: light dark; }
body { font-family: sans-serif; margin: 1em; }
table { border-collapse: collapse; font-family: monospace; font-size: 0.9em; }
th { position: sticky; top: 0; background: Canvas; }
th, td { padding: 0 0.6em; text-align: right; white-space: pre; }
th:last-child, td:last-child { text-align: left; }
tr[style] { background: rgb(255 90 0 / calc(0.06 + 0.6 * var(--heat))); }
tr.predicate td { text-align: left; padding-top: 0.8em; font-style: italic; }
td.line { opacity: 0.6; }
.remark { font-weight: bold; }
";

/// Writes the page.
///
/// # Errors
/// If the output fails.
pub fn write(analysis: &Analysis, files: &[&SourceFile], out: &mut dyn Write) -> io::Result<()> {
    let total = analysis.work(None).ticks;
    let unit = TimeUnit::for_longest(analysis.ns(total));
    let title = as_html(&printable(&analysis.name));
    let command = printable(&analysis.trace.header().command.join(" "));
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<h1>{title}</h1>\n<p>{}: {}, {} of work. Times are of work, as recorded. \
         A line has the time served by the predicates that its goals called.</p>\n",
        as_html(&command),
        counted(analysis.events(), "event", "events"),
        unit.with_unit(analysis.ns(total)),
    )?;
    let filters = analysis.filters.filters().iter();
    for label in filters.map(|filter| filter.label(&analysis.trace)) {
        writeln!(out, "<p>{}</p>", as_html(&label))?;
    }
    if files.len() > 1 {
        writeln!(out, "<ul>")?;
        for (at, source) in files.iter().enumerate() {
            let heading = heading(analysis, source);
            writeln!(out, "<li><a href=\"#file{at}\">{heading}</a></li>")?;
        }
        writeln!(out, "</ul>")?;
    }
    for (at, source) in files.iter().enumerate() {
        writeln!(
            out,
            "<h2 id=\"file{at}\">{}</h2>",
            heading(analysis, source)
        )?;
        let annotated = source.annotated(analysis);
        if let Some(remark) = &annotated.remark {
            writeln!(
                out,
                "<p class=\"remark\">{}</p>",
                as_html(&printable(remark))
            )?;
        }
        writeln!(
            out,
            "<table>\n<thead><tr><th>served {}</th><th>%</th><th>calls</th><th>exits</th><th>redos</th><th>fails</th>\
             <th>line</th><th>source</th></tr></thead>\n<tbody>",
            unit.name()
        )?;
        for line in &annotated.lines {
            row(analysis, line, unit, total, out)?;
        }
        writeln!(out, "</tbody>\n</table>")?;
    }
    writeln!(out, "</body>\n</html>")
}

/// The name of a file and the time of its predicates.
fn heading(analysis: &Analysis, source: &SourceFile) -> String {
    let shares = file_shares(analysis, source);
    as_html(&format!("{}: {shares}", printable(source.file)))
}

fn row(
    analysis: &Analysis,
    line: &SourceLine,
    unit: TimeUnit,
    total: u64,
    out: &mut dyn Write,
) -> io::Result<()> {
    for &predicate in &line.predicates {
        let figures = as_html(&predicate_line(analysis, predicate));
        writeln!(
            out,
            "<tr class=\"predicate\"><td colspan=\"8\">{figures}</td></tr>"
        )?;
    }
    match &line.goals {
        Some(goals) => {
            let heat = (goals.served_ticks as f64 / total.max(1) as f64).min(1.0);
            write!(out, "<tr style=\"--heat: {heat:.3}\">")?;
            let cells = [
                unit.format(analysis.ns(goals.served_ticks)),
                percent(goals.served_ticks, total),
                count(goals.calls),
                count(goals.exits()),
                count(goals.redos),
                count(goals.fails),
            ];
            cells
                .iter()
                .try_for_each(|cell| write!(out, "<td>{cell}</td>"))?;
        }
        None => write!(out, "<tr>{}", "<td></td>".repeat(6))?,
    }
    let (number, source) = (line.number, as_html(&line.text));
    writeln!(
        out,
        "<td class=\"line\">{number}</td><td>{source}</td></tr>"
    )
}
