//! Files that are read, and texts that are parsed, again and again. Which file or text it was,
//! values of arguments say, if they were recorded.

use portmortem_tracer::format::Role;

use super::again::Again;
use super::evidence::{Evidence, part_of};
use super::{Cause, Finding, source};
use crate::tables::SiteData;
use crate::text::count;
use crate::trace::PredicateIndex;

/// Fewer calls are different files or texts, most likely.
const LEAST: u64 = 20;

const OF_FILE: &str = "if it is the same file, read it once: pass its terms on, or assert them, keyed by what is looked up, and look there.";

/// A finding for each goal that reads so.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let goals = evidence.sites();
    goals
        .filter(|site| site.figures.calls >= LEAST && !loads_program(evidence, site.callee))
        .filter_map(|site| finding(evidence, site))
        .collect()
}

/// Whether it has run goals of the program: directives of what it loads, which is no data then, and
/// hardly the same file again.
fn loads_program(evidence: &Evidence, reader: PredicateIndex) -> bool {
    let edges = evidence.analysis.profile.edges.keys();
    let called = edges.filter(|(caller, _)| caller.predicate() == Some(reader));
    called
        .map(|&(_, callee)| callee)
        .any(|callee| evidence.is_of_program(callee))
}

fn finding(evidence: &Evidence, site: &SiteData) -> Option<Finding> {
    let name = evidence.foreign_name(site.callee)?;
    let has = |role| evidence.is_foreign(site.callee, role);
    // Who opens a file to read it reads it, too.
    let reader = site
        .info()
        .filter(|_| name == "open" && source::opened_to(evidence.analysis, site, &["read"]));
    let served = match reader {
        Some(goal) => evidence.figures(goal.caller).inclusive_work_ticks,
        None => site.figures.served_work_ticks,
    };
    let (what, remedy) = match () {
        () if reader.is_some() => ("file", OF_FILE),
        () if has(Role::ReadsFile) => ("file", OF_FILE),
        () if has(Role::ReadsText) => (
            "text",
            "if it is the same text, parse it once and pass the term on; if the text was made of a term, pass on that.",
        ),
        () => return None,
    };
    let (name, calls) = (evidence.name(site.callee), site.figures.calls);
    let again = Again::of(evidence, site, "read", what)?;
    Some(Finding {
        cause: Cause::ReadAgain,
        place: evidence.place_of(site),
        cost_ticks: part_of(served, again.calls, calls),
        certainty: again.certainty,
        title: format!(
            "{name} {} a {what} {} times {}",
            if reader.is_some() { "opens" } else { "reads" },
            count(calls),
            evidence.at(site)
        ),
        evidence: format!(
            "{name} {} was called {} times{} took {}, {} a call. {}",
            evidence.at(site),
            count(calls),
            match reader {
                Some(goal) => format!("; {}, which does so,", evidence.name(goal.caller)),
                None => " and".to_owned(),
            },
            evidence.time(served),
            evidence.time(served / calls.max(1)),
            again.text,
        ),
        remedy: remedy.to_owned(),
        predicates: vec![site.callee],
        needs: again.needs,
    })
}
