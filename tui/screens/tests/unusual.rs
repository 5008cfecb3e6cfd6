//! Traces that are not what one expects: still being recorded, without events, of one predicate.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use std::path::{Path, PathBuf};

use portmortem_analyzer::trace::Trace;
use portmortem_screens::screens::SCREENS;
use portmortem_screens::{App, ThemeName};
use portmortem_tracer::format::{Dialect, Event, Header, Outcome, StreamKind};
use portmortem_tracer::{NewPredicate, Options, Recorder, Stream, clock};
use support::{keys, picture, text};

fn begin(name: &str) -> (PathBuf, Recorder) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    let header = Header::of_this_process("test engine");
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    (path, recorder)
}

/// Calls and exits of a predicate, a thousand ticks apart.
fn calls(stream: &Stream, predicate: u32, boxes: u64, from: u64) {
    let events = [Event::Call { predicate }, Event::ExitDet];
    let events = (0..boxes).flat_map(|_| events);
    for (event, tick) in events.zip((from..).step_by(1000)) {
        stream.record_at(event, tick);
    }
}

fn open(path: &Path) -> App {
    let trace = Trace::open(path).unwrap();
    let mut app = App::new(trace, path, ThemeName::Dark, Default::default());
    app.wait();
    app
}

/// What every screen shows, after keys in each.
fn screens(app: &mut App, typed: &str) -> Vec<String> {
    let mut shown = Vec::new();
    for entry in SCREENS {
        keys(app, &format!("{} {typed}", entry.digit));
        keys(app, &entry.digit.to_string());
        for (width, height) in [(80, 24), (160, 50)] {
            shown.push(text(&picture(app, width, height)));
        }
    }
    shown
}

#[test]
fn a_trace_that_is_still_being_recorded() {
    let (path, recorder) = begin("growing.pmt");
    let predicate = recorder.predicate(NewPredicate::named("user", "p", 2).at("p.pl", 1));
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    let now = clock::ticks() + (1 << 30);
    calls(&stream, predicate, 2500, now);
    let mut app = open(&path);
    for shown in screens(&mut app, "down end") {
        assert!(shown.contains("DID NOT END, see 9"), "{shown}");
        assert!(shown.contains("5,000 events"), "{shown}");
    }
    // It grows, in the block that is shown and beyond the end of what was opened.
    calls(&stream, predicate, 500_000, now + (1 << 30));
    for shown in screens(&mut app, "home end pgup n down") {
        assert!(shown.contains("5,000 events"), "{shown}");
    }
    keys(&mut app, "6 end");
    let shown = text(&picture(&mut app, 160, 50));
    assert!(shown.contains("event 4,999 of 0–4,999"), "{shown}");
    let mut later = open(&path);
    let shown = text(&picture(&mut later, 160, 50));
    assert!(
        shown.contains("DID NOT END") && shown.contains("1,005,000 events"),
        "{shown}"
    );
    keys(&mut later, "6 : :1000000 enter");
    let shown = text(&picture(&mut later, 160, 50));
    assert!(shown.contains("event 1,000,000 of 0–1,004,999"), "{shown}");
    drop(stream);
    recorder.close(Outcome::Exited(0)).unwrap();
    // Whole now: no screen says otherwise.
    for shown in screens(&mut open(&path), "") {
        assert!(!shown.contains("DID NOT END"), "{shown}");
    }
}

/// Gaps without lost events have the number of the event before, which was lost here.
#[test]
fn gaps_side_by_side_behind_very_many_lost_events() {
    let (path, recorder) = begin("gaps.pmt");
    let predicate = recorder.predicate(NewPredicate::named("user", "p", 2).at("p.pl", 1));
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    let now = clock::ticks() + (1 << 30);
    calls(&stream, predicate, 10, now);
    for (lost, tick) in [5_000_000, 0, 0, 0].into_iter().zip(now + 100_000..) {
        stream.record_at(Event::Gap { lost }, tick);
    }
    drop(stream);
    recorder.close(Outcome::Exited(0)).unwrap();
    let mut app = open(&path);
    keys(&mut app, "6 end");
    let shown = text(&picture(&mut app, 160, 50));
    assert!(shown.contains("gap"), "{shown}");
    // Back over all of them, to the first event.
    for typed in [
        "pgup pgup pgup",
        "home",
        "end N",
        "end / :port_=_exit enter end",
    ] {
        keys(&mut app, typed);
        picture(&mut app, 160, 50);
    }
    keys(&mut app, "esc home");
    let shown = text(&picture(&mut app, 160, 50));
    assert!(shown.contains("event 0 of "), "{shown}");
}

/// What is followed did not stop; without `--follow` it is unknown whether it goes on.
#[test]
fn a_trace_that_is_followed_is_still_being_recorded() {
    let (path, recorder) = begin("followed.pmt");
    let predicate = recorder.predicate(NewPredicate::named("user", "p", 2).at("p.pl", 1));
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    calls(&stream, predicate, 2500, clock::ticks() + (1 << 30));
    let first = |follow: bool| {
        let trace = Trace::open(&path).unwrap();
        let app = App::new(trace, &path, ThemeName::Dark, Default::default());
        let mut app = app.following(follow);
        app.wait();
        text(&picture(&mut app, 120, 30))
    };
    let shown = first(true);
    assert!(shown.contains("still being recorded"), "{shown}");
    assert!(!shown.contains("DID NOT END"), "{shown}");
    let shown = first(false);
    assert!(!shown.contains("still being recorded"), "{shown}");
    assert!(shown.contains("DID NOT END"), "{shown}");
    drop(stream);
    recorder.close(Outcome::Exited(0)).unwrap();
    // It ended before it was looked at.
    let shown = first(true);
    assert!(!shown.contains("still being recorded"), "{shown}");
    assert!(
        shown.contains("the recording ended: exit status 0"),
        "{shown}"
    );
}

#[test]
fn without_events_every_screen_says_so() {
    let (path, recorder) = begin("nothing.pmt");
    drop(recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo));
    recorder.close(Outcome::Exited(0)).unwrap();
    let mut app = open(&path);
    for shown in screens(&mut app, "down end enter n / :x enter esc v t m i") {
        assert!(shown.contains(" 0 events"), "{shown}");
        assert!(!shown.contains("see 9"), "{shown}");
    }
    keys(&mut app, "6");
    let shown = text(&picture(&mut app, 80, 24));
    assert!(shown.contains("no events in this stream"), "{shown}");
}

#[test]
fn one_predicate_is_all_there_is() {
    let (path, recorder) = begin("one.pmt");
    let predicate = recorder.predicate(NewPredicate::named("user", "alone", 2).at("p.pl", 1));
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    calls(&stream, predicate, 1, clock::ticks() + (1 << 30));
    drop(stream);
    recorder.close(Outcome::Exited(0)).unwrap();
    let mut app = open(&path);
    for entry in SCREENS {
        let named = ['1', '2', '3', '5', '6', '7', '8'].contains(&entry.digit);
        keys(&mut app, &format!("{} down up", entry.digit));
        let shown = text(&picture(&mut app, 80, 24));
        // The line of crumbs is about other screens, too.
        let own: String = shown.lines().take(2).chain(shown.lines().skip(3)).collect();
        assert_eq!(own.contains("alone/2"), named, "{}:\n{shown}", entry.name);
    }
    // Hidden, it leaves nothing, and comes back.
    keys(&mut app, "1 d");
    for shown in screens(&mut app, "down enter") {
        assert!(shown.contains("hide: alone/2"), "{shown}");
    }
    keys(&mut app, "6");
    let shown = text(&picture(&mut app, 80, 24));
    assert!(
        shown.contains("no event of this stream is listed"),
        "{shown}"
    );
    keys(&mut app, "esc");
    assert!(text(&picture(&mut app, 80, 24)).contains("alone/2"));
}

#[test]
fn cost_centres_have_a_table() {
    let (path, recorder) = begin("centres.pmt");
    let predicate = recorder.predicate(NewPredicate::named("user", "p", 2).at("p.pl", 1));
    let center = recorder.cost_center("sorting");
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    let now = clock::ticks() + (1 << 30);
    calls(&stream, predicate, 3, now);
    stream.record_at(Event::Call { predicate: center }, now + 10_000);
    calls(&stream, predicate, 20, now + 20_000);
    stream.record_at(Event::ExitDet, now + 100_000);
    drop(stream);
    recorder.close(Outcome::Exited(0)).unwrap();
    let mut app = open(&path);
    keys(&mut app, "9 t t");
    let shown = text(&picture(&mut app, 120, 30));
    let mut lines = shown.lines().skip(3);
    let mut row = |name: &str| numbers(lines.find(|line| line.contains(name)));
    // Share, time; entered, calls, exits.
    assert_eq!(row("sorting")[2..5], ["1", "20", "20"], "{shown}");
    assert_eq!(row("<outside>")[2..5], ["0", "3", "3"], "{shown}");
    keys(&mut app, "enter");
    assert!(text(&picture(&mut app, 120, 30)).contains("call 1"));
    // They follow a focus.
    keys(&mut app, "esc F 9");
    let shown = text(&picture(&mut app, 120, 30));
    assert!(shown.contains("in: cost_center(sorting)"), "{shown}");
    assert!(!shown.contains("<outside>"), "{shown}");
    let sorting = shown.lines().rfind(|line| line.contains("sorting"));
    assert_eq!(numbers(sorting)[2..5], ["1", "20", "20"], "{shown}");
}

/// Those of a row, without its bar: there is none if the share is small, and times follow the clock
/// of this machine.
fn numbers(row: Option<&str>) -> Vec<&str> {
    let words = row.unwrap().split_whitespace();
    let is_number = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    words.filter(is_number).collect()
}

/// A call tree of so many rows takes longer to make than a key waits for it.
#[test]
fn keys_wait_for_what_a_screen_makes() {
    let (path, recorder) = begin("wide.pmt");
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    let main = recorder.predicate(NewPredicate::named("user", "main", 0));
    let begin = clock::ticks() + (1 << 30);
    stream.record_at(Event::Call { predicate: main }, begin);
    for at in 1..=50_000 {
        let predicate = recorder.predicate(NewPredicate::named("user", &format!("p{at}"), 0));
        calls(&stream, predicate, 1, begin + at * 10_000);
    }
    drop(stream);
    recorder.close(Outcome::Exited(0)).unwrap();
    let mut app = open(&path);
    for name in ["3", "down", "z"] {
        app.key(&support::key(name));
    }
    app.wait();
    let shown = text(&picture(&mut app, 80, 24));
    assert!(shown.contains("below p"), "{shown}");
}
