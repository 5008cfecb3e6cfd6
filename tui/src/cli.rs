//! The command line: what can be asked, with examples. What is done about it is in
//! [`crate::commands`].

mod advise;
mod attach;
mod columns;
mod cut;
mod diff;
mod html;
mod keep;
mod pack;
mod predict;
mod program;
mod record;
mod same_files;
mod tables;
mod traces;
mod trial;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use tables::{ExportArgs, ExportFormat, QueryArgs, QueryFormat};

pub(crate) use advise::{AdviseArgs, AdviseFormat, USUAL_LEAST};
pub(crate) use attach::AttachArgs;
pub(crate) use columns::{AskedColumn, USUAL_SORT};
use columns::{parse_asked, parse_sort};
pub(crate) use cut::CutArgs;
pub(crate) use diff::{CompareBy, DiffArgs, Recordings};
pub(crate) use html::HtmlArgs;
pub(crate) use keep::KeepOption;
pub(crate) use pack::PackArgs;
pub(crate) use predict::{CalibrateArgs, PredictArgs, SizeOf};
pub(crate) use program::ProgramArgs;
pub(crate) use record::RecordArgs;
pub(crate) use same_files::named_twice;
pub(crate) use traces::{TracesArgs, TracesFormat};
pub(crate) use trial::{DiagnoseArgs, TrialArgs, TryArgs};

/// Record a Prolog program once and answer performance questions about it afterwards.
#[derive(Debug, Parser)]
#[command(name = "portmortem", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Threads to use (default: all processors).
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

const EXAMPLES: &str = "\
Examples:
  portmortem record program.pl              run it under SWI-Prolog, write program.pmt
  portmortem record -g 'queens(8,Q)' q.pl   run one goal of it
  portmortem report program.pmt             time, failures and backtracking by predicate
  portmortem tui program.pmt                the same and more, on screens
  portmortem report program.pmt --predicate 'lists:append/3'

Exit status: 0 done; 1 error; 2 usage; 3 done, but parts of the trace were lost or damaged.
`record` ends with the status of the program it ran.";

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a Prolog file under SWI-Prolog and write a trace of it
    Record(RecordArgs),
    /// Record a program that runs, for some seconds, and let it go on
    Attach(AttachArgs),
    /// Print the profile: predicates by time, then callers and callees of the hottest
    Report(ReportArgs),
    /// Say what to change: findings with evidence and numbers, the costliest first
    Advise(AdviseArgs),
    /// Make the changes that `advise` proposes, in memory, and say what they gain
    Try(TryArgs),
    /// Record, advise, record again what is in doubt, and try: one page on a program
    Diagnose(DiagnoseArgs),
    /// Explore a trace in the terminal
    Tui(TuiArgs),
    /// Describe traces: when and how they were recorded, their size, streams and losses
    #[command(after_help = "\
Examples:
  portmortem info run.pmt
  portmortem info 'runs/*.pmt'
  portmortem info run.pmt --format json | jq '.[0].events'")]
    Info(TracesArgs),
    /// Check traces: every checksum, every event, the conservation laws
    #[command(after_help = "\
Examples:
  portmortem verify run.pmt && echo whole
  portmortem verify 'runs/*.pmt' --format json

Exit status: 0 all are whole; 1 one cannot be read; 3 parts of one were lost or damaged.")]
    Verify(TracesArgs),
    /// Write the tables of one or many traces as files
    Export(ExportArgs),
    /// Write the call tree or the call graph for other viewers
    Graph(GraphArgs),
    /// Write one page for a browser: advice, profile, calls, flame graph, timeline, source
    Html(HtmlArgs),
    /// Print source files with figures beside their lines
    Annotate(AnnotateArgs),
    /// Answer a question in SQL about the tables of one or many traces
    Query(QueryArgs),
    /// List events: those that a condition holds for, with the boxes there and why they happened
    Events(EventsArgs),
    /// Compare two programs, or one before and after a change
    Diff(DiffArgs),
    /// Keep the figures of traces beside them, so that later analyses and the screens start at once
    #[command(after_help = "\
Examples:
  portmortem index run.pmt         writes run.pmt.index
  portmortem index runs/*.pmt

Traces of more than 10 MB need no such command: `record` writes their index at the end, and so does
any command that has to read all of one, if it can write to the directory of the trace.
An index that does not belong to the present trace is made again by the command that finds it.
A trace that is damaged, or whose recording did not end, has none.")]
    Index {
        /// The traces
        #[arg(required = true, value_name = "TRACE")]
        traces: Vec<PathBuf>,
    },
    /// Make a smaller file of a trace, for keeping and sending; every command reads it
    Pack(PackArgs),
    /// Make a trace of its own of a range of time, for sending what is of interest
    Cut(CutArgs),
    /// Measure the costs of the operations of a Prolog program on this machine
    Calibrate(CalibrateArgs),
    /// Predict times: on another machine, or for sizes of the input that were never run
    Predict(PredictArgs),
    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  portmortem completions bash > ~/.local/share/bash-completion/completions/portmortem
  portmortem completions fish > ~/.config/fish/completions/portmortem.fish
  portmortem completions zsh > ~/.zfunc/_portmortem")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write manual pages
    #[command(after_help = "\
Examples:
  portmortem manual ~/.local/share/man/man1
  man portmortem-record")]
    Manual {
        /// Where they are written
        directory: PathBuf,
    },
}

/// Which part of a trace to look at.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Hide predicates: their time goes to their callers, their callees appear below the callers
    #[arg(long, value_name = "GLOB")]
    pub(crate) hide: Vec<String>,
    /// Show only the work in boxes of this predicate
    #[arg(long, value_name = "GLOB")]
    pub(crate) focus: Option<String>,
    /// Show only this range of time since the beginning, e.g. 1.5ms..2s, ..2s or 2s..; ends may be
    /// texts of `pm_mark`, e.g. load..solve
    #[arg(long, value_name = "FROM..UNTIL")]
    pub(crate) time: Option<String>,
    /// Show only this stream, by its number or name (may be given more than once)
    #[arg(long, value_name = "STREAM")]
    pub(crate) stream: Vec<String>,
}

/// `portmortem report`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem report run.pmt                              hottest predicates, their callers and callees
  portmortem report run.pmt --sort fails --top 10
  portmortem report run.pmt --predicate attack/3         callers, itself, callees, slowest calls
  portmortem report run.pmt --columns predicate,calls,mean,max,growth --sort max
  portmortem report run.pmt --sites --top 10             which goal of which clause took the time
  portmortem report run.pmt --tests --sort calls         what each test of plunit did
  portmortem report run.pmt --hide 'maplist*' --hide call
  portmortem report run.pmt --focus solve/2 --time 1s..2s      one predicate in a range of time
  portmortem report run.pmt --time load..solve                 from pm_mark(load) to pm_mark(solve)
  portmortem report run.pmt --columns predicate,calls,events,undone --sort events
  portmortem report run.pmt --format csv --top 100 > profile.csv
  portmortem report run.pmt --format prolog > profile.pl       ?- [profile], predicates(…)

Text is as wide as the terminal, or as COLUMNS says; it has 80 columns where there is neither.")]
pub(crate) struct ReportArgs {
    /// The trace
    #[arg(required_unless_present = "columns")]
    pub(crate) trace: Option<PathBuf>,
    /// There is no second one: `diff` compares two
    #[arg(hide = true, value_name = "TRACE")]
    pub(crate) another: Option<PathBuf>,
    /// Column to sort by: numbers with the largest first, texts alphabetically. `time` is self, net
    /// where it is measured; of goals served, of clauses failed_ns
    #[arg(long, value_name = "COLUMN", default_value = USUAL_SORT, value_parser = parse_sort)]
    pub(crate) sort: &'static str,
    /// Number of predicates to show [default: 20 as text, else all]
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Columns of predicates to show, with commas between; `--columns help` lists them
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = parse_asked)]
    pub(crate) columns: Vec<AskedColumn>,
    /// Which part of the trace to look at
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Show waiting, loading, collections and the recorder's set-up, too; shares are of all time
    #[arg(long)]
    pub(crate) all: bool,
    /// Show only this predicate with its callers and callees, and how long its calls take
    #[arg(long, value_name = "GLOB")]
    pub(crate) predicate: Option<String>,
    /// Show the goals of clauses that made calls, those with the most served time first
    #[arg(long, conflicts_with = "columns")]
    pub(crate) sites: bool,
    /// Show the clauses that were entered, those with the most work in vain first; needs `record
    /// --clauses`
    #[arg(long, conflicts_with_all = ["columns", "sites"])]
    pub(crate) clauses: bool,
    /// Show the tests of plunit that ran, the slowest first; needs `record --tests`
    #[arg(long, conflicts_with_all = ["columns", "sites", "clauses", "predicate"])]
    pub(crate) tests: bool,
    /// Show which thread waited for which, where and for what, the longest time first
    #[arg(long, conflicts_with_all = ["columns", "sites", "clauses", "predicate", "tests"])]
    pub(crate) waits: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// `portmortem tui`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem tui run.pmt
  portmortem tui run.pmt --follow                     while it is being recorded
  portmortem tui after.pmt --before before.pmt        screen 0: what changed
  portmortem tui b1.pmt,b2.pmt --before a1.pmt,a2.pmt the same with the noise of times
  portmortem tui run.pmt --filter 'fails > 1k and self > 1ms'
  portmortem tui run.pmt --hide 'maplist*' --theme light

? shows all keys. Colours: --theme, or NO_COLOR.")]
pub(crate) struct TuiArgs {
    /// The trace; further recordings of the same program, with commas between, are only compared
    /// with --before
    #[arg(value_name = "TRACE", value_parser = diff::recordings())]
    pub(crate) trace: Recordings,
    /// Begin with this filter on the list of predicates: a word, ~regex, or a condition on its
    /// columns
    #[arg(long, value_name = "CONDITION")]
    pub(crate) filter: Option<String>,
    /// Follow a trace that is still being recorded: read it again and again until the recording
    /// ends
    #[arg(long)]
    pub(crate) follow: bool,
    /// Another recording to compare with, or several with commas between: screen 0 shows what
    /// changed since then
    #[arg(long, value_name = "TRACE", value_parser = diff::recordings())]
    pub(crate) before: Option<Recordings>,
    /// Which part of the trace to look at
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Colours
    #[arg(long = "theme", value_enum, default_value_t = Colours::Auto)]
    pub(crate) colours: Colours,
    /// Leave the mouse to the terminal
    #[arg(long)]
    pub(crate) no_mouse: bool,
}

/// Colours of the screens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colours {
    /// Colours that suit the terminal
    Auto,
    /// For a dark background
    Dark,
    /// For a light background
    Light,
    /// No colours
    None,
}

/// How a report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text for people
    Text,
    /// A table, all columns
    Csv,
    /// All tables, and all losses
    Json,
    /// The same as facts of ISO Prolog
    Prolog,
}

/// How a comparison or a prediction is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutcomeFormat {
    /// Text for people
    Text,
    /// A table, all columns
    Csv,
    /// All tables, and all losses
    Json,
}

/// `portmortem graph`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem graph run.pmt --format flamegraph -o run.svg                  for a browser
  portmortem graph run.pmt --format firefox -o run.json                    for https://profiler.firefox.com
  portmortem graph run.pmt --format speedscope -o run.speedscope.json      for https://www.speedscope.app
  portmortem graph run.pmt --format callgrind -o callgrind.out.run         for kcachegrind, callgrind_annotate
  portmortem graph run.pmt --format dot --min-percent 5 | dot -Tsvg > run.svg
  portmortem graph run.pmt --format pprof -o run.pb.gz                     for go tool pprof
  portmortem graph run.pmt --format perfetto --time 1s..1.1s -o run.pftrace    for https://ui.perfetto.dev
  portmortem graph run.pmt --format folded --metric undone --focus solve/2

callgrind and dot have the call graph, perfetto has the boxes in the order of time, and the others
have the call tree.
How many rows are folded or left out is said on standard error.")]
pub(crate) struct GraphArgs {
    /// The trace
    pub(crate) trace: PathBuf,
    /// File format
    #[arg(long, value_enum)]
    pub(crate) format: GraphFormat,
    /// The file to write, - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    /// The figure that sizes are of, in pprof the one that is shown first [default: net where it is
    /// measured, else self]
    #[arg(long, value_enum)]
    pub(crate) metric: Option<GraphMetric>,
    /// Show waiting, loading, collections and the recorder's set-up in flamegraph and pprof, too;
    /// other formats always have them
    #[arg(long)]
    pub(crate) all: bool,
    /// Fold rows with a smaller share, in percent; not of callgrind, pprof and perfetto [default:
    /// 0.1, of dot 1]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub(crate) min_percent: Option<f64>,
    /// Which part of the trace to look at
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// A format of `graph`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Folded stacks, a line each, for flamegraph.pl, inferno and others
    Folded,
    /// A flame graph: one SVG file that a browser can search and zoom
    Flamegraph,
    /// JSON for the Firefox Profiler
    Firefox,
    /// JSON for speedscope
    Speedscope,
    /// Callgrind's format, with files and lines
    Callgrind,
    /// pprof's format: all figures of the call tree, with files and lines
    Pprof,
    /// Perfetto's format: a timeline of streams with all boxes, failures and redos
    Perfetto,
    /// Graphviz
    Dot,
}

/// A figure of `graph`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphMetric {
    /// Self time as recorded
    #[value(name = "self")]
    SelfTime,
    /// Self time without the recorder's own
    Net,
    /// Time of work thrown away by backtracking, of folded and speedscope
    Undone,
    /// Port events, of folded and speedscope: the same on every run
    Events,
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let percent = text.parse().ok();
    percent
        .filter(|percent| (0.0..=100.0).contains(percent))
        .ok_or_else(|| "not a share from 0 to 100 percent".to_owned())
}

/// `portmortem annotate`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem annotate run.pmt                            all files with goals, most time first
  portmortem annotate run.pmt parser.pl
  portmortem annotate run.pmt --format html > run.html
  portmortem annotate run.pmt parser.pl --format json    for an editor (docs/editors.md)

A line has the calls that its goals made, and the time that they took. Where a predicate begins,
a line above says what it did itself.")]
pub(crate) struct AnnotateArgs {
    /// The trace
    pub(crate) trace: PathBuf,
    /// Only this source file
    #[arg(value_name = "FILE.pl")]
    pub(crate) file: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = AnnotateFormat::Text)]
    pub(crate) format: AnnotateFormat,
    /// Also print files that are neither in the program's directory nor the engine's libraries
    #[arg(long)]
    pub(crate) outside: bool,
    /// Which part of the trace to look at
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// A format of `annotate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnnotateFormat {
    /// Text; on a terminal, lines are cut at its width
    Text,
    /// One page, warm where the time went
    Html,
    /// Figures by line, without the text: for editors
    Json,
}

/// `portmortem events`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem events run.pmt                              the first events
  portmortem events run.pmt | less                       all of them
  portmortem events run.pmt --where 'port = fail and predicate = attack/3' --count 10 --stack
  portmortem events run.pmt --where 'port = call and took > 1ms'       long calls
  portmortem events run.pmt --where 'site = queens.pl:14 and outcome = fail'
  portmortem events run.pmt --where 'event = 100..200 and not (port = cut or depth > 5)'
  portmortem events run.pmt --box 1200                   all about one box
  portmortem events run.pmt --where 'predicate = lists:*' --format csv > lists.csv
  portmortem events run.pmt --stack --format prolog > events.pl

Conditions compare columns by = != < <= > >= with values or ranges, texts also by ~ and !~ with regular
expressions; `and`, `or`, `not` and ( ) connect them. Columns:
  event      number of the event in its stream     time     when: 1.5ms, 2s
  port       call (last calls, too), tail, exit (exit_det, exit_nondet), redo, fail, exception, cut, …
  predicate  as lists:append/3, or a pattern       depth    boxes around the box
  site       the goal that called the box, by line, FILE:LINE or FILE; goal, file and line are columns, too
  box        number of the event that called it    parent   the box around it
  outcome    how the activation ends that a call or redo begins: exit, fail, exception, open, lost
  took       how long that takes                   stream   number of the thread or engine
  count, text, clause                              of cuts and gaps, marks, clauses

On a terminal the first 40 events are printed unless --count says otherwise; into a pipe or file, all. Streams come one after the other.
A failure says which goal in it failed last, a redo whose failure caused it, an exception who raised and who
caught it. With an index (`portmortem index`) traces are read in parallel.")]
pub(crate) struct EventsArgs {
    /// The trace
    pub(crate) trace: PathBuf,
    /// Only events that this condition holds for
    #[arg(long = "where", value_name = "COND")]
    pub(crate) condition: Option<String>,
    /// Only events of this box, named by the event that called it, and of those that it calls
    #[arg(long = "box", value_name = "EVENT")]
    pub(crate) boxed: Option<u64>,
    /// Begin with the event of this number
    #[arg(
        long,
        value_name = "EVENT",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(crate) from: u64,
    /// Number of events to print [default: 40 as text on a terminal, else all]
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
    /// Print the boxes that are active at each event
    #[arg(long)]
    pub(crate) stack: bool,
    /// Only this stream, by its number or name (may be given more than once)
    #[arg(long, value_name = "STREAM")]
    pub(crate) stream: Vec<String>,
    /// Only this range of time since the beginning, e.g. 1.5ms..2s, ..2s or 2s..; ends may be texts
    /// of `pm_mark`
    #[arg(long, value_name = "FROM..UNTIL")]
    pub(crate) time: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = EventFormat::Text)]
    pub(crate) format: EventFormat,
}

/// How events are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    /// A line for each
    Text,
    /// Comma-separated values, all columns
    Csv,
    /// An object per line
    Json,
    /// Facts of ISO Prolog, named event
    Prolog,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read() {
        assert_eq!(parse_percent("0.5"), Ok(0.5));
        for text in ["", "x", "-1", "101", "NaN"] {
            assert!(parse_percent(text).is_err(), "{text}");
        }
    }
}
