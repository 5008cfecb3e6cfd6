//! Names of predicates: what a report prints is accepted by every option, and means that predicate.

use portmortem_tests::{Profiled, Sandbox};

/// Predicates with three arguments. Each is called once.
const NAMES: [&str; 31] = [
    "foo",
    "'slow one'",
    "''",
    "'*'",
    "'?'",
    "'a*b'",
    "'/'",
    "'//'",
    "':'",
    "'a:b'",
    "'a/b'",
    "'[]'",
    "{}",
    "'Foo'",
    "'_x'",
    "'1a'",
    "'it''s'",
    "'back\\\\slash'",
    "'tab\\there'",
    "'line\\nbreak'",
    "'\\x202e\\'",
    "é",
    "'É'",
    "'日本'",
    "'$foo'",
    "(table)",
    "(dynamic)",
    "(<>)",
    "(#\\=)",
    "'('",
    "'f(x)'",
];

fn program() -> String {
    let mut text = String::from(":- initialization(main, main).\n");
    for name in NAMES {
        text += &format!("t({name}).\n");
    }
    // Clauses are made of their names: some cannot be written as heads.
    text += "
make :- forall(t(N), ( Head =.. [N, _, _, _], assertz((Head :- inner)) )).
inner.
main :- make, forall(t(N), ( Goal =.. [N, 1, 2, 3], call(Goal) )).
";
    text
}

/// The predicates of the program with three arguments, as reports print them.
fn printed(recorded: &Profiled) -> Vec<String> {
    let known = recorded.trace.predicates().iter();
    let known = known.filter(|info| info.declared.module == "user" && info.declared.arity == 3);
    known.map(|info| info.indicator.clone()).collect()
}

#[test]
fn names_as_printed_are_accepted() {
    let sandbox = Sandbox::with("names.pl", &program());
    let record = ["record", "--force", "-o", "run.pmt"];
    sandbox
        .portmortem([&record[..], &["names.pl"]].concat())
        .succeeds();
    let names = printed(&Profiled::of(&sandbox.path("run.pmt")));
    assert_eq!(names.len(), NAMES.len(), "{names:?}");
    for name in &names {
        for options in [
            &["report", "run.pmt", "--predicate", name],
            &["report", "run.pmt", "--focus", name],
        ] {
            sandbox.portmortem(*options).succeeds();
        }
        let hidden = sandbox.portmortem(["report", "run.pmt", "--top", "99", "--hide", name]);
        let shown = hidden.succeeds().out();
        let is_shown = shown
            .lines()
            .any(|line| line.ends_with(&format!("  {name}")));
        assert!(!is_shown, "{name} is hidden: {shown}");
        let condition = format!("predicate = \"{name}\"");
        let events = sandbox.portmortem(["events", "run.pmt", "--where", &condition]);
        events.succeeds();
    }
    for some in names.chunks(8) {
        let mut options = record.to_vec();
        for name in some {
            options.extend(["--include", name, "--arguments", name]);
        }
        options.push("names.pl");
        sandbox.portmortem(options).succeeds();
        let recorded = Profiled::of(&sandbox.path("run.pmt"));
        let mut found = printed(&recorded);
        found.sort();
        let mut wanted = some.to_vec();
        wanted.sort();
        assert_eq!(found, wanted);
        assert_eq!(recorded.trace.with_arguments().len(), wanted.len());
    }
}

#[test]
fn what_matches_nothing_is_an_error() {
    let sandbox = Sandbox::with("names.pl", &program());
    sandbox
        .portmortem(["record", "-o", "run.pmt", "names.pl"])
        .succeeds();
    for options in [
        &["report", "run.pmt", "--hide", "nothing/7"][..],
        &["report", "run.pmt", "--predicate", "nothing/7"],
        &["report", "run.pmt", "--focus", "nothing/7"],
        &["advise", "run.pmt", "--ignore", "hottest:nothing/7"],
        &["diff", "run.pmt", "run.pmt", "--hide", "nothing/7"],
    ] {
        let outcome = sandbox.portmortem(options);
        outcome.refuses("matches");
    }
}

/// Threads without a name have their number, which may be that of another thread's stream.
#[test]
fn a_number_means_the_stream_with_that_number() {
    let program = "
        :- initialization(main, main).
        main :- thread_create(work(a), A), thread_create(work(b), B), maplist(thread_join, [A, B]).
        work(a) :- one.
        work(b) :- two.
        one.
        two.
    ";
    let sandbox = Sandbox::with("threads.pl", program);
    sandbox
        .portmortem(["record", "-o", "run.pmt", "threads.pl"])
        .succeeds();
    let recorded = Profiled::of(&sandbox.path("run.pmt"));
    let streams = recorded.trace.streams().iter();
    let is_ambiguous = streams.clone().any(|one| {
        streams
            .clone()
            .any(|other| one.id != other.id && one.name() == other.id.to_string())
    });
    assert!(is_ambiguous, "{:?}", recorded.trace.streams());
    let mut seen = Vec::new();
    for stream in streams {
        let id = stream.id.to_string();
        let report = sandbox.portmortem(["report", "run.pmt", "--stream", &id]);
        let text = report.succeeds().out();
        let predicates = ["main/0", "one/0", "two/0"];
        seen.extend(
            predicates
                .into_iter()
                .filter(|name| text.contains(&format!("  {name}\n"))),
        );
    }
    assert_eq!(seen, ["main/0", "one/0", "two/0"]);
}
