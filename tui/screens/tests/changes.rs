//! Several recordings of a side tell what of a change is noise.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use portmortem_analyzer::Filters;
use portmortem_analyzer::trace::Trace;
use portmortem_screens::{App, ThemeName};
use support::{keys, picture, sample, text, watchdog};

/// Screen 0 of a recording beside others.
fn shown(after: &str, beside: &[&str], before: &[&str]) -> String {
    let path = |name: &&str| sample(&format!("../docs/questions/{name}"));
    watchdog::begin(after);
    let trace = Trace::open(&path(&after)).unwrap();
    let app = App::new(trace, &path(&after), ThemeName::Dark, Filters::default());
    let app = app.compared_with(before.iter().map(path));
    let mut app = app.beside(beside.iter().map(path)).without_sources();
    app.wait();
    keys(&mut app, "0");
    text(&picture(&mut app, 140, 40))
}

/// Whether noise has a column, in whatever unit.
fn has_column(shown: &str) -> bool {
    let heads = ["noise ns", "noise µs", "noise ms", "noise s"];
    heads.iter().any(|head| shown.contains(head))
}

#[test]
fn what_recordings_of_a_side_differ_by_is_noise() {
    // Those before take less and more than the one after.
    let several = shown("orders200.pmt", &[], &["orders100.pmt", "orders400.pmt"]);
    let totals = several.lines().nth(3).unwrap();
    assert!(totals.contains(" within the noise"), "{totals}");
    assert!(totals.contains("(2 and 1 runs)"), "{totals}");
    assert!(has_column(&several), "{several}");
    let verdicts = several.lines().filter(|line| line.contains(" noise "));
    assert!(verdicts.count() > 2, "{several}");
    // One of each side differs or does not.
    let one = shown("orders200.pmt", &[], &["orders400.pmt"]);
    let totals = one.lines().nth(3).unwrap();
    assert!(
        totals.contains("% better") && totals.contains("noise unknown"),
        "{totals}"
    );
    assert!(!has_column(&one), "{one}");
}

#[test]
fn what_is_beyond_the_noise_is_told() {
    let shown = shown(
        "orders50.pmt",
        &["orders100.pmt"],
        &["orders300.pmt", "orders400.pmt", "orders400.pmt"],
    );
    let totals = shown.lines().nth(3).unwrap();
    assert!(totals.contains("% better · noise "), "{totals}");
    assert!(totals.contains("(3 and 2 runs)"), "{totals}");
    assert!(
        shown.lines().any(|line| line.contains(" better ")),
        "{shown}"
    );
}
