//! What does more than compute from its arguments: it writes, reads, or changes or looks at a
//! state. It cannot be called less often, nor in another order, and no table keeps what it does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use portmortem_tracer::format::Role;

use super::clause_text::{self, Lexeme, NamedAs, Token};
use super::evidence::{Evidence, reached};
use super::libraries::{Effects, KnownEffect, WholeList};
use super::source;
use crate::calls::behaviour::Span;
use crate::trace::{PredicateIndex, PredicateInfo};

/// Whether what a clause calls does more than compute, or is something of which nothing is known.
/// Predicates that `is_own` names, with a number of arguments or any, are another's matter.
fn does_more_in(
    effects: &Effects,
    clause: &[Token],
    is_own: &impl Fn(&str, Option<u32>) -> bool,
) -> bool {
    match effects {
        Effects::Whole(list) => mentions_more(list, clause_text::body(clause), is_own),
        Effects::Standard(list) => !clause_text::calls_only(clause, &|name, named| match named {
            NamedAs::Predicate(arity) => {
                is_own(name, Some(arity)) || effects.of(name, arity) == KnownEffect::Computes
            }
            // The result is the last argument of a predicate.
            NamedAs::Function(arity) => {
                list.is_function(name, arity) || is_own(name, Some(arity + 1))
            }
        }),
    }
}

/// Whether a body names, wherever in it, one of the listed predicates.
fn mentions_more(
    list: &WholeList,
    tokens: &[Token],
    is_own: &impl Fn(&str, Option<u32>) -> bool,
) -> bool {
    let is_open = |token: Option<&Token>| {
        token.is_some_and(|token| matches!(token.kind, Lexeme::Open { arguments: true }))
    };
    (0..tokens.len()).any(|at| {
        let token = &tokens[at];
        if token.kind != Lexeme::Atom || is_own(token.text, None) {
            return false;
        }
        let has_arguments = is_open(tokens.get(at + 1));
        let first = tokens.get(at + 2).filter(|_| has_arguments);
        let makes_text = first.is_some_and(|first| list.makes_text(token.text, first.text));
        list.is_mentioned(token.text, has_arguments) && !(makes_text && is_open(tokens.get(at + 3)))
    })
}

/// Whether a predicate itself does more than compute: a built-in one, a library one with what it
/// leads to, or one of the program by its clauses.
pub(super) fn has_effects(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let known = evidence.effects.borrow().get(&predicate).copied();
    known.unwrap_or_else(|| {
        let has = match evidence.is_of_program(predicate) {
            true => in_source(evidence, predicate),
            false => of_call(evidence, predicate),
        };
        evidence.effects.borrow_mut().insert(predicate, has);
        has
    })
}

/// What the result of a call depends on besides its arguments, or what a call does besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dependence {
    /// Nothing, as far as the trace and the source say.
    None,
    /// The clauses of these dynamic predicates. None of them changed between the first call and the
    /// end of the last one, so the results can be kept.
    Kept(Vec<String>),
    /// Clauses that changed between its calls.
    Changed,
    /// It changes clauses, or reads or changes global variables, streams or the clock.
    Effects,
}

/// A predicate of the program with all that it calls.
fn below(evidence: &Evidence, predicate: PredicateIndex) -> BTreeSet<PredicateIndex> {
    reached([predicate], |one| evidence.callees_of(one))
}

/// Whether a predicate does more than compute, or something that it calls does.
pub(super) fn does_more(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let mut below = below(evidence, predicate).into_iter();
    below.any(|one| has_effects(evidence, one))
}

/// Whether a result of a predicate that is kept may be a wrong one: it, or something that it calls,
/// does more than compute, or reads clauses that changed between its calls.
pub(super) fn depends_on_more(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let below = below(evidence, predicate);
    below.iter().any(|&one| has_effects(evidence, one)) || change_under(evidence, predicate, &below)
}

/// That of a predicate of the program, with all that it calls.
pub(super) fn state(evidence: &Evidence, predicate: PredicateIndex) -> Dependence {
    let below = below(evidence, predicate);
    if below.iter().any(|&one| has_effects(evidence, one)) {
        return Dependence::Effects;
    }
    if change_under(evidence, predicate, &below) {
        return Dependence::Changed;
    }
    let dynamic = below
        .iter()
        .filter(|&&one| evidence.is_of_program(one) && is_dynamic(evidence, one));
    let names: Vec<String> = dynamic.map(|&one| evidence.name(one).to_owned()).collect();
    match names.is_empty() {
        true => Dependence::None,
        false => Dependence::Kept(names),
    }
}

fn of_call(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let Some(info) = evidence.analysis.trace.predicates().get(predicate as usize) else {
        return false;
    };
    // Collectors change nothing that is seen outside.
    if info.is_collector() {
        return false;
    }
    let known = of_foreign(evidence, info);
    match (known, info.has(Role::BuiltIn)) {
        (KnownEffect::Computes, _)
        | (KnownEffect::Unlisted | KnownEffect::WritesOrMakesText, true) => false,
        (_, true) => true,
        (_, false) => of_library(evidence, info),
    }
}

/// What the tables of the engine say of a predicate that is none of the program.
fn of_foreign(evidence: &Evidence, info: &PredicateInfo) -> KnownEffect {
    let declared = &info.declared;
    evidence
        .libraries
        .effects
        .of(&declared.name, declared.arity)
}

/// Whether what a predicate of a library leads to in its file does more than compute, or the file
/// is not there.
fn of_library(evidence: &Evidence, info: &PredicateInfo) -> bool {
    let Some(text) = library_text(evidence, info) else {
        return true;
    };
    let clauses = clause_text::clauses(&text);
    let mut named = BTreeMap::<&str, Vec<&[Token]>>::new();
    for clause in &clauses {
        if let Some(head) = clause_text::head_name(clause) {
            named.entry(head).or_default().push(clause);
        }
    }
    let heads = clauses
        .iter()
        .filter_map(|clause| clause_text::head_indicator(clause));
    let heads: BTreeSet<(&str, u32)> = heads.collect();
    let is_own = |name: &str, arity: Option<u32>| match arity {
        Some(arity) => heads.contains(&(name, arity)),
        None => named.contains_key(name),
    };
    let mut seen = BTreeSet::from([info.declared.name.as_str()]);
    let mut left = vec![info.declared.name.as_str()];
    while let Some(name) = left.pop() {
        for clause in named.get(name).into_iter().flatten() {
            if does_more_in(evidence.libraries.effects, clause, &is_own) {
                return true;
            }
            let body = clause_text::body(clause);
            let atoms = body.iter().filter(|token| token.kind == Lexeme::Atom);
            let inner = atoms.map(|token| token.text);
            left.extend(inner.filter(|name| named.contains_key(name) && seen.insert(name)));
        }
    }
    false
}

/// The file of a predicate of a library. If it was not loaded yet when the trace named the
/// predicate, it is one that the trace names another time, or has the name of the module.
fn library_text(evidence: &Evidence, info: &PredicateInfo) -> Option<String> {
    let trace = &evidence.analysis.trace;
    let module = info.declared.module.as_str();
    let same = trace.predicates().iter();
    let same = same.filter(|other| other.declared.module == module);
    let named = [Some(info)].into_iter().flatten().chain(same);
    let mut named = named.filter_map(|other| trace.file(other.declared.file?));
    let read = |file: &str| fs::read_to_string(evidence.analysis.locate(file)).ok();
    if let Some(file) = named.next() {
        return read(file);
    }
    let is_its_file = |text: &String| {
        let clauses = clause_text::clauses(text);
        let mut exports = clauses.iter().filter_map(|clause| clause.get(..4));
        exports.any(|tokens| tokens[1].text == "module" && tokens[3].text == module)
    };
    let files = evidence.libraries.files_of(module);
    let mut texts = files.iter().filter_map(|file| read(file));
    texts.find(is_its_file)
}

/// Whether the source of a predicate does more than compute. Recorders do not record built-ins that
/// take next to no time, such as those of global variables, and the first argument of `format/3`
/// stands there alone: if there is no source, it writes. Of an engine whose built-ins are not known
/// the clauses may call anything then; what a program stores is facts, most likely.
fn in_source(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let effects = evidence.libraries.effects;
    let Some(text) = source::of_predicate(evidence.analysis, predicate) else {
        let infos = evidence.analysis.trace.predicates();
        let mut callees = evidence.callees_of(predicate);
        return match effects {
            Effects::Standard(_) => !evidence.is_declared_dynamic(predicate),
            Effects::Whole(_) => callees.any(|callee| {
                of_foreign(evidence, &infos[callee as usize]) == KnownEffect::WritesOrMakesText
            }),
        };
    };
    let is_own = |name: &str, arity: Option<u32>| match arity {
        Some(arity) => evidence.is_predicate_of_program(name, arity),
        None => evidence.is_name_of_program(name),
    };
    let mut clauses = clause_text::clauses(&text).into_iter();
    clauses.any(|clause| does_more_in(effects, &clause, &is_own))
}

/// Whether the clauses of one of these predicates changed while a predicate was called, so that its
/// calls may have seen other clauses than those before.
fn change_under(
    evidence: &Evidence,
    predicate: PredicateIndex,
    below: &BTreeSet<PredicateIndex>,
) -> bool {
    let behaviour = &evidence.analysis.calls().behaviour;
    let Some(during) = behaviour.span_of(predicate) else {
        return false;
    };
    let names = below.iter().filter_map(|&one| {
        let info = evidence.analysis.trace.predicates().get(one as usize)?;
        evidence
            .is_of_program(one)
            .then_some((one, info.declared.name.as_str()))
    });
    let names: Vec<(PredicateIndex, &str)> = names.collect();
    changes(evidence, during)
        .iter()
        .any(|changed| match changed {
            Some(changed) => names.iter().any(|(_, name)| name == changed),
            None => names.iter().any(|&(one, _)| is_dynamic(evidence, one)),
        })
}

/// The names of the predicates whose clauses were changed in some time; `None` of one that the
/// text does not name, and of what a predicate did of which nothing is known.
fn changes(evidence: &Evidence, during: Span) -> BTreeSet<Option<String>> {
    let spans = &evidence.analysis.calls().behaviour.spans;
    let changing = spans.iter().filter(|&(_, span)| span.overlaps(&during));
    let changing = changing.filter_map(|(&(callee, site), _)| {
        let known = of_callee(evidence, callee)?;
        matches!(known, KnownEffect::ChangesClauses | KnownEffect::Unknown)
            .then_some((callee, site, known))
    });
    let changing = changing.flat_map(|(callee, site, known)| {
        if known == KnownEffect::Unknown {
            return vec![None];
        }
        let site = evidence
            .sites()
            .find(|goal| goal.callee == callee && goal.site == site);
        let texts = site.and_then(|site| {
            source::at_site(evidence.analysis, site, |goals| {
                let named = goals.iter().map(|goal| changed_by(goal.rest()));
                Some(
                    named
                        .map(|name| name.map(str::to_owned))
                        .collect::<Vec<_>>(),
                )
            })
        });
        match texts {
            Some(named) if !named.is_empty() => named,
            _ => vec![None],
        }
    });
    changing.collect()
}

/// What is known of a predicate that the program calls, if it is none of it.
fn of_callee(evidence: &Evidence, predicate: PredicateIndex) -> Option<KnownEffect> {
    evidence.foreign_name(predicate)?;
    let info = evidence
        .analysis
        .trace
        .predicates()
        .get(predicate as usize)?;
    (!info.is_collector()).then(|| of_foreign(evidence, info))
}

/// The name of the predicate that the argument of `assertz/1` and the like has clauses of, from
/// what follows the name of that.
fn changed_by<'t>(mut rest: &[Token<'t>]) -> Option<&'t str> {
    loop {
        match rest {
            [open, inner @ ..] if matches!(open.kind, Lexeme::Open { .. }) => rest = inner,
            [module, colon, inner @ ..] if module.kind == Lexeme::Atom && colon.text == ":" => {
                rest = inner;
            }
            [name, ..] if name.kind == Lexeme::Atom => return Some(name.text),
            _ => return None,
        }
    }
}

/// Whether clauses of a predicate are known to change: it is declared so, or its file has none.
fn is_dynamic(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let info = evidence.analysis.trace.predicates().get(predicate as usize);
    info.is_some_and(|info| info.declared.file.is_none()) || evidence.is_declared_dynamic(predicate)
}
