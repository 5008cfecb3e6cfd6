mod jumps;
mod listing;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use portmortem_analyzer::condition::EventCondition;
use portmortem_analyzer::listing::{Lasted, still_open};
use portmortem_analyzer::machine::WayOut;
use portmortem_analyzer::tables::EventRow;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::mapping::Mapping;
use portmortem_analyzer::walk::Walk;
use portmortem_analyzer::{FocusOn, Hide, Window};
use portmortem_tracer::format::Event;

use super::jumps::Then;
use super::search::{Direction, Leg, Search};
use super::*;
use portmortem_analyzer::{Filter, Filters};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../traces")
        .join(name)
}

fn screen(trace: Trace) -> (EventsScreen, Vec<Step>) {
    screen_hiding(trace, &[])
}

fn screen_hiding(trace: Trace, hide: &[String]) -> (EventsScreen, Vec<Step>) {
    let mut scope = Filters::default();
    for pattern in hide {
        scope.push(Filter::Hide(pattern.clone()));
    }
    screen_of(trace, scope)
}

fn screen_of(trace: Trace, scope: Filters) -> (EventsScreen, Vec<Step>) {
    let trace = Arc::new(trace);
    let all = Walk::from(&trace, None, &trace.streams()[0], 0).collect();
    let path = Path::new("no such file.pmt");
    let analysis = AnalysisView::part(trace, path, scope);
    let mut screen = EventsScreen::default();
    screen.follow(&Arc::new(analysis));
    screen.area.height = 20;
    wait(&mut screen);
    // Most tests begin at the first event, not at the beginning of the program.
    act(&mut screen, Action::Top);
    (screen, all)
}

/// What comes of an action in the end.
fn act(screen: &mut EventsScreen, action: Action) -> Effect {
    let effect = screen.act(action);
    match wait(screen) {
        Effect::Unused => effect,
        later => later,
    }
}

/// Waits for all searches.
fn wait(screen: &mut EventsScreen) -> Effect {
    let mut last = Effect::Unused;
    loop {
        match screen.poll(true) {
            Effect::Unused => return last,
            Effect::Done => {}
            effect => last = effect,
        }
    }
}

fn queens() -> (EventsScreen, Vec<Step>) {
    screen(Trace::open(&sample("queens.pmt")).unwrap())
}

fn number(screen: &EventsScreen) -> u64 {
    screen.step().unwrap().number
}

/// To an event of the only stream.
fn jump(screen: &mut EventsScreen, step: &Step) {
    screen.load(0, *step);
    wait(screen);
}

/// Where each event is one press of `action` away from the one before.
fn walked(screen: &mut EventsScreen, action: Action) -> Vec<Step> {
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
fn the_first_event_shown_is_the_beginning_of_the_program() {
    let trace = Arc::new(Trace::open(&sample("threads_exceptions.pmt")).unwrap());
    let path = Path::new("no such file.pmt");
    let analysis = Arc::new(AnalysisView::part(trace, path, Filters::default()));
    let mut screen = EventsScreen::default();
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
    let mut took = ActivationTimes::default();
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
            let end = later.find(|other| own(other) && leaves(other)).unwrap();
            let took::KnownTime::Took(lasted) = found else {
                panic!("{found:?}");
            };
            assert_eq!(lasted.ticks, end.tick - step.tick);
            assert_eq!(lasted.outcome == WayOut::Fail, end.event == Event::Fail);
            assert_eq!(lasted.site, step.site);
            known += 1;
        } else if !is_port(step) {
            assert_eq!(found, took::KnownTime::No);
        }
    }
    assert!(known > 30);
}

/// The sample ends by `halt/0` inside `main/0`.
#[test]
fn calls_that_never_ended_took_so_far() {
    let (screen, all) = screen(Trace::open(&sample("scan.pmt")).unwrap());
    let reader = screen.reader.unwrap();
    let trace = &reader.analysis.trace;
    let mut walk = Walk::from(trace, None, &trace.streams()[0], 0);
    let end = walk.by_ref().last().unwrap().tick;
    let open = walk.moment().active().to_vec();
    let calls = || open.iter().map(|open| &all[open.called as usize]);
    assert!(calls().count() > 0);
    let numbers: HashSet<u64> = calls().map(|call| call.number).collect();
    let mut took = ActivationTimes::default();
    took.look_for(&reader, &numbers.iter().copied().collect::<Vec<u64>>());
    while took.poll(true) {}
    let far = still_open(
        trace,
        None,
        0,
        |number| numbers.contains(&number),
        |_| false,
        || true,
    );
    assert_eq!(far.len(), numbers.len());
    for call in calls() {
        let took::KnownTime::Took(near) = took.get(call.number) else {
            panic!("{call:?}");
        };
        let after = all.iter().filter(|step| step.number > call.number);
        let ends = after.filter(|step| matches!(step.event, Event::Pause | Event::Resume));
        let ends: Vec<u64> = ends.map(|step| step.tick).collect();
        let paused: u64 = ends.chunks(2).map(|pause| pause[1] - pause[0]).sum();
        assert_eq!(near.outcome, WayOut::Open);
        assert_eq!(near.ticks, end - call.tick - paused);
        let with_pauses = Lasted {
            ticks: near.ticks + paused,
            ..near
        };
        assert!(far.contains(&with_pauses), "{far:?}");
        // Of the far ones pauses cannot be told.
        let told = took::never_ended(&reader, &numbers, || true);
        assert_eq!(told.contains(&near), paused == 0, "{told:?}");
    }
    // It ended.
    assert!(
        took::never_ended(&reader, &HashSet::from([call_that_ended(&all)]), || true).is_empty()
    );
}

fn call_that_ended(all: &[Step]) -> u64 {
    let exit = all.iter().find(|step| step.event == Event::ExitDet);
    exit.unwrap().of.unwrap().0.called
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
fn drawn(screen: &mut EventsScreen, width: u16, height: u16) -> Vec<String> {
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
                is_port(step) && step.of.is_some_and(|(of, _)| of.predicate == predicate)
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
