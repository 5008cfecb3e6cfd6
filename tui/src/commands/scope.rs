//! Which part of a trace a command looks at.

use anyhow::{Result, bail, ensure};
use portmortem_analyzer::advice::record_hint;
use portmortem_analyzer::text::similar;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::names::printable;
use portmortem_analyzer::trace::{StreamInfo, Trace};
use portmortem_analyzer::{Filter, Filters, FocusOn, Window};
use portmortem_tracer::pattern::PredicatePattern;

use crate::cli::ScopeArgs;

/// More predicates or streams than these are only counted.
const MOST_LISTED: usize = 5;

/// How a note on a predicate that was left out begins.
pub(crate) const NOT_RECORDED: &str = "not recorded: ";

/// What the options ask for.
///
/// # Errors
/// If the time is no range of time, the focus is not one predicate of the trace, a pattern hides
/// nothing, or the trace has no such stream.
pub(crate) fn filters(args: &ScopeArgs, trace: &Trace) -> Result<Filters> {
    for pattern in &args.hide {
        matching(trace, pattern)?;
    }
    filters_of_one(args, trace)
}

/// The same for one of several traces: another one may have what is to be hidden.
pub(crate) fn filters_of_one(args: &ScopeArgs, trace: &Trace) -> Result<Filters> {
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

/// The streams of a trace that a name means, or the one that a number means: a thread may have
/// another one's number for a name.
pub(crate) fn streams(trace: &Trace, asked: &str) -> Result<Vec<u32>> {
    let number: Option<u32> = asked.parse().ok();
    let known = trace.streams().iter();
    let has_number = number.is_some_and(|number| known.clone().any(|info| info.id == number));
    let is = |info: &&StreamInfo| match number {
        Some(number) if has_number => info.id == number,
        _ => info.name() == asked,
    };
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
    if let Some(part) = trace.part().filter(|part| !part.streams.is_empty()) {
        let lacks = found.iter().any(|id| !part.streams.contains(id));
        let has = part.streams.iter().map(u32::to_string);
        let has = has.collect::<Vec<_>>().join(", ");
        ensure!(
            !lacks,
            "this part of {} has no events of stream {asked}; ask for {has}",
            printable(&part.of)
        );
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
        bail!("{}", no_match(trace, pattern));
    }
    Ok(found)
}

/// The same; a cost centre is meant by its name as reports have it.
pub(crate) fn meant(trace: &Trace, pattern: &str) -> Result<Vec<PredicateIndex>> {
    let known = (0..).zip(trace.predicates());
    let centers = known.filter(|(_, info)| info.is_center && info.indicator == pattern);
    let centers: Vec<PredicateIndex> = centers.map(|(index, _)| index).collect();
    match centers[..] {
        [] => matching(trace, pattern),
        _ => Ok(centers),
    }
}

/// Why no predicate of the trace matches, and what a user can do about it.
fn no_match(trace: &Trace, pattern: &str) -> String {
    let mut text = format!("no predicate of this trace matches {pattern}; ");
    let near = near_names(trace, pattern);
    if !near.is_empty() {
        text += &format!("did you mean {}? ", near.join(" or "));
    }
    let left_out = left_out(trace, pattern);
    if !left_out.is_empty() {
        text += &left_out.join("; ");
        return text;
    }
    let hint = match pattern.split_once(':') {
        Some(("system", _)) => "built-in predicates are recorded with `record --builtins`; ",
        Some(("user", _)) => {
            "if the program called it, record without the --include or --exclude that left it out; "
        }
        _ => {
            "library predicates are recorded with `record --libraries`, built-in ones with `--builtins`, \
             and others unless --include or --exclude leaves them out or they are never called; "
        }
    };
    text + record_hint(trace, hint) + "`report --top 1000` lists those of the trace"
}

/// The predicates that are called almost as the pattern is written; of a name, a module or an arity that it does not say, any.
fn near_names<'t>(trace: &'t Trace, pattern: &str) -> Vec<&'t str> {
    let (says_module, says_arity) = (pattern.contains(':'), pattern.contains('/'));
    let known = trace.predicates().iter().map(|info| {
        let of = &info.declared;
        let mut name = of.name.clone();
        if says_module {
            name = format!("{}:{name}", of.module);
        }
        if says_arity {
            name = format!("{name}/{}", of.arity);
        }
        (name, info.indicator.as_str())
    });
    let known: Vec<(String, &str)> = known.collect();
    let near = similar(pattern, known.iter().map(|(name, _)| name.as_str()));
    let mut found: Vec<&str> = Vec::new();
    for name in near {
        let called_so = known.iter().filter(|(known, _)| known == name);
        found.extend(called_so.map(|&(_, indicator)| indicator));
    }
    found.truncate(MOST_LISTED);
    found
}

/// What the recorder says of predicates that the pattern means, and that it could not record.
fn left_out(trace: &Trace, pattern: &str) -> Vec<String> {
    let compiled = PredicatePattern::new(pattern);
    let is_meant = |note: &&String| {
        let indicator = note.strip_prefix(NOT_RECORDED)?.split(" (").next()?;
        let (module, rest) = indicator.split_once(':')?;
        let (name, arity) = rest.rsplit_once('/')?;
        Some(compiled.matches(module, name, arity.parse().ok()?))
    };
    let notes = trace.notes().iter();
    let meant = notes.filter(|note| is_meant(note) == Some(true));
    meant
        .take(MOST_LISTED)
        .map(|note| printable(note))
        .collect()
}

fn one(trace: &Trace, pattern: &str) -> Result<PredicateIndex> {
    let found = meant(trace, pattern)?;
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
