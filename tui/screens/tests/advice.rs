//! Advice: where it opens, where Enter leads, and its evidence on the screen of the predicate.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use portmortem_analyzer::Filters;
use portmortem_analyzer::trace::Trace;
use portmortem_screens::app::Request;
use portmortem_screens::screens::ScreenId;
use portmortem_screens::{App, ThemeName};
use support::{key, keys, picture, sample, text, watchdog};

/// The shop of `docs/questions`, with its source.
fn shop() -> App {
    let path = sample("../docs/questions/shop.pmt");
    watchdog::begin("shop.pmt");
    let trace = Trace::open(&path).unwrap();
    let mut app = App::new(trace, &path, ThemeName::Dark, Filters::default());
    app.wait();
    app
}

/// What the cursor is on, as the screen copies it: the last cell.
fn here(app: &mut App) -> String {
    keys(app, "y");
    match &app.requests()[..] {
        [Request::Copy(row)] => row.lines().last().unwrap().to_owned(),
        other => panic!("{other:?}"),
    }
}

fn findings(app: &mut App) -> Vec<String> {
    keys(app, "Y");
    match &app.requests()[..] {
        [Request::Copy(rows)] => rows.lines().skip(1).map(str::to_owned).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn advice_opens_at_the_costliest_finding_whatever_the_cursor_was_on() {
    let mut app = shop();
    keys(&mut app, "down down down 7");
    let all = findings(&mut app);
    assert!(all.len() > 2, "{all:?}");
    assert_eq!(here(&mut app), all[0]);
    // By cost: what is no fault of the program comes last, whatever it costs.
    let cost = |row: &String| row.split(',').nth(1).unwrap().parse::<u64>().unwrap();
    let faults: Vec<u64> = all
        .iter()
        .filter(|row| !row.contains("most of the work"))
        .map(cost)
        .collect();
    assert!(
        faults.is_sorted_by(|costly, cheap| costly >= cheap),
        "{all:?}"
    );
    // As it was left, then.
    keys(&mut app, "down 1 7");
    assert_eq!(here(&mut app), all[1]);
}

/// The row does not depend on whether the findings or the predicate are there first.
#[test]
fn a_predicate_that_is_carried_has_its_finding_shown_whenever_that_is_found() {
    for waits in [false, true] {
        let mut app = shop();
        if waits {
            keys(&mut app, "7 1");
        }
        keys(&mut app, "/ :price enter");
        for name in ["g", "7"] {
            app.key(&key(name));
        }
        app.wait();
        let here = here(&mut app);
        assert_eq!(app.screen(), ScreenId::Advice);
        assert!(here.contains("price/2"), "{waits}: {here}");
    }
}

#[test]
fn enter_goes_to_the_line_of_the_finding() {
    let mut app = shop();
    keys(&mut app, "7");
    let shown = text(&picture(&mut app, 120, 40));
    let place = shown
        .lines()
        .find(|line| line.starts_with(" place"))
        .unwrap();
    let place = place
        .split_whitespace()
        .nth(1)
        .unwrap()
        .trim_end_matches(',')
        .to_owned();
    let line = place.rsplit(':').next().unwrap();
    keys(&mut app, "enter");
    assert_eq!(app.screen(), ScreenId::Predicate);
    keys(&mut app, "o");
    match &app.requests()[..] {
        [Request::Edit(path, at)] => {
            assert!(path.ends_with("shop.pl"), "{path:?}");
            assert_eq!(at.to_string(), line, "{place}");
        }
        other => panic!("{other:?}"),
    }
    keys(&mut app, "esc");
    assert_eq!(app.screen(), ScreenId::Advice);
}

#[test]
fn evidence_stands_on_the_screen_of_the_predicate() {
    let mut app = shop();
    keys(&mut app, "/ :price/2 enter enter");
    assert_eq!(app.screen(), ScreenId::Predicate);
    let small = text(&picture(&mut app, 80, 24));
    assert!(small.contains(" advice "), "{small}");
    let large = text(&picture(&mut app, 120, 40));
    let at = large
        .lines()
        .position(|line| line.starts_with(" advice "))
        .unwrap();
    let evidence = large.lines().nth(at + 1).unwrap();
    assert!(evidence.contains("price/2"), "{large}");
}
