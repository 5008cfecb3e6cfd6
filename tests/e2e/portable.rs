//! Nothing that is recorded or drawn names the machine where that was done, as far as it need not.

use std::fs;
use std::path::{Path, PathBuf};

use portmortem_analyzer::Trace;
use portmortem_tests::{Profiled, Sandbox, repository, sample};

/// How absolute paths begin, on machines that programs are recorded on.
const ABSOLUTE: [&str; 12] = [
    "/bin/", "/etc/", "/home/", "/media/", "/mnt/", "/opt/", "/root/", "/srv/", "/tmp/", "/usr/",
    "/var/", "/work/",
];

/// All files below a directory with this extension.
fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty());
    found
}

fn names_no_directory(path: &Path) {
    let bytes = fs::read(path).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let here = portmortem_tests::root();
    let here = here.to_str().unwrap();
    for absolute in ABSOLUTE.into_iter().chain([here]) {
        assert!(!text.contains(absolute), "{}: {absolute}", path.display());
    }
}

#[test]
fn samples_and_what_is_drawn_of_them() {
    for path in files(&repository("traces"), "pmt") {
        names_no_directory(&path);
        let trace = Trace::open(&path).unwrap();
        let header = trace.header();
        assert_eq!(header.directory, ".", "{}", path.display());
        let mut command = header.command.iter();
        assert!(
            command.all(|word| !word.starts_with('/')),
            "{:?}",
            header.command
        );
        let sources = trace.predicates().iter();
        let sources = sources.filter_map(|info| trace.file(info.declared.file?));
        let sources = sources.filter(|source| !source.starts_with("engine:"));
        for source in sources {
            assert!(sample(source).is_file(), "{}: {source}", path.display());
        }
    }
    for path in files(&repository("tui/screens/pictures"), "svg") {
        names_no_directory(&path);
    }
    for directory in ["tests/e2e", "tui/screens"] {
        for path in files(&repository(directory), "snap") {
            names_no_directory(&path);
        }
    }
}

/// A predicate's source as the trace names it.
fn source<'t>(profiled: &'t Profiled, predicate: &str) -> &'t str {
    let mut known = profiled.trace.predicates().iter();
    let found = known.find(|info| info.indicator == predicate).unwrap();
    profiled.trace.file(found.declared.file.unwrap()).unwrap()
}

const MAIN: &str = "
:- use_module(library(lists)).
:- use_module(parts/part).
:- use_module('../beside').
main :- part(X), beside(X), subtract([a], [a], X).
";

#[test]
fn sources_are_relative_to_the_program_and_it_to_the_trace() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("app/parts")).unwrap();
    fs::create_dir(sandbox.path("out")).unwrap();
    sandbox.write("app/main.pl", MAIN);
    sandbox.write(
        "app/parts/part.pl",
        ":- module(part, [part/1]).\npart([]).\n",
    );
    sandbox.write("beside.pl", ":- module(beside, [beside/1]).\nbeside(_).\n");
    for (trace, directory) in [
        ("out/run.pmt", "../app"),
        ("app/run.pmt", "."),
        ("run.pmt", "app"),
    ] {
        let arguments = [
            "record",
            "--libraries",
            "-g",
            "main",
            "-o",
            trace,
            "app/main.pl",
        ];
        sandbox.portmortem(arguments).succeeds();
        let profiled = Profiled::of(&sandbox.path(trace));
        assert_eq!(profiled.trace.header().directory, directory);
        assert_eq!(source(&profiled, "main/0"), "main.pl");
        assert_eq!(source(&profiled, "part:part/1"), "parts/part.pl");
        assert_eq!(
            source(&profiled, "lists:subtract/3"),
            "engine:library/lists.pl"
        );
        // Elsewhere: as it is.
        let beside = Path::new(source(&profiled, "beside:beside/1"));
        assert!(
            beside.is_absolute() && beside.is_file(),
            "{}",
            beside.display()
        );
    }
}
