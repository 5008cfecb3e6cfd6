//! What keys do, on traces made for it.

use std::path::{Path, PathBuf};

use portmortem_analyzer::Trace;
use portmortem_analyzer::timeline::{Began, Ended};
use portmortem_tracer::format::{Dialect, Event, Header, Outcome, StreamKind};
use portmortem_tracer::{Options, Recorder, clock};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::runs::Shows;
use super::*;
use portmortem_analyzer::{Filter, Filters};

/// A recording of streams of `p0/0`, `p1/0` and so on; events with ticks since the beginning.
fn record(name: &str, streams: &[&[(Event, u64)]]) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp");
    std::fs::create_dir_all(&path).unwrap();
    let path = path.join(format!("timeline-{name}.pmt"));
    let _ = std::fs::remove_file(&path);
    let header = Header::of_this_process("test engine");
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    for at in 0..8 {
        assert_eq!(
            recorder.predicate("user", &format!("p{at}"), 0, None, 0),
            at
        );
    }
    let base = clock::ticks() + (1 << 30);
    for (number, events) in streams.iter().enumerate() {
        let stream = recorder.stream(
            StreamKind::Thread,
            &format!("t{number}"),
            Dialect::EveryRedo,
        );
        for &(event, tick) in *events {
            stream.record_at(event, base + tick);
        }
    }
    recorder.close(Outcome::Exited(0)).unwrap();
    path
}

fn analysis(path: &Path, hide: &[&str]) -> Arc<AnalysisView> {
    let mut scope = Filters::default();
    for pattern in hide {
        scope.push(Filter::Hide((*pattern).to_owned()));
    }
    Arc::new(AnalysisView::part(
        Arc::new(Trace::open(path).unwrap()),
        path,
        scope,
    ))
}

/// The screen as it is drawn, without styles.
fn drawn(screen: &mut Timeline, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let theme = Theme::plain();
    terminal
        .draw(|frame| screen.draw(frame.area(), frame.buffer_mut(), &theme))
        .unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect();
    (0..height).map(row).collect()
}

/// A screen that shows from the first event on: what the recorder does before is long ago.
fn screen(path: &Path, hide: &[&str]) -> Timeline {
    let mut screen = Timeline::default();
    screen.follow(&analysis(path, hide));
    drawn(&mut screen, 108, 21);
    let to = screen.whole.to;
    let trace = &screen.analysis().unwrap().trace;
    let first = trace
        .streams()
        .iter()
        .filter_map(|stream| Some(trace.events(stream).next()?.tick));
    screen.whole.from = first.min().unwrap();
    screen.set_view(screen.whole.from, to);
    screen.position.cursor = screen.whole.from;
    drawn(&mut screen, 108, 21);
    screen
}

const CALL: fn(u32) -> Event = |predicate| Event::Call { predicate };

/// `p0` calls `p1`, which fails, and `p2`, which can be redone, and is.
fn small() -> Vec<(Event, u64)> {
    vec![
        (CALL(0), 0),
        (CALL(1), 1000),
        (Event::Fail, 3000),
        (CALL(2), 4000),
        (Event::ExitNondet, 5000),
        (Event::Redo, 7000),
        (Event::ExitDet, 8000),
        (Event::ExitDet, 10_000),
    ]
}

#[test]
fn boxes_are_where_they_were() {
    let mut screen = screen(&record("small", &[&small()]), &[]);
    let shown = drawn(&mut screen, 108, 21);
    assert!(shown[5].starts_with("     0 ▶p0/0"), "{shown:#?}");
    let inner: String = shown[6].chars().skip(7).collect();
    let places: Vec<usize> = ["▏p1/0", "✗", "▏p2/0", "◇", "↶p2/0"]
        .iter()
        .map(|sign| inner[..inner.find(sign).unwrap()].chars().count())
        .collect();
    assert_eq!(places, [10, 29, 40, 49, 70]);
}

#[test]
fn the_cursor_goes_from_box_to_box() {
    let mut screen = screen(&record("cursor", &[&small()]), &[]);
    assert_eq!(screen.predicate(), Some(0));
    screen.act(Action::Down);
    assert_eq!((screen.position.row, screen.predicate()), (1, None));
    let mut shown = Vec::new();
    for _ in 0..4 {
        screen.act(Action::Right);
        shown.push(screen.predicate());
    }
    assert_eq!(shown, [Some(1), None, Some(2), None]);
    screen.act(Action::Right);
    let Some(Shows::One(segment)) = screen.run().map(|run| run.shows) else {
        panic!("no box")
    };
    assert_eq!(
        (segment.began, segment.ended),
        (Began::Redo, Ended::ExitDet)
    );
    assert_eq!(screen.act(Action::Enter), Effect::Open(2));
    assert_eq!(
        screen.event(),
        Some(EventTarget::At {
            stream: 0,
            number: 5
        })
    );
    screen.act(Action::Left);
    screen.act(Action::Left);
    assert_eq!(
        screen.event(),
        Some(EventTarget::At {
            stream: 0,
            number: 3
        })
    );
    screen.act(Action::Up);
    screen.act(Action::Up);
    assert_eq!(screen.position.row, 0);
}

#[test]
fn each_zoom_is_undone_on_its_own() {
    let mut screen = screen(&record("zoom", &[&small()]), &[]);
    screen.act(Action::Down);
    screen.act(Action::Right);
    let places = [
        Action::ZoomIn,
        Action::Zoom,
        Action::ZoomOut,
        Action::ZoomIn,
    ]
    .map(|action| {
        let before = screen.position;
        assert_eq!(act(&mut screen, action), Effect::Step, "{action:?}");
        drawn(&mut screen, 108, 21);
        assert_eq!(screen.predicate(), Some(1), "{action:?}");
        before
    });
    for place in places.into_iter().rev() {
        assert!(screen.undo());
        assert_eq!(screen.position, place);
    }
    assert!(!screen.undo());
    while screen.act(Action::ZoomIn) == Effect::Step {}
    assert_eq!(screen.position.view.span(), u64::from(screen.layout.width));
}

#[test]
fn a_box_is_zoomed_to_from_end_to_end() {
    let mut screen = screen(&record("box", &[&small()]), &[]);
    screen.act(Action::Down);
    screen.act(Action::Right);
    let begin = screen.whole.from;
    act(&mut screen, Action::Zoom);
    let View { from, to } = screen.position.view;
    assert_eq!((from, to), (begin + 1000 - 125, begin + 3000 + 125));
    drawn(&mut screen, 108, 21);
    // Where it is shown whole, nothing happens; where less of it is, all of it is shown.
    let Effect::Say(text) = act(&mut screen, Action::Zoom) else {
        panic!()
    };
    assert!(text.contains("is shown whole"));
    screen.act(Action::ZoomIn);
    screen.act(Action::ZoomIn);
    drawn(&mut screen, 108, 21);
    assert_eq!(act(&mut screen, Action::Zoom), Effect::Step);
    assert_eq!(screen.position.view, View { from, to });
    drawn(&mut screen, 108, 21);
    screen.act(Action::Up);
    assert_eq!(act(&mut screen, Action::Zoom), Effect::Step);
    let View { from, to } = screen.position.view;
    assert!(from <= begin && to >= begin + 10_000);
}

#[test]
fn the_length_of_what_is_not_all_seen_says_so() {
    let mut screen = screen(&record("clipped", &[&small()]), &[]);
    let foot = |screen: &mut Timeline| drawn(screen, 108, 21)[18].clone();
    assert!(!foot(&mut screen).contains("in sight"));
    screen.act(Action::ZoomIn);
    assert!(foot(&mut screen).contains("of it in sight"));
}

#[test]
fn a_search_moves_from_match_to_match() {
    let mut screen = screen(&record("moves", &[&small()]), &[]);
    let begin = screen.whole.from;
    screen.set_filter("p2");
    let mut found = Vec::new();
    let mut effect = end(&mut screen, Screen::search);
    while effect == Effect::Step {
        drawn(&mut screen, 108, 21);
        assert_eq!((screen.predicate(), screen.position.row), (Some(2), 1));
        found.push(screen.position.cursor - begin);
        effect = act(&mut screen, Action::NextMatch);
    }
    assert_eq!(found, [4000, 7000]);
    assert!(matches!(effect, Effect::Say(text) if text.contains("no later box")));
    assert_eq!(act(&mut screen, Action::PreviousMatch), Effect::Step);
    assert_eq!(screen.position.cursor - begin, 4000);
    assert!(screen.undo());
    assert_eq!(screen.position.cursor - begin, 7000);
    let position = screen.position;
    screen.set_filter("no such name");
    let Effect::Say(text) = screen.search() else {
        panic!()
    };
    assert_eq!(text, "no predicate has that name");
    assert_eq!(screen.position, position);
}

#[test]
fn names_are_written_over_crowds() {
    // Calls of p1 and p2 by turns, of which those of p2 take longer, and then of p3.
    let mut events = vec![(CALL(0), 0)];
    for at in 0..3000 {
        let (called, length) = match at {
            ..1000 if at % 2 == 0 => (1, 2),
            ..1000 => (2, 7),
            _ => (3, 5),
        };
        events.push((CALL(called), 10 * at + 1));
        events.push((Event::ExitDet, 10 * at + 1 + length));
    }
    events.push((Event::ExitDet, 30_000));
    let mut screen = screen(&record("crowds", &[&events]), &[]);
    let row = drawn(&mut screen, 108, 21)[6].clone();
    assert!(row.contains("~p2/0░░") && row.contains("~p3/0░░"), "{row}");
    assert_eq!(row.matches('~').count(), 2, "{row}");
}

#[test]
fn the_first_view_is_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/threads_exceptions.pmt");
    let mut screen = Timeline::default();
    screen.follow(&analysis(&path, &[]));
    let View { from, to } = screen.position.view;
    assert!(from > screen.whole.from && to <= screen.whole.to);
    drawn(&mut screen, 80, 21);
    screen.poll(true);
    assert!(screen.status().starts_with("program "));
    // What was before is reached.
    assert_eq!(screen.act(Action::Top), Effect::Step);
    assert_eq!(screen.position.view.from, screen.whole.from);
    screen.undo();
    assert_eq!(screen.position.view, View { from, to });
}

#[test]
fn long_pauses_are_not_in_the_first_view() {
    let long = 1 << 34;
    // A directive, and a program with a setup that is not recorded, and some work before that.
    let events = [
        (CALL(1), 0),
        (Event::ExitDet, 10),
        (CALL(0), 1_000_000),
        (CALL(1), 1_000_100),
        (Event::Pause, 1_000_200),
        (Event::Resume, long),
        (CALL(2), long + 1_000_000),
        (Event::ExitDet, long + 9_000_000),
        (Event::ExitDet, long + 9_000_100),
        (Event::ExitDet, long + 9_000_200),
        (CALL(3), 2 * long),
        (Event::ExitDet, 2 * long + 50),
    ];
    let path = record("pauses", &[&events]);
    let mut screen = Timeline::default();
    screen.follow(&analysis(&path, &[]));
    let first = |screen: &Timeline| {
        let trace = &screen.analysis().unwrap().trace;
        trace.events(&trace.streams()[0]).next().unwrap().tick
    };
    let begin = first(&screen);
    let View { from, to } = screen.position.view;
    assert_eq!((from - begin, to - begin), (long, long + 9_000_201));
    drawn(&mut screen, 108, 21);
    assert_eq!(screen.predicate(), Some(0));
}

#[test]
fn last_calls_of_the_same_predicate_are_one_box() {
    let tail = Event::Tail { predicate: 1 };
    let mut events = vec![(CALL(0), 0), (CALL(1), 1000)];
    events.extend((0..50).map(|at| (tail, 1100 + 100 * at)));
    events.extend([(Event::Tail { predicate: 2 }, 7000), (Event::ExitDet, 9000)]);
    events.push((Event::ExitDet, 10_000));
    let mut screen = screen(&record("tails", &[&events]), &[]);
    let view = screen.position.view;
    let target = |number| EventTarget::At { stream: 0, number };
    for (number, predicate) in [(1, 1), (20, 1), (52, 2)] {
        end(&mut screen, |screen| screen.show_event(target(number)));
        drawn(&mut screen, 108, 21);
        // It is large enough where it is.
        assert_eq!(screen.position.view, view);
        assert_eq!(screen.predicate(), Some(predicate));
        assert_eq!(screen.event(), Some(target(number)));
    }
}

#[test]
fn moments_lead_both_ways() {
    for (name, hide) in [
        ("threads_exceptions.pmt", &[][..]),
        ("queens.pmt", &[]),
        ("queens.pmt", &["permute/3"]),
        ("debray3.pmt", &[]),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../traces")
            .join(name);
        let analysis = analysis(&path, hide);
        let mut timeline = Timeline::default();
        let mut events = super::super::events::Events::default();
        timeline.follow(&analysis);
        events.follow(&analysis);
        drawn(&mut timeline, 100, 24);
        wait(&mut timeline);
        let mut seed = 7_u64;
        for _ in 0..60 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let stream = (seed >> 33) as usize % analysis.trace.streams().len();
            let numbers = analysis.profile.streams[stream].numbers();
            let number = numbers.start + (seed >> 17) % (numbers.end - numbers.start);
            let target = EventTarget::At { stream, number };
            events.show_event(target);
            while events.poll(true) != Effect::Unused {}
            // What is hidden is passed.
            let shown = events.event().unwrap();
            assert!(shown == target || !hide.is_empty());
            let target = shown;
            let EventTarget::At { number, .. } = target else {
                panic!()
            };
            let before = timeline.position;
            let effect = end(&mut timeline, |timeline| timeline.show_event(target));
            assert_eq!(
                timeline.event(),
                Some(target),
                "{name} {effect:?} {:?}",
                timeline.position
            );
            drawn(&mut timeline, 100, 24);
            wait(&mut timeline);
            assert_eq!(timeline.event(), Some(target), "{name}");
            // The box is under the cursor, at its depth.
            let info = &analysis.trace.streams()[stream];
            let walk = portmortem_analyzer::walk::Walk::from(&analysis.trace, None, info, number);
            let step = walk.into_iter().next().unwrap();
            if let Some((of, depth)) = step
                .of
                .filter(|_| !matches!(step.event, Event::Tail { .. }))
            {
                let row = u64::from(timeline.position.row);
                assert!(row == depth || row < depth && !hide.is_empty());
                let shows = timeline.run().unwrap().shows;
                let Shows::One(segment) = shows else {
                    panic!(
                        "{name} {target:?}: {shows:?} {:?} {:?} {}",
                        timeline.cell(),
                        timeline.position,
                        timeline.layout.width
                    )
                };
                assert_eq!(segment.called, of.called, "{name} {target:?}");
            }
            if effect == Effect::Step {
                assert!(timeline.undo());
                assert_eq!(timeline.position, before);
            }
        }
    }
}

#[test]
fn the_first_event_of_a_predicate_is_gone_to() {
    let mut screen = screen(&record("first", &[&small()]), &[]);
    let begin = screen.whole.from;
    for (predicate, number, tick) in [(2, 3, 4000), (1, 1, 1000)] {
        let target = EventTarget::FirstOf(predicate);
        assert_eq!(
            end(&mut screen, |screen| screen.show_event(target)),
            Effect::Step
        );
        drawn(&mut screen, 108, 21);
        let stream = 0;
        assert_eq!(screen.event(), Some(EventTarget::At { stream, number }));
        assert_eq!(screen.position.cursor - begin, tick);
    }
    let target = EventTarget::FirstOf(5);
    let effect = end(&mut screen, |screen| screen.show_event(target));
    assert!(matches!(effect, Effect::Say(_)));
}

/// What comes of something in the end.
fn end(screen: &mut Timeline, first: impl Fn(&mut Timeline) -> Effect) -> Effect {
    let mut last = first(screen);
    while screen.seek.is_some() {
        last = screen.poll(true);
    }
    last
}

fn marked(screen: &Timeline) -> Option<Window> {
    screen.range.window(screen.analysis()?)
}

fn act(screen: &mut Timeline, action: Action) -> Effect {
    end(screen, |screen| screen.act(action))
}

fn wait(screen: &mut Timeline) {
    while screen.poll(true) != Effect::Unused {}
}

#[test]
fn failures_and_redos_are_found_in_order() {
    let mut screen = screen(&record("search", &[&small()]), &[]);
    let begin = screen.whole.from;
    let mut ticks = Vec::new();
    while screen.act(Action::NextMatch) == Effect::Done {
        ticks.push((screen.position.cursor - begin).next_multiple_of(100));
        assert_eq!(screen.position.row, 1);
    }
    assert_eq!(ticks, [3000, 7000]);
    assert_eq!(screen.act(Action::PreviousMatch), Effect::Done);
    assert!(matches!(screen.act(Action::PreviousMatch), Effect::Say(_)));
}

#[test]
fn failures_are_found_beyond_what_is_shown() {
    let mut screen = screen(&record("beyond", &[&small()]), &[]);
    let begin = screen.whole.from;
    screen.set_view(begin, 2000);
    screen.position.cursor = begin;
    drawn(&mut screen, 108, 21);
    assert_eq!(screen.act(Action::NextMatch), Effect::Step);
    drawn(&mut screen, 108, 21);
    assert!(
        screen.column().unwrap().counts.fails == 1 && screen.position.view.from == begin + 2000
    );
    assert!(screen.undo());
    assert_eq!(screen.position.view.from, begin);
    screen.set_view(begin + 8000, 2000);
    drawn(&mut screen, 108, 21);
    assert_eq!(screen.act(Action::PreviousMatch), Effect::Step);
    assert_eq!(screen.column().unwrap().counts.redos, 1);
    let place = screen.position;
    assert!(matches!(screen.act(Action::NextMatch), Effect::Say(_)));
    assert_eq!(screen.position, place);
}

#[test]
fn what_is_searched_for_is_marked() {
    let mut screen = screen(&record("found", &[&small()]), &[]);
    screen.set_filter("p2");
    let shown = drawn(&mut screen, 108, 21);
    assert!(
        shown[6].contains("*p2/0") && shown[6].contains("▏p1/0"),
        "{shown:#?}"
    );
    screen.set_filter("");
    assert!(!drawn(&mut screen, 108, 21)[6].contains('*'));
}

#[test]
fn a_range_has_two_ends() {
    let mut screen = screen(&record("range", &[&small()]), &[]);
    screen.act(Action::RangeBegin);
    assert_eq!(marked(&screen), None);
    for _ in 0..9 {
        screen.act(Action::CellRight);
    }
    screen.act(Action::RangeEnd);
    let begin = screen.whole.from;
    let until = screen.stretch(0).start_of(10);
    let window = Window { from: begin, until };
    let analysis = Arc::clone(screen.analysis().unwrap());
    assert_eq!(marked(&screen), Some(window.in_ns(&analysis.trace)));
    let text = drawn(&mut screen, 108, 21)[20].clone();
    let typed = text.split("--time ").nth(1).unwrap().split(' ').next();
    let read = Window::parse(typed.unwrap(), &analysis.trace);
    assert_eq!(read.ok(), marked(&screen));
    assert!(drawn(&mut screen, 108, 21)[0].contains('['));
    screen.act(Action::RangeEnd);
    assert_eq!(marked(&screen), None);
}

#[test]
fn hidden_boxes_are_not_drawn() {
    let path = record("hidden", &[&small()]);
    let mut screen = screen(&path, &["p0/0"]);
    let shown = drawn(&mut screen, 108, 21);
    assert!(
        shown[5].contains("▏p1/0") && !shown[6].contains("p1/0"),
        "{shown:#?}"
    );
    // Others hidden leave the view alone.
    let view = screen.position.view;
    screen.act(Action::ZoomIn);
    screen.undo();
    screen.whole.from = analysis(&path, &[]).profile.streams[0].first_tick;
    screen.follow(&analysis(&path, &[]));
    assert_eq!(screen.position.view, view);
    assert!(drawn(&mut screen, 108, 21)[6].contains("▏p1/0"));
}

#[test]
fn every_stream_has_a_band() {
    let other = [(CALL(3), 2000), (Event::Exception, 9000)];
    let streams: Vec<&[(Event, u64)]> = std::iter::once(&small()[..])
        .chain(std::iter::repeat_n(&other[..], 19))
        .map(|events| &*events.to_vec().leak())
        .collect();
    let mut screen = screen(&record("bands", &streams), &[]);
    let shown = drawn(&mut screen, 108, 30).join("\n");
    assert!(
        shown.contains("▼stream 1 (t0): 8 events") && shown.contains(" stream 2 (t1): 2 events")
    );
    assert!(
        shown.contains("▏p3/0") && shown.contains("▶p0/0"),
        "{shown}"
    );
    screen.act(Action::Down);
    screen.act(Action::Down);
    assert_eq!((screen.position.band, screen.position.row), (1, 0));
    screen.act(Action::PreviousStream);
    screen.act(Action::PreviousStream);
    assert_eq!(screen.position.band, 19);
    assert!(
        drawn(&mut screen, 108, 30)
            .join("\n")
            .contains("▼stream 20")
    );
    screen.act(Action::Toggle);
    let shown = drawn(&mut screen, 108, 30).join("\n");
    assert!(
        shown.contains("▶stream 20") && !shown.contains("fails✗"),
        "{shown}"
    );
}

#[test]
fn streams_that_are_left_out_have_no_band() {
    let other = [(CALL(3), 2000), (Event::Exception, 9000)];
    let path = record("left-out", &[&small(), &other, &other]);
    let mut scope = Filters::default();
    scope.push(Filter::Stream(2));
    scope.push(Filter::Stream(3));
    let trace = Arc::new(Trace::open(&path).unwrap());
    let mut screen = Timeline::default();
    screen.follow(&Arc::new(AnalysisView::part(trace, &path, scope)));
    let shown = drawn(&mut screen, 108, 30).join("\n");
    assert!(!shown.contains("stream 1 "), "{shown}");
    assert!(shown.contains("▼stream 2 (t1)") && shown.contains(" stream 3 (t2)"));
    screen.act(Action::NextStream);
    assert_eq!((screen.position.band, screen.stretch(1).stream), (1, 2));
    assert!(drawn(&mut screen, 108, 30).join("\n").contains("▼stream 3"));
    screen.act(Action::NextStream);
    assert_eq!(screen.position.band, 0);
}

#[test]
fn pauses_gaps_and_new_blocks_are_shown() {
    let events = [
        (CALL(0), 0),
        (Event::Pause, 1000),
        (Event::Resume, 2000),
        (Event::Gap { lost: 5 }, 6000),
        (CALL(1), 8000),
        (Event::Exception, 9000),
    ];
    let mut screen = screen(&record("gaps", &[&events]), &[]);
    let shown = drawn(&mut screen, 108, 21);
    let at = |column: usize| shown[4].chars().nth(7 + column).unwrap();
    assert_eq!([0, 15, 30, 50, 95].map(at), ['┆', '‖', '?', '?', ' ']);
    assert!(shown[5].contains("<unknown>"), "{shown:#?}");
    assert!(shown[4].contains('!'));
    let signs: Vec<Option<&str>> = std::iter::from_fn(|| {
        (screen.act(Action::NextMark) == Effect::Done).then(|| view::also(screen.column().unwrap()))
    })
    .collect();
    assert_eq!(signs.iter().filter(|sign| **sign == Some("!")).count(), 1);
}

/// A trace that is too long to be read at once.
fn long() -> PathBuf {
    let mut events = vec![(CALL(0), 0)];
    for at in 0..100_000 {
        events.push((CALL(1), 20 * at + 5));
        events.push((Event::Fail, 20 * at + 9));
    }
    record("long", &[&events])
}

#[test]
fn long_pictures_are_made_by_and_by() {
    let mut screen = screen(&long(), &[]);
    assert!(!screen.picture().unwrap().whole);
    assert!(screen.progress().is_some());
    screen.poll(true);
    assert!(screen.progress().is_none());
    let whole = screen.picture().unwrap();
    let events: u64 = whole
        .columns
        .iter()
        .map(|column| column.counts.events)
        .sum();
    assert_eq!((whole.whole, events), (true, 200_001));
    let Some(Shows::One(segment)) = screen.run().map(|run| run.shows) else {
        panic!("no box")
    };
    assert_eq!((segment.called, segment.ended), (0, Ended::End));
    // Where one box was all the time, one is seen at once, closer or further.
    screen.act(Action::Right);
    screen.act(Action::ZoomIn);
    screen.look();
    let known = screen.picture().unwrap();
    assert!(!known.whole && known.columns.iter().any(|column| column.cell(0).is_some()));
    assert!(known.columns.iter().all(|column| column.cell(1).is_none()));
    // Back at what was read before nothing is left to do.
    screen.undo();
    screen.look();
    assert!(screen.picture().unwrap().whole && screen.progress().is_none());
}

#[test]
fn pictures_that_are_kept_take_bounded_room() {
    let mut screen = screen(&record("kept", &[&small()]), &[]);
    for at in 0..400_u64 {
        screen.set_view(screen.whole.from + at, 5000);
        screen.position.view.to += at;
        screen.look();
    }
    let pictures = screen.pictures.as_ref().unwrap();
    assert!(pictures.size() <= pictures::MOST_CELLS);
    assert!(screen.picture().unwrap().whole);
}

#[test]
fn nothing_is_shown_as_nothing() {
    let mut screen = Timeline::default();
    assert_eq!(screen.act(Action::ZoomIn), Effect::Unused);
    drawn(&mut screen, 80, 21);
    for streams in [&[][..], &[&[][..]], &[&[(CALL(0), 0)][..]]] {
        let mut screen = Timeline::default();
        screen.follow(&analysis(&record("nothing", streams), &[]));
        for binding in KEYS {
            screen.act(binding.action);
            drawn(&mut screen, 80, 21);
        }
        assert!(screen.export().is_none() == streams.is_empty());
    }
}

#[test]
fn a_second_click_is_as_good_as_enter() {
    let other = [(CALL(3), 2000), (Event::Exception, 9000)];
    let mut screen = screen(&record("clicks", &[&small(), &other]), &[]);
    let rows: Vec<Rect> = screen.layout.bands.iter().map(|(_, rows)| *rows).collect();
    assert!(!screen.click(rows[0].x + 20, rows[0].y + 1));
    assert_eq!((screen.predicate(), screen.column_at()), (Some(1), 20));
    assert!(screen.click(rows[0].x + 25, rows[0].y + 1));
    assert!(!screen.click(rows[1].x + 50, rows[1].y));
    assert_eq!((screen.position.band, screen.predicate()), (1, Some(3)));
    assert!(!screen.click(0, 0));
}

#[test]
fn columns_are_exported_and_stacks_copied() {
    let mut screen = screen(&record("export", &[&small()]), &[]);
    let table = screen.export().unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(rows.len(), 1 + screen.layout.width as usize);
    let sum = |name| {
        let at = rows[0].iter().position(|column| *column == name).unwrap();
        let numbers = rows[1..].iter().map(|row| row[at].parse::<u64>().unwrap());
        numbers.sum::<u64>()
    };
    assert_eq!(
        ["events", "calls", "exits", "fails", "redos"].map(sum),
        [8, 3, 3, 1, 1]
    );
    screen.act(Action::Down);
    screen.act(Action::Right);
    assert_eq!(screen.copy().as_deref(), Some("p0/0\np1/0\n"));
}
