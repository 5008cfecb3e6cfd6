//! Constraint handling rules that go through all constraints where an index would lead to the few
//! that fit.
//!
//! Library chr makes predicates of the rules: `name___2__1` is what a constraint `name/2` does
//! at its second place in the heads, and `name___2__1__0__3` goes along a list of constraints.

use std::collections::{BTreeMap, BTreeSet};

use super::chr_text::DeclaredConstraint;
use super::evidence::{Evidence, part_of, share};
use super::generated::{declared, posted};
use super::libraries::RuleRuntime;
use super::{AdvisedPlace, Cause, Certainty, Finding, Need, generators};
use crate::Analysis;
use crate::text::{count, counted};
use crate::trace::PredicateIndex;

/// Fewer constraints that do not fit are not worth an index.
const LEAST: u64 = 1000;

/// What one place in the heads looks up.
#[derive(Debug, Default)]
struct Lookups {
    /// How often a variable was looked for in what a lookup is for, and how often there was one.
    asked: u64,
    with_variable: u64,
    /// Constraints that were looked at, and those of them that did not fit.
    looked_at: u64,
    unfit: u64,
    ticks: u64,
    predicates: Vec<PredicateIndex>,
}

/// A finding for each file with such rules.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let Some(runtime) = evidence.libraries.rules else {
        return Vec::new();
    };
    let trace = &evidence.analysis.trace;
    let compiled = evidence.predicates().filter_map(|(_, info, _)| {
        let is_compiled = info.declared.name.contains("___");
        info.declared.file.filter(|_| is_compiled)
    });
    let files: BTreeSet<u32> = compiled.collect();
    let findings = files.into_iter().filter_map(|file| {
        let constraints = declared(evidence.analysis, trace.file(file)?);
        finding(evidence, runtime, file, &constraints)
    });
    findings.collect()
}

fn finding(
    evidence: &Evidence,
    runtime: &RuleRuntime,
    file: u32,
    constraints: &[DeclaredConstraint],
) -> Option<Finding> {
    let (all, is_debugged) = lookups(evidence, runtime, file, constraints);
    let with_arguments = || constraints.iter().filter(|one| one.arity > 0);
    let without_modes: Vec<&DeclaredConstraint> =
        with_arguments().filter(|one| !one.has_ground).collect();
    // No lookup had a variable, so each could have used an index; with modes none is looked for.
    let could_be_indexed = |lookups: &&Lookups| match without_modes.is_empty() {
        true => lookups.asked == 0 && is_debugged,
        false => lookups.asked > 0 && lookups.with_variable == 0,
    };
    let (mut looked_at, mut unfit, mut asked, mut cost_ticks) = (0, 0, 0, 0_u64);
    let mut predicates = Vec::new();
    for one in all.values().filter(could_be_indexed) {
        looked_at += one.looked_at;
        unfit += one.unfit;
        asked += one.asked;
        cost_ticks = cost_ticks.saturating_add(part_of(one.ticks, one.unfit, one.looked_at));
        predicates.extend(&one.predicates);
    }
    if unfit < LEAST || unfit < looked_at / 2 {
        return None;
    }
    let figures = |of: &PredicateIndex| evidence.figures(*of).self_ticks;
    predicates.sort_by_key(|of| std::cmp::Reverse(figures(of)));
    let first = *predicates.first()?;
    let costliest = match evidence.constraint_of(first) {
        Some(of) => of.name.as_str(),
        None => evidence.name(first),
    };
    let names = |of: &[&DeclaredConstraint]| {
        let names = of.iter().map(|one| format!("{}/{}", one.name, one.arity));
        names.collect::<Vec<_>>().join(", ")
    };
    let debugged = "it is compiled for the debugger, without indexes";
    let (title, because, remedy) = match without_modes.first() {
        None => (
            debugged.to_owned(),
            String::new(),
            format!("write {} before the constraints", runtime.no_debugger),
        ),
        Some(first) => (
            format!(
                "{} declared without modes",
                match without_modes.len() {
                    1 => format!("{} is", names(&without_modes)),
                    _ => format!("{} are", names(&without_modes)),
                }
            ),
            format!(
                " No variable was in what {} for, so that an index could have led to them.",
                counted(asked, "lookup was", "lookups were")
            ),
            format!(
                "declare modes and types, with + for each argument that is always ground: :- {} {}(+int, …){}",
                runtime.declaration,
                first.name,
                match is_debugged {
                    true => format!(
                        "; and write {}, for code for the debugger has no indexes",
                        runtime.no_debugger
                    ),
                    false => String::new(),
                }
            ),
        ),
    };
    let trace = &evidence.analysis.trace;
    let needs = without_modes.iter().filter_map(|one| {
        let index = posted(evidence.analysis, trace.file(file)?, one)?;
        let is_known = trace.with_values().contains(&index);
        (!is_known).then(|| Need::Values(evidence.name(index).to_owned()))
    });
    Some(Finding {
        cause: Cause::ChrScans,
        place: AdvisedPlace {
            predicate: costliest.to_owned(),
            file: trace.file(file).map(crate::trace::names::printable),
            line: without_modes
                .first()
                .or(with_arguments().next().as_ref())
                .map(|one| one.line),
        },
        cost_ticks,
        certainty: match without_modes.is_empty() {
            true => Certainty::ToCheck,
            false => Certainty::Likely,
        },
        title: format!("constraint handling rules go through all constraints: {title}"),
        evidence: format!(
            "The rules of {costliest} and others looked at {} constraints, of which at least {} ({}) did not fit.{because}",
            count(looked_at),
            count(unfit),
            share(unfit, looked_at),
        ),
        remedy: format!(
            "{remedy}. The order in which constraints are found may be another one then."
        ),
        predicates,
        needs: needs.collect(),
    })
}

/// Which arguments of the constraints that a file declares were ground in all calls whose values
/// were looked at. Of a constraint that has an argument declared so, or none that was, nothing.
pub(super) fn modes(analysis: &Analysis, file: &str) -> Vec<(DeclaredConstraint, Vec<bool>)> {
    let values = analysis.values();
    let modes = declared(analysis, file).into_iter().filter_map(|one| {
        let known = values.of(posted(analysis, file, &one)?)?;
        let is_ground = |at: u32| {
            let argument = known.arguments.get(at as usize);
            known.calls > 0 && argument.is_some_and(|of| of.ground_in == known.calls)
        };
        let ground: Vec<bool> = (0..one.arity).map(is_ground).collect();
        (!one.has_ground && ground.contains(&true)).then_some((one, ground))
    });
    modes.collect()
}

/// By constraint and its place in the heads; and whether the rules are compiled for the debugger.
fn lookups(
    evidence: &Evidence,
    runtime: &RuleRuntime,
    file: u32,
    constraints: &[DeclaredConstraint],
) -> (BTreeMap<(usize, String), Lookups>, bool) {
    let mut all = BTreeMap::<(usize, String), Lookups>::new();
    let mut is_debugged = false;
    for (index, info, figures) in evidence.predicates() {
        if info.declared.file != Some(file) {
            continue;
        }
        let of = (0..).zip(constraints).find_map(|(of, one)| {
            let begin = format!("{}___{}__", one.name, one.arity);
            Some((of, info.declared.name.strip_prefix(&begin)?))
        });
        let Some((of, rest)) = of else {
            continue;
        };
        let mut numbers = rest.split("__");
        let place = numbers.next().unwrap_or_default().to_owned();
        let goes_along = numbers.count() >= 2;
        let lookups = all.entry((of, place)).or_default();
        let mut others = 0;
        let mut chooses = false;
        for goal in evidence.goals_of(index) {
            let counts = &goal.figures;
            match evidence.name(goal.callee) {
                name if name == runtime.gives_constraints => {
                    chooses = true;
                    lookups.looked_at += counts.exits();
                    lookups.unfit += generators::all_tests(evidence, goal);
                    lookups.ticks += counts.served_work_ticks;
                }
                name if name.starts_with(runtime.seeks_variable) => {
                    lookups.asked += counts.calls;
                    lookups.with_variable += counts.exits();
                }
                name => {
                    is_debugged |= name.starts_with(runtime.tells_debugger);
                    if goal.callee != index {
                        others = others.max(counts.calls);
                    }
                }
            }
        }
        if goes_along {
            // What fits calls something else than the next one.
            lookups.looked_at += figures.calls;
            lookups.unfit += figures.calls.saturating_sub(others);
        }
        if goes_along || chooses {
            lookups.ticks += figures.self_ticks;
            lookups.predicates.push(index);
        }
    }
    (all, is_debugged)
}
