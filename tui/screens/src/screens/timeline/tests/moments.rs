//! Ways to events and back.

use super::*;

#[test]
fn last_calls_of_the_same_predicate_are_one_box() {
    let tail = Event::Tail { predicate: 1 };
    let mut events = vec![(CALL(0), 0), (CALL(1), 1000)];
    events.extend((0..50).map(|at| (tail, 1100 + 100 * at)));
    events.extend([(Event::Tail { predicate: 2 }, 7000), (Event::ExitDet, 9000)]);
    events.push((Event::ExitDet, 10_000));
    let mut screen = screen(&record("tails", &[&events]), &[]);
    let view = screen.position().view;
    let target = |number| EventTarget::At { stream: 0, number };
    for (number, predicate) in [(1, 1), (20, 1), (52, 2)] {
        end(&mut screen, |screen| screen.show_event(target(number)));
        drawn(&mut screen, 108, 21);
        // It is large enough where it is.
        assert_eq!(screen.position().view, view);
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
        let mut timeline = TimelineScreen::default();
        let mut events = crate::screens::events::EventsScreen::default();
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
            let before = timeline.position();
            let effect = end(&mut timeline, |timeline| timeline.show_event(target));
            assert_eq!(
                timeline.event(),
                Some(target),
                "{name} {effect:?} {:?}",
                timeline.position()
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
                let row = u64::from(timeline.position().row);
                assert!(row == depth || row < depth && !hide.is_empty());
                let shows = timeline.run().unwrap().shows;
                let Shows::One(segment) = shows else {
                    panic!(
                        "{name} {target:?}: {shows:?} {:?} {:?} {}",
                        timeline.cell(),
                        timeline.position(),
                        timeline.layout.width
                    )
                };
                assert_eq!(segment.called, of.called, "{name} {target:?}");
            }
            if effect == Effect::Step {
                assert!(timeline.undo());
                assert_eq!(timeline.position(), before);
            }
        }
    }
}

#[test]
fn the_moment_is_that_of_the_cursor_also_in_a_box_that_began_earlier() {
    let mut screen = screen(&record("moment", &[&small()]), &[]);
    let begin = screen.view.whole().from;
    let ticks: Vec<u64> = small().iter().map(|(_, tick)| begin + tick).collect();
    let target = |number: usize| EventTarget::At {
        stream: 0,
        number: number as u64,
    };
    // All the time in the box of p0, which was called at the beginning.
    let (mut stays, mut empty) = (0, 0);
    for column in 0..screen.layout.width {
        screen.go_to_column(column);
        let start = screen.stretch(0).start_of(column);
        let next = ticks.iter().position(|tick| *tick >= start);
        let expected = target(next.unwrap_or(ticks.len() - 1));
        assert_eq!(screen.event(), Some(expected), "{column}");
        if screen.predicate() == Some(0) {
            stays += 1;
            assert_eq!(screen.event_of_box(), Some(target(0)), "{column}");
        }
        empty += u32::from(screen.column().unwrap().first_event.is_none());
        // Back from there, nothing moves.
        let before = screen.position();
        assert_eq!(screen.show_event(expected), Effect::Done);
        assert_eq!(screen.position(), before);
    }
    assert!(stays > 90 && empty > 90);
    // The second activation of p2: its moment is the redo, and the box was called before.
    screen.go_to_column(screen.stretch(0).column_of(begin + 7000).unwrap());
    screen.act(Action::Down);
    assert_eq!(screen.event(), Some(target(5)));
    assert_eq!(screen.event_of_box(), Some(target(3)));
}

#[test]
fn the_moment_is_known_before_the_column_was_read() {
    let mut screen = screen(&long("moments", 100_000), &[]);
    let begin = screen.view.whole().from;
    assert!(!screen.picture().unwrap().whole);
    for column in [3, 50, 99] {
        screen.go_to_column(column);
        assert!(!screen.column().unwrap().read);
        let since = screen.stretch(0).start_of(column) - begin;
        // Event 2n+1 is at 20n+5, event 2n+2 at 20n+9.
        let number = match since % 20 {
            ..=5 => since / 20 * 2 + 1,
            6..=9 => since / 20 * 2 + 2,
            _ => since / 20 * 2 + 3,
        };
        assert_eq!(
            screen.event(),
            Some(EventTarget::At { stream: 0, number }),
            "{column}"
        );
    }
}

#[test]
fn the_first_event_of_a_predicate_is_gone_to() {
    let mut screen = screen(&record("first", &[&small()]), &[]);
    let begin = screen.view.whole().from;
    for (predicate, number, tick) in [(2, 3, 4000), (1, 1, 1000)] {
        let target = EventTarget::FirstOf(predicate);
        assert_eq!(
            end(&mut screen, |screen| screen.show_event(target)),
            Effect::Step
        );
        drawn(&mut screen, 108, 21);
        let stream = 0;
        assert_eq!(screen.event(), Some(EventTarget::At { stream, number }));
        assert_eq!(screen.position().cursor - begin, tick);
    }
    let target = EventTarget::FirstOf(5);
    let effect = end(&mut screen, |screen| screen.show_event(target));
    assert!(matches!(effect, Effect::Say(_)));
}
