//! `tools/check-structure`: it finds what it is for, and its list only shrinks.

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
