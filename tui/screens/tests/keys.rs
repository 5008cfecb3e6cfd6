//! Keys: all of them are in help and can be pressed; no sequence of them breaks anything.

mod support;

use std::collections::HashSet;

use portmortem_analyzer::Filters;
use portmortem_screens::app::Request;
use portmortem_screens::keys::{self, Binding, EVERYWHERE, LISTS};
use portmortem_screens::screens::SCREENS;
use portmortem_screens::{App, ThemeName};
use proptest::prelude::*;
use support::{app, key, keys, picture, text};

fn all_bindings(app: &App) -> Vec<Binding> {
    let tables = app.bindings();
    tables
        .iter()
        .flat_map(|(_, table)| table.iter().copied())
        .collect()
}

#[test]
fn every_binding_is_in_help_and_can_be_typed() {
    for entry in SCREENS {
        let mut app = app("queens.pmt", ThemeName::Dark);
        keys(&mut app, &format!("{} ?", entry.digit));
        let help = text(&picture(&mut app, 80, 120));
        for binding in all_bindings(&app) {
            assert!(
                help.contains(binding.about),
                "{}: {:?}",
                entry.name,
                binding
            );
            for name in binding.keys {
                assert!(help.contains(name), "{}: {name}", entry.name);
                let doubled = name.len() == 2 && name[..1] == name[1..];
                if !doubled {
                    assert_eq!(keys::name(&key(name)).as_deref(), Some(*name));
                }
            }
        }
    }
}

#[test]
fn no_key_means_two_things_on_a_screen() {
    for entry in SCREENS {
        let mut app = app("queens.pmt", ThemeName::Dark);
        keys(&mut app, &entry.digit.to_string());
        for (_, table) in app.bindings() {
            let mut seen = HashSet::new();
            for name in table.iter().flat_map(|binding| binding.keys) {
                assert!(seen.insert(name), "{}: {name} twice", entry.name);
            }
        }
    }
}

#[test]
fn esc_undoes_one_step_at_a_time() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    let mut pictures = vec![text(&picture(&mut app, 100, 30))];
    for typed in ["/ :att enter", "-", "F", "W :0.1ms..2s enter", "enter", "F"] {
        keys(&mut app, typed);
        // Messages go with the next key.
        keys(&mut app, "del");
        pictures.push(text(&picture(&mut app, 100, 30)));
    }
    while pictures.len() > 1 {
        pictures.pop();
        keys(&mut app, "esc");
        assert_eq!(Some(&text(&picture(&mut app, 100, 30))), pictures.last());
    }
}

#[test]
fn every_screen_looks_at_the_part_asked_for() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    let calls = |app: &mut App| {
        keys(app, "1 e ctrl-u :x.csv enter");
        match &app.requests()[..] {
            [Request::Write(_, rows)] => rows.lines().skip(1).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    };
    let all: Vec<String> = calls(&mut app);
    keys(&mut app, "/ :attack/2 enter F / ctrl-u enter");
    let below = calls(&mut app);
    let name = |row: &String| row.split(',').next_back().unwrap_or_default().to_owned();
    assert_eq!(all.len(), 7);
    let below_names: Vec<String> = below.iter().map(name).collect();
    assert_eq!(below_names.len(), 2, "{below:?}");
    assert!(text(&picture(&mut app, 120, 30)).contains("in: attack/2"));
    keys(&mut app, "W :..1ns enter");
    assert_eq!(calls(&mut app), Vec::<String>::new());
    assert!(text(&picture(&mut app, 120, 30)).contains("time: ..1ns"));
    for entry in SCREENS {
        keys(&mut app, &entry.digit.to_string());
        picture(&mut app, 80, 24);
    }
    keys(&mut app, "1 esc");
    assert_eq!(calls(&mut app), below);
    keys(&mut app, "esc esc esc");
    assert_eq!(calls(&mut app), all);
    keys(&mut app, "W :nonsense enter");
    assert!(text(&picture(&mut app, 120, 30)).contains("no range of time"));
}

#[test]
fn net_times_are_shown_where_they_are_known() {
    let rows = |app: &mut App, screen: &str| {
        keys(app, &format!("{screen} e ctrl-u :x.csv enter"));
        match &app.requests()[..] {
            [Request::Write(_, rows)] => rows.clone(),
            _ => String::new(),
        }
    };
    let mut app = app("queens.pmt", ThemeName::Dark);
    // They were measured: they are what is shown first.
    assert!(text(&picture(&mut app, 120, 30)).contains("net times"));
    let net = ["1", "2", "3", "4", "8"].map(|screen| rows(&mut app, screen));
    keys(&mut app, "1 C");
    assert!(!text(&picture(&mut app, 120, 30)).contains("net times"));
    let recorded = ["1", "2", "3", "4", "8"].map(|screen| rows(&mut app, screen));
    // The header says which times are in a file.
    for (screen, names, net_names) in [
        (
            0,
            "self_share,self_ns,inclusive_ns,",
            "self_comp_share,self_comp_ns,inclusive_comp_ns,",
        ),
        (1, "share,time_ns,calls,", "comp_share,time_comp_ns,calls,"),
        (
            2,
            "share,inclusive_ns,self_ns,",
            "comp_share,inclusive_comp_ns,self_comp_ns,",
        ),
        (4, "self_ns;", "self_comp_ns;"),
    ] {
        assert!(recorded[screen].starts_with(names), "{}", recorded[screen]);
        assert!(net[screen].starts_with(net_names), "{}", net[screen]);
    }
    for (screen, (net, recorded)) in net.iter().zip(&recorded).enumerate() {
        // What was undone is only known as it was recorded.
        assert_eq!(screen == 3, net == recorded, "{net}");
        assert_eq!(net.lines().count(), recorded.lines().count());
    }
    keys(&mut app, "1 C");
    let again = ["1", "2", "3", "4", "8"].map(|screen| rows(&mut app, screen));
    assert_eq!(again, net);
    // What recording hidden boxes took is taken off their callers' time.
    keys(&mut app, "1 -");
    assert!(text(&picture(&mut app, 120, 30)).contains("net times"));
    let net = rows(&mut app, "1");
    keys(&mut app, "C");
    assert_ne!(rows(&mut app, "1"), net);
}

#[test]
fn quitting_writing_copying_and_editing_are_asked_of_the_terminal() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    keys(&mut app, "y");
    assert!(matches!(&app.requests()[..], [Request::Copy(row)] if row.contains("attack/3")));
    keys(&mut app, "e ctrl-u :x.csv enter");
    assert!(
        matches!(&app.requests()[..], [Request::Write(path, rows)] if path.ends_with("x.csv") && rows.lines().count() == 8)
    );
    keys(&mut app, "o");
    assert!(
        matches!(&app.requests()[..], [Request::Edit(path, line)] if path.ends_with("queens.pl") && *line > 1)
    );
    keys(&mut app, "q");
    assert_eq!(app.requests(), [Request::Quit]);
    keys(&mut app, "/ :qq ctrl-c");
    assert_eq!(app.requests(), [Request::Quit]);
}

#[test]
fn every_sample_can_be_looked_at() {
    for trace in std::fs::read_dir(support::sample("")).unwrap() {
        let name = trace.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".pmt") {
            let mut app = app(&name, ThemeName::Dark);
            for entry in SCREENS {
                keys(&mut app, &entry.digit.to_string());
                picture(&mut app, 80, 24);
            }
        }
    }
}

#[test]
fn damaged_traces_are_shown_and_said_to_be() {
    let whole = std::fs::read(support::sample("queens.pmt")).unwrap();
    for (name, cut, flip) in [
        ("cut", whole.len() / 2, 0),
        ("bare", 4096, 0),
        ("flipped", whole.len(), whole.len() / 2),
    ] {
        let mut bytes = whole[..cut].to_vec();
        if flip > 0 {
            bytes[flip] ^= 0x55;
        }
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pmt"));
        std::fs::write(&path, bytes).unwrap();
        let trace = portmortem_analyzer::Trace::open(&path).unwrap();
        let mut app = App::new(trace, &path, ThemeName::Dark, Filters::default());
        app.wait();
        for entry in SCREENS {
            keys(&mut app, &format!("{} down enter esc", entry.digit));
            let shown = text(&picture(&mut app, 80, 24));
            assert!(shown.contains("see 9"), "{name}, {}:\n{shown}", entry.name);
        }
    }
}

fn names() -> Vec<String> {
    let own = SCREENS
        .iter()
        .flat_map(|entry| entry.make().bindings().iter().copied());
    let mut names: Vec<String> = own
        .chain(EVERYWHERE.iter().copied())
        .chain(LISTS.iter().copied())
        .flat_map(|binding| binding.keys.iter().map(|name| (*name).to_owned()))
        .filter(|name| name.len() != 2 || name == "up" || name == "f1")
        .collect();
    names.extend(["a", "1", "=", "(", "~", "enter", "esc"].map(str::to_owned));
    names.sort();
    names.dedup();
    names
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_keys_in_any_order(
        typed in prop::collection::vec(prop::sample::select(names()), 0..80),
        (width, height) in (1_u16..200, 1_u16..60),
    ) {
        let mut app = app("debray3.pmt", ThemeName::Light);
        for name in typed {
            keys(&mut app, &name);
            picture(&mut app, width, height);
            app.requests();
        }
    }
}
