//! Pictures of every screen: small and large, dark and light.

mod support;

use portmortem_screens::ThemeName;
use portmortem_screens::screens::SCREENS;
use support::{app, keys, picture, styled, text};

#[test]
fn every_screen_in_both_sizes_and_themes() {
    for entry in SCREENS {
        for (size, width, height) in [("small", 80, 24), ("large", 160, 50)] {
            let pictures = [ThemeName::Dark, ThemeName::Light].map(|theme| {
                let mut app = app("queens.pmt", theme);
                keys(&mut app, &entry.digit.to_string());
                picture(&mut app, width, height)
            });
            let file = format!("{}_{size}", entry.short.to_lowercase());
            insta::assert_snapshot!(file, styled(&pictures));
        }
    }
}

#[test]
fn without_colours_nothing_is_lost() {
    for entry in SCREENS {
        let mut pictures = [ThemeName::Dark, ThemeName::Plain].map(|theme| {
            let mut app = app("threads_exceptions.pmt", theme);
            keys(&mut app, &entry.digit.to_string());
            text(&picture(&mut app, 80, 24))
        });
        let [dark, plain] = &mut pictures;
        assert_eq!(dark, plain);
    }
}

/// What a user does, step by step.
#[test]
fn a_session() {
    let mut app = app("metainterp.pmt", ThemeName::Dark);
    for (name, typed) in [
        ("1_sorted_by_calls", "> > >"),
        ("2_columns", "s"),
        ("3_filter_typed", "esc / :calls_>_5_and_fails_>_0.1k"),
        ("4_filtered", "enter"),
        ("5_predicate", "enter"),
        ("6_caller", "up up enter"),
        ("7_back_again", "esc"),
        ("8_in_the_tree", "3"),
        ("9_hottest_path", "- p"),
        ("10_zoomed", "left z"),
        ("11_hidden", "1 d"),
        ("12_help", "?"),
        ("13_help_searched", ":hide"),
        ("14_export", "esc esc e"),
        ("15_bad_filter", "esc d / ctrl-u :fails_>_many"),
        ("16_everything_undone", "esc esc esc esc esc esc"),
        ("17_choicepoints", "4 t"),
        ("18_cuts", "t"),
        ("19_flame", "3 8"),
        ("20_flame_zoomed", "G z"),
        ("21_flame_inverted_by_events", "esc i s s s"),
        ("22_flame_searched", "i / :prove enter n"),
        ("23_event_gone_to", "6 : :100 enter"),
        ("24_end_of_the_box", "%"),
        ("25_box_around_it", "v v"),
        ("26_no_reason", "x"),
        ("27_jumps_undone", "esc esc esc"),
        (
            "28_events_filtered",
            "/ :port_=_fail_and_depth_>_2 enter n n",
        ),
        ("29_not_among_the_matches", "c"),
        ("30_no_event_passes", "/ ctrl-u :depth_>_1000 enter"),
        ("31_filters_undone", "esc esc esc esc esc"),
        ("32_first_event_of_a_predicate", "1 end V"),
        ("33_hidden_events", "d"),
    ] {
        keys(&mut app, typed);
        insta::assert_snapshot!(format!("session_{name}"), text(&picture(&mut app, 80, 24)));
    }
}

#[test]
fn small_terminals_show_what_fits() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    for (width, height) in [(79, 24), (80, 23), (20, 5), (50, 9)] {
        for entry in SCREENS {
            keys(&mut app, &entry.digit.to_string());
            let shown = text(&picture(&mut app, width, height));
            assert!(shown.lines().count() == usize::from(height), "{shown}");
            assert!(shown.contains("? help"), "{width}×{height}:\n{shown}");
        }
    }
}

#[test]
fn too_small_a_terminal_is_told() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    for (width, height) in [(19, 24), (80, 4), (1, 1)] {
        assert!(text(&picture(&mut app, width, height)).starts_with('p'));
    }
}
