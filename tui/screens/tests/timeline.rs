//! What a user does on the timeline, step by step, of a trace with threads, failures, pauses and exceptions.

mod support;

use portmortem_screens::{App, ThemeName};
use support::{app, keys, picture, text};

/// The range is shown on one line of its own, until it is taken away.
#[test]
fn a_marked_range_is_shown_once() {
    for screen in ["5", "6"] {
        let mut app = app("threads_exceptions.pmt", ThemeName::Dark);
        keys(&mut app, screen);
        for (typed, times) in [
            ("[", 0),
            ("right right right ]", 1),
            ("up", 1),
            ("end ]", 1),
        ] {
            keys(&mut app, typed);
            let shown = text(&picture(&mut app, 80, 24));
            assert_eq!(shown.matches("--time ").count(), times, "{typed}:\n{shown}");
            let last = shown.lines().last().unwrap();
            assert!(last.ends_with("? help  q quit"), "{typed}: {last}");
        }
    }
}

/// On both screens Esc goes back through the streams as it does through all places.
#[test]
fn esc_goes_back_to_the_stream_before() {
    // The timeline marks the stream of the cursor, and the list of events is headed by it.
    for (screen, sign) in [("5", "▼stream"), ("6", " stream ")] {
        let mut app = app("threads_exceptions.pmt", ThemeName::Dark);
        keys(&mut app, screen);
        let stream = |app: &mut App| {
            let shown = text(&picture(app, 80, 50));
            let mut lines = shown.lines().skip(2);
            let found = lines.find(|line| line.contains(sign));
            found.unwrap_or_else(|| panic!("{shown}")).to_owned()
        };
        let mut streams = vec![stream(&mut app)];
        for typed in ["}", "}", "{"] {
            keys(&mut app, typed);
            streams.push(stream(&mut app));
        }
        assert!(streams[0] != streams[1] && streams[1] != streams[2]);
        while streams.len() > 1 {
            streams.pop();
            keys(&mut app, "esc");
            assert_eq!(Some(&stream(&mut app)), streams.last());
        }
        keys(&mut app, "esc esc");
        assert!(text(&picture(&mut app, 80, 24)).contains("nothing to undo"));
    }
}

#[test]
fn a_session() {
    let mut app = app("threads_exceptions.pmt", ThemeName::Dark);
    for (name, typed) in [
        ("1_streams", "5"),
        ("2_another_stream", "} down"),
        ("3_box", "right z"),
        ("4_next_failure", "n"),
        ("5_closer", "+ + +"),
        ("6_range", "[ . . . . ] down"),
        ("7_searched", "/ :sum enter"),
        ("8_folded", "space esc esc esc"),
        ("9_help", "?"),
    ] {
        keys(&mut app, typed);
        let picture = text(&picture(&mut app, 80, 30));
        insta::assert_snapshot!(format!("timeline_{name}"), picture);
    }
}
