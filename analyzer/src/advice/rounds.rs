//! Loops in rounds that begin at the root of their data each time: what came out of a round goes
//! into the next, and most of it was gone over before.

use super::evidence::{Evidence, part_of, share};
use super::{Cause, Certainty, Finding, Need, source};
use crate::tables::SiteData;
use crate::text::count;

/// Fewer rounds are no loop.
const LEAST_ROUNDS: u64 = 50;

/// So many calls a round makes at least.
const LEAST_CALLS: u64 = 20;

/// Of the calls that are known, in percent: so many were made before, at least.
const LEAST_AGAIN: u64 = 60;

/// A finding for each goal of such a loop that calls itself, where it is not known that its calls
/// differ.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let sites = evidence.sites();
    sites.filter_map(|site| finding(evidence, site)).collect()
}

fn finding(evidence: &Evidence, site: &SiteData) -> Option<Finding> {
    let (caller, rounds) = (site.caller.predicate()?, site.figures.calls);
    let steps = evidence
        .analysis
        .calls()
        .behaviour
        .recursion_of(site.callee)
        .calls;
    let is_loop = evidence.is_of_program(site.callee)
        && caller != site.callee
        && rounds >= LEAST_ROUNDS
        && steps / LEAST_CALLS >= rounds
        && !evidence.called(site.callee).contains(&caller)
        && source::goes_round(evidence.analysis, site);
    if !is_loop {
        return None;
    }
    let name = evidence.name(site.callee);
    let arguments = evidence.analysis.arguments().get(&site.callee);
    let known = arguments.filter(|one| one.hashed > 0 && !one.cut_short);
    let known = known.map(|one| (one.hashed, one.repeated()));
    let served = site.figures.served_work_ticks;
    let (cost_ticks, which, certainty, needs) = match known {
        Some((calls, again)) if again < calls / 100 * LEAST_AGAIN => return None,
        Some((calls, again)) => (
            part_of(served, again, calls),
            format!(
                "{} of {} calls of {name} that are known had the same arguments as an earlier one.",
                share(again, calls),
                count(calls)
            ),
            Certainty::Likely,
            Vec::new(),
        ),
        None => {
            let needs = vec![Need::Arguments(name.to_owned())];
            (
                served,
                format!(
                    "Whether they do again what an earlier round did, the trace does not say: record with {}.",
                    evidence.libraries.remedies.recorded_with(&needs)
                ),
                Certainty::ToCheck,
                needs,
            )
        }
    };
    Some(Finding {
        cause: Cause::BeginsAgain,
        place: evidence.place_of(site),
        cost_ticks,
        certainty,
        title: format!(
            "{name} begins from the beginning in each round {}",
            evidence.at(site)
        ),
        evidence: format!(
            "{} hands what came out of {name} to itself, and to {name} again: {} rounds of {} calls of {name} in the mean, {} a round. {which}",
            evidence.name(caller),
            count(rounds),
            count(steps / rounds + 1),
            evidence.time(served / rounds),
        ),
        remedy: "do not begin again at the root for each small change: finish the parts first and then what is made of them (one pass from \
                 the bottom up), go on where the last change was, or do all changes that are possible in one round. If each round \
                 changes all of the data, it is as it should be."
            .to_owned(),
        predicates: vec![site.callee, caller],
        needs,
    })
}
