//! The questions that a user comes with: each is answered in at most four keys, where a text that
//! is typed counts as one.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use std::path::{Path, PathBuf};

use portmortem_analyzer::Filters;
use portmortem_analyzer::trace::Trace;
use portmortem_screens::app::Request;
use portmortem_screens::{App, ThemeName};
use portmortem_tracer::format::{
    Dialect, Event, Header, Outcome, Role, Roles, StreamKind, SyncCall, SyncRole,
};
use portmortem_tracer::{NewPredicate, Options, Recorder, clock};
use support::{keys, made, picture, sample, text, watchdog};

/// What is shown after these keys.
fn after(app: &mut App, typed: &str) -> String {
    assert!(typed.split(' ').count() <= 4, "{typed}");
    keys(app, typed);
    text(&picture(app, 120, 40))
}

fn open(path: &Path) -> App {
    watchdog::begin(&path.display().to_string());
    let trace = Trace::open(path).unwrap();
    let mut app = App::new(trace, path, ThemeName::Dark, Filters::default());
    app.wait();
    app
}

fn shop() -> App {
    open(&sample("../docs/questions/shop.pmt"))
}

/// The line with a text, without what is around it.
fn line<'s>(shown: &'s str, text: &str) -> &'s str {
    let found = shown.lines().skip(3).find(|line| line.contains(text));
    found.unwrap_or_else(|| panic!("no {text} in\n{shown}"))
}

#[test]
fn where_did_the_time_go() {
    let shown = text(&picture(&mut shop(), 120, 40));
    assert!(line(&shown, "hottest path").contains("price/2"), "{shown}");
}

#[test]
fn which_goal_costs_it() {
    let shown = after(&mut shop(), "t");
    let goal = line(&shown, "handle/3 #2.4 > price/2");
    assert!(goal.contains("shop.pl:"), "{shown}");
    // Enter goes to its line.
    let mut app = shop();
    let shown = after(&mut app, "t / :price enter");
    assert!(shown.contains("> price/2"), "{shown}");
}

#[test]
fn who_calls_it() {
    let shown = after(&mut shop(), "/ :price/2 enter enter");
    assert!(line(&shown, "< ").contains("handle/3"), "{shown}");
}

#[test]
fn what_was_thrown_away_and_where() {
    let mut app = shop();
    let shown = after(&mut app, "4");
    assert!(line(&shown, "bargain/2").contains("shop.pl:43"), "{shown}");
    let shown = after(&mut app, "v");
    assert!(
        shown.contains("[6 Events]") && shown.contains("fail"),
        "{shown}"
    );
}

#[test]
fn which_choicepoints_were_left_for_nothing() {
    let mut app = support::app("queens.pmt", ThemeName::Dark);
    let shown = after(&mut app, "4 t");
    assert!(
        shown.contains("[choicepoints]") && shown.contains("never used"),
        "{shown}"
    );
}

#[test]
fn what_happened_at_a_time() {
    let shown = after(&mut shop(), ": :0.2s enter");
    assert!(
        shown.contains("[5 Timeline]") && shown.contains("200.0 ms"),
        "{shown}"
    );
}

#[test]
fn why_one_call_took_so_long() {
    let mut app = support::app("scan.pmt", ThemeName::Dark);
    let shown = after(&mut app, "/ :enter/3 enter =");
    assert!(line(&shown, "this call").contains("the usual"), "{shown}");
    assert!(shown.contains("the middle one by time of"), "{shown}");
    // The same of an event.
    let mut app = support::app("scan.pmt", ThemeName::Dark);
    let shown = after(&mut app, "v =");
    assert!(shown.contains("the usual"), "{shown}");
    keys(&mut app, "esc");
    assert!(!text(&picture(&mut app, 120, 40)).contains("the usual"));
}

#[test]
fn which_calls_of_all_were_slow() {
    let mut app = support::app("scan.pmt", ThemeName::Dark);
    let shown = after(&mut app, "t t");
    assert!(shown.contains("[slow calls]"), "{shown}");
    for heading in ["took ", "× usual", "of calls", " at "] {
        assert!(shown.contains(heading), "{heading}: {shown}");
    }
    let copied = |app: &mut App| {
        app.requests();
        keys(app, "Y");
        let Some(Request::Copy(rows)) = app.requests().pop() else {
            panic!("nothing was copied");
        };
        rows
    };
    let took = |rows: &str| -> Vec<u64> {
        let rows = rows.lines().skip(1);
        rows.map(|row| row.split(',').next().unwrap().parse().unwrap())
            .collect()
    };
    let work = copied(&mut app);
    let slowest = took(&work);
    assert!(
        slowest.is_sorted_by(|a, b| a >= b) && slowest.len() > 20,
        "{work}"
    );
    // What is no work is not among them unless all is shown.
    assert!(!work.contains("waiting/0"), "{work}");
    // By how many times as long as the usual call: one key.
    let shown = after(&mut app, ">");
    assert!(shown.contains("× usual▼"), "{shown}");
    // Enter shows the call.
    let shown = after(&mut app, "enter");
    assert!(shown.contains("[6 Events]"), "{shown}");
    keys(&mut app, "esc w");
    assert!(copied(&mut app).contains("waiting/0"));
}

#[test]
fn which_thread_waits_for_which() {
    let shown = after(&mut shop(), "7 down");
    assert!(
        shown.contains("thread_join/1 at line 16 of main/1"),
        "{shown}"
    );
    // Where the recorder notes what calls are about, it is known who holds the mutex.
    let directory = tempfile::tempdir().unwrap();
    let mut app = open(&waiting(directory.path()));
    let shown = after(&mut app, "9 t t");
    let row = line(&shown, "with_mutex/2");
    for cell in ["main", "bee", "mutex", "gate"] {
        assert!(row.contains(cell), "{cell}: {shown}");
    }
    let shown = after(&mut app, "enter");
    assert!(
        shown.contains("[6 Events]") && shown.contains("waiting/0"),
        "{shown}"
    );
    let shown = after(&mut app, "5");
    let wanted = "waits for mutex gate, held by stream 2 (bee)";
    assert!(shown.contains(wanted) && shown.contains('▼'), "{shown}");
}

/// One thread waits for a mutex that another one holds.
fn waiting(directory: &Path) -> PathBuf {
    let path = directory.join("waits.pmt");
    let header = Header::of_this_process("none");
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    let with_mutex = recorder.predicate(NewPredicate::named("system", "with_mutex", 2));
    let goal = recorder.predicate(NewPredicate::named("user", "goal", 0));
    let roles = Roles::of(&[Role::Waiting]);
    let wait = recorder.predicate(NewPredicate::named("system", "waiting", 0).with_roles(roles));
    let shared = recorder.shared("gate");
    let role = SyncRole::Holds;
    let call = |predicate| Event::Call { predicate };
    let locks = [
        (call(with_mutex), 0),
        (Event::Sync(SyncCall { role, shared }), 1),
    ];
    let main = [
        (call(wait), 10_000),
        (Event::ExitDet, 900_000),
        (call(goal), 900_001),
        (Event::ExitDet, 990_000),
        (Event::ExitDet, 999_000),
    ];
    let bee = [
        (call(goal), 2),
        (Event::ExitDet, 899_000),
        (Event::ExitDet, 899_500),
    ];
    let first = clock::ticks();
    for (name, events) in [("main", main.as_slice()), ("bee", bee.as_slice())] {
        let stream = recorder.stream(StreamKind::Thread, name, Dialect::EveryRedo);
        for &(event, tick) in locks.iter().chain(events) {
            stream.record_at(event, first + tick);
        }
    }
    recorder.close(Outcome::Exited(0)).unwrap();
    path
}

#[test]
fn what_got_better() {
    let (before, path) = (
        sample("../docs/questions/shop.pmt"),
        sample("../docs/questions/shop_fixed.pmt"),
    );
    watchdog::begin("shop_fixed.pmt");
    let trace = Trace::open(&path).unwrap();
    let app = App::new(trace, &path, ThemeName::Dark, Filters::default());
    let mut app = app.compared_with(Some(before));
    app.wait();
    let shown = after(&mut app, "0");
    let totals = line(&shown, "work ");
    assert!(
        totals.contains("% better") && totals.contains("calls"),
        "{shown}"
    );
    assert!(line(&shown, "price/2").contains("better"), "{shown}");
    let shown = after(&mut app, "t");
    assert!(line(&shown, "price/2").contains("handle/3"), "{shown}");
}

#[test]
fn what_was_active_at_the_exception() {
    let mut app = support::app("threads_exceptions.pmt", ThemeName::Dark);
    let shown = after(&mut app, "!");
    assert!(
        shown.contains("[exceptions]") && shown.contains("caught in"),
        "{shown}"
    );
    let shown = after(&mut app, "v");
    assert!(
        shown.contains("[6 Events]") && shown.contains("Active: "),
        "{shown}"
    );
    assert!(shown.contains("exception"), "{shown}");
}

/// A program of several hundred predicates is asked the same.
#[test]
fn a_large_program_answers_too() {
    let mut app = open(&made::program());
    for (typed, said) in [
        ("1", "hottest path"),
        ("t", "large.pl"),
        ("t t enter", "[2 Predicate]"),
        ("4", "who fails into whom"),
        ("4 t", "never used"),
        (": :1.2ms enter", "[5 Timeline]"),
        ("1 =", "the usual"),
        ("! v", "[6 Events]"),
    ] {
        let shown = after(&mut app, typed);
        let said = if said == "large.pl" { ".pl:" } else { said };
        assert!(shown.contains(said), "{typed}: {said}\n{shown}");
        keys(&mut app, "esc esc esc esc esc esc");
    }
}
