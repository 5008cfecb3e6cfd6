//! What is written to filter or search a screen.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use std::ops::ControlFlow;

use portmortem_analyzer::condition::ListedCondition;
use portmortem_analyzer::listing::Listing;
use portmortem_analyzer::tables::SiteNames;
use portmortem_analyzer::trace::{PredicateInfo, Trace};
use portmortem_screens::app::Request;
use portmortem_screens::{App, ThemeName};
use support::{app, keys, picture, sample, text};

/// What the cursor is on, as the screen copies it.
fn copied(app: &mut App) -> String {
    keys(app, "y");
    match &app.requests()[..] {
        [Request::Copy(text)] => text.clone(),
        other => panic!("{other:?}"),
    }
}

/// On every screen that is filtered or searched.
#[test]
fn what_is_no_condition_cannot_be_confirmed() {
    for (screen, bad) in [
        ("1", "fails_>_many"),
        ("3", "(main"),
        ("4", "nothing_=_1"),
        ("5", "(main"),
        ("6", "port_=_nothing"),
        ("8", "(main"),
    ] {
        let mut app = app("queens.pmt", ThemeName::Dark);
        keys(&mut app, &format!("{screen} / :{bad} enter"));
        let shown = text(&picture(&mut app, 120, 30));
        let asked = shown.lines().last().unwrap();
        assert!(asked.contains(&bad.replace('_', " ")), "{screen}: {shown}");
        assert!(
            ["expected", "is called"]
                .iter()
                .any(|why| asked.contains(why)),
            "{screen}: {asked}"
        );
        keys(&mut app, "esc");
        let shown = text(&picture(&mut app, 120, 30));
        assert!(!shown.contains("filter: "), "{screen}: {shown}");
    }
}

#[test]
fn names_are_filtered_with_or_without_their_module() {
    for (condition, name) in [
        ("predicate_=_memberchk/2", "system:memberchk/2"),
        ("predicate_=_system:member*", "system:memberchk/2"),
        ("predicate_=_user:lookup/2", "lookup/2"),
    ] {
        let mut app = app("scan.pmt", ThemeName::Dark);
        keys(&mut app, &format!("/ :{condition} enter"));
        let row = copied(&mut app);
        assert!(row.trim_end().ends_with(name), "{condition}: {row}");
        keys(&mut app, &format!("esc 6 / :{condition} enter"));
        app.wait();
        let shown = text(&picture(&mut app, 160, 30));
        assert!(shown.contains(name), "{condition}: {shown}");
    }
    let mut app = app("queens.pmt", ThemeName::Dark);
    keys(&mut app, "6 / :port_=_exit enter");
    app.wait();
    let shown = text(&picture(&mut app, 160, 30));
    assert!(!shown.contains("no event"), "{shown}");
}

/// The numbers of the events that `portmortem events` lists of the first stream, without those of
/// what is left out.
fn listed(trace: &str, condition: &str) -> Vec<u64> {
    let trace = Trace::open(&sample(trace)).unwrap();
    let sites = SiteNames::of(&trace);
    let condition = ListedCondition::parse(condition, &trace, &sites).unwrap();
    let mut listing = Listing::new(&trace, "", None, &sites);
    listing.streams = vec![trace.streams()[0].id];
    let mut numbers = Vec::new();
    let infos = trace.predicates();
    let _ = listing.each(&condition, &mut |event, _| {
        let of = event.at.step.of.map(|(of, _)| of.predicate as usize);
        if !of.is_some_and(|of| infos.get(of).is_some_and(PredicateInfo::is_engine_work)) {
            numbers.push(event.at.step.number);
        }
        ControlFlow::Continue(())
    });
    numbers
}

/// The numbers of the events that the screen knows, in its order.
fn shown(app: &mut App) -> Vec<u64> {
    keys(app, "Y");
    let requests = app.requests();
    let [Request::Copy(rows)] = &requests[..] else {
        panic!("{requests:?}");
    };
    let (heads, rows) = rows.split_once('\n').unwrap();
    let at = heads.split(',').position(|head| head == "seq").unwrap();
    let number = |row: &str| row.split(',').nth(at).unwrap().parse().unwrap();
    rows.lines().map(number).collect()
}

#[test]
fn events_are_filtered_by_what_their_boxes_do_and_who_called_them() {
    for (trace, condition) in [
        ("queens.pmt", "took > 10us and took < 1ms"),
        ("queens.pmt", "outcome = fail and port = call"),
        ("queens.pmt", "outcome = exit and predicate = attack/3"),
        ("scan.pmt", "site = scan.pl:*"),
        ("queens.pmt", "time > 3ms and time < 3.2ms"),
        ("queens.pmt", "event > 500 and event < 520"),
        ("scan.pmt", "took > 100us"),
        ("scan.pmt", "port = call and outcome = exit"),
    ] {
        let known = listed(trace, condition);
        assert!(known.len() > 3, "{trace}: {condition}: {known:?}");
        let mut app = app(trace, ThemeName::Dark);
        let typed = condition.replace(' ', "_");
        keys(&mut app, &format!("6 / :{typed} enter home"));
        app.wait();
        let first = shown(&mut app);
        assert!(
            first.len() >= known.len().min(400),
            "{condition}: {first:?}"
        );
        assert_eq!(first, known[..first.len()], "{condition}");
        // The boxes there are found, too.
        let picture = text(&picture(&mut app, 120, 30));
        assert!(!picture.contains("Active: 0 boxes"), "{picture}");
        keys(&mut app, "end");
        app.wait();
        let last = shown(&mut app);
        assert!(last.len() >= known.len().min(400), "{condition}: {last:?}");
        assert_eq!(last, known[known.len() - last.len()..], "{condition}");
        // One back, one on.
        keys(&mut app, "N n");
        assert_eq!(shown(&mut app).last(), known.last());
    }
}

#[test]
fn pairs_are_filtered_by_their_predicate() {
    for (typed, heading) in [("4", "what failed"), ("!", "raised in")] {
        let mut app = app("threads_exceptions.pmt", ThemeName::Dark);
        keys(&mut app, typed);
        let before = text(&picture(&mut app, 120, 30));
        let row = copied(&mut app);
        let name = row.lines().last().unwrap().rsplit(',').nth(1).unwrap();
        assert!(before.contains(heading) && name.contains('/'), "{before}");
        keys(&mut app, &format!("/ :predicate_=_{name} enter"));
        let found = text(&picture(&mut app, 120, 30));
        let rows = found.lines().skip(5);
        let mut rows = rows.take_while(|line| line.starts_with(' ') && line.trim() != "");
        assert!(rows.all(|line| line.contains(name)), "{name}: {found}");
        assert!(
            found.contains(&format!("filter: predicate = {name}")),
            "{found}"
        );
        assert!(copied(&mut app).contains(name));
    }
}
