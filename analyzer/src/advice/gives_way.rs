//! What findings say of one another: a general one gives way to one that names the cause at the
//! same place.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::evidence::{Evidence, reached};
use super::generated::{declared, posted};
use super::{AdvisedPlace, Cause, Finding, engine_memory};
use crate::trace::PredicateIndex;

/// Leaves out what is said better by another finding.
pub(super) fn to_causes(evidence: &Evidence, all: &mut Vec<Finding>) {
    // That it need not be counted says more of a goal than that there is more at each call.
    leave_out(all, Cause::GrowingCalls, Cause::CollectedToTest);
    // That rounds begin at the root says why their goal takes longer.
    leave_out(all, Cause::GrowingCalls, Cause::BeginsAgain);
    // Clauses that were erased stay while a choicepoint may need them.
    leave_out(all, Cause::GrowingCalls, Cause::UnusedChoicepoints);
    // That its calls grow says more of a goal than that they are long.
    leave_out(all, Cause::WalkedAgain, Cause::GrowingCalls);
    // That one element is wanted says more of a goal than that it goes over all.
    leave_out(all, Cause::WalkedAgain, Cause::CollectedForFirst);
    leave_out(all, Cause::GrowingCalls, Cause::CollectedForFirst);
    leave_out(all, Cause::GrowingCalls, Cause::FilledAgain);
    same_solutions_say_more(all);
    repetitions_around_say_more(evidence, all);
    constraints_say_more(evidence, all);
    one_of_labelling(all);
}

/// That a call need not be made again says enough of what it does again. Of one predicate the
/// costliest repetition is named.
fn repetitions_around_say_more(evidence: &Evidence, all: &mut Vec<Finding>) {
    let is_repetition =
        |one: &&Finding| matches!(one.cause, Cause::RepeatedCalls | Cause::RepeatedSolutions);
    let mut costliest: Vec<Finding> = all.iter().filter(is_repetition).cloned().collect();
    costliest.sort_by_key(|one| Reverse(one.cost_ticks));
    let mut said: Vec<(PredicateIndex, BTreeSet<&str>)> = Vec::new();
    let mut less: Vec<Finding> = Vec::new();
    for one in costliest {
        let of = one.predicates.first().copied();
        let is_said = said.iter().any(|(around, inside)| {
            of == Some(*around) || inside.contains(one.place.predicate.as_str())
        });
        match of.filter(|_| !is_said) {
            Some(of) => {
                let inside = reached([of], |callee| evidence.callees_of(callee));
                let names = inside.into_iter().map(|of| evidence.name(of));
                said.push((of, names.collect()));
            }
            None => less.push(one),
        }
    }
    all.retain(|one| !less.contains(one));
}

/// That a generator gives the same solution again is why most of what it gives is rejected.
fn same_solutions_say_more(all: &mut Vec<Finding>) {
    let of = all.iter().filter(|one| one.cause == Cause::SameSolutions);
    let of: Vec<PredicateIndex> = of.flat_map(|one| one.predicates.first().copied()).collect();
    all.retain(|one| {
        let generator = one.predicates.last();
        one.cause != Cause::Generator || !generator.is_some_and(|generator| of.contains(generator))
    });
}

/// Which goals of its clause reject values says more than that other predicates do.
fn one_of_labelling(all: &mut Vec<Finding>) {
    let of_clause: Vec<AdvisedPlace> = all
        .iter()
        .filter(|one| one.cause == Cause::LabelledFirst && one.predicates.len() > 1)
        .map(|one| one.place.clone())
        .collect();
    all.retain(|one| {
        let is_general = one.cause == Cause::LabelledFirst && one.predicates.len() == 1;
        let is_said = is_general && of_clause.contains(&one.place);
        !is_said
    });
}

/// The same of general findings, once it is known which others are shown.
pub(super) fn to_what_is_shown(evidence: &Evidence, all: &mut Vec<Finding>) {
    memory(evidence, all);
    hottest(evidence, all);
}

/// Leaves out what one cause says of places of which another one says more.
fn leave_out(all: &mut Vec<Finding>, cause: Cause, says_more: Cause) {
    let said = all.iter().filter(|one| one.cause == says_more);
    let said: Vec<AdvisedPlace> = said.map(|one| one.place.clone()).collect();
    all.retain(|one| one.cause != cause || !said.contains(&one.place));
}

/// What constraints say of a goal or predicate is why it generates, grows or works so long: that it
/// does is no finding of its own.
fn constraints_say_more(evidence: &Evidence, all: &mut Vec<Finding>) {
    let of_goals = all.iter().filter(|one| one.cause == Cause::LabelledFirst);
    let of_goals: Vec<_> = of_goals
        .filter_map(|one| Some((one.place.predicate.clone(), *one.predicates.first()?)))
        .collect();
    // In which order values are tried matters where the constraints are posted.
    let of_places = all.iter().filter(|one| one.cause == Cause::LabelledFirst);
    let of_places: Vec<AdvisedPlace> = of_places.map(|one| one.place.clone()).collect();
    let of_rules: BTreeSet<String> = all
        .iter()
        .filter(|one| one.cause == Cause::ChrScans)
        .flat_map(|one| rules(evidence, one))
        .collect();
    all.retain(|one| {
        let generator = one.predicates.last().copied();
        let is_goal = |(clause, goal): &(String, PredicateIndex)| {
            *clause == one.place.predicate && Some(*goal) == generator
        };
        let mut names = one.predicates.iter().map(|&of| evidence.name(of));
        let is_rule =
            of_rules.contains(&one.place.predicate) || names.any(|name| of_rules.contains(name));
        let is_said = match one.cause {
            Cause::Generator => is_rule || of_goals.iter().any(is_goal),
            Cause::GrowingCalls | Cause::MayRepeat => is_rule,
            Cause::VariableOrder => of_places.contains(&one.place),
            _ => false,
        };
        !is_said
    });
}

/// The predicates that were made of the rules of the file that a finding is of, and the
/// constraints that it declares.
fn rules(evidence: &Evidence, finding: &Finding) -> BTreeSet<String> {
    let made = finding.predicates.iter();
    let mut names: BTreeSet<String> = made.map(|&of| evidence.name(of).to_owned()).collect();
    let source = finding.predicates.first();
    let source = source.and_then(|&of| evidence.analysis.source(of));
    if let Some((file, _)) = source {
        let constraints = declared(evidence.analysis, file);
        let posting = constraints
            .iter()
            .filter_map(|one| posted(evidence.analysis, file, one));
        names.extend(posting.map(|of| evidence.name(of).to_owned()));
    }
    names
}

/// Whether what a finding is about makes data, so that collections go with it.
fn makes_data(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::BeginsAgain
            | Cause::CollectedForFirst
            | Cause::CollectedToTest
            | Cause::ComputedInComparison
            | Cause::CopiedData
            | Cause::GrowingCalls
            | Cause::LongNumbers
            | Cause::PowerModulo
            | Cause::ReadAgain
            | Cause::RepeatedCalls
            | Cause::RepeatedSolutions
            | Cause::TextKeys
            | Cause::ToAndFro
            | Cause::UnprintedText
            | Cause::WalkedAgain
    )
}

/// Collections are part of what another finding is about, if most of them are where that one makes
/// its data.
fn memory(evidence: &Evidence, all: &mut Vec<Finding>) {
    let Some(at) = all.iter().position(|one| one.cause == Cause::Memory) else {
        return;
    };
    let callers = engine_memory::callers(evidence);
    let whole = callers.iter().map(|(_, ticks)| *ticks);
    let whole = whole.fold(0, u64::saturating_add);
    let Some(&(most, ticks)) = callers.first().filter(|(_, ticks)| *ticks >= whole / 2) else {
        return;
    };
    let name = evidence.name(most);
    let is_there = |one: &&mut Finding| {
        let names_it = one.predicates.contains(&most) || one.place.predicate == name;
        makes_data(one.cause) && one.rank() == 0 && names_it
    };
    let cause = all.iter_mut().filter(is_there);
    let Some(cause) = cause.max_by_key(|one| one.cost_ticks) else {
        return;
    };
    cause.evidence.push_str(&format!(
        " Beside that, {} went into collections and stack shifts in {name}, of {} in all.",
        evidence.time(ticks),
        evidence.time(whole),
    ));
    all.remove(at);
}

/// Whether what a finding says of a goal is why that takes so long, and no trial can refute it.
fn is_untried(cause: Cause) -> bool {
    let is_tried = matches!(
        cause,
        Cause::CollectedForFirst | Cause::CollectedToTest | Cause::RepeatedCalls
    );
    let is_other = matches!(
        cause,
        Cause::AssertedAgain
            | Cause::FilledAgain
            | Cause::ManyAnswers
            | Cause::SameSolutions
            | Cause::SumsInTables
            | Cause::TableKeys
    );
    is_other || makes_data(cause) && !is_tried
}

/// The goal with most of the work has no advice of its own where another finding says what takes
/// the time in it, and no trial can refute that.
fn hottest(evidence: &Evidence, all: &mut [Finding]) {
    let is_hottest = |one: &Finding| one.cause == Cause::Hottest;
    let Some(at) = all.iter().position(is_hottest) else {
        return;
    };
    let (place, of) = (all[at].place.clone(), all[at].predicates.first().copied());
    let Some(callee) = of else {
        return;
    };
    let says_why = |one: &&Finding| {
        let is_same = one.place == place || one.place.predicate == evidence.name(callee);
        let is_in_clause = one.place.predicate == place.predicate;
        match one.cause {
            // The place is that of the goal that rejects.
            Cause::Generator => one.predicates.last() == Some(&callee) && is_in_clause,
            cause => is_untried(cause) && one.predicates.first() == Some(&callee) && is_same,
        }
    };
    let why = all.iter().filter(says_why);
    let Some(cause) = why.max_by_key(|one| one.cost_ticks).map(|one| one.cause) else {
        return;
    };
    let hottest = &mut all[at];
    hottest.remedy = format!(
        "what {} says of it: that is why it takes so long.",
        cause.name()
    );
    hottest.needs.clear();
}
