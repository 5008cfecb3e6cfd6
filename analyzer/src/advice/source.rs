//! What the source files say, as far as they are there to read: no finding rests on them alone.

use std::collections::BTreeSet;
use std::fs;

use super::clause_text::{self, ElementGoals, GoalText, KeyedGoal, ListEnd};
use super::libraries::ConstraintLibrary;
use crate::Analysis;
use crate::tables::SiteData;
use crate::trace::{PredicateIndex, PredicateInfo};

/// The lines from the first clause of a predicate to the next predicate of the file.
pub(super) fn of_predicate(analysis: &Analysis, predicate: PredicateIndex) -> Option<String> {
    let (file, line) = analysis.source(predicate)?;
    let text = fs::read_to_string(analysis.locate(file)).ok()?;
    let predicates = analysis.trace.predicates();
    let file_of = |info: &PredicateInfo| info.declared.file;
    let own = file_of(predicates.get(predicate as usize)?);
    let others = predicates.iter();
    let next = others
        .filter(|info| file_of(info) == own && info.declared.line > line)
        .map(|info| info.declared.line)
        .min();
    let count = next.map_or(usize::MAX, |next| (next - line) as usize);
    let lines = text.lines().skip(line.saturating_sub(1) as usize);
    let lines: Vec<&str> = lines.take(count).collect();
    Some(lines.join("\n"))
}

/// Whether a predicate is written as a grammar rule: what it reads is another rest of the input at
/// each call.
pub(super) fn is_grammar(analysis: &Analysis, predicate: PredicateIndex) -> bool {
    of_predicate(analysis, predicate).is_some_and(|text| text.contains("-->"))
}

/// Whether a clause of a predicate takes a list apart in its head and calls the predicate again.
pub(super) fn goes_along_list(analysis: &Analysis, predicate: PredicateIndex) -> bool {
    let text = of_predicate(analysis, predicate).unwrap_or_default();
    let clauses = clause_text::clauses(&text);
    clauses
        .iter()
        .any(|clause| clause_text::goes_along_list(clause))
}

/// Whether the file of a tabled predicate declares which of its answers are kept.
pub(super) fn keeps_some_answers(analysis: &Analysis, predicate: PredicateIndex) -> bool {
    let Some((file, _)) = analysis.source(predicate) else {
        return false;
    };
    let text = fs::read_to_string(analysis.locate(file)).unwrap_or_default();
    let infos = analysis.trace.predicates();
    infos.get(predicate as usize).is_some_and(|info| {
        clause_text::keeps_some(&clause_text::clauses(&text), &info.declared.name)
    })
}

/// The names of predicates that source files of the program declare dynamic.
pub(super) fn declared_dynamic(analysis: &Analysis) -> BTreeSet<String> {
    let infos = analysis.trace.predicates().iter();
    let files: BTreeSet<u32> = infos.filter_map(|info| info.declared.file).collect();
    let files = files
        .into_iter()
        .filter_map(|file| analysis.trace.file(file));
    let mut declared = BTreeSet::new();
    for file in files.filter(|file| analysis.is_of_program(file)) {
        let text = fs::read_to_string(analysis.locate(file)).unwrap_or_default();
        let clauses = clause_text::clauses(&text);
        let names = clauses
            .iter()
            .flat_map(|clause| clause_text::declared(clause, "dynamic"));
        declared.extend(names.map(str::to_owned));
    }
    declared
}

/// So few clauses are looked at in no time.
const FEW_CLAUSES: usize = 8;

/// Whether a predicate that is not declared dynamic may have more clauses at each call, or so many
/// that a call may look at ever more of them. A predicate of which its file has no clause gets them
/// while the program runs.
pub(super) fn may_have_many_clauses(analysis: &Analysis, predicate: PredicateIndex) -> bool {
    let Some(info) = analysis.trace.predicates().get(predicate as usize) else {
        return false;
    };
    let declared = &info.declared;
    let file = declared.file.and_then(|file| analysis.trace.file(file));
    let text = file.and_then(|file| fs::read_to_string(analysis.locate(file)).ok());
    let Some(text) = text else {
        return true;
    };
    let clauses = clause_text::clauses(&text);
    let of_predicate = clauses
        .iter()
        .filter(|clause| clause_text::head_name(clause) == Some(declared.name.as_str()))
        .count();
    of_predicate == 0 || of_predicate > FEW_CLAUSES
}

/// What the text of a clause says of a goal and an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Between {
    /// The later goal has a variable that the earlier one has, and the head has not: then it needs
    /// what the earlier one binds, most likely.
    pub(super) needs: bool,
    /// If the later goal fails, so does the conjunction that the earlier one stands in.
    pub(super) fails_with: bool,
    /// They are steps of one conjunction with no other control between them.
    pub(super) are_in_a_row: bool,
}

/// What the text says of the goals that may be a site: which of several of one line it is, its site
/// does not say. `None` if there is no text.
pub(super) fn at_site<T>(
    analysis: &Analysis,
    site: &SiteData,
    say: impl FnOnce(&[GoalText]) -> Option<T>,
) -> Option<T> {
    let text = fs::read_to_string(analysis.locate(site.file()?)).ok()?;
    let clauses = clause_text::clauses(&text);
    let callee = analysis.trace.predicates().get(site.callee as usize)?;
    say(&GoalText::all(
        &clauses,
        site.line()?,
        &callee.declared.name,
    ))
}

/// What a collector is called with, if the text of its clause takes the first element of its list
/// alone: the names of the goals whose solutions it collects. `None` if the text does not say so.
pub(super) fn collected_for_first(
    analysis: &Analysis,
    collector: &SiteData,
    elements: &ElementGoals,
) -> Option<Vec<String>> {
    at_site(analysis, collector, |goals| {
        let [goal] = goals else {
            return None;
        };
        let names = goal.atoms_in(1).into_iter().map(str::to_owned);
        goal.is_for_first(2, elements).then(|| names.collect())
    })
}

/// Which element of the list that an argument is, counted from 0, the text of the clause looks at,
/// if that is one.
pub(super) fn end_of_list(
    analysis: &Analysis,
    maker: &SiteData,
    argument: usize,
    elements: &ElementGoals,
) -> Option<ListEnd> {
    at_site(analysis, maker, |goals| {
        let [goal] = goals else {
            return None;
        };
        goal.end_of_list(argument, elements)
    })
}

/// Whether the text of a clause hands what a goal makes of an argument to the clause's own
/// predicate, in the place where that argument came from: a loop in rounds.
pub(super) fn goes_round(analysis: &Analysis, goal: &SiteData) -> bool {
    let found = at_site(analysis, goal, |goals| {
        Some(goals.iter().any(GoalText::goes_round))
    });
    found == Some(true)
}

/// Whether a goal opens a file in one of these modes.
pub(super) fn opened_to(analysis: &Analysis, opening: &SiteData, modes: &[&str]) -> bool {
    let found = at_site(analysis, opening, |goals| {
        let mode = goals.first()?.atoms_in(1);
        Some(matches!(mode.as_slice(), [mode] if modes.contains(mode)))
    });
    found == Some(true)
}

/// Whether a goal counts solutions, as this first argument says, and its clause only compares their
/// number with none.
pub(super) fn counted_to_test(analysis: &Analysis, counting: &SiteData, count: &str) -> bool {
    let found = at_site(analysis, counting, |goals| {
        let [goal] = goals else {
            return None;
        };
        Some(goal.atoms_in(0) == [count] && goal.is_compared_with_none(2))
    });
    found == Some(true)
}

/// Whether a goal that labels constraint variables takes the leftmost one next: no option says
/// otherwise. A list of options may be a variable: then the text does not say.
pub(super) fn labels_leftmost(
    analysis: &Analysis,
    labelling: &SiteData,
    library: &ConstraintLibrary,
) -> bool {
    let found = at_site(analysis, labelling, |goals| {
        let goal = goals.first()?;
        let has_no_order =
            || goal.is_list(0) && !goal.atoms_in(0).iter().any(|atom| library.orders(atom));
        Some(library.is_without_options(goal.name()) || has_no_order())
    });
    found == Some(true)
}

/// What the text says of two goals of one clause; `None` if it does not say where they stand.
pub(super) fn between(
    analysis: &Analysis,
    earlier: &SiteData,
    later: &SiteData,
) -> Option<Between> {
    let file = later.file()?;
    if earlier.file() != Some(file) {
        return None;
    }
    let text = fs::read_to_string(analysis.locate(file)).ok()?;
    let clauses = clause_text::clauses(&text);
    let all = |site: &SiteData| {
        let callee = analysis.trace.predicates().get(site.callee as usize)?;
        let name = callee.declared.name.as_str();
        Some(GoalText::all(&clauses, site.line()?, name))
    };
    let (earlier, later) = (all(earlier)?, all(later)?);
    if earlier.is_empty() || later.is_empty() {
        return None;
    }
    let pairs = || {
        later
            .iter()
            .flat_map(|one| earlier.iter().map(move |other| (one, other)))
    };
    let is_new = |later: &GoalText, name: &&str| !later.head_variables().contains(name);
    let needs = pairs().any(|(later, earlier)| {
        let binds = earlier.variables();
        let mut shared = later
            .variables()
            .into_iter()
            .filter(|name| binds.contains(name));
        shared.any(|name| is_new(later, &name))
    });
    Some(Between {
        needs,
        // Which of several goals of a line it is, its site does not say.
        fails_with: later
            .iter()
            .all(|one| earlier.iter().any(|other| one.fails_with(other))),
        are_in_a_row: later
            .iter()
            .all(|one| earlier.iter().any(|other| one.is_in_a_row(other))),
    })
}

/// Whether the text of a clause hands what a goal makes of an argument, counted from 0, to goals of
/// this name alone.
pub(super) fn is_only_for(
    analysis: &Analysis,
    maker: &SiteData,
    argument: usize,
    name: &str,
) -> bool {
    let found = at_site(analysis, maker, |goals| {
        let [goal] = goals else {
            return None;
        };
        Some(goal.is_only_for(argument, name))
    });
    found == Some(true)
}

/// The arguments of a goal, counted from 0, that the text of its clause uses as keys alone.
/// `is_dynamic` says of which predicates clauses change.
pub(super) fn keys(
    analysis: &Analysis,
    maker: &SiteData,
    keyed: &[KeyedGoal],
    is_dynamic: impl Fn(&str) -> bool,
) -> Vec<usize> {
    let found = at_site(analysis, maker, |goals| {
        let [goal] = goals else {
            return None;
        };
        Some(goal.keys(keyed, &is_dynamic))
    });
    found.unwrap_or_default()
}

/// [`is_only_for`], and whether the goal makes nothing else.
pub(super) fn is_all_for(
    analysis: &Analysis,
    maker: &SiteData,
    argument: usize,
    name: &str,
) -> bool {
    let found = at_site(analysis, maker, |goals| {
        let [goal] = goals else {
            return None;
        };
        Some(goal.is_only_for(argument, name) && goal.takes_all_but(argument))
    });
    found == Some(true)
}

/// Whether a loop may have gone back into `generator` after `last` had exited, whatever tests said
/// of what it gave. `goals` are those of the clause that made calls. Without a text that says
/// otherwise, a test has failed.
pub(super) fn is_driven(
    analysis: &Analysis,
    generator: &SiteData,
    last: Option<&SiteData>,
    goals: &[SiteData],
) -> bool {
    let text = generator
        .file()
        .and_then(|file| fs::read_to_string(analysis.locate(file)).ok());
    let clauses = clause_text::clauses(text.as_deref().unwrap_or_default());
    let all = |site: &SiteData| {
        let callee = analysis.trace.predicates().get(site.callee as usize);
        let of_line = callee.zip(site.line());
        of_line.map_or(Vec::new(), |(callee, line)| {
            GoalText::all(&clauses, line, &callee.declared.name)
        })
    };
    let calls: Vec<GoalText> = goals.iter().flat_map(all).collect();
    let last = last.map(all).unwrap_or_default();
    // Which of several goals of a line it is, its site does not say.
    let last = match &last[..] {
        [last] => Some(last),
        _ => None,
    };
    let mut generators = all(generator).into_iter();
    generators.any(|generator| generator.is_driven(last, &calls))
}
