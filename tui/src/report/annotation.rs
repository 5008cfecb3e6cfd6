//! A source file with figures on the left of its lines.

use portmortem_analyzer::Analysis;
use portmortem_analyzer::annotation::{SourceFile, SourceLine, file_shares, predicate_line};
use portmortem_analyzer::figures::SiteFigures;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::text::{percent, shorten};
use portmortem_analyzer::trace::names::printable;

use super::unit;
use crate::text_table::{TextColumn, render_keeping};

/// The source has at least so many cells of a line.
const LEAST_SOURCE: usize = 32;

/// The lines of a file; longer ones are cut at `width`. Figures are left blank beside lines without goals that called.
pub(crate) fn listing(analysis: &Analysis, source: &SourceFile, width: usize) -> String {
    let annotated = source.annotated(analysis);
    let unit = unit(analysis, Counted::Work);
    let total = analysis.work(None).ticks;
    let time = |ticks| unit.format(analysis.ns(ticks));
    let cells = |cell: &dyn Fn(&SourceLine) -> String| -> Vec<String> {
        annotated.lines.iter().map(cell).collect()
    };
    let figures = |figure: &dyn Fn(&SiteFigures) -> String| {
        cells(&|line| line.goals.as_ref().map_or_else(String::new, figure))
    };
    let counts = |heading: &str, count: fn(&SiteFigures) -> u64| {
        let values = annotated.lines.iter();
        let values: Vec<_> = values.map(|line| line.goals.as_ref().map(count)).collect();
        TextColumn::some_counts(heading, &values)
    };
    let columns = [
        TextColumn::right(
            format!("served {}", unit.name()),
            figures(&|goals| time(goals.served_ticks)),
        ),
        TextColumn::right("%", figures(&|goals| percent(goals.served_ticks, total))).dispensable(1),
        counts("calls", |goals| goals.calls),
        counts("exits", |goals| goals.exits()),
        counts("redos", |goals| goals.redos),
        counts("fails", |goals| goals.fails),
        TextColumn::right("line", cells(&|line| line.number.to_string())),
        TextColumn::left("source", cells(&|line| line.text.clone())),
    ];
    let table = render_keeping(&columns, width, LEAST_SOURCE);
    let mut rows = table.lines();
    let shares = file_shares(analysis, source);
    let mut text = format!("{}: {shares}\n", printable(source.file));
    if let Some(remark) = &annotated.remark {
        text += &format!("{}\n", printable(remark));
    }
    text += "\n";
    if let Some(headings) = rows.next() {
        text += &format!("{headings}\n");
    }
    for (row, line) in rows.zip(&annotated.lines) {
        for &predicate in &line.predicates {
            let figures = format!("  ── {}", predicate_line(analysis, predicate));
            text += &format!("{}\n", shorten(&figures, width));
        }
        text += &format!("{row}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::AtomicU64;

    use portmortem_analyzer::annotation::files;
    use portmortem_analyzer::figures::PortTotals;
    use portmortem_analyzer::text::width;
    use portmortem_analyzer::{Filters, Trace};

    use super::*;

    #[test]
    fn lines_fit_a_terminal() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/queens.pmt");
        let (trace, done) = (Trace::open(&path).unwrap(), AtomicU64::new(0));
        let analysis = Analysis::of(trace, &path, Filters::default(), &done).unwrap();
        let mut source = files(&analysis).remove(0);
        let figures = SiteFigures {
            ports: PortTotals {
                calls: 123_456_789,
                exits_det: 23_456_789,
                redos: 1_234_567,
                fails: 100_000_000,
                ..PortTotals::default()
            },
            served_ticks: analysis.profile.total_ticks(),
            ..SiteFigures::default()
        };
        source.goals.insert(47, figures);
        let whole = listing(&analysis, &source, usize::MAX);
        assert!(whole.contains(" 123,456,789  23,456,789 "), "{whole}");
        assert!(
            whole.contains("  47      sel(Row, Free, Rest),\n"),
            "{whole}"
        );
        assert!(whole.contains("\n  ── sel/3: self "), "{whole}");
        let narrow = listing(&analysis, &source, 80);
        assert!(narrow.lines().all(|line| width(line) <= 80), "{narrow}");
        assert!(
            narrow.contains(" 100.0  123M 23.5M 1.23M  100M "),
            "{narrow}"
        );
        assert!(narrow.contains(" 47     sel(Row,"), "{narrow}");
        assert_eq!(narrow.lines().count(), whole.lines().count());
    }
}
