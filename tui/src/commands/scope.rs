//! Which part of a trace a command looks at.

use anyhow::{Result, bail};
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::{FocusOn, Window};
use portmortem_screens::{Filter, Scope};
use portmortem_tracer::pattern::PredicatePattern;

use crate::cli::ScopeArgs;

/// More predicates than these that an ambiguous pattern means are only counted.
const MOST_LISTED: usize = 5;

/// What the options ask for.
///
/// # Errors
/// If the time is no range of time, or the focus is not one predicate of the trace.
pub(crate) fn scope(args: &ScopeArgs, trace: &Trace) -> Result<Scope> {
    let mut scope = Scope::default();
    for pattern in &args.hide {
        scope.push(Filter::Hide(pattern.clone()));
    }
    if let Some(pattern) = &args.focus {
        scope.push(Filter::Focus(FocusOn::Predicate(one(trace, pattern)?)));
    }
    if let Some(text) = &args.time {
        scope.push(Filter::Window(Window::parse(text, trace.clock())?));
    }
    Ok(scope)
}

/// The predicates of the trace that a pattern means.
///
/// # Errors
/// If there is none.
pub(crate) fn matching(trace: &Trace, pattern: &str) -> Result<Vec<PredicateIndex>> {
    let compiled = PredicatePattern::new(pattern);
    let known = trace.predicates();
    let found: Vec<PredicateIndex> = (0..known.len() as PredicateIndex)
        .filter(|&index| {
            let declared = &known[index as usize].declared;
            compiled.matches(&declared.module, &declared.name, declared.arity)
        })
        .collect();
    if found.is_empty() {
        bail!("no predicate of this trace matches {pattern}; `report --top 1000` lists them");
    }
    Ok(found)
}

fn one(trace: &Trace, pattern: &str) -> Result<PredicateIndex> {
    let found = matching(trace, pattern)?;
    if let [one] = found[..] {
        return Ok(one);
    }
    let mut names: Vec<&str> = found
        .iter()
        .map(|&index| trace.predicate_name(index))
        .collect();
    names.sort_unstable();
    names.truncate(MOST_LISTED);
    let more = if found.len() > MOST_LISTED {
        ", …"
    } else {
        ""
    };
    bail!(
        "--focus takes one predicate, and {pattern} means {}: {}{more}",
        found.len(),
        names.join(", ")
    );
}
