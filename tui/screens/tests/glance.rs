//! What is seen at a glance is true: bars, names, what is left out, and the same after each way
//! back.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use portmortem_analyzer::Filters;
use portmortem_analyzer::trace::Trace;
use portmortem_screens::screens::{SCREENS, ScreenId};
use portmortem_screens::{App, ThemeName};
use ratatui::crossterm::event::{MouseButton, MouseEventKind};
use support::{app, keys, made, mouse, picture, sample, text, watchdog};

fn open(path: &Path) -> App {
    watchdog::begin(&path.display().to_string());
    let trace = Trace::open(path).unwrap();
    let app = App::new(trace, path, ThemeName::Dark, Filters::default());
    let mut app = app.without_sources();
    app.wait();
    app
}

#[test]
fn a_terminal_of_any_size_may_be_the_first() {
    for height in [1, 4, 5, 6, 7, 8, 9, 12] {
        for width in [19, 20, 33, 80] {
            for first in SCREENS {
                let mut app = app("threads_exceptions.pmt", ThemeName::Dark);
                app.show(first.id);
                app.wait();
                for (width, height) in [(width, height), (80, 24), (width, height)] {
                    picture(&mut app, width, height);
                    app.wait();
                }
            }
        }
    }
}

/// The first row has most, and nothing that is not shown has more.
#[test]
fn bars_are_scaled_to_the_rows_that_are_shown() {
    for path in [sample("scan.pmt"), made::program()] {
        for typed in ["1", "1 w", "1 c", "3"] {
            let mut app = open(&path);
            keys(&mut app, typed);
            let shown = text(&picture(&mut app, 120, 36));
            let bars = shown.lines().skip(3).map(|line| line.matches('█').count());
            assert_eq!(bars.max(), Some(12), "{typed}: {shown}");
        }
    }
}

/// By the number of the event: what its line says.
fn listed(shown: &str) -> BTreeMap<String, String> {
    let lines = shown.lines().skip(4);
    // Below them are boxes.
    let lines = lines.take_while(|line| !line.starts_with("Active: "));
    let numbered = lines.filter_map(|line| {
        let (number, _) = line.trim_start().split_once(' ')?;
        Some((number.to_owned(), line.to_owned()))
    });
    numbered.collect()
}

#[test]
fn names_of_events_that_fit_on_a_narrow_terminal_fit_on_wider_ones() {
    let mut app = open(&made::program());
    keys(&mut app, "6");
    let mut shown = |width| {
        picture(&mut app, width, 36);
        app.wait();
        listed(&text(&picture(&mut app, width, 36)))
    };
    let narrow = shown(80);
    for width in (120..220).step_by(7) {
        let wide = shown(width);
        let mut whole = 0;
        for (number, line) in &narrow {
            let name = line.split_whitespace().last().unwrap();
            let name = name.trim_start_matches("…:");
            if !name.contains('…') {
                assert!(wide[number].contains(name), "{width}: {}", wide[number]);
                whole += 1;
            }
        }
        assert!(whole > 5, "{narrow:?}");
    }
}

#[test]
fn what_is_left_out_is_not_among_the_events() {
    let mut app = open(&made::program());
    let shown = |app: &mut App, typed: &str| {
        keys(app, typed);
        text(&picture(app, 160, 50))
    };
    let left_out = ["autoload/0", "waiting/0", "garbage_collect/0"];
    for typed in ["6", "pgdn", "}", "} end"] {
        let shown = shown(&mut app, typed);
        for name in left_out {
            assert!(!shown.contains(name), "{typed}: {shown}");
        }
    }
    assert!(shown(&mut app, "w home").contains("waiting/0"));
    assert!(!shown(&mut app, "w").contains("waiting/0"));
    // What asks for it by its name gets it, and nothing else does.
    let found = shown(&mut app, "/ :predicate_=_system:waiting/0 enter home");
    assert!(found.contains("waiting/0"), "{found}");
    let found = shown(&mut app, "/ ctrl-u :waiting enter home");
    assert!(found.contains("waiting/0"), "{found}");
    let found = shown(&mut app, "/ ctrl-u :port_=_call enter home");
    assert!(!found.contains("waiting/0"), "{found}");
}

#[test]
fn folds_are_part_of_the_way_back() {
    let mut app = app("scan.pmt", ThemeName::Dark);
    let shown = |app: &mut App| {
        keys(app, "ctrl-l");
        text(&picture(app, 100, 30))
    };
    keys(&mut app, "3");
    let folded = shown(&mut app);
    keys(&mut app, "+");
    let unfolded = shown(&mut app);
    assert_ne!(folded, unfolded);
    keys(&mut app, "enter");
    // Back by another way, all is folded.
    keys(&mut app, "3 -");
    assert_ne!(shown(&mut app), unfolded);
    keys(&mut app, "esc esc esc");
    assert_eq!(shown(&mut app), unfolded);
    keys(&mut app, "esc");
    assert_eq!(shown(&mut app), folded);
}

/// All screens can be clicked on.
#[test]
fn every_screen_is_named_at_any_width() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    for width in 20..=200 {
        for entry in SCREENS {
            app.show(entry.id);
            app.wait();
            let shown = text(&picture(&mut app, width, 15));
            let tabs = shown.lines().next().unwrap();
            for entry in SCREENS {
                assert!(tabs.contains(entry.digit), "{width}: {tabs}");
            }
            assert!(tabs.contains(&format!("[{}", entry.digit)), "{tabs}");
        }
    }
    let shown = text(&picture(&mut app, 60, 15));
    let x = shown.lines().next().unwrap().chars().position(|c| c == '4');
    mouse(
        &mut app,
        MouseEventKind::Down(MouseButton::Left),
        x.unwrap() as u16,
        0,
    );
    assert_eq!(app.screen(), ScreenId::Backtracking);
}

#[test]
fn the_wheel_zooms_the_timeline_and_dragging_marks_a_range() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    let shown = |app: &mut App| text(&picture(app, 120, 30));
    keys(&mut app, "5");
    let all = shown(&mut app);
    mouse(&mut app, MouseEventKind::ScrollUp, 90, 10);
    let closer = shown(&mut app);
    assert_ne!(closer.lines().nth(1), all.lines().nth(1));
    // What is under the pointer stays there.
    let tick = |shown: &str| {
        let ruler = shown.lines().nth(3).unwrap();
        ruler.chars().position(|c| c == '▼')
    };
    assert_eq!(tick(&closer), Some(90), "{closer}");
    mouse(&mut app, MouseEventKind::ScrollDown, 90, 10);
    keys(&mut app, "esc esc");
    assert!(shown(&mut app).lines().nth(1) == all.lines().nth(1));
    mouse(&mut app, MouseEventKind::Down(MouseButton::Left), 60, 10);
    for (x, sign) in [(80, ']'), (40, '[')] {
        mouse(&mut app, MouseEventKind::Drag(MouseButton::Left), x, 12);
        let marked = shown(&mut app);
        assert!(marked.contains("marked: --time "), "{marked}");
        let ruler = marked.lines().nth(3).unwrap();
        // The cursor is drawn over the other end.
        let end = ruler.chars().position(|c| c == sign);
        assert_eq!(end, Some(x.into()), "{ruler}");
    }
    keys(&mut app, "W enter");
    assert!(shown(&mut app).contains("time: "));
}
