//! What does more than compute from its arguments: it writes, reads, or changes or looks at a
//! state. It cannot be called less often, nor in another order, and no table keeps what it does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use portmortem_tracer::format::ENGINE_HOME;

use super::clause_text::{self, Kind, Token, Written};
use super::evidence::Evidence;
use super::source;
use crate::calls::behaviour::Span;
use crate::trace::{PredicateIndex, PredicateInfo};

/// How the names begin of built-in predicates that do more than compute.
const EFFECTS: [&str; 39] = [
    "abolish",
    "assert",
    "await",
    "b_getval",
    "b_setval",
    "close",
    "concurrent",
    "consult",
    "cputime",
    "erase",
    "flag",
    "flush_output",
    "format",
    "gensym",
    "get_",
    "halt",
    "message_queue_",
    "mutex_",
    "nb_",
    "nl",
    "open",
    "peek_",
    "portray_clause",
    "print",
    "process_create",
    "put_",
    "random",
    "read",
    "record",
    "reset_gensym",
    "retract",
    "set_",
    "shell",
    "sleep",
    "statistics",
    "tab",
    "tell",
    "thread_",
    "write",
];

/// Built-in predicates that change clauses, by how their names begin.
const CHANGES: [&str; 4] = ["abolish", "assert", "erase", "retract"];

fn begins(name: &str, with: &[&str]) -> bool {
    with.iter().any(|effect| name.starts_with(effect))
}

/// Whether it is a built-in or library predicate that does more than compute: its name says so, or
/// the clauses of its library that it may lead to, or they are not there to read.
pub(super) fn has_effects(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let known = evidence.effects.borrow().get(&predicate).copied();
    known.unwrap_or_else(|| {
        let has = of_call(evidence, predicate);
        evidence.effects.borrow_mut().insert(predicate, has);
        has
    })
}

/// Whether one of some predicates does more than compute, as far as the trace and the source say.
pub(super) fn do_more<'p>(
    evidence: &Evidence,
    predicates: impl IntoIterator<Item = &'p PredicateIndex>,
) -> bool {
    predicates.into_iter().any(|&one| {
        has_effects(evidence, one) || (evidence.is_of_program(one) && in_source(evidence, one))
    })
}

fn of_call(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let info = evidence.analysis.trace.predicates().get(predicate as usize);
    !evidence.is_of_program(predicate)
        && info
            .is_some_and(|info| begins(&info.declared.name, &EFFECTS) || of_library(evidence, info))
}

/// Whether what a predicate of a library leads to in its file has a name that one of [`EFFECTS`]
/// begins, or the file is not there. Collectors change nothing that is seen outside. The built-in
/// predicates have no file that says what they do.
fn of_library(evidence: &Evidence, info: &PredicateInfo) -> bool {
    let declared = &info.declared;
    let is_built_in = declared.module == "system" || declared.module.starts_with('$');
    if is_built_in || info.is_collector() {
        return false;
    }
    let Some(text) = library_text(evidence, info) else {
        return true;
    };
    let clauses = clause_text::clauses(&text);
    let mut leads_to = BTreeMap::<&str, BTreeSet<&str>>::new();
    for clause in &clauses {
        if let Some(head) = clause_text::head_name(clause) {
            let body = clause
                .iter()
                .skip_while(|token| token.text != ":-" && token.text != "-->");
            let names = body
                .filter(|token| token.kind == Kind::Atom)
                .map(|token| token.text);
            leads_to.entry(head).or_default().extend(names);
        }
    }
    let mut seen = BTreeSet::from([declared.name.as_str()]);
    let mut left = vec![declared.name.as_str()];
    while let Some(name) = left.pop() {
        for &inner in leads_to.get(name).into_iter().flatten() {
            if begins(inner, &EFFECTS) {
                return true;
            }
            if leads_to.contains_key(inner) && seen.insert(inner) {
                left.push(inner);
            }
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
    let short = module.strip_prefix("prolog_").unwrap_or(module);
    let mut files = [module, short].into_iter();
    files.find_map(|name| read(&format!("{ENGINE_HOME}library/{name}.pl")).filter(is_its_file))
}

/// Whether the source of a predicate has a word that one of [`EFFECTS`] begins, as far as it is
/// there to read: the recorder does not record built-ins that take next to no time, such as those
/// of global variables.
fn in_source(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let text = source::of_predicate(evidence.analysis, predicate);
    text.is_some_and(|text| {
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| begins(word, &EFFECTS))
    })
}

/// Whether the clauses of one of these predicates changed while a predicate was called, so that its
/// calls may have seen other clauses than those before.
pub(super) fn change_under(
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
/// text does not name.
fn changes(evidence: &Evidence, during: Span) -> BTreeSet<Option<String>> {
    let spans = &evidence.analysis.calls().behaviour.spans;
    let changing = spans.iter().filter(|&(&(callee, _), span)| {
        let name = evidence.foreign_name(callee);
        name.is_some_and(|name| begins(name, &CHANGES)) && span.overlaps(&during)
    });
    let changing = changing.flat_map(|(&(callee, site), _)| {
        let site = evidence
            .sites()
            .find(|goal| goal.callee == callee && goal.site == site);
        let texts = site.and_then(|site| {
            let text = fs::read_to_string(evidence.analysis.locate(site.file()?)).ok()?;
            let clauses = clause_text::clauses(&text);
            let name = evidence.foreign_name(callee)?;
            let goals = Written::all(&clauses, site.line()?, name);
            let named = goals
                .iter()
                .map(|goal| changed_by(goal.rest()).map(str::to_owned));
            Some(named.collect::<Vec<_>>())
        });
        match texts {
            Some(named) if !named.is_empty() => named,
            _ => vec![None],
        }
    });
    changing.collect()
}

/// The name of the predicate that the argument of `assertz/1` and the like has clauses of, from
/// what follows the name of that.
fn changed_by<'t>(mut rest: &[Token<'t>]) -> Option<&'t str> {
    loop {
        match rest {
            [open, inner @ ..] if matches!(open.kind, Kind::Open { .. }) => rest = inner,
            [module, colon, inner @ ..] if module.kind == Kind::Atom && colon.text == ":" => {
                rest = inner;
            }
            [name, ..] if name.kind == Kind::Atom => return Some(name.text),
            _ => return None,
        }
    }
}

/// Whether clauses of a predicate are known to change: it is declared so, or its file has none.
fn is_dynamic(evidence: &Evidence, predicate: PredicateIndex) -> bool {
    let info = evidence.analysis.trace.predicates().get(predicate as usize);
    info.is_some_and(|info| info.declared.file.is_none())
        || source::is_declared_dynamic(evidence.analysis, predicate)
}
