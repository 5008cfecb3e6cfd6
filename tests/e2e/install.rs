//! The program and what goes with it find each other wherever they are put.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use portmortem_tests::{Profiled, Sandbox, built, repository, sample};

use super::library::install_pack;

const HELLO: &str = ":- initialization(main, main).\nmain :- writeln(hello).\n";

/// Runs `program` from a directory that has nothing to do with it.
fn records(sandbox: &Sandbox, program: &Path) {
    let elsewhere = sandbox.path("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    sandbox.write("elsewhere/hello.pl", HELLO);
    let mut run = sandbox
        .command(program)
        .args(["record", "--force", "hello.pl"]);
    run.command.current_dir(&elsewhere).env_remove("portmortem");
    run.wait().succeeds().prints("hello\n");
    let profiled = Profiled::of(&elsewhere.join("hello.pmt"));
    assert_eq!(profiled.row("main/0").calls, 1);
}

#[test]
fn two_files_in_one_directory() {
    let sandbox = Sandbox::new();
    let directory = sandbox.path("some where");
    fs::create_dir(&directory).unwrap();
    fs::copy(built::portmortem(), directory.join("portmortem")).unwrap();
    fs::copy(
        built::engine_library(),
        directory.join("libportmortem_swi.so"),
    )
    .unwrap();
    records(&sandbox, &directory.join("portmortem"));
    // A link from a directory of the search path.
    fs::create_dir(sandbox.path("bin")).unwrap();
    symlink(directory.join("portmortem"), sandbox.path("bin/pm")).unwrap();
    records(&sandbox, &sandbox.path("bin/pm"));
}

#[test]
fn without_the_library() {
    let sandbox = Sandbox::with("hello.pl", HELLO);
    fs::copy(built::portmortem(), sandbox.path("portmortem")).unwrap();
    sandbox
        .run(&sandbox.path("portmortem"), ["record", "hello.pl"])
        .refuses("the engine library libportmortem_swi.so is not beside");
    assert!(!sandbox.path("hello.pmt").exists());
    let mut run = sandbox
        .command(&sandbox.path("portmortem"))
        .args(["record", "hello.pl"]);
    run.command
        .env("PORTMORTEM_ENGINE_LIBRARY", built::engine_library());
    run.wait().succeeds().prints("hello\n");
}

/// The engine finds it where `make install PREFIX=$HOME/.local` puts it, whether or not a program
/// is recorded.
#[test]
fn a_pack_in_a_home_is_found() {
    let sandbox = Sandbox::new();
    install_pack(&sandbox, "home/.local/share/swi-prolog/pack/portmortem");
    let program = "\
:- use_module(library(portmortem)).
:- initialization(main, main).
main :- pm_mark(begin), one(X), writeln(X).
one(2).
";
    sandbox.write("program.pl", program);
    sandbox.swipl(["program.pl"]).succeeds().prints("2\n");
    sandbox
        .portmortem(["record", "program.pl"])
        .succeeds()
        .prints("2\n");
    let profiled = Profiled::of(&sandbox.path("program.pmt"));
    assert_eq!(profiled.row("one/1").calls, 1);
}

/// One for each command, with its options and examples.
#[test]
fn manual_pages() {
    let sandbox = Sandbox::new();
    sandbox
        .portmortem(["manual", "man/man1"])
        .succeeds()
        .prints("");
    let page =
        |name: &str| std::fs::read_to_string(sandbox.path(&format!("man/man1/{name}"))).unwrap();
    assert!(page("portmortem.1").contains("portmortem\\-record(1)"));
    let record = page("portmortem-record.1");
    for shown in [".TH portmortem-record 1", "stack\\-limit", "Examples:"] {
        assert!(record.contains(shown), "{shown}: {record}");
    }
    sandbox.write("file", "");
    sandbox
        .portmortem(["manual", "file/man1"])
        .refuses("cannot write into file/man1: Not a directory");
}

#[test]
fn completions_know_the_commands() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = sandbox.portmortem(["completions", shell]);
        script.succeeds().shows("record").shows("stack-limit");
    }
    let script = sandbox.portmortem(["completions", "bash"]).out();
    sandbox.write("complete.bash", script);
    if sandbox.sh("command -v bash").status == portmortem_tests::Status::Exit(0) {
        sandbox
            .sh("bash -c '. ./complete.bash && complete -p portmortem'")
            .succeeds()
            .shows("_portmortem");
    }
}

/// What `make deb` writes has the layout of `make install`, below `usr`.
#[test]
fn a_package_of_debian() {
    let sandbox = Sandbox::new();
    let mut make = sandbox.command(&repository("tools/make-deb"));
    make.command.arg(built::portmortem().parent().unwrap());
    make.command.arg(sandbox.directory());
    // Only its layout is looked at.
    make.command.env("DPKG_DEB_COMPRESSOR_TYPE", "none");
    make.wait().exits(0);
    let unpacked = sandbox.path("root");
    let version = env!("CARGO_PKG_VERSION");
    sandbox
        .sh(&format!("dpkg-deb --extract portmortem_{version}_*.deb root && dpkg-deb --field portmortem_{version}_*.deb Depends"))
        .exits(0)
        .shows("libc6 (>= 2.")
        .shows("swi-prolog-nox (>= 9.0.4)");
    for file in [
        "lib/portmortem/libportmortem_swi.so",
        "share/man/man1/portmortem-record.1.gz",
        "share/bash-completion/completions/portmortem",
        "share/swi-prolog/pack/portmortem/prolog/portmortem.pl",
        "share/doc/portmortem/copyright",
    ] {
        assert!(unpacked.join("usr").join(file).is_file(), "{file}");
    }
    let program = unpacked.join("usr/bin/portmortem");
    records(&sandbox, &program);
    asks(&sandbox, &program);
}

/// What `make pack` writes is installed by `pack_install/2` into a home that has nothing yet. The
/// programs of the pack are used from then on.
#[test]
fn a_pack_is_installed_from_its_archive() {
    let sandbox = Sandbox::new();
    install_pack(&sandbox, "packs/portmortem");
    let mut archive = sandbox.command(&repository("tools/archive-pack"));
    archive.command.arg(built::portmortem().parent().unwrap());
    archive.command.args(["packs/portmortem", "."]);
    let name = concat!("portmortem-", env!("CARGO_PKG_VERSION"), ".tgz");
    archive.wait().exits(0).prints(&format!("./{name}\n"));
    fs::remove_dir_all(sandbox.path("packs")).unwrap();
    let install = format!(
        "use_module(library(prolog_pack)), pack_install('{name}', [interactive(false), silent(true)])"
    );
    sandbox
        .swipl(["-g", install.as_str(), "-t", "halt"])
        .exits(0);
    fs::remove_file(sandbox.path(name)).unwrap();
    sandbox.write(
        "program.pl",
        ":- use_module(library(portmortem)).\none(X) :- two(X).\ntwo(2).\n",
    );
    let mut run = sandbox.command(Path::new("swipl"));
    run.command
        .env_remove("PORTMORTEM")
        .env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let goal = "portmortem(one(X), [output('recording.pmt')]), writeln(X)";
    run.args(["-g", goal, "-t", "halt", "program.pl"])
        .wait()
        .succeeds()
        .shows("one/1")
        .shows("The trace is recording.pmt: portmortem tui recording.pmt\n2\n");
    let trace = Profiled::of(&sandbox.path("recording.pmt"));
    assert_eq!(trace.row("two/1").calls, 1);
    // So are traces read in Prolog, and programs recorded and asked from the shell.
    let goal = "use_module(library(portmortem/trace)), pm_open('recording.pmt', T), \
                predicate_figures(T, two/1, [calls(C)]), writeln(C)";
    sandbox
        .swipl(["-g", goal, "-t", "halt"])
        .succeeds()
        .prints("1\n");
    let program = sandbox.path("home/.local/share/swi-prolog/pack/portmortem/bin/portmortem");
    records(&sandbox, &program);
    asks(&sandbox, &program);
}

const QUESTION: &str = "SELECT count(*) AS n FROM streams";

/// A question in SQL, and a file that other programs read.
fn asks(sandbox: &Sandbox, program: &Path) {
    let trace = sample("queens.pmt");
    let trace = trace.to_str().unwrap();
    let query = ["query", trace, QUESTION, "--format", "csv"];
    sandbox.run(program, query).succeeds().prints("n\n1\n");
    let export = [
        "export", trace, "--to", "tables", "--force", "--format", "arrow",
    ];
    sandbox.run(program, export).succeeds();
    assert!(sandbox.path("tables/predicates.arrow").is_file());
}

/// What `make install` would do is what it says it would; with the build under test in place of a release build.
#[test]
fn make_install() {
    let sandbox = Sandbox::new();
    let prefix = sandbox.path("prefix");
    let make = |dry: &[&str]| {
        let mut run = sandbox.command(Path::new("make"));
        run.command
            .arg("-C")
            .arg(repository(""))
            .args(dry)
            .args(["install", "CARGO=true"])
            .arg(format!("PREFIX={}", prefix.display()));
        run.wait()
    };
    let recipe = make(&["--dry-run"]);
    let recipe = recipe.exits(0).out();
    let step = recipe
        .lines()
        .find(|line| line.starts_with("tools/install-programs "));
    let built = built::portmortem().parent().unwrap();
    let step = step
        .unwrap()
        .replace("target/release", &built.display().to_string());
    sandbox
        .sh(&format!("cd {} && {step}", repository("").display()))
        .succeeds();
    records(&sandbox, &prefix.join("bin/portmortem"));
    asks(&sandbox, &prefix.join("bin/portmortem"));
    let library = prefix.join("lib/portmortem/libportmortem_swi.so");
    assert!(library.is_file());
}

#[test]
fn names_that_need_quoting() {
    let sandbox = Sandbox::new();
    let directory = sandbox.path("it's \\ odd \"dir\" %d é");
    fs::create_dir(&directory).unwrap();
    for file in [built::portmortem().to_owned(), built::engine_library()] {
        fs::copy(&file, directory.join(file.file_name().unwrap())).unwrap();
    }
    let program = directory.join("my 'prog'.pl");
    fs::write(&program, HELLO).unwrap();
    let mut run = sandbox.command(&directory.join("portmortem"));
    run.command
        .current_dir(&directory)
        .arg("record")
        .arg(&program)
        .env("TMPDIR", &directory);
    run.wait().succeeds().prints("hello\n");
    let profiled = Profiled::of(&directory.join("my 'prog'.pmt"));
    assert_eq!(profiled.row("main/0").file, Some("my 'prog'.pl"));
}

/// What is built goes where Cargo is told to put it, and is taken from there.
#[test]
fn another_target_directory() {
    let sandbox = Sandbox::new();
    let mut run = sandbox.command(Path::new("make"));
    run.command
        .current_dir(repository(""))
        .env("CARGO_TARGET_DIR", "/elsewhere");
    let goals = ["demo", "install", "pack", "samples", "bench-record"];
    let outcome = run.args([&["--dry-run"], &goals[..]].concat()).wait();
    outcome
        .succeeds()
        .shows("/elsewhere/debug/portmortem record");
    for line in outcome.out().lines() {
        let mut words = line.split(|c: char| c.is_whitespace() || c == '=');
        assert!(words.all(|word| !word.starts_with("target/")), "{line}");
    }
}

/// `make test` says what it has tested: a tree of git, if nothing differs from it.
#[test]
fn the_tree_of_a_checkout() {
    let sandbox = Sandbox::new();
    let script = format!(
        "cp -r {} tools && git init -q . && git add -A && \
         git -c user.name=a -c user.email=a@b commit -qm x && git rev-parse 'HEAD^{{tree}}' && tools/clean-tree && \
         touch new && tools/clean-tree && rm new && echo >> tools/clean-tree && tools/clean-tree",
        repository("tools").display()
    );
    let outcome = sandbox.sh(&format!("mkdir t && cd t && {script}"));
    outcome.succeeds();
    let told = outcome.out();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 2, "{told}");
    assert_eq!(lines[0], lines[1]);
}
