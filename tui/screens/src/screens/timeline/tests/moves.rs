//! Where the cursor goes, and what is shown then.

use super::*;

#[test]
fn the_cursor_goes_from_box_to_box() {
    let mut screen = screen(&record("cursor", &[&small()]), &[]);
    assert_eq!(screen.predicate(), Some(0));
    screen.act(Action::Down);
    assert_eq!((screen.position().row, screen.predicate()), (1, None));
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
        (Began::Redo, Ended::By(WayOut::ExitDet))
    );
    let at = |number| Some(EventTarget::At { stream: 0, number });
    assert_eq!(screen.act(Action::Enter), Effect::Open(2));
    assert_eq!(screen.event(), at(5));
    screen.act(Action::Left);
    screen.act(Action::Left);
    assert_eq!(screen.event(), at(3));
    screen.act(Action::Up);
    screen.act(Action::Up);
    assert_eq!(screen.position().row, 0);
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
        let before = screen.position();
        assert_eq!(act(&mut screen, action), Effect::Step, "{action:?}");
        drawn(&mut screen, 108, 21);
        assert_eq!(screen.predicate(), Some(1), "{action:?}");
        before
    });
    for place in places.into_iter().rev() {
        assert!(screen.undo());
        assert_eq!(screen.position(), place);
    }
    assert!(!screen.undo());
    while screen.act(Action::ZoomIn) == Effect::Step {}
    assert_eq!(
        screen.position().view.span(),
        u64::from(screen.layout.width)
    );
}

#[test]
fn a_box_is_zoomed_to_from_end_to_end() {
    let mut screen = screen(&record("box", &[&small()]), &[]);
    screen.act(Action::Down);
    screen.act(Action::Right);
    let begin = screen.view.whole().from;
    act(&mut screen, Action::Zoom);
    let ShownTicks { from, to } = screen.position().view;
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
    assert_eq!(screen.position().view, ShownTicks { from, to });
    drawn(&mut screen, 108, 21);
    screen.act(Action::Up);
    assert_eq!(act(&mut screen, Action::Zoom), Effect::Step);
    let ShownTicks { from, to } = screen.position().view;
    assert!(from <= begin && to >= begin + 10_000);
}

#[test]
fn the_first_view_is_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/threads_exceptions.pmt");
    let mut screen = TimelineScreen::default();
    screen.follow(&analysis(&path, &[]));
    let ShownTicks { from, to } = screen.position().view;
    assert!(from > screen.view.whole().from && to <= screen.view.whole().to);
    drawn(&mut screen, 80, 21);
    screen.poll(true);
    assert!(screen.status().starts_with("program "));
    // What was before is reached.
    assert_eq!(screen.act(Action::Top), Effect::Step);
    assert_eq!(screen.position().view.from, screen.view.whole().from);
    screen.undo();
    assert_eq!(screen.position().view, ShownTicks { from, to });
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
    let mut screen = TimelineScreen::default();
    screen.follow(&analysis(&path, &[]));
    let first = |screen: &TimelineScreen| {
        let trace = &screen.analysis().unwrap().trace;
        trace.events(&trace.streams()[0]).next().unwrap().tick
    };
    let begin = first(&screen);
    let ShownTicks { from, to } = screen.position().view;
    assert_eq!((from - begin, to - begin), (long, long + 9_000_201));
    drawn(&mut screen, 108, 21);
    assert_eq!(screen.predicate(), Some(0));
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
    let begin = screen.view.whole().from;
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
fn a_second_click_is_as_good_as_enter() {
    let other = [(CALL(3), 2000), (Event::Exception, 9000)];
    let mut screen = screen(&record("clicks", &[&small(), &other]), &[]);
    let rows: Vec<Rect> = screen.layout.bands.iter().map(|(_, rows)| *rows).collect();
    assert!(!screen.click(rows[0].x + 20, rows[0].y + 1));
    assert_eq!((screen.predicate(), screen.column_at()), (Some(1), 20));
    assert!(screen.click(rows[0].x + 25, rows[0].y + 1));
    assert!(!screen.click(rows[1].x + 50, rows[1].y));
    assert_eq!((screen.position().band, screen.predicate()), (1, Some(3)));
    assert!(!screen.click(0, 0));
}
