//! What to do about a slow program: findings, each with what it costs, the evidence in numbers, and what to change.
//!
//! A cause that is looked for is a file here. It reads figures that were made already and gives findings, and knows nothing of the others.
//! What a finding costs is time that a change of the program may save, no more; findings overlap, so their costs do not sum to anything.

mod again;
mod asked_again;
mod asserted_again;
mod awaited;
mod change;
mod chr_scans;
mod chr_text;
mod clause_text;
mod collected;
mod come_through;
mod comparisons;
mod computed_again;
mod copied;
mod copied_whole;
mod creeping;
mod effects;
mod engine_memory;
mod evidence;
mod exceptions;
mod failing_late;
mod filled_again;
mod first_only;
mod flushes;
mod generated;
mod generators;
mod gives_way;
mod gone_over;
mod growing;
mod hottest;
mod ignored;
mod labelled_before;
mod labelled_first;
mod libraries;
mod long_numbers;
mod many_answers;
mod many_tables;
mod may_repeat;
mod name_patterns;
mod opened_again;
mod pages;
mod power_modulo;
mod prefixes;
mod read_again;
mod repeats;
mod rounds;
mod same_solutions;
mod source;
mod suspects;
mod table_keys;
mod table_sums;
#[cfg(test)]
mod tests;
mod text_keys;
mod to_and_fro;
mod unprinted_text;
mod useless_argument;
mod variable_order;
mod waiting;
mod walked;

use std::cmp::Reverse;

use serde::Serialize;

use crate::Analysis;
use crate::trace::{PredicateIndex, Trace};
pub use change::{
    Change, ChangeSubject, ClauseLine, ConjunctionGoal, WrittenPredicate, changes, collected, state,
};
pub use effects::Dependence;
use evidence::Evidence;
pub use ignored::Ignored;
pub use suspects::suspects;

/// A cause of lost time that is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Unused choicepoints are left, and memory is short.
    UnusedChoicepoints,
    /// Collections and stack shifts, with no such choicepoints.
    Memory,
    /// Most of what a goal generates is rejected by a later goal or test.
    Generator,
    /// Calls have the same solution several times.
    SameSolutions,
    /// A goal fails after costly ones that did not need to come first (Debray 1988, section 4).
    FailingLate,
    /// Clauses begin with the same goal, which is done again in each.
    RepeatedPrefix,
    /// A thread waits for a mutex, a message, input or another thread.
    Waiting,
    /// Work was thrown away by exceptions.
    Exceptions,
    /// Calls of a goal take longer and longer.
    GrowingCalls,
    /// Calls were made before with the same arguments.
    RepeatedCalls,
    /// Calls that had the same solutions before.
    RepeatedSolutions,
    /// Facts that are all removed and stored again.
    AssertedAgain,
    /// An argument makes no difference to results.
    UselessArgument,
    /// A term is turned into another one and back.
    ToAndFro,
    /// A tabled predicate keeps an answer for each way to a result.
    ManyAnswers,
    /// A tabled predicate fills tables for its own calls alone.
    ManyTables,
    /// Tables that were thrown away are filled again.
    FilledAgain,
    /// A tabled predicate is called with large terms.
    TableKeys,
    /// An argument of a tabled predicate carries a sum.
    SumsInTables,
    /// Calls may repeat one another; the trace does not say whether they do.
    MayRepeat,
    /// All solutions are collected to see whether there is one.
    CollectedToTest,
    /// All solutions are collected, and the first one is used.
    CollectedForFirst,
    /// Output is flushed again and again.
    Flushes,
    /// Files or terms are read or parsed again and again.
    ReadAgain,
    /// A file is opened again and again to write into it.
    OpenedAgain,
    /// A list is gone over in each round of a loop.
    WalkedAgain,
    /// Each round of a loop begins at the root of its data.
    BeginsAgain,
    /// Data is copied at each call.
    CopiedData,
    /// The key of an element is computed at each comparison of a sort.
    ComputedInComparison,
    /// A text is made of a term to look something up by it.
    TextKeys,
    /// Text is made for messages that are not printed.
    UnprintedText,
    /// A large power is computed as a whole, and reduced then.
    PowerModulo,
    /// Numbers grow long in a loop.
    LongNumbers,
    /// Constraint variables are given values before the constraints are posted.
    LabelledFirst,
    /// Constraint variables are given values in the order in which they are written.
    VariableOrder,
    /// Propagators narrow domains step by step.
    CreepingPropagation,
    /// Constraint handling rules go through all constraints, without an index.
    ChrScans,
    /// No cause, but where most of the work is.
    Hottest,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 38] = [
        Self::UnusedChoicepoints,
        Self::Memory,
        Self::Generator,
        Self::SameSolutions,
        Self::FailingLate,
        Self::RepeatedPrefix,
        Self::Waiting,
        Self::Exceptions,
        Self::GrowingCalls,
        Self::RepeatedCalls,
        Self::RepeatedSolutions,
        Self::AssertedAgain,
        Self::UselessArgument,
        Self::ToAndFro,
        Self::ManyAnswers,
        Self::ManyTables,
        Self::FilledAgain,
        Self::TableKeys,
        Self::SumsInTables,
        Self::MayRepeat,
        Self::CollectedToTest,
        Self::CollectedForFirst,
        Self::Flushes,
        Self::ReadAgain,
        Self::OpenedAgain,
        Self::WalkedAgain,
        Self::BeginsAgain,
        Self::CopiedData,
        Self::ComputedInComparison,
        Self::TextKeys,
        Self::UnprintedText,
        Self::PowerModulo,
        Self::LongNumbers,
        Self::LabelledFirst,
        Self::VariableOrder,
        Self::CreepingPropagation,
        Self::ChrScans,
        Self::Hottest,
    ];

    /// Its stable name, which a page of docs/advice has, too.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::UnusedChoicepoints => "unused-choicepoints",
            Self::Memory => "memory",
            Self::Generator => "generator",
            Self::SameSolutions => "same-solutions",
            Self::FailingLate => "failing-late",
            Self::RepeatedPrefix => "repeated-prefix",
            Self::Waiting => "waiting",
            Self::Exceptions => "exceptions",
            Self::GrowingCalls => "growing-calls",
            Self::RepeatedCalls => "repeated-calls",
            Self::RepeatedSolutions => "repeated-solutions",
            Self::AssertedAgain => "asserted-again",
            Self::UselessArgument => "useless-argument",
            Self::ToAndFro => "to-and-fro",
            Self::ManyAnswers => "many-answers",
            Self::ManyTables => "many-tables",
            Self::FilledAgain => "filled-again",
            Self::TableKeys => "table-keys",
            Self::SumsInTables => "sums-in-tables",
            Self::MayRepeat => "may-repeat",
            Self::CollectedToTest => "collected-to-test",
            Self::CollectedForFirst => "collected-for-first",
            Self::Flushes => "flushes",
            Self::ReadAgain => "read-again",
            Self::OpenedAgain => "opened-again",
            Self::WalkedAgain => "walked-again",
            Self::BeginsAgain => "begins-again",
            Self::CopiedData => "copied-data",
            Self::ComputedInComparison => "computed-in-comparison",
            Self::TextKeys => "text-keys",
            Self::UnprintedText => "unprinted-text",
            Self::PowerModulo => "power-modulo",
            Self::LongNumbers => "long-numbers",
            Self::LabelledFirst => "labelled-first",
            Self::VariableOrder => "variable-order",
            Self::CreepingPropagation => "creeping-propagation",
            Self::ChrScans => "chr-scans",
            Self::Hottest => "hottest",
        }
    }

    /// The cause of that name.
    ///
    /// # Errors
    /// If there is none; the text lists those that there are.
    pub fn named(name: &str) -> Result<Self, String> {
        let cause = Self::ALL.into_iter().find(|cause| cause.name() == name);
        cause.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("no finding is named {name}; there are {names}")
        })
    }

    /// Whether the changes that can be made mechanically are what it asks for, so that it is
    /// refuted with them. Some ask for more: to generate less is more than to test earlier, what
    /// alternatives have in common can be factored out where a table does not help, and solutions
    /// can be collected where a table changes their order.
    #[must_use]
    pub fn is_mended_by_changes(self) -> bool {
        !matches!(
            self,
            Self::Generator | Self::RepeatedPrefix | Self::RepeatedSolutions | Self::Hottest
        )
    }

    /// Its page, as Markdown.
    #[must_use]
    pub fn page(self) -> &'static str {
        pages::of(self)
    }
}

/// How far the trace proves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Something that the trace does not say must be checked in the program.
    ToCheck,
    /// What happened is counted; how much a change saves is not known.
    Likely,
    /// What happened and what it cost is counted.
    Counted,
}

impl Certainty {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ToCheck => "to check",
            Self::Likely => "likely",
            Self::Counted => "counted",
        }
    }
}

/// A goal or predicate of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AdvisedPlace {
    /// Indicator of the predicate whose clause it is.
    pub predicate: String,
    /// Source file as the trace names it.
    pub file: Option<String>,
    /// Line of the goal, or of the first clause.
    pub line: Option<u32>,
}

/// What another recording of the program must keep, so that less of a finding is in doubt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Hashes and sizes of the arguments of a predicate, by its indicator.
    Arguments(String),
    /// Hashes and sizes of the arguments of a predicate at calls and exits, by its indicator.
    Values(String),
    /// The clauses that are entered.
    Clauses,
    /// The calls of libraries among themselves.
    Libraries,
    /// Times of unrecorded runs.
    Baseline,
}

impl Need {
    /// The options of `portmortem record`.
    #[must_use]
    pub fn options(&self) -> Vec<&str> {
        match self {
            Self::Arguments(predicate) => vec!["--arguments", predicate],
            Self::Values(predicate) => vec!["--values", predicate],
            Self::Clauses => vec!["--clauses"],
            Self::Libraries => vec!["--libraries"],
            Self::Baseline => vec!["--baseline"],
        }
    }

    /// What it is, in words that hold for any recorder.
    fn in_words(&self) -> String {
        match self {
            Self::Arguments(predicate) => format!("the arguments of {predicate}"),
            Self::Values(predicate) => format!("the values of arguments of {predicate}"),
            Self::Clauses => "the clauses that are entered".to_owned(),
            Self::Libraries => "the calls of libraries among themselves".to_owned(),
            Self::Baseline => "the times of unrecorded runs".to_owned(),
        }
    }
}

/// Whether `portmortem record` makes traces of the engine of this one, so that hints can name its
/// options.
#[must_use]
pub fn has_record_options(trace: &Trace) -> bool {
    let known = libraries::of_engine(&trace.header().engine);
    known.remedies.names_options()
}

/// A hint that names options of `portmortem record`; nothing if they are none of the trace's
/// engine.
#[must_use]
pub fn record_hint<'h>(trace: &Trace, hint: &'h str) -> &'h str {
    match has_record_options(trace) {
        true => hint,
        false => "",
    }
}

/// Something that costs time, and what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub cause: Cause,
    /// Where it is.
    pub place: AdvisedPlace,
    /// Ticks that go at most if it is mended.
    pub cost_ticks: u64,
    /// How far the trace proves it.
    pub certainty: Certainty,
    /// It in a line.
    pub title: String,
    /// Sentences with the numbers.
    pub evidence: String,
    /// What to change.
    pub remedy: String,
    /// The predicates whose report shows the evidence.
    pub predicates: Vec<PredicateIndex>,
    /// What another recording must keep to say more of it.
    pub needs: Vec<Need>,
}

impl Finding {
    /// Whether its cost is some of the work. Waiting and collections are beside that.
    fn is_work(&self) -> bool {
        !matches!(
            self.cause,
            Cause::Waiting | Cause::Memory | Cause::UnusedChoicepoints
        )
    }

    /// What its cost is a part of, in ticks: the work of what is looked at, and itself, if it is
    /// beside that.
    #[must_use]
    pub fn whole_ticks(&self, work_ticks: u64) -> u64 {
        let beside = if self.is_work() { 0 } else { self.cost_ticks };
        work_ticks.saturating_add(beside)
    }

    /// Its place among others, before what they cost: what is not known to be a fault of the
    /// program comes later, and what is none last.
    #[must_use]
    pub fn rank(&self) -> u8 {
        match self.cause {
            Cause::Hottest => 3,
            Cause::MayRepeat | Cause::VariableOrder => 2,
            Cause::Memory | Cause::BeginsAgain if !self.needs.is_empty() => 2,
            _ => 0,
        }
    }
}

/// All findings that cost at least `least` percent of the work, the costliest first. What may be a
/// fault of the program but for evidence that
/// was not recorded comes later, and the goal with most of the work last, whatever it costs: so
/// there is an answer wherever something ran.
/// The events may be read for it: ask [`crate::Trace::check_whole`] before they are shown.
#[must_use]
pub fn findings(analysis: &Analysis, least: f64) -> Vec<Finding> {
    let evidence = Evidence::of(analysis);
    let looked_for: [fn(&Evidence) -> Vec<Finding>; 41] = [
        asked_again::find,
        asserted_again::find,
        chr_scans::find,
        collected::find,
        comparisons::find,
        computed_again::find,
        copied::find,
        copied_whole::find,
        creeping::find,
        engine_memory::find,
        exceptions::find,
        failing_late::find,
        filled_again::find,
        first_only::find,
        flushes::find,
        generators::find,
        gone_over::find,
        growing::find,
        hottest::find,
        labelled_before::find,
        labelled_first::find,
        long_numbers::find,
        many_answers::find,
        many_tables::find,
        may_repeat::find,
        power_modulo::find,
        prefixes::find,
        opened_again::find,
        read_again::find,
        repeats::find,
        rounds::find,
        same_solutions::find,
        table_keys::find,
        table_sums::find,
        text_keys::find,
        to_and_fro::find,
        unprinted_text::find,
        useless_argument::find,
        variable_order::find,
        waiting::find,
        walked::find,
    ];
    let mut all: Vec<Finding> = looked_for.iter().flat_map(|find| find(&evidence)).collect();
    gives_way::to_causes(&evidence, &mut all);
    let is_worth_it = |finding: &Finding| {
        let whole = finding.whole_ticks(evidence.total_ticks).max(1);
        let share = finding.cost_ticks as f64 / whole as f64;
        let is_costly = share * 100.0 >= least || finding.cause == Cause::Hottest;
        finding.cost_ticks > 0 && is_costly
    };
    // Times of calls inside one another are counted with each of them.
    for one in all.iter_mut().filter(|one| one.is_work()) {
        one.cost_ticks = one.cost_ticks.min(evidence.total_ticks);
    }
    all.retain(|one| !ignored::in_source(analysis, one) && is_worth_it(one));
    gives_way::to_what_is_shown(&evidence, &mut all);
    let mut findings = all;
    findings.sort_by_key(|finding| {
        (
            finding.rank(),
            Reverse(finding.cost_ticks),
            Reverse(finding.certainty),
        )
    });
    // Two goals of one line that say the same are one finding.
    let mut seen: Vec<(Cause, AdvisedPlace, String)> = Vec::new();
    findings.retain(|one| {
        let said = (one.cause, one.place.clone(), one.title.clone());
        let is_new = !seen.contains(&said);
        if is_new {
            seen.push(said);
        }
        is_new
    });
    findings
}
