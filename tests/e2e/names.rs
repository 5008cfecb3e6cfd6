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

/// Makes and calls them.
pub(super) fn program() -> String {
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

/// The main thread has the first stream, and another thread has its number for a name.
#[test]
fn a_number_means_the_stream_with_that_number() {
    let program = "
        :- initialization(main, main).
        main :- thread_create(one, Id, [alias('1')]), thread_join(Id).
        one.
    ";
    let sandbox = Sandbox::with("threads.pl", program);
    sandbox
        .portmortem(["record", "-o", "run.pmt", "threads.pl"])
        .succeeds();
    let recorded = Profiled::of(&sandbox.path("run.pmt"));
    let main = recorded.trace.streams().first().unwrap();
    assert_eq!((main.id, main.name()), (1, "main"));
    let report = sandbox.portmortem(["report", "run.pmt", "--stream", "1"]);
    let text = report.succeeds().out();
    assert!(
        text.contains("  main/0\n") && !text.contains("  one/0\n"),
        "{text}"
    );
}
