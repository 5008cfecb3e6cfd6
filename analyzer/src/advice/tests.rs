//! Findings that depend on times: of traces whose ticks are given.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::AtomicU64;

use portmortem_tracer::format::{Dialect, Event, Header, Outcome, Role, Roles, Site, StreamKind};
use portmortem_tracer::{NewPredicate, Options, Recorder};

use super::evidence::Evidence;
use super::libraries::KnownEffect;
use super::{Cause, Change, Finding, changes, effects, findings};
use crate::Analysis;
use crate::trace::Trace;

/// A goal of a clause: the caller, the line, and what it calls. One that is written again is of the
/// next clause. Predicates are `module:name/arity`,
/// or `module:name` of no arguments; those of other modules than `user` are of a library.
type Goal<'a> = (&'a str, u32, &'a str);

/// What happens, and how many ticks pass before.
enum Step<'a> {
    Call(&'a str),
    Goal(usize),
    Exit,
}

use Step::{Call, Exit, Goal as At};

/// The name of a predicate that calls another one to compare two elements.
const SORT: &str = "sort:by";

/// The findings on a trace of these goals and steps, beside a source file.
fn of<'a>(source: &str, goals: &[Goal<'a>], steps: &[(u64, Step<'a>)]) -> Vec<Finding> {
    of_engine("some engine", source, goals, steps, |analysis| {
        findings(analysis, 0.0)
    })
}

/// What is said of such a trace of an engine.
fn of_engine<'a, T>(
    engine: &str,
    source: &str,
    goals: &[Goal<'a>],
    steps: &[(u64, Step<'a>)],
    say: impl FnOnce(&Analysis) -> T,
) -> T {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("p.pl"), source).unwrap();
    let path = directory.path().join("p.pmt");
    let header = Header {
        directory: ".".to_owned(),
        ..Header::of_this_process(engine)
    };
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    let (own, library) = ("p.pl", "engine:library/l.pl");
    let declare = |of: &str| {
        let (module, name) = of.split_once(':').unwrap_or(("user", of));
        let arity = name.rsplit_once('/');
        let arity = arity.and_then(|(name, arity)| Some((name, arity.parse().ok()?)));
        let (name, arity) = arity.unwrap_or((name, 0));
        let file = if module == "user" { own } else { library };
        let roles = match name {
            SORT => Roles::of(&[Role::SortsByGoal]),
            _ => Roles::default(),
        };
        recorder.predicate(
            NewPredicate::named(module, name, arity)
                .at(file, 1)
                .with_roles(roles),
        )
    };
    let mut declared = BTreeMap::new();
    let mut predicate = |of| *declared.entry(of).or_insert_with(|| declare(of));
    let sites: Vec<u32> = (1..)
        .zip(goals)
        .map(|(goal, &(caller, line, callee))| {
            let before = goals.iter().take(goal as usize - 1);
            let same = before.filter(|&&(by, _, of)| (by, of) == (caller, callee));
            recorder.site(Site {
                callee: predicate(callee),
                caller: predicate(caller),
                clause: 1 + same.count() as u32,
                goal,
                line,
                file: None,
                then_fails: false,
            })
        })
        .collect();
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    let mut tick = portmortem_tracer::clock::ticks();
    for (ticks, step) in steps {
        tick += ticks;
        let event = match step {
            Call(callee) => Event::Call {
                predicate: predicate(callee),
            },
            At(goal) => Event::Call {
                predicate: sites[*goal],
            },
            Exit => Event::ExitDet,
        };
        stream.record_at(event, tick);
    }
    stream.end();
    recorder.close(Outcome::Exited(0)).unwrap();
    let trace = Trace::open(&path).unwrap();
    let filters = crate::Filters::default();
    let analysis = Analysis::of(trace, &path, filters, &AtomicU64::new(0)).unwrap();
    say(&analysis)
}

fn one(findings: &[Finding], cause: Cause) -> &Finding {
    let mut of_cause = findings.iter().filter(|finding| finding.cause == cause);
    of_cause.next().unwrap_or_else(|| panic!("{findings:#?}"))
}

/// `run/0` calls `step/0` so often, each call longer than the one before; one may take very long.
fn growing_steps(long: Option<u64>) -> Vec<(u64, Step<'static>)> {
    let mut steps = vec![(0, Call("run"))];
    for at in 0..200 {
        steps.push((10, At(0)));
        let ticks = if long == Some(at) {
            1 << 30
        } else {
            1000 + 100 * at
        };
        steps.push((ticks, Exit));
    }
    steps.push((10, Exit));
    steps
}

fn growing(source: &str, long: Option<u64>) -> Vec<Finding> {
    of(source, &[("run", 2, "step")], &growing_steps(long))
}

#[test]
fn one_long_call_is_no_growth() {
    let grows = growing("run :-\n    step.\nstep.\n", None);
    let finding = one(&grows, Cause::GrowingCalls);
    let most: u64 = (0..200).map(|at| 100 * at).sum();
    assert!(
        (most / 2..=most).contains(&finding.cost_ticks),
        "{finding:#?}"
    );
    let long = growing("run :-\n    step.\nstep.\n", Some(100));
    assert!(
        long.iter().all(|one| one.cause != Cause::GrowingCalls),
        "{long:#?}"
    );
}

#[test]
fn more_clauses_are_looked_at_only_where_there_are_more() {
    let facts = "step(1).\n".repeat(20);
    for (source, has_more) in [
        ("run :-\n    step.\nstep :- a == b.\n", false),
        ("run :-\n    step.\nstep :- a == b, !.\nstep.\n", false),
        (":- dynamic step/0.\nrun :-\n    step.\nstep.\n", true),
        ("run :-\n    step.\n", true),
        (facts.as_str(), true),
    ] {
        let found = growing(source, None);
        let remedy = &one(&found, Cause::GrowingCalls).remedy;
        assert_eq!(
            remedy.contains("more clauses"),
            has_more,
            "{source}: {remedy}"
        );
    }
}

#[test]
fn work_without_a_site_is_compared_too() {
    let steps = [
        (0, Call("main")),
        (5, At(0)),
        (50, Exit),
        (5, Call("l:propagate")),
        (5000, Exit),
        (5, Exit),
    ];
    let text = "main :-\n    walk.\n";
    let found = of_engine(
        "SWI-Prolog 9.0.4",
        text,
        &[("main", 2, "walk")],
        &steps,
        |analysis| findings(analysis, 0.0),
    );
    let hottest = one(&found, Cause::Hottest);
    assert_eq!(hottest.title, "most of the work: l:propagate/0 in main/0");
    assert_eq!((hottest.place.line, hottest.cost_ticks), (Some(1), 5000));
    assert!(hottest.remedy.contains("--libraries"), "{hottest:#?}");
}

/// Calls inside one another, from goals of two clauses: each has its own time.
#[test]
fn a_goal_inside_another_one_of_its_predicate_has_its_time() {
    let goals = [("main", 2, "l:collect"), ("inner", 4, "l:collect")];
    let steps = [
        (0, Call("main")),
        (5, At(0)),
        (100, Call("inner")),
        (5, At(1)),
        (2000, Exit),
        (5, Exit),
        (100, Exit),
        (5, Exit),
    ];
    let found = of(
        "main :-\n    collect.\ninner :-\n    collect.\n",
        &goals,
        &steps,
    );
    let hottest = one(&found, Cause::Hottest);
    assert_eq!((hottest.place.line, hottest.cost_ticks), (Some(4), 2000));
    assert!(hottest.evidence.contains("in 1 call there"), "{hottest:#?}");
}

/// If calls of libraries were recorded, a library without any is not written in Prolog.
#[test]
fn libraries_are_not_recorded_twice() {
    let steps = [
        (0, Call("main")),
        (5, At(0)),
        (5, At(1)),
        (5000, Exit),
        (5, Exit),
        (5, Exit),
    ];
    let recorded = [("main", 2, "l:digest"), ("l:digest", 7, "foreign:hash")];
    let found = of("main :-\n    digest.\n", &recorded, &steps);
    let hottest = one(&found, Cause::Hottest);
    assert!(!hottest.remedy.contains("--libraries"), "{hottest:#?}");
    assert!(hottest.needs.is_empty(), "{hottest:#?}");
}

#[test]
fn a_sort_has_a_colon_in_its_name() {
    let sort = format!("l:{SORT}");
    let goals = [("main", 2, sort.as_str()), ("compare", 4, "key")];
    let mut steps = vec![(0, Call("main")), (5, At(0))];
    for _ in 0..30 {
        steps.extend([(5, Call("compare")), (5, At(1)), (1000, Exit), (5, Exit)]);
    }
    steps.extend([(5, Exit), (5, Exit)]);
    let found = of("main :-\n    sort.\ncompare :-\n    key.\n", &goals, &steps);
    assert_eq!(
        one(&found, Cause::ComputedInComparison).title,
        "key/0 is computed at each comparison of 'sort:by'/0"
    );
}

/// Engines of which nothing is known.
const OTHERS: [&str; 4] = ["Toy 1", "SWI-Prologue 9", "unknown engine", ""];

/// What is said of traces in which `main/0` calls these predicates, by engines of which libraries
/// are known and are not.
fn of_each_engine<T>(called: &[&str], text: &str, say: impl Fn(&Analysis) -> T) -> (T, Vec<T>) {
    let goals: Vec<Goal> = called.iter().map(|&callee| ("main", 2, callee)).collect();
    let mut steps = vec![(0, Call("main"))];
    for at in 0..goals.len() {
        steps.extend([(5, At(at)), (1000, Exit)]);
    }
    steps.push((5, Exit));
    let say_of = |engine| of_engine(engine, text, &goals, &steps, &say);
    (say_of("SWI-Prolog 9.0.4"), Vec::from(OTHERS.map(say_of)))
}

#[test]
fn libraries_are_those_of_the_engine() {
    let called = ["lists:append/3", "clpfd:label/1"];
    let known = |analysis: &Analysis| {
        let evidence = Evidence::of(analysis);
        let sites: Vec<_> = evidence.sites().map(|site| site.callee).collect();
        assert_eq!(sites.len(), called.len());
        let libraries = evidence.libraries;
        [
            sites.iter().all(|&one| evidence.built_in(one).is_some()),
            sites.iter().any(|&one| evidence.is_labelling(one)),
            libraries.constraints.is_some(),
            libraries.rules.is_some(),
            libraries.chosen_by("system:between/3").is_some(),
            libraries.is_looked_into("clpfd"),
            libraries.files_of("prolog_stack").len() == 2,
            !libraries.unseen_in("p(X) :- X =.. _.").is_empty(),
            libraries.text_made_by("system:atom_concat/3").is_some(),
            libraries.is_part_of_text("system:sub_atom/5", 1, 5),
            libraries.message_printer("prolog_debug:debug/3").is_some(),
            libraries.list_maker("msort", 2).is_some(),
            libraries.copies_unseen("nb_setval"),
            libraries.is_lambda("yall", ">>"),
            libraries.is_for_elements("apply"),
            libraries.effects.of("atomic_list_concat", 2) == KnownEffect::Unlisted,
            libraries.keyed.iter().any(|one| one.name == "get_assoc"),
            libraries.elements.last == ["last"],
            libraries.counts_with("aggregate_all") == Some("count"),
            libraries.remedies.tabling() == ":- table",
        ]
    };
    let (of_known, of_others) = of_each_engine(&called, "", known);
    assert!(of_known.iter().all(|&one| one), "{of_known:?}");
    for one in of_others {
        assert!(!one.contains(&true), "{one:?}");
    }
}

/// The text that explains a predicate of a library is that of the engine's own libraries.
#[test]
fn no_library_is_guessed() {
    let remedy = |analysis: &Analysis| {
        let found = findings(analysis, 0.0);
        one(&found, Cause::Hottest).remedy.clone()
    };
    let (of_known, of_others) = of_each_engine(&["lists:append/3"], "", remedy);
    assert!(of_known.contains("difference list"), "{of_known}");
    for one in of_others {
        assert!(!one.contains("difference list"), "{one}");
    }
}

/// A predicate is one that labels if the library of the engine has it.
#[test]
fn constraints_are_of_a_library_that_is_known() {
    let text = "main :-\n    label([X, Y]).\n";
    let of_order = |analysis: &Analysis| {
        let found = findings(analysis, 0.0);
        let mut causes = found.iter().map(|finding| finding.cause);
        causes.any(|cause| cause == Cause::VariableOrder)
    };
    let (of_known, of_others) = of_each_engine(&["clpfd:label/1"], text, of_order);
    assert!(of_known);
    assert_eq!(of_others, [false; OTHERS.len()]);
}

/// The remedy of such a finding on traces of SWI-Prolog, and on those of other engines.
fn remedies(
    cause: Cause,
    source: &str,
    goals: &[Goal],
    steps: &[(u64, Step)],
) -> (Option<String>, Vec<Option<String>>) {
    let say_of = |engine| {
        of_engine(engine, source, goals, steps, |analysis| {
            let found = findings(analysis, 0.0).into_iter();
            let mut of_cause = found.filter(|one| one.cause == cause);
            of_cause.next().map(|one| one.remedy)
        })
    };
    (say_of("SWI-Prolog 9.0.4"), OTHERS.map(say_of).to_vec())
}

/// What other engines have in place of libraries of SWI-Prolog, no advice says.
#[test]
fn remedies_are_in_words_of_the_engine() {
    let dynamic = ":- dynamic step/0.\nrun :-\n    step.\nstep.\n";
    let sort = format!("l:{SORT}");
    let compares = [("main", 2, sort.as_str()), ("compare", 4, "key")];
    let mut comparing = vec![(0, Call("main")), (5, At(0))];
    for _ in 0..30 {
        comparing.extend([(5, Call("compare")), (5, At(1)), (1000, Exit), (5, Exit)]);
    }
    comparing.extend([(5, Exit), (5, Exit)]);
    let compared = "main :-\n    sort.\ncompare :-\n    key.\n";
    let growing = growing_steps(None);
    for (cause, source, goals, steps, of_swi_prolog, of_any) in [
        (
            Cause::GrowingCalls,
            dynamic,
            &[("run", 2, "step")][..],
            &growing,
            "library(rbtrees)",
            "a balanced tree.",
        ),
        (
            Cause::ComputedInComparison,
            compared,
            &compares[..],
            &comparing,
            "library(pairs)",
            "with keysort/2, and",
        ),
    ] {
        let (known, others) = remedies(cause, source, goals, steps);
        assert!(
            known
                .as_ref()
                .is_some_and(|one| one.contains(of_swi_prolog)),
            "{known:?}"
        );
        for other in others {
            let other = other.unwrap();
            assert!(
                other.contains(of_any) && !other.contains("library("),
                "{other}"
            );
        }
    }
}

/// Whether `look/1` does more than compute, as its clause ends in these goals: for SWI-Prolog, and
/// for other engines.
fn does_more(end: &str) -> (bool, Vec<bool>) {
    let goals = [("main", 2, "look/1"), ("look/1", 4, "seek/1")];
    let steps = [
        (0, Call("main")),
        (5, At(0)),
        (5, At(1)),
        (5, Exit),
        (5, Exit),
        (5, Exit),
    ];
    let text = format!("main :-\n    look(1).\nlook(X) :-\n    seek(X){end}.\nseek(_).\n");
    let say_of = |engine| {
        of_engine(engine, &text, &goals, &steps, |analysis| {
            let evidence = Evidence::of(analysis);
            let look = evidence
                .predicates()
                .find(|(.., info, _)| info.declared.name == "look");
            effects::depends_on_more(&evidence, look.unwrap().0)
        })
    };
    (say_of("SWI-Prolog 9.0.4"), OTHERS.map(say_of).to_vec())
}

/// Of what calls a built-in predicate that may do anything, results are not kept.
#[test]
fn what_is_not_known_may_have_effects() {
    for (end, of_known, of_others) in [
        ("", false, false),
        (", X = f(_)", false, false),
        (", Y is X + 1, Y > 0", false, false),
        (", findall(Y, seek(Y), _)", false, false),
        (", store(X)", false, true),
        (", Y is count(X), Y > 0", false, true),
        (", Y is log(X), Y > 0", false, false),
        (", log(X)", false, true),
        (", append([1], [X], Y)", false, false),
        (", append(X)", false, true),
        (", seek(X, 1)", false, true),
        (", Y = X <- 1", false, true),
        (", ( X == 2 -> true ; tick )", false, true),
        (", b_setval(seen, X)", true, true),
        (", assertz(seen(X))", true, true),
        (", write(X)", true, true),
        (", findall(Y, retract(a(Y)), _)", true, true),
    ] {
        let (known, others) = does_more(end);
        assert_eq!(known, of_known, "{end}");
        assert_eq!(others, [of_others; OTHERS.len()], "{end}");
    }
}

const LOOKING: [Goal; 3] = [
    ("main", 2, "look/1"),
    ("look/1", 4, "seek/1"),
    ("look/1", 7, "seek/1"),
];

/// Two clauses of `look/1` that begin with the same goal, and ten calls of it.
fn looking(end: &str) -> (String, Vec<(u64, Step<'static>)>) {
    let mut steps = vec![(0, Call("main"))];
    for _ in 0..10 {
        steps.extend([(5, At(0)), (5, At(1)), (500, Exit)]);
        steps.extend([(5, At(2)), (500, Exit), (5, Exit)]);
    }
    steps.push((5, Exit));
    let text = format!(
        "main :-\n    look(1).\nlook(X) :-\n    seek(X),\n    X > 2.\nlook(X) :-\n    seek(X){end}.\nseek(_).\n"
    );
    (text, steps)
}

/// No table is tried where the engine may have none.
#[test]
fn tables_are_tried_where_there_are_some() {
    let (text, steps) = looking("");
    let tabled = |engine| {
        of_engine(engine, &text, &LOOKING, &steps, |analysis| {
            let found = findings(analysis, 0.0);
            let prefix = one(&found, Cause::RepeatedPrefix);
            changes(analysis, prefix)
                .iter()
                .map(Change::to_string)
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(tabled("SWI-Prolog 9.0.4"), ["table look/1"]);
    assert_eq!(
        OTHERS.map(tabled),
        [const { Vec::<String>::new() }; OTHERS.len()]
    );
}

/// Another engine's recorder may have no such options as `portmortem record`.
#[test]
fn options_are_those_of_the_recorder() {
    let (text, steps) = looking("");
    let (known, others) = remedies(Cause::Hottest, &text, &LOOKING, &steps);
    let usual = "or do what does not change once before";
    assert!(known.is_some_and(|one| {
        one.ends_with(&format!("{usual}; --clauses shows which clauses work."))
    }));
    for other in others {
        let other = other.unwrap();
        assert!(other.ends_with(&format!("{usual}.")), "{other}");
    }
}

/// No declaration of tables is proposed to an engine that may have none.
#[test]
fn tables_are_those_of_the_engine() {
    let of = |end: &str| {
        let (text, steps) = looking(end);
        remedies(Cause::RepeatedPrefix, &text, &LOOKING, &steps)
    };
    let (known, others) = of("");
    assert!(known.is_some_and(|one| one.ends_with("; or table look/1.")));
    for other in others {
        let other = other.unwrap();
        assert!(
            other.ends_with("; or keep the results of look/1."),
            "{other}"
        );
    }
    let (known, others) = of(", store(X)");
    assert!(known.is_some_and(|one| one.contains("; or table")));
    for other in others {
        let other = other.unwrap();
        assert!(other.ends_with("for each of the rests."), "{other}");
    }
}
