//! The columns of a picture as a table.

use super::pictures::Picture;
use crate::analysis::AnalysisView;

/// A row for every column that was read.
pub(super) fn csv(analysis: &AnalysisView, picture: &Picture) -> Option<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer
        .write_record([
            "start_ns",
            "end_ns",
            "first_event",
            "events",
            "calls",
            "last_calls",
            "exits",
            "redos",
            "fails",
            "exceptions",
            "cuts",
            "paused_ns",
            "gap_ns",
            "lost_events",
        ])
        .ok()?;
    let clock = analysis.trace.clock();
    for (at, column) in (0..)
        .zip(&picture.columns)
        .filter(|(_, column)| column.read)
    {
        let counts = &column.counts;
        let first = column.first_event;
        let numbers = [
            counts.events,
            counts.calls,
            counts.last_calls,
            counts.exits,
            counts.redos,
            counts.fails,
            counts.exceptions,
            counts.cuts,
            analysis.ns(column.paused_ticks),
            analysis.ns(column.gap_ticks),
            counts.lost,
        ];
        let ends = [at, at + 1].map(|at| {
            clock
                .since_start_ns(picture.window.start_of(at))
                .to_string()
        });
        let row = ends.into_iter();
        let row = row.chain([first.map_or_else(String::new, |first| first.to_string())]);
        writer
            .write_record(row.chain(numbers.map(|number| number.to_string())))
            .ok()?;
    }
    String::from_utf8(writer.into_inner().ok()?).ok()
}
