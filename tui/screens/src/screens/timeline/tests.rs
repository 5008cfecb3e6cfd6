//! What keys do, on traces made for it.

mod moments;
mod moves;
mod searches;

use std::path::{Path, PathBuf};

use portmortem_analyzer::index::Index;
use portmortem_analyzer::machine::WayOut;
use portmortem_analyzer::timeline::{Began, Ended};
use portmortem_analyzer::{ReplayOptions, Trace};
use portmortem_tracer::format::{Dialect, Event, Header, Outcome, StreamKind};
use portmortem_tracer::{NewPredicate, Options, Recorder, clock};
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
            recorder.predicate(NewPredicate::named("user", &format!("p{at}"), 0)),
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
fn drawn(screen: &mut TimelineScreen, width: u16, height: u16) -> Vec<String> {
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
fn screen(path: &Path, hide: &[&str]) -> TimelineScreen {
    let mut screen = TimelineScreen::default();
    screen.follow(&analysis(path, hide));
    drawn(&mut screen, 108, 21);
    let to = screen.view.whole().to;
    let trace = &screen.analysis().unwrap().trace;
    let first = trace
        .streams()
        .iter()
        .filter_map(|stream| Some(trace.events(stream).next()?.tick));
    screen.view.begin_whole_at(first.min().unwrap());
    screen.set_view(screen.view.whole().from, to);
    screen.view.go_to_tick(screen.view.whole().from);
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
fn the_length_of_what_is_not_all_seen_says_so() {
    let mut screen = screen(&record("clipped", &[&small()]), &[]);
    let foot = |screen: &mut TimelineScreen| drawn(screen, 108, 21)[18].clone();
    assert!(!foot(&mut screen).contains("in sight"));
    screen.act(Action::ZoomIn);
    assert!(foot(&mut screen).contains("of it in sight"));
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

/// What comes of something in the end.
fn end(screen: &mut TimelineScreen, first: impl Fn(&mut TimelineScreen) -> Effect) -> Effect {
    let mut last = first(screen);
    while screen.seek.is_some() {
        last = screen.poll(true);
    }
    last
}

fn marked(screen: &TimelineScreen) -> Option<Window> {
    screen.range.window(screen.analysis()?)
}

fn act(screen: &mut TimelineScreen, action: Action) -> Effect {
    end(screen, |screen| screen.act(action))
}

fn wait(screen: &mut TimelineScreen) {
    while screen.poll(true) != Effect::Unused {}
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
    let view = screen.position().view;
    screen.act(Action::ZoomIn);
    screen.undo();
    let first = analysis(&path, &[]).profile.streams[0].first_tick;
    screen.view.begin_whole_at(first);
    screen.follow(&analysis(&path, &[]));
    assert_eq!(screen.position().view, view);
    assert!(drawn(&mut screen, 108, 21)[6].contains("▏p1/0"));
}

#[test]
fn every_stream_has_a_band() {
    let other = [(CALL(3), 2000), (Event::Exception, 9000)];
    let streams: Vec<&[(Event, u64)]> = std::iter::once(&small()[..])
        .chain(std::iter::repeat_n(&other[..], 6))
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
    assert_eq!((screen.position().band, screen.position().row), (1, 0));
    screen.act(Action::PreviousStream);
    screen.act(Action::PreviousStream);
    assert_eq!(screen.position().band, 6);
    assert!(drawn(&mut screen, 108, 30).join("\n").contains("▼stream 7"));
    screen.act(Action::Toggle);
    let shown = drawn(&mut screen, 108, 30).join("\n");
    assert!(
        shown.contains("▶stream 7") && !shown.contains("fails✗"),
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
    let mut screen = TimelineScreen::default();
    screen.follow(&Arc::new(AnalysisView::part(trace, &path, scope)));
    let shown = drawn(&mut screen, 108, 30).join("\n");
    assert!(!shown.contains("stream 1 "), "{shown}");
    assert!(shown.contains("▼stream 2 (t1)") && shown.contains(" stream 3 (t2)"));
    screen.act(Action::NextStream);
    assert_eq!((screen.position().band, screen.stretch(1).stream), (1, 2));
    assert!(drawn(&mut screen, 108, 30).join("\n").contains("▼stream 3"));
    screen.act(Action::NextStream);
    assert_eq!(screen.position().band, 0);
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

/// A trace that is too long to be read at once: a box, and so many inside of it.
fn long(name: &str, boxes: u64) -> PathBuf {
    let mut events = vec![(CALL(0), 0)];
    for at in 0..boxes {
        events.push((CALL(1), 20 * at + 5));
        events.push((Event::Fail, 20 * at + 9));
    }
    record(name, &[&events])
}

#[test]
fn long_pictures_are_made_by_and_by() {
    let mut screen = screen(&long("long", 100_000), &[]);
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
    assert_eq!(
        (segment.called, segment.ended),
        (0, Ended::By(WayOut::Open))
    );
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

/// They are sums of slices, which the index keeps.
#[test]
fn long_pictures_of_a_trace_with_an_index_wait_for_slices() {
    let path = long("indexed", 2_000_000);
    let trace = Trace::open(&path).unwrap();
    let index = || Index::load(&trace, &path).unwrap();
    let options = ReplayOptions::default();
    let built = Index::build(&trace, &path, &options).unwrap();
    built.save(&path).unwrap();
    assert!(index().pyramids().is_none());
    for is_known in [false, true] {
        let mut screen = screen(&path, &[]);
        assert_eq!(screen.progress().is_none(), is_known);
        screen.poll(true);
        assert!(screen.progress().is_none());
        let picture = screen.picture().unwrap();
        let events = picture.columns.iter().map(|column| column.counts.events);
        assert_eq!((picture.whole, events.sum::<u64>()), (true, 4_000_001));
        assert!(picture.window.grain > 1);
        assert!(index().pyramids().is_some());
    }
}

#[test]
fn pictures_that_are_kept_take_bounded_room() {
    let mut screen = screen(&record("kept", &[&small()]), &[]);
    for at in 0..400_u64 {
        screen.set_view(screen.view.whole().from + at, 5000 + at);
        screen.look();
    }
    let pictures = screen.pictures.as_ref().unwrap();
    assert!(pictures.size() <= pictures::MOST_CELLS);
    assert!(screen.picture().unwrap().whole);
}

#[test]
fn nothing_is_shown_as_nothing() {
    let mut screen = TimelineScreen::default();
    assert_eq!(screen.act(Action::ZoomIn), Effect::Unused);
    drawn(&mut screen, 80, 21);
    for streams in [&[][..], &[&[][..]], &[&[(CALL(0), 0)][..]]] {
        let mut screen = TimelineScreen::default();
        screen.follow(&analysis(&record("nothing", streams), &[]));
        for binding in KEYS {
            screen.act(binding.action);
            drawn(&mut screen, 80, 21);
        }
        assert!(screen.export().is_none() == streams.is_empty());
    }
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
