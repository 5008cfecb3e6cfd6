//! Which part of a trace a command looks at.

use anyhow::{Result, bail};
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::{StreamInfo, Trace};
use portmortem_analyzer::{Filter, Filters, FocusOn, Window};
use portmortem_tracer::pattern::PredicatePattern;

use crate::cli::ScopeArgs;

/// More predicates or streams than these are only counted.
const MOST_LISTED: usize = 5;

/// What the options ask for.
///
/// # Errors
/// If the time is no range of time, the focus is not one predicate of the trace, or it has no such stream.
pub(crate) fn filters(args: &ScopeArgs, trace: &Trace) -> Result<Filters> {
    let mut filters = Filters::default();
    for pattern in &args.hide {
        filters.push(Filter::Hide(pattern.clone()));
    }
    if let Some(pattern) = &args.focus {
        filters.push(Filter::Focus(FocusOn::Predicate(one(trace, pattern)?)));
    }
    if let Some(text) = &args.time {
        filters.push(Filter::Window(Window::parse(text, trace)?));
    }
    for stream in &args.stream {
        let ids = streams(trace, stream)?.into_iter();
        ids.for_each(|id| filters.push(Filter::Stream(id)));
    }
    Ok(filters)
}

/// The streams of a trace that a number or a name means.
pub(crate) fn streams(trace: &Trace, asked: &str) -> Result<Vec<u32>> {
    let number: Option<u32> = asked.parse().ok();
    let known = trace.streams().iter();
    let is = |info: &&StreamInfo| Some(info.id) == number || info.name() == asked;
    let found: Vec<u32> = known.clone().filter(is).map(|info| info.id).collect();
    if found.is_empty() {
        let names = known
            .take(MOST_LISTED)
            .map(|info| format!("{} {}", info.id, info.name()));
        let names = names.collect::<Vec<_>>().join(", ");
        let more = if trace.streams().len() > MOST_LISTED {
            ", …"
        } else {
            ""
        };
        bail!("the trace has no stream {asked}; it has {names}{more}");
    }
    Ok(found)
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
