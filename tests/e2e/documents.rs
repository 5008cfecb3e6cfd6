//! What the documents say: their examples print what they show, their tables name all columns, and a reader
//! written from the specification of the format finds the same figures.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use portmortem_analyzer::tables::{Kind, Table};
use portmortem_tests::{Sandbox, built, repository, sample};

/// Runs every `console` block of the documents in a copy of them and of the traces that they read.
/// `TRYCMD=overwrite` writes the present output into the documents.
#[test]
fn examples() {
    let sandbox = Sandbox::new();
    let place = sandbox.path("copy");
    for directory in ["docs", "traces"] {
        copy(&repository(directory), &place.join(directory));
    }
    fs::copy(repository("README.md"), place.join("README.md")).unwrap();
    // The commands of FILE.md run in FILE.in.
    for document in documents(&place) {
        symlink(&place, document.with_extension("in")).unwrap();
    }
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("portmortem", built::portmortem())
        .env("LC_ALL", "C.UTF-8")
        .env("NO_COLOR", "1")
        .env("COLUMNS", "")
        .case(place.join("README.md"))
        .case(place.join("docs/*.md"));
    // Fails if any example does.
    drop(cases);
    if env::var_os("TRYCMD").is_some_and(|what| what == "overwrite") {
        for document in documents(&place) {
            let original = repository("").join(document.strip_prefix(&place).unwrap());
            fs::copy(document, original).unwrap();
        }
    }
}

/// `README.md` and those of `docs/`, below a directory.
fn documents(place: &Path) -> Vec<PathBuf> {
    let docs = fs::read_dir(place.join("docs")).unwrap();
    let mut found: Vec<PathBuf> = docs.map(|entry| entry.unwrap().path()).collect();
    found.push(place.join("README.md"));
    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// `docs/tables.md` describes each table with all its columns, in their order.
#[test]
fn every_column_is_described() {
    let text = fs::read_to_string(repository("docs/tables.md")).unwrap();
    let sandbox = Sandbox::new();
    let tables: Vec<&str> = Table::ALL.iter().map(|table| table.name()).collect();
    let (to, trace) = (sandbox.path("all"), sample("queens.pmt"));
    sandbox
        .portmortem([
            "export".as_ref(),
            trace.as_os_str(),
            "--tables".as_ref(),
            tables.join(",").as_ref(),
            "--to".as_ref(),
            to.as_os_str(),
        ])
        .exits(0);
    for table in tables {
        let header = fs::read_to_string(to.join(format!("{table}.csv"))).unwrap();
        let columns: Vec<&str> = header.lines().next().unwrap().split(',').collect();
        let heading = format!("## `{table}`\n");
        let section = text.split(heading.as_str()).nth(1).expect(table);
        let section = section.split("\n## ").next().unwrap();
        let described: Vec<&str> = section
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
            .collect();
        assert_eq!(described, columns, "{table}");
        let columns = Table::from_name(table).unwrap().columns();
        let lines = section.lines().filter(|line| line.starts_with("| `"));
        for (line, column) in lines.zip(columns) {
            let kind = match column.kind {
                Kind::Text => "text",
                Kind::Integer => "integer",
                Kind::Bool => "boolean",
            };
            let begin = format!("| `{}` | {kind}", column.name);
            assert!(line.starts_with(&begin), "{table}: {line}");
            let end = format!(" | {} |", column.help);
            assert!(line.ends_with(&end), "{table}: {line}: {end}");
        }
    }
}

/// Every link from one document to another file leads to it.
#[test]
fn links() {
    let mut documents = vec!["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    for entry in fs::read_dir(repository("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            documents.push(format!("docs/{name}"));
        }
    }
    for document in documents {
        let path = repository(&document);
        let text = fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap();
            let elsewhere = target.is_empty() || target.starts_with("http");
            assert!(
                elsewhere || path.parent().unwrap().join(target).exists(),
                "{document}: {target}"
            );
        }
    }
}

/// The reader in Python, written from `tracer/FORMAT.md`, agrees with the export in every cell: for the samples, and
/// for a sample that was damaged and one that was cut off, whose events have gaps; for packed ones,
/// and for a part.
#[test]
fn a_reader_in_another_language() {
    let sandbox = Sandbox::new();
    let whole = fs::read(sample("queens.pmt")).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 4;
    let mut traces = vec![
        sandbox.write("damaged.pmt", damaged),
        sandbox.write("cut.pmt", &whole[..whole.len() / 3]),
    ];
    for entry in fs::read_dir(repository("traces")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "pmt") {
            traces.push(path);
        }
    }
    sandbox.write(
        "clauses.pl",
        fs::read_to_string(sample("queens.pl")).unwrap(),
    );
    sandbox
        .portmortem(["record", "--clauses", "--arguments", "*", "clauses.pl"])
        .succeeds();
    traces.push(sandbox.path("clauses.pmt"));
    for name in ["damaged", "clauses"] {
        let (from, to) = (format!("{name}.pmt"), format!("packed_{name}.pmt"));
        sandbox.portmortem(["pack", &from, "-o", &to]).succeeds();
        traces.push(sandbox.path(&to));
    }
    let cut = ["cut", "packed_clauses.pmt", "--time", "1ms..3ms"];
    let cut = [&cut[..], &["-o", "part.pmt"]].concat();
    sandbox.portmortem(cut).succeeds();
    traces.push(sandbox.path("part.pmt"));
    let mut damaged = fs::read(sandbox.path("packed_clauses.pmt")).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 4;
    traces.push(sandbox.write("damaged_packed.pmt", damaged));
    assert!(traces.len() >= 16, "{traces:?}");
    let tables = sandbox.path("tables");
    let mut export = sandbox.command(built::portmortem());
    export.command.arg("export").args(&traces);
    export.command.arg("--to").arg(&tables);
    export.wait().exits(3);
    let mut compare = sandbox.command(Path::new("python3"));
    compare
        .command
        .arg("-B")
        .arg(repository("tests/reader/tables.py"));
    compare.command.arg("--compare").arg(&tables).args(&traces);
    compare
        .wait()
        .succeeds()
        .shows("cells of 16 traces compared");
}

/// The reader tells of a difference: a cell that is wrong in the export, and a row that is missing.
#[test]
fn the_comparison_can_fail() {
    let sandbox = Sandbox::new();
    let (trace, tables) = (sample("debray1.pmt"), sandbox.path("tables"));
    let mut export = sandbox.command(built::portmortem());
    export
        .command
        .arg("export")
        .arg(&trace)
        .arg("--to")
        .arg(&tables);
    export.wait().exits(0);
    for (table, row, wrong) in [
        ("predicates", "course/3,debray1.pl,", "course/3,debray2.pl,"),
        ("edges", "<root>,teacher/2,", "<root>,other/2,"),
    ] {
        let path = tables.join(format!("{table}.csv"));
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(row), "{text}");
        fs::write(&path, text.replace(row, wrong)).unwrap();
    }
    let mut compare = sandbox.command(Path::new("python3"));
    compare
        .command
        .arg("-B")
        .arg(repository("tests/reader/tables.py"));
    compare.command.arg("--compare").arg(&tables).arg(&trace);
    compare
        .wait()
        .exits(1)
        .shows("file: export debray2.pl, reader debray1.pl")
        .shows("'<root>', 'teacher/2'): only in the reader");
}
