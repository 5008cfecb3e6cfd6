//! Bars, shares and times of a screen are of one whole: on all samples, with and without what is no
//! work, all screens that divide it come to the same sum.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::{Analysis, Filters};
use portmortem_screens::app::Request;
use portmortem_screens::{App, ThemeName};
use support::{keys, made, sample, watchdog};

/// All samples, those of documents, too.
fn samples() -> Vec<PathBuf> {
    let directories = ["", "../docs/questions", "../docs/guide"];
    let mut all = vec![made::program()];
    for directory in directories {
        let entries = std::fs::read_dir(sample(directory)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        all.extend(paths.filter(|path| path.extension().is_some_and(|kind| kind == "pmt")));
    }
    assert!(all.len() > 15, "{all:?}");
    all
}

/// What is copied of the whole view after these keys; empty if there is nothing.
fn copied(app: &mut App, typed: &str) -> String {
    keys(app, typed);
    app.requests();
    keys(app, "Y");
    match app.requests().pop() {
        Some(Request::Copy(text)) => text,
        _ => String::new(),
    }
}

/// The numbers of a column of a table, if it has that.
fn column(table: &str, name: &str) -> Option<Vec<f64>> {
    let (heads, rows) = table.split_once('\n')?;
    let at = heads.split(',').position(|head| head == name)?;
    let cell = |row: &str| row.split(',').nth(at).and_then(|cell| cell.parse().ok());
    Some(rows.lines().map(|row| cell(row).unwrap_or(0.0)).collect())
}

/// Each row is rounded.
fn is_sum(path: &Path, what: &str, parts: &[f64], whole: f64, rounded: f64) {
    let sum: f64 = parts.iter().sum();
    let allowed = rounded * (parts.len() + 1) as f64;
    let path = path.display();
    assert!(
        (sum - whole).abs() <= allowed,
        "{path}: {what}: {sum}, not {whole}"
    );
}

#[test]
fn all_screens_divide_the_same_whole() {
    for path in samples() {
        let analysis = Analysis::of(
            Trace::open(&path).unwrap(),
            &path,
            Filters::default(),
            &AtomicU64::new(0),
        );
        let analysis = analysis.unwrap();
        let whole = analysis.whole();
        watchdog::begin(&path.display().to_string());
        let trace = Trace::open(&path).unwrap();
        let app = App::new(trace, &path, ThemeName::Dark, Filters::default());
        let mut app = app.without_sources();
        app.wait();
        if copied(&mut app, "").contains("self_comp_ns") {
            // Of streams only recorded times are known.
            keys(&mut app, "C");
        }
        for (typed, ticks) in [("", whole.work_ticks), ("1 w", whole.all_ticks())] {
            let ns = analysis.ns(ticks) as f64;
            let predicates = copied(&mut app, typed);
            let is = |what: &str, parts: &[f64], whole, rounded| {
                is_sum(&path, &format!("{typed} {what}"), parts, whole, rounded);
            };
            is("1 self", &column(&predicates, "self_ns").unwrap(), ns, 1.0);
            let shares = column(&predicates, "self_share").unwrap();
            is("1 share", &shares, 100.0, 0.06);
            let goals = copied(&mut app, "t");
            let goals = column(&goals, "share").unwrap_or_default();
            assert!(goals.iter().all(|share| *share <= 100.0), "{goals:?}");
            let roots = copied(&mut app, "t t 3 -");
            is(
                "3 inclusive",
                &column(&roots, "inclusive_ns").unwrap(),
                ns,
                1.0,
            );
            is("3 share", &column(&roots, "share").unwrap(), 100.0, 0.06);
            let stacks = copied(&mut app, "8");
            let sizes = stacks.lines().filter_map(|line| line.rsplit(' ').next());
            let sizes: Vec<f64> = sizes.map(|size| size.parse().unwrap()).collect();
            is("8", &sizes, ns, 1.0);
            // The rows are the same whatever is shown.
            let pairs = copied(&mut app, "4");
            let undone = column(&pairs, "undone_ns").unwrap_or_default();
            let all = analysis.ns(portmortem_analyzer::remarks::undone_ticks(
                &analysis.profile,
            ));
            is("4 undone", &undone, all as f64, 1.0);
            if all > 0 {
                is("4 share", &column(&pairs, "share").unwrap(), 100.0, 0.06);
            }
            let streams = copied(&mut app, "9 t");
            let work = analysis.ns(whole.work_ticks) as f64;
            is("9 work", &column(&streams, "work_ns").unwrap(), work, 1.0);
            is(
                "9 share",
                &column(&streams, "work_share").unwrap(),
                100.0,
                0.06,
            );
            let traced = analysis.ns(whole.all_ticks()) as f64;
            is(
                "9 traced",
                &column(&streams, "self_ns").unwrap(),
                traced,
                1.0,
            );
            let events = column(&streams, "events").unwrap();
            is("9 events", &events, analysis.events() as f64, 0.0);
            keys(&mut app, "t 1");
        }
    }
}
