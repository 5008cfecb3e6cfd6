//! Figures of goals, beside their lines in the source, and of clauses, above them.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use std::fs;

use portmortem_analyzer::trace::Trace;
use portmortem_screens::{App, ThemeName};
use portmortem_tracer::format::{Clause, Dialect, Event, Header, Outcome, Site, StreamKind};
use portmortem_tracer::{NewPredicate, Options, Recorder, clock};
use support::{keys, picture, text};

const SOURCE: &str = "\
main :-
    p(1),
    p(2).
p(1).
";

#[test]
fn the_source_shows_what_each_goal_did() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("run.pl");
    fs::write(&program, SOURCE).unwrap();
    let path = directory.path().join("run.pmt");
    let mut header = Header::of_this_process("test engine");
    header.directory = directory.path().to_str().unwrap().to_owned();
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    let file = program.to_str().unwrap();
    let main = recorder.predicate(NewPredicate::named("user", "main", 0).at(file, 1));
    let p = recorder.predicate(NewPredicate::named("user", "p", 1).at(file, 4));
    let [first, second] = [1, 2].map(|goal| {
        recorder.site(Site {
            callee: p,
            caller: main,
            clause: 1,
            goal,
            line: goal + 1,
            file: None,
            then_fails: false,
        })
    });
    let clause = recorder.clause(Clause {
        predicate: main,
        number: 1,
        line: 1,
        file: None,
    });
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    let call = |predicate| Event::Call { predicate };
    let events = [
        call(main),
        Event::Clause { clause },
        call(first),
        Event::ExitDet,
        call(second),
        Event::Fail,
        Event::Fail,
    ];
    let now = clock::ticks() + (1 << 30);
    for (event, tick) in events.into_iter().zip((now..).step_by(1000)) {
        stream.record_at(event, tick);
    }
    stream.end();
    recorder.close(Outcome::Exited(0)).unwrap();

    let trace = Trace::open(&path).unwrap();
    let mut app = App::new(trace, &path, ThemeName::Dark, Default::default());
    app.wait();
    keys(&mut app, "2");
    let shown = text(&picture(&mut app, 80, 40));
    let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    // Calls and failures; the time before them may have a unit or none.
    let goal = |text: &str| -> Vec<&str> {
        let line = lines.iter().find_map(|line| line.strip_suffix(text));
        let words = line.unwrap_or_else(|| panic!("{shown}")).split_whitespace();
        let words: Vec<&str> = words.collect();
        words[words.len() - 2..].to_vec()
    };
    assert_eq!(goal(" p(1),"), ["1", "0"], "{shown}");
    assert_eq!(goal(" p(2)."), ["1", "1"], "{shown}");
    let above = lines.iter().position(|line| line.ends_with(" main :-"));
    let above = lines[above.unwrap() - 1].trim_start();
    assert!(
        above.starts_with("clause 1: entered 1, in vain 1 for "),
        "{shown}"
    );
    assert!(
        shown.contains("goals: time served, calls, fails"),
        "{shown}"
    );
}
