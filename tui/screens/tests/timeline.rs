//! What a user does on the timeline, step by step, of a trace with threads, failures, pauses and exceptions.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use portmortem_analyzer::Filters;
use portmortem_analyzer::trace::Trace;
use portmortem_screens::app::Request;
use portmortem_screens::{App, ThemeName};
use support::{app, keys, made, picture, text, watchdog};

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

fn many() -> App {
    let path = made::program();
    watchdog::begin("large.pmt");
    let trace = Trace::open(&path).unwrap();
    let app = App::new(trace, &path, ThemeName::Dark, Filters::default());
    let mut app = app.without_sources();
    app.wait();
    app
}

/// The picture when all of it was read.
fn whole(app: &mut App, typed: &str, width: u16, height: u16) -> String {
    keys(app, typed);
    picture(app, width, height);
    app.wait();
    text(&picture(app, width, height))
}

#[test]
fn many_streams_are_a_line_each_most_work_first() {
    let mut app = many();
    keys(&mut app, "9 t");
    keys(&mut app, "Y");
    let Some(Request::Copy(streams)) = app.requests().pop() else {
        panic!("nothing was copied");
    };
    let (heads, rows) = streams.split_once('\n').unwrap();
    let place = |name| heads.split(',').position(|head| head == name).unwrap();
    let (work, name) = (place("work_ns"), place("name"));
    let mut rows: Vec<(u64, String)> = rows
        .lines()
        .map(|row| {
            let cells: Vec<&str> = row.split(',').collect();
            (cells[work].parse().unwrap(), cells[name].to_owned())
        })
        .collect();
    rows.sort_by_key(|(work, _)| std::cmp::Reverse(*work));
    let shown = whole(&mut app, "1 5", 120, 40);
    for (line, (_, name)) in shown.lines().skip(4).zip(&rows) {
        let begin: String = line.chars().take(12).collect();
        assert!(begin.contains(&**name), "{name}: {line}");
    }
    let heads = shown.lines().nth(3).unwrap();
    assert!(heads.ends_with("  work waits"), "{shown}");
    // Where not all have room, the others are counted, and the cursor leads to them.
    let shown = whole(&mut app, "", 80, 18);
    let more = shown.lines().find(|line| line.contains(" more streams"));
    let more = more.unwrap_or_else(|| panic!("{shown}"));
    let more: usize = more
        .trim_start_matches([' ', '…'])
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let listed = shown
        .lines()
        .filter(|line| line.contains("worker") || line.contains("main"));
    assert_eq!(listed.count() + more, rows.len(), "{shown}");
    let down = "down ".repeat(rows.len());
    let shown = whole(&mut app, &down, 80, 18);
    let (_, last) = rows.last().unwrap();
    assert!(shown.contains(&format!("▶{last} ")), "{shown}");
    // One in full, and back.
    let shown = whole(&mut app, "space", 80, 30);
    assert!(
        shown.contains("redos↶") && shown.contains(&**last),
        "{shown}"
    );
    let shown = whole(&mut app, "space", 80, 30);
    assert!(!shown.contains("redos↶"), "{shown}");
}

#[test]
fn times_of_the_ruler_are_since_the_edge_or_since_the_beginning() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    keys(&mut app, "5 home");
    let ruler = |app: &mut App| {
        let shown = text(&picture(app, 120, 30));
        shown.lines().nth(3).unwrap().to_owned()
    };
    let relative = ruler(&mut app);
    assert!(
        relative.contains("▏+") && relative.matches(" s").count() == 1,
        "{relative}"
    );
    keys(&mut app, "a");
    let absolute = ruler(&mut app);
    assert!(
        !absolute.contains('+') && absolute.matches(" s").count() > 3,
        "{absolute}"
    );
    // They grow, and are those of the cursor as it goes there.
    let times = absolute.split(['▏', '▼']).skip(1);
    let times: Vec<f64> = times
        .map(|time| time.split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(times.is_sorted() && times.len() > 3, "{absolute}");
    keys(&mut app, "a");
    assert_eq!(ruler(&mut app), relative);
}
