use proptest::prelude::*;

use super::*;

const FIELDS: [Field; 6] = [
    Field {
        name: "predicate",
        kind: FieldKind::Text,
    },
    Field {
        name: "calls",
        kind: FieldKind::Count,
    },
    Field {
        name: "fails",
        kind: FieldKind::Count,
    },
    Field {
        name: "self_ns",
        kind: FieldKind::Time {
            whole: Some(10_000_000),
        },
    },
    Field {
        name: "recursive",
        kind: FieldKind::Bool,
    },
    Field {
        name: "determinism",
        kind: FieldKind::Text,
    },
];

/// `attack/3`, 2,000 calls, 1,500 fails, 1 ms, recursive, nothing known of determinism.
fn row(column: usize) -> Cell<'static> {
    match column {
        0 => Cell::Text("attack/3"),
        1 => Cell::Integer(2_000),
        2 => Cell::Integer(1_500),
        3 => Cell::Integer(1_000_000),
        4 => Cell::Bool(true),
        _ => Cell::Missing,
    }
}

fn holds(text: &str) -> bool {
    let condition = Condition::parse(text, &FIELDS);
    condition
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .holds(row)
}

fn refused(text: &str) -> String {
    Condition::parse(text, &FIELDS).unwrap_err().to_string()
}

#[test]
fn comparisons() {
    for text in [
        "fails > 1000 and self > 0.9ms",
        "fails>1000 and self>=1ms",
        "calls = 2k",
        "calls == 2,000",
        "calls < 0.1M",
        "calls != 2G",
        "calls = 2k..3k",
        "calls = 2000..2000 and self = 1us..1ms",
        "calls != 2001..3000",
        "self_ns = 1000000",
        "self = 1000us",
        "SELF <= 0.001s",
        "self <= 0.001 s and self = 1us..1 ms",
        "self =< 10 % and calls = 2 k attack",
        "self > 9.99 %",
        "self =< 10%",
        "self > 9.99%",
        "fails < calls",
        "not fails > calls",
        "predicate = attack/3",
        "pred = attack/3 and rec = true",
        "predicate ~ ^att",
        "predicate !~ ^b",
        "recursive",
        "recursive = true and not recursive = no",
    ] {
        assert!(holds(text), "{text}");
    }
    for text in [
        "self > 1ms",
        "self > 1.000001ms",
        "self > 10%",
        "self > 1 ms",
        "calls < 2 M ms",
        "calls > 2000.5",
        "determinism = det",
        "determinism != det",
        "calls = 2001..3000",
        "calls != 1..2k",
        "predicate = attack",
        "recursive != true",
    ] {
        assert!(!holds(text), "{text}");
    }
}

#[test]
fn words_and_expressions() {
    for text in [
        "attack",
        "attack/3",
        "TTACK or tack",
        "att ack",
        "\"attack/3\"",
        "~\"a.*k/[0-9]\"",
        "~ tt",
        "no or attack",
        "not no",
        "(no or tack) and (fails > 1k)",
        "not (no and attack)",
        "tack fails > 1k",
        "no and no or attack",
    ] {
        assert!(holds(text), "{text}");
    }
    for text in ["Attack", "no attack", "\"att ack\"", "~^ttack", "\"a.*k\""] {
        assert!(!holds(text), "{text}");
    }
}

#[test]
fn errors_say_what_and_where() {
    let columns = "There are predicate, calls, fails, self, recursive, determinism";
    assert_eq!(
        refused("time > 3"),
        format!(
            "no column is called time; {}",
            columns.replace("There", "there")
        )
    );
    assert_eq!(
        refused("fals > 3"),
        format!("no column is called fals; did you mean fails or calls? {columns}")
    );
    assert_eq!(
        refused("calls = 3..x"),
        "a range of numbers, as 100..200, expected before \"3..x\""
    );
    assert!(refused("calls = 5..3").ends_with("ends before it begins"));
    assert!(refused("calls < 3..5").ends_with("by = or !="));
    assert_eq!(refused("fails >"), "a value expected at the end");
    assert_eq!(refused("fails > x"), "a number expected before \"x\"");
    assert_eq!(refused("fails > 1ms"), "fails is a count: k, M, G");
    assert_eq!(refused("self > 1k"), "self_ns is a time: ns, us, ms, s");
    assert_eq!(refused("(a"), "`)` expected at the end");
    assert_eq!(refused("a )"), "`and` or `or` expected before \")\"");
    assert_eq!(refused("and a"), "a condition expected before \"and a\"");
    assert_eq!(refused(""), "a condition expected at the end");
    assert_eq!(refused("\"a"), "a closing quote expected at the end");
    assert_eq!(refused("calls ~ a"), "calls is no text");
    assert_eq!(
        refused("recursive = 1"),
        "true or false expected before \"1\""
    );
    assert!(refused("~ \"(\"").starts_with("not a regular expression: "));
    assert_eq!(refused(&"(".repeat(1_000_000)), "nested too deep");
    assert_eq!(refused(&"not ".repeat(100_000)), "nested too deep");
}

#[test]
fn what_is_asked_for_is_known() {
    for (text, only) in [
        (
            "predicate ~ a and not (predicate = b or predicate != c)",
            true,
        ),
        ("predicate = determinism", false),
        ("a", false),
        ("predicate = a or fails > 3", false),
    ] {
        let condition = Condition::parse(text, &FIELDS).unwrap();
        assert_eq!(condition.is_only_of(0), only, "{text}");
    }
    assert!(
        Condition::parse("~a b", &FIELDS[..1])
            .unwrap()
            .is_only_of(0)
    );
}

proptest! {
    #[test]
    fn any_text_is_a_condition_or_refused(text in "\\PC{0,40}") {
        if let Ok(condition) = Condition::parse(&text, &FIELDS) {
            condition.holds(row);
        }
    }

    #[test]
    fn tokens_in_any_order(parts in proptest::collection::vec(prop::sample::select(vec![
        "and", "or", "not", "(", ")", "calls", "self", "predicate", "recursive", ">", "<=", "=", "!=", "~", "!~",
        "1ms", "5%", "2k", "7", "x", "\"q r\"", "true",
    ]), 0..12)) {
        let text = parts.join(" ");
        if let Ok(condition) = Condition::parse(&text, &FIELDS) {
            let negated = Condition::parse(&format!("not ({text})"), &FIELDS).unwrap();
            prop_assert_eq!(condition.holds(row), !negated.holds(row));
        }
    }

    #[test]
    fn numbers_are_exact(calls in any::<u32>(), limit in any::<u32>()) {
        let cell = |_| Cell::Integer(calls.into());
        let over = Condition::parse(&format!("calls > {limit}"), &FIELDS).unwrap();
        prop_assert_eq!(over.holds(cell), calls > limit);
    }
}

#[test]
fn names_are_told_from_conditions() {
    for text in [
        "attack",
        "~^att",
        "\"a b\"",
        "attack or queens",
        "not lists",
    ] {
        assert!(Condition::is_of_names(text), "{text}");
    }
    for text in [
        "calls > 1",
        "predicate = attack/3",
        "predicate ~ x",
        "(",
        "",
    ] {
        assert!(!Condition::is_of_names(text), "{text}");
    }
}

#[test]
fn a_beginning_names_a_column_if_it_is_the_only_one() {
    assert!(!holds("det = nondet"));
    let ambiguous = [
        FIELDS[1],
        Field {
            name: "calls_open",
            ..FIELDS[1]
        },
    ];
    assert!(Condition::parse("cal > 1", &ambiguous).is_err());
}
