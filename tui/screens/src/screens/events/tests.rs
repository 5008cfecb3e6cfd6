use std::mem::discriminant;
use std::path::{Path, PathBuf};

use portmortem_analyzer::tables::EventRow;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::mapping::Mapping;
use portmortem_analyzer::walk::Walk;
use portmortem_analyzer::{FocusOn, Hide, Window};

use super::jumps::Then;
use super::search::{Leg, Search, Way};
use super::*;
use portmortem_analyzer::{Filter, Filters};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../traces")
        .join(name)
}

fn screen(trace: Trace) -> (Events, Vec<Step>) {
    screen_hiding(trace, &[])
}

fn screen_hiding(trace: Trace, hide: &[String]) -> (Events, Vec<Step>) {
    let mut scope = Filters::default();
    for pattern in hide {
        scope.push(Filter::Hide(pattern.clone()));
    }
    screen_of(trace, scope)
}

fn screen_of(trace: Trace, scope: Filters) -> (Events, Vec<Step>) {
    let trace = Arc::new(trace);
    let all = Walk::from(&trace, None, &trace.streams()[0], 0).collect();
    let path = Path::new("no such file.pmt");
    let analysis = AnalysisView::part(trace, path, scope);
    let mut screen = Events::default();
    screen.follow(&Arc::new(analysis));
    screen.area.height = 20;
    wait(&mut screen);
    // Most tests begin at the first event, not at the beginning of the program.
    act(&mut screen, Action::Top);
    screen.history.clear();
    (screen, all)
}

/// What comes of an action in the end.
fn act(screen: &mut Events, action: Action) -> Effect {
    let effect = screen.act(action);
    match wait(screen) {
        Effect::Unused => effect,
        later => later,
    }
}

/// Waits for all searches.
fn wait(screen: &mut Events) -> Effect {
    let mut last = Effect::Unused;
    loop {
        match screen.poll(true) {
            Effect::Unused => return last,
            Effect::Done => {}
            effect => last = effect,
        }
    }
}

fn queens() -> (Events, Vec<Step>) {
    screen(Trace::open(&sample("queens.pmt")).unwrap())
}

fn number(screen: &Events) -> u64 {
    screen.step().unwrap().number
}

/// To an event of the only stream.
fn jump(screen: &mut Events, step: &Step) {
    screen.load(0, *step);
    wait(screen);
}

/// Where each event is one press of `action` away from the one before.
fn walked(screen: &mut Events, action: Action) -> Vec<Step> {
    let mut seen = vec![*screen.step().unwrap()];
    loop {
        act(screen, action);
        let step = *screen.step().unwrap();
        if seen.last() == Some(&step) {
            return seen;
        }
        seen.push(step);
    }
}

#[test]
fn one_by_one_every_event_is_seen_in_both_directions() {
    let (mut screen, mut all) = queens();
    assert!(walked(&mut screen, Action::Down) == all);
    assert_eq!(act(&mut screen, Action::Bottom), Effect::Done);
    all.reverse();
    assert!(walked(&mut screen, Action::Up) == all);
}

fn flipped() -> Trace {
    let mut bytes = std::fs::read(sample("queens.pmt")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    Trace::read(Mapping::from(bytes), Path::new("flipped.pmt")).unwrap()
}

#[test]
fn gaps_are_passed_in_both_directions() {
    let (mut screen, mut all) = screen(flipped());
    assert!(
        all.iter()
            .any(|step| matches!(step.event, Event::Gap { lost: 1000.. }))
    );
    assert!(walked(&mut screen, Action::Down) == all);
    all.reverse();
    act(&mut screen, Action::Bottom);
    assert!(walked(&mut screen, Action::Up) == all);
}

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
    reader.set_condition(EventCondition::parse("depth > 1000000").ok());
    let search = Search::start(
        reader,
        std::iter::repeat(Leg {
            stream: 0,
            way: Way::From(0),
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
    // Nobody says that there is nothing.
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

#[test]
fn the_stacks_are_those_of_the_moment() {
    let (screen, all) = queens();
    let reader = screen.reader.unwrap();
    let trace = &reader.analysis.trace;
    for step in all.iter().step_by(301) {
        let stacks = reader.stacks(step);
        let after = Walk::from(trace, None, &trace.streams()[0], step.number + 1);
        let choices = after.moment().choices().len();
        assert_eq!(stacks.choices.height, choices as u64);
        // The box of the event is always on the chain.
        assert_eq!(
            stacks.active.newest.first().map(|&(depth, of)| (of, depth)),
            step.of
        );
        let depth = step.of.map_or(0, |(_, depth)| depth + 1);
        assert_eq!(stacks.active.height, depth);
    }
}

#[test]
fn searches_find_the_nearest() {
    let (mut screen, all) = queens();
    for start in (0..all.len()).step_by(1001) {
        let from = all[start];
        let predicate = |step: &Step| step.of.map(|(of, _)| of.predicate);
        let same = |step: &Step| is_port(step.event) && predicate(step) == predicate(&from);
        let port = |step: &Step| discriminant(&step.event) == discriminant(&from.event);
        let later = &all[start + 1..];
        let earlier = &all[..start];
        for (action, expected) in [
            (
                Action::NextOfPredicate,
                later.iter().find(|step| same(step)),
            ),
            (
                Action::PreviousOfPredicate,
                earlier.iter().rfind(|step| same(step)),
            ),
            (Action::NextMatch, later.iter().find(|step| same(step))),
            (
                Action::PreviousMatch,
                earlier.iter().rfind(|step| same(step)),
            ),
            (Action::NextPort, later.iter().find(|step| port(step))),
            (
                Action::PreviousPort,
                earlier.iter().rfind(|step| port(step)),
            ),
            (Action::BoxEnd, other_end(&from, &all[..start], later)),
        ] {
            jump(&mut screen, &from);
            let effect = act(&mut screen, action);
            let expected = expected.unwrap_or(&from);
            assert_eq!(
                screen.step(),
                Some(expected),
                "{action:?} from {}",
                from.number
            );
            if effect == Effect::Step {
                assert!(screen.undo());
            }
            assert_eq!(number(&screen), from.number);
        }
    }
}

/// The call of the box of a way out, or the next way out of the box of another event.
fn other_end<'s>(from: &Step, earlier: &'s [Step], later: &'s [Step]) -> Option<&'s Step> {
    let (of, _) = from.of?;
    if leaves(from.event) {
        return earlier.iter().find(|step| step.number == of.called);
    }
    let own = |step: &&Step| step.of.is_some_and(|(other, _)| other.called == of.called);
    later.iter().find(|step| own(step) && leaves(step.event))
}

#[test]
fn causes_are_gone_to() {
    let (mut screen, all) = queens();
    let mut reasons = [0; 4];
    for at in (0..all.len()).step_by(17) {
        jump(&mut screen, &all[at]);
        let effect = act(&mut screen, Action::Cause);
        let here = screen.step().unwrap();
        let of = all[at].of.map(|(of, _)| of.called);
        match (all[at].event, effect) {
            (Event::Fail, Effect::StepSaying(text)) => {
                assert!(here.event == Event::Fail && here.number < all[at].number);
                // It is inside, and no box of the program failed since.
                assert!(Some(here.number) > of && text.contains("fails: "), "{text}");
                let between = &all[usize::try_from(here.number).unwrap() + 1..at];
                assert!(between.iter().all(|step| step.event != Event::Fail));
                reasons[0] += 1;
            }
            (Event::Redo, Effect::StepSaying(text)) => {
                assert!(here.event == Event::Fail && text.contains("is redone because"));
                reasons[1] += 1;
            }
            (Event::Cut { .. }, Effect::StepSaying(text)) => {
                assert!(Some(here.number) == of && text.contains(" cuts"));
                reasons[2] += 1;
            }
            (_, Effect::Say(_)) => {
                assert_eq!(here, &all[at]);
                reasons[3] += 1;
            }
            (event, effect) => panic!("{event:?}: {effect:?}"),
        }
        if here != &all[at] {
            assert!(screen.undo());
            assert_eq!(screen.step(), Some(&all[at]));
        }
    }
    assert!(reasons.iter().all(|many| *many > 0), "{reasons:?}");
}

#[test]
fn exceptions_are_followed_to_where_they_are_raised_and_caught() {
    let (mut screen, _) = screen(Trace::open(&sample("threads_exceptions.pmt")).unwrap());
    let trace = Arc::clone(&screen.reader.as_ref().unwrap().analysis.trace);
    let of = |info| Walk::from(&trace, None, info, 0).collect::<Vec<Step>>();
    let is_raised = |step: &&Step| step.event == Event::Exception;
    let mut streams = trace.streams().iter().map(of).enumerate();
    let (stream, all) = streams
        .find(|(_, all)| all.iter().any(|step| is_raised(&step)))
        .unwrap();
    let first = *all.iter().find(is_raised).unwrap();
    let jump = |screen: &mut Events, step: &Step| {
        screen.load(stream, *step);
        wait(screen);
    };
    jump(&mut screen, &first);
    let Effect::StepSaying(text) = act(&mut screen, Action::Cause) else {
        panic!("caught nowhere")
    };
    assert!(text.contains("caught in"), "{text}");
    let caught = *screen.step().unwrap();
    assert!(matches!(caught.event, Event::Call { .. }) && caught.number < first.number);
    let of_flight = all[usize::try_from(first.number).unwrap()..].iter();
    let last = of_flight
        .take_while(|step| step.event == Event::Exception)
        .last();
    let last = *last.unwrap();
    if last != first {
        jump(&mut screen, &last);
        assert!(matches!(
            act(&mut screen, Action::Cause),
            Effect::StepSaying(_)
        ));
        assert_eq!(screen.step(), Some(&first));
    }
}

#[test]
fn a_box_has_a_call_and_boxes_around_it() {
    let (mut screen, all) = queens();
    jump(&mut screen, &all[all.len() / 2]);
    while act(&mut screen, Action::BoxCall) == Effect::Step {
        assert!(matches!(screen.step().unwrap().event, Event::Call { .. }));
    }
    assert_eq!(screen.step().unwrap().of.unwrap().1, 0);
}

#[test]
fn the_first_event_shown_is_the_beginning_of_the_program() {
    let trace = Arc::new(Trace::open(&sample("threads_exceptions.pmt")).unwrap());
    let path = Path::new("no such file.pmt");
    let analysis = Arc::new(AnalysisView::part(trace, path, Filters::default()));
    let mut screen = Events::default();
    screen.follow(&analysis);
    wait(&mut screen);
    let program = Program::of(&analysis.trace, &analysis.profile.streams).unwrap();
    assert!(number(&screen) > 0);
    assert_eq!(Some(number(&screen)), program.first_events[0]);
    assert_eq!(screen.step().unwrap().tick, program.from);
    act(&mut screen, Action::Top);
    assert_eq!(number(&screen), 0);
    for stream in 1..analysis.trace.streams().len() {
        act(&mut screen, Action::NextStream);
        assert_eq!(screen.reader.as_ref().unwrap().stream, stream);
        assert_eq!(
            Some(number(&screen)),
            program.first_events[stream].or(Some(0))
        );
    }
}

#[test]
fn durations_are_those_between_call_and_way_out() {
    let (screen, all) = queens();
    let reader = screen.reader.unwrap();
    let mut took = Took::default();
    let asked: Vec<u64> = (10_000..10_200).collect();
    took.look_for(&reader, &asked);
    while took.poll(true) {}
    let mut known = 0;
    for step in &all[10_000..10_200] {
        let (of, _) = step.of.unwrap();
        let own = |other: &&Step| other.of.is_some_and(|(other, _)| other.called == of.called);
        let found = took.get(step.number);
        if matches!(step.event, Event::Call { .. }) {
            let mut later = all.iter().filter(|other| other.number > step.number);
            let end = later
                .find(|other| own(other) && leaves(other.event))
                .unwrap();
            assert_eq!(found, took::Known::Ticks(end.tick - step.tick));
            known += 1;
        } else if !is_port(step.event) {
            assert_eq!(found, took::Known::No);
        }
    }
    assert!(known > 30);
}

#[test]
fn a_marked_range_can_be_typed() {
    let (mut screen, all) = queens();
    assert_eq!(screen.window(), None);
    jump(&mut screen, &all[1000]);
    assert!(matches!(screen.act(Action::RangeBegin), Effect::Say(_)));
    jump(&mut screen, &all[2000]);
    assert_eq!(screen.act(Action::RangeEnd), Effect::Done);
    let analysis = &screen.reader.as_ref().unwrap().analysis;
    let text = screen.range.line(analysis).unwrap();
    let typed = text.split("--time ").nth(1).unwrap().split(' ').next();
    let trace = &screen.reader.as_ref().unwrap().analysis.trace;
    let window = Window::parse(typed.unwrap(), trace).unwrap();
    assert_eq!(screen.window(), Some(window));
    assert!(window.from <= all[1000].tick && window.until > all[2000].tick);
    screen.act(Action::RangeEnd);
    assert_eq!(screen.window(), None);
}

#[test]
fn names_that_no_predicate_has_are_told_at_once() {
    let (mut screen, _) = queens();
    for (text, is_told) in [
        ("no_such_name", true),
        ("predicate = no_such_name", true),
        ("port = fail and no_such_name", true),
        ("port = exception", false),
        ("attack", false),
        ("fail", false),
        ("depth > 1000000", false),
    ] {
        screen.set_filter(text);
        let told = matches!(screen.search(), Effect::Say(_));
        assert_eq!(told, is_told, "{text}");
        wait(&mut screen);
        assert!(!is_told || screen.step().is_none());
    }
}

#[test]
fn the_boxes_beside_the_list_are_scrolled() {
    let (mut screen, all) = queens();
    let deep = all
        .iter()
        .find(|step| step.of.is_some_and(|(_, depth)| depth > 8));
    jump(&mut screen, deep.unwrap());
    drawn(&mut screen, 80, 21);
    let boxes = screen.stacks.as_ref().unwrap().active.newest.clone();
    act(&mut screen, Action::NextTable);
    for (_, open) in &boxes {
        assert_eq!(screen.selected(), Some(*open));
        let row = drawn(&mut screen, 80, 21);
        let name = screen
            .reader
            .as_ref()
            .unwrap()
            .analysis
            .predicate(open.predicate);
        assert!(row.iter().any(|row| row.contains(name)));
        act(&mut screen, Action::Down);
    }
    assert_eq!(
        act(&mut screen, Action::Enter),
        Effect::Open(boxes.last().unwrap().1.predicate)
    );
    assert_eq!(screen.act(Action::Back), Effect::Done);
    assert_eq!((screen.selected(), screen.step()), (None, deep));
    assert_eq!(screen.act(Action::Back), Effect::Unused);
}

/// The screen as it is drawn, without styles.
fn drawn(screen: &mut Events, width: u16, height: u16) -> Vec<String> {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    screen.draw(buffer.area, &mut buffer, &Theme::plain());
    let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect();
    (0..height).map(row).collect()
}

#[test]
fn other_screens_can_ask_for_events() {
    let trace = Trace::open(&sample("threads_exceptions.pmt")).unwrap();
    let streams = trace.streams().len();
    let (mut screen, _) = screen(trace);
    let analysis = Arc::clone(&screen.reader.as_ref().unwrap().analysis);
    for stream in 0..streams {
        screen.show_event(EventTarget::At { stream, number: 3 });
        wait(&mut screen);
        assert_eq!(
            (screen.reader.as_ref().unwrap().stream, number(&screen)),
            (stream, 3)
        );
    }
    for predicate in 0..analysis.trace.predicates().len() as u32 {
        screen.show_event(EventTarget::FirstOf(predicate));
        wait(&mut screen);
        let here = screen.reader.as_ref().unwrap().stream;
        let of = |stream: usize| {
            let info = &analysis.trace.streams()[stream];
            let mut steps = Walk::from(&analysis.trace, None, info, 0);
            steps.find(|step| {
                is_port(step.event) && step.of.is_some_and(|(of, _)| of.predicate == predicate)
            })
        };
        match (0..streams).find_map(|stream| Some((stream, of(stream)?))) {
            Some((stream, first)) => assert_eq!((here, screen.step()), (stream, Some(&first))),
            None => assert_eq!(analysis.profile.predicates[predicate as usize].calls, 0),
        }
    }
}

#[test]
fn numbers_are_gone_to() {
    let (mut screen, all) = queens();
    let at = |number| EventTarget::At { stream: 0, number };
    screen.show_event(at(12_345));
    wait(&mut screen);
    assert_eq!(number(&screen), 12_345);
    screen.show_event(at(u64::MAX));
    wait(&mut screen);
    assert_eq!(screen.step(), all.last());
    let rows = screen.export().unwrap();
    assert_eq!(rows.lines().count(), screen.list.steps.len() + 1);
    assert!(rows.starts_with("trace,stream,seq,ns,port,predicate,depth,box,parent"));
}
