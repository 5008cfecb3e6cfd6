//! The palette: what is typed is found wherever it is, and Enter does it.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use portmortem_analyzer::Filters;
use portmortem_analyzer::trace::Trace;
use portmortem_screens::app::Request;
use portmortem_screens::keys::LISTS;
use portmortem_screens::screens::{SCREENS, ScreenId};
use portmortem_screens::{App, ThemeName};
use support::{app, keys, made, picture, text, watchdog};

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

#[test]
fn words_and_signs_are_explained_beside_the_keys() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    for (typed, about) in [
        (":undone", "Work that backtracking went back before"),
        (":work", "Time of the program's own calls"),
        (":~", "the one that is there longest"),
        (":×", "so many boxes of a recursion in one row"),
        (":░", "A cell of the timeline with several boxes"),
        (":✗", "a box fails here"),
        (":hottest", "into the callee with the most work"),
    ] {
        keys(&mut app, &format!(": {typed}"));
        let shown = text(&picture(&mut app, 80, 40));
        assert!(shown.contains("Words and signs"), "{typed}\n{shown}");
        let words = shown.replace(['\n', '│'], " ");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(about), "{typed}\n{shown}");
        keys(&mut app, "esc");
    }
    // They are all in help, which scrolls to its end.
    keys(&mut app, "?");
    let down = "pgdn ".repeat(40);
    keys(&mut app, &down);
    assert!(text(&picture(&mut app, 80, 24)).contains("the smallest (▲)"));
    // There is nothing to do with a word; keys beside it work.
    keys(&mut app, "enter");
    assert!(text(&picture(&mut app, 80, 24)).contains(" Help "));
    keys(&mut app, "esc : :no_such_word");
    assert!(text(&picture(&mut app, 80, 24)).contains("nothing has that name"));
}

#[test]
fn digits_are_those_of_screens_first() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    keys(&mut app, "?");
    let shown = text(&picture(&mut app, 80, 24));
    let lines: Vec<&str> = shown.lines().skip(2).collect();
    assert!(lines[2].contains("Screens"), "{shown}");
    assert!(lines[3].contains("all predicates"), "{shown}");
    keys(&mut app, "esc : :3");
    assert!(text(&picture(&mut app, 80, 24)).contains("show event 3"));
    keys(&mut app, "enter");
    assert_eq!(app.screen(), ScreenId::CallTree);
    keys(&mut app, ": :33 enter");
    assert_eq!(app.screen(), ScreenId::Events);
}

fn marked() -> App {
    let path = made::marked();
    watchdog::begin("marked.pmt");
    let trace = Trace::open(&path).unwrap();
    let app = App::new(trace, &path, ThemeName::Dark, Filters::default());
    let mut app = app.without_sources();
    app.wait();
    app
}

/// The number of the event that the title names, in which stream.
fn at(app: &mut App) -> (String, String) {
    let shown = text(&picture(app, 160, 40));
    let title = shown.lines().nth(1).unwrap();
    let (_, event) = title.rsplit_once("event ").unwrap();
    let stream = shown.lines().find_map(|line| line.split_once("  stream "));
    let stream = stream.unwrap().1.split(' ').next().unwrap();
    (
        event.split(' ').next().unwrap().to_owned(),
        stream.to_owned(),
    )
}

#[test]
fn marks_are_gone_to_among_the_events_and_on_the_timeline() {
    let mut app = marked();
    keys(&mut app, ": :mark");
    let shown = text(&picture(&mut app, 80, 40));
    let (_, marks) = shown.split_once("Marks, on the timeline").unwrap();
    let marks = marks.lines().skip(1).take(4);
    let marks: Vec<&str> = marks.map(|line| line.trim_matches(['│', ' '])).collect();
    assert_eq!(marks, ["load", "Solve it", "ready", "Words and signs"]);
    keys(&mut app, "esc 6 : :mark_solve enter");
    assert_eq!(app.screen(), ScreenId::Events);
    assert_eq!(at(&mut app), ("9,001".to_owned(), "1".to_owned()));
    // The same text may be that of several marks: to the next one each time.
    for (event, stream) in [("20", "3"), ("30", "4"), ("20", "3")] {
        keys(&mut app, ": :ready enter");
        assert_eq!(at(&mut app), (event.to_owned(), stream.to_owned()));
    }
    keys(&mut app, "esc");
    assert_eq!(at(&mut app).0, "30");
    keys(&mut app, "1 : :mark_load enter");
    assert_eq!(app.screen(), ScreenId::Timeline);
    keys(&mut app, "g6");
    assert_eq!(at(&mut app), ("1,000".to_owned(), "1".to_owned()));
}

#[test]
fn a_time_is_shown_among_the_events_where_these_are_shown() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    keys(&mut app, "6 : :3.217ms");
    let shown = text(&picture(&mut app, 120, 30));
    assert!(shown.contains("show 3.217 ms among the events"), "{shown}");
    keys(&mut app, "enter");
    assert_eq!(app.screen(), ScreenId::Events);
    let shown = text(&picture(&mut app, 160, 30));
    let row = shown.lines().find(|line| line.contains(" 0.003217"));
    assert!(row.is_some(), "{shown}");
    keys(&mut app, ": :99s enter");
    let shown = text(&picture(&mut app, 120, 30));
    assert!(
        shown.contains("no event of this stream is at that time"),
        "{shown}"
    );
    keys(&mut app, "esc");
    assert_eq!(app.screen(), ScreenId::Events);
    keys(&mut app, "esc");
    assert_eq!(app.screen(), ScreenId::Predicates);
}
