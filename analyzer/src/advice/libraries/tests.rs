//! What is known of an engine stands in this folder alone, and nothing is said of another one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::Need;
use super::effects::StandardList;
use super::{Effects, KnownEffect, UNKNOWN, iso, of_engine, swi_prolog};

/// What libraries, declarations and predicates of SWI-Prolog are known by in a text.
const OF_SWI_PROLOG: [&str; 31] = [
    "#<",
    "#=",
    ":- table",
    "_assoc",
    "abolish_all",
    "aggregate_all",
    "b_setval",
    "chr_",
    "clpfd",
    "concurrent_",
    "distinct/",
    "findnsols",
    "group_pairs",
    "library(",
    "memberchk",
    "message_queue",
    "nb_",
    "nth0",
    "nth1",
    "once//",
    "ord_",
    "powm",
    "prefer_rationals",
    "rb_",
    "sort/4",
    "string_",
    "term_hash",
    "thread_get",
    "trie_",
    "tries",
    "variant_sha1",
];

fn of_swi_prolog(text: &str) -> Option<&'static str> {
    OF_SWI_PROLOG.into_iter().find(|one| text.contains(one))
}

/// The source files below a directory, without tests and this folder.
fn product(directory: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let (mut left, mut files) = (vec![root], Vec::new());
    while let Some(path) = left.pop() {
        if path.ends_with("libraries") || path.ends_with("tests") || path.ends_with("tests.rs") {
            continue;
        }
        if path.is_dir() {
            let inside = fs::read_dir(&path).unwrap();
            left.extend(inside.map(|entry| entry.unwrap().path()));
        } else {
            files.push(path);
        }
    }
    files
}

/// The strings of a source file of Rust, without its tests.
fn strings(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let product = text.split("#[cfg(test)]\nmod tests {").next();
    let lines = product.unwrap_or_default().lines();
    let code: Vec<&str> = lines
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let code = code.join("\n").replace("\\\"", "").replace("'\"'", "");
    code.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Whether a string is the name of a predicate with its module, or begins like one.
fn is_qualified(string: &str) -> bool {
    let is_of_atom = |c: char| c.is_ascii_lowercase() || matches!(c, '_' | '$' | '\'');
    string.split_once(':').is_some_and(|(module, name)| {
        !module.is_empty() && module.chars().all(is_of_atom) && name.starts_with(is_of_atom)
    })
}

#[test]
fn causes_of_advice_name_no_predicate_of_an_engine() {
    let modules = ["apply", "clpfd", "lists", "strings", "system", "yall"];
    let standard = standard().doing_more.iter().chain(standard().changing);
    // `assert/1` is as old as Prolog.
    let known = standard.map(|(name, _)| *name).chain(["assert"]);
    let known: BTreeSet<&str> = known.collect();
    let libraries = &swi_prolog::LIBRARIES;
    let keyed = libraries.keyed.iter().map(|one| one.name);
    let Effects::Whole(list) = libraries.effects else {
        panic!("a list of some predicates");
    };
    let own: BTreeSet<&str> = keyed.chain(list.names.iter().copied()).collect();
    let own: BTreeSet<&str> = own.difference(&known).copied().collect();
    let files = product("src/advice");
    for path in &files {
        let mut all = strings(path).into_iter();
        let named = all.find(|one| {
            is_qualified(one) || modules.contains(&one.as_str()) || own.contains(one.as_str())
        });
        assert_eq!(named, None, "in {}", path.display());
    }
    assert!(files.len() > 50, "{} files", files.len());
}

#[test]
fn no_text_names_a_library_of_an_engine() {
    let files = product("src");
    for path in &files {
        for text in strings(path) {
            assert_eq!(of_swi_prolog(&text), None, "{text} in {}", path.display());
        }
    }
    assert!(files.len() > 150, "{} files", files.len());
}

/// All texts of an engine are in its tables.
#[test]
fn of_another_engine_no_library_is_named() {
    let remedies = format!("{:?}", UNKNOWN.remedies);
    assert_eq!(of_swi_prolog(&remedies), None, "{remedies}");
    let known = format!("{:?}", swi_prolog::LIBRARIES);
    for one in OF_SWI_PROLOG {
        assert!(known.contains(one), "{one} is looked for in vain");
    }
}

#[test]
fn a_table_is_declared_where_that_is_known() {
    let known = of_engine("SWI-Prolog 9.0.4").remedies;
    assert_eq!(known.table_of("p/1"), "\":- table p/1.\"");
    assert_eq!(known.to_table("p/1"), "table p/1");
    let other = of_engine("Toy 1").remedies;
    assert_eq!(other.table_of("p/1"), other.tabling());
    assert_eq!(other.to_table("p/1"), "keep the results of p/1");
}

#[test]
fn options_of_a_recorder_are_named_where_it_has_them() {
    let known = of_engine("SWI-Prolog 9.0.4").remedies;
    let other = of_engine("Toy 1").remedies;
    let arguments = |of: &str| Need::Arguments(of.to_owned());
    for (needs, of_known, of_other) in [
        (
            vec![arguments("p/1"), arguments("it's/2")],
            r"--arguments 'p/1' --arguments 'it'\''s/2'",
            "the arguments of p/1 and the arguments of it's/2",
        ),
        (
            vec![Need::Libraries],
            "--libraries",
            "the calls of libraries among themselves",
        ),
        (
            vec![Need::Baseline],
            "--baseline",
            "the times of unrecorded runs",
        ),
    ] {
        assert_eq!(known.recorded_with(&needs), of_known);
        assert_eq!(other.recorded_with(&needs), of_other);
    }
}

#[test]
fn what_a_built_in_does_is_known_or_not() {
    let known = of_engine("SWI-Prolog 9.0.4").effects;
    let other = of_engine("Toy 1").effects;
    for (name, arity, of_known, of_other) in [
        ("write", 1, KnownEffect::DoesMore, KnownEffect::DoesMore),
        (
            "assertz",
            1,
            KnownEffect::ChangesClauses,
            KnownEffect::ChangesClauses,
        ),
        ("functor", 3, KnownEffect::Unlisted, KnownEffect::Computes),
        (
            "format",
            3,
            KnownEffect::WritesOrMakesText,
            KnownEffect::Unknown,
        ),
        ("format", 2, KnownEffect::DoesMore, KnownEffect::Unknown),
        ("b_setval", 2, KnownEffect::DoesMore, KnownEffect::Unknown),
        ("store", 1, KnownEffect::Unlisted, KnownEffect::Unknown),
        (
            "atomic_list_concat",
            2,
            KnownEffect::Unlisted,
            KnownEffect::Unknown,
        ),
    ] {
        assert_eq!(known.of(name, arity), of_known, "{name}/{arity}");
        assert_eq!(other.of(name, arity), of_other, "{name}/{arity}");
    }
}

/// Old Prologs load files by `append/1`, and a library may have a predicate `log/1` that writes.
#[test]
fn a_name_with_other_arguments_is_another_predicate() {
    let other = of_engine("Toy 1").effects;
    for (name, computing, unknown) in [
        ("append", 3, 1),
        ("member", 2, 3),
        ("call", 1, 0),
        ("float", 1, 2),
        ("maplist", 4, 1),
    ] {
        assert_eq!(other.of(name, computing), KnownEffect::Computes, "{name}");
        assert_eq!(other.of(name, unknown), KnownEffect::Unknown, "{name}");
    }
    for (name, arity) in [("log", 1), ("max", 2), ("+", 2), ("pi", 0)] {
        assert_eq!(other.of(name, arity), KnownEffect::Unknown, "{name}");
        assert!(standard().is_function(name, arity), "{name}");
    }
    assert!(!standard().is_function("log", 2) && !standard().is_function("is", 2));
}

#[test]
fn the_lists_of_the_standard_have_nothing_in_common() {
    let list = standard();
    let all = [list.doing_more, list.changing, list.computing].concat();
    let all = all
        .iter()
        .flat_map(|(name, arities)| arities.iter().map(move |arity| (*name, *arity)));
    let mut seen = BTreeSet::new();
    for one in all {
        assert!(seen.insert(one), "{one:?}");
    }
}

fn standard() -> &'static StandardList {
    match &iso::EFFECTS {
        Effects::Standard(list) => list,
        Effects::Whole(_) => panic!("a list of all predicates"),
    }
}

#[test]
fn an_engine_is_known_by_its_whole_name() {
    for (engine, is_known) in [
        ("SWI-Prolog 9.0.4", true),
        ("SWI-Prolog", true),
        ("SWI-Prologue 9", false),
        ("swi-prolog 9", false),
        ("My SWI-Prolog 9", false),
        ("", false),
    ] {
        assert_eq!(of_engine(engine).built_in("append").is_some(), is_known);
    }
}
