//! Tables that are thrown away and filled again, as values of arguments show.

use super::evidence::{Evidence, part_of};
use super::{Cause, Certainty, Finding};
use crate::Analysis;
use crate::text::count;

/// Fewer tables are no matter.
const LEAST: u64 = 1000;

/// So many times as many tables were filled as there are different calls.
const LEAST_TIMES: u64 = 4;

/// A finding for each tabled predicate that filled many more tables than it has different calls.
/// How many these are of all calls is at most what they are of those that were looked at: later
/// calls are among the earlier ones more often.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let Analysis { trace, profile, .. } = evidence.analysis;
    let predicates = evidence.predicates();
    let found = predicates.filter_map(|(predicate, _, figures)| {
        let filled = profile.tables_filled(trace, predicate)?;
        let values = evidence.analysis.values().of(predicate)?;
        let different = values.calls.saturating_sub(values.variants);
        let needed = part_of(figures.calls, different, values.calls);
        if filled < LEAST || filled / LEAST_TIMES < needed || values.calls < LEAST {
            return None;
        }
        let name = evidence.name(predicate);
        Some(Finding {
            cause: Cause::FilledAgain,
            place: evidence.place(predicate),
            cost_ticks: part_of(figures.inclusive_work_ticks, filled - needed, filled),
            certainty: Certainty::Likely,
            title: format!("{name} fills tables again that were thrown away"),
            evidence: format!(
                "{} tables were filled in {} calls. Of {} calls that were looked at {} are different, so no more than {} tables would be \
                 filled if they stayed. All calls took {}.",
                count(filled),
                count(figures.calls),
                count(values.calls),
                count(different),
                count(needed),
                evidence.time(figures.inclusive_work_ticks),
            ),
            remedy: evidence.libraries.remedies.filled_again.to_owned(),
            predicates: vec![predicate],
            needs: Vec::new(),
        })
    });
    found.collect()
}
