//! The command line of `record`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::ProgramArgs;
use super::keep::{FIGURES_SIZE, KeepOption, KeepParser, large_at};
use crate::size::parse_size;

/// `portmortem record`
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  portmortem record program.pl                      the same run as `swipl program.pl`
  portmortem record program.pl input.txt 8          with arguments for the program
  portmortem record program.pl -- input.txt -v      the same, options among them
  portmortem record -- swipl -O -g main app.pl x    any command of SWI-Prolog, with its own options
  portmortem record -- ./script x y                 a script that begins with #!
  portmortem record -g main -o /tmp/run.pmt app.pl  one goal; the trace somewhere else
  portmortem record -g 'p(X)' --all --byrd db.pl    all solutions, Debray's figures
  portmortem record --libraries --exclude 'lists:*' app.pl
  portmortem record --arguments 'best_cut/2' app.pl  how often are calls repeated
  portmortem record --keep all app.pl               all events, also of a trace beyond 4 GB
  portmortem record --keep figures app.pl           figures of a run of any length, in 1 GB
  portmortem record --keep figures --keep-when 'took > 100ms and predicate = handle/2' app.pl
                                                    and the events around slow calls of that
  portmortem record --baseline app.pl               net times that add up to an unrecorded run
  portmortem record --tests app.plt                 run its tests; then: report --tests app.pmt

Patterns are `module:name/arity` with * and ?; parts may be left out: `name/arity`, `module:name`,
or one word, which is a module or a name.

At a terminal, the last line says where the trace is and what to type next. It is not said with --quiet,
or if standard error is no terminal; what is missing from the trace is said always.")]
pub(crate) struct RecordArgs {
    /// What is recorded
    #[command(flatten)]
    pub(crate) run: ProgramArgs,
    /// The trace to write (default: the program's name with .pmt, in the current directory). An
    /// older trace of that name is replaced
    #[arg(short, long, value_name = "TRACE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file even if it is not a trace
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not say at the end where the trace is and what to type next
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Record only these predicates or modules, with the built-in and library predicates that they
    /// call directly (may be given more than once)
    #[arg(long, value_name = "GLOB")]
    pub(crate) include: Vec<String>,
    /// Leave out these predicates or modules: their time goes to their callers
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Leave out the built-in and library predicates that the program calls directly: their time
    /// goes to their callers
    #[arg(long)]
    pub(crate) no_boundary: bool,
    /// Record which clause of each predicate is entered, for `report --clauses` (up to half as slow
    /// again)
    #[arg(long, conflicts_with_all = ["byrd", "symbolic"])]
    pub(crate) clauses: bool,
    /// Of these predicates, record a hash of the arguments of each call, and the sizes of the first
    /// four, for the tables `arguments` and `sizes` (may be given more than once; recorded with
    /// ports)
    #[arg(long = "arguments", value_name = "GLOB", conflicts_with = "symbolic")]
    pub(crate) keep_arguments: Vec<String>,
    /// Of these predicates, record a hash and the size of each argument at calls and exits, for the
    /// table `argument_values` (may be given more than once; the first 2,048 calls of a goal, then
    /// some)
    #[arg(long = "values", value_name = "GLOB", conflicts_with_all = ["symbolic", "byrd", "no_tail", "ports"])]
    pub(crate) keep_values: Vec<String>,
    /// Give each test of plunit figures of its own, for `report --tests`; run the tests of FILE.pl
    /// if no goal is given. A goal with `run_tests` means it, too
    #[arg(long, conflicts_with_all = ["byrd", "symbolic", "no_tail", "ports", "wrappers_only"])]
    pub(crate) tests: bool,
    /// Record library predicates too
    #[arg(long)]
    pub(crate) libraries: bool,
    /// Record built-in predicates too, if they can be wrapped
    #[arg(long)]
    pub(crate) builtins: bool,
    /// Make every exit re-enterable, as in Debray's paper (slow; for small programs; recorded with
    /// ports)
    #[arg(long, conflicts_with = "builtins")]
    pub(crate) byrd: bool,
    /// Count symbolic costs: unfoldings, clauses tried, variables bound, cells built … (slow;
    /// recorded with ports)
    #[arg(long)]
    pub(crate) symbolic: bool,
    /// Run the program again afterwards, hardly recorded, so that net times add up to an unrecorded
    /// run. All its effects happen again; only its output is put away
    #[arg(long, conflicts_with_all = ["symbolic", "max_size"])]
    pub(crate) baseline: bool,
    /// Give every last call a box of its own (recursion then needs memory for its depth; recorded
    /// with ports)
    #[arg(long)]
    pub(crate) no_tail: bool,
    /// Put no ports at the goals of clauses: slower, and without sites. For engines where that goes
    /// wrong, and to compare
    #[arg(long, hide = true)]
    pub(crate) wrappers_only: bool,
    /// Record with ports in copies of clauses, as engines need whose instructions are not known:
    /// slower, and a copy is not always its predicate
    #[arg(long)]
    pub(crate) ports: bool,
    /// Write no index (TRACE.index) beside a trace of more than 10 MB; later commands then take
    /// longer to begin
    #[arg(long)]
    pub(crate) no_index: bool,
    /// Limit the size of the trace, e.g. 500M or 2G
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_size: Option<u64>,
    /// What to keep when the limit is reached, or the trace becomes large; with --max-size it is
    /// first
    #[arg(
        long,
        value_parser = KeepParser,
        default_value = "auto",
        requires_ifs = [("first", "max_size"), ("last", "max_size")],
        conflicts_with = "baseline"
    )]
    pub(crate) keep: KeepOption,
    /// Keep events around those that this holds for, too, if only figures are kept of others: as
    /// `events --where` reads it
    #[arg(long, value_name = "CONDITION", conflicts_with = "baseline")]
    pub(crate) keep_when: Option<String>,
    /// Fold events with a lower priority: 19 leaves all processors to programs that want them
    #[arg(long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u8).range(0..=19))]
    pub(crate) nice: u8,
}

impl RecordArgs {
    /// Whether the figures of all events are kept, and the newest events only.
    pub(crate) fn keeps_figures(&self) -> bool {
        matches!(self.keep, KeepOption::Figures(_))
    }

    /// The limit of the trace in bytes, if it has one.
    pub(crate) fn limit(&self) -> Option<u64> {
        match self.keep {
            KeepOption::Figures(size) => Some(size.or(self.max_size).unwrap_or(FIGURES_SIZE)),
            KeepOption::Auto(_) | KeepOption::All | KeepOption::First | KeepOption::Last => {
                self.max_size
            }
        }
    }

    /// With what `auto` is for a trace at this path. A trace that has a limit keeps its first part,
    /// and one of which more is to be kept than there are folded figures of all of it.
    pub(crate) fn decided(&self, trace: &Path) -> Self {
        let keep = match self.keep {
            KeepOption::Auto(_) if self.max_size.is_some() => KeepOption::First,
            KeepOption::Auto(_) if self.baseline || self.needs_events() => KeepOption::All,
            KeepOption::Auto(None) => KeepOption::Auto(Some(large_at(trace))),
            keep => keep,
        };
        Self {
            keep,
            ..self.clone()
        }
    }

    /// Whether something is recorded whose figures can only be made of all events.
    pub(crate) fn needs_events(&self) -> bool {
        self.clauses || !self.keep_arguments.is_empty() || !self.keep_values.is_empty()
    }
}
