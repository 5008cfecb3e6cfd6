//! What it costs to prepare a program for its recording: time and memory for each clause that is loaded.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Best of so many runs, unrecorded and recorded in turn.
const ROUNDS: usize = 3;

/// Clauses of each program; the second figure shows whether work grows with them or with their square.
const SIZES: [u32; 2] = [2_500, 10_000];

/// The text of a clause and what belongs to it, by its number.
type Text = fn(u32) -> String;

/// What each program is made of.
const PROGRAMS: [(&str, Text); 3] = [
    ("facts", |n| format!("fact{n}(a, {n}).\n")),
    ("rules", |n| {
        format!(
            "rule{n}(X, Y) :- base(X, Z), ( Z > {n} -> base(Z, Y) ; findall(W, base(X, W), L), sumlist(L, Y) ).\n"
        )
    }),
    ("directives", |n| {
        format!("rule{n}(X, Y) :- base(X, Y).\n:- \\+ rule{n}(a, b).\n")
    }),
];

/// Prints what recorded runs take more than unrecorded ones, for each clause.
pub(crate) fn measure(directory: &Path) -> Result<()> {
    println!(
        "\n{:<20}{:>9}{:>12}{:>12}{:>14}{:>15}",
        "set-up", "clauses", "untraced s", "traced s", "µs a clause", "bytes a clause"
    );
    for (name, clause) in PROGRAMS {
        let none = Added::by(directory, 0, clause)?;
        for size in SIZES {
            let added = Added::by(directory, size, clause)?;
            let each = |all: f64, start: f64| (all - start) / f64::from(size);
            println!(
                "{name:<20}{size:>9}{:>12.2}{:>12.2}{:>14.1}{:>15.0}",
                added.unrecorded.seconds,
                added.recorded.seconds,
                each(added.seconds(), none.seconds()) * 1e6,
                each(added.bytes(), none.bytes())
            );
        }
    }
    Ok(())
}

struct Added {
    unrecorded: Cost,
    recorded: Cost,
}

impl Added {
    fn by(directory: &Path, size: u32, clause: fn(u32) -> String) -> Result<Self> {
        let costs = directory.join("costs");
        let program = directory.join("setup.pl");
        let clauses: String = (1..=size).map(clause).collect();
        let text = format!(
            ":- initialization(main, main).
             main :- open('/proc/self/status', read, In), read_string(In, _, Status), close(In),
                     sub_string(Status, Before, _, _, \"VmHWM:\"), !, Start is Before+6,
                     sub_string(Status, Start, 12, _, Peak0), normalize_space(string(Peak), Peak0),
                     statistics(process_cputime, Seconds),
                     open('{}', write, Out), format(Out, '~w ~w~n', [Seconds, Peak]), close(Out).
             base(X, X).
             {clauses}",
            costs.display()
        );
        fs::write(&program, text)?;
        let portmortem = std::env::current_exe()?.with_file_name("portmortem");
        let portmortem = portmortem.display().to_string();
        let trace = directory.join("setup.pmt").display().to_string();
        let record = [&portmortem, "record", "--force", "-o", &trace];
        let mut best = Self {
            unrecorded: Cost::MOST,
            recorded: Cost::MOST,
        };
        for _ in 0..ROUNDS {
            best.unrecorded
                .lower_to(&Cost::of(&["swipl"], &program, &costs)?);
            best.recorded
                .lower_to(&Cost::of(&record, &program, &costs)?);
        }
        Ok(best)
    }

    fn seconds(&self) -> f64 {
        self.recorded.seconds - self.unrecorded.seconds
    }

    fn bytes(&self) -> f64 {
        self.recorded.bytes - self.unrecorded.bytes
    }
}

/// Processor time of the engine's process until the program runs, and the most memory that it had by then.
struct Cost {
    seconds: f64,
    bytes: f64,
}

impl Cost {
    const MOST: Self = Self {
        seconds: f64::MAX,
        bytes: f64::MAX,
    };

    fn lower_to(&mut self, other: &Self) {
        self.seconds = self.seconds.min(other.seconds);
        self.bytes = self.bytes.min(other.bytes);
    }

    fn of(command: &[&str], program: &Path, costs: &Path) -> Result<Self> {
        let _ = fs::remove_file(costs);
        let [name, arguments @ ..] = command else {
            bail!("no command");
        };
        let status = Command::new(name)
            .args(arguments)
            .arg(program)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .with_context(|| format!("cannot run {name}"))?;
        let text = fs::read_to_string(costs)
            .with_context(|| format!("{command:?} did not get to its end: {status}"))?;
        let mut figures = text.split_whitespace().map(str::parse::<f64>);
        let (Some(Ok(seconds)), Some(Ok(kibibytes))) = (figures.next(), figures.next()) else {
            bail!("not a time and a size: {text}");
        };
        Ok(Self {
            seconds,
            bytes: kibibytes * 1024.0,
        })
    }
}
