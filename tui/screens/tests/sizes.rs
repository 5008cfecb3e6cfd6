//! Pictures of every screen of a large program, on terminals of four sizes.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use portmortem_analyzer::Filters;
use portmortem_analyzer::trace::Trace;
use portmortem_screens::screens::SCREENS;
use portmortem_screens::{App, ThemeName};
use support::{keys, made, picture, text, watchdog};

const SIZES: [(u16, u16); 4] = [(60, 15), (80, 24), (120, 36), (200, 60)];

fn app() -> App {
    let path = made::program();
    watchdog::begin("large.pmt");
    let trace = Trace::open(&path).unwrap();
    let app = App::new(trace, &path, ThemeName::Dark, Filters::default());
    let mut app = app.without_sources().compared_with(Some(path.clone()));
    app.wait();
    app
}

/// The picture when all is there that such a size asks for.
fn shown(app: &mut App, typed: &str, (width, height): (u16, u16)) -> String {
    keys(app, typed);
    picture(app, width, height);
    app.wait();
    text(&picture(app, width, height))
}

#[test]
fn every_screen_in_four_sizes() {
    for size in SIZES {
        let mut app = app();
        for entry in SCREENS {
            let name = format!("{}_{}x{}", entry.short.to_lowercase(), size.0, size.1);
            let digit = entry.digit.to_string();
            insta::assert_snapshot!(name, shown(&mut app, &digit, size));
        }
        for (name, typed) in [("goals", "1 t"), ("exceptions", "!")] {
            let name = format!("{name}_{}x{}", size.0, size.1);
            insta::assert_snapshot!(name, shown(&mut app, typed, size));
        }
    }
}

/// Wider terminals show more of a predicate.
#[test]
fn wide_terminals_show_times_of_calls_and_lines() {
    let mut app = support::app("queens.pmt", ThemeName::Dark);
    let narrow = shown(&mut app, "1", (80, 24));
    let wide = shown(&mut app, "1", (200, 60));
    for heading in ["mean ms", "max ms", "queens.pl:65"] {
        assert!(!narrow.contains(heading), "{narrow}");
        assert!(wide.contains(heading), "{wide}");
    }
    // Also where names are very long.
    let mut app = self::app();
    let wide = shown(&mut app, "1", (200, 60));
    for heading in ["mean ms", "max ms", ".pl:"] {
        assert!(wide.contains(heading), "{wide}");
    }
}

/// They say how boxes end and which goals called them, and which goal fails.
#[test]
fn wide_terminals_show_ends_and_goals_of_events_and_clauses_of_failures() {
    let mut app = app();
    let narrow = shown(&mut app, "6", (120, 36));
    let wide = shown(&mut app, "", (200, 60));
    assert!(
        wide.contains(" ends ") && wide.contains(" goal at "),
        "{wide}"
    );
    assert!(
        !narrow.contains(" ends ") && !narrow.contains(" goal at "),
        "{narrow}"
    );
    let rows: Vec<&str> = wide.lines().skip(4).collect();
    // The first call ends by an exit, and no goal of a clause made it.
    assert!(rows[0].contains("call        exit "), "{wide}");
    let row = rows.iter().find(|row| row.contains("call        fail"));
    assert!(row.is_some_and(|row| row.contains(".pl:")), "{wide}");
    let narrow = shown(&mut app, "4", (120, 36));
    let wide = shown(&mut app, "", (200, 60));
    assert!(
        wide.contains(" clause ") && wide.contains(" #1.2 "),
        "{wide}"
    );
    assert!(!narrow.contains(" clause "), "{narrow}");
    let wide = shown(&mut app, "t", (200, 60));
    assert!(wide.contains(".pl:"), "{wide}");
}
