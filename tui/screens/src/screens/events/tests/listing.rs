//! Which events are listed.

use super::*;

#[test]
fn only_what_the_filter_says_is_listed() {
    let whole = || Trace::open(&sample("queens.pmt")).unwrap();
    for (trace, text) in [
        (whole(), "port = fail and depth > 5"),
        (flipped(), "port = gap or predicate ~ queen"),
        (flipped(), "seq > 30000 and port ~ exit"),
    ] {
        let (mut screen, all) = screen(trace);
        let trace = Arc::clone(&screen.reader.as_ref().unwrap().analysis.trace);
        let condition = EventCondition::parse(text).unwrap();
        let holds = |step: &&Step| condition.holds(&EventRow::of(&trace, "", 1, **step));
        let mut listed: Vec<Step> = all.iter().filter(holds).copied().collect();
        assert!(!listed.is_empty() && listed.len() < all.len());
        // From the middle: to the next match, and all of them are there.
        jump(&mut screen, &all[all.len() / 2]);
        screen.set_filter(text);
        wait(&mut screen);
        let middle = all[all.len() / 2].number;
        let next = listed.iter().find(|step| step.number >= middle);
        assert_eq!(screen.step(), next.or(listed.last()));
        act(&mut screen, Action::Top);
        assert!(walked(&mut screen, Action::Down) == listed);
        act(&mut screen, Action::Top);
        assert!(walked(&mut screen, Action::NextMatch) == listed);
        listed.reverse();
        assert!(walked(&mut screen, Action::Up) == listed);
        // Without it everything is there again, around the cursor.
        let here = *screen.step().unwrap();
        screen.set_filter("");
        wait(&mut screen);
        assert_eq!(screen.step(), Some(&here));
        act(&mut screen, Action::Down);
        let at = all.iter().position(|step| *step == here).unwrap();
        assert_eq!(screen.step(), all.get(at + 1));
    }
}

#[test]
fn a_filter_that_nothing_passes_lists_nothing() {
    let (mut screen, all) = queens();
    jump(&mut screen, &all[777]);
    for text in ["depth > 1000000", "no such thing"] {
        screen.set_filter(text);
        wait(&mut screen);
        assert_eq!(screen.step(), None);
        for &binding in keys::EVENTS {
            act(&mut screen, binding.action);
        }
    }
    assert_eq!(screen.filter_error(), None);
    screen.set_filter("depth > many");
    assert!(screen.filter_error().is_some());
    screen.set_filter("");
    wait(&mut screen);
    assert_eq!(number(&screen), 777);
}

#[test]
fn a_search_can_be_stopped() {
    let (mut screen, _) = queens();
    screen.filter = "depth > 1000000".to_owned();
    let reader = screen.reader.as_mut().unwrap();
    reader.set_condition(AskedCondition::parse("depth > 1000000", None).ok());
    let search = Search::start(
        reader,
        std::iter::repeat(Leg {
            stream: 0,
            way: Direction::From(0),
        }),
        1,
        1,
        Box::new(|_, _, _| false),
    );
    screen.jump = Some(Jump {
        search,
        then: Then::Go,
        what: String::new(),
        text: None,
    });
    assert!(screen.progress().is_some());
    assert!(matches!(screen.act(Action::Back), Effect::Say(_)));
    assert_eq!(
        (screen.progress(), screen.poll(true)),
        (None, Effect::Unused)
    );
    // The screen does not claim that there is nothing.
    screen.clear();
    assert!(screen.why_empty().contains("stopped"));
}

#[test]
fn typing_a_filter_moves_nothing() {
    let (mut screen, all) = queens();
    jump(&mut screen, &all[777]);
    for text in ["d", "de", "dep", "depth > 1", ""] {
        screen.set_filter(text);
        wait(&mut screen);
    }
    assert_eq!(number(&screen), 777);
}

#[test]
fn what_is_hidden_is_not_listed() {
    let hide = ["attack/3".to_owned()];
    let (mut screen, all) = screen_hiding(Trace::open(&sample("queens.pmt")).unwrap(), &hide);
    let trace = Arc::clone(&screen.reader.as_ref().unwrap().analysis.trace);
    let declared = |predicate: PredicateIndex| &trace.predicates()[predicate as usize].declared;
    let hides = |predicate| {
        let of = declared(predicate);
        Hide::new(&hide).hides(&of.module, &of.name, of.arity)
    };
    let mut listed = all.clone();
    listed.retain(|step| step.of.is_none_or(|(of, _)| !hides(of.predicate)));
    assert!(!listed.is_empty() && listed.len() < all.len());
    assert!(walked(&mut screen, Action::Down) == listed);
    for step in listed.iter().step_by(997) {
        jump(&mut screen, step);
        let stacks = screen.reader.as_ref().unwrap().stacks(step);
        for (_, boxed) in stacks.active.newest.iter().chain(&stacks.choices.newest) {
            assert!(!hides(boxed.predicate));
        }
    }
}

#[test]
fn what_is_outside_the_focus_is_not_listed() {
    let trace = Trace::open(&sample("queens.pmt")).unwrap();
    let named = |predicate: &PredicateIndex| trace.predicate_name(*predicate) == "attack/2";
    let attack = (0..trace.predicates().len() as u32).find(named).unwrap();
    let mut scope = Filters::default();
    scope.push(Filter::Focus(FocusOn::Predicate(attack)));
    let (mut screen, all) = screen_of(trace, scope);
    // By name: the box is one of attack/2, became one by a last call, or was called by one that is inside.
    let mut inside = std::collections::HashSet::new();
    let mut listed = all.clone();
    listed.retain(|step| {
        let Some((of, _)) = step.of else { return true };
        let calls = matches!(step.event, Event::Call { .. } | Event::Tail { .. });
        let caller = of.caller.is_some_and(|caller| inside.contains(&caller));
        if calls && (of.predicate == attack || caller) {
            inside.insert(of.called);
        }
        inside.contains(&of.called)
    });
    assert!(listed.len() > 1000 && listed.len() < all.len());
    let same = walked(&mut screen, Action::Down);
    assert!(same.len() == listed.len());
    assert!(same.iter().zip(&listed).all(|(a, b)| a.number == b.number));
}

#[test]
fn what_is_outside_the_window_is_not_listed() {
    let trace = Trace::open(&sample("queens.pmt")).unwrap();
    let ticks: Vec<u64> = Walk::from(&trace, None, &trace.streams()[0], 0)
        .map(|step| step.tick)
        .collect();
    let window = Window {
        from: ticks[1000],
        until: ticks[3000],
    };
    let mut scope = Filters::default();
    scope.push(Filter::Window(window));
    let (mut screen, mut all) = screen_of(trace, scope);
    all.retain(|step| step.tick >= window.from && step.tick < window.until);
    assert!(all.len() > 1000);
    assert!(walked(&mut screen, Action::Down) == all);
    screen.act(Action::Top);
    wait(&mut screen);
    assert_eq!(screen.step(), all.first());
    assert!(
        screen
            .status()
            .ends_with(&count(all.last().unwrap().number))
    );
}
