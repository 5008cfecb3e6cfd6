//! The palette: what is typed is found wherever it is, and Enter does it.

mod support;

use portmortem_screens::app::Request;
use portmortem_screens::keys::LISTS;
use portmortem_screens::screens::{SCREENS, ScreenId};
use portmortem_screens::{App, ThemeName};
use support::{app, keys, picture, text};

#[test]
fn the_palette_does_what_is_typed() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    keys(&mut app, ": :flame enter");
    assert_eq!(app.screen(), ScreenId::Flame);
    keys(&mut app, ": :attack/2 enter");
    assert_eq!(app.screen(), ScreenId::Predicate);
    assert!(text(&picture(&mut app, 120, 30)).contains("attack/2"));
    keys(&mut app, "esc : :1,000 enter");
    assert_eq!(app.screen(), ScreenId::Events);
    assert!(text(&picture(&mut app, 120, 30)).contains("event 1,000"));
    keys(&mut app, "esc esc");
    keys(&mut app, ": :no_such_thing enter : : : :quit enter");
    assert_eq!(app.requests(), [Request::Quit]);
}

#[test]
fn a_time_is_shown_on_the_timeline() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    let shown = |app: &mut App| text(&picture(app, 120, 30));
    keys(&mut app, ": :3.217ms");
    assert!(shown(&mut app).contains("show 3.217 ms on the timeline"));
    keys(&mut app, "enter");
    assert_eq!(app.screen(), ScreenId::Timeline);
    assert!(shown(&mut app).contains("3.217 ms"));
    // Also where it is not in sight, and back.
    keys(&mut app, "+ + + + : :8.125ms enter");
    assert!(shown(&mut app).contains("8.125 ms"));
    keys(&mut app, "esc");
    assert!(shown(&mut app).contains("3.217 ms"));
    keys(&mut app, ": :99s enter");
    assert!(shown(&mut app).contains("nothing is shown of that time"));
    keys(&mut app, "esc esc esc esc esc");
    assert_eq!(app.screen(), ScreenId::Predicates);
}

/// What the palette shows for the beginning of a text.
fn found(app: &mut App, typed: &str) -> String {
    let typed: String = typed.chars().take(20).collect();
    keys(app, &format!(": :{}", typed.replace(' ', "_")));
    let shown = text(&picture(app, 80, 60));
    keys(app, "esc");
    shown
}

#[test]
fn actions_of_all_screens_are_found() {
    for here in ['1', '5'] {
        let mut app = app("queens.pmt", ThemeName::Dark);
        keys(&mut app, &here.to_string());
        for there in SCREENS.iter().filter(|there| there.digit != here) {
            let place = format!("On {} {}", there.digit, there.name);
            let screen = there.make();
            for binding in screen.bindings() {
                let shown = found(&mut app, binding.about);
                let mut after = shown.lines().skip_while(|line| !line.contains(&place));
                let known = after.any(|line| line.contains(binding.about));
                assert!(known, "{place} {binding:?}\n{shown}");
            }
        }
        for binding in LISTS {
            let shown = found(&mut app, binding.about);
            assert!(shown.contains(binding.about), "{binding:?}\n{shown}");
        }
    }
}

#[test]
fn enter_does_it_on_the_screen_it_belongs_to() {
    for (typed, screen, then) in [
        // Of the events: the first one has no reason.
        (
            "1 : :who_failed_last",
            ScreenId::Events,
            "x explains failures",
        ),
        // The flame graph is made by a thread, which keys wait for.
        ("6 : :up_to_its_callers", ScreenId::Flame, "callers below"),
        // The timeline has no columns.
        ("5 : :choose_the_column", ScreenId::Predicates, " Columns "),
        ("1 : :half_as_much", ScreenId::Timeline, "s of 11.78 ms"),
    ] {
        let mut app = app("queens.pmt", ThemeName::Dark);
        keys(&mut app, typed);
        keys(&mut app, "enter");
        assert_eq!(app.screen(), screen, "{typed}");
        let shown = text(&picture(&mut app, 120, 40));
        assert!(shown.contains(then), "{typed}\n{shown}");
    }
}

#[test]
fn streams_have_one_name() {
    let mut app = app("threads_exceptions.pmt", ThemeName::Dark);
    for (typed, name) in [
        ("5", "stream 1 (main)"),
        ("}", "stream 2 (thread 5)"),
        ("1 6 }", "stream 2 (thread 5), "),
        (": :12", "show event 12 of stream 2 (thread 5)"),
    ] {
        keys(&mut app, typed);
        let shown = text(&picture(&mut app, 100, 40));
        assert!(shown.contains(name), "{typed}\n{shown}");
    }
}
