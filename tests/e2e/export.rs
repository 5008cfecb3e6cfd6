//! `portmortem export`: files that other programs read, of many traces at once, whole or not at all.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use polars_core::prelude::{Column, DataFrame};
use polars_io::SerReader;
use polars_io::ipc::IpcReader;
use polars_io::parquet::read::ParquetReader;
use portmortem_analyzer::Tables;
use portmortem_analyzer::tables::{Cell, Kind, Table};
use portmortem_tests::patience::wait_until;
use portmortem_tests::{Outcome, Profiled, Sandbox, Status, built, sample, trap};

/// By table, trace and column of integers: the number of cells that have one, and their sum.
type Sums = BTreeMap<(String, String, String), (u64, i128)>;

fn add(sums: &mut Sums, table: Table, trace: &str, column: &str, number: Option<i128>) {
    let key = (table.name().to_owned(), trace.to_owned(), column.to_owned());
    let (count, sum) = sums.entry(key).or_default();
    *count += u64::from(number.is_some());
    *sum += number.unwrap_or(0);
}

fn integers(table: Table) -> impl Iterator<Item = &'static str> {
    let columns = table.columns().iter();
    columns
        .filter(|column| column.kind == Kind::Integer)
        .map(|column| column.name)
}

/// What the files must say: the tables as the library has them.
fn expected(traces: &[(&str, &Path)]) -> Sums {
    let mut sums = Sums::new();
    for (name, path) in traces {
        let profiled = Profiled::of(path);
        let tables = Tables::new(name, &profiled.trace, &profiled.profile);
        let tables = tables.with_calls(&profiled.calls);
        for &table in Table::ALL {
            let rows: Result<(), ()> = tables.rows(table, |cells| {
                for (column, cell) in table.columns().iter().zip(cells) {
                    if column.kind == Kind::Integer {
                        let number = match cell {
                            Cell::Integer(number) => Some((*number).into()),
                            _ => None,
                        };
                        add(&mut sums, table, name, column.name, number);
                    }
                }
                Ok(())
            });
            rows.unwrap();
        }
    }
    sums
}

fn of_csv(directory: &Path) -> Sums {
    let mut sums = Sums::new();
    for &table in Table::ALL {
        let file = directory.join(table.name()).with_extension("csv");
        let mut reader = csv::Reader::from_path(file).unwrap();
        let names: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
        assert_eq!(reader.headers().unwrap(), names);
        for row in reader.deserialize::<BTreeMap<String, String>>() {
            let row = row.unwrap();
            for column in integers(table) {
                let number = Some(&row[column]).filter(|cell| !cell.is_empty());
                let number = number.map(|cell| cell.parse().unwrap());
                add(&mut sums, table, &row["trace"], column, number);
            }
        }
    }
    sums
}

fn of_json(directory: &Path) -> Sums {
    let mut sums = Sums::new();
    for &table in Table::ALL {
        let file = directory.join(table.name()).with_extension("json");
        for line in BufReader::new(File::open(file).unwrap()).lines() {
            let row: BTreeMap<String, serde_json::Value> =
                serde_json::from_str(&line.unwrap()).unwrap();
            assert_eq!(row.len(), table.columns().len());
            for column in integers(table) {
                let number = row[column].as_i64().map(i128::from);
                assert_eq!(number.is_none(), row[column].is_null());
                add(
                    &mut sums,
                    table,
                    row["trace"].as_str().unwrap(),
                    column,
                    number,
                );
            }
        }
    }
    sums
}

/// Adds the integers of a frame, whose rows are of this trace or have a column that says of which.
fn add_frame(sums: &mut Sums, table: Table, frame: &DataFrame, trace: Option<&str>) {
    let traces = frame
        .column("trace")
        .ok()
        .map(|column| column.str().unwrap());
    for column in integers(table) {
        let numbers = frame.column(column).and_then(Column::i64).unwrap();
        for (row, number) in numbers.iter().enumerate() {
            let trace = trace.or_else(|| traces.and_then(|traces| traces.get(row)));
            add(sums, table, trace.unwrap(), column, number.map(i128::from));
        }
    }
}

fn of_arrow(directory: &Path) -> Sums {
    let mut sums = Sums::new();
    for &table in Table::ALL {
        let file = directory.join(table.name()).with_extension("arrow");
        let frame = IpcReader::new(File::open(file).unwrap()).finish().unwrap();
        add_frame(&mut sums, table, &frame, None);
    }
    sums
}

fn of_parquet(directory: &Path, traces: &[&str]) -> Sums {
    let mut sums = Sums::new();
    for &table in Table::ALL {
        for trace in traces {
            let file = format!("{}/trace={trace}/part-0.parquet", table.name());
            let file = File::open(directory.join(file)).unwrap();
            let frame = ParquetReader::new(file).finish().unwrap();
            assert!(frame.column("trace").is_err(), "the directory says it");
            add_frame(&mut sums, table, &frame, Some(trace));
        }
    }
    sums
}

/// Runs a Python script in the environment that `make test-packages` installs.
pub(crate) fn python(sandbox: &Sandbox, script: &str, arguments: &[&str]) -> Outcome {
    // We are target/PROFILE/deps/TEST.
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(3).unwrap().join("python/bin/python");
    assert!(
        program.exists(),
        "{} is missing: make test-packages",
        program.display()
    );
    let script = sandbox.write("script.py", script);
    let script = script.to_str().unwrap();
    sandbox.run(&program, [&[script], arguments].concat())
}

/// Counts and sums of all integer columns by trace, a line each, the directories read as tables.
const SUMS: &str = "
import sys, duckdb
root, *tables = sys.argv[1:]
for table in tables:
    rows = f\"read_parquet('{root}/{table}/*/*.parquet', hive_partitioning = true)\"
    columns = [name for name, kind, *_ in duckdb.sql(f'describe select * from {rows}').fetchall() if kind == 'BIGINT']
    for name in columns:
        for row in duckdb.sql(f'select trace, count(\"{name}\"), sum(\"{name}\") from {rows} group by trace').fetchall():
            print(table, *row[:1], name, row[1], row[2] or 0, sep='\\t')
";

fn of_duckdb(sandbox: &Sandbox, directory: &str) -> Sums {
    let mut arguments = vec![directory];
    arguments.extend(Table::ALL.iter().map(|table| table.name()));
    let printed = python(sandbox, SUMS, &arguments).succeeds().out();
    let cell = |line: &str| -> ((String, String, String), (u64, i128)) {
        let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
        let [table, trace, column, count, sum] = cells.try_into().unwrap();
        (
            (table, trace, column),
            (count.parse().unwrap(), sum.parse().unwrap()),
        )
    };
    printed.lines().map(cell).collect()
}

const ALL: &str = "predicates,edges,sites,clauses,arguments,sizes,argument_values,value_pairs,contexts,backtracks,cuts,choicepoints,cycles,streams,waits,centers,tests,costs,latencies,site_latencies,slowest,events";

/// Threads, exceptions, recursion through others, many choicepoints: something for every table.
const SAMPLES: [&str; 4] = ["queens", "threads_exceptions", "parser", "debray1"];

#[test]
fn every_format_says_the_same() {
    let sandbox = Sandbox::new();
    let program = fs::read_to_string(sample("queens.pl")).unwrap() + super::unit_tests::OF_QUEENS;
    let options = "--clauses --tests --arguments * --values *".split(' ');
    sandbox.record("clauses", &program, &options.collect::<Vec<_>>());
    sandbox.record_file(&trap("waits/program.pl"), &[]);
    let mut paths = SAMPLES.map(|name| sample(&format!("{name}.pmt"))).to_vec();
    paths.extend(["clauses.pmt", "program.pmt"].map(|name| sandbox.path(name)));
    let names = [&SAMPLES[..], &["clauses", "program"]].concat();
    let each = paths.iter().map(PathBuf::as_path);
    let traces: Vec<_> = names.iter().copied().zip(each).collect();
    let expected = expected(&traces);
    for table in Table::ALL {
        let has_rows = expected.keys().any(|(of, ..)| of == table.name());
        assert!(has_rows, "no sample has {}", table.name());
    }
    let export = |format: &str| {
        let arguments = [
            "export", "--to", format, "--format", format, "--tables", ALL,
        ];
        let arguments = arguments
            .map(PathBuf::from)
            .into_iter()
            .chain(paths.clone());
        sandbox.portmortem(arguments).succeeds().prints("");
        sandbox.path(format)
    };
    assert_eq!(of_csv(&export("csv")), expected);
    assert_eq!(of_json(&export("json")), expected);
    assert_eq!(of_arrow(&export("arrow")), expected);
    assert_eq!(of_parquet(&export("parquet"), &names), expected);
    assert_eq!(of_duckdb(&sandbox, "parquet"), expected);
}

#[test]
fn usual_tables_and_one() {
    let sandbox = Sandbox::new();
    let trace = &sample("queens.pmt").display().to_string();
    let export = ["export", trace, "--to", "all"];
    sandbox.portmortem(export).succeeds();
    assert_eq!(
        everything(&sandbox.path("all")),
        [
            "argument_values.csv",
            "arguments.csv",
            "backtracks.csv",
            "centers.csv",
            "choicepoints.csv",
            "clauses.csv",
            "contexts.csv",
            "costs.csv",
            "cuts.csv",
            "cycles.csv",
            "edges.csv",
            "latencies.csv",
            "predicates.csv",
            "site_latencies.csv",
            "sites.csv",
            "sizes.csv",
            "slowest.csv",
            "streams.csv",
            "tests.csv",
            "value_pairs.csv",
            "waits.csv"
        ]
    );
    sandbox
        .portmortem([
            "export", trace, "--to", "one", "--tables", "cycles", "--format", "json",
        ])
        .succeeds();
    // No predicate of it calls itself through others; the file is there all the same.
    assert_eq!(everything(&sandbox.path("one")), ["cycles.json"]);
    assert_eq!(fs::read(sandbox.path("one/cycles.json")).unwrap(), b"");
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let sandbox = Sandbox::new();
    for name in SAMPLES {
        let name = format!("{name}.pmt");
        fs::copy(sample(&name), sandbox.path(&name)).unwrap();
    }
    for format in ["csv", "json", "arrow", "parquet"] {
        let files = |threads: &str| -> Vec<(String, Vec<u8>)> {
            let to = format!("{format}-{threads}");
            sandbox
                .portmortem([
                    "export",
                    "--threads",
                    threads,
                    "--to",
                    &to,
                    "--format",
                    format,
                    "--tables",
                    ALL,
                    "*.pmt",
                ])
                .succeeds();
            let directory = sandbox.path(&to);
            let contents = |name: String| {
                let path = directory.join(&name);
                let bytes = if path.is_file() {
                    fs::read(path).unwrap()
                } else {
                    Vec::new()
                };
                (name, bytes)
            };
            everything(&directory).into_iter().map(contents).collect()
        };
        let one = files("1");
        for threads in ["2", "7"] {
            assert!(one == files(threads), "{format} on {threads} threads");
        }
    }
}

/// Everything below a directory, by its path from there, alphabetically.
fn everything(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(directory).unwrap();
            found.push(name.to_str().unwrap().to_owned());
            if path.is_dir() {
                directories.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The names in the column `trace`, each once, in the order of the file.
fn traces_in(csv_file: &Path) -> Vec<String> {
    let mut names: Vec<String> = csv::Reader::from_path(csv_file)
        .unwrap()
        .records()
        .map(|row| row.unwrap()[0].to_owned())
        .collect();
    names.dedup();
    names
}

/// What is no trace is left out, of what is half a trace the half that is there is exported; and both are said.
#[test]
fn damaged_traces_among_good_ones() {
    let sandbox = Sandbox::new();
    fs::copy(sample("parser.pmt"), sandbox.path("good.pmt")).unwrap();
    fs::copy(sample("debray1.pmt"), sandbox.path("well.pmt")).unwrap();
    sandbox.write("bad.pmt", "not a trace");
    let whole = fs::read(sample("queens.pmt")).unwrap();
    sandbox.write("half.pmt", &whole[..whole.len() / 2]);
    let traces = ["good.pmt", "bad.pmt", "half.pmt", "missing.pmt", "well.pmt"];
    for format in ["csv", "parquet"] {
        let arguments = ["export", "--to", format, "--format", format];
        let outcome = sandbox.portmortem(arguments.into_iter().chain(traces));
        outcome.exits(3).prints("");
        let err = outcome.err();
        let said: Vec<&str> = err.lines().collect();
        assert_eq!(said.len(), 3, "{outcome}");
        assert!(said[0].starts_with("error: bad.pmt: not a Portmortem trace"));
        assert!(said[1].starts_with("warning: half.pmt: "), "{outcome}");
        assert!(said[2].starts_with("error: cannot read missing.pmt: "));
    }
    let csv = sandbox.path("csv/predicates.csv");
    assert_eq!(traces_in(&csv), ["good", "half", "well"]);
    let mut partitions = everything(&sandbox.path("parquet/predicates"));
    partitions.retain(|name| !name.contains('/'));
    assert_eq!(partitions, ["trace=good", "trace=half", "trace=well"]);
}

#[test]
fn nothing_readable() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.pmt", "not a trace");
    for traces in [&["bad.pmt"][..], &["bad.pmt", "worse.pmt"]] {
        let arguments = [&["export", "--to", "new/tables"], traces].concat();
        let outcome = sandbox.portmortem(arguments);
        outcome
            .exits(1)
            .says("error: bad.pmt: not a Portmortem trace");
        assert!(
            outcome
                .err()
                .ends_with("\nerror: none of the traces could be read\n")
        );
        assert_eq!(outcome.err().lines().count(), traces.len() + 1);
    }
    assert!(!sandbox.path("new").exists());
}

#[test]
fn traces_of_the_same_name() {
    let sandbox = Sandbox::new();
    for directory in ["mon", "tue"] {
        fs::create_dir(sandbox.path(directory)).unwrap();
    }
    for (from, to) in [
        ("queens", "mon/run"),
        ("parser", "tue/run"),
        ("debray1", "it's 100%=1 é"),
    ] {
        fs::copy(
            sample(&format!("{from}.pmt")),
            sandbox.path(&format!("{to}.pmt")),
        )
        .unwrap();
    }
    // Each once, however often it is named.
    let arguments = ["tue/run.pmt", "./mon/run.pmt", "**/*.pmt", "mon/run.pmt"];
    let export = |format| {
        let options = [
            "export", "--to", format, "--format", format, "--tables", ALL,
        ];
        sandbox
            .portmortem(options.into_iter().chain(arguments))
            .succeeds();
    };
    export("csv");
    let names = ["tue/run", "mon/run", "it's 100%=1 é"];
    assert_eq!(traces_in(&sandbox.path("csv/predicates.csv")), names);
    export("parquet");
    let partitions = everything(&sandbox.path("parquet/edges"));
    assert!(
        partitions.contains(&"trace=mon%2Frun/part-0.parquet".to_owned()),
        "{partitions:?}"
    );
    // Another engine finds the same names and the same figures.
    assert_eq!(of_duckdb(&sandbox, "parquet"), of_csv(&sandbox.path("csv")));
}

#[test]
fn lists_and_patterns() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("runs")).unwrap();
    for name in SAMPLES {
        let name = format!("{name}.pmt");
        fs::copy(sample(&name), sandbox.path("runs").join(name)).unwrap();
    }
    let names = |to: &str| traces_in(&sandbox.path(to).join("streams.csv"));
    // A list on standard input, and what is beside it.
    let list = "runs/queens.pmt\n\nruns/[pt]*.pmt\n";
    let run = sandbox.command(built::portmortem());
    let run = run.args(["export", "--from", "-", "--to", "a", "runs/debray?.pmt"]);
    run.stdin(list).wait().succeeds();
    assert_eq!(
        names("a"),
        ["debray1", "queens", "parser", "threads_exceptions"]
    );
    sandbox.write("list", list);
    sandbox
        .portmortem(["export", "--from", "list", "--to", "b"])
        .succeeds();
    assert_eq!(names("b"), ["queens", "parser", "threads_exceptions"]);
    sandbox
        .portmortem(["export", "--from", "nowhere", "--to", "c"])
        .refuses("cannot read nowhere");
    sandbox
        .portmortem(["export", "runs/*.xyz", "--to", "c"])
        .exits(1)
        .says("error: cannot read runs/*.xyz");
    let empty = sandbox
        .command(built::portmortem())
        .args(["export", "--from", "-", "--to", "c"]);
    empty.wait().refuses("no traces given");
    sandbox.portmortem(["export", "--to", "c"]).exits(2);
    assert!(!sandbox.path("c").exists());
}

#[test]
fn a_second_export_replaces_the_first_by_force() {
    let sandbox = Sandbox::new();
    let export = |from: &str, format: &str| {
        fs::copy(sample(&format!("{from}.pmt")), sandbox.path("run.pmt")).unwrap();
        let arguments = ["export", "run.pmt", "--to", "out", "--format", format];
        let is_first = from == "queens";
        if !is_first {
            let refused = sandbox.portmortem(arguments);
            refused.refuses("exists; replace it with --force or name another directory with --to");
        }
        let force = (!is_first).then_some("--force");
        let arguments = arguments.into_iter().chain(force);
        sandbox.portmortem(arguments).succeeds();
    };
    sandbox.sh("mkdir -p out/predicates/trace=old && touch out/predicates/trace=old/part-0.parquet out/notes");
    export("queens", "csv");
    export("queens", "parquet");
    let csv = fs::read(sandbox.path("out/predicates.csv")).unwrap();
    let place = "out/predicates/trace=run/part-0.parquet";
    let parquet = fs::read(sandbox.path(place)).unwrap();
    export("parser", "csv");
    export("parser", "parquet");
    assert_ne!(fs::read(sandbox.path("out/predicates.csv")).unwrap(), csv);
    assert_ne!(fs::read(sandbox.path(place)).unwrap(), parquet);
    // What was not made by this export stays.
    assert!(
        sandbox
            .path("out/predicates/trace=old/part-0.parquet")
            .exists()
    );
    assert!(sandbox.path("out/notes").exists());
}

#[test]
fn what_cannot_be_written() {
    let sandbox = Sandbox::new();
    let trace = sample("queens.pmt");
    let trace = trace.to_str().unwrap();
    sandbox.write("file", "");
    for to in ["file", "file/below", "/proc/nowhere"] {
        sandbox
            .portmortem(["export", trace, "--to", to])
            .refuses(to);
    }
    // The place of a table is taken by a directory: nothing that is not whole, and nothing hidden, remains.
    fs::create_dir_all(sandbox.path("out/predicates.csv")).unwrap();
    sandbox
        .portmortem(["export", trace, "--to", "out"])
        .refuses("predicates.csv");
    assert_eq!(everything(&sandbox.path("out")), ["predicates.csv"]);
}

/// A limit on the size of files, which is met in the middle.
#[test]
fn a_failure_in_the_middle() {
    let sandbox = Sandbox::new();
    let traces = ["queens", "parser", "debray1"].map(|name| sample(&format!("{name}.pmt")));
    let traces = traces
        .map(|path| path.to_str().unwrap().to_owned())
        .join(" ");
    fs::create_dir(sandbox.path("there")).unwrap();
    for format in ["csv", "json", "arrow", "parquet"] {
        for to in ["there", "new/tables"] {
            let script = format!(
                "ulimit -f 64; trap '' XFSZ; exec $portmortem export {traces} --to {to} --format {format} --tables {ALL}"
            );
            sandbox.sh(&script).refuses("File too large");
        }
        assert_eq!(everything(&sandbox.path("there")), [""; 0], "{format}");
        assert!(!sandbox.path("new").exists());
    }
}

/// Many traces, of which an export takes long enough to be interrupted.
fn many(sandbox: &Sandbox, count: usize) {
    let trace = fs::canonicalize(sample("queens.pmt")).unwrap();
    fs::create_dir(sandbox.path("many")).unwrap();
    for number in 0..count {
        symlink(&trace, sandbox.path(&format!("many/{number}.pmt"))).unwrap();
    }
}

#[test]
fn an_interrupted_export_leaves_nothing() {
    let sandbox = Sandbox::new();
    many(&sandbox, 3000);
    for (format, signal) in [("csv", libc::SIGINT), ("parquet", libc::SIGTERM)] {
        let run = sandbox.command(built::portmortem());
        let arguments = [
            "export",
            "many/*.pmt",
            "--to",
            "new/out",
            "--tables",
            "events",
            "--format",
        ];
        let running = run.args(arguments).args([format]).start();
        let hidden = || {
            let directory = fs::read_dir(sandbox.path("new/out"))
                .ok()?
                .next()?
                .unwrap()
                .path();
            fs::read_dir(directory).ok()?.find(|file| {
                file.as_ref()
                    .is_ok_and(|file| file.metadata().is_ok_and(|file| file.len() > 0))
            })
        };
        wait_until("something is written", || hidden().is_some());
        running.signal(signal);
        let outcome = running.wait();
        outcome.demand(
            outcome.status == Status::Signal(signal),
            "death by the signal",
        );
        assert!(!sandbox.path("new").exists(), "{format}");
    }
}

/// More events than would fit; each trace is let go when it has been written.
#[test]
fn memory_does_not_grow_with_the_number_of_traces() {
    let sandbox = Sandbox::new();
    many(&sandbox, 80);
    for format in ["csv", "arrow", "parquet"] {
        let script = format!(
            "ulimit -d 180000; exec $portmortem export 'many/*.pmt' --threads 2 --to {format} --format {format} \
             --tables predicates,events"
        );
        sandbox.sh(&script).succeeds();
    }
    let size = |name: &str| fs::metadata(sandbox.path(name)).unwrap().len();
    assert!(size("csv/events.csv") > 200_000_000 && size("arrow/events.arrow") > 200_000_000);
    assert_eq!(everything(&sandbox.path("parquet/events")).len(), 160);
    assert_eq!(traces_in(&sandbox.path("csv/predicates.csv")).len(), 80);
}

/// The examples of the help are what it takes.
#[test]
fn help_has_examples() {
    let help = Sandbox::new().portmortem(["export", "--help"]).out();
    for text in ["--format parquet", "--from -", "part-0.parquet", "events"] {
        assert!(help.contains(text), "{text}");
    }
    for table in Table::ALL {
        assert!(
            help.contains(&format!("- {}:", table.name())),
            "{}",
            table.name()
        );
    }
}

/// Names that a directory cannot have, or that readers would take for none: the other traces are exported.
#[test]
fn traces_whose_partition_cannot_be_named() {
    let sandbox = Sandbox::new();
    let trace = fs::read(sample("debray1.pmt")).unwrap();
    // Each of these is three bytes longer in the name of a directory.
    let long = format!("{}.pmt", "=".repeat(100));
    for name in ["good.pmt", &long, "__HIVE_DEFAULT_PARTITION__.pmt"] {
        sandbox.write(name, &trace);
    }
    let arguments = [
        "export", "--to", "tables", "--format", "parquet", "good.pmt",
    ];
    let names = [&*long, "__HIVE_DEFAULT_PARTITION__.pmt"];
    sandbox
        .portmortem(arguments.iter().chain(&names))
        .exits(3)
        .says("too long for the directory")
        .says("no trace at all");
    for table in Table::ALL.iter().filter(|&&table| table != Table::Events) {
        let folder = sandbox.path(&format!("tables/{}", table.name()));
        let partitions: Vec<_> = fs::read_dir(folder).unwrap().collect();
        assert_eq!(partitions.len(), 1);
        assert_eq!(partitions[0].as_ref().unwrap().file_name(), "trace=good");
    }
    sandbox
        .portmortem(["export", "--to", "other", &long])
        .exits(0);
}

/// A spreadsheet must not compute what a trace is called.
#[test]
fn a_name_that_looks_like_a_formula() {
    let sandbox = Sandbox::new();
    let trace = fs::read(sample("debray1.pmt")).unwrap();
    sandbox.write("=1+1.pmt", &trace);
    sandbox
        .portmortem(["export", "=1+1.pmt", "--to", "tables"])
        .exits(0);
    let written = fs::read_to_string(sandbox.path("tables/predicates.csv")).unwrap();
    let mut rows = written.lines().skip(1);
    assert!(rows.all(|row| row.starts_with("'=1+1',")), "{written}");
    let report = sandbox.portmortem(["report", "=1+1.pmt", "--format", "csv"]);
    report.shows("\n'=1+1',");
}

/// Somebody made the link to have the table elsewhere.
#[test]
fn a_link_is_not_replaced() {
    let sandbox = Sandbox::new();
    sandbox.write("x.pmt", fs::read(sample("debray1.pmt")).unwrap());
    fs::create_dir(sandbox.path("tables")).unwrap();
    sandbox.write("elsewhere", "precious");
    symlink("../elsewhere", sandbox.path("tables/edges.csv")).unwrap();
    sandbox
        .portmortem(["export", "x.pmt", "--to", "tables"])
        .refuses("is a symbolic link");
    assert_eq!(everything(&sandbox.path("tables")), ["edges.csv"]);
    assert_eq!(fs::read(sandbox.path("elsewhere")).unwrap(), b"precious");
    // The directory itself may be one.
    fs::remove_file(sandbox.path("tables/edges.csv")).unwrap();
    symlink("tables", sandbox.path("linked")).unwrap();
    sandbox
        .portmortem(["export", "x.pmt", "--to", "linked"])
        .exits(0);
    assert!(sandbox.path("tables/edges.csv").exists());
}
