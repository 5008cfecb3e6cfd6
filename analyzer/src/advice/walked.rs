//! Built-in and library predicates that go over all of their data at each call, in a loop that
//! hands them nearly the same data each time: they sort it, or walk it for one figure. A walk makes
//! nothing, and what is sorted has changed since: the values of arguments do not show either.

use portmortem_tracer::format::Role;

use super::evidence::{Evidence, part_of};
use super::{Cause, Certainty, Finding};
use crate::tables::SiteData;
use crate::text::count;

/// Fewer calls are no loop.
const LEAST: u64 = 500;

/// Calls that take less time, in ns, have little to go over.
const LEAST_NS: u64 = 10_000;

/// A finding for each such goal in a predicate that calls itself.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let sites = evidence.sites();
    sites.filter_map(|site| finding(evidence, site)).collect()
}

fn finding(evidence: &Evidence, site: &SiteData) -> Option<Finding> {
    let sorts = evidence.is_foreign(site.callee, Role::Sorts);
    if !sorts && !evidence.is_foreign(site.callee, Role::Walks) {
        return None;
    }
    let figures = evidence.figures(site.callee);
    let served = site.figures.served_work_ticks;
    let own = part_of(figures.self_ticks, served, figures.inclusive_work_ticks);
    let calls = site.figures.calls;
    let a_call = own / calls.max(1);
    if calls < LEAST || evidence.analysis.ns(a_call) < LEAST_NS {
        return None;
    }
    let caller = site.caller.predicate()?;
    let is_in_loop = evidence
        .goals_of(caller)
        .any(|goal| evidence.called(goal.callee).contains(&caller));
    let callee = evidence.name(site.callee);
    let remedy = match sorts {
        true => evidence.libraries.remedies.sorted_again,
        false => {
            "if most of the list was there at the call before, keep the figure beside it, or use a term with arg/3. If it is another \
             list each time, it is as it should be."
        }
    };
    is_in_loop.then(|| Finding {
        cause: Cause::WalkedAgain,
        place: evidence.place_of(site),
        cost_ticks: own,
        certainty: Certainty::ToCheck,
        title: format!(
            "{callee} goes over a whole list in each round {}",
            evidence.at(site)
        ),
        evidence: format!(
            "{} calls itself, and called {callee} {} times in that, which worked {}, {} a call.",
            evidence.name(caller),
            count(calls),
            evidence.time(own),
            evidence.time(a_call),
        ),
        remedy: remedy.to_owned(),
        predicates: vec![site.callee],
        needs: Vec::new(),
    })
}
