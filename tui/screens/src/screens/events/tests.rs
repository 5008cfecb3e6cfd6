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
            (Action::BoxEnd, end(&from, later)),
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

/// Where the box of an event ends: by a port of it, or by the cut that goes so deep.
fn end<'s>(from: &Step, later: &'s [Step]) -> Option<&'s Step> {
    if leaves(from.event) && from.event != Event::ExitNondet {
        return None;
    }
    let called = |step: &Step| step.of.map(|(of, _)| of.called);
    // Boxes that can be re-entered and are newer than it; `None` while it runs.
    let mut newer = (from.event == Event::ExitNondet).then_some(0_i64);
    for step in later {
        let own = called(step) == called(from);
        match (step.event, &mut newer) {
            (event, _) if own && leaves(event) => return Some(step),
            (Event::Redo, _) if own => newer = None,
            (Event::ExitNondet, Some(newer)) => *newer += 1,
            (Event::Redo, Some(newer)) => *newer -= 1,
            (Event::Cut { count }, Some(newer)) => {
                *newer -= i64::from(count);
                if *newer < 0 {
                    return Some(step);
                }
            }
            _ => {}
        }
    }
    None
}

#[test]
fn a_redo_has_a_cause_and_a_box_a_call() {
    let (mut screen, all) = queens();
    let redos = || (0..all.len()).filter(|&at| all[at].event == Event::Redo);
    for redo in redos().step_by(37) {
        jump(&mut screen, &all[redo]);
        let effect = act(&mut screen, Action::Cause);
        let before = all[..redo].iter().rfind(|step| is_port(step.event));
        let before = before.unwrap();
        if before.event == Event::Fail {
            assert_eq!((effect, screen.step()), (Effect::Step, Some(before)));
        } else {
            assert!(matches!(effect, Effect::Say(_)));
        }
    }
    assert!(matches!(act(&mut screen, Action::Cause), Effect::Say(_)));
    // Call by call to the outermost one.
    while act(&mut screen, Action::BoxCall) == Effect::Step {
        assert!(matches!(screen.step().unwrap().event, Event::Call { .. }));
    }
    assert_eq!(screen.step().unwrap().of.unwrap().1, 0);
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
    screen.go_to("12,345");
    wait(&mut screen);
    assert_eq!(number(&screen), 12_345);
    screen.go_to(&u64::MAX.to_string());
    wait(&mut screen);
    assert_eq!(screen.step(), all.last());
    assert!(matches!(screen.go_to("soon"), Effect::Say(_)));
    let rows = screen.export().unwrap();
    assert_eq!(rows.lines().count(), screen.list.steps.len() + 1);
    assert!(rows.starts_with("trace,stream,seq,ns,port,predicate,depth,box,parent"));
}
