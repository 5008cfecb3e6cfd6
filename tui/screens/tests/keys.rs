//! Keys: all of them are in help and can be pressed; what they do, and the way back.

mod support;

use std::collections::HashSet;

use portmortem_analyzer::Filters;
use portmortem_screens::app::Request;
use portmortem_screens::keys::{self, Binding};
use portmortem_screens::screens::{SCREENS, ScreenId};
use portmortem_screens::{App, ThemeName};
use support::{app, key, keys, picture, text, watchdog};

fn all_bindings(app: &App) -> Vec<Binding> {
    let tables = app.offered().into_iter();
    tables.flat_map(|(_, table)| table).collect()
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
                if !keys::is_of_two(name) {
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
    for typed in ["/ :att enter", "d", "F", "W :0.1ms..2s enter", "enter", "F"] {
        keys(&mut app, typed);
        // Messages go with the next key.
        keys(&mut app, "ctrl-l");
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
        keys(app, "1 Y");
        match &app.requests()[..] {
            [Request::Copy(rows)] => rows.lines().skip(1).map(str::to_owned).collect(),
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
    while text(&picture(&mut app, 120, 30)).contains("time: ..1ns") {
        keys(&mut app, "esc");
    }
    assert_eq!(calls(&mut app), below);
    keys(&mut app, "esc esc esc");
    assert_eq!(calls(&mut app), all);
    keys(&mut app, "W :nonsense enter");
    assert!(text(&picture(&mut app, 120, 30)).contains("no range of time"));
}

#[test]
fn net_times_are_shown_where_they_are_known() {
    let rows = |app: &mut App, screen: &str| {
        keys(app, &format!("{screen} home + Y"));
        match &app.requests()[..] {
            [Request::Copy(rows)] => rows.clone(),
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
    keys(&mut app, "1 d");
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

/// The predicate that is selected elsewhere is nowhere in the box that the flame graph shows as
/// all.
#[test]
fn the_flame_graph_leaves_a_zoom_for_a_predicate_outside() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    keys(&mut app, "8 down down down z 1 G");
    let row = copied(&mut app);
    let name = row.lines().last().unwrap().rsplit(',').next().unwrap();
    keys(&mut app, "g8");
    picture(&mut app, 80, 24);
    assert!(copied(&mut app).ends_with(&format!("{name}\n")), "{name}");
}

/// What [`a_hung_key_is_told`] runs.
#[test]
#[ignore = "never ends by itself"]
fn a_key_that_hangs() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    keys(&mut app, "8 down z");
    watchdog::watching("G", || {
        loop {
            std::thread::park();
        }
    });
}

#[test]
fn a_hung_key_is_told() {
    let hung = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_key_that_hangs", "--ignored", "--nocapture"])
        .env(watchdog::LIMIT, "1")
        .output()
        .unwrap();
    let said = String::from_utf8(hung.stderr).unwrap();
    assert_eq!(hung.status.code(), Some(101), "{said}");
    assert!(
        said.contains("never came back: queens.pmt 8 down z G"),
        "{said}"
    );
}

/// What the cursor is on, as the screen copies it.
fn copied(app: &mut App) -> String {
    keys(app, "y");
    match &app.requests()[..] {
        [Request::Copy(text)] => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn digits_lead_to_a_screen_as_it_was_left_and_g_takes_the_predicate_along() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    keys(&mut app, "1 down down");
    let name = |app: &mut App| {
        let row = copied(app);
        let row = row.lines().last().unwrap().to_owned();
        row.rsplit(',').next().unwrap().to_owned()
    };
    let third = name(&mut app);
    // What was never seen begins there.
    for screen in ["2", "3", "8"] {
        keys(&mut app, screen);
        assert!(copied(&mut app).contains(&third), "{screen}: {third}");
    }
    keys(&mut app, "1 home");
    let first = name(&mut app);
    for screen in ["2", "3", "8"] {
        keys(&mut app, screen);
        assert!(copied(&mut app).contains(&third), "{screen}: {third}");
        keys(&mut app, "1");
        assert_eq!(name(&mut app), first);
        keys(&mut app, &format!("g{screen}"));
        assert!(copied(&mut app).contains(&first), "{screen}: {first}");
        keys(&mut app, "esc");
        assert_eq!(name(&mut app), first);
    }
}

/// Each step is a place, with its screen, row, scroll and zoom; the line of crumbs names it.
#[test]
fn esc_goes_back_one_place_whatever_the_screen() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    let mut pictures = Vec::new();
    let steps = [
        "down down 3",
        "+",
        "G z",
        "8",
        "G z",
        "i s 1",
        "/ :att enter",
        "enter",
        "2 down g3",
        "5",
        ". . . +",
        "6",
        "down down n",
        "%",
        "v",
        "F",
        "4",
        "t t",
        "7",
        "9",
        "t 0",
        "5",
        ". . +",
    ];
    for typed in steps {
        let (moves, step) = typed.rsplit_once(' ').unwrap_or(("", typed));
        let (moves, step) = match typed {
            "/ :att enter" => ("", typed),
            "t t" => (typed, ""),
            _ => (moves, step),
        };
        keys(&mut app, moves);
        // Messages go with the next key.
        keys(&mut app, "ctrl-l");
        picture(&mut app, 100, 30);
        let before = text(&picture(&mut app, 100, 30));
        keys(&mut app, step);
        keys(&mut app, "ctrl-l");
        let after = text(&picture(&mut app, 100, 30));
        if after.lines().nth(2) != before.lines().nth(2) {
            pictures.push((typed, before));
        }
    }
    assert!(pictures.len() > 15, "{}", pictures.len());
    for (typed, before) in pictures.into_iter().rev() {
        keys(&mut app, "esc ctrl-l");
        assert_eq!(text(&picture(&mut app, 100, 30)), before, "{typed}");
    }
    keys(&mut app, "esc");
    assert!(text(&picture(&mut app, 100, 30)).contains("nothing to undo"));
}

#[test]
fn names_are_looked_for_on_all_screens() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    let found = |app: &mut App| text(&picture(app, 120, 30)).contains("filter: attack");
    keys(&mut app, "/ :attack enter");
    for screen in ["1", "3", "4", "8", "1"] {
        keys(&mut app, screen);
        assert!(found(&mut app), "{screen}");
    }
    // A screen's own condition is its own, and Esc leads back to the name.
    keys(&mut app, "3 / ctrl-u :calls_>_1 enter");
    assert!(!found(&mut app));
    keys(&mut app, "4");
    assert!(found(&mut app));
    keys(&mut app, "esc esc");
    assert!(found(&mut app));
    // Back before the name was looked for, it is looked for nowhere.
    keys(&mut app, "esc esc esc esc esc esc");
    for screen in ["8", "1", "3", "4"] {
        keys(&mut app, screen);
        assert!(!found(&mut app), "{screen}");
    }
}

#[test]
fn the_flame_graph_is_written_as_a_picture() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    keys(&mut app, "8 e enter");
    match &app.requests()[..] {
        [Request::Write(path, picture)] => {
            assert!(path.ends_with("queens-flame.svg"), "{path:?}");
            assert!(picture.contains("<svg") && picture.contains("attack/2"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn waiting_and_loading_are_folded_in_the_flame_graph() {
    let mut app = app("scan.pmt", ThemeName::Dark);
    // As recorded: net times know of no waiting.
    keys(&mut app, "C 8");
    let written = |app: &mut App| {
        keys(app, "e enter");
        match &app.requests()[..] {
            [Request::Write(_, picture)] => picture.clone(),
            _ => String::new(),
        }
    };
    let boxes = |shown: &str| {
        shown
            .lines()
            .skip(3)
            .take(10)
            .any(|line| line.contains("waiting/0"))
    };
    let folded = text(&picture(&mut app, 120, 30));
    assert!(!boxes(&folded), "{folded}");
    assert!(
        folded.contains("‖ folded ") && folded.contains("w unfolds"),
        "{folded}"
    );
    let svg = written(&mut app);
    assert!(!svg.contains("system:waiting/0") && svg.contains("lookup/2"));
    assert!(svg.contains(">scan, without "));
    keys(&mut app, "w");
    let all = text(&picture(&mut app, 120, 30));
    assert!(boxes(&all) && !all.contains("folded"), "{all}");
    let svg = written(&mut app);
    assert!(svg.contains("system:waiting/0") && !svg.contains(", without "));
    // All of it in a focus that is nothing else.
    keys(&mut app, "1 / :waiting enter F 8");
    keys(&mut app, "w");
    let nothing = text(&picture(&mut app, 120, 30));
    assert!(nothing.contains("w shows it"), "{nothing}");
}

#[test]
fn both_sides_of_a_pair_can_be_gone_to() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    keys(&mut app, "4");
    let row = copied(&mut app);
    let names: Vec<&str> = row.lines().last().unwrap().rsplit(',').take(2).collect();
    for (typed, name) in [("enter", names[1]), ("esc i enter", names[0])] {
        keys(&mut app, typed);
        assert_eq!(app.screen(), ScreenId::Predicate);
        let shown = text(&picture(&mut app, 120, 30));
        assert!(
            shown.lines().nth(1).unwrap().trim_end().ends_with(name),
            "{shown}"
        );
    }
}

/// On every screen `v` leads to one event and Esc back; however late the event is found, that is one step.
#[test]
fn g_takes_the_moment_along_and_v_leads_to_the_call_of_the_box() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    let event = |app: &mut App| -> u64 {
        let shown = text(&picture(app, 120, 40));
        let (_, title) = shown.split_once(" event ").unwrap();
        let number: String = title.chars().take_while(|c| *c != ' ').collect();
        number.replace(',', "").parse().unwrap()
    };
    keys(&mut app, "5");
    picture(&mut app, 120, 40);
    // In the box of main/0, which begins in the first cells.
    keys(&mut app, &". ".repeat(60));
    let before = text(&picture(&mut app, 120, 40));
    assert!(before.contains(" main/0  called, "), "{before}");
    keys(&mut app, "g6");
    assert!(event(&mut app) > 10_000);
    // And back: nothing has moved.
    keys(&mut app, "esc");
    assert_eq!(text(&picture(&mut app, 120, 40)), before);
    keys(&mut app, "v");
    assert_eq!(event(&mut app), 16);
    keys(&mut app, "esc");
    assert_eq!(text(&picture(&mut app, 120, 40)), before);
    // Among the events v leads to the call, too, and then to those around it.
    keys(&mut app, "g6 v v v v v v v v v v v v v v v");
    assert_eq!(event(&mut app), 16);
}

#[test]
fn the_first_look_at_the_timeline_is_at_the_moment_too() {
    for typed in ["6 5", "6 n 5"] {
        let mut app = app("queens.pmt", ThemeName::Dark);
        keys(&mut app, "W :5ms..7ms enter");
        keys(&mut app, typed);
        let shown = text(&picture(&mut app, 100, 30));
        assert!(shown.contains("s of 2.000 ms"), "{typed}: {shown}");
    }
}

#[test]
fn v_leads_to_an_event_and_esc_back() {
    for entry in SCREENS {
        let mut app = app("scan.pmt", ThemeName::Dark);
        keys(&mut app, &entry.digit.to_string());
        let before = text(&picture(&mut app, 120, 40));
        let has_event = app.screen() != ScreenId::Events;
        keys(&mut app, "v");
        if app.screen() == ScreenId::Events && has_event {
            keys(&mut app, "esc");
            assert_eq!(text(&picture(&mut app, 120, 40)), before, "{}", entry.name);
        } else {
            assert!(["Trace", "Changes", "Events", "Advice"].contains(&entry.name));
        }
    }
}
