//! Keys that can do nothing on a screen are not offered there, and say so if they are pressed.

mod support;

use portmortem_screens::keys::Action;
use portmortem_screens::{App, ThemeName};
use support::{app, keys, picture, text};

fn offers(app: &App, action: Action) -> bool {
    let tables = app.offered();
    let mut offered = tables.iter().flat_map(|(_, table)| table);
    offered.any(|binding| binding.action == action)
}

fn last_line(app: &mut App) -> String {
    let shown = text(&picture(app, 120, 30));
    shown.lines().last().unwrap_or_default().to_owned()
}

/// What is said on the last line, beside the keys that are always there.
fn message(app: &mut App) -> String {
    let line = last_line(app);
    let said = line.strip_suffix("? help  q quit");
    said.unwrap_or_else(|| panic!("{line}")).trim().to_owned()
}

const ON_PREDICATES: [Action; 4] = [
    Action::Hide,
    Action::Focus,
    Action::FirstEvent,
    Action::Edit,
];

#[test]
fn a_screen_with_nothing_to_export_says_so() {
    // Advice of no time, a comparison with nothing, a list in which nothing was found.
    for typed in ["W :..1ns enter 7", "0", "1 / :no_such_name enter"] {
        let mut app = app("queens.pmt", ThemeName::Dark);
        keys(&mut app, typed);
        for (key, said) in [
            ("e", "nothing to export here"),
            ("Y", "nothing to copy here"),
            ("y", "nothing to copy here"),
        ] {
            keys(&mut app, key);
            assert_eq!(message(&mut app), said, "{typed}");
            assert_eq!(app.requests(), [], "{typed}");
        }
        for action in [Action::Export, Action::Copy, Action::CopyAll] {
            assert!(!offers(&app, action), "{typed}: {action:?}");
        }
        keys(&mut app, "ctrl-l");
        assert!(!last_line(&mut app).contains("export"), "{typed}");
        keys(&mut app, "?");
        let help = text(&picture(&mut app, 120, 90));
        assert!(!help.contains("write the view as a file"), "{help}");
    }
}

#[test]
fn keys_for_predicates_are_offered_where_there_are_some() {
    for (typed, has_predicates, has_events) in [
        ("1", true, true),
        ("5", true, true),
        ("7", true, true),
        ("W :..1ns enter 7", false, false),
        ("9", false, false),
        // Streams have events.
        ("9 t", false, true),
        ("0", false, false),
    ] {
        let mut app = app("scan.pmt", ThemeName::Dark);
        keys(&mut app, typed);
        for action in ON_PREDICATES {
            assert_eq!(offers(&app, action), has_predicates, "{typed}: {action:?}");
        }
        assert_eq!(offers(&app, Action::SlowestCall), has_events, "{typed}");
        keys(&mut app, "ctrl-l");
        let line = last_line(&mut app);
        assert_eq!(line.contains("d hide"), has_predicates, "{typed}: {line}");
        for key in ["d", "F", "V", "o"].iter().filter(|_| !has_predicates) {
            keys(&mut app, key);
            assert_eq!(message(&mut app), "no predicate here", "{typed}, {key}");
        }
    }
}
