//! Changes of a program that can be made without understanding it. What a change does to the output
//! and the time, only a trial tells.

use super::chr_text::DeclaredConstraint;
use super::effects::Dependence;
use super::evidence::Evidence;
use super::{Cause, Finding, chr_scans, effects, libraries};
use crate::Analysis;
use crate::trace::PredicateIndex;

/// A predicate of the program and the file that its first clause is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenPredicate {
    /// Its name, without module.
    pub name: String,
    /// Number of its arguments.
    pub arity: u32,
    /// The file as the trace names it.
    pub file: String,
}

/// A goal in a conjunction, by what it calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConjunctionGoal {
    /// Name of the predicate that it calls.
    pub name: String,
    /// Number of arguments of that.
    pub arity: u32,
}

/// A clause, by one of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClauseLine {
    /// The file as the trace names it.
    pub file: String,
    /// A line of the clause, from 1.
    pub line: u32,
}

/// A mechanical change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// `:- table p/2.` before its first clause.
    Table(WrittenPredicate),
    /// A cut in each clause but the last, behind the tests that it begins with.
    CommitFirst(WrittenPredicate),
    /// A cut at the end of each clause but the last.
    CommitLast(WrittenPredicate),
    /// The first goal is called before the second one.
    Before(ClauseLine, ConjunctionGoal, ConjunctionGoal),
    /// The first goal is called directly behind the second one.
    Behind(ClauseLine, ConjunctionGoal, ConjunctionGoal),
    /// Comparisons and tests of types come as soon as their variables occurred.
    EarlyTests(ClauseLine),
    /// `\+ Goal` in place of all solutions of it that are only compared with none.
    Exists(ClauseLine),
    /// `once/1` in place of `findall/3`, of whose list the first element is used.
    First(ClauseLine),
    /// Constraint variables get values in the order, or in the steps, of this option of
    /// `labeling/2`.
    Labelled(ClauseLine, &'static str),
    /// Constraints, and these goals, come before the goal that gives their variables values.
    ConstraintsFirst(ClauseLine, ConjunctionGoal, Vec<ConjunctionGoal>),
    /// Constraints of rules are declared with arguments that are ground, and the rules are compiled
    /// with indexes.
    RuleModes(ClauseLine, Vec<(ConjunctionGoal, Vec<bool>)>),
    /// `once/1` around the goal.
    Once(ClauseLine, ConjunctionGoal),
    /// The argument that tells the clauses apart comes first, in the clauses and calls of a file.
    ArgumentFirst(WrittenPredicate),
    /// The goal is left out.
    Without(ClauseLine, ConjunctionGoal),
    /// The goal is left out to see what is saved if it costs nothing: no change to make.
    Free(ClauseLine, ConjunctionGoal),
}

/// What a change is made to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeSubject<'c> {
    /// All clauses of a predicate.
    Predicate(&'c WrittenPredicate),
    /// The clause at a line.
    Clause(&'c ClauseLine),
}

impl Change {
    /// The file that is changed, as the trace names it.
    #[must_use]
    pub fn file(&self) -> &str {
        match self.subject() {
            ChangeSubject::Predicate(of) => &of.file,
            ChangeSubject::Clause(at) => &at.file,
        }
    }

    /// What is changed.
    #[must_use]
    pub fn subject(&self) -> ChangeSubject<'_> {
        match self {
            Self::Table(of)
            | Self::CommitFirst(of)
            | Self::CommitLast(of)
            | Self::ArgumentFirst(of) => ChangeSubject::Predicate(of),
            Self::Before(at, ..)
            | Self::Behind(at, ..)
            | Self::EarlyTests(at)
            | Self::Exists(at)
            | Self::First(at)
            | Self::Labelled(at, _)
            | Self::ConstraintsFirst(at, ..)
            | Self::RuleModes(at, _)
            | Self::Once(at, _)
            | Self::Without(at, _)
            | Self::Free(at, _) => ChangeSubject::Clause(at),
        }
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Table(of) => write!(out, "table {}/{}", of.name, of.arity),
            Self::CommitFirst(of) => {
                let WrittenPredicate { name, arity, .. } = of;
                write!(
                    out,
                    "a cut behind the head and first tests of {name}/{arity}"
                )
            }
            Self::CommitLast(of) => {
                write!(
                    out,
                    "a cut at the end of clauses of {}/{}",
                    of.name, of.arity
                )
            }
            Self::Before(_, goal, of) => {
                let (name, arity) = (&goal.name, goal.arity);
                write!(out, "{name}/{arity} before {}/{}", of.name, of.arity)
            }
            Self::Behind(_, goal, of) => {
                let (name, arity) = (&goal.name, goal.arity);
                write!(
                    out,
                    "{name}/{arity} directly behind {}/{}",
                    of.name, of.arity
                )
            }
            Self::EarlyTests(at) => write!(out, "tests as early as possible at line {}", at.line),
            Self::Exists(at) => write!(out, "\\+ in place of findall/3 at line {}", at.line),
            Self::First(at) => write!(out, "once/1 in place of findall/3 at line {}", at.line),
            Self::Labelled(at, order) => {
                write!(out, "labeling([{order}], …) at line {}", at.line)
            }
            Self::ConstraintsFirst(at, ConjunctionGoal { name, arity }, _) => {
                write!(out, "constraints before {name}/{arity} at line {}", at.line)
            }
            Self::RuleModes(at, _) => write!(out, "modes of constraints at line {}", at.line),
            Self::Once(at, ConjunctionGoal { name, arity }) => {
                write!(out, "once/1 around {name}/{arity} at line {}", at.line)
            }
            Self::ArgumentFirst(WrittenPredicate { name, arity, .. }) => write!(
                out,
                "the argument that tells clauses of {name}/{arity} apart comes first"
            ),
            Self::Without(at, ConjunctionGoal { name, arity }) => {
                write!(out, "no {name}/{arity} at line {}", at.line)
            }
            Self::Free(at, ConjunctionGoal { name, arity }) => {
                write!(out, "{name}/{arity} at line {} for nothing", at.line)
            }
        }
    }
}

/// What may mend a finding, each by itself. None if a person must think.
#[must_use]
pub fn changes(analysis: &Analysis, finding: &Finding) -> Vec<Change> {
    let place = &finding.place;
    let spot = match (&place.file, place.line) {
        (Some(file), Some(line)) => Some(ClauseLine {
            file: file.clone(),
            line,
        }),
        _ => None,
    };
    let written = finding
        .predicates
        .iter()
        .filter_map(|&predicate| written(analysis, predicate));
    let goals = || -> Option<(ClauseLine, ConjunctionGoal, ConjunctionGoal)> {
        let [test, before] = finding.predicates.as_slice() else {
            return None;
        };
        Some((
            spot.clone()?,
            goal(analysis, *test)?,
            goal(analysis, *before)?,
        ))
    };
    let libraries = libraries::of_engine(&analysis.trace.header().engine);
    let has_tables = libraries.remedies.has_tables();
    let left_out = |change: fn(ClauseLine, ConjunctionGoal) -> Change| {
        let of = finding.predicates.first();
        let goal = of.and_then(|&of| goal(analysis, of))?;
        Some(change(spot.clone()?, goal))
    };
    match finding.cause {
        Cause::RepeatedCalls | Cause::RepeatedSolutions | Cause::MayRepeat => {
            let tabled = written.filter(|_| has_tables);
            tabled.map(Change::Table).collect()
        }
        Cause::RepeatedPrefix => {
            let tabled = written.take(1).filter(|_| has_tables);
            tabled.map(Change::Table).collect()
        }
        Cause::UnusedChoicepoints => {
            let own = written.flat_map(|of| {
                [
                    Change::CommitFirst(of.clone()),
                    Change::CommitLast(of.clone()),
                    Change::ArgumentFirst(of),
                ]
            });
            own.chain(commits(analysis, &finding.predicates)).collect()
        }
        Cause::VariableOrder => {
            let tried = libraries
                .constraints
                .map_or(&[][..], |library| library.tried);
            let of = |spot: ClauseLine| {
                let orders = tried.iter();
                orders.map(move |order| Change::Labelled(spot.clone(), order))
            };
            spot.into_iter().flat_map(of).collect()
        }
        Cause::LabelledFirst => {
            let mut goals = finding
                .predicates
                .iter()
                .filter_map(|&of| goal(analysis, of));
            let labelling = goals.next();
            let first = spot.zip(labelling);
            let first = first.map(|(spot, of)| Change::ConstraintsFirst(spot, of, goals.collect()));
            first.into_iter().collect()
        }
        Cause::ChrScans => {
            let modes = spot.map(|spot| (chr_scans::modes(analysis, &spot.file), spot));
            let modes = modes.filter(|(modes, _)| !modes.is_empty());
            let change = modes.map(|(modes, spot)| {
                let of = |(of, ground): (DeclaredConstraint, Vec<bool>)| {
                    let DeclaredConstraint { name, arity, .. } = of;
                    (ConjunctionGoal { name, arity }, ground)
                };
                Change::RuleModes(spot, modes.into_iter().map(of).collect())
            });
            change.into_iter().collect()
        }
        Cause::CollectedToTest => spot.map(Change::Exists).into_iter().collect(),
        Cause::CollectedForFirst => spot.map(Change::First).into_iter().collect(),
        Cause::Flushes => left_out(Change::Without).into_iter().collect(),
        Cause::Hottest => left_out(Change::Free).into_iter().collect(),
        Cause::FailingLate => goals()
            .map(|(spot, test, costly)| Change::Before(spot, test, costly))
            .into_iter()
            .collect(),
        Cause::Generator => {
            let mut all = Vec::new();
            if let Some((spot, test, generator)) = goals() {
                all.push(Change::Behind(
                    spot.clone(),
                    test.clone(),
                    generator.clone(),
                ));
                all.push(Change::Before(spot, test, generator));
            }
            all.extend(spot.map(Change::EarlyTests));
            all
        }
        _ => Vec::new(),
    }
}

/// `once/1` around the costliest calls of built-in and library predicates.
fn commits(analysis: &Analysis, predicates: &[PredicateIndex]) -> Vec<Change> {
    let evidence = Evidence::of(analysis);
    let foreign = predicates.iter().filter(|&&of| !evidence.is_of_program(of));
    let all = foreign.filter_map(|&of| {
        let site = evidence.costliest_goal(of)?;
        let spot = ClauseLine {
            file: site.file()?.to_owned(),
            line: site.line()?,
        };
        Some(Change::Once(spot, goal(analysis, of)?))
    });
    all.collect()
}

/// Where all solutions of a goal are collected, and how long that took, in ticks: perhaps only to
/// see whether there is one.
#[must_use]
pub fn collected(analysis: &Analysis) -> Vec<(Change, u64)> {
    let sites = analysis.tables().site_list();
    let all = sites.iter().filter_map(|site| {
        let callee = &analysis
            .trace
            .predicates()
            .get(site.callee as usize)?
            .declared;
        let is_findall = callee.name == "findall" && callee.arity == 3;
        let spot = ClauseLine {
            file: site.file()?.to_owned(),
            line: site.line()?,
        };
        is_findall.then_some((Change::Exists(spot), site.figures.served_work_ticks))
    });
    all.collect()
}

/// What the predicate depends on that a change tables. A table may keep an old answer, though one
/// input does not show it.
#[must_use]
pub fn state(analysis: &Analysis, change: &Change) -> Dependence {
    let Change::Table(of) = change else {
        return Dependence::None;
    };
    let evidence = Evidence::of(analysis);
    let tabled = analysis.predicate_in(&of.file, &of.name, of.arity);
    tabled.map_or(Dependence::None, |index| effects::state(&evidence, index))
}

fn goal(analysis: &Analysis, predicate: PredicateIndex) -> Option<ConjunctionGoal> {
    let declared = &analysis
        .trace
        .predicates()
        .get(predicate as usize)?
        .declared;
    Some(ConjunctionGoal {
        name: declared.name.clone(),
        arity: declared.arity,
    })
}

fn written(analysis: &Analysis, predicate: PredicateIndex) -> Option<WrittenPredicate> {
    let ConjunctionGoal { name, arity } = goal(analysis, predicate)?;
    let (file, _) = analysis.source(predicate)?;
    let of_engine = file.starts_with("engine:");
    (!of_engine).then(|| WrittenPredicate {
        name,
        arity,
        file: file.to_owned(),
    })
}
