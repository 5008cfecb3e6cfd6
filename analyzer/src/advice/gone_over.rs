//! Data that grows from call to call and is gone over in each of them, as the values of arguments
//! and the times of the calls show.

use super::evidence::{Evidence, part_of};
use super::{Cause, Certainty, Finding};
use crate::figures::values::{LARGE, PairFigures};
use crate::tables::SiteData;
use crate::text::count;

/// Fewer calls are no loop.
const LEAST: u64 = 100;

/// Calls that take less time, in ns, have little to go over.
const LEAST_NS: u64 = 20_000;

/// The same of a predicate that calls nothing: it cannot look for a part of its data.
const LEAF_NS: u64 = 2_000;

/// So many cells its data has on average.
const LEAF_CELLS: u64 = 64;

/// So long, in ns, a call works at least for each cell of its data if it goes over all of them.
const LEAST_NS_OF_A_CELL: u64 = 2;

const OF_LEAF: &str = "nothing that it calls was recorded, so a built-in in its clauses takes as long as this argument is large. Is \
                       it a number that grows without end, keep it small in each step (mod, a shift); is it a text or a \
                       term, do not copy it in each step.";

/// A finding for each goal of a built-in or library predicate that is given what came out of its
/// call before, grows that, and takes as long as it is large.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let sites = evidence.sites();
    sites.filter_map(|site| finding(evidence, site)).collect()
}

fn finding(evidence: &Evidence, site: &SiteData) -> Option<Finding> {
    // It works by what is in its clauses.
    let is_leaf = evidence.is_leaf(site.callee);
    if evidence.foreign_name(site.callee).is_none() && !is_leaf {
        return None;
    }
    let goals = &evidence.analysis.values().goals;
    let values = goals.get(&(site.callee, site.site))?;
    // What is made anew each time is another finding.
    let goes_on = |pair: &PairFigures| {
        pair.exits >= LEAST && pair.handed_on >= pair.exits / 10 * 8 && pair.copied < pair.exits / 8
    };
    let (&(given, _), pair) = values.pairs.iter().find(|(_, pair)| goes_on(pair))?;
    let data = values.arguments.get(usize::from(given) - 1)?;
    let mean = data.mean_in();
    let least_cells = match is_leaf {
        true => LEAF_CELLS,
        false => LARGE.into(),
    };
    if mean < least_cells || data.greatest_in / 4 < data.least_in {
        return None;
    }
    let figures = evidence.figures(site.callee);
    let served = site.figures.served_work_ticks;
    let own = part_of(figures.self_ticks, served, figures.inclusive_work_ticks);
    let calls = site.figures.calls;
    let a_call = evidence.analysis.ns(own / calls.max(1));
    let least = match is_leaf {
        true => LEAF_NS.max(mean / 2),
        false => LEAST_NS.max(mean.saturating_mul(LEAST_NS_OF_A_CELL)),
    };
    if a_call < least {
        return None;
    }
    let callee = evidence.name(site.callee);
    Some(Finding {
        cause: Cause::WalkedAgain,
        place: evidence.place_of(site),
        cost_ticks: own,
        certainty: Certainty::Likely,
        title: format!(
            "{callee} goes over data that grows in each round {}",
            evidence.at(site)
        ),
        evidence: format!(
            "Argument {given} grew from {} to {} cells, {} on average, and {} of {} calls were given the result of a call before. {} calls \
             worked {}, {} a call.",
            count(data.least_in.into()),
            count(data.greatest_in.into()),
            count(mean),
            count(pair.handed_on),
            count(values.calls),
            count(calls),
            evidence.time(own),
            evidence.time(own / calls.max(1)),
        ),
        remedy: match is_leaf {
            true => OF_LEAF.to_owned(),
            false => evidence.libraries.remedies.grown_data.to_owned(),
        },
        predicates: vec![site.callee],
        needs: Vec::new(),
    })
}
