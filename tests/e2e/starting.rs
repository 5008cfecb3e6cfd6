//! Every way to start SWI-Prolog, behind `portmortem record --`: outputs, errors and exit status
//! are those without recording.

use std::path::Path;

use portmortem_tests::{Profiled, Sandbox, masks};

/// Prints the command line as the program sees it, and a list of it, which is of another type with
/// `--traditional`.
const PROGRAM: &str = "\
:- dynamic seen/1.
main :- current_prolog_flag(argv, Argv), current_prolog_flag(os_argv, Os), print(Argv), nl, print(Os), nl,
        forall(p(X), assertz(seen(X))), findall(X, seen(X), Xs), print(Xs), nl, write_canonical('[|]'(a, [])), nl.
p(1).
p(2).
";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with("p.pl", PROGRAM);
    sandbox.write("site.rc", "from_site.\n");
    sandbox.write("init.pl", "from_init.\n");
    std::fs::create_dir(sandbox.path("lib")).unwrap();
    sandbox.write(
        "lib/extra.pl",
        ":- module(extra, [extra/0]).\nextra :- writeln(extra).\n",
    );
    let script = format!("#!/usr/bin/env swipl\n:- initialization(main, main).\n{PROGRAM}");
    sandbox.write("script", script);
    sandbox.sh("chmod +x script").succeeds();
    sandbox
}

/// Runs the command twice, unrecorded and recorded, with the same input.
fn same(sandbox: &Sandbox, input: &str, words: &[&str]) {
    let plain = sandbox
        .command(Path::new(words[0]))
        .args(&words[1..])
        .stdin(input)
        .wait();
    let portmortem = portmortem_tests::built::portmortem();
    let options = ["record", "--force", "-o", "run.pmt", "--"];
    let recorded = sandbox
        .command(portmortem)
        .args(options)
        .args(words)
        .stdin(input)
        .wait();
    let said = masks::stderr(&recorded.stderr);
    let notes = |line: &&str| !line.starts_with("portmortem: nothing is recorded:");
    let errors: Vec<_> = said.lines().filter(notes).collect();
    assert!(
        plain.status == recorded.status
            && plain.stdout == recorded.stdout
            && masks::stderr(&plain.stderr).lines().collect::<Vec<_>>() == errors,
        "{plain}\n{recorded}"
    );
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[test]
fn all_options_of_the_engine() {
    let sandbox = sandbox();
    for line in [
        "swipl -g main -t halt p.pl a b",
        "swipl -g main -t halt p.pl -- -a --b",
        "swipl -O -q -p library=lib --traditional -g main -t halt p.pl a",
        "swipl -g main -g extra -p library=lib -t halt p.pl",
        "swipl --traditional -g main -t halt p.pl",
        "swipl -O -g main -t halt p.pl",
        "swipl -f init.pl -g main -g from_init -t halt p.pl",
        "swipl -f none -g main -t halt p.pl",
        "swipl -F none -g main -t halt p.pl",
        "swipl -l p.pl -g main -t halt",
        "swipl -s p.pl -g main -t halt -- a",
        "swipl -s p.pl -s init.pl -g main -t halt",
        "swipl -t main p.pl",
        "swipl -t halt(2) p.pl",
        "swipl -g halt(3) p.pl",
        "swipl --on-error=halt -g absent -t halt p.pl",
        "swipl --on-error=status -g main -t halt p.pl",
        "swipl --on-warning=status -g main -t halt p.pl",
        "swipl --no-tty -g main -t halt p.pl",
        "swipl --no-packs -g main -t halt p.pl",
        "swipl --no-signals -g main -t halt p.pl",
        "swipl --no-threads -g main -t halt p.pl",
        "swipl --no-debug -g main -t halt p.pl",
        "swipl --no-debug-on-interrupt -g main -t halt p.pl",
        "swipl --quiet -g main -t halt p.pl",
        "swipl --no-pce -g main -t halt p.pl",
        "swipl --stack-limit=200m -g main -t halt p.pl",
        "swipl --table-space=10m --shared-table-space=10m -g main -t halt p.pl",
    ] {
        same(&sandbox, "", &words(line));
        sandbox.portmortem(["verify", "run.pmt"]).exits(0);
        let profiled = Profiled::of(&sandbox.path("run.pmt"));
        let calls = profiled.find("p/1").map_or(0, |row| row.calls);
        assert_eq!(calls, u64::from(line.contains("main")), "{line}");
    }
}

#[test]
fn what_the_engine_says_of_itself_and_of_wrong_options() {
    let sandbox = sandbox();
    for line in [
        "swipl --help",
        "swipl --version",
        "swipl --abi-version",
        "swipl --arch",
        "swipl --dump-runtime-variables",
        "swipl -o state -c p.pl",
        "swipl --home",
        "swipl absent.pl",
        "swipl -z",
        "swipl -g",
        "swipl -g main( p.pl",
    ] {
        same(&sandbox, "", &words(line));
    }
}

#[test]
fn scripts_and_standard_input() {
    let sandbox = sandbox();
    same(&sandbox, "", &["./script", "a", "-c", "-x", "--", "b"]);
    assert!(
        Profiled::of(&sandbox.path("run.pmt"))
            .find("main/0")
            .is_some()
    );
    same(&sandbox, "", &["swipl", "script", "-c", "b"]);
    same(&sandbox, "", &["swipl", "p.pl", "script", "b"]);
    same(
        &sandbox,
        PROGRAM,
        &["swipl", "-g", "main", "-t", "halt", "/dev/stdin"],
    );
    assert_eq!(Profiled::of(&sandbox.path("run.pmt")).row("p/1").calls, 1);
    same(&sandbox, "X = 1.\nmain.\nabsent.\n", &["swipl", "p.pl"]);
    same(&sandbox, "member(X, [a,b]).\n;\n", &["swipl"]);
}

#[test]
fn saved_states() {
    let sandbox = sandbox();
    for kind in ["--stand_alone=false", "--stand_alone=true"] {
        let save = ["swipl", kind, "--goal=main", "-o", "./state", "-c", "p.pl"];
        sandbox
            .command(Path::new("swipl"))
            .args(&save[1..])
            .wait()
            .exits(0);
        // The state says to the engine how it was started; recorded, it is said by its name.
        let state = ["./state", "a", "-c", "--b"];
        let plain = sandbox
            .command(&sandbox.path("state"))
            .args(&state[1..])
            .wait();
        let options = ["record", "--force", "-o", "run.pmt", "--"];
        let recorded = sandbox.portmortem(options.iter().chain(&state));
        let [plain, recorded] = [plain.succeeds().out(), recorded.succeeds().out()];
        let but_os_argv = |line: &&str| !line.contains("state");
        assert!(
            plain
                .lines()
                .filter(but_os_argv)
                .eq(recorded.lines().filter(but_os_argv)),
            "{plain}\n{recorded}"
        );
        assert_eq!(Profiled::of(&sandbox.path("run.pmt")).row("p/1").calls, 1);
        same(&sandbox, "", &["swipl", "-x", "state", "--", "a"]);
    }
}

#[test]
fn an_error_has_a_text() {
    let sandbox = sandbox();
    sandbox.portmortem(["record"]).exits(2);
    sandbox
        .portmortem(["record", "--", "./p.pl"])
        .refuses("a Prolog file, not a command");
    sandbox
        .portmortem(["record", "--", "no-such-engine"])
        .refuses("no-such-engine");
    sandbox
        .portmortem(["record", "-g", "main", "--", "swipl", "p.pl"])
        .refuses("-g GOAL is for a Prolog file");
    sandbox.write(
        "traditional",
        "#!/bin/sh\nexec swipl --traditional \"$@\"\n",
    );
    sandbox.sh("chmod +x traditional").succeeds();
    let options = ["record", "--swipl", "./traditional", "-g", "main", "p.pl"];
    sandbox.portmortem(options).exits(0).shows("[1,2]");
}
