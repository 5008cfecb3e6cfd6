//! `portmortem diff`: two programs, or one before and after a change, side by side.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use portmortem_analyzer::Analysis;
use portmortem_analyzer::advice::record_hint;
use portmortem_analyzer::comparison::{
    Broken, Compared, ComparedGoal, Comparison, Figure, Recorded, RowChange, Test,
};
use portmortem_analyzer::export::Csv;
use portmortem_analyzer::export::json::Escaped;
use portmortem_analyzer::remarks::modes_and_technique;
use portmortem_analyzer::tables::Cell;
use portmortem_analyzer::text::{count, counted, time};
use portmortem_analyzer::trace::names::printable;

use super::analysis::{INCOMPLETE, analyse, warn_of_losses};
use super::scope;
use crate::cli::{CompareBy, DiffArgs, OutcomeFormat, Recordings};
use crate::report::{
    as_list, compared_goals, compared_headline, compared_predicates, compared_tests,
};

/// How many predicates, goals or tests a comparison for people shows unless it is said.
const USUAL_TOP: usize = 10;

/// More rows that break a limit are only counted.
const MOST_NAMED: usize = 5;

/// Prints what changed. It is an error if a limit is broken; status 3 if parts of a trace are missing.
pub(crate) fn run(args: &DiffArgs) -> Result<ExitCode> {
    let mut kinds = Vec::new();
    let mut is_whole = true;
    let mut unmatched: Vec<&String> = args.scope.hide.iter().collect();
    let mut limits = args.fail_if.iter();
    let needs_tests =
        args.by == CompareBy::Test || limits.any(|limit| limit.compared() == Compared::Tests);
    let mut side = |of: &Recordings| {
        let read = |path: &PathBuf| {
            let analysis = analyse(path, |trace| {
                unmatched.retain(|pattern| scope::matching(trace, pattern).is_err());
                scope::filters_of_one(&args.scope, trace)
            })?;
            is_whole &= !warn_of_losses(&analysis);
            kinds.push(modes_and_technique(&analysis.trace));
            let recorded = Recorded::of(&analysis);
            analysis.trace.check_whole(path)?;
            if needs_tests && !recorded.has_tests() {
                bail!("{}", no_tests(path, &analysis));
            }
            Ok(recorded)
        };
        of.0.iter().map(read).collect::<Result<Vec<Recorded>>>()
    };
    let (before, after) = (side(&args.before)?, side(&args.after)?);
    if let Some(pattern) = unmatched.first() {
        bail!("no predicate of these traces matches --hide {pattern}");
    }
    let comparison = Comparison::of(&before, &after);
    kinds.sort();
    kinds.dedup();
    let remarks = remarks(args.by, &comparison, &kinds);
    let limits = args.fail_if.iter();
    let broken: Vec<Vec<Broken>> = limits.map(|limit| limit.broken(&comparison)).collect();
    let mut out = Vec::new();
    match args.format {
        OutcomeFormat::Text => text(args, &comparison, &remarks, &mut out)?,
        OutcomeFormat::Csv => match args.by {
            CompareBy::Test => csv(&comparison.tests, &comparison, args.top, &mut out)?,
            CompareBy::Predicate if args.sites => {
                csv(&comparison.goals, &comparison, args.top, &mut out)?;
            }
            CompareBy::Predicate => {
                csv(&comparison.predicates, &comparison, args.top, &mut out)?;
            }
        },
        OutcomeFormat::Json => {
            let mut report = serde_json::json!({
                "before": names(&args.before),
                "after": names(&args.after),
                "broken": broken.iter().flatten().map(object_of_broken).collect::<Vec<_>>(),
                "incomplete": !is_whole,
                "remarks": remarks,
            });
            match args.by {
                CompareBy::Test => {
                    report["tests"] = objects(&comparison.tests, &comparison, args.top);
                }
                CompareBy::Predicate => {
                    report["predicates"] = objects(&comparison.predicates, &comparison, args.top);
                    report["sites"] = objects(&comparison.goals, &comparison, args.top);
                }
            }
            serde_json::to_writer_pretty(Escaped(&mut out), &report)?;
            writeln!(out)?;
        }
    }
    io::stdout().write_all(&out)?;
    let lines: Vec<String> = broken.iter().filter_map(|rows| sentence(rows)).collect();
    if !lines.is_empty() {
        bail!("{}", lines.join("; "));
    }
    Ok(match is_whole {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(INCOMPLETE),
    })
}

fn names(side: &Recordings) -> String {
    let names = side.0.iter().map(|path| path.display().to_string());
    names.collect::<Vec<_>>().join(", ")
}

/// Why a trace has no tests to compare, and what to do.
fn no_tests(path: &Path, analysis: &Analysis) -> String {
    let path = path.display();
    match analysis.filters.is_everything() {
        true => format!(
            "{path}: no tests of plunit have figures in it{}",
            record_hint(
                &analysis.trace,
                "; to record them: portmortem record --tests FILE.plt"
            )
        ),
        false => format!("{path}: no tests of plunit are in this part of it; choose another one"),
    }
}

/// What a reader must know beside the figures. `kinds` are the modes of the recordings, each once.
fn remarks(by: CompareBy, comparison: &Comparison, kinds: &[String]) -> Vec<String> {
    let order = match by {
        CompareBy::Predicate => {
            "the order is by what each predicate does differently itself, then by calls, all counts, time"
        }
        CompareBy::Test => {
            "what got worse comes first, then what got better, by calls, then all counts, then time; \
             what is new or gone comes last"
        }
    };
    let what = match comparison.time {
        Figure::Net => "net self times are compared",
        _ => "self times are as recorded: net times were not measured in all recordings",
    };
    let noise = match comparison.recordings {
        [1, 1] => {
            "one recording each does not tell how much of a change of time is noise; \
                   compare several, as a1.pmt,a2.pmt b1.pmt,b2.pmt"
        }
        _ => {
            "values are medians of the recordings of a side, and the noise is the larger spread; \
              times within it count as equal"
        }
    };
    let mut remarks = vec![
        order.to_owned(),
        format!("counts are exact; {what}; {noise}"),
    ];
    if kinds.len() > 1 {
        remarks.push(format!(
            "the recordings were made in different modes, which may be all that differs: {}",
            kinds.join("; ")
        ));
    }
    remarks
}

fn text(
    args: &DiffArgs,
    comparison: &Comparison,
    remarks: &[String],
    out: &mut impl Write,
) -> Result<()> {
    let sides = [names(&args.before), names(&args.after)];
    let headline = compared_headline(comparison, sides.each_ref().map(String::as_str));
    writeln!(out, "{headline}")?;
    let top = args.top.unwrap_or(USUAL_TOP);
    match args.by {
        CompareBy::Test => writeln!(out, "{}", compared_tests(comparison, top))?,
        CompareBy::Predicate => {
            if !args.sites {
                writeln!(out, "{}", compared_predicates(comparison, top))?;
            }
            writeln!(out, "{}", compared_goals(comparison, top))?;
        }
    }
    write!(out, "{}", as_list(remarks))?;
    Ok(())
}

/// What a row is of, in files.
trait Keyed {
    /// Names of its columns.
    const COLUMNS: &'static [&'static str];
    /// Name of the time that is compared of it.
    fn time(comparison: &Comparison) -> (Figure, &'static str);
    fn cells(change: &RowChange<Self>) -> Vec<Cell<'_>>
    where
        Self: Sized;
}

impl Keyed for String {
    const COLUMNS: &'static [&'static str] = &["predicate", "own"];

    fn time(comparison: &Comparison) -> (Figure, &'static str) {
        (comparison.time, comparison.time.name())
    }

    fn cells(change: &RowChange<Self>) -> Vec<Cell<'_>> {
        vec![Cell::Text(&change.key), integer(change.own)]
    }
}

impl Keyed for ComparedGoal {
    const COLUMNS: &'static [&'static str] = &["caller", "clause", "goal", "callee"];

    fn time(_: &Comparison) -> (Figure, &'static str) {
        (Figure::Time, "served_ns")
    }

    fn cells(change: &RowChange<Self>) -> Vec<Cell<'_>> {
        let ComparedGoal {
            caller,
            place,
            callee,
        } = &change.key;
        let number = |of: Option<u32>| of.map_or(Cell::Missing, |of| integer(of.into()));
        let (clause, goal) = (place.map(|(clause, _)| clause), place.map(|(_, goal)| goal));
        vec![
            Cell::Text(caller),
            number(clause),
            number(goal),
            Cell::Text(callee),
        ]
    }
}

impl Keyed for Test {
    const COLUMNS: &'static [&'static str] = &["test", "file", "line"];

    fn time(comparison: &Comparison) -> (Figure, &'static str) {
        String::time(comparison)
    }

    fn cells(change: &RowChange<Self>) -> Vec<Cell<'_>> {
        let Test { name, file, line } = &change.key;
        vec![
            Cell::Text(name),
            file.as_deref().map_or(Cell::Missing, Cell::Text),
            line.map_or(Cell::Missing, |line| integer(line.into())),
        ]
    }
}

fn integer(value: u64) -> Cell<'static> {
    Cell::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

/// Names of all columns of a row in files: what it is of, each count before and after, the time with its spread.
fn columns<K: Keyed>(comparison: &Comparison) -> Vec<String> {
    let (_, time) = K::time(comparison);
    let counts = Figure::COUNTS.iter().flat_map(|figure| {
        let name = figure.name();
        [format!("{name}_before"), format!("{name}_after")]
    });
    let times = ["before", "after"]
        .into_iter()
        .flat_map(|side| ["", "_least", "_most"].map(|which| format!("{time}_{side}{which}")));
    let own = K::COLUMNS.iter().map(|&name| name.to_owned());
    own.chain(counts).chain(times).collect()
}

/// Its cells. Counts of the engine's own work are missing, like all of a side where it was not called.
fn cells<'c, K: Keyed>(change: &'c RowChange<K>, comparison: &Comparison) -> Vec<Cell<'c>> {
    let (time, _) = K::time(comparison);
    let sides = [&change.before, &change.after];
    let counts = Figure::COUNTS.iter().flat_map(|&figure| {
        sides.map(|side| match side {
            Some(figures) if !change.is_engine_work => integer(figures[figure as usize].median),
            _ => Cell::Missing,
        })
    });
    let times = sides.into_iter().flat_map(|side| match side {
        Some(figures) => {
            let time = figures[time as usize];
            [time.median, time.least, time.most].map(integer)
        }
        None => [Cell::Missing; 3],
    });
    K::cells(change)
        .into_iter()
        .chain(counts)
        .chain(times)
        .collect()
}

fn csv<K: Keyed>(
    changes: &[RowChange<K>],
    comparison: &Comparison,
    top: Option<usize>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let names = columns::<K>(comparison);
    let mut writer = Csv::with_names(names.iter().map(String::as_str), Box::new(out))?;
    for change in changes.iter().take(top.unwrap_or(usize::MAX)) {
        writer.row(&cells(change, comparison))?;
    }
    Ok(writer.finish()?)
}

fn objects<K: Keyed>(
    changes: &[RowChange<K>],
    comparison: &Comparison,
    top: Option<usize>,
) -> serde_json::Value {
    let names = columns::<K>(comparison);
    let object = |change| {
        let cells = cells(change, comparison).into_iter();
        let fields = names
            .iter()
            .cloned()
            .zip(cells.map(|cell| serde_json::json!(cell)));
        serde_json::Value::Object(fields.collect())
    };
    changes
        .iter()
        .take(top.unwrap_or(usize::MAX))
        .map(object)
        .collect()
}

fn object_of_broken(broken: &Broken) -> serde_json::Value {
    let kind = match broken.compared {
        Compared::Predicates => "predicate",
        Compared::Tests => "test",
    };
    serde_json::json!({
        "limit": broken.limit,
        kind: broken.name,
        "figure": broken.figure.name(),
        "before": broken.values[0].median,
        "after": broken.values[1].median,
    })
}

/// Which rows break a limit; `None` if none does.
fn sentence(broken: &[Broken]) -> Option<String> {
    let Broken {
        limit, compared, ..
    } = broken.first()?;
    let name = |broken: &Broken| {
        let value = |value| match broken.figure {
            Figure::Time | Figure::Net => time(value),
            _ => count(value),
        };
        let [before, after] = broken.values.map(|side| value(side.median));
        format!("{} ({before} to {after})", printable(&broken.name))
    };
    let mut names: Vec<String> = broken.iter().take(MOST_NAMED).map(name).collect();
    if broken.len() > MOST_NAMED {
        names.push(format!("{} more", broken.len() - MOST_NAMED));
    }
    let (one, more) = match compared {
        Compared::Predicates => ("row", "rows"),
        Compared::Tests => ("test", "tests"),
    };
    let rows = counted(broken.len() as u64, one, more);
    Some(format!("{limit} is broken by {rows}: {}", names.join(", ")))
}
