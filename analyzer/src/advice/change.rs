//! Changes of a program that can be made without understanding it. What a change does to the output
//! and the time, only a
//! trial tells.

use super::evidence::Evidence;
use super::{Cause, Finding, source};
use crate::Analysis;
use crate::trace::PredicateIndex;

/// A predicate of the program and the file that its first clause is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its name, without module.
    pub name: String,
    /// Number of its arguments.
    pub arity: u32,
    /// The file as the trace names it.
    pub file: String,
}

/// A goal in a conjunction, by what it calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// Name of the predicate that it calls.
    pub name: String,
    /// Number of arguments of that.
    pub arity: u32,
}

/// A clause, by one of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// The file as the trace names it.
    pub file: String,
    /// A line of the clause, from 1.
    pub line: u32,
}

/// A mechanical change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// `:- table p/2.` before its first clause.
    Table(Written),
    /// A cut in each clause but the last, behind the tests that it begins with.
    CommitFirst(Written),
    /// A cut at the end of each clause but the last.
    CommitLast(Written),
    /// The first goal is called before the second one.
    Before(Spot, Goal, Goal),
    /// The first goal is called directly behind the second one.
    Behind(Spot, Goal, Goal),
    /// Comparisons and tests of types come as soon as their variables occurred.
    EarlyTests(Spot),
    /// `\+ Goal` in place of all solutions of it that are only compared with none.
    Exists(Spot),
}

impl std::fmt::Display for Change {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Table(of) => write!(out, "table {}/{}", of.name, of.arity),
            Self::CommitFirst(of) => {
                let Written { name, arity, .. } = of;
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
        }
    }
}

/// What may mend a finding, each by itself. None if a person must think.
#[must_use]
pub fn changes(analysis: &Analysis, finding: &Finding) -> Vec<Change> {
    let place = &finding.place;
    let spot = match (&place.file, place.line) {
        (Some(file), Some(line)) => Some(Spot {
            file: file.clone(),
            line,
        }),
        _ => None,
    };
    let written = finding
        .predicates
        .iter()
        .filter_map(|&predicate| written(analysis, predicate));
    let goals = || -> Option<(Spot, Goal, Goal)> {
        let [test, before] = finding.predicates.as_slice() else {
            return None;
        };
        Some((
            spot.clone()?,
            goal(analysis, *test)?,
            goal(analysis, *before)?,
        ))
    };
    match finding.cause {
        Cause::RepeatedCalls | Cause::MayRepeat => written.map(Change::Table).collect(),
        Cause::RepeatedPrefix => written.take(1).map(Change::Table).collect(),
        Cause::UnusedChoicepoints => written
            .flat_map(|of| [Change::CommitFirst(of.clone()), Change::CommitLast(of)])
            .collect(),
        Cause::FailingLate => goals()
            .map(|(spot, test, dear)| Change::Before(spot, test, dear))
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
        let spot = Spot {
            file: site.file()?.to_owned(),
            line: site.line()?,
        };
        is_findall.then_some((Change::Exists(spot), site.figures.served_ticks))
    });
    all.collect()
}

/// Whether what a change tables reads or changes a state as far as the trace or the source says:
/// the database, global variables, streams, the clock. A table may keep an old answer then,
/// though one input does not show it.
#[must_use]
pub fn reads_state(analysis: &Analysis, change: &Change) -> bool {
    let Change::Table(of) = change else {
        return false;
    };
    let evidence = Evidence::of(analysis);
    let infos = (0..).zip(analysis.trace.predicates());
    let mut tabled = infos.filter(|(_, info)| {
        let declared = &info.declared;
        let file = declared.file.and_then(|file| analysis.trace.file(file));
        declared.name == of.name && declared.arity == of.arity && file == Some(of.file.as_str())
    });
    tabled.any(|(index, _)| {
        let below = evidence.called(index);
        below.iter().any(|&inner| {
            evidence.has_effects(inner)
                || evidence.names_effects(inner)
                || source::is_declared_dynamic(analysis, inner)
        })
    })
}

fn goal(analysis: &Analysis, predicate: PredicateIndex) -> Option<Goal> {
    let declared = &analysis
        .trace
        .predicates()
        .get(predicate as usize)?
        .declared;
    Some(Goal {
        name: declared.name.clone(),
        arity: declared.arity,
    })
}

fn written(analysis: &Analysis, predicate: PredicateIndex) -> Option<Written> {
    let Goal { name, arity } = goal(analysis, predicate)?;
    let (file, _) = analysis.source(predicate)?;
    let of_engine = file.starts_with("engine:");
    (!of_engine).then(|| Written {
        name,
        arity,
        file: file.to_owned(),
    })
}
