//! What is written to filter or search a screen.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use portmortem_screens::app::Request;
use portmortem_screens::{App, ThemeName};
use support::{app, keys, picture, text};

/// What the cursor is on, as the screen copies it.
fn copied(app: &mut App) -> String {
    keys(app, "y");
    match &app.requests()[..] {
        [Request::Copy(text)] => text.clone(),
        other => panic!("{other:?}"),
    }
}

/// On every screen that is filtered or searched.
#[test]
fn what_is_no_condition_cannot_be_confirmed() {
    for (screen, bad) in [
        ("1", "fails_>_many"),
        ("3", "(main"),
        ("4", "nothing_=_1"),
        ("5", "(main"),
        ("6", "port_=_nothing"),
        ("8", "(main"),
    ] {
        let mut app = app("queens.pmt", ThemeName::Dark);
        keys(&mut app, &format!("{screen} / :{bad} enter"));
        let shown = text(&picture(&mut app, 120, 30));
        let asked = shown.lines().last().unwrap();
        assert!(asked.contains(&bad.replace('_', " ")), "{screen}: {shown}");
        assert!(
            ["expected", "is called"]
                .iter()
                .any(|why| asked.contains(why)),
            "{screen}: {asked}"
        );
        keys(&mut app, "esc");
        let shown = text(&picture(&mut app, 120, 30));
        assert!(!shown.contains("filter: "), "{screen}: {shown}");
    }
}

#[test]
fn names_are_filtered_with_or_without_their_module() {
    for (condition, name) in [
        ("predicate_=_memberchk/2", "system:memberchk/2"),
        ("predicate_=_system:member*", "system:memberchk/2"),
        ("predicate_=_user:lookup/2", "lookup/2"),
    ] {
        let mut app = app("scan.pmt", ThemeName::Dark);
        keys(&mut app, &format!("/ :{condition} enter"));
        let row = copied(&mut app);
        assert!(row.trim_end().ends_with(name), "{condition}: {row}");
        keys(&mut app, &format!("esc 6 / :{condition} enter"));
        app.wait();
        let shown = text(&picture(&mut app, 160, 30));
        assert!(shown.contains(name), "{condition}: {shown}");
    }
    let mut app = app("queens.pmt", ThemeName::Dark);
    keys(&mut app, "6 / :port_=_exit enter");
    app.wait();
    let shown = text(&picture(&mut app, 160, 30));
    assert!(!shown.contains("no event"), "{shown}");
}
