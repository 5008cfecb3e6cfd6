//! Names that terminals would make something else of.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use std::path::Path;

use portmortem_analyzer::trace::Trace;
use portmortem_screens::screens::SCREENS;
use portmortem_screens::{App, ThemeName};
use portmortem_tracer::format::{Dialect, Event, Header, Outcome, StreamKind, swi_prolog_roles};
use portmortem_tracer::{NewPredicate, Options, Recorder, clock};
use support::{keys, picture, text};

/// A recording in which predicates of these names call each other.
fn record(path: &Path, names: &[String]) {
    let _ = std::fs::remove_file(path);
    let header = Header::of_this_process("test engine");
    let recorder = Recorder::create(path, &header, &Options::default()).unwrap();
    let declare =
        |name: &String| recorder.predicate(NewPredicate::named("user", name, 2).at("p.pl", 1));
    let predicates: Vec<u32> = names.iter().map(declare).collect();
    let stream = recorder.stream(
        StreamKind::Thread,
        "a\x1b[2Jthread\u{202e}",
        Dialect::EveryRedo,
    );
    let calls = predicates
        .iter()
        .map(|&predicate| Event::Call { predicate });
    let exits = predicates.iter().map(|_| Event::ExitDet);
    let begin = clock::ticks() + (1 << 30);
    for (event, tick) in calls.chain(exits).zip((begin..).step_by(1000)) {
        stream.record_at(event, tick);
    }
    recorder.close(Outcome::Exited(0)).unwrap();
}

#[test]
fn odd_names_spoil_nothing() {
    let names = [
        "\x1b[31mred\x07\x1b]0;title\x07",
        "two\nlines\r\tand a tab",
        "\u{9b}2J\u{7f}\u{0}",
        "日本語の述語",
        "שלום עולם",
        "\u{202e}backwards\u{2066}isolated",
        "e\u{301}\u{301}\u{200d}\u{feff}joined",
        "",
        "👩‍👩‍👧‍👦",
    ];
    let mut names: Vec<String> = names.map(str::to_owned).into();
    names.push("long".repeat(5000));
    names.push("広い".repeat(5000));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("odd_names.pmt");
    record(&path, &names);
    let trace = Trace::open(&path).unwrap();
    let mut app = App::new(trace, &path, ThemeName::Dark, Default::default());
    app.wait();
    for entry in SCREENS {
        keys(&mut app, &entry.digit.to_string());
        for (width, height) in [(80, 24), (160, 50)] {
            for _ in 0..names.len() {
                let picture = picture(&mut app, width, height);
                for cell in picture.content() {
                    let bad = |c: char| {
                        c.is_control()
                            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                    };
                    assert!(!cell.symbol().contains(bad), "{}: {cell:?}", entry.name);
                }
                keys(&mut app, "down");
            }
        }
        if entry.digit == '1' || entry.digit == '6' {
            let shown = text(&picture(&mut app, 160, 50));
            // A wide letter takes two cells, of which the second is empty.
            let shown = shown.replace("日 本", "日本");
            for name in ["日", "longlong", "red", "שלום"] {
                assert!(shown.contains(name), "{name} on {}:\n{shown}", entry.name);
            }
        }
    }
}

/// A module that most predicates are in is said once.
#[test]
fn the_main_module_is_left_out_of_names() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("main_module.pmt");
    let _ = std::fs::remove_file(&path);
    let header = Header::of_this_process("test engine");
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    let named = [
        ("user", "main"),
        ("my queens", "solve"),
        ("my queens", "safe"),
        ("my queens", "attack"),
        ("lists", "append"),
        ("system", "is"),
    ];
    let declare = |&(module, name): &(&str, &str)| {
        let roles = swi_prolog_roles(module, name, 2);
        recorder.predicate(NewPredicate::named(module, name, 2).with_roles(roles))
    };
    let predicates: Vec<u32> = named.iter().map(declare).collect();
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    let calls = predicates
        .iter()
        .map(|&predicate| Event::Call { predicate });
    let exits = predicates.iter().map(|_| Event::ExitDet);
    let begin = clock::ticks() + (1 << 30);
    for (event, tick) in calls.chain(exits).zip((begin..).step_by(1000)) {
        stream.record_at(event, tick);
    }
    recorder.close(Outcome::Exited(0)).unwrap();
    let trace = Trace::open(&path).unwrap();
    let mut app = App::new(trace, &path, ThemeName::Dark, Default::default());
    app.wait();
    let shown = text(&picture(&mut app, 100, 40));
    assert!(shown.contains("predicate of my queens"), "{shown}");
    for name in [" user:main/2", " solve/2", " lists:append/2", " system:"] {
        assert!(shown.contains(name), "{name}: {shown}");
    }
    assert!(!shown.contains("'my queens':"), "{shown}");
    // Conditions and files have the whole names.
    keys(&mut app, "/ :queens enter");
    assert!(text(&picture(&mut app, 100, 40)).contains("3 of 6 predicates"));
    keys(&mut app, "/ ctrl-u :safe enter enter");
    let shown = text(&picture(&mut app, 100, 40));
    assert!(
        shown.contains("< solve/2") && shown.contains("> attack/2"),
        "{shown}"
    );
}
