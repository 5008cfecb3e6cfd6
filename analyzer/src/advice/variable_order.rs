//! Constraint variables that are given values in the order in which they are written.

use super::evidence::{Evidence, share};
use super::{Cause, Certainty, Finding, creeping, source};
use crate::tables::SiteData;
use crate::text::counted;

/// A finding for each goal that labels so.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let sites = evidence.sites();
    sites.filter_map(|site| finding(evidence, site)).collect()
}

fn finding(evidence: &Evidence, site: &SiteData) -> Option<Finding> {
    let name = evidence.name(site.callee);
    let library = evidence.libraries.constraints?;
    let is_ordering = library.is_ordering(name);
    let is_of_program = site
        .info()
        .is_some_and(|goal| evidence.is_of_program(goal.caller));
    if !is_ordering || !is_of_program || !source::labels_leftmost(evidence.analysis, site, library)
    {
        return None;
    }
    let served = site.figures.served_work_ticks;
    Some(Finding {
        cause: Cause::VariableOrder,
        place: evidence.place_of(site),
        cost_ticks: served,
        certainty: Certainty::ToCheck,
        title: format!(
            "{name} gives values to variables in the order of the list {}",
            evidence.at(site)
        ),
        evidence: format!(
            "{name} {} took {} in {}: {} of the work. It takes the leftmost variable next, whatever \
             is left of the domains of the others.{}",
            evidence.at(site),
            evidence.time(served),
            counted(site.figures.calls, "call", "calls"),
            share(served, evidence.total_ticks),
            search(evidence, site),
        ),
        remedy: library.of_order.to_owned(),
        predicates: vec![site.callee],
        needs: Vec::new(),
    })
}

/// How often it was asked for other values, and how often propagators ran in it, if that is known.
fn search(evidence: &Evidence, site: &SiteData) -> String {
    let mut text = String::new();
    let redos = site.figures.redos;
    if redos > 0 {
        text += &format!(
            " Backtracking went into it {}.",
            counted(redos, "time", "times")
        );
    }
    let caller = site.caller.predicate();
    let others = caller.map_or(0, |caller| {
        let goals = evidence.goals_of(caller);
        goals.filter(|goal| goal.callee == site.callee).count()
    });
    // Propagators are counted by caller and callee.
    let runs = caller.filter(|_| others == 1).and_then(|caller| {
        let runs = creeping::runs(evidence);
        runs.get(&(caller, site.callee)).copied()
    });
    if let Some(runs) = runs {
        text += &format!(" In it propagators ran {}.", counted(runs, "time", "times"));
    }
    text
}
