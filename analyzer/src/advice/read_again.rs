//! Files that are read, and texts that are parsed, again and again.

use super::again::Again;
use super::evidence::{Evidence, part_of};
use super::{Cause, Finding, source};
use crate::tables::Site;
use crate::text::count;
use crate::trace::PredicateIndex;

/// Fewer calls are different files or texts, most likely.
const LEAST: u64 = 20;

/// How the names of predicates begin that read a whole file. The trace says of no other predicate
/// that it does. Which file it was, values of arguments say, if they were recorded.
const OF_FILES: [&str; 8] = [
    "consult",
    "csv_read_file",
    "load_files",
    "load_html",
    "load_structure",
    "load_xml",
    "read_file_to_",
    "see",
];

/// How the names of predicates begin that make a term of a text.
const OF_TEXTS: [&str; 7] = [
    "atom_json_",
    "atom_to_term",
    "read_term_from_atom",
    "sformat",
    "term_string",
    "term_to_atom",
    "text_to_term",
];

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

fn finding(evidence: &Evidence, site: &Site) -> Option<Finding> {
    let name = evidence.foreign_name(site.callee)?;
    let begins = |names: &[&str]| names.iter().any(|begin| name.starts_with(begin));
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
        () if begins(&OF_FILES) => ("file", OF_FILE),
        () if begins(&OF_TEXTS) => (
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
