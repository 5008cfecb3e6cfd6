//! Where most of the work is, whatever its cause: an answer for programs that have none of the
//! known causes.

use std::collections::BTreeMap;
use std::slice;

use portmortem_tracer::format::Role;

use super::evidence::{Evidence, share};
use super::generated::Constraint;
use super::libraries::BuiltIn;
use super::{Cause, Certainty, Finding, Need, may_repeat, record_hint, source};
use crate::hottest_path::hottest_path;
use crate::tables::SiteData;
use crate::text::{count, counted};
use crate::trace::{PredicateIndex, PredicateInfo, SiteInfo};

/// So many steps a call from elsewhere makes at least that goes along a list.
const LEAST_STEPS: u64 = 20;

/// Calls that take less time themselves, in ns, do not say what they do that has no box.
const LEAST_OWN_NS: u64 = 5000;

/// From such a part of the work on, in percent, what runs inside one library is worth another
/// recording.
const MOST_IN_LIBRARY: u64 = 50;

/// So many cells are few: a list of sixteen pairs.
const SMALL: u32 = 100;

/// Calls whose callee worked itself: those of a goal, or of a caller that does not say its goal; of
/// a predicate that calls itself all of them, wherever they are made.
struct HotGoal<'e, 'a> {
    callee: PredicateIndex,
    /// The costliest of the outermost calls; `None` if no caller is known.
    site: Option<&'e SiteData<'a>>,
    calls: u64,
    /// Of a predicate that calls itself: those of them inside of another one.
    recursive: Option<u64>,
    /// What the library does inside is counted, too.
    is_closed: bool,
    own_ticks: u64,
}

/// The calls whose callee worked longest itself. One finding, unless nothing worked.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let sites = evidence.analysis.tables().site_list();
    let mut by_callee = BTreeMap::<PredicateIndex, Vec<&SiteData>>::new();
    for site in &sites {
        by_callee.entry(site.callee).or_default().push(site);
    }
    let is_work = |&(_, info, _): &(_, &PredicateInfo, _)| info.is_called_by_program();
    let hot = evidence.predicates().filter(is_work);
    let hot = hot.flat_map(|(callee, ..)| {
        let sites = by_callee.get(&callee).map_or(&[][..], Vec::as_slice);
        hot_calls(evidence, callee, sites)
    });
    let hottest = hot.chain(closed(evidence)).max_by_key(|hot| hot.own_ticks);
    let hottest = hottest.filter(|hot| hot.own_ticks > 0);
    hottest
        .map(|hot| finding(evidence, &hot))
        .into_iter()
        .collect()
}

/// Goals of the program that call a library that a finding looks into, with all that it does
/// inside, if that was recorded: the program can change no more than the goal.
fn closed<'e, 'a>(evidence: &'e Evidence<'a>) -> Vec<HotGoal<'e, 'a>> {
    if !are_recorded(evidence) {
        return Vec::new();
    }
    let sites = evidence.sites().filter(|site| {
        let of_program = |goal: &SiteInfo| evidence.is_of_program(goal.caller);
        let module = evidence.module(site.callee);
        evidence.libraries.is_looked_into(module) && site.info().is_some_and(of_program)
    });
    let hot = sites.map(|site| HotGoal {
        callee: site.callee,
        site: Some(site),
        calls: site.figures.calls,
        recursive: None,
        is_closed: true,
        own_ticks: site.figures.served_work_ticks,
    });
    hot.collect()
}

fn hot_calls<'e, 'a>(
    evidence: &Evidence,
    callee: PredicateIndex,
    sites: &[&'e SiteData<'a>],
) -> Vec<HotGoal<'e, 'a>> {
    let below = evidence.called(callee);
    let is_recursive = |site: &SiteData| {
        let caller = site.caller.predicate();
        caller.is_some_and(|caller| below.contains(&caller))
    };
    if !sites.is_empty() && !sites.iter().any(|site| is_recursive(site)) {
        let hot = |&site: &&'e SiteData<'a>| HotGoal {
            callee,
            site: Some(site),
            calls: site.figures.calls,
            recursive: None,
            is_closed: false,
            own_ticks: site.figures.self_ticks,
        };
        return sites.iter().map(hot).collect();
    }
    let outermost = sites.iter().filter(|site| !is_recursive(site));
    let outermost = outermost.max_by_key(|site| site.figures.served_work_ticks);
    let figures = evidence.figures(callee);
    let recursion = evidence.analysis.calls().behaviour.recursion_of(callee);
    vec![HotGoal {
        callee,
        // Of predicates that call each other, all may be inside of another one.
        site: outermost
            .or_else(|| sites.iter().max_by_key(|site| site.figures.self_ticks))
            .copied(),
        calls: figures.calls,
        recursive: Some(recursion.calls),
        is_closed: false,
        own_ticks: figures.self_ticks,
    }]
}

fn finding(evidence: &Evidence, hot: &HotGoal) -> Finding {
    let name = match evidence.constraint_of(hot.callee) {
        Some(of) => format!("rules of {}", of.name),
        None => evidence.name(hot.callee).to_owned(),
    };
    let site = hot.site.filter(|site| site.caller.predicate().is_some());
    let is_within = |site: &&SiteData| {
        let of = evidence.constraint_of(hot.callee);
        of.is_some() && of == evidence.constraint_around(site)
    };
    let at = site.filter(|site| !is_within(site));
    let at = at.map_or_else(String::new, |site| format!(" {}", evidence.at(site)));
    let Explained {
        text: library,
        remedy,
        mut needs,
    } = explained(evidence, hot);
    let remedy = match may_repeat::recursive(evidence) {
        Some(again) => {
            let name = evidence.name(again);
            let need = Need::Arguments(name.to_owned());
            let with = evidence
                .libraries
                .remedies
                .recorded_with(slice::from_ref(&need));
            needs.push(need);
            format!(
                "{remedy} {name} calls itself in a tree: record with {with} to see whether the same calls come again, which a table would \
                 keep."
            )
        }
        None => remedy,
    };
    let calls = counted(hot.calls, "call", "calls");
    let calls = match hot.recursive {
        None if at.is_empty() => calls,
        None => format!("{calls} there"),
        Some(recursive) => format!("{calls}, {} of them recursive", count(recursive)),
    };
    Finding {
        cause: Cause::Hottest,
        place: match site {
            Some(site) => evidence.place_of(site),
            None => evidence.place(hot.callee),
        },
        cost_ticks: hot.own_ticks,
        certainty: Certainty::Counted,
        title: format!("most of the work: {name}{at}"),
        evidence: format!(
            "{name} {} {} in {calls}, {} a call: {} of the work. A change may save more than that if it spares other goals, too. \
             {}{library}",
            match hot.is_closed {
                true => "and what its library does inside worked",
                false => "itself worked",
            },
            evidence.time(hot.own_ticks),
            evidence.time(hot.own_ticks / hot.calls.max(1)),
            share(hot.own_ticks, evidence.total_ticks),
            path(evidence),
        ),
        remedy,
        predicates: vec![hot.callee],
        needs,
    }
}

fn path(evidence: &Evidence) -> String {
    let path = hottest_path(evidence.analysis, None);
    let names: Vec<&str> = path
        .iter()
        .map(|&(index, _)| evidence.name(index))
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("The hottest path: {}.", names.join(" > ")),
    }
}

/// What is known of the hottest calls.
struct Explained {
    /// Behind the figures.
    text: String,
    remedy: String,
    needs: Vec<Need>,
}

impl Explained {
    fn new(text: String, remedy: impl Into<String>) -> Self {
        Self {
            text,
            remedy: remedy.into(),
            needs: Vec::new(),
        }
    }
}

/// Whether each argument of each call had so few cells that its structure does not matter, as the
/// values of arguments show.
fn has_small_data(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let values = evidence.analysis.values().of(predicate);
    values.is_some_and(|values| {
        let mut arguments = values.arguments.iter();
        arguments.all(|one| one.unknown_in == 0 && one.greatest_in <= SMALL)
    })
}

/// Why they may take so long, and what to do.
fn explained(evidence: &Evidence, hot: &HotGoal) -> Explained {
    let name = evidence.name(hot.callee);
    let around = hot.site.and_then(|site| evidence.constraint_around(site));
    if let Some(constraint) = evidence.constraint_of(hot.callee).or(around) {
        return of_rules(evidence, name, constraint);
    }
    if evidence.is_of_program(hot.callee) {
        return of_program(evidence, hot);
    }
    let inside = library(evidence);
    let (module, of_library) = match &inside {
        Some((module, text)) => (*module, text.as_str()),
        None => ("", ""),
    };
    let record_again = || {
        let with = evidence
            .libraries
            .remedies
            .recorded_with(&[Need::Libraries]);
        format!("record again with {with} to see what the library does")
    };
    // What other libraries do inside would come before the goal of the program that calls them.
    if evidence.libraries.is_looked_into(module) {
        return Explained {
            needs: vec![Need::Libraries],
            ..Explained::new(
                of_library.to_owned(),
                format!("{}; or call it less often, with less.", record_again()),
            )
        };
    }
    match evidence.built_in(hot.callee) {
        Some(known) if known.asks_for_structure() && has_small_data(evidence, hot.callee) => {
            Explained::new(
                format!(
                    "{of_library} {name} {}, but what it was given is small: no argument had more than {SMALL} cells.",
                    known.does
                ),
                "call it less often: look at what calls it so often, as no other structure gains much where data is small.",
            )
        }
        Some(known) => Explained::new(
            format!("{of_library} {name} {}.", known.does),
            known.instead,
        ),
        None if inside.is_some() => Explained::new(
            of_library.to_owned(),
            format!("call it less often, or with less; {}.", record_again()),
        ),
        None => Explained::new(String::new(), "call it less often, or with less."),
    }
}

/// The same of what a library makes of rules.
fn of_rules(evidence: &Evidence, name: &str, constraint: &Constraint) -> Explained {
    let rules = evidence.libraries.rules;
    let library = rules.map_or("", |rules| rules.library);
    let modes = match constraint.is_indexed {
        true => "",
        false => {
            "declare modes and types, with + for each argument that is always ground, so that an index leads to what fits; "
        }
    };
    Explained::new(
        format!(
            " {name} is code that library {library} makes of the rules of {}, or that this calls: it looks for the other constraints of a \
             rule.",
            constraint.name
        ),
        format!(
            "{modes}let the heads of a rule share arguments that are ground; take constraints out of the store that are not needed \
             any more (simplification, simpagation), and post fewer."
        ),
    )
}

/// The same of a predicate of the program.
fn of_program(evidence: &Evidence, hot: &HotGoal) -> Explained {
    let steps = evidence.analysis.calls().behaviour.recursion_of(hot.callee);
    let outer = evidence
        .figures(hot.callee)
        .calls
        .saturating_sub(steps.calls);
    let is_walk = steps.calls / LEAST_STEPS >= outer.max(1)
        && !steps.is_a_tree()
        && source::goes_along_list(evidence.analysis, hot.callee);
    if is_walk && outer > 1 {
        return Explained::new(
            format!(
                " {} from elsewhere each go along a list, {} elements in the mean.",
                counted(outer, "call", "calls"),
                count(steps.calls / outer)
            ),
            format!(
                "if one element is looked for, keep what is looked up by its key: facts with the key as their first argument, or {}. \
                 If most of the list is as it was at the call before, keep the result beside it and do what is new alone; or go \
                 along it once for all.",
                evidence.libraries.remedies.looked_up
            ),
        );
    }
    let own = evidence.analysis.ns(hot.own_ticks / hot.calls.max(1));
    let figures = evidence.figures(hot.callee);
    if own >= LEAST_OWN_NS && figures.exceptions >= figures.calls / 2 && figures.exceptions > 0 {
        return Explained::new(
            OF_THROWN.to_owned(),
            "throw a small term that says what happened, and no data.",
        );
    }
    let calls_nothing = evidence.callees_of(hot.callee).next().is_none();
    match unseen(evidence, hot.callee) {
        Some((built_in, known)) if own >= LEAST_OWN_NS => Explained::new(
            format!(
                " That is long for what is no recorded call. Its clauses name {built_in}, which {}.",
                known.does
            ),
            format!("if that is what takes the time: {}", known.instead),
        ),
        None if own >= LEAST_OWN_NS && calls_nothing => {
            Explained::new(OF_LONG_LEAF.to_owned(), usual(evidence))
        }
        _ => Explained::new(String::new(), usual(evidence)),
    }
}

/// What is said of a predicate that works long by itself and calls nothing that has a box.
const OF_LONG_LEAF: &str = " That is long for what is no recorded call: unification, comparisons and arithmetic take as long as their \
                            terms are large and their numbers long, and a call that no index helps looks at all clauses.";

/// The same of one whose calls are mostly left by exceptions.
const OF_THROWN: &str = " That is long for what is no recorded call, and most calls end in an exception: what is thrown is copied as a whole.";

const USUAL: &str =
    "call it less often, let it do less in each call, or do what does not change once before";

/// What can be done about any predicate of the program.
fn usual(evidence: &Evidence) -> String {
    let trace = &evidence.analysis.trace;
    let which = record_hint(trace, "; --clauses shows which clauses work");
    format!("{USUAL}{which}.")
}

/// A built-in predicate that clauses of a predicate name, and that takes long where its data is
/// large, but has no box.
fn unseen(
    evidence: &Evidence,
    predicate: PredicateIndex,
) -> Option<(&'static str, &'static BuiltIn)> {
    let text = source::of_predicate(evidence.analysis, predicate)?;
    evidence.libraries.unseen_in(&text).into_iter().next()
}

/// The library that most of the work is in, if it is one, and what is said of it.
fn library<'e>(evidence: &'e Evidence) -> Option<(&'e str, String)> {
    let mut modules = BTreeMap::<&str, u64>::new();
    for (index, info, figures) in evidence.predicates() {
        let module = info.declared.module.as_str();
        if !info.has(Role::BuiltIn) && evidence.foreign_name(index).is_some() {
            let sum = modules.entry(module).or_default();
            *sum = sum.saturating_add(figures.self_ticks);
        }
    }
    let enough = evidence.total_ticks / 100 * MOST_IN_LIBRARY;
    let most = modules.into_iter().max_by_key(|&(_, ticks)| ticks);
    let most = most.filter(|&(_, ticks)| ticks > 0 && ticks >= enough && !are_recorded(evidence));
    most.map(|(module, ticks)| {
        let share = share(ticks, evidence.total_ticks);
        let text = format!(
            " {share} of the work is inside library {module}, whose own calls were not recorded."
        );
        (module, text)
    })
}

/// Whether calls that the clauses of libraries make are in the trace: if some are, those of a
/// library that has none are not missing, as it is not written in Prolog.
fn are_recorded(evidence: &Evidence) -> bool {
    let mut clauses = evidence.clauses.keys();
    clauses.any(|&(predicate, _)| evidence.foreign_name(predicate).is_some())
}
