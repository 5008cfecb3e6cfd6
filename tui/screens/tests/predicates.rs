//! The screens of all predicates and of one: what is in sight, and how few keys lead from a hot predicate to its slowest call and to its
//! source. Their figures are those of the analyser's tables.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use std::sync::atomic::AtomicU64;

use portmortem_analyzer::calls::figures::SlowCall;
use portmortem_analyzer::hottest_path::hottest_path;
use portmortem_analyzer::text::count;
use portmortem_analyzer::trace::{PredicateIndex, Trace};
use portmortem_analyzer::{Analysis, Filters, remarks};
use portmortem_screens::app::Request;
use portmortem_screens::screens::ScreenId;
use portmortem_screens::{App, ThemeName};
use support::{app, keys, picture, sample, text};

fn analysis(trace: &str) -> Analysis {
    let path = sample(trace);
    let trace = Trace::open(&path).unwrap();
    Analysis::of(trace, &path, Filters::default(), &AtomicU64::new(0)).unwrap()
}

fn predicate(analysis: &Analysis, name: &str) -> PredicateIndex {
    let mut predicates = analysis.trace.predicates().iter();
    predicates.position(|info| info.indicator == name).unwrap() as PredicateIndex
}

/// The screens with the sources of the samples.
fn app_with_sources(trace: &str) -> App {
    let path = sample(trace);
    let trace = Trace::open(&path).unwrap();
    let mut app = App::new(trace, &path, ThemeName::Dark, Filters::default());
    app.wait();
    app
}

/// The screens, as they begin with a filter.
fn filtered(trace: &str, filter: &str) -> App {
    let path = sample(trace);
    let trace = Trace::open(&path).unwrap();
    let mut app = App::new(trace, &path, ThemeName::Dark, Filters::default()).without_sources();
    app.begin_with_filter(filter.to_owned());
    app.wait();
    app
}

fn slowest(analysis: &Analysis, predicate: PredicateIndex) -> SlowCall {
    let figures = analysis.calls().predicate(predicate).unwrap();
    figures.slowest[0]
}

/// The rows of the view as it is exported, without their header.
fn exported(app: &mut App) -> Vec<Vec<String>> {
    keys(app, "e ctrl-u :x.csv enter");
    let requests = app.requests();
    let [Request::Write(_, file)] = &requests[..] else {
        panic!("{requests:?}");
    };
    let rows = file.lines().skip(1);
    rows.map(|row| row.split(',').map(str::to_owned).collect())
        .collect()
}

#[test]
fn both_screens_in_other_sizes() {
    for (trace, digit, typed) in [
        ("queens.pmt", '1', ""),
        ("scan.pmt", '2', "/ :lookup enter enter"),
    ] {
        for (width, height) in [(120, 40), (200, 60)] {
            let mut app = app_with_sources(trace);
            keys(&mut app, typed);
            let shown = text(&picture(&mut app, width, height));
            insta::assert_snapshot!(format!("screen_{digit}_{width}x{height}"), shown);
        }
    }
}

/// On all screens alike; what is left out is in no sum.
#[test]
fn work_is_the_whole_until_a_key_says_otherwise() {
    for trace in ["scan.pmt", "threads_exceptions.pmt", "queens.pmt"] {
        let analysis = analysis(trace);
        let infos = analysis.trace.predicates().iter();
        let others = infos.filter(|info| info.is_engine_work());
        let others: Vec<&str> = others.map(|info| info.declared.name.as_str()).collect();
        let is_other = |row: &Vec<String>| {
            let name = row.last().unwrap();
            others
                .iter()
                .any(|other| *name == format!("system:{other}/0"))
        };
        let used = analysis.tables().used_predicates().count();
        let mut app = app(trace, ThemeName::Dark);
        keys(&mut app, "C");
        for (typed, all) in [("", false), ("w", true), ("w", false)] {
            keys(&mut app, typed);
            keys(&mut app, "1");
            let title = text(&picture(&mut app, 200, 30));
            let title = title.lines().nth(1).unwrap();
            let whole = analysis.whole();
            assert_eq!(
                title.contains("left out (w): "),
                !all && whole.left_out_ticks() > 0
            );
            let rows = exported(&mut app);
            assert!(all || !rows.iter().any(is_other), "{rows:?}");
            assert_eq!(all && !others.is_empty(), rows.iter().any(is_other));
            let shares = rows.iter().map(|row| row[0].parse::<f64>().unwrap());
            let sum: f64 = shares.sum();
            assert!((sum - 100.0).abs() < 0.06 * used as f64, "{sum}");
            keys(&mut app, "3");
            let rows = exported(&mut app);
            let first: f64 = rows[0][0].parse().unwrap();
            assert!(first <= 100.0 && !is_other(&rows[0]), "{rows:?}");
            keys(&mut app, "+");
            let rows = exported(&mut app);
            assert!(all || !rows.iter().any(is_other), "{rows:?}");
        }
    }
}

/// Enter, v.
#[test]
fn two_keys_lead_to_the_slowest_call_of_the_hottest_predicate() {
    for (trace, name) in [("queens.pmt", "attack/3"), ("scan.pmt", "lookup/2")] {
        let analysis = analysis(trace);
        let hottest = slowest(&analysis, predicate(&analysis, name));
        for typed in ["enter v", "v", "enter t enter", "enter t v"] {
            let mut app = app(trace, ThemeName::Dark);
            keys(&mut app, &format!("/ :{name} enter"));
            keys(&mut app, typed);
            assert_eq!(app.screen(), ScreenId::Events, "{typed}");
            let shown = text(&picture(&mut app, 100, 30));
            let event = format!("event {} of", count(hottest.event));
            assert!(shown.contains(&event), "{typed}: {event}\n{shown}");
        }
        let mut app = app(trace, ThemeName::Dark);
        keys(&mut app, &format!("/ :{name} enter enter V"));
        let shown = text(&picture(&mut app, 100, 30));
        assert_eq!(app.screen(), ScreenId::Events);
        assert!(!shown.contains(&format!("event {} of", count(hottest.event))));
    }
}

/// Enter, o.
#[test]
fn two_keys_lead_to_the_source_line_of_the_hottest_goal() {
    let analysis = analysis("scan.pmt");
    let name = "reverses/1";
    let index = predicate(&analysis, name);
    let sites = analysis.tables().site_list().into_iter();
    let sites = sites.filter(|site| site.caller.predicate() == Some(index));
    let hottest = sites.max_by_key(|site| site.figures.served_ticks).unwrap();
    let (goal, first) = (hottest.line().unwrap(), analysis.source(index).unwrap().1);
    assert_ne!(goal, first);
    let mut app = app_with_sources("scan.pmt");
    keys(&mut app, &format!("/ :{name} enter enter"));
    let shown = text(&picture(&mut app, 80, 24));
    let source = std::fs::read_to_string(sample("scan.pl")).unwrap();
    let lines: Vec<&str> = source.lines().collect();
    let line = lines[goal as usize - 1].trim();
    let marked = shown.lines().find(|line| line.starts_with('>')).unwrap();
    assert!(marked.ends_with(line), "{shown}");
    // Eight lines of it are in sight, and so are callers and callees.
    let heading = shown.lines().position(|line| line.starts_with("scan.pl:"));
    let below = shown.lines().skip(heading.unwrap() + 1);
    assert!(below.take(8).all(|line| !line.is_empty()), "{shown}");
    assert!(shown.contains("< ") && shown.contains("> "), "{shown}");
    keys(&mut app, "o");
    let requests = app.requests();
    let [Request::Edit(path, line)] = &requests[..] else {
        panic!("{requests:?}");
    };
    assert!(path.ends_with("scan.pl") && *line == goal, "{requests:?}");
    // The cursor of the source moves, and the editor opens where it is.
    keys(&mut app, "t t up o");
    let requests = app.requests();
    assert!(
        matches!(&requests[..], [Request::Edit(_, line)] if *line < goal),
        "{requests:?}"
    );
}

/// On a line of the source `v` leads to the slowest call that its goals made.
#[test]
fn a_goal_leads_to_its_slowest_call() {
    let analysis = analysis("scan.pmt");
    let index = predicate(&analysis, "reverses/1");
    let goals = analysis.calls().goals();
    let goals = goals.filter(|(goal, _)| goal.caller.predicate() == Some(index));
    let goals: Vec<_> = goals.filter(|(goal, _)| goal.site.is_some()).collect();
    let [(_, figures)] = &goals[..] else {
        panic!("{goals:?}");
    };
    let slow = figures.slowest[0];
    let mut app = app_with_sources("scan.pmt");
    keys(&mut app, "/ :reverses enter enter t t v");
    let shown = text(&picture(&mut app, 100, 30));
    assert_eq!(app.screen(), ScreenId::Events);
    let event = format!("event {} of", count(slow.event));
    assert!(shown.contains(&event), "{event}\n{shown}");
    // And back to the line; where the event was found late, that is a step of its own.
    keys(&mut app, "esc");
    if app.screen() == ScreenId::Events {
        keys(&mut app, "esc");
    }
    keys(&mut app, "o");
    assert_eq!(app.screen(), ScreenId::Predicate);
    let site = &analysis.trace.sites()[slow.site.unwrap() as usize];
    assert!(matches!(&app.requests()[..], [Request::Edit(_, line)] if *line == site.line));
}

/// What has no source is shown where it is called.
#[test]
fn a_predicate_without_source_is_shown_where_most_of_its_time_is_called() {
    let analysis = analysis("scan.pmt");
    let sites = analysis.tables().site_list().into_iter();
    let sites = sites.filter(|site| analysis.source(site.callee).is_none());
    let sites: Vec<_> = sites.filter(|site| site.line().is_some()).collect();
    let index = sites[0].callee;
    let sites = sites.iter().rev().filter(|site| site.callee == index);
    let hottest = sites.max_by_key(|site| site.figures.served_ticks).unwrap();
    let name = analysis.predicate(index);
    let mut app = app_with_sources("scan.pmt");
    app.begin_with_filter(format!("predicate = \"{name}\""));
    keys(&mut app, "C C enter");
    let shown = text(&picture(&mut app, 80, 24));
    let place = format!("called at scan.pl:{}", hottest.line().unwrap());
    assert!(shown.contains(&place), "{shown}");
    let marked = shown.lines().find(|line| line.starts_with('>')).unwrap();
    let (_, called) = name.split_once(':').unwrap();
    let (called, _) = called.split_once('/').unwrap();
    assert!(marked.contains(called), "{shown}");
    keys(&mut app, "o");
    let requests = app.requests();
    assert!(
        matches!(&requests[..], [Request::Edit(path, line)]
            if path.ends_with("scan.pl") && Some(*line) == hottest.line()),
        "{requests:?}"
    );
    // Enter on the line goes to the predicate whose clause it is in.
    keys(&mut app, "t t enter");
    let caller = analysis.caller(hottest.caller);
    let shown = text(&picture(&mut app, 80, 24));
    assert!(shown.lines().nth(1).unwrap().ends_with(caller), "{shown}");
}

/// Callers add up to the inclusive time of the predicate, and so do its own time and the callees; the largest caller is the last one.
#[test]
fn callers_ascend_to_the_predicate_and_add_up() {
    for (name, with_all) in [
        ("sel/3", false),
        ("system:memberchk/2", false),
        ("nrev/2", false),
        ("app/3", false),
        ("system:memberchk/2", true),
    ] {
        let trace = if name == "sel/3" {
            "queens.pmt"
        } else {
            "scan.pmt"
        };
        let analysis = analysis(trace);
        let figures = analysis.profile.predicates[predicate(&analysis, name) as usize];
        let mut app = filtered(trace, &format!("predicate = \"{name}\""));
        // Net times of the profile are not at hand here.
        keys(&mut app, if with_all { "w C enter" } else { "C enter" });
        assert!(text(&picture(&mut app, 80, 24)).contains(name));
        let rows = exported(&mut app);
        let time = |row: &Vec<String>| row[1].parse::<u64>().ok();
        let subject = rows
            .iter()
            .position(|row| row.last().unwrap() == name)
            .unwrap();
        let callers: Vec<u64> = rows[..subject].iter().filter_map(time).collect();
        assert!(callers.is_sorted(), "{rows:?}");
        let callees: Vec<u64> = rows[subject + 1..].iter().filter_map(time).collect();
        assert!(callees[1..].is_sorted_by(|a, b| a >= b), "{rows:?}");
        let whole = time(&rows[subject]).unwrap();
        let inclusive = match with_all {
            true => figures.inclusive_ticks,
            false => figures.inclusive_work_ticks,
        };
        assert_eq!(whole, analysis.ns(inclusive));
        // Each is rounded on its own.
        for parts in [callers, callees] {
            let sum: u64 = parts.iter().sum();
            assert!(sum.abs_diff(whole) <= parts.len() as u64, "{rows:?}");
        }
    }
}

#[test]
fn slowest_calls_are_those_of_the_table() {
    let analysis = analysis("threads_exceptions.pmt");
    let tables = analysis.tables();
    for index in tables.used_predicates() {
        let name = analysis.predicate(index);
        let expected = tables.slowest().filter(|row| row.predicate == name);
        let expected: Vec<[u64; 2]> = expected.map(|row| [row.ns, row.event]).collect();
        let filter = format!("predicate = \"{name}\"");
        let mut app = filtered("threads_exceptions.pmt", &filter);
        // Waiting and collections, too.
        keys(&mut app, "w enter t");
        if expected.is_empty() {
            continue;
        }
        let rows = exported(&mut app);
        let shown: Vec<[u64; 2]> = rows
            .iter()
            .map(|row| [&row[0], &row[3]].map(|cell| cell.parse().unwrap()))
            .collect();
        assert_eq!(shown, expected, "{name}");
    }
}

/// The columns of single calls are missing until a thread has found them; keys wait for it where rows depend on them.
#[test]
fn times_of_calls_are_columns_that_can_be_sorted_by() {
    let analysis = analysis("scan.pmt");
    let tables = analysis.tables();
    let mut expected: Vec<(u64, String)> = tables
        .latencies()
        .filter_map(|row| Some((row.max_ns?, row.predicate.to_owned())))
        .filter(|(max, _)| *max > 100_000)
        .collect();
    expected.sort_by(|a, b| b.cmp(a));
    assert!(expected.len() > 2);
    let mut app = filtered("scan.pmt", "max > 100us");
    keys(&mut app, "w");
    // The chooser of columns can be searched.
    keys(&mut app, "s / :max enter enter");
    let rows = exported(&mut app);
    let names: Vec<&String> = rows.iter().filter_map(|row| row.last()).collect();
    let by_max: Vec<&String> = expected.iter().map(|(_, name)| name).collect();
    assert_eq!(names, by_max);
    // A word is not looked for in what the user does not see.
    keys(&mut app, "esc / :linear enter e");
    assert!(text(&picture(&mut app, 120, 40)).contains("nothing to export here"));
    keys(&mut app, "esc / :growth_=_linear enter");
    let growing = tables
        .latencies()
        .filter(|row| row.growth == Some("linear"))
        .count();
    assert_eq!(exported(&mut app).len(), growing);
    assert!(growing > 0);
}

#[test]
fn what_happened_is_above_the_predicates() {
    for trace in ["queens.pmt", "scan.pmt", "threads_exceptions.pmt"] {
        let analysis = analysis(trace);
        let mut app = app(trace, ThemeName::Dark);
        let small = text(&picture(&mut app, 80, 24));
        let heading = small
            .lines()
            .position(|line| line.contains("self %"))
            .unwrap();
        assert!((4..=8).contains(&heading), "{small}");
        assert!(
            small.lines().nth(heading).unwrap().contains("fails"),
            "{small}"
        );
        assert!(
            small.lines().nth(heading).unwrap().contains(" det"),
            "{small}"
        );
        let large = text(&picture(&mut app, 200, 60));
        let facts = [
            Some(remarks::ending(&analysis.trace)),
            Some(remarks::recording_share(&analysis)),
            remarks::waiting(&analysis),
            remarks::undone(&analysis),
            remarks::collections(&analysis),
            remarks::unused_choicepoints(&analysis),
        ];
        for fact in facts.into_iter().flatten() {
            assert!(large.contains(&fact), "{fact}\n{large}");
        }
        let net = analysis
            .profile
            .net
            .as_ref()
            .filter(|_| analysis.net_is_measured());
        let path = hottest_path(&analysis, net);
        assert!(path.len() > 1);
        for (predicate, _) in path {
            let line = large.lines().find(|line| line.contains("hottest path"));
            assert!(
                line.unwrap().contains(analysis.predicate(predicate)),
                "{large}"
            );
        }
    }
}

#[test]
fn a_hidden_predicate_has_no_zeros() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    keys(&mut app, "enter");
    let before = text(&picture(&mut app, 80, 24));
    app.act(portmortem_screens::keys::Action::Hide);
    app.wait();
    let shown = text(&picture(&mut app, 80, 24));
    assert!(
        shown.contains("nothing of attack/3 is looked at"),
        "{shown}"
    );
    assert!(!shown.contains("called from"), "{shown}");
    keys(&mut app, "v enter t down o esc");
    assert_eq!(text(&picture(&mut app, 80, 24)), before);
}
