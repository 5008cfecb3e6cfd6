use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use portmortem_analyzer::index::Walk;
use portmortem_analyzer::mapping::Mapping;
use portmortem_analyzer::trace::Trace;

use super::*;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../traces")
        .join(name)
}

fn screen(trace: Trace) -> (Events, Vec<Step>) {
    let trace = Arc::new(trace);
    let all = Walk::from(&trace, None, &trace.streams()[0], 0).collect();
    let path = Path::new("no such file.pmt");
    let analysis = Analysis::of(trace, path, &[], &AtomicU64::new(0));
    let mut screen = Events::default();
    screen.follow(&Arc::new(analysis));
    screen.list.height = 20;
    (screen, all)
}

fn queens() -> (Events, Vec<Step>) {
    screen(Trace::open(&sample("queens.pmt")).unwrap())
}

fn number(screen: &Events) -> u64 {
    screen.step().unwrap().number
}

/// Where each event is one press of `action` away from the one before.
fn walked(screen: &mut Events, action: Action) -> Vec<Step> {
    let mut seen = vec![*screen.step().unwrap()];
    loop {
        screen.act(action);
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
    assert_eq!(walked(&mut screen, Action::Down), all);
    assert_eq!(screen.act(Action::Bottom), Effect::Done);
    all.reverse();
    assert_eq!(walked(&mut screen, Action::Up), all);
}

#[test]
fn gaps_are_passed_in_both_directions() {
    let mut bytes = std::fs::read(sample("queens.pmt")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    let trace = Trace::read(Mapping::from(bytes), Path::new("flipped.pmt")).unwrap();
    let (mut screen, mut all) = screen(trace);
    assert!(
        all.iter()
            .any(|step| matches!(step.event, Event::Gap { lost: 1000.. }))
    );
    assert!(walked(&mut screen, Action::Down) == all);
    all.reverse();
    screen.act(Action::Bottom);
    assert!(walked(&mut screen, Action::Up) == all);
}

#[test]
fn the_stacks_are_those_of_the_moment() {
    let (mut screen, all) = queens();
    let trace = Arc::clone(&screen.reader.as_ref().unwrap().analysis.trace);
    for step in all.iter().step_by(3001) {
        screen.jump(step.number);
        let after = Walk::from(&trace, None, &trace.streams()[0], step.number + 1);
        assert_eq!(screen.choices.height, after.moment().choices().len() as u64);
        // The box of the event is always on the chain.
        let called = step.of.map(|(of, _)| of.called);
        assert_eq!(screen.active.newest.first().map(|of| of.called), called);
        let depth = step.of.map_or(0, |(_, depth)| depth + 1);
        assert_eq!(screen.active.height, depth);
    }
}

#[test]
fn searches_find_the_nearest() {
    let (mut screen, all) = queens();
    for start in (0..all.len()).step_by(4001) {
        let from = all[start];
        let predicate = |step: &Step| step.of.map(|(of, _)| of.predicate);
        let same = |step: &Step| is_port(step.event) && predicate(step) == predicate(&from);
        let port = |step: &Step| discriminant(&step.event) == discriminant(&from.event);
        let later = &all[start + 1..];
        let earlier = &all[..start];
        let ends = |step: &Step| {
            leaves(step.event)
                && step.of.map(|(of, _)| of.called) == from.of.map(|(of, _)| of.called)
        };
        let ended = leaves(from.event) && from.event != Event::ExitNondet;
        for (action, expected) in [
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
            (
                Action::BoxEnd,
                later.iter().find(|step| !ended && ends(step)),
            ),
        ] {
            screen.load(from.number);
            let effect = screen.act(action);
            let expected = expected.map_or(from.number, |step| step.number);
            assert_eq!(number(&screen), expected, "{action:?} from {}", from.number);
            if effect == Effect::Step {
                assert!(screen.undo());
            }
            assert_eq!(number(&screen), from.number);
        }
    }
}

#[test]
fn a_redo_has_a_cause_and_a_box_a_call() {
    let (mut screen, all) = queens();
    let redo = all.iter().position(|step| step.event == Event::Redo);
    let redo = redo.unwrap();
    screen.jump(redo as u64);
    assert_eq!(screen.act(Action::Cause), Effect::Step);
    let failed = all[..redo]
        .iter()
        .rposition(|step| step.event == Event::Fail);
    assert_eq!(Some(number(&screen) as usize), failed);
    assert!(matches!(screen.act(Action::Cause), Effect::Say(_)));
    // Call by call to the outermost one.
    while screen.act(Action::BoxCall) == Effect::Step {
        assert!(matches!(screen.step().unwrap().event, Event::Call { .. }));
    }
    assert_eq!(screen.active.height, 1);
}

#[test]
fn numbers_are_gone_to() {
    let (mut screen, all) = queens();
    assert_eq!(screen.go_to("12,345"), Effect::Step);
    assert_eq!(number(&screen), 12_345);
    screen.go_to(&u64::MAX.to_string());
    assert_eq!(screen.step(), all.last());
    assert!(matches!(screen.go_to("soon"), Effect::Say(_)));
    assert_eq!(screen.export().unwrap().lines().count(), 501);
}
