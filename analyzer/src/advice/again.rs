//! Goals whose calls do again what an earlier one did, by the values of their arguments.

use super::evidence::{Evidence, part_of};
use super::{Certainty, Need};
use crate::tables::SiteData;
use crate::text::count;

/// At least so many of a hundred calls that are known must be as an earlier one was.
const LEAST_SHARE: u64 = 20;

/// What is known of the calls of a goal.
#[derive(Debug)]
pub(super) struct Again {
    /// So many of them, at most, did what was done before.
    pub(super) calls: u64,
    /// A sentence that says so.
    pub(super) text: String,
    pub(super) certainty: Certainty,
    /// What another recording must keep to know more.
    pub(super) needs: Vec<Need>,
}

impl Again {
    /// Of calls that each did something to a `what` ("read", "file"). `None` if it is known that
    /// few of them are as an earlier one was.
    pub(super) fn of(evidence: &Evidence, site: &SiteData, did: &str, what: &str) -> Option<Self> {
        let calls = site.figures.calls;
        let Some((known, again)) = known(evidence, site) else {
            return Some(Self {
                calls: calls.saturating_sub(1),
                text: format!("Which {what} it was, the trace does not say."),
                certainty: Certainty::ToCheck,
                needs: vec![Need::Values(evidence.name(site.callee).to_owned())],
            });
        };
        let is_often = again > 0 && again >= known * LEAST_SHARE / 100;
        is_often.then(|| Self {
            calls: part_of(calls, again, known),
            text: format!(
                "Of {} calls that were looked at, {} at most {did} a {what} that was {did} before.",
                count(known),
                count(again)
            ),
            certainty: Certainty::Likely,
            needs: Vec::new(),
        })
    }
}

/// Of calls of a goal whose arguments are known: how many there are, and how many of them are the
/// same as an earlier one at most, for each of their arguments was a value before. `None` if none
/// is known.
fn known(evidence: &Evidence, site: &SiteData) -> Option<(u64, u64)> {
    let goals = &evidence.analysis.values().goals;
    let values = goals.get(&(site.callee, site.site))?;
    // What is not ground, or not known, has no values to tell apart.
    let distinct = values.arguments.iter().map(|one| one.distinct_in).max()?;
    let is_known = values.arguments.iter().any(|one| one.distinct_in > 0)
        && values.arguments.iter().all(|one| one.unknown_in == 0);
    is_known.then(|| (values.calls, values.calls.saturating_sub(distinct)))
}
