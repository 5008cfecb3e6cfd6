//! `portmortem events`: what is listed is what a plain look at the table `events` finds.

use std::collections::HashMap;

use portmortem_tests::{Outcome, Sandbox, sample};
use unicode_width::UnicodeWidthStr;

fn events(sandbox: &Sandbox, trace: &str, rest: &[&str]) -> Outcome {
    let trace = sample(trace).into_os_string();
    let rest = rest.iter().map(|argument| (*argument).into());
    sandbox.portmortem(["events".into(), trace].into_iter().chain(rest))
}

/// A row of the table, with what follows from later rows.
#[derive(Debug, Clone, Default)]
struct Row {
    stream: u64,
    seq: u64,
    ns: u64,
    port: String,
    predicate: String,
    depth: Option<u64>,
    boxed: Option<u64>,
    parent: Option<u64>,
    outcome: String,
    took: Option<u64>,
    /// `ns` less all pauses before it.
    running: u64,
}

/// The table `events` of a sample. An activation ends with the next way out of its box.
fn table(trace: &str) -> Vec<Row> {
    let sandbox = Sandbox::new();
    let path = sample(trace).display().to_string();
    sandbox
        .portmortem(["export", &path, "--to", "tables", "--tables", "events"])
        .exits(0);
    let mut reader = csv::Reader::from_path(sandbox.path("tables/events.csv")).unwrap();
    let number = |text: &str| text.parse::<u64>().ok();
    let row = |row: csv::StringRecord| Row {
        stream: number(&row[1]).unwrap(),
        seq: number(&row[2]).unwrap(),
        ns: number(&row[3]).unwrap(),
        port: row[4].to_owned(),
        predicate: row[5].to_owned(),
        depth: number(&row[6]),
        boxed: number(&row[7]),
        parent: number(&row[8]),
        ..Row::default()
    };
    let mut rows: Vec<Row> = reader
        .records()
        .map(|record| row(record.unwrap()))
        .collect();
    let (mut paused, mut pauses, mut last) = (0, false, (0, 0));
    for row in &mut rows {
        if last.0 != row.stream {
            (paused, pauses) = (0, false);
        } else if pauses {
            paused += row.ns - last.1;
        }
        last = (row.stream, row.ns);
        row.running = row.ns - paused;
        match row.port.as_str() {
            "pause" => pauses = true,
            "resume" | "gap" => pauses = false,
            _ => {}
        }
    }
    let mut ends: HashMap<(u64, u64), (String, u64)> = HashMap::new();
    for row in rows.iter_mut().rev() {
        let Some(boxed) = row.boxed else { continue };
        let key = (row.stream, boxed);
        match row.port.as_str() {
            "exit_det" | "exit_nondet" | "fail" | "exception" => {
                row.outcome = row.port.clone();
                ends.insert(key, (row.port.clone(), row.running));
            }
            "call" | "tail" | "redo" => match ends.get(&key) {
                Some((outcome, end)) => {
                    (row.outcome, row.took) = (outcome.clone(), Some(end - row.running));
                }
                None => row.outcome = "open".to_owned(),
            },
            _ => {}
        }
    }
    let mut begins: HashMap<(u64, u64), u64> = HashMap::new();
    for row in &mut rows {
        let Some(boxed) = row.boxed else { continue };
        match row.port.as_str() {
            "call" | "redo" => _ = begins.insert((row.stream, boxed), row.running),
            "exit_det" | "exit_nondet" | "fail" | "exception" => {
                row.took = begins
                    .get(&(row.stream, boxed))
                    .map(|began| row.running - began);
            }
            _ => {}
        }
    }
    rows
}

type Holds = Box<dyn Fn(&Row) -> bool>;

/// Always the same random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

fn compare(
    dice: &mut Dice,
    name: &str,
    limit: u64,
    get: fn(&Row) -> Option<u64>,
) -> (String, Holds) {
    match dice.roll(7) {
        0 => (
            format!("{name} = {limit}"),
            Box::new(move |row| get(row) == Some(limit)),
        ),
        1 => (
            format!("{name} != {limit}"),
            Box::new(move |row| get(row).is_some_and(|value| value != limit)),
        ),
        2 => (
            format!("{name} < {limit}"),
            Box::new(move |row| get(row).is_some_and(|value| value < limit)),
        ),
        3 => (
            format!("{name} <= {limit}"),
            Box::new(move |row| get(row).is_some_and(|value| value <= limit)),
        ),
        4 => (
            format!("{name} > {limit}"),
            Box::new(move |row| get(row) > Some(limit)),
        ),
        5 => (
            format!("{name} >= {limit}"),
            Box::new(move |row| get(row) >= Some(limit)),
        ),
        _ => (
            format!("{name} = {limit}..{}", limit + limit / 2),
            Box::new(move |row| {
                get(row).is_some_and(|value| (limit..=limit + limit / 2).contains(&value))
            }),
        ),
    }
}

/// A condition, and what it means. Times are compared only where rounding does not matter.
fn condition(dice: &mut Dice, rows: &[Row], depth: usize) -> (String, Holds) {
    if depth > 0 && dice.roll(3) > 0 {
        let (left, is_left) = condition(dice, rows, depth - 1);
        if dice.roll(4) == 0 {
            return (format!("not ({left})"), Box::new(move |row| !is_left(row)));
        }
        let (right, is_right) = condition(dice, rows, depth - 1);
        return match dice.roll(2) {
            0 => (
                format!("({left}) and ({right})"),
                Box::new(move |row| is_left(row) && is_right(row)),
            ),
            _ => (
                format!("({left} or {right})"),
                Box::new(move |row| is_left(row) || is_right(row)),
            ),
        };
    }
    let some = &rows[dice.roll(rows.len())];
    match dice.roll(10) {
        0 => compare(dice, "event", some.seq, |row| Some(row.seq)),
        1 => compare(dice, "time", some.ns, |row| Some(row.ns)),
        2 => compare(dice, "depth", some.depth.unwrap_or(3), |row| row.depth),
        3 => compare(dice, "box", some.boxed.unwrap_or(9), |row| row.boxed),
        4 => compare(dice, "parent", some.parent.unwrap_or(9), |row| row.parent),
        5 => compare(dice, "stream", some.stream, |row| Some(row.stream)),
        6 => {
            let (name, starts): (&str, &[&str]) = [
                ("call", &["call", "tail"][..]),
                ("tail", &["tail"]),
                ("exit", &["exit_det", "exit_nondet"]),
                ("exit_nondet", &["exit_nondet"]),
                ("redo", &["redo"]),
                ("fail", &["fail"]),
                ("exception", &["exception"]),
                ("cut", &["cut"]),
            ][dice.roll(8)];
            let is = |row: &Row| starts.contains(&row.port.as_str());
            match dice.roll(2) {
                0 => (format!("port = {name}"), Box::new(is)),
                _ => (format!("port != {name}"), Box::new(move |row| !is(row))),
            }
        }
        7 => {
            // Other characters have a meaning in patterns.
            let is_plain = |of: &str| {
                of.chars().all(|c| c.is_alphanumeric() || "_/".contains(c)) && of.contains('/')
            };
            let mut all = [some].into_iter().chain(rows).map(|row| &row.predicate);
            let name = all.find(|of| is_plain(of)).unwrap().clone();
            let letter = format!("{}*", &name[..1]);
            match dice.roll(2) {
                0 => (
                    format!("predicate = {name}"),
                    Box::new(move |row| row.predicate == name),
                ),
                _ => (
                    format!("predicate = user:{letter}"),
                    Box::new(move |row| {
                        row.predicate.starts_with(&letter[..1]) && !row.predicate.contains(':')
                    }),
                ),
            }
        }
        8 => {
            let name = ["exit_det", "fail", "exit_nondet", "exception"][dice.roll(4)];
            (
                format!("outcome = {name}"),
                Box::new(move |row| row.outcome == name),
            )
        }
        _ => {
            // A time that nothing took, by far enough.
            let mut took: Vec<u64> = rows.iter().filter_map(|row| row.took).collect();
            took.sort_unstable();
            let gaps = took.windows(2).filter(|pair| pair[1] - pair[0] > 8);
            let gaps: Vec<u64> = gaps.map(|pair| (pair[0] + pair[1]) / 2).collect();
            let limit = gaps[dice.roll(gaps.len())];
            match dice.roll(2) {
                0 => (
                    format!("took > {limit}"),
                    Box::new(move |row| row.took > Some(limit)),
                ),
                _ => (
                    format!("took < {limit}ns"),
                    Box::new(move |row| row.took.is_some_and(|took| took < limit)),
                ),
            }
        }
    }
}

/// Random conditions on recorded programs, with and without an index.
#[test]
fn conditions_hold_as_a_plain_evaluation_says() {
    let sandbox = Sandbox::new();
    let mut dice = Dice(16);
    let (mut some, mut none) = (0, 0);
    for trace in ["queens.pmt", "threads_exceptions.pmt", "debray1.pmt"] {
        let rows = table(trace);
        for _ in 0..40 {
            let (text, holds) = condition(&mut dice, &rows, 3);
            let answer = sandbox.portmortem([
                "events".as_ref(),
                sample(trace).as_os_str(),
                "--where".as_ref(),
                text.as_ref(),
                "--format".as_ref(),
                "csv".as_ref(),
            ]);
            let out = answer.succeeds().out();
            let found = csv::Reader::from_reader(out.as_bytes()).into_records();
            let found: Vec<(u64, u64, String)> = found
                .map(|row| row.unwrap())
                .map(|row| {
                    (
                        row[1].parse().unwrap(),
                        row[2].parse().unwrap(),
                        row[4].to_owned(),
                    )
                })
                .collect();
            let expected: Vec<_> = rows
                .iter()
                .filter(|row| holds(row))
                .map(|row| (row.stream, row.seq, row.port.clone()))
                .collect();
            assert_eq!(found.len(), expected.len(), "{trace}: {text}");
            assert_eq!(found, expected, "{trace}: {text}");
            match found.is_empty() {
                true => none += 1,
                false => some += 1,
            }
        }
    }
    assert!(
        some > 30 && none > 3,
        "{some} conditions held for events, {none} for none"
    );
}

#[test]
fn why_and_where() {
    let sandbox = Sandbox::new();
    let json = |rest: &[&str]| -> Vec<serde_json::Value> {
        let rest: Vec<&str> = rest.iter().copied().chain(["--format", "json"]).collect();
        let out = events(&sandbox, "queens.pmt", &rest).succeeds().out();
        out.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let failures = json(&[
        "--where",
        "port = fail and predicate = permute/3",
        "--count",
        "5",
    ]);
    assert_eq!(failures.len(), 5);
    for failure in failures {
        let cause = &json(&[
            "--from",
            &failure["cause_event"].to_string(),
            "--count",
            "1",
        ])[0];
        assert_eq!(
            (&cause["port"], &cause["predicate"]),
            (&"fail".into(), &failure["cause"])
        );
        assert!(cause["depth"].as_u64() > failure["depth"].as_u64());
    }
    let stacks = json(&["--where", "depth = 4", "--stack", "--count", "3"]);
    for row in stacks {
        let stack = row["stack"].as_array().unwrap();
        assert_eq!(stack.len(), 5, "{row}");
        assert_eq!(stack[0]["box"], row["box"]);
        assert_eq!(stack[1]["box"], row["parent"]);
        assert_eq!(stack[4]["predicate"], "main/0");
    }
}

#[test]
fn one_box_is_told_of() {
    let sandbox = Sandbox::new();
    let call = events(
        &sandbox,
        "queens.pmt",
        &[
            "--where",
            "port = call and predicate = permute/3 and port != tail",
            "--count",
            "1",
            "--format",
            "json",
        ],
    );
    let call: serde_json::Value = serde_json::from_str(&call.succeeds().out()).unwrap();
    let number = call["seq"].to_string();
    events(&sandbox, "queens.pmt", &["--box", &number])
        .succeeds()
        .shows(&format!("  box     {number} of permute/3\n"))
        .shows("  calls   ")
        .shows("  end     ");
    let rows = events(
        &sandbox,
        "queens.pmt",
        &["--box", &number, "--format", "csv"],
    );
    let out = rows.succeeds().out();
    let mut all = 0;
    for row in csv::Reader::from_reader(out.as_bytes()).into_records() {
        let row = row.unwrap();
        assert!(row[7] == number || row[8] == number, "{row:?}");
        all += 1;
    }
    assert!(all > 3);
    events(&sandbox, "queens.pmt", &["--box", "0"]).refuses("no event 0 is a call");
}

#[test]
fn errors_say_what_there_is() {
    let sandbox = Sandbox::new();
    for (condition, complaint) in [
        (
            "prot = call",
            "no column is called prot; did you mean port?",
        ),
        ("port = cal", "no port is called cal; did you mean call"),
        (
            "predicate = atack/3",
            "no predicate is called atack/3; did you mean attack/3",
        ),
        ("outcome = fails", "did you mean fail?"),
        ("site = nowhere.pl:3", "no site is called nowhere.pl:3"),
        ("depth > 1ms", "depth is a count"),
        ("event = 5..2", "ends before it begins"),
        ("port = call and", "a condition expected at the end"),
        ("(port = call", "`)` expected at the end"),
    ] {
        events(&sandbox, "queens.pmt", &["--where", condition]).refuses(complaint);
    }
    events(&sandbox, "queens.pmt", &["--stream", "7"]).refuses("has no stream 7");
}

#[test]
fn lines_fit_and_pages_follow_each_other() {
    let sandbox = Sandbox::new();
    for trace in ["queens.pmt", "threads_exceptions.pmt", "metainterp.pmt"] {
        for rest in [&["--stack"][..], &["--where", "took >= 0"], &[]] {
            for line in events(&sandbox, trace, rest).succeeds().out().lines() {
                assert!(line.width() <= 80, "{trace}: {line}");
            }
        }
    }
    let page = |rest: &[&str]| {
        let rest: Vec<&str> = rest.iter().copied().chain(["--format", "csv"]).collect();
        events(&sandbox, "queens.pmt", &rest).succeeds().out()
    };
    let all = page(&["--count", "30"]);
    let (first, second) = (
        page(&["--count", "10"]),
        page(&["--from", "10", "--count", "20"]),
    );
    let rest = second.split_once('\n').map(|(_, rest)| rest).unwrap();
    assert_eq!(format!("{first}{rest}"), all);
    events(&sandbox, "queens.pmt", &["--count", "2"])
        .succeeds()
        .shows("… and more");
}
