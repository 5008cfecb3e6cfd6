//! What a user does on the timeline, step by step, of a trace with threads, failures, pauses and exceptions.

mod support;

use portmortem_screens::ThemeName;
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
