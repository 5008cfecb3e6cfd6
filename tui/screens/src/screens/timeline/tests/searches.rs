//! What `/`, `n` and `N` find.

use super::*;

#[test]
fn a_search_moves_from_match_to_match() {
    let mut screen = screen(&record("moves", &[&small()]), &[]);
    let begin = screen.view.whole().from;
    screen.set_filter("p2");
    let mut found = Vec::new();
    let mut effect = end(&mut screen, Searchable::search);
    while effect == Effect::Step {
        drawn(&mut screen, 108, 21);
        assert_eq!((screen.predicate(), screen.position().row), (Some(2), 1));
        found.push(screen.position().cursor - begin);
        effect = act(&mut screen, Action::NextMatch);
    }
    assert_eq!(found, [4000, 7000]);
    assert!(matches!(effect, Effect::Say(text) if text.contains("no later box")));
    assert_eq!(act(&mut screen, Action::PreviousMatch), Effect::Step);
    assert_eq!(screen.position().cursor - begin, 4000);
    assert!(screen.undo());
    assert_eq!(screen.position().cursor - begin, 7000);
    let position = screen.position();
    screen.set_filter("no such name");
    let Effect::Say(text) = screen.search() else {
        panic!()
    };
    assert_eq!(text, "no predicate has that name");
    assert_eq!(screen.position(), position);
}

#[test]
fn failures_and_redos_are_found_in_order() {
    let mut screen = screen(&record("search", &[&small()]), &[]);
    let begin = screen.view.whole().from;
    let mut ticks = Vec::new();
    while found(&mut screen, Action::NextMatch) == Effect::Done {
        ticks.push((screen.position().cursor - begin).next_multiple_of(100));
        assert_eq!(screen.position().row, 1);
    }
    assert_eq!(ticks, [3000, 7000]);
    assert_eq!(found(&mut screen, Action::PreviousMatch), Effect::Done);
    let effect = found(&mut screen, Action::PreviousMatch);
    assert!(matches!(effect, Effect::Say(_)));
}

#[test]
fn failures_are_found_beyond_what_is_shown() {
    let mut screen = screen(&record("beyond", &[&small()]), &[]);
    let begin = screen.view.whole().from;
    screen.set_view(begin, 2000);
    screen.view.go_to_tick(begin);
    drawn(&mut screen, 108, 21);
    assert_eq!(screen.act(Action::NextMatch), Effect::Step);
    drawn(&mut screen, 108, 21);
    assert!(
        screen.column().unwrap().counts.fails == 1 && screen.position().view.from == begin + 2000
    );
    assert!(screen.undo());
    assert_eq!(screen.position().view.from, begin);
    screen.set_view(begin + 8000, 2000);
    drawn(&mut screen, 108, 21);
    assert_eq!(screen.act(Action::PreviousMatch), Effect::Step);
    assert_eq!(screen.column().unwrap().counts.redos, 1);
    let place = screen.position();
    assert!(matches!(
        found(&mut screen, Action::NextMatch),
        Effect::Say(_)
    ));
    assert_eq!(screen.position(), place);
}

/// What a key leads to in the end: the search for it may take longer than the key.
fn found(screen: &mut TimelineScreen, action: Action) -> Effect {
    match screen.act(action) {
        Effect::Done => screen.take(None).unwrap_or(Effect::Done),
        effect => effect,
    }
}

/// Many views away there is one, and one before.
#[test]
fn failures_are_found_however_far_they_are() {
    let mut events = vec![(Event::Call { predicate: 0 }, 0)];
    for at in [1000, 1_000_000, 2_000_000] {
        events.push((Event::Call { predicate: 1 }, at));
        events.push((Event::Fail, at + 500));
    }
    events.push((Event::ExitDet, 3_000_000));
    let mut screen = screen(&record("far", &[&events]), &[]);
    let begin = screen.view.whole().from;
    for (from, action, tick) in [
        (500_000, Action::NextMatch, 1_000_499),
        (1_500_000, Action::PreviousMatch, 1_000_499),
        (1_500_000, Action::NextMatch, 2_000_499),
    ] {
        screen.set_view(begin + from, 200);
        screen.view.go_to_tick(begin + from + 100);
        drawn(&mut screen, 108, 21);
        assert_eq!(found(&mut screen, action), Effect::Step);
        drawn(&mut screen, 108, 21);
        let cell = screen.stretch(0).start_of(screen.column_at());
        assert!(
            (begin + tick - 499..=begin + tick).contains(&cell),
            "{}",
            cell - begin
        );
        assert_eq!(
            screen.event(),
            Some(EventTarget::At {
                stream: 0,
                number: screen.position().sent().unwrap()
            })
        );
    }
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
