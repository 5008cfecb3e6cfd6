//! Calls that were made before with the same arguments.

use super::evidence::{Evidence, part_of, share};
use super::{Cause, Certainty, Finding, effects, labelled_first};
use crate::text::count;

/// At least so many of a hundred calls must be repetitions.
const LEAST_SHARE: u64 = 20;

/// A finding for each predicate whose arguments were recorded and mostly came more than once.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let recorded = evidence.analysis.arguments().iter();
    recorded
        .filter_map(|(&predicate, arguments)| {
            let figures = evidence.figures(predicate);
            let repeated = arguments.repeated();
            if arguments.cut_short || repeated < figures.calls / 100 * LEAST_SHARE || repeated == 0 {
                return None;
            }
            // What posts constraints changes variables, which no result says.
            if evidence.is_tabled(predicate)
                || effects::depends_on_more(evidence, predicate)
                || labelled_first::posts(evidence, predicate)
            {
                return None;
            }
            let name = evidence.name(predicate);
            let left_out = figures.calls.saturating_sub(arguments.hashed);
            let unknown = match left_out {
                0 => String::new(),
                calls => format!(" Of {} more calls it is not known: their arguments had variables in them, or were large.", count(calls)),
            };
            Some(Finding {
                cause: Cause::RepeatedCalls,
                place: evidence.place(predicate),
                cost_ticks: part_of(figures.inclusive_work_ticks, repeated, figures.calls),
                certainty: Certainty::Likely,
                title: format!("{name} is called again with the same arguments"),
                evidence: format!(
                    "{} of {} calls of {name} ({}) had the same arguments as an earlier one: only {} are different, and one of them came {} \
                     times. All calls took {}.{unknown}",
                    count(repeated),
                    count(arguments.hashed),
                    share(repeated, arguments.hashed),
                    count(arguments.distinct),
                    count(arguments.most_repeated),
                    evidence.time(figures.inclusive_work_ticks),
                ),
                remedy: format!(
                    "compute it once: before the loop that calls it, or with {}, if its result depends on nothing but its arguments.",
                    evidence.libraries.remedies.table_of(name)
                ),
                predicates: vec![predicate],
                needs: Vec::new(),
            })
        })
        .collect()
}
