//! Ways from one event to another.

use super::*;

#[test]
fn searches_find_the_nearest() {
    let (mut screen, all) = queens();
    for start in (0..all.len()).step_by(1001) {
        let from = all[start];
        let predicate = |step: &Step| step.of.map(|(of, _)| of.predicate);
        let same = |step: &Step| is_port(step) && predicate(step) == predicate(&from);
        let port = |step: &Step| step.kind() == from.kind();
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
            let before = screen.spot();
            let effect = act(&mut screen, action);
            let expected = expected.unwrap_or(&from);
            assert_eq!(
                screen.step(),
                Some(expected),
                "{action:?} from {}",
                from.number
            );
            if effect == Effect::Step {
                screen.recall(&before);
            }
            assert_eq!(number(&screen), from.number);
        }
    }
}

/// The call of the box of a way out, or the next way out of the box of another event.
fn other_end<'s>(from: &Step, earlier: &'s [Step], later: &'s [Step]) -> Option<&'s Step> {
    let (of, _) = from.of?;
    if leaves(from) {
        return earlier.iter().find(|step| step.number == of.called);
    }
    let own = |step: &&Step| step.of.is_some_and(|(other, _)| other.called == of.called);
    later.iter().find(|step| own(step) && leaves(step))
}

#[test]
fn causes_are_gone_to() {
    let (mut screen, all) = queens();
    let mut reasons = [0; 4];
    for at in (0..all.len()).step_by(17) {
        jump(&mut screen, &all[at]);
        let before = screen.spot();
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
            screen.recall(&before);
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
    let jump = |screen: &mut EventsScreen, step: &Step| {
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
