//! `tools/check-structure`: it finds what it is for, and its list only shrinks. What there is of
//! faults in each language stands in the modules below.

mod comments;
mod prolog;
mod rust;

use std::fs;

use portmortem_tests::{Outcome, Sandbox, repository};

const MANIFEST: &str = "[package]\nname = \"sample\"\n";

/// Checks a crate of these files.
fn checked(sandbox: &Sandbox, files: &[(&str, &str)]) -> Outcome {
    for (name, text) in [&[("Cargo.toml", MANIFEST)], files].concat() {
        let path = sandbox.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    check(sandbox, &[])
}

/// A test for each of these: what is wrong with sources that have it.
macro_rules! faults {
    ($sources:ident says $says:literal: $($name:ident: $fault:expr;)*) => {
        $(#[test]
        fn $name() {
            $sources($fault).exits(1).says($says);
        })*
    };
}
use faults;

/// A test for each of these: nothing is wrong with sources that have it.
macro_rules! sound {
    ($sources:ident: $($name:ident: $text:expr;)*) => {
        $(#[test]
        fn $name() {
            $sources($text).succeeds();
        })*
    };
}
use sound;

fn check(sandbox: &Sandbox, options: &[&str]) -> Outcome {
    let mut run = sandbox.command(&repository("tools/check-structure"));
    run.command.arg(sandbox.path("")).args(options);
    run.wait()
}

#[test]
fn circles_of_modules() {
    let sandbox = Sandbox::new();
    let files = [
        // Through a name that the root hands on, and one that is written out.
        ("src/lib.rs", "mod a;\nmod b;\nmod c;\npub use a::Apple;\n"),
        ("src/a/mod.rs", "mod inner;\npub struct Apple;\n"),
        (
            "src/a/inner.rs",
            "use super::Apple;\nfn f() { crate::b::g() }\n",
        ),
        ("src/b.rs", "use crate::{\n    Apple,\n    c::C as D,\n};\n"),
        (
            "src/c.rs",
            "#[cfg(test)]\nmod tests {\n    use crate::b::g;\n}\n// crate::a\n",
        ),
    ];
    checked(&sandbox, &files)
        .exits(1)
        .says("error: src/{a,b}: these modules import each other in a circle");
    // Now only the other one names it.
    fs::write(sandbox.path("src/a/inner.rs"), "use super::Apple;\n").unwrap();
    check(&sandbox, &[]).succeeds();
    let prolog = |name: &str, other: &str| {
        let text = format!(":- module({name}, []).\n:- use_module({other}).\n");
        fs::create_dir_all(sandbox.path("pl")).unwrap();
        fs::write(sandbox.path(&format!("pl/{name}.pl")), text).unwrap();
    };
    prolog("one", "library(lists)");
    prolog("two", "one");
    check(&sandbox, &[]).succeeds();
    prolog("one", "two");
    check(&sandbox, &[]).exits(1).says("error: pl/{one,two}: ");
}

#[test]
fn long_files_and_long_comments() {
    let sandbox = Sandbox::new();
    let of = |lines: usize, columns: usize| {
        let code = format!("const X: &str = \"{}\";\n", "é".repeat(200));
        format!("// {}\n{code}", "é".repeat(columns - 3)) + &"\n".repeat(lines - 2)
    };
    let file = |text: &str| checked(&sandbox, &[("src/lib.rs", text)]);
    file(&of(600, 100)).succeeds();
    file(&of(601, 100))
        .exits(1)
        .says("error: src/lib.rs has 601 lines, more than 600");
    file(&of(600, 101))
        .exits(1)
        .says("error: src/lib.rs has 1 lines of comments of more than 100 columns, not 0");
}

#[test]
fn names_of_several_types() {
    let sandbox = Sandbox::new();
    let inner = "impl Iterator for Row {\n    type Item = Row;\n}\ntype Line = Row;\n";
    let tests = "#[cfg(test)]\nmod tests {\n    struct Row;\n    enum Line {}\n}\n";
    let of = |more: &str| {
        let text = format!("mod a {{\n    pub struct Row;\n    {more}\n}}\n{inner}{tests}");
        let files = [
            ("src/lib.rs", text.as_str()),
            ("src/a/tests.rs", "struct Row;\n"),
        ];
        checked(&sandbox, &files)
    };
    of("pub struct Item;").succeeds();
    for line in ["enum Line {}", "trait Line {}", "type Line = u8;"] {
        of(line)
            .exits(1)
            .says("error: Line names 2 types: call each by a name of its own");
    }
    list(&sandbox, 3, "type Line 3\n");
    of("enum Line {}")
        .exits(1)
        .says("allows `type Line 3`, which is better now");
    list(&sandbox, 3, "type Line 2\n");
    of("enum Line {}").succeeds();
}

#[test]
fn the_list_only_shrinks() {
    let sandbox = Sandbox::new();
    let comment = format!("// {}\n", "x".repeat(100));
    let file = |times: usize| checked(&sandbox, &[("src/lib.rs", &comment.repeat(times))]);
    let list = sandbox.path("tools/structure.allowed");
    fs::create_dir_all(list.parent().unwrap()).unwrap();
    fs::write(&list, "comments src/lib.rs 2\nlines src/old.rs 700\n").unwrap();
    file(3)
        .exits(1)
        .says("src/lib.rs has 3 lines of comments")
        .says("allows `lines src/old.rs 700`, which is better now");
    file(2).exits(1);
    file(1).exits(1).says("allows `comments src/lib.rs 2`");
    check(&sandbox, &["--shrink"]).succeeds();
    let kept = fs::read_to_string(&list).unwrap();
    assert!(kept.ends_with("\ncomments src/lib.rs 1\n"), "{kept}");
    // What is new is not taken onto it.
    file(2).exits(1);
    check(&sandbox, &["--shrink"]).exits(1);
    fs::write(&list, "unchecked src\n").unwrap();
    check(&sandbox, &[]).succeeds();
}

/// Commits what is in a sandbox.
fn commit(sandbox: &Sandbox) {
    let author = "-c user.name=a -c user.email=a@b -c commit.gpgsign=false";
    let script = format!("git init -q . && git add -A && git {author} commit -qm change");
    sandbox.sh(&script).succeeds();
}

/// Writes a list, with the number of its rules.
fn list(sandbox: &Sandbox, rules: u32, entries: &str) {
    fs::create_dir_all(sandbox.path("tools")).unwrap();
    let text = format!("# The list.\n# rules {rules}\n{entries}");
    sandbox.write("tools/structure.allowed", text);
}

#[test]
fn the_list_does_not_grow_in_git() {
    let sandbox = Sandbox::new();
    let comment = format!("// {}\n", "x".repeat(100));
    let files = |a: usize, b: usize| {
        let (a, b) = (comment.repeat(a), comment.repeat(b));
        checked(&sandbox, &[("src/lib.rs", &a), ("src/b.rs", &b)])
    };
    list(&sandbox, 3, "comments src/lib.rs 2\n");
    files(2, 0).succeeds();
    commit(&sandbox);
    check(&sandbox, &[]).succeeds();
    // A larger number, and a new entry; not committed, committed, and below a commit that shrinks.
    list(&sandbox, 3, "comments src/b.rs 1\ncomments src/lib.rs 3\n");
    let grown = "has grown: `comments src/lib.rs 3` was `comments src/lib.rs 2`";
    let new = "has grown: `comments src/b.rs 1` was not there";
    files(3, 1).exits(1).says(grown).says(new);
    commit(&sandbox);
    check(&sandbox, &[]).exits(1).says(grown).says(new);
    list(&sandbox, 3, "comments src/b.rs 1\n");
    files(0, 1).exits(1).says(new);
    commit(&sandbox);
    check(&sandbox, &[]).exits(1).says(new);
    // What has left the list does not come back.
    list(&sandbox, 3, "comments src/lib.rs 2\n");
    files(2, 0)
        .exits(1)
        .says("`comments src/lib.rs 2` was not there");
    // Without git there is nothing to compare it with.
    fs::remove_dir_all(sandbox.path(".git")).unwrap();
    check(&sandbox, &[]).succeeds();
}

#[test]
fn other_rules_have_another_list() {
    let sandbox = Sandbox::new();
    let comment = format!("// {}\n", "x".repeat(100));
    let file = |times: usize| checked(&sandbox, &[("src/lib.rs", &comment.repeat(times))]);
    list(&sandbox, 2, "comments src/lib.rs 1\n");
    file(1).succeeds();
    commit(&sandbox);
    list(&sandbox, 3, "comments src/lib.rs 2\n");
    file(2).succeeds();
    commit(&sandbox);
    // A list that denies its rules is compared, too.
    list(&sandbox, 2, "comments src/lib.rs 3\n");
    file(3).exits(1).says("has grown");
}

#[test]
fn a_circle_may_lose_modules_only() {
    let sandbox = Sandbox::new();
    let circle = |a: &str, b: &str, c: &str| {
        let import = |module: &str| format!("use crate::{module}::X;\n");
        let (a, b, c) = (import(a), import(b), import(c));
        let root = ("src/lib.rs", "mod a;\nmod b;\nmod c;\n");
        let modules = [("src/a.rs", &a), ("src/b.rs", &b), ("src/c.rs", &c)];
        let modules = modules.map(|(name, text)| (name, text.as_str()));
        checked(&sandbox, &[&[root], &modules[..]].concat())
    };
    list(&sandbox, 3, "circle src/{a,b,c}\n");
    circle("b", "c", "a").succeeds();
    commit(&sandbox);
    circle("b", "a", "a")
        .exits(1)
        .says("allows `circle src/{a,b,c}`, which is better now");
    check(&sandbox, &["--shrink"]).succeeds();
    let kept = fs::read_to_string(sandbox.path("tools/structure.allowed")).unwrap();
    assert!(kept.ends_with("\ncircle src/{a,b}\n"), "{kept}");
    commit(&sandbox);
    circle("b", "c", "a")
        .exits(1)
        .says("error: src/{a,b,c}: these modules import each other");
    list(&sandbox, 3, "circle src/{a,b,c}\n");
    check(&sandbox, &[])
        .exits(1)
        .says("has grown: `circle src/{a,b,c}` was not there");
}
