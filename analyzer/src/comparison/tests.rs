//! Recordings made by hand, whose changes are known.

use super::*;

/// A recording with these predicates (name, calls, redos, choicepoints left, self time) and edges
/// (caller, callee, calls, left).
fn recorded(predicates: &[(&str, [u64; 4])], edges: &[(&str, &str, [u64; 2])]) -> Recorded {
    let mut recorded = Recorded::default();
    for &(name, [calls, redos, left, time]) in predicates {
        let mut values = RecordingFigures::default();
        for (figure, value) in [
            (Figure::Calls, calls),
            (Figure::Redos, redos),
            (Figure::Left, left),
            (Figure::Time, time),
        ] {
            values[figure as usize] = value;
        }
        recorded.predicates.insert(name.to_owned(), values);
        for (sum, value) in recorded.all.iter_mut().zip(values) {
            *sum += value;
        }
    }
    for &(caller, callee, [calls, left]) in edges {
        let mut values = RecordingFigures::default();
        values[Figure::Calls as usize] = calls;
        values[Figure::Left as usize] = left;
        let pair = (caller.to_owned(), callee.to_owned());
        recorded.edges.insert(pair, values);
    }
    recorded
}

fn names(comparison: &Comparison) -> Vec<&str> {
    let changes = comparison.predicates.iter();
    changes.map(|change| change.key.as_str()).collect()
}

fn of<'c>(comparison: &'c Comparison, name: &str) -> &'c RowChange<String> {
    let mut changes = comparison.predicates.iter();
    changes.find(|change| change.key == name).unwrap()
}

/// `p/0` calls `q/0` three times instead of once; all that `q/0` does grows with it, and is not its
/// own.
#[test]
fn the_predicate_that_changed_comes_before_what_it_calls() {
    let program = |times: u64| {
        let (q, r) = (100 * times, 5000 * times);
        recorded(
            &[
                ("p/0", [100, 0, 0, 1]),
                ("q/0", [q, 0, 0, q]),
                ("r/0", [r, 0, 0, r]),
            ],
            &[("p/0", "q/0", [q, 0]), ("q/0", "r/0", [r, 0])],
        )
    };
    let comparison = Comparison::of(&[program(1)], &[program(3)]);
    assert_eq!(names(&comparison), ["p/0", "r/0", "q/0"]);
    let own = |name| of(&comparison, name).own;
    assert_eq!((own("p/0"), own("q/0"), own("r/0")), (200, 0, 0));
    assert_eq!(of(&comparison, "r/0").difference(Figure::Calls), 10_000);
    assert!(!of(&comparison, "p/0").counts_differ());
    assert_eq!(comparison.all.difference(Figure::Calls), 10_200);
}

/// A caller whose callee leaves choicepoints leaves them too; only the callee changed.
#[test]
fn choicepoints_are_their_predicate_s_own() {
    let program = |left: u64| {
        recorded(
            &[("p/0", [1, 0, left.min(1), 0]), ("q/0", [40, 0, left, 0])],
            &[("p/0", "q/0", [40, left])],
        )
    };
    let comparison = Comparison::of(&[program(40)], &[program(0)]);
    assert_eq!(names(&comparison), ["q/0", "p/0"]);
    assert_eq!(of(&comparison, "q/0").own, 40);
    assert_eq!(of(&comparison, "p/0").own, 0);
}

#[test]
fn what_is_new_or_gone_is_on_one_side() {
    let before = recorded(&[("old/1", [7, 0, 0, 0]), ("same/0", [1, 0, 0, 0])], &[]);
    let after = recorded(&[("new/1", [9, 0, 0, 0]), ("same/0", [1, 0, 0, 0])], &[]);
    let comparison = Comparison::of(&[before], &[after]);
    assert_eq!(names(&comparison), ["new/1", "old/1", "same/0"]);
    assert!(of(&comparison, "new/1").before.is_none());
    assert!(of(&comparison, "old/1").after.is_none());
    let changed = comparison.predicates.iter().map(RowChange::counts_differ);
    assert_eq!(changed.collect::<Vec<_>>(), [true, true, false]);
    let broken = |text| {
        let broken = Limit::parse(text).unwrap().broken(&comparison);
        broken.into_iter().map(|of| of.name).collect::<Vec<_>>()
    };
    assert_eq!(broken("calls +10%"), [limit::ALL]);
    assert_eq!(broken("calls +5"), ["new/1"]);
    assert_eq!(broken("calls -5"), ["old/1"]);
    assert_eq!(broken("calls +50%"), [] as [&str; 0]);
}

#[test]
fn the_spread_of_recordings_is_noise() {
    let run = |time| recorded(&[("p/0", [1, 0, 0, time])], &[]);
    let before = [run(10), run(30), run(11), run(12)];
    let noisy = Comparison::of(&before, &[run(29)]);
    assert_eq!(
        of(&noisy, "p/0").get(Figure::Time)[0],
        Measured {
            median: 11,
            least: 10,
            most: 30
        }
    );
    assert!(!of(&noisy, "p/0").is_beyond_noise(Figure::Time));
    let clear = Comparison::of(&before, &[run(31), run(60)]);
    assert!(of(&clear, "p/0").is_beyond_noise(Figure::Time));
    assert_eq!(clear.recordings, [4, 2]);
}

/// How often the engine collects garbage is no finding.
#[test]
fn the_engine_s_own_work_has_times_only() {
    let run = |collections, time| {
        let mut run = recorded(
            &[("system:garbage_collect/0", [collections, 0, 0, time])],
            &[],
        );
        run.engine_work
            .insert("system:garbage_collect/0".to_owned());
        run.all = RecordingFigures::default();
        run
    };
    let comparison = Comparison::of(&[run(1, 5)], &[run(100, 900)]);
    let change = of(&comparison, "system:garbage_collect/0");
    assert!(change.is_engine_work && !change.counts_differ());
    assert_eq!(change.difference(Figure::Calls), 0);
    assert_eq!(change.difference(Figure::Time), 895);
    for limit in ["calls +0", "self +0"] {
        assert_eq!(Limit::parse(limit).unwrap().broken(&comparison), []);
    }
}

/// A goal that is written in between changes the numbers of others, and nothing else.
#[test]
fn goals_are_found_again_in_their_clause() {
    let program = |goals: &[(u32, &str)]| {
        let mut recorded = Recorded::default();
        for &(number, callee) in goals {
            let goal = ComparedGoal {
                caller: "p/0".to_owned(),
                place: Some((1, number)),
                callee: callee.to_owned(),
            };
            let mut values = RecordingFigures::default();
            values[Figure::Calls as usize] = 10 * u64::from(callee == "q/0") + 1;
            recorded.goals.insert(goal, values);
        }
        recorded
    };
    let before = program(&[(1, "q/0"), (2, "q/0"), (3, "r/0"), (4, "r/0")]);
    let after = program(&[(1, "new/0"), (2, "q/0"), (3, "q/0"), (4, "r/0")]);
    let comparison = Comparison::of(&[before], &[after]);
    let mut seen: Vec<_> = comparison
        .goals
        .iter()
        .map(|change| {
            let number = change.key.place.map(|(_, number)| number);
            let sides = (change.before.is_some(), change.after.is_some());
            (number, change.key.callee.as_str(), sides)
        })
        .collect();
    seen.sort_unstable();
    // Of the two goals of r/0 one is gone: only the number tells which.
    assert_eq!(
        seen,
        [
            (Some(1), "new/0", (false, true)),
            (Some(2), "q/0", (true, true)),
            (Some(3), "q/0", (true, true)),
            (Some(3), "r/0", (true, false)),
            (Some(4), "r/0", (true, true)),
        ]
    );
}

/// A recording with tests (name, line, calls, choicepoints left, self time).
fn with_tests(tests: &[(&str, u32, [u64; 3])]) -> Recorded {
    let mut recorded = Recorded::default();
    for &(name, line, [calls, left, time]) in tests {
        let mut values = RecordingFigures::default();
        values[Figure::Calls as usize] = calls;
        values[Figure::Left as usize] = left;
        values[Figure::Time as usize] = time;
        let test = Test {
            name: name.to_owned(),
            file: Some("t.plt".to_owned()),
            line: Some(line),
        };
        recorded.tests.insert(test, values);
    }
    recorded
}

/// The names and lines of tests, and whether they are on each side.
fn shown(comparison: &Comparison) -> Vec<(&str, u32, [bool; 2])> {
    let row = |change: &'_ RowChange<Test>| [change.before.is_some(), change.after.is_some()];
    let tests = comparison.tests.iter();
    tests
        .map(|test| (test.key.name.as_str(), test.key.line.unwrap(), row(test)))
        .collect()
}

#[test]
fn the_worst_test_comes_first() {
    let before = with_tests(&[
        ("u:better", 1, [11, 0, 5]),
        ("u:best", 7, [90, 0, 5]),
        ("u:gone", 2, [900, 0, 5]),
        ("u:leaves", 3, [10, 0, 5]),
        ("u:longer", 4, [10, 0, 5]),
        ("u:same", 5, [10, 0, 5]),
        ("u:worse", 6, [10, 0, 5]),
    ]);
    let after = with_tests(&[
        ("u:better", 11, [10, 0, 5]),
        ("u:best", 18, [10, 0, 5]),
        ("u:leaves", 13, [10, 1, 5]),
        ("u:longer", 14, [10, 0, 7]),
        ("u:new", 15, [900, 0, 5]),
        ("u:same", 16, [10, 0, 5]),
        ("u:worse", 17, [12, 0, 5]),
    ]);
    let comparison = Comparison::of(&[before], &[after]);
    let both = [true, true];
    assert_eq!(
        shown(&comparison),
        [
            ("u:worse", 17, both),
            ("u:leaves", 13, both),
            ("u:longer", 14, both),
            ("u:best", 18, both),
            ("u:better", 11, both),
            ("u:same", 16, both),
            ("u:new", 15, [false, true]),
            ("u:gone", 2, [true, false]),
        ]
    );
}

/// Tests of the same name are told apart by their order, or else by their lines.
#[test]
fn tests_of_the_same_name_are_told_apart() {
    let three = [
        ("u:a", 1, [1, 0, 0]),
        ("u:a", 2, [2, 0, 0]),
        ("u:b", 3, [3, 0, 0]),
    ];
    let moved = [
        ("u:a", 4, [1, 0, 0]),
        ("u:a", 5, [2, 0, 0]),
        ("u:b", 6, [3, 0, 0]),
    ];
    let [before, after] = [&three, &moved].map(|tests| [with_tests(tests)]);
    let comparison = Comparison::of(&before, &after);
    assert_eq!(comparison.tests.len(), 3);
    assert!(!comparison.tests.iter().any(RowChange::counts_differ));
    let comparison = Comparison::of(&before, &[with_tests(&three[1..])]);
    let both = [true, true];
    assert_eq!(
        shown(&comparison),
        [
            ("u:a", 2, both),
            ("u:b", 3, both),
            ("u:a", 1, [true, false])
        ]
    );
}

/// The name of the cost centre of a test has its line.
#[test]
fn the_centre_of_a_test_that_moved_is_the_same_predicate() {
    let side = |places: &[(&str, u32)]| {
        let named = |&(test, line): &(&str, u32)| format!("{test}@line {line}");
        let centers: Vec<String> = places.iter().map(named).collect();
        let mut predicates = vec![("p/0", [centers.len() as u64, 0, 0, 0])];
        predicates.extend(centers.iter().map(|center| (center.as_str(), [1, 0, 0, 0])));
        let edges = centers
            .iter()
            .map(|center| (center.as_str(), "p/0", [1, 0]));
        let tests: Vec<_> = places
            .iter()
            .map(|&(test, line)| (test, line, [1, 0, 0]))
            .collect();
        let of_tests = with_tests(&tests);
        let mut recorded = recorded(&predicates, &edges.collect::<Vec<_>>());
        recorded.test_centers = of_tests.tests.keys().cloned().zip(centers).collect();
        recorded.tests = of_tests.tests;
        recorded
    };
    let changed = |before: &[(&str, u32)], after: &[(&str, u32)]| {
        let comparison = Comparison::of(&[side(before)], &[side(after)]);
        let changed = comparison
            .predicates
            .into_iter()
            .filter(RowChange::counts_differ);
        changed.map(|change| change.key).collect::<Vec<_>>()
    };
    let before = [("u:a", 1), ("u:a", 3), ("u:b", 5)];
    // One stands where another stood before.
    assert_eq!(
        changed(&before, &[("u:a", 3), ("u:a", 5), ("u:b", 7)]),
        [""; 0]
    );
    // Of two of the same name one is gone: only the line tells which.
    let fewer = changed(&before, &[("u:a", 3), ("u:b", 6)]);
    assert_eq!(fewer, ["u:a@line 1", "p/0"]);
}

/// A limit of tests is for each test on both sides, and for nothing else; that of a time obeys the
/// noise.
#[test]
fn tests_break_limits() {
    let side = |runs: &[(u64, u64)]| {
        let run = |&(calls, time): &(u64, u64)| {
            with_tests(&[("u:a", 1, [calls, 0, time]), ("u:b", 2, [100, 0, 100])])
        };
        runs.iter().map(run).collect::<Vec<_>>()
    };
    let broken = |text: &str, before: &[Recorded], after: &[Recorded]| {
        let broken = Limit::parse(text).unwrap();
        let broken = broken.broken(&Comparison::of(before, after)).into_iter();
        broken.map(|of| of.name).collect::<Vec<_>>()
    };
    let none = [] as [&str; 0];
    let (before, after) = (side(&[(100, 100)]), side(&[(111, 121)]));
    assert_eq!(broken("test.calls > 10 %", &before, &after), ["u:a"]);
    assert_eq!(broken("test.calls > 11 %", &before, &after), none);
    assert_eq!(broken("test.calls +10", &before, &after), ["u:a"]);
    assert_eq!(broken("test.self > 20 %", &before, &after), ["u:a"]);
    assert_eq!(broken("test.self > 21 %", &before, &after), none);
    assert_eq!(broken("test.self > 20ns", &before, &after), ["u:a"]);
    assert_eq!(broken("test.calls -10", &after, &before), ["u:a"]);
    // Predicates have limits of their own.
    assert_eq!(broken("calls +0", &before, &after), none);
    // The median is ten times as much, but one recording contradicts.
    let noisy = side(&[(100, 10), (100, 11), (100, 100)]);
    let slow = |least| side(&[(100, least), (100, 110), (100, 120)]);
    assert_eq!(broken("test.self > 20 %", &noisy, &slow(100)), none);
    assert_eq!(broken("test.self > 20 %", &noisy, &slow(101)), ["u:a"]);
    // A new test is no worse one, and a test that is gone is no better one.
    let fewer = [with_tests(&[("u:b", 1, [100, 0, 100])])];
    for limit in ["test.calls +0", "test.calls -0", "test.calls > 0 %"] {
        assert_eq!(broken(limit, &fewer, &before), none, "{limit}");
        assert_eq!(broken(limit, &before, &fewer), none, "{limit}");
    }
}
