//! Work that exceptions threw away.

use super::evidence::{Evidence, share};
use super::{Cause, Certainty, Finding};
use crate::text::count;

/// Fewer exceptions are errors, not a way to work.
const LEAST: u64 = 10;

/// The predicate whose calls lost the most time so, and the one that raised most often.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let raising = || {
        let all = evidence.predicates();
        all.filter(|(_, info, figures)| info.is_called_by_program() && figures.exceptions >= LEAST)
    };
    let left = raising().max_by_key(|(_, _, figures)| figures.raised_ticks);
    let source =
        raising().max_by_key(|(_, _, figures)| (figures.exceptions, figures.self_raised_ticks));
    let (Some((left, _, figures)), Some((source, ..))) = (left, source) else {
        return Vec::new();
    };
    let (name, by) = (evidence.name(left), evidence.name(source));
    vec![Finding {
        cause: Cause::Exceptions,
        place: evidence.place(left),
        cost_ticks: figures.raised_ticks,
        certainty: Certainty::Likely,
        title: format!("calls of {name} end in exceptions"),
        evidence: format!(
            "{} of {} calls of {name} ({}) were left by an exception, after {} in them. {by} was left so most often, {} times.",
            count(figures.exceptions),
            count(figures.calls),
            share(figures.exceptions, figures.calls),
            evidence.time(figures.raised_ticks),
            count(evidence.figures(source).exceptions),
        ),
        remedy: format!(
            "test before the work what makes {by} raise the exception, or let it fail; an exception is dear where \
             it is the usual way out."
        ),
        predicates: vec![left, source],
    }]
}
