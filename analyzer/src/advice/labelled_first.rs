//! Variables that are given values before the constraints on them are posted: these test numbers
//! then, where they would have left values out.

use super::clause_text::{self, GoalText, Lexeme};
use super::evidence::{Evidence, part_of, share};
use super::libraries::ConstraintLibrary;
use super::{Cause, Certainty, Finding, generators, source};
use crate::tables::SiteData;
use crate::text::count;
use crate::trace::PredicateIndex;

/// Fewer rejected values are not worth another order of goals.
const LEAST: u64 = 1000;

/// Tests that are no calls.
const TESTS: [&str; 23] = [
    "=", "\\=", "==", "\\==", "<", ">", "=<", ">=", "=:=", "=\\=", "is", "@<", "@>", "@=<", "@>=",
    "\\+", "->", "*->", "var", "nonvar", "integer", "number", "atom",
];

/// A finding for each goal that gives values which constraints behind it reject.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (&(predicate, _), goals) in &evidence.clauses {
        for (at, goal) in goals.iter().enumerate() {
            if goal.figures.redos >= LEAST {
                findings.extend(finding(evidence, predicate, goal, &goals[at + 1..]));
            }
        }
    }
    findings
}

fn finding(
    evidence: &Evidence,
    predicate: PredicateIndex,
    generator: &SiteData,
    behind: &[SiteData],
) -> Option<Finding> {
    let library = evidence.libraries.constraints?;
    let gives = gives(evidence, generator)?;
    let posting = behind.iter().filter(|goal| {
        goal.callee != generator.callee
            && !evidence.is_in_argument(goal)
            // What a recursion fails at is in the clause that it enters.
            && !evidence.called(goal.callee).contains(&predicate)
            && posts(evidence, goal.callee)
            && gives.may_be_in(evidence, goal)
            && source::between(evidence.analysis, generator, goal)
                .is_none_or(|written| written.fails_with)
    });
    let posting: Vec<(&SiteData, u64)> = posting
        .map(|goal| (goal, generators::rejections(evidence, goal, generator)))
        .collect();
    let tests = tests(evidence, library, generator, &gives);
    let rejected = posting.iter().map(|(_, rejected)| rejected).sum::<u64>() + tests;
    let given = generator.figures.exits();
    if rejected < LEAST || rejected < given / 2 {
        return None;
    }
    let name = evidence.name(generator.callee);
    let by: Vec<String> = posting
        .iter()
        .filter(|(_, rejected)| *rejected > 0)
        .map(|(goal, rejected)| {
            let name = evidence.name(goal.callee);
            format!("{name} {} rejected {}", evidence.at(goal), count(*rejected))
        })
        .chain((tests > 0).then(|| {
            let count = count(tests);
            format!("constraints that were no more than tests of numbers rejected {count}")
        }))
        .collect();
    let work_of = |(goal, rejected): &(&SiteData, u64)| {
        let figures = &goal.figures;
        part_of(figures.served_work_ticks, *rejected, figures.calls)
    };
    let tested: u64 = posting.iter().map(work_of).sum();
    let generated = part_of(generator.figures.served_work_ticks, rejected, given);
    let mut predicates = vec![generator.callee];
    predicates.extend(posting.iter().map(|(goal, _)| goal.callee));
    Some(Finding {
        cause: Cause::LabelledFirst,
        place: evidence.place_of(generator),
        cost_ticks: generated.saturating_add(tested),
        certainty: Certainty::Likely,
        title: format!(
            "{name} {} gives values before constraints are posted, which reject {}",
            evidence.at(generator),
            share(rejected, given)
        ),
        evidence: format!(
            "{name} {} gave {} solutions. Behind it, {}. Each time backtracking went back into {name}.",
            evidence.at(generator),
            count(given),
            by.join("; "),
        ),
        remedy: format!(
            "post the constraints before {name}: then they take values out of the domains, and {name} \
             leaves out whole parts of the search. {name} comes last in the clause{}.",
            match gives {
                Gives::AnyVariable => "",
                Gives::One(_) => library.of_choice,
            }
        ),
        predicates,
        needs: Vec::new(),
    })
}

/// Which variables a goal gives values.
enum Gives {
    /// Constraint variables, which the text does not name one by one.
    AnyVariable,
    /// The variable of that name.
    One(String),
}

impl Gives {
    /// Whether a goal may be about them.
    fn may_be_in(&self, evidence: &Evidence, goal: &SiteData) -> bool {
        match self {
            Self::AnyVariable => true,
            Self::One(variable) => {
                let names = source::at_site(evidence.analysis, goal, |goals| {
                    Some(
                        goals
                            .iter()
                            .any(|one| one.variables().contains(&&**variable)),
                    )
                });
                names == Some(true)
            }
        }
    }
}

/// What a goal gives values, if it is one that does: of the library of constraints, or a choice of
/// numbers or elements for one variable.
fn gives(evidence: &Evidence, generator: &SiteData) -> Option<Gives> {
    if evidence.is_labelling(generator.callee) {
        return Some(Gives::AnyVariable);
    }
    let argument = evidence
        .libraries
        .chosen_by(evidence.name(generator.callee))?;
    source::at_site(evidence.analysis, generator, |goals| {
        let [goal] = goals else {
            return None;
        };
        Some(Gives::One(goal.variable_in(argument)?.to_owned()))
    })
}

/// Whether a predicate posts constraints: it is of the library of constraints and neither gives
/// values nor asks for domains, or it or something that it calls is written with such constraints.
pub(super) fn posts(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let Some(library) = evidence.libraries.constraints else {
        return false;
    };
    evidence.called(predicate).into_iter().any(|called| {
        let infos = evidence.analysis.trace.predicates();
        let Some(info) = infos.get(called as usize) else {
            return false;
        };
        let declared = &info.declared;
        if library.is_module(&declared.module) {
            return !library.is_asking(&declared.name) && !evidence.is_labelling(called);
        }
        evidence.is_of_program(called)
            && source::of_predicate(evidence.analysis, called).is_some_and(|text| {
                let clauses = clause_text::clauses(&text);
                let mut tokens = clauses.iter().flatten();
                tokens.any(|token| library.is_constraint(token))
            })
    })
}

/// How often a goal was redone as a test failed that is no call, if constraints are the only such
/// tests behind it.
fn tests(
    evidence: &Evidence,
    library: &ConstraintLibrary,
    generator: &SiteData,
    gives: &Gives,
) -> u64 {
    let are_constraints = source::at_site(evidence.analysis, generator, |goals| match goals {
        [goal] => Some(constraints_alone_follow(library, goal, gives)),
        _ => None,
    });
    match are_constraints {
        Some(true) => generators::all_tests(evidence, generator),
        _ => 0,
    }
}

/// Whether the goals behind a goal, in its conjunction, are written with constraints, on what it
/// gives, and without other tests.
fn constraints_alone_follow(library: &ConstraintLibrary, goal: &GoalText, gives: &Gives) -> bool {
    let mut depth = 0_u32;
    let (mut is_about, mut are_there) = (matches!(gives, Gives::AnyVariable), false);
    let mut is_behind = false;
    for token in goal.rest() {
        match token.kind {
            Lexeme::Open { .. } => depth += 1,
            Lexeme::Close if depth == 0 => break,
            Lexeme::Close => depth -= 1,
            Lexeme::End => break,
            Lexeme::Comma if depth == 0 => is_behind = true,
            Lexeme::Atom if depth == 0 && [";", "|"].contains(&token.text) => break,
            Lexeme::Atom if is_behind && TESTS.contains(&token.text) => return false,
            Lexeme::Atom if is_behind => are_there |= library.is_constraint(token),
            Lexeme::Variable if is_behind => {
                is_about |= matches!(gives, Gives::One(name) if name == token.text);
            }
            _ => {}
        }
    }
    are_there && is_about
}

#[cfg(test)]
mod tests {
    use super::super::libraries;
    use super::*;

    fn alone(body: &str, gives: &Gives) -> bool {
        let text = format!("p(X) :-\n{body}.\n");
        let clauses = clause_text::clauses(&text);
        let goals = GoalText::all(&clauses, 2, "label");
        let library = libraries::of_engine("SWI-Prolog 9.0.4")
            .constraints
            .unwrap();
        constraints_alone_follow(library, &goals[0], gives)
    }

    #[test]
    fn what_tests_behind_a_goal_are() {
        for body in [
            "label([X]), X #> 3",
            "X = Y, ( label([X]), print(X), X + 1 #= Y ; X == 3 )",
            "label([X]), all_different(L), ( X #= 1, Y #\\= 2 )",
        ] {
            assert!(alone(body, &Gives::AnyVariable), "{body}");
        }
        for body in [
            "label([X])",
            "X #> 3, label([X])",
            "label([X]), X #> 3, X > 4",
            "label([X]), X > 4",
            "( label([X]) ; X #> 3 )",
            "label([X #= 3])",
        ] {
            assert!(!alone(body, &Gives::AnyVariable), "{body}");
        }
        let one = Gives::One("X".to_owned());
        assert!(alone("label(X), X #> 3", &one));
        assert!(!alone("label(X), Y #> 3", &one));
    }
}
